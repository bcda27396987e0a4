//! Rows that are read for what is made of them are those of the dataset.

use atlas_formats::{
    Prediction, ReadOptions, Row, map_plain_rows, map_predictions, map_rows, map_rows_and_lists,
    read_dataset, read_predictions,
};
use std::path::Path;

/// Checks that a file read as predictions gives the same ones either way.
#[track_caller]
fn check_predictions(path: &Path) {
    let of = |one: &Prediction| {
        (
            one.instance_id().to_owned(),
            one.place().cloned(),
            one.columns().clone(),
        )
    };
    let whole = read_predictions(path).unwrap();
    let (made, faults) = map_predictions(path, |one| of(&one)).unwrap();
    assert!(made == whole.items.iter().map(of).collect::<Vec<_>>());
    assert_eq!(faults, whole.faults);
}

/// Checks that a file gives the same rows, places and faults either way; how many rows there are.
#[track_caller]
fn check(name: &str, content: &[u8]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let options = ReadOptions::default();
    let of = |row: &Row| {
        (
            row.id().clone(),
            row.place().cloned(),
            row.columns().clone(),
        )
    };
    let whole = read_dataset(&path, &options).unwrap();
    let (made, faults) = map_rows(&path, &options, |row| of(&row)).unwrap();
    let rows: Vec<_> = whole.rows.iter().map(of).collect();
    assert!(made == rows, "{} rows, not {}", made.len(), rows.len());
    assert_eq!(faults, whole.faults);
    let columns = ["FAIL_TO_PASS", "PASS_TO_PASS"];
    let (apart, faults) = map_rows_and_lists(&path, &options, &columns, |row, lists| {
        let mut row = of(&row);
        for column in columns {
            if let Some(list) = lists.get(column) {
                let value = serde_json::to_value(list).unwrap();
                assert!(row.2.insert(column.to_owned(), value).unwrap().is_null());
            }
        }
        row
    })
    .unwrap();
    check_predictions(&path);
    // A list that is a text in the row may have other blanks there.
    let compact = |(id, place, mut columns): (_, _, serde_json::Map<_, _>)| {
        for value in columns.values_mut() {
            let list = value.as_str().map(serde_json::from_str::<Vec<String>>);
            if let Some(Ok(list)) = list {
                *value = serde_json::to_string(&list).unwrap().into();
            }
        }
        (id, place, columns)
    };
    let rows: Vec<_> = rows.into_iter().map(compact).collect();
    let apart: Vec<_> = apart.into_iter().map(compact).collect();
    assert!(apart == rows, "{} rows, not {}", apart.len(), rows.len());
    assert_eq!(faults, whole.faults);
    let (plain, faults) = map_plain_rows(
        &path,
        &options,
        &columns,
        |row| Some((row.id().clone(), Some(row.line()))),
        |row, _| (row.id().clone(), row.place().map(|place| place.line)),
    )
    .unwrap();
    let named =
        |(id, place, _): (_, Option<atlas_formats::Place>, _)| (id, place.map(|it| it.line));
    assert!(plain == rows.into_iter().map(named).collect::<Vec<_>>());
    assert_eq!(faults, whole.faults);
    made.len()
}

#[test]
fn lines_are_read_in_pieces_as_they_are_read_whole() {
    let good = |number: usize| format!(r#"{{"instance_id":"a__b-{number}","n":{number}}}"#);
    assert_eq!(check("rows.jsonl", b""), 0);
    assert_eq!(check("rows.jsonl", b"\n \r\n"), 0);
    assert_eq!(check("rows.jsonl", good(1).as_bytes()), 1);
    let marked = format!("\u{feff}{}\r\n\n  {}  \n", good(1), good(2));
    assert_eq!(check("rows.ndjson", marked.as_bytes()), 2);
    let broken = format!(
        "{}\n{{\"instance_id\": \n[]\n{}\n{}\n{{}}\n{{\"n\":1,\"n\":2,\"instance_id\":\"x__y-1\"}}",
        good(1),
        good(2),
        good(1)
    );
    assert_eq!(check("rows.jsonl", broken.as_bytes()), 4);
    let mut no_text = good(1).into_bytes();
    no_text.extend_from_slice(b"\n{\"instance_id\":\"a__b-2\",\"patch\":\"\xff\"}\n");
    assert_eq!(check("rows.jsonl", &no_text), 1);
}

#[test]
fn a_line_may_be_longer_than_what_is_read_at_once() {
    let row = |number: usize, length: usize| {
        let patch = "x".repeat(length);
        format!(r#"{{"instance_id":"a__b-{number}","patch":"{patch}"}}"#)
    };
    let lengths = [10, 3 << 20, 10, 9 << 20, 1 << 20, (2 << 20) - 37, 0, 5];
    let mut file = String::new();
    for (number, length) in lengths.into_iter().enumerate() {
        file.push_str(&row(number, length));
        file.push('\n');
    }
    assert_eq!(check("rows.jsonl", file.as_bytes()), lengths.len());
    assert_eq!(
        check("rows.jsonl", file.trim_end().as_bytes()),
        lengths.len()
    );
}

#[test]
fn other_files_are_read_whole() {
    let list = br#"[{"instance_id":"a__b-1"},{"instance_id":"a__b-2"}]"#;
    assert_eq!(check("rows.json", list), 2);
    assert_eq!(check("rows.jsonl", list), 2);
    assert_eq!(check("rows", b"{\"instance_id\":\"a__b-1\"}\n"), 1);
}

#[test]
fn what_is_no_dataset_is_refused_in_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let options = ReadOptions::default();
    let refused = |path: &Path| {
        let whole = read_dataset(path, &options).unwrap_err().chain();
        let mapped = map_rows(path, &options, |_| ()).unwrap_err().chain();
        assert_eq!(mapped, whole);
    };
    refused(&folder.path().join("none.jsonl"));
    refused(folder.path());
    for (number, content) in [&b"PAR1"[..], b"\xff\xfe", b"<html>", b"\x1f\x8b"]
        .into_iter()
        .enumerate()
    {
        let path = folder.path().join(format!("{number}.jsonl"));
        std::fs::write(&path, content).unwrap();
        refused(&path);
    }
}

#[test]
fn lists_beside_their_row_change_nothing_in_it() {
    let rows = [
        r#"{"instance_id":"a__b-1","FAIL_TO_PASS":"[\"t::a\", \"t::ä [x]\"]","PASS_TO_PASS":["u"],"n":1}"#,
        r#"{"instance_id":"a__b-2","FAIL_TO_PASS":"[\"a\\n\", \"b\\\\\"]","PASS_TO_PASS":["\u00e4"]}"#,
        r#"{"instance_id":"a__b-3","FAIL_TO_PASS":"['a', 'b']","PASS_TO_PASS":null}"#,
        r#"{"instance_id":"a__b-4","FAIL_TO_PASS":["a",1],"PASS_TO_PASS":["b"]}"#,
        r#"{"instance_id":"a__b-5","FAIL_TO_PASS":["a"],"n":1,"n":2,"PASS_TO_PASS":["b"],"FAIL_TO_PASS":["c"]}"#,
        r#"{"instance_id":"a__b-6","FAIL_TO_PASS":["a"],"FAIL_TO_PASS":"x","FAIL_TO_PASS":null}"#,
        r#"{"FAIL_TO_PASS":["a"],"instance_id":"a__b-7","patch":"\ud800"}"#,
        r#"{"FAIL_TO_PASS":["a"],"instance_id":"a__b-8","patch":NaN}"#,
        r#"{"FAIL_TO_PASS":["a"],"instance_id":"a__b-9""#,
        r#"{"FAIL_TO_PASS":["a"],"repo":"a"}"#,
        r#"{"FAIL_TO_PASS":["a"],"instance_id":"a__b-10","patch":1}"#,
        r#"{"FAIL_TO_PASS":["a"],"instance_id":"a__b-1"}"#,
        r#"{"FAIL_TO_PASS":["a"],"rows":[{"instance_id":"a__b-11"}]}"#,
    ];
    assert_eq!(check("rows.jsonl", rows.join("\n").as_bytes()), 6);
}
