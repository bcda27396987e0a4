//! A bad row is a fault with its place; the rest goes on.

use atlas_formats::{Dataset, FaultKind, ReadOptions, read_dataset};
use std::path::Path;

fn read(bytes: &[u8], name: &str) -> Dataset {
    Dataset::from_bytes(bytes, Path::new(name))
}

/// The faults as kind, line and column.
fn faults(bytes: &[u8], name: &str, rows: usize) -> Vec<(FaultKind, usize, String)> {
    let dataset = read(bytes, name);
    assert_eq!(dataset.rows.len(), rows, "{:?}", dataset.faults);
    assert_eq!(dataset.to_bytes(), bytes);
    for fault in &dataset.faults {
        assert!(!fault.what.is_empty() && !fault.way_out.is_empty());
        assert!(fault.to_string().contains(name), "{fault}");
    }
    dataset
        .faults
        .into_iter()
        .map(|fault| {
            (
                fault.kind,
                fault.place.line,
                fault.field.unwrap_or_default(),
            )
        })
        .collect()
}

#[test]
fn each_kind_names_line_and_column() {
    use FaultKind as K;
    let good = r#"{"instance_id": "a__b-1", "repo": "a/b"}"#;
    for (bad, kind, column) in [
        (
            &br#"{"instance_id": "a__b-2", "repo": "a/b""#[..],
            K::NotJson,
            "",
        ),
        (
            br#"{"instance_id": "a__b-2", "patch": tru}"#,
            K::NotJson,
            "patch",
        ),
        (
            br#"{"instance_id": "a__b-2", "hints_text": NaN}"#,
            K::NotJson,
            "hints_text",
        ),
        (br#"{"instance_id": "a__b-2", "n": 1e400}"#, K::NotJson, "n"),
        (br"not JSON at all", K::NotJson, ""),
        (br"[1, 2]", K::NotAnObject, ""),
        (br#""text""#, K::NotAnObject, ""),
        (
            br#"{"instance_id": "a__b-2", "patch": "\ud800 x"}"#,
            K::LoneSurrogate,
            "patch",
        ),
        (
            br#"{"instance_id": "a__b-2", "patch": "\udc00"}"#,
            K::LoneSurrogate,
            "patch",
        ),
        (
            b"{\"instance_id\": \"a__b-2\", \"patch\": \"\xff\"}",
            K::NotUtf8,
            "patch",
        ),
        (br#"{"repo": "a/b"}"#, K::MissingColumn, "instance_id"),
        (br#"{"instance_id": null}"#, K::MissingColumn, "instance_id"),
        (br#"{"instance_id": 12}"#, K::WrongType, "instance_id"),
        (
            br#"{"instance_id": "a__b-2", "patch": ["x"]}"#,
            K::WrongType,
            "patch",
        ),
        (
            br#"{"instance_id": "a__b-2", "FAIL_TO_PASS": {"x": 1}}"#,
            K::WrongType,
            "FAIL_TO_PASS",
        ),
        (
            br#"{"instance_id": "a__b-2", "fail_to_pass": ["x", 1]}"#,
            K::WrongType,
            "fail_to_pass",
        ),
        (
            br#"{"instance_id": "../a", "repo": "a/b"}"#,
            K::InvalidId,
            "instance_id",
        ),
        (
            br#"{"instance_id": "", "repo": "a/b"}"#,
            K::InvalidId,
            "instance_id",
        ),
    ] {
        let mut file = format!("{good}\n\n").into_bytes();
        file.extend_from_slice(bad);
        file.extend_from_slice(b"\r\n{\"instance_id\": \"a__b-3\"}\n");
        assert_eq!(
            faults(&file, "d.jsonl", 2),
            [(kind, 3, column.to_owned())],
            "{}",
            String::from_utf8_lossy(bad)
        );
    }
}

#[test]
fn what_is_there_twice_is_said_and_kept() {
    let text = br#"{"instance_id": "a", "x": 1, "x": 2}
{"instance_id": "a"}
"#;
    assert_eq!(
        faults(text, "d.jsonl", 2),
        [
            (FaultKind::DuplicateColumn, 1, "x".to_owned()),
            (FaultKind::DuplicateId, 2, "instance_id".to_owned()),
        ]
    );
    let dataset = read(text, "d.jsonl");
    assert!(dataset.faults[1].what.contains("d.jsonl:1"));
}

#[test]
fn a_broken_row_of_a_list_costs_itself_only() {
    let row =
        |id: usize| format!("{{\"instance_id\": \"a__b-{id}\", \"t\": [\"x\", {{\"y\": 1}}]}}");
    for (bad, count) in [
        (r#"{"instance_id": "q", "t": ["x", "#, 1),
        (r#"{"instance_id": "q", "t": "unclosed}"#, 1),
        (r#"{"instance_id": "q", "t": ]}"#, 1),
        (r#"{"instance_id": "q" "t": 1}"#, 1),
        (r#"{"instance_id": "q", "t": 1,}"#, 1),
        ("nonsense", 1),
        ("null", 1),
        (r#"{"instance_id": "q"} {"instance_id": "r"}"#, 1),
    ] {
        for separator in [",\n  ", ", "] {
            let rows = [&row(1), &row(2), bad, &row(3), &row(4)].map(str::to_owned);
            let text = format!("[{}]\n", rows.join(separator));
            let found = faults(text.as_bytes(), "d.json", 4);
            assert_eq!(found.len(), count, "{text}: {found:?}");
            let line = if separator.contains('\n') { 3 } else { 1 };
            assert_eq!(found[0].1, line, "{text}");
        }
        for separator in [",\n", ", "] {
            let text = format!(
                "{{{}}}",
                [
                    format!("\"k1\": {}", row(1)),
                    format!("\"k2\": {bad}"),
                    format!("\"k3\": {}", row(3)),
                ]
                .join(separator)
            );
            let found = faults(text.as_bytes(), "d.json", 2);
            assert_eq!(found.len(), count, "{text}: {found:?}");
            let line = if separator.contains('\n') { 2 } else { 1 };
            assert_eq!(found[0].1, line, "{text}");
        }
    }
}

#[test]
fn a_file_that_breaks_off_gives_what_was_there() {
    let whole = "[\n  {\"instance_id\": \"a\"},\n  {\"instance_id\": \"b\"}\n]\n";
    assert_eq!(faults(&whole.as_bytes()[..47], "d.json", 1).len(), 1);
    assert_eq!(faults(&whole.as_bytes()[..26], "d.json", 1).len(), 1);
    let lines = "{\"instance_id\": \"a\"}\n{\"instance_id\": \"b\"}\n";
    assert_eq!(faults(&lines.as_bytes()[..30], "d.jsonl", 1).len(), 1);
    assert_eq!(
        faults(b"[{\"instance_id\": \"a\"}] more", "d.json", 1).len(),
        1
    );
}

#[test]
fn broken_rows_can_be_left_out() {
    let dataset = read(
        b"{\"instance_id\": \"a\"}\nbad\n{\"instance_id\": \"b\"}\n",
        "d.jsonl",
    );
    assert_eq!(
        dataset.to_bytes_without_faults(),
        b"{\"instance_id\": \"a\"}\n{\"instance_id\": \"b\"}\n"
    );
}

#[test]
fn ten_thousand_rows_with_one_broken_are_quick() {
    let filler = "x".repeat(500);
    let mut rows: Vec<_> = (0..10_000)
        .map(|n| format!("{{\"instance_id\": \"a__b-{n}\", \"patch\": \"{filler}\"}}"))
        .collect();
    rows[5_000] = format!("{{\"instance_id\": \"a__b-5000\", \"patch\": \"{filler}}}");
    let start = std::time::Instant::now();
    for (text, name) in [
        (rows.join("\n"), "d.jsonl"),
        (format!("[\n  {}\n]", rows.join(",\n  ")), "d.json"),
    ] {
        let dataset = read(text.as_bytes(), name);
        assert_eq!((dataset.rows.len(), dataset.faults.len()), (9_999, 1));
        assert_eq!(dataset.to_bytes(), text.as_bytes());
    }
    // Seconds would mean that something is quadratic: an unoptimised build needs well below one.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn many_broken_rows_are_quick_too() {
    let row = |n: usize| format!("{{\"instance_id\": \"a__b-{n}\", \"patch\": \"unclosed}}");
    let rows: Vec<_> = (0..5_000).map(row).collect();
    let text = format!(
        "[\n  {{\"instance_id\": \"good\"}},\n  {}\n]",
        rows.join(",\n  ")
    );
    let start = std::time::Instant::now();
    let dataset = read(text.as_bytes(), "d.json");
    assert_eq!((dataset.rows.len(), dataset.faults.len()), (1, 5_000));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn files_that_are_no_text_are_errors_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    for (name, bytes, hint) in [
        ("a.json", &b"\xff\xfe[\0]\0"[..], "UTF-8"),
        ("b.jsonl", b"PAR1....", ".parquet"),
        ("c.jsonl", b"\x1f\x8b\x08", "unpack"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let why = read_dataset(&path, &options).unwrap_err().chain();
        assert!(why.contains(name) && why.contains(hint), "{why}");
    }
    let why = read_dataset(&folder.path().join("none"), &options).unwrap_err();
    assert_eq!(why.kind(), atlas_core::ErrorKind::NotFound);
}

#[test]
fn deep_nesting_is_a_fault_not_a_crash() {
    let deep = format!("{{\"instance_id\": \"a\", \"x\": {}1", "[".repeat(200_000));
    let closed = format!("{deep}{}}}", "]".repeat(200_000));
    for text in [deep, closed] {
        let dataset = read(text.as_bytes(), "d.jsonl");
        assert_eq!((dataset.rows.len(), dataset.faults.len()), (0, 1));
    }
}

/// A file of this name is refused, or its first fault says this.
fn told(name: &str, bytes: &[u8], words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let said = match read_dataset(&path, &ReadOptions::default()) {
        Ok(dataset) => dataset.faults[0].to_string(),
        Err(why) => why.chain(),
    };
    assert!(said.contains(words), "{name}: {said}");
    assert!(said.contains(name), "{said}");
}

#[test]
fn what_is_plainly_something_else_is_called_by_its_name() {
    let row = r#"{"instance_id": "a__b-1", "repo": "a/b"}"#;
    let wide: Vec<u8> = row.bytes().flat_map(|byte| [byte, 0]).collect();
    for (name, text, words) in [
        (
            "commas.jsonl",
            format!("{row},\n{row}\n"),
            "a comma stands behind the row",
        ),
        (
            "joined.jsonl",
            format!("{row}{row}"),
            "another row stands behind this one",
        ),
        (
            "old-ends.jsonl",
            format!("{row}\r{row}\r"),
            "another row stands behind this one",
        ),
        (
            "split.json",
            format!(r#"{{"test": [{row}]}}"#),
            "column `test`: what is looked for stands in a list",
        ),
        (
            "viewer.json",
            format!(r#"{{"rows": [{{"row": {row}}}]}}"#),
            "column `rows`: the rows stand in a list",
        ),
        (
            "pointer.jsonl",
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_owned(),
            "git lfs pull",
        ),
        (
            "page.json",
            "<!DOCTYPE html><html></html>".to_owned(),
            "a web page",
        ),
    ] {
        told(name, text.as_bytes(), words);
    }
    told("wide.jsonl", &wide, "UTF-16");
    told(
        &"long".repeat(2),
        format!(r#"{{"instance_id": "{}"}}"#, "x".repeat(5_000)).as_bytes(),
        "xxx…`",
    );
}
