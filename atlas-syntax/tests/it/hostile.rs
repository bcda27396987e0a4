//! Sources that are broken, huge, deep or no text.

use atlas_syntax::{Language, Lines, Nesting, Source};
use proptest::prelude::*;

const SNIPPETS: &[&str] = &[
    "def f(x):\n    return x\n",
    "class A { void m() { f(() => 1); } }\n",
    "func (t *T) F() { x := func() {} }\n",
    "fn f() { macro!{ fn g() {} } }\n",
    "describe('a', () => { it('b', () => {}) })\n",
    "TEST(A, B) {\n#if 0\n}\n#else\nx();\n}\n#endif\n",
    "def m\n  a.each { |x| x }\nend\n",
    "<?php function f() { return function() {}; }\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for language in Language::ALL {
            check(language, &bytes);
        }
    }

    #[test]
    fn cut_and_joined_code_is_read(
        parts in proptest::collection::vec((0..SNIPPETS.len(), 0..60usize), 1..5),
    ) {
        let text: String = parts
            .iter()
            .map(|(at, cut)| &SNIPPETS[*at][..SNIPPETS[*at].len().saturating_sub(*cut)])
            .collect();
        for language in Language::ALL {
            check(language, text.as_bytes());
        }
    }
}

/// Every range lies in the source, holds its body, and its lines are those of its bytes.
fn check(language: Language, bytes: &[u8]) {
    let source = Source::new(language, bytes);
    for one in source.definitions() {
        assert!(
            one.bytes.start <= one.bytes.end && one.bytes.end <= bytes.len(),
            "{one:?}"
        );
        assert!(one.declaration >= one.bytes.start, "{one:?}");
        assert!(one.lines.first <= one.lines.last, "{one:?}");
        assert_eq!(one.lines.first, source.line_of(one.bytes.start), "{one:?}");
        let whole = source.bytes_of(one.lines);
        assert!(
            whole.start <= one.bytes.start && one.bytes.end <= whole.end,
            "{one:?}"
        );
        if one.kind.is_unit() && one.body.is_some() {
            let found = source.enclosing(one.lines, Nesting::Outermost);
            assert!(
                found.is_some_and(|found| found.lines.holds(one.lines)),
                "{one:?}"
            );
        }
    }
    let _ = source.calls(0..bytes.len());
    let _ = source.identifiers(0..bytes.len());
}

#[test]
fn very_deep_code_is_read() {
    let depth = 20_000;
    for (language, open, close) in [
        (Language::JavaScript, "(function(){", "})"),
        (Language::Python, "(", ")"),
        (Language::Rust, "{", "}"),
        (Language::C, "{", "}"),
        (Language::Ruby, "[", "]"),
        (Language::Java, "class A{", "}"),
        (Language::Java, "class A{int b=1;", "}"),
        (Language::TypeScript, "export const a = [{b: ", "}]"),
    ] {
        let text = format!("{}{}", open.repeat(depth), close.repeat(depth));
        let source = Source::new(language, text.as_str());
        let all = 0..text.len();
        assert_eq!(source.line_count(), 1, "{language:?}");
        let _ = source.calls(all.clone());
        let _ = source.identifiers(all.clone());
        let _ = source.values();
        let _ = source.tokens(all);
    }
    // A table of many objects.
    let table = format!(
        "const a = [{}];\nexport {{ a }};\n",
        "{b: 1},\n".repeat(50_000)
    );
    let source = Source::new(Language::JavaScript, table);
    assert_eq!(source.values().len(), 50_002);
    // A long chain of operators leans to the left: as deep as it is long.
    let chain = format!("int f() {{ return {}1; }}\n", "1 + ".repeat(100_000));
    let source = Source::new(Language::C, chain);
    assert_eq!(source.functions().count(), 1);
}

#[test]
fn bytes_that_are_no_text_stay_in_place() {
    let source = Source::new(
        Language::C,
        b"/* caf\xe9 */\nint f(void) { puts(\"\xff\xfe\"); }\n".as_slice(),
    );
    let function = source
        .enclosing(Lines::new(2, 2), Nesting::Innermost)
        .unwrap();
    assert_eq!(
        (function.name.as_str(), function.lines),
        ("f", Lines::new(1, 2))
    );
    let bom = Source::new(Language::CSharp, "\u{feff}class A { void M() { } }\n");
    assert_eq!(bom.functions().next().unwrap().name, "M");
    let nul = Source::new(
        Language::Python,
        "def f():\n    return '\0'\n\ndef g():\n    pass\n",
    );
    assert_eq!(nul.functions().count(), 2);
}

#[test]
fn code_around_a_mistake_is_still_found() {
    let source = Source::new(
        Language::Python,
        "def a():\n    return 1\n\ndef b(x):\n    x = = 2\n\ndef c():\n    return 3\n",
    );
    let names: Vec<&str> = source.functions().map(|one| one.name.as_str()).collect();
    assert!(names.contains(&"a") && names.contains(&"c"), "{names:?}");
    let source = Source::new(
        Language::Java,
        "class A {\n  int a() { return 1; }\n  int b() { return (2; }\n  int c() { x = ; }\n  int d() { return 4; }\n}\n",
    );
    let names: Vec<&str> = source.functions().map(|one| one.name.as_str()).collect();
    assert!(names.contains(&"a") && names.contains(&"d"), "{names:?}");
}
