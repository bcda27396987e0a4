//! Names and calls in a part of a source.

use atlas_syntax::{Language, Source};

fn calls(language: Language, text: &str) -> Vec<String> {
    let source = Source::new(language, text);
    let show = |range: &std::ops::Range<usize>| text[range.clone()].to_owned();
    source
        .calls(0..text.len())
        .iter()
        .map(|call| {
            let arguments: Vec<String> = call.arguments.iter().map(show).collect();
            format!("{} {}({})", call.name, call.callee, arguments.join("; "))
        })
        .collect()
}

#[test]
fn calls_of_every_language() {
    for (language, text, expected) in [
        (
            Language::Python,
            "a.b.c(1, k=2)\nd()\n",
            vec!["c a.b.c(1; k=2)", "d d()"],
        ),
        (
            Language::Go,
            "package p\nfunc f() { a.B(1); c() }\n",
            vec!["B a.B(1)", "c c()"],
        ),
        (
            Language::Rust,
            "fn f() { a.b(1); C::d(); e!(2); }\n",
            vec!["b a.b(1)", "d C::d()", "e e()"],
        ),
        (
            Language::Java,
            "class A { void f() { a.b(1); new C(2); d(); } }\n",
            vec!["b a.b(1)", "C C(2)", "d d()"],
        ),
        (
            Language::CSharp,
            "class A { void F() { a.B(1); new C(2); D<int>(); } }\n",
            vec!["B a.B(1)", "C C(2)", "D D<int>()"],
        ),
        (
            Language::JavaScript,
            "a.b(1); new C(2); d();\n",
            vec!["b a.b(1)", "C C(2)", "d d()"],
        ),
        (
            Language::TypeScript,
            "a.b<T>(1); new C(2);\n",
            vec!["b a.b(1)", "C C(2)"],
        ),
        (
            Language::Php,
            "<?php a(1); $b->c(2); D::e(); new F(3);\n",
            vec!["a a(1)", "c $b->c(2)", "e D::e()", "F F()"],
        ),
        (
            Language::Ruby,
            "a.b(1)\nc 2, 3\n",
            vec!["b a.b(1)", "c c(2; 3)"],
        ),
        (
            Language::C,
            "int f(void) { return g(1, s->h(2)); }\n",
            vec!["g g(1; s->h(2))", "h s->h(2)"],
        ),
        (
            Language::Cpp,
            "int f() { a::b(1); c.d<int>(2); return new E(3); }\n",
            vec!["b a::b(1)", "d c.d<int>(2)", "E E(3)"],
        ),
    ] {
        assert_eq!(calls(language, text), expected, "{language:?}");
    }
}

#[test]
fn names_of_a_part() {
    let text = "from m import other\ndef f(a):\n    return a.attr + g(key=a)\n";
    let source = Source::new(Language::Python, text);
    let start = text.find("def").unwrap();
    let names: Vec<String> = source.identifiers(start..text.len()).into_iter().collect();
    assert_eq!(names, ["a", "attr", "f", "g", "key"]);
}
