use atlas_formats::{read_literal, write_literal};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn what_python_writes_is_read() {
    // Each text is what Python 3 prints for the value, or accepts for it.
    for (text, value) in [
        ("[]", json!([])),
        (
            "['a', \"it's\", 'say \"x\"', 'both \\' and \"']",
            json!(["a", "it's", "say \"x\"", "both ' and \""]),
        ),
        (
            r"['a\\b', 'tab\t', '\x00\x1b[0m', '\u2028', '\U0001f600é']",
            json!(["a\\b", "tab\t", "\u{0}\u{1b}[0m", "\u{2028}", "😀é"]),
        ),
        (
            r"'\101\7\q\
x'",
            json!("A\u{7}\\qx"),
        ),
        ("(1, 2,)", json!([1, 2])),
        ("(1)", json!(1)),
        ("(1,)", json!([1])),
        ("()", json!([])),
        (
            "{'a': {'b': None}, 'c': [True, False]}",
            json!({"a": {"b": null}, "c": [true, false]}),
        ),
        ("{'x', 'y'}", json!(["x", "y"])),
        ("{}", json!({})),
        ("{1: 'a', None: 'b'}", json!({"1": "a", "None": "b"})),
        (
            "[-1, +2, 1_000, 0x1F, 0o17, 0b11, 1.5, 1e3, -2.5E-1, .5]",
            json!([-1, 2, 1000, 31, 15, 3, 1.5, 1000.0, -0.25, 0.5]),
        ),
        ("'a' 'b'\n  \"c\"", json!("abc")),
        ("'''it's\nlong'''", json!("it's\nlong")),
        (r"r'\d+' u'x'", json!(r"\d+x")),
        (" [ 'a' , ] \n", json!(["a"])),
    ] {
        assert_eq!(read_literal(text), Ok(value), "{text}");
    }
}

#[test]
fn what_is_no_literal_says_where() {
    for (text, at) in [
        ("", 0),
        ("[1, 2", 5),
        ("[1 2]", 3),
        ("['a]", 4),
        ("__import__('os')", 0),
        ("[f(1)]", 1),
        ("b'x'", 0),
        ("f'x'", 0),
        ("'\\ud800'", 1),
        ("'\\N{DASH}'", 3),
        ("'\\x1'", 1),
        ("1e400", 0),
        ("99999999999999999999999", 0),
        ("[1] x", 4),
        ("{'a': 1, 'b'}", 12),
        ("'a\nb'", 2),
        ("1 + 1", 2),
    ] {
        let why = read_literal(text).expect_err(text);
        assert_eq!(why.at, at, "{text}: {why}");
    }
    read_literal(&"[".repeat(100_000)).unwrap_err();
}

#[test]
fn texts_are_written_as_repr_does() {
    for (value, text) in [
        (
            json!(["a", "it's", "say \"x\"", "both ' and \""]),
            r#"['a', "it's", 'say "x"', 'both \' and "']"#,
        ),
        (
            json!("a\\b\n\t\r\u{0}\u{1b}\u{7f}\u{a0}\u{2028}é😀"),
            r"'a\\b\n\t\r\x00\x1b\x7f\xa0\u2028é😀'",
        ),
        (
            json!({"k": null, "l": [true, 1, 1.5]}),
            "{'k': None, 'l': [True, 1, 1.5]}",
        ),
    ] {
        assert_eq!(write_literal(&value), text);
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|items| Value::Object(items.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in value()) {
        prop_assert_eq!(read_literal(&write_literal(&value)), Ok(value));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), like in "[\\[\\](){}'\",:\\\\a0x.eN -]{0,40}") {
        let _ = read_literal(&text);
        let _ = read_literal(&like);
    }
}
