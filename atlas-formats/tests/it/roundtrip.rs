//! What was read and not changed is written as the same bytes.

use crate::rows::{dumped, flat, v4, v5};
use atlas_formats::{Dataset, FileForm, Row};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn read(text: &str, name: &str) -> Dataset {
    Dataset::from_bytes(text.as_bytes(), Path::new(name))
}

fn same(text: &str, name: &str, rows: usize, form: FileForm) -> Dataset {
    let dataset = read(text, name);
    assert_eq!(dataset.faults, [], "{text}");
    assert_eq!(dataset.rows.len(), rows, "{text}");
    assert_eq!(dataset.form(), Some(form), "{text}");
    assert_eq!(String::from_utf8(dataset.to_bytes()).unwrap(), text);
    dataset
}

#[test]
fn frames_of_every_kind() {
    let a = r#"{"instance_id":"a__b-1","x":1.0}"#;
    let b = r#"{ "instance_id" : "a__b-2" , "x":1e-05, "y":"\u00e9\/" }"#;
    let big = r#"{"instance_id":"a__b-3","x":123456789012345678901234567890,"x2":0.10}"#;
    for text in [
        format!("{a}\n{b}\n{big}\n"),
        format!("{a}\n{b}\n{big}"),
        format!("\u{feff}{a}\r\n{b}\r\n{big}\r\n"),
        format!("\n\n{a}\n\n \t\n  {b}  \n{big}\n\n\n"),
    ] {
        same(&text, "d.jsonl", 3, FileForm::Lines);
        same(&text, "d.json", 3, FileForm::Lines);
        same(&text, "no-extension", 3, FileForm::Lines);
    }
    for text in [
        format!("[{a},{b},{big}]"),
        format!("[{a}, {b}, {big}]\n"),
        format!("\u{feff}[\r\n  {a},\r\n  {b},\r\n  {big}\r\n]\r\n"),
        format!("\n[\n{a}\n,\n{b}\n,\n{big}\n\n]"),
    ] {
        same(&text, "d.json", 3, FileForm::List);
        same(&text, "d.jsonl", 3, FileForm::List);
    }
    let dict = format!("{{\n  \"a__b-1\": {a},\n  \"a__b-2\" :{b},\"z\":{big}\n}}\n");
    same(&dict, "d.json", 3, FileForm::Dict);
    let pretty = serde_json::to_string_pretty(&json!([v4(), {"instance_id": "q"}])).unwrap();
    same(&pretty, "d.json", 2, FileForm::List);
    same(
        &serde_json::to_string_pretty(&v4()).unwrap(),
        "d.json",
        1,
        FileForm::Single,
    );
    for empty in ["", "\n\n", "\u{feff}"] {
        same(empty, "d.jsonl", 0, FileForm::Lines);
    }
    same("[]", "d.json", 0, FileForm::List);
    same("[ \n ]\n", "d.json", 0, FileForm::List);
    same("{}", "d.json", 0, FileForm::Dict);
}

#[test]
fn a_changed_column_leaves_the_others_bytes() {
    let mut dataset = read(
        "{ \"instance_id\":\"a__b-1\" ,\"n\": 1.0,\"v\":\"\\u00e9\" }\r\n{\"instance_id\":\"a__b-2\"}\r\n",
        "d.jsonl",
    );
    let row = &mut dataset.rows[0];
    row.set("v", "ü").unwrap();
    row.set("new", json!(["a", {"b": 1}])).unwrap();
    assert_eq!(
        String::from_utf8(dataset.to_bytes()).unwrap(),
        "{ \"instance_id\":\"a__b-1\" ,\"n\": 1.0,\"v\":\"\\u00fc\",\"new\":[\"a\",{\"b\":1}] }\r\n{\"instance_id\":\"a__b-2\"}\r\n"
    );
    let mut row: Row = "{\n  \"instance_id\": \"a\",\n  \"l\": [],\n  \"z\": 1\n}"
        .parse()
        .unwrap();
    row.set("l", json!(["x"])).unwrap();
    row.set("e", json!({"k": [1]})).unwrap();
    assert_eq!(
        row.json(),
        "{\n  \"instance_id\": \"a\",\n  \"l\": [\n    \"x\"\n  ],\n  \"z\": 1,\n  \"e\": {\n    \"k\": [\n      1\n    ]\n  }\n}"
    );
    row.remove("instance_id").unwrap_err();
    row.remove("l").unwrap();
    row.remove("e").unwrap();
    assert_eq!(row.json(), "{\n  \"instance_id\": \"a\",\n  \"z\": 1\n}");
    assert_eq!(
        row.line(),
        r#"{"instance_id": "a","z": 1}"#.replace(',', ", ")
    );
    row.set("instance_id", 5).unwrap_err();
    assert_eq!(row.id().as_str(), "a");
}

#[test]
fn rows_are_taken_out_added_and_moved_within_their_frame() {
    let text = "[\n  {\"instance_id\": \"a\"},\n  {\"instance_id\": \"b\"},\n  {\"instance_id\": \"c\"}\n]\n";
    let written = |change: &dyn Fn(&mut Dataset)| {
        let mut dataset = read(text, "d.json");
        change(&mut dataset);
        String::from_utf8(dataset.to_bytes()).unwrap()
    };
    let rest = |ids: &[&str]| {
        let rows: Vec<_> = ids
            .iter()
            .map(|id| format!("  {{\"instance_id\": \"{id}\"}}"))
            .collect();
        format!("[\n{}\n]\n", rows.join(",\n"))
    };
    assert_eq!(written(&|d| drop(d.rows.remove(0))), rest(&["b", "c"]));
    assert_eq!(written(&|d| drop(d.rows.remove(1))), rest(&["a", "c"]));
    assert_eq!(written(&|d| drop(d.rows.pop())), rest(&["a", "b"]));
    assert_eq!(written(&|d| d.rows.reverse()), rest(&["c", "b", "a"]));
    let new = r#"{"instance_id": "n"}"#;
    assert_eq!(
        written(&|d| d.rows.push(new.parse().unwrap())),
        rest(&["a", "b", "c", "n"])
    );
    assert_eq!(
        written(&|d| d.rows.insert(0, new.parse().unwrap())),
        rest(&["n", "a", "b", "c"])
    );
    let none = written(&|d| d.rows.clear());
    assert_eq!(serde_json::from_str::<Value>(&none).unwrap(), json!([]));

    let mut dict = read(
        "{\"a\": {\"instance_id\": \"a\"},\n\"b\": {\"instance_id\": \"b\"}}",
        "d.json",
    );
    dict.rows.remove(0);
    dict.rows.push(new.parse().unwrap());
    assert_eq!(
        String::from_utf8(dict.to_bytes()).unwrap(),
        "{\"b\": {\"instance_id\": \"b\"},\n\"n\": {\"instance_id\": \"n\"}}"
    );
    let mut lines = read("{\"instance_id\": \"a\"}", "d.jsonl");
    lines.rows.push(
        "{\n\"instance_id\": \"two  lines\",\n\"instance_id\": \"b\"}"
            .parse()
            .unwrap(),
    );
    assert_eq!(
        String::from_utf8(lines.to_bytes()).unwrap(),
        "{\"instance_id\": \"a\"}\n{\"instance_id\": \"two  lines\", \"instance_id\": \"b\"}"
    );
    let mut empty = read("[]", "d.json");
    empty.rows.push(new.parse().unwrap());
    let value: Value = serde_json::from_slice(&empty.to_bytes()).unwrap();
    assert_eq!(value, json!([{"instance_id": "n"}]));
}

#[test]
fn files_are_written_in_the_form_of_their_name() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = flat()
        .iter()
        .map(|(_, value)| dumped(value) + "\n")
        .collect();
    let from = folder.path().join("a.jsonl");
    std::fs::write(&from, &lines).unwrap();
    let dataset =
        atlas_formats::read_dataset(&from, &atlas_formats::ReadOptions::default()).unwrap();
    let list = folder.path().join("b.json");
    let again = folder.path().join("c.jsonl");
    dataset.write(&again).unwrap();
    assert_eq!(std::fs::read_to_string(&again).unwrap(), lines);
    dataset.write(&list).unwrap();
    let listed =
        atlas_formats::read_dataset(&list, &atlas_formats::ReadOptions::default()).unwrap();
    assert_eq!(listed.form(), Some(FileForm::List));
    listed.write(&again).unwrap();
    assert_eq!(std::fs::read_to_string(&again).unwrap(), lines);
}

#[test]
fn a_file_is_replaced_whole_and_leaves_nothing_beside_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("real.jsonl");
    let link = folder.path().join("link.jsonl");
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    read("{\"instance_id\": \"a\"}\n", "d.jsonl")
        .write(&link)
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        "{\"instance_id\": \"a\"}\n"
    );
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    let nowhere = folder.path().join("none/d.jsonl");
    let why = read("", "d.jsonl").write(&nowhere).unwrap_err();
    assert!(why.chain().contains("none/d.jsonl"));
}

#[test]
fn an_instance_is_the_row() {
    let line = dumped(&v5());
    let row: Row = line.parse().unwrap();
    let instance = row.instance().unwrap();
    assert_eq!(
        instance.fail_to_pass().unwrap().ids,
        ["tests/test_sum.py::test_all"]
    );
    assert_eq!(Row::try_from(&instance).unwrap().columns(), row.columns());
    let multi: Row = r#"{"org":"a","repo":"b","number":"7"}"#.parse().unwrap();
    assert_eq!(multi.instance().unwrap().id().unwrap().as_str(), "a__b-7");
}

/// JSON texts with blanks, escapes and numbers that a tree of values does not keep.
fn json_text() -> impl Strategy<Value = String> {
    let string = prop_oneof![
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just(r#""\u00e9\/\ud83d\ude00\b""#.to_owned()),
        Just("\"{[,:]}\\\"\\\\\"".to_owned()),
        Just("\"\u{2028}\u{7f}\u{feff}\"".to_owned()),
    ];
    let leaf = prop_oneof![
        4 => string.clone(),
        1 => Just("null".to_owned()),
        1 => any::<bool>().prop_map(|value| value.to_string()),
        1 => any::<i64>().prop_map(|value| value.to_string()),
        1 => any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        1 => Just("-0".to_owned()),
        1 => Just("1.0".to_owned()),
        1 => Just("1E+2".to_owned()),
        1 => "[1-9][0-9]{20,40}".prop_map(|digits| digits),
    ];
    let blank = prop_oneof![Just(""), Just(" "), Just("\t "), Just("\n"), Just("\r\n  ")];
    let key = string;
    leaf.prop_recursive(4, 30, 5, move |inner| {
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), blank.clone()).prop_map(
                |(items, blank)| {
                    format!(
                        "[{blank}{}{blank}]",
                        items.join(&format!("{blank},{blank}"))
                    )
                }
            ),
            (
                prop::collection::vec((key.clone(), inner), 0..4),
                blank.clone()
            )
                .prop_map(|(items, blank)| {
                    let items: Vec<_> = items
                        .into_iter()
                        .map(|(key, value)| format!("{key}{blank}:{blank}{value}"))
                        .collect();
                    format!("{{{blank}{}{blank}}}", items.join(&format!(",{blank}")))
                }),
        ]
    })
}

fn row_text() -> impl Strategy<Value = String> {
    (
        prop::collection::vec((any::<String>(), json_text()), 0..6),
        0..7_usize,
        "[a-z]{1,8}",
    )
        .prop_map(|(columns, at, id)| {
            let mut parts: Vec<_> = columns
                .into_iter()
                .enumerate()
                .map(|(n, (key, value))| {
                    format!(
                        "{} : {value}",
                        serde_json::to_string(&format!("{n}{key}")).unwrap()
                    )
                })
                .collect();
            parts.insert(at.min(parts.len()), format!("\"instance_id\":\"{id}\""));
            format!("{{{}}}", parts.join(" ,"))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_rows_come_back_as_they_were(
        rows in prop::collection::vec(row_text(), 1..5),
        separator in prop_oneof![Just(","), Just(" ,\r\n\t"), Just(",\n  ")],
        end in prop_oneof![Just(""), Just("\n"), Just("\r\n\r\n")],
    ) {
        let text = format!("[{}]{end}", rows.join(separator));
        let dataset = Dataset::from_bytes(text.as_bytes(), Path::new("d.json"));
        prop_assert_eq!(dataset.rows.len(), rows.len());
        prop_assert_eq!(dataset.to_bytes(), text.as_bytes());
        for (row, text) in dataset.rows.iter().zip(&rows) {
            prop_assert_eq!(row.json(), text.as_str());
            // One line of it says the same, with the same spelling of its values.
            let line = row.line();
            prop_assert!(!line.contains('\n'));
            let again: Row = line.parse().unwrap();
            prop_assert_eq!(again.columns(), row.columns());
        }
    }

    #[test]
    fn a_set_column_is_read_again_and_nothing_else_changes(
        text in row_text(),
        value in json_text(),
    ) {
        let row: Row = text.parse().unwrap();
        let value: Value = serde_json::from_str(&value).unwrap();
        for column in row.columns().keys().cloned().chain(["new".to_owned()]) {
            if column == "instance_id" {
                continue;
            }
            let mut changed = row.clone();
            changed.set(&column, value.clone()).unwrap();
            let again: Row = changed.json().parse().unwrap();
            prop_assert_eq!(again.get(&column), Some(&value));
            prop_assert_eq!(again.columns(), changed.columns());
            if !row.columns().contains_key(&column) {
                let mut back = changed;
                back.remove(&column).unwrap();
                prop_assert_eq!(back.json(), row.json());
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic_or_lose_some(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for start in ["", "[", "{\"a\":", "[{\"instance_id\":\"a\"},", "\u{feff}["] {
            let mut file = start.as_bytes().to_vec();
            file.extend_from_slice(&bytes);
            for name in ["d.json", "d.jsonl"] {
                let dataset = Dataset::from_bytes(&file, Path::new(name));
                prop_assert_eq!(dataset.to_bytes(), file.as_slice());
            }
        }
    }

    #[test]
    fn no_json_like_text_makes_it_panic_or_lose_some(text in "[\\[\\]{}\",:\\\\a1 \n]{0,60}") {
        for name in ["d.json", "d.jsonl"] {
            let dataset = Dataset::from_bytes(text.as_bytes(), Path::new(name));
            prop_assert_eq!(String::from_utf8(dataset.to_bytes()).unwrap(), text.as_str());
        }
    }
}
