//! Parquet: the same rows, columns and values in the same order.

use crate::rows::{flat, multi, row, v4, v5};
use atlas_formats::{
    ConvertOptions, Dataset, FaultKind, ReadOptions, Row, Schema, convert, read_dataset,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

fn read(path: &Path) -> Dataset {
    read_dataset(path, &ReadOptions::default()).unwrap()
}

fn columns(rows: &[Row]) -> Vec<Value> {
    rows.iter()
        .map(|row| Value::Object(row.columns().clone()))
        .collect()
}

/// Writes rows, reads them, writes what was read and reads it again.
fn check(rows: &[Row]) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (
        folder.path().join("a.parquet"),
        folder.path().join("b.parquet"),
    );
    Dataset::new(rows.to_vec()).write(&first).unwrap();
    let dataset = read(&first);
    assert_eq!(dataset.faults, []);
    dataset.write(&second).unwrap();
    let again = read(&second);
    assert_eq!(columns(&again.rows), columns(&dataset.rows));
    assert_eq!(dataset.rows[0].place().unwrap().line, 0);
    dataset
}

/// Keys in their order too, which `==` of JSON does not look at.
fn same(rows: &[Row]) {
    let read = check(rows);
    for (read, row) in read.rows.iter().zip(rows) {
        assert_eq!(read.columns(), row.columns());
        assert!(read.columns().keys().eq(row.columns().keys()));
    }
    assert_eq!(read.rows.len(), rows.len());
}

#[test]
fn rows_of_every_schema_but_one() {
    for (schema, value) in flat() {
        if schema == Schema::MultiSwebench {
            continue;
        }
        let mut other = value.clone();
        other["instance_id"] = "acme__sum-13".into();
        other["problem_statement"] = Value::Null;
        let mut first = value.clone();
        if schema == Schema::R2e {
            first["instance_id"] = "sum-1".into();
        }
        same(&[row(&first), row(&other)]);
    }
}

#[test]
fn lists_objects_numbers_and_nulls() {
    let named = |n: usize, x: Value| row(&json!({"instance_id": format!("a__b-{n}"), "x": x}));
    for values in [
        [json!([]), json!([["a"], [], ["b", "c"]]), json!(null)],
        [json!([null, "a"]), json!(["b"]), json!([])],
        [
            json!({"k": [1, 2], "l": {"m": null}}),
            json!({"k": [], "l": {"m": "x"}}),
            json!(null),
        ],
        [
            json!([{"a": 1.5, "b": true}, {"a": -0.25, "b": false}]),
            json!([]),
            json!([{"a": 3.0, "b": true}]),
        ],
        [json!(i64::MIN), json!(i64::MAX), json!(0)],
        [json!(""), json!("😀\u{0}\n"), json!(null)],
        [json!(null), json!(null), json!(null)],
    ] {
        let rows: Vec<_> = values
            .into_iter()
            .enumerate()
            .map(|(n, x)| named(n, x))
            .collect();
        same(&rows);
    }
    // More rows than one group holds.
    let many: Vec<_> = (0..2_500).map(|n| named(n, json!([n, n + 1]))).collect();
    same(&many);
}

#[test]
fn a_column_that_is_absent_is_null() {
    let rows = [
        row(&json!({"instance_id": "a__b-1", "x": 1})),
        row(&json!({"instance_id": "a__b-2", "y": "z"})),
    ];
    let read = check(&rows);
    assert_eq!(
        columns(&read.rows),
        [
            json!({"instance_id": "a__b-1", "x": 1, "y": null}),
            json!({"instance_id": "a__b-2", "x": null, "y": "z"}),
        ]
    );
}

#[test]
fn what_a_column_cannot_hold_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let refused = |rows: Vec<Row>| Dataset::new(rows).write(&path).unwrap_err().chain();
    let named = |n: usize, x: Value| row(&json!({"instance_id": format!("a__b-{n}"), "x": x}));
    for (a, b, hint) in [
        (json!("t"), json!(["l"]), "text beside a list"),
        (json!(1), json!(1.5), "a whole number beside a fraction"),
        (json!({"a": 1}), json!({"b": 1}), "different keys"),
        (json!({}), json!(null), "without keys"),
    ] {
        let why = refused(vec![named(1, a), named(2, b)]);
        assert!(
            why.contains(hint) && why.contains("`x`") && why.contains("a__b-"),
            "{why}"
        );
    }
    // The tests of another row are other keys.
    let mut other = multi();
    other["number"] = json!(13);
    other["f2p_tests"] = json!({"another": {"run": "NONE", "test": "FAIL", "fix": "PASS"}});
    let why = refused(vec![row(&multi()), row(&other)]);
    assert!(
        why.contains("`f2p_tests`") && why.contains("different keys"),
        "{why}"
    );
}

#[test]
fn a_changed_row_is_written_with_the_types_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    Dataset::new(vec![row(&v4())]).write(&path).unwrap();
    let mut dataset = read(&path);
    dataset.rows[0].set("patch", "new").unwrap();
    dataset.write(&path).unwrap();
    assert_eq!(read(&path).rows[0].text("patch"), Some("new"));
    // A column of another type makes another schema.
    dataset.rows[0].set("version", json!([1])).unwrap();
    dataset.rows[0].set("more", true).unwrap();
    dataset.write(&path).unwrap();
    assert_eq!(read(&path).rows[0].get("more"), Some(&json!(true)));
    assert_eq!(read(&path).rows[0].get("version"), Some(&json!([1])));
}

#[test]
fn the_way_back_leads_through_parquet() {
    let original = row(&multi());
    let options = ConvertOptions::default();
    let (there, _) = convert(
        std::slice::from_ref(&original),
        Schema::MultiSwebench,
        Schema::SwebenchV5,
        &options,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.parquet");
    Dataset::new(there).write(&path).unwrap();
    // A folder with one file a split is a dataset too.
    let read = read(folder.path());
    let (back, _) = convert(
        &read.rows,
        Schema::SwebenchV5,
        Schema::MultiSwebench,
        &options,
    );
    assert_eq!(back[0].json(), original.json());
}

#[test]
fn rows_with_faults_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut bad = v5();
    bad["instance_id"] = "acme__sum-13".into();
    let rows = vec![row(&v5()), row(&bad), row(&v5())];
    Dataset::new(rows).write(&path).unwrap();
    let dataset = read(&path);
    assert_eq!(dataset.rows.len(), 3);
    assert_eq!(dataset.faults.len(), 1);
    assert_eq!(dataset.faults[0].kind, FaultKind::DuplicateId);
    assert!(dataset.faults[0].to_string().contains("a.parquet, row 3"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_damage_makes_it_panic(places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), end in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        Dataset::new(vec![row(&flat()[5].1)]).write(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let whole = bytes.clone();
        for (place, byte) in places {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        std::fs::write(&path, &bytes).unwrap();
        let _ = read_dataset(&path, &ReadOptions::default());
        std::fs::write(&path, &whole[..end.index(whole.len())]).unwrap();
        read_dataset(&path, &ReadOptions::default()).unwrap_err();
    }
}
