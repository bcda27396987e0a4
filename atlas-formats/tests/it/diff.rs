use crate::rows::{dumped, multi, row, v5};
use atlas_formats::{ConvertOptions, Dataset, Schema, convert, diff_datasets};
use serde_json::{Value, json};
use std::path::Path;

fn dataset(rows: &[Value]) -> Dataset {
    let lines: Vec<_> = rows.iter().map(dumped).collect();
    Dataset::from_bytes(lines.join("\n").as_bytes(), Path::new("d.jsonl"))
}

fn named(id: &str) -> Value {
    let mut row = v5();
    row["instance_id"] = id.into();
    row
}

#[test]
fn rows_columns_tests_and_patches() {
    let a = dataset(&[named("gone"), named("same"), named("changed")]);
    let mut changed = named("changed");
    changed["FAIL_TO_PASS"] = "[\"new\"]".into();
    changed["PASS_TO_PASS"] = json!([
        "tests/test_sum.py::test_p[a b-1]",
        "tests/test_sum.py::test_none"
    ]);
    changed["patch"] = "".into();
    changed["version"] = "9".into();
    changed["added"] = json!(1);
    changed.as_object_mut().unwrap().shift_remove("hints_text");
    let b = dataset(&[changed, named("come"), named("same")]);
    let diff = diff_datasets(&a, &b);
    assert_eq!(diff.only_in_first, ["gone"]);
    assert_eq!(diff.only_in_second, ["come"]);
    assert_eq!(diff.same, 1);
    let row = &diff.changed["changed"];
    assert_eq!(row.added, ["added"]);
    assert_eq!(row.removed, ["hints_text"]);
    assert_eq!(
        row.changed,
        ["patch", "version", "FAIL_TO_PASS", "PASS_TO_PASS"]
    );
    assert_eq!(row.tests["FAIL_TO_PASS"].added, ["new"]);
    assert_eq!(
        row.tests["FAIL_TO_PASS"].removed,
        ["tests/test_sum.py::test_all"]
    );
    assert!(row.tests["PASS_TO_PASS"].reordered);
    assert_eq!(row.patches["patch"].first, Some((1, 1)));
    assert_eq!(row.patches["patch"].second, Some((0, 0)));
    assert!(!row.patches.contains_key("test_patch"));
    assert!(!diff.is_empty());
    let text = diff.to_string();
    for line in [
        "- gone\n",
        "+ come\n",
        "~ changed\n",
        "    columns changed: patch, version, FAIL_TO_PASS, PASS_TO_PASS\n",
        "    FAIL_TO_PASS: + new\n",
        "    patch: 1 files, 1 hunks -> 0 files, 0 hunks\n",
        "1 only in the first, 1 only in the second, 1 changed, 1 the same\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    let value = serde_json::to_value(&diff).unwrap();
    assert_eq!(
        value["changed"]["changed"]["tests"]["FAIL_TO_PASS"]["added"],
        json!(["new"])
    );
}

#[test]
fn spelling_and_order_are_no_difference() {
    let mut other = v5();
    other["FAIL_TO_PASS"] = json!(["tests/test_sum.py::test_all"]);
    other["PASS_TO_PASS"] =
        "['tests/test_sum.py::test_none', 'tests/test_sum.py::test_p[a b-1]']".into();
    let columns = other.as_object_mut().unwrap();
    let repo = columns.shift_remove("repo").unwrap();
    columns.insert("repo".to_owned(), repo);
    let diff = diff_datasets(&dataset(&[v5()]), &dataset(&[other]));
    assert!(diff.is_empty(), "{diff}");
    assert_eq!(diff.same, 1);
}

#[test]
fn schemas_are_compared_by_meaning() {
    let (rows, _) = convert(
        &[row(&multi())],
        Schema::MultiSwebench,
        Schema::SwebenchV4,
        &ConvertOptions::default(),
    );
    let diff = diff_datasets(&dataset(&[multi()]), &Dataset::new(rows));
    let row = &diff.changed["acme__sum-12"];
    assert!(row.tests.is_empty() && row.patches.is_empty(), "{diff}");
    assert!(row.added.contains(&"FAIL_TO_PASS".to_owned()));
}
