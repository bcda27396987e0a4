//! The styles that canaries are written in, by their text.

use atlas_guard::{Canary, canary};

/// The canary and its text.
#[track_caller]
fn made(parser: &str, file: &str, text: &str) -> (Canary, String) {
    let canary = canary(parser, file, text.as_bytes(), "0c4d");
    let canary = canary.unwrap_or_else(|| panic!("no canary for {parser} {file}"));
    let text = String::from_utf8(canary.content.clone()).unwrap();
    (canary, text)
}

/// The text has each piece, with `PASS` and `FAIL` for the names.
#[track_caller]
fn check(parser: &str, file: &str, text: &str, pieces: &[&str]) {
    let (canary, new) = made(parser, file, text);
    for piece in pieces {
        let fail = canary.must_fail.as_deref().unwrap();
        let want = piece
            .replace("PASS", &canary.must_pass)
            .replace("FAIL", fail);
        assert!(new.contains(&want), "no `{want}` in:\n{new}");
    }
}

#[test]
fn python() {
    check(
        "pytest",
        "a.py",
        "def test_a():\n    pass\n",
        &[
            "\ndef PASS():\n",
            "\ndef FAIL():\n",
            "    assert sum(values) == ",
        ],
    );
    check(
        "pytest",
        "a.py",
        "class TestA:\n\tdef test_a(self):\n\t\tpass\n",
        &["def PASS():\n\tvalues"],
    );
    let django = "from django.test import TestCase\n\nclass A(TestCase):\n    def test_a(self):\n        pass\n";
    check(
        "django",
        "a.py",
        django,
        &["(TestCase):\n    def ", "self.assertEqual(sum(values)"],
    );
    let own = "from shop.testing import ShopTestCase\n\nclass A(ShopTestCase):\n    def test_a(self):\n        pass\n";
    check(
        "pytest",
        "a.py",
        own,
        &["import unittest\n", "(unittest.TestCase):\n"],
    );
    let main = "def test_a():\n    pass\n\nif __name__ == \"__main__\":\n    main()\n";
    let (_, new) = made("pytest", "a.py", main);
    assert!(
        new.ends_with("if __name__ == \"__main__\":\n    main()\n"),
        "{new}"
    );
}

#[test]
fn javascript() {
    let jest = "test('a', () => {\n  expect(1).toBe(1);\n});\n";
    check(
        "jest",
        "a.test.js",
        jest,
        &[
            "test('PASS', () => {",
            "test('FAIL', () => {",
            "expect(total).toBe(",
        ],
    );
    let globals = "import { it as check, expect } from '@jest/globals';\ncheck('a', () => {});\n";
    check("jest", "a.test.ts", globals, &["check('PASS', () => {"]);
    let bun = "import { it as check, expect as must } from 'bun:test'\ncheck('a', () => must(1).toBe(1))\n";
    let calls = ["check('PASS', () => {", "must(total).toBe("];
    check("bun", "a.test.ts", bun, &calls);
    check(
        "bun",
        "a.test.ts",
        "test('a', () => {});\n",
        &["test('PASS', () => {"],
    );
    let vitest = "import { describe, test, expect } from 'vitest'\n\ndescribe('a', () => {\n  test('b', () => {})\n})\n";
    check(
        "vitest",
        "a.test.ts",
        vitest,
        &["test('PASS', () => {", "expect(total).toBe("],
    );
    let mocha = "var chai = require('chai');\nvar expect = chai.expect;\nit('a', function () { expect(1).to.equal(1); });\n";
    check(
        "mocha",
        "a.js",
        mocha,
        &[
            "it('PASS', function () {\n  var total",
            "expect(total).to.equal(",
        ],
    );
    let esm = "import { x } from './x.js';\nit('a', () => { x(); });\n";
    check(
        "mocha",
        "a.mjs",
        esm,
        &[
            "import { strictEqual } from 'assert';",
            "strictEqual(total, ",
        ],
    );
    let ava = "import test from 'ava';\ntest('a', t => t.pass());\n";
    check("ava", "a.js", ava, &["test('PASS', t => {", "t.is(total, "]);
    let lab = "const { expect } = require('@hapi/code');\nconst Lab = require('@hapi/lab');\nconst { describe, it } = exports.lab = Lab.script();\n\ndescribe('a', () => {\n    it('b', () => {});\n});\n";
    let calls = ["it('PASS', () => {", "expect(total).to.equal("];
    check("lab", "test/index.js", lab, &calls);
    let old = "var Lab = require('lab');\nvar Code = require('code');\nvar it = exports.lab = Lab.script();\nit('b', function () {});\n";
    check(
        "lab",
        "test/index.js",
        old,
        &["Code.expect(total).to.equal("],
    );
    let qunit = "QUnit.module('a');\nQUnit.test('b', function (assert) { assert.ok(true); });\n";
    let calls = [
        "QUnit.test('PASS', function (assert) {",
        "assert.strictEqual(total, ",
    ];
    check("tap", "test/a.js", qunit, &calls);
    let imported = "import { module, test as check } from 'qunit';\ncheck('b', assert => {});\n";
    check("tap", "test/a.js", imported, &["check('PASS', assert => {"]);
    let tape = "var test = require('tape');\ntest('a', function (t) { t.end(); });\n";
    let calls = ["test('PASS', function (t) {", ", 'PASS');\n  t.end();"];
    check("tape", "test/a.js", tape, &calls);
    let tap = "const t = require('tap')\nt.test('a', async t => t.ok(1))\n";
    check(
        "tap",
        "test/a.js",
        tap,
        &["t.test('PASS', t => {", "t.equal(total, "],
    );
    let chained = "const test = require('tap').test\ntest('a', t => t.end())\n";
    check("tap", "test/a.js", chained, &["test('PASS', t => {"]);
    let uvu = "import { suite } from 'uvu';\nimport * as assert from 'uvu/assert';\n\nconst Sum = suite('a');\n\nSum('b', () => {});\n\nSum.run();\n";
    let calls = [
        "Sum('PASS', () => {",
        "assert.is(total, ",
        "});\nSum.run();",
    ];
    check("tap", "a.js", uvu, &calls);
    let brittle = "const test = require('brittle')\n\ntest('a', t => t.pass())\n";
    check(
        "tap",
        "test/a.js",
        brittle,
        &["test('PASS', t => {", "t.is(total, "],
    );
    let jasmine =
        "describe('a', function () {\n  it('b', function () { expect(1).toBe(1); });\n});\n";
    // Its log is the TAP of an adapter.
    for parser in ["jasmine", "tap"] {
        let calls = ["it('PASS', function () {", "expect(total).toBe("];
        check(parser, "a_spec.js", jasmine, &calls);
    }
}

#[test]
fn ruby_and_php() {
    let rspec = "RSpec.describe Cart do\n  it 'adds' do\n  end\nend\n";
    check(
        "rspec",
        "a_spec.rb",
        rspec,
        &["it \"PASS\" do", "it \"FAIL\" do", "expect(total).to eq("],
    );
    let rails = "class CartTest < ActiveSupport::TestCase\n  def test_a\n  end\nend\n";
    check(
        "minitest",
        "a_test.rb",
        rails,
        &[
            "Test < ActiveSupport::TestCase\n",
            "def PASS\n",
            "assert_equal ",
        ],
    );
    let phpunit = "<?php\n\nclass CartTest extends TestCase\n{\n    public function testA(): void\n    {\n        $x = '}';\n    }\n}\n";
    let (_, new) = made("phpunit", "CartTest.php", phpunit);
    assert!(new.ends_with("    }\n}\n"), "{new}");
    let braces = phpunit.replace("'}'", "'}\n}\n{ \\''");
    let (_, new) = made("phpunit", "CartTest.php", &braces);
    assert!(
        new.starts_with(braces.trim_end().trim_end_matches('}')),
        "{new}"
    );
    check(
        "phpunit",
        "CartTest.php",
        phpunit,
        &[
            "    public function PASS(): void\n    {\n",
            "$this->assertSame(",
        ],
    );
    check(
        "phpunit",
        "CartTest.php",
        "<?php\n\nit('adds', function () {});\n",
        &["test('FAIL', function () {", "->toBe("],
    );
}

#[test]
fn methods_of_classes() {
    let five = "import org.junit.jupiter.api.Test;\n\nclass CartTest {\n    @Test\n    void a() { char c = '}'; }\n\n    static class Inner { }\n}\n";
    check(
        "maven",
        "CartTest.java",
        five,
        &[
            "    @org.junit.jupiter.api.Test\n    void PASS() {",
            "Assertions.assertEquals(",
        ],
    );
    let (_, new) = made("maven", "CartTest.java", five);
    assert!(
        new.ends_with("    }\n}\n") && new.starts_with("import"),
        "{new}"
    );
    let four = "import org.junit.Test;\n\npublic class CartTest {\n    @Test\n    public void a() { }\n}\n\nclass Other { }\n";
    check(
        "gradle",
        "CartTest.java",
        four,
        &["    @org.junit.Test\n    public void FAIL() {"],
    );
    let (_, new) = made("gradle", "CartTest.java", four);
    assert!(new.ends_with("}\n\nclass Other { }\n"), "{new}");
    let three = "import junit.framework.TestCase;\n\npublic class CartTest extends TestCase {\n    public void testA() { }\n}\n";
    check(
        "maven",
        "CartTest.java",
        three,
        &["    public void PASS() {", " assertEquals("],
    );
    let kotlin =
        "import org.junit.jupiter.api.Test\n\nclass CartTest {\n    @Test\n    fun a() { }\n}\n";
    check(
        "gradle",
        "CartTest.kt",
        kotlin,
        &["    fun PASS() {", "listOf("],
    );
    let xunit = "using Xunit;\n\nnamespace Shop\n{\n    public class CartTests\n    {\n        [Fact]\n        public void A() { }\n    }\n}\n";
    check(
        "dotnet",
        "CartTests.cs",
        xunit,
        &[
            "        [Xunit.Fact]\n        public void PASS()\n        {\n",
            "Xunit.Assert.Equal(",
        ],
    );
    let nunit = "using NUnit.Framework;\n\npublic class CartTests\n{\n    [Test]\n    public void A() { }\n}\n";
    check(
        "nunit3",
        "CartTests.cs",
        nunit,
        &["Assert.That(total, NUnit.Framework.Is.EqualTo("],
    );
}

#[test]
fn cpp_and_shell() {
    let gtest = "#include <gtest/gtest.h>\n\nTEST(Cart, One) { EXPECT_EQ(1, 1); }\n";
    let (canary, new) = made("gtest", "cart_test.cc", gtest);
    let (suite, name) = canary.must_pass.split_once('.').unwrap();
    assert!(new.contains(&format!("TEST({suite}, {name}) {{")), "{new}");
    let catch = "#include <catch2/catch.hpp>\nTEST_CASE(\"a\") { CHECK(1 == 1); }\n";
    check(
        "catch2",
        "a.cpp",
        catch,
        &["TEST_CASE(\"PASS\") {", "CHECK(total == "],
    );
    check(
        "boost",
        "a.cpp",
        "BOOST_AUTO_TEST_CASE(a) {}\n",
        &["BOOST_AUTO_TEST_CASE(FAIL)\n"],
    );
    check(
        "bats",
        "a.bats",
        "@test \"a\" {\n  true\n}\n",
        &["@test \"PASS\" {"],
    );
}

#[test]
fn specs_of_ginkgo() {
    let dots = "package a_test\n\nimport (\n\t. \"github.com/onsi/ginkgo/v2\"\n\t. \"github.com/onsi/gomega\"\n)\n\nvar _ = Describe(\"A\", func() {\n})\n";
    check(
        "gotest",
        "a_test.go",
        dots,
        &[
            "\nvar _ = Describe(\"",
            "\tIt(\"PASS\", func() {",
            "\tIt(\"FAIL\", func() {",
            "\t\tExpect(total).To(Equal(",
        ],
    );
    let named = "package a_test\n\nimport g \"github.com/onsi/ginkgo/v2\" // specs\n\nvar _ = g.When(\"a\", func() {\n})\n";
    check(
        "gotest",
        "a_test.go",
        named,
        &[
            "\nvar _ = g.Describe(\"",
            "\tg.It(\"PASS\", ",
            "\t\t\tg.Fail(\"",
        ],
    );
    // A file may bear both kinds; version 1 does not name its specs.
    let forms = |text: &str| {
        let made = atlas_guard::canaries("gotest", "a_test.go", text.as_bytes(), "0c4d");
        let is_test = |canary: &Canary| canary.must_pass.starts_with("Test");
        made.iter().map(is_test).collect::<Vec<bool>>()
    };
    assert_eq!(forms(dots), [false]);
    let both = dots.replace("import (\n", "import (\n\t\"testing\"\n");
    assert_eq!(forms(&both), [false, true]);
    assert_eq!(forms(&both.replace("/v2", "")), [true]);
}

#[test]
fn a_style_that_cannot_be_told_gives_none() {
    for (parser, file, text) in [
        ("pytest", "conftest.py", "import os\n"),
        ("jest", "a.js", "module.exports = 1;\n"),
        ("mocha", "a.ts", "it('a', () => {});\nstrictEqual;\n"),
        ("tape", "a.js", "test('a', t => t.end());\n"),
        ("gotest", "a_test.go", "package a\n"),
        ("gotest", "a.go", "package a\nimport \"testing\"\n"),
        ("cargo", "src/lib.rs", "pub fn a() {}\n"),
        ("cargo", "tests/a.rs", "fn main() {}\n#[test]\nfn a() {}\n"),
        ("cucumber", "a.rb", "describe 'a' do\nend\n"),
        (
            "maven",
            "A.java",
            "import org.junit.Test;\npublic abstract class A { @Test public void a() {} }\n",
        ),
        ("dotnet", "A.cs", "class A { }\n"),
        ("gtest", "a.cc", "int main() {}\n"),
        ("pytest", "a.txt", "def test_a():\n"),
    ] {
        assert_eq!(
            canary(parser, file, text.as_bytes(), "x"),
            None,
            "{parser} {file} {text}"
        );
    }
    assert_eq!(canary("pytest", "a.py", b"def test_a(): \xff", "x"), None);
}

#[test]
fn names_come_from_the_seed_and_give_no_hint() {
    let text = b"def test_a():\n    pass\n";
    let of = |seed: &str| canary("pytest", "a.py", text, seed).unwrap();
    assert_eq!(of("one"), of("one"));
    assert_ne!(of("one"), of("two"));
    for seed in 0..200 {
        let canary = of(&seed.to_string());
        let new = String::from_utf8(canary.content).unwrap().to_lowercase();
        assert!(!new.contains("canary") && !new.contains("atlas"), "{new}");
        assert_ne!(Some(canary.must_pass), canary.must_fail);
    }
    // A name that the file has already is not taken again.
    let first = of("one");
    let again = canary("pytest", "a.py", &first.content, "one").unwrap();
    assert_ne!(again.must_pass, first.must_pass);
    assert_ne!(again.must_fail, first.must_fail);
}

#[test]
fn line_ends_and_what_stands_there_stay() {
    let (_, new) = made("pytest", "a.py", "def test_a():\r\n    pass\r\n");
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
    let (_, new) = made("pytest", "a.py", "def test_a():\n    pass");
    assert!(
        new.starts_with("def test_a():\n    pass\n\n\ndef test_"),
        "{new}"
    );
}

#[test]
fn c() {
    let check_file = "START_TEST(test_a)\n{\n  ck_assert(1);\n}\nEND_TEST\n\nint main(void)\n{\n  TCase *tc = tcase_create(\"a\");\n  tcase_add_test(tc, test_a);\n}\n";
    let pieces = [
        "START_TEST(PASS)\n{\n",
        "  ck_assert_int_eq(total, ",
        "  tcase_add_test(tc, PASS);\n",
        "  tcase_add_test(tc, FAIL);\n",
    ];
    check("check", "test_a.c", check_file, &pieces);
    let cmocka = "static void test_a(void **state)\n{\n  (void)state;\n}\n\nint main(void)\n{\n  const struct CMUnitTest tests[] = {\n    cmocka_unit_test(test_a)\n  };\n}\n";
    let pieces = [
        "static void PASS(void **state)\n{\n",
        "    cmocka_unit_test(test_a),\n",
        "    cmocka_unit_test(FAIL),\n",
    ];
    check("cmocka", "test_a.c", cmocka, &pieces);
    let unity = "void test_a(void) { TEST_ASSERT_TRUE(1); }\n\nint main(void)\n{\n  UNITY_BEGIN();\n  RUN_TEST(test_a);\n  return UNITY_END();\n}\n";
    let pieces = ["static void FAIL(void)\n{\n", "  RUN_TEST(PASS);\n"];
    check("unity", "test_a.c", unity, &pieces);
    let cunit = "static void test_a(void) { CU_ASSERT(1); }\n\nint main(void)\n{\n  CU_add_test(suite, \"a\", test_a);\n}\n";
    let pieces = ["  CU_add_test(suite, \"PASS\", PASS);\n"];
    check("cunit", "test_a.c", cunit, &pieces);
    // Functions of another file.
    let elsewhere = "int main(void)\n{\n  RUN_TEST(test_a);\n  TEST_ASSERT_TRUE(1);\n}\n";
    assert!(atlas_guard::canary("unity", "a.c", elsewhere.as_bytes(), "s").is_none());
}
