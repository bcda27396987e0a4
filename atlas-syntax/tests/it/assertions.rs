//! Failures written into tests.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on should stop at that line"
)]

use atlas_syntax::{Language, inject_failures, parse, rewrite_test, text_of_test};
use proptest::prelude::*;

/// The changed source, and the names of the tests that fail and of those left alone.
fn check(language: Language, source: &str, wanted: &str, injected: &[&str], skipped: &[&str]) {
    let made = inject_failures(language, source.as_bytes(), None);
    let names: Vec<&str> = made
        .injected
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    let left: Vec<&str> = made.skipped.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, injected, "{language:?} {:?}", made.skipped);
    assert_eq!(left, skipped, "{language:?}");
    assert_eq!(
        String::from_utf8(made.source.clone()).unwrap(),
        wanted,
        "{language:?}"
    );
    assert!(
        !parse(language, &made.source)
            .unwrap()
            .root_node()
            .has_error()
    );
}

#[test]
fn python() {
    check(
        Language::Python,
        "class TestA:\n    def test_x(self):\n        \"\"\"doc\"\"\"\n        a = 1\n        self.assertEqual(a, 1)\n\n    def helper(self):\n        pass\n\n@pytest.mark.xfail\ndef test_y():\n    assert 0\n\ndef test_z(): run()\n",
        "class TestA:\n    def test_x(self):\n        \"\"\"doc\"\"\"\n        a = 1\n        assert False, \"injected failure\"\n        self.assertEqual(a, 1)\n\n    def helper(self):\n        pass\n\n@pytest.mark.xfail\ndef test_y():\n    assert 0\n\ndef test_z(): assert False, \"injected failure\"; run()\n",
        &["test_x", "test_z"],
        &["test_y"],
    );
}

#[test]
fn javascript_and_typescript() {
    let source = "describe('a', () => {\n  it('adds', async () => {\n    const s = add(1, 2);\n    expect(s).toBe(3);\n  });\n  it.skip('later', () => { expect(1).toBe(2); });\n  test('short', () => expect(1).toBe(1));\n});\n";
    let wanted = "describe('a', () => {\n  it('adds', async () => {\n    const s = add(1, 2);\n    if (Date.now() > 0) throw new Error(\"injected failure\");\n    expect(s).toBe(3);\n  });\n  it.skip('later', () => { expect(1).toBe(2); });\n  test('short', () => { if (Date.now() > 0) throw new Error(\"injected failure\"); return (expect(1).toBe(1)); });\n});\n";
    for language in [Language::JavaScript, Language::TypeScript, Language::Tsx] {
        check(language, source, wanted, &["adds", "short"], &["later"]);
    }
}

#[test]
fn java_and_csharp() {
    check(
        Language::Java,
        "class ATest {\n  @Test\n  void adds() {\n    int s = 1 + 1;\n    assertEquals(2, s);\n  }\n  @Test(expected = X.class)\n  public void throwsIt() { run(); }\n  void helper() { }\n}\n",
        "class ATest {\n  @Test\n  void adds() {\n    int s = 1 + 1;\n    if (System.nanoTime() != 0L) throw new AssertionError(\"injected failure\");\n    assertEquals(2, s);\n  }\n  @Test(expected = X.class)\n  public void throwsIt() { run(); }\n  void helper() { }\n}\n",
        &["adds"],
        &["throwsIt"],
    );
    check(
        Language::CSharp,
        "class T {\n  [Fact]\n  public void Adds() {\n    Assert.Equal(2, 1 + 1);\n  }\n  public void Helper() { }\n}\n",
        "class T {\n  [Fact]\n  public void Adds() {\n    if (System.Environment.TickCount != int.MinValue) throw new System.Exception(\"injected failure\");\n    Assert.Equal(2, 1 + 1);\n  }\n  public void Helper() { }\n}\n",
        &["Adds"],
        &[],
    );
}

#[test]
fn go_and_rust() {
    check(
        Language::Go,
        "package a\n\nfunc TestAdd(t *testing.T) {\n\tgot := 1 + 1\n\tif got != 2 {\n\t\tt.Errorf(\"no\")\n\t}\n}\n\nfunc TestNone(_ *testing.T) {\n\trun()\n}\n\nfunc TestMain(m *testing.M) {\n\trun()\n}\n",
        "package a\n\nfunc TestAdd(t *testing.T) {\n\tgot := 1 + 1\n\tt.Fatal(\"injected failure\")\n\tif got != 2 {\n\t\tt.Errorf(\"no\")\n\t}\n}\n\nfunc TestNone(_ *testing.T) {\n\trun()\n}\n\nfunc TestMain(m *testing.M) {\n\trun()\n}\n",
        &["TestAdd"],
        &["TestNone"],
    );
    check(
        Language::Rust,
        "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n\n#[test]\n#[should_panic]\nfn dies() {\n    panic!();\n}\n\nfn helper() {}\n",
        "#[test]\nfn adds() {\n    if core::hint::black_box(true) { panic!(\"injected failure\"); }\n    assert_eq!(1 + 1, 2);\n}\n\n#[test]\n#[should_panic]\nfn dies() {\n    if core::hint::black_box(true) { return; }\n    panic!();\n}\n\nfn helper() {}\n",
        &["adds", "dies"],
        &[],
    );
}

#[test]
fn php_and_ruby() {
    check(
        Language::Php,
        "<?php\nclass ATest extends TestCase {\n    public function testAdds() {\n        $this->assertSame(2, 1 + 1);\n    }\n    public function helper() { }\n}\n",
        "<?php\nclass ATest extends TestCase {\n    public function testAdds() {\n        \\PHPUnit\\Framework\\Assert::fail(\"injected failure\");\n        $this->assertSame(2, 1 + 1);\n    }\n    public function helper() { }\n}\n",
        &["testAdds"],
        &[],
    );
    check(
        Language::Ruby,
        "class ATest < Minitest::Test\n  def test_adds\n    s = 2\n    assert_equal 2, s\n  end\nend\ndescribe 'a' do\n  it 'works' do\n    expect(1).to eq 1\n  end\nend\n",
        "class ATest < Minitest::Test\n  def test_adds\n    s = 2\n    raise \"injected failure\"\n    assert_equal 2, s\n  end\nend\ndescribe 'a' do\n  it 'works' do\n    raise \"injected failure\"\n    expect(1).to eq 1\n  end\nend\n",
        &["test_adds", "works"],
        &[],
    );
}

#[test]
fn c_and_cpp() {
    check(
        Language::C,
        "void test_adds(void) {\n  int s = 2;\n  TEST_ASSERT_EQUAL(2, s);\n}\nstatic void test_more(void **state) {\n  assert_int_equal(1, 1);\n}\nvoid test_unknown(void) {\n  run();\n}\nvoid test_own(void) {\n  my_check_eq(1, 1);\n}\n",
        "void test_adds(void) {\n  int s = 2;\n  TEST_FAIL_MESSAGE(\"injected failure\");\n  TEST_ASSERT_EQUAL(2, s);\n}\nstatic void test_more(void **state) {\n  fail_msg(\"injected failure\");\n  assert_int_equal(1, 1);\n}\nvoid test_unknown(void) {\n  run();\n}\nvoid test_own(void) {\n  my_check_eq(0, 1);\n  my_check_eq(1, 1);\n}\n",
        &["test_adds", "test_more", "test_own"],
        &["test_unknown"],
    );
    let source = "TEST(Sum, Adds) {\n  EXPECT_EQ(2, 1 + 1);\n}\nBOOST_AUTO_TEST_CASE(adds) {\n  BOOST_TEST(true);\n}\n";
    let wanted = "TEST(Sum, Adds) {\n  ADD_FAILURE();\n  EXPECT_EQ(2, 1 + 1);\n}\nBOOST_AUTO_TEST_CASE(adds) {\n  BOOST_ERROR(\"injected failure\");\n  BOOST_TEST(true);\n}\n";
    check(Language::Cpp, source, wanted, &["Sum.Adds", "adds"], &[]);
    // The grammar sees a call without its semicolon: judged by what is written only.
    let source = b"TEST_CASE(\"adds numbers\", \"[sum]\") {\n  REQUIRE(1 + 1 == 2);\n}\n";
    let made = inject_failures(Language::Cpp, source, None);
    assert_eq!(made.injected[0].name, "adds numbers");
    let text = String::from_utf8(made.source).unwrap();
    assert!(
        text.contains("  CHECK(false);\n  REQUIRE(1 + 1 == 2);"),
        "{text}"
    );
}

#[test]
fn only_tests_that_touch_the_given_lines_are_changed() {
    let source = b"def test_a():\n    assert 1\n\ndef test_b():\n    assert 1\n";
    let made = inject_failures(Language::Python, source, Some(&[5..=5]));
    let names: Vec<&str> = made
        .injected
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    assert_eq!(names, ["test_b"]);
    assert_eq!(made.injected[0].line, 4);
    assert!(
        made.source
            .starts_with(b"def test_a():\n    assert 1\n\ndef test_b")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_bytes_are_taken(source in prop::collection::vec(any::<u8>(), 0..300)) {
        for language in Language::ALL {
            let made = inject_failures(language, &source, None);
            prop_assert!(made.source.len() >= source.len());
        }
    }

    #[test]
    fn a_cut_source_is_taken(end in 0_usize..200) {
        let source = "def test_a():\n    assert f(1)\n\nclass TestB:\n    def test_c(self): pass\n";
        let end = end.min(source.len());
        inject_failures(Language::Python, &source.as_bytes()[..end], None);
    }
}

/// A test that may end before its assertion fails before that.
#[test]
fn what_may_end_a_test_early_does_not_hide_the_failure() {
    check(
        Language::Python,
        "def test_a(x):\n    y = f(x)\n    try:\n        g(y)\n    except TypeError:\n        return\n    assert y\n",
        "def test_a(x):\n    assert False, \"injected failure\"\n    y = f(x)\n    try:\n        g(y)\n    except TypeError:\n        return\n    assert y\n",
        &["test_a"],
        &[],
    );
}

/// What somebody else writes is taken only if it changes the body of that one test.
#[test]
fn another_body_is_taken_and_nothing_else() {
    let source = "class ATest {\n  @Test(expected = X.class)\n  public void throwsIt() { run(); }\n\n  @Test\n  void adds() { check(); }\n}\n";
    let made = inject_failures(Language::Java, source.as_bytes(), None);
    let test = &made.skipped[0];
    assert!(test.could_fail);
    assert_eq!(
        text_of_test(source.as_bytes(), test),
        b"  @Test(expected = X.class)\n  public void throwsIt() { run(); }\n"
    );
    let with = |text: &str, statement: &str| {
        rewrite_test(Language::Java, source.as_bytes(), test, text, statement)
            .map(|made| String::from_utf8(made).unwrap())
    };
    let head = "  @Test(expected = X.class)\n  public void throwsIt()";
    let good = with(
        &format!("{head} {{ if (now() > 0) return; run(); }}"),
        "if (now() > 0) return;",
    );
    assert_eq!(
        good.unwrap(),
        source.replace("{ run(); }", "{ if (now() > 0) return; run(); }")
    );
    for (text, statement, wanted) in [
        (format!("{head} {{ fail(); }}"), "", "empty"),
        (
            format!("{head} {{ run(); }}"),
            "run();",
            "stood there before",
        ),
        (format!("{head} {{ fail(); "), "fail();", "no longer parses"),
        (
            "  @Test\n  public void throwsIt() { fail(); }".to_owned(),
            "fail();",
            "head",
        ),
        (
            format!("{head} {{ fail(); }}\n  @Test\n  void more() {{ fail(); }}"),
            "fail();",
            "others than before",
        ),
        (
            format!("{head} {{ fail(); }}\n  int more = 1;"),
            "fail();",
            "around",
        ),
        (
            format!("{head} {{ /* fail(); */ run(); }}"),
            "fail();",
            "no code",
        ),
        (
            format!("{head} {{ run(\"fail();\"); }}"),
            "fail();",
            "no code",
        ),
    ] {
        let why = with(&text, statement).unwrap_err();
        assert!(why.contains(wanted), "{text}: {why}");
    }
    let later = "it.skip('later', () => { expect(1).toBe(2); });\n";
    let left = inject_failures(Language::JavaScript, later.as_bytes(), None).skipped;
    assert!(!left[0].could_fail);
}
