//! Copies of tests that expect something else.

use atlas_guard::copied_test;

fn check(file: &str, text: &str, listed: &str, expected: Option<&[(&str, &str)]>) {
    let made = copied_test(file, text.as_bytes(), "seed", &[listed.to_owned()]);
    let Some(expected) = expected else {
        assert_eq!(made, None, "{file}: {text}");
        return;
    };
    let made = made.unwrap_or_else(|| panic!("{file}: no twin of {text}"));
    let content = String::from_utf8_lossy(&made.content).into_owned();
    assert_eq!(content.matches(&made.must_fail).count(), 1, "{content}");
    assert!(listed.ends_with(&made.of), "{}", made.of);
    // Line by line what the twin has in the place of the test's own.
    let added = content.len() - text.len();
    let start = content
        .as_bytes()
        .iter()
        .zip(text.as_bytes())
        .position(|(new, old)| new != old)
        .unwrap_or(text.len());
    let copy = &content[start..(start + added).min(content.len())];
    for (old, new) in expected {
        assert!(text.contains(old), "{old}");
        assert!(copy.contains(new), "no `{new}` in {copy}");
        assert!(!copy.contains(old), "`{old}` in {copy}");
    }
}

#[test]
fn javascript() {
    let jest = "const { total } = require('../src/cart');\n\ndescribe('cart', () => {\n  it('takes a discount off', () => {\n    const got = total([100], 10);\n    expect(got).toBe(90);\n  });\n\n  it('counts', async () => {\n    expect(await total([1])).toEqual({ sum: 1, of: 'one' });\n  });\n});\n";
    let listed = "cart takes a discount off";
    check("a.test.js", jest, listed, Some(&[("toBe(90)", "toBe(1")]));
    check(
        "a.test.js",
        jest,
        "cart counts",
        Some(&[("sum: 1,", "sum: ")]),
    );
    check("a.test.js", jest, "cart other", None);
    let node =
        "test(\"says hello\", function () {\n  assert.strictEqual(hello(1), 'hello');\n});\n";
    check(
        "a.js",
        node,
        "says hello",
        Some(&[("'hello')", "'hellos')")]),
    );
    for body in [
        "if (x) { expect(f()).toBe(1); }",
        "expect(f()).not.toBe(1);",
        "if (old) return;\n  expect(f()).toBe(1);",
        "f().then(x => expect(x).toBe(1));",
        "expect(f()).toBeTruthy();",
        "// expect(f()).toBe(1);",
    ] {
        check(
            "a.test.js",
            &format!("test('one', () => {{\n  {body}\n}});\n"),
            "one",
            None,
        );
    }
    let callback = "it('one', (done) => {\n  expect(f()).toBe(1);\n  done();\n});\n";
    check("a.test.js", callback, "one", None);
}

#[test]
fn go() {
    let head = "package a\n\nimport \"testing\"\n\n";
    let test = |body: &str| format!("{head}func TestTotal(t *testing.T) {{\n{body}\n}}\n");
    let condition = "\tif got := Total([]int{1, 2}, 3); got != 6 {\n\t\tt.Error(got)\n\t}";
    check(
        "a_test.go",
        &test(condition),
        "TestTotal",
        Some(&[("!= 6 {", "!= ")]),
    );
    let want = "\tgot := Total()\n\twant := Sum{Of: 2, Name: \"x\"}\n\tif got != want {\n\t\tt.Error(got)\n\t}";
    check(
        "a_test.go",
        &test(want),
        "a::TestTotal",
        Some(&[("Of: 2,", "Of: ")]),
    );
    let library = "\tassert.Equal(t, \"6 EUR\", Total(3))";
    check(
        "a_test.go",
        &test(library),
        "TestTotal",
        Some(&[("6 EUR\"", "6 EURs\"")]),
    );
    let skips = "\tif short {\n\t\tt.Skip()\n\t}\n\tassert.Equal(t, 6, Total(3))";
    check("a_test.go", &test(skips), "TestTotal", None);
    check("a.go", &test(library), "TestTotal", None);
}

#[test]
fn rust() {
    let test = |body: &str| {
        format!(
            "#[cfg(test)]\nmod tests {{\n    #[test]\n    fn takes_off() {{\n        {body}\n    }}\n}}\n"
        )
    };
    let listed = "cart::tests::takes_off";
    check(
        "src/a.rs",
        &test("assert_eq!(total(2), 180_u32);"),
        listed,
        Some(&[("180_u32", "_u32")]),
    );
    check(
        "src/a.rs",
        &test("assert_eq!(90, total(2), \"at {}\", 2);"),
        listed,
        Some(&[("(90,", "(1")]),
    );
    check(
        "src/a.rs",
        &test("assert_eq!(total(2), Money::new(180));"),
        listed,
        Some(&[("new(180)", "new(")]),
    );
    check(
        "src/a.rs",
        &test("for n in 0..0 { assert_eq!(n, 1); }"),
        listed,
        None,
    );
    check("src/a.rs", &test("assert!(total(2) > 1);"), listed, None);
    check(
        "src/a.rs",
        &test("assert_eq!(total(2), 3);"),
        "tests::others",
        None,
    );
}

#[test]
fn the_name_has_words_of_the_file() {
    let tests = "test('takes a discount off', () => {\n  expect(f()).toBe(1);\n});\n\ntest('adds prices', () => {});\n";
    let listed = ["takes a discount off".to_owned()];
    let made = copied_test("a.test.js", tests.as_bytes(), "seed", &listed).expect("an equality");
    assert_eq!(made.must_fail, "takes a discount prices");
}
