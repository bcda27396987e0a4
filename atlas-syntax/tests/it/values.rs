//! Names that hold values, words by what they are, and signatures without comments.

use atlas_syntax::{Language, Source, TokenKind, ValueKind};

fn values(language: Language, text: &str) -> Vec<(String, ValueKind, String)> {
    let source = Source::new(language, text);
    let values = source.values().into_iter();
    values
        .map(|one| {
            assert!(text[one.bytes.clone()].contains(&one.name) || one.name == "default");
            (one.name, one.kind, one.signature)
        })
        .collect()
}

fn check(language: Language, text: &str, expected: &[(&str, ValueKind, &str)]) {
    let expected: Vec<(String, ValueKind, String)> = expected
        .iter()
        .map(|(name, kind, signature)| ((*name).to_owned(), *kind, (*signature).to_owned()))
        .collect();
    assert_eq!(values(language, text), expected, "{text}");
}

#[test]
fn what_is_offered_counts_and_what_is_local_does_not() {
    use ValueKind::{Constant, Enumerator, Export, Field, Import};
    check(
        Language::Python,
        "from a import b as c\nA: int = 1  # why\nD, E = 1, 2\ndef f():\n    local = 1\n    self.x = local\n",
        &[
            ("c", Import, ""),
            ("A", Constant, "A: int"),
            ("D", Constant, ""),
            ("E", Constant, ""),
            ("x", Field, ""),
        ],
    );
    check(
        Language::Rust,
        "pub use a::{B, c::D as E};\nuse f::G;\npub const H: u8 = 1;\nstruct S {\n    pub(crate) i: Vec<u8>, // why\n}\nenum J { K(u8), L { m: u8 } }\nfn f() {\n    const N: u8 = 1;\n    let o = 1;\n}\n",
        &[
            ("E", Export, ""),
            ("B", Export, ""),
            ("H", Constant, "pub const H: u8"),
            ("i", Field, "pub(crate) i: Vec<u8>"),
            ("K", Enumerator, "K(u8)"),
            ("L", Enumerator, "L { m: u8 }"),
            ("m", Field, "m: u8"),
        ],
    );
    check(
        Language::JavaScript,
        "const a = { b: 1 };\nconst c = { d: 1, a };\nmodule.exports = { c, e: 2 };\nfunction f() { const g = { h: 1 }; this.i = g; }\nexport { f as j };\n",
        &[
            ("a", Constant, ""),
            ("c", Constant, ""),
            ("d", Field, ""),
            ("a", Field, ""),
            ("default", Export, ""),
            ("c", Export, ""),
            ("e", Export, ""),
            ("i", Field, ""),
            ("j", Export, ""),
        ],
    );
    check(
        Language::CSharp,
        "class A { public int B { get; set; } = 1; const int C = 2, D = 3; event E F; void G() { int h = 1; } }\n",
        &[
            ("B", Field, "public int B"),
            ("C", Field, ""),
            ("D", Field, ""),
            ("F", Field, "event E F"),
        ],
    );
    check(
        Language::C,
        "#define A 1\nextern int b; /* why */\nstruct c { int d, e; };\nenum { F = 1, G };\nint h(void) { int i = 1; return i; }\n",
        &[
            ("A", Constant, ""),
            ("b", Constant, "extern int b"),
            ("d", Field, ""),
            ("e", Field, ""),
            ("F", Enumerator, ""),
            ("G", Enumerator, ""),
        ],
    );
}

#[test]
fn signatures_have_no_comments() {
    for (language, text, expected) in [
        (
            Language::Python,
            "def f(\n    a,  # the first\n    # alone\n    b,\n):\n    pass\n",
            "def f( a, b, )",
        ),
        (
            Language::Java,
            "class A { int f(int a /* in */, // more\n int b) { return a; } }\n",
            "int f(int a , int b)",
        ),
        (
            Language::Rust,
            "fn f(\n    a: u8, // the first\n) -> u8 {\n    a\n}\n",
            "fn f( a: u8, ) -> u8",
        ),
        (
            Language::C,
            "int f(int a /* in */, int b);\n",
            "int f(int a , int b)",
        ),
    ] {
        let source = Source::new(language, text);
        let function = source.functions().next().unwrap();
        let words: Vec<&str> = function.signature.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{text}");
    }
}

#[test]
fn tokens_are_names_texts_numbers_and_comments() {
    use TokenKind::{Comment, Name, Number, Text};
    for (language, text, expected) in [
        (
            Language::Python,
            "x = f'a{y}' + g(10)  # why\n",
            &[
                (Name, "x"),
                (Text, "f'a{y}'"),
                (Name, "y"),
                (Name, "g"),
                (Number, "10"),
                (Comment, "# why"),
            ][..],
        ),
        (
            Language::Ruby,
            "x = \"a\" + 10.to_s # why\n",
            &[
                (Name, "x"),
                (Text, "\"a\""),
                (Number, "10"),
                (Name, "to_s"),
                (Comment, "# why"),
            ],
        ),
        (
            Language::JavaScript,
            "x = `a ${y}` + /b/ + 10; // why\n",
            &[
                (Name, "x"),
                (Text, "`a ${y}`"),
                (Name, "y"),
                (Text, "/b/"),
                (Number, "10"),
                (Comment, "// why"),
            ],
        ),
        (
            Language::Cpp,
            "int x = f(\"a\", 'b', 10); // why\n",
            &[
                (Name, "x"),
                (Name, "f"),
                (Text, "\"a\""),
                (Text, "'b'"),
                (Number, "10"),
                (Comment, "// why"),
            ],
        ),
    ] {
        let source = Source::new(language, text);
        let tokens = source.tokens(0..text.len());
        let found: Vec<(TokenKind, &str)> = tokens
            .iter()
            .map(|token| (token.kind, token.text.as_str()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}
