//! Releases: what a stranger can do with the folder alone.

use crate::support::Place;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A row that can be graded, as far as its data tell.
fn row(id: &str, language: &str, more: &Value) -> Value {
    let mut row = json!({
        "instance_id": id,
        "repo": id.rsplit_once('-').unwrap().0.replace("__", "/"),
        "base_commit": "0123456789012345678901234567890123456789",
        "patch": "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\n",
        "test_patch": "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1 +1 @@\n-a\n+b\n",
        "problem_statement": "It is `a`, and should be `b`.",
        "hints_text": "",
        "created_at": "2024-03-01T12:00:00Z",
        "version": "1",
        "FAIL_TO_PASS": "[\"test_b\"]",
        "PASS_TO_PASS": "[]",
        "environment_setup_commit": "0123456789012345678901234567890123456789",
        "image": "registry.example/a:1",
        "eval_script": "#!/bin/bash\n: '>>>>> Start Test Output'\npytest -rA\n: '>>>>> End Test Output'\n",
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "language": language,
    });
    for (name, value) in more.as_object().unwrap() {
        row[name.as_str()] = value.clone();
    }
    row
}

fn write_rows(place: &Place, name: &str, rows: &[Value]) {
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    std::fs::write(place.path(name), lines.join("\n") + "\n").unwrap();
}

fn three_rows() -> Vec<Value> {
    vec![
        row(
            "a__a-1",
            "python",
            &json!({"license": "MIT", "atlas": {"kind": "bug_fix", "image_id": format!("sha256:{}", "ab".repeat(32)), "unstable": {}}, "tags": ["x"]}),
        ),
        row(
            "b__b-2",
            "C++",
            &json!({"license": "our own words", "atlas": {"kind": "feature_request", "gates": {"gold_patch": "accept"}}, "tags": []}),
        ),
        row("b__b-3", "python", &json!({"stars": 7})),
    ]
}

/// Every file below a folder, with its bytes.
fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(root).unwrap();
            found.insert(
                name.display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            );
        }
    }
    found
}

#[test]
fn the_same_rows_give_the_same_bytes_and_an_old_release_is_replaced_whole() {
    let place = Place::new();
    write_rows(&place, "rows.jsonl", &three_rows());
    let args = ["publish", "rows.jsonl", "--split", "by=language", "--out"];
    for out in ["one", "two"] {
        let done = place.run(&[&args[..], &[out]].concat());
        assert_eq!(done.code(), 0, "{}", done.stderr());
    }
    let first = tree(&place.path("one"));
    assert_eq!(first, tree(&place.path("two")));
    for name in [
        "README.md",
        "croissant.json",
        "SHA256SUMS",
        "cpp.jsonl",
        "python.jsonl",
        "data/cpp-00000-of-00001.parquet",
        "metadata/release.json",
        "metadata/instances.jsonl",
        "metadata/provenance.spdx.json",
    ] {
        assert!(first.contains_key(name), "{name}: {:?}", first.keys());
    }
    let sums = Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(place.path("one"))
        .status();
    assert!(sums.unwrap().success());
    // A killed run left these: they go, and the release is whole.
    std::fs::create_dir_all(place.path(".one.atlas-part/data")).unwrap();
    std::fs::rename(place.path("one"), place.path(".one.atlas-old")).unwrap();
    let done = place.run(&[&args[..], &["one"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(first, tree(&place.path("one")));
    assert!(!place.path(".one.atlas-part").exists() && !place.path(".one.atlas-old").exists());
}

#[test]
fn licences_are_said_per_row_with_where_they_come_from() {
    let place = Place::new();
    write_rows(&place, "rows.jsonl", &three_rows());
    let done = place.run(&["publish", "rows.jsonl", "--out", "rel", "--format", "json"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(
        report["licences"],
        json!({"MIT": 1, "our own words": 1, "unknown": 1})
    );
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("1 rows say no licence"), "{warnings}");
    assert!(warnings.contains("our own words"), "{warnings}");
    let card = std::fs::read_to_string(place.path("rel/README.md")).unwrap();
    assert!(
        card.contains("license:\n- mit\n- other\n- unknown\n"),
        "{card}"
    );
    let done = place.run(&[
        "publish",
        "rows.jsonl",
        "--out",
        "rel",
        "--licence",
        "Apache-2.0",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let rows = std::fs::read_to_string(place.path("rel/test.jsonl")).unwrap();
    let last: Value = serde_json::from_str(rows.lines().last().unwrap()).unwrap();
    assert_eq!(last["license"], "Apache-2.0");
    let records = std::fs::read_to_string(place.path("rel/metadata/instances.jsonl")).unwrap();
    let of: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&of[0]["license_from"], &of[2]["license_from"]),
        (&json!("row"), &json!("option"))
    );
    assert_eq!(of[0]["image_digest"], format!("sha256:{}", "ab".repeat(32)));
}

#[test]
fn what_cannot_be_published_is_refused_with_its_place() {
    let place = Place::new();
    let publish =
        |more: &[&str]| place.run(&[&["publish", "rows.jsonl", "--out", "rel"][..], more].concat());
    let refused = |more: &[&str], words: &[&str]| {
        let done = publish(more);
        assert_eq!(done.code(), 1, "{more:?}: {}", done.stdout());
        for word in words {
            assert!(
                done.stderr().contains(word),
                "{more:?} {word}: {}",
                done.stderr()
            );
        }
        assert!(!place.path("rel").exists() && !place.path(".rel.atlas-part").exists());
    };
    let mut rows = three_rows();
    write_rows(&place, "rows.jsonl", &rows);
    refused(&["--version", "1.0"], &["`1.0`", "MAJOR.MINOR.PATCH"]);
    refused(&["--name", "a b"], &["`a b`"]);
    refused(&["--date", "2024-3-1"], &["YYYY-MM-DD"]);
    refused(&["--licence", "Apche-2.0"], &["did you mean `Apache-2.0`"]);
    refused(&["--split", "by=langauge"], &["did you mean `language`"]);
    assert_eq!(publish(&["--split", "te-st"]).code(), 2);
    refused(&["--against", "nowhere"], &["nowhere"]);
    std::fs::write(
        place.path("text.jsonl"),
        "{\"instance_id\": \"a__a-1\"}\n{broken\n",
    )
    .unwrap();
    let done = place.run(&["publish", "text.jsonl", "--out", "rel"]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("text.jsonl:2"), "{}", done.stderr());
    rows[1]["FAIL_TO_PASS"] = json!("[]");
    write_rows(&place, "rows.jsonl", &rows);
    refused(&[], &["rows.jsonl", "line 2", "FAIL_TO_PASS"]);
    rows[1] = rows[0].clone();
    write_rows(&place, "rows.jsonl", &rows);
    refused(&[], &["rows.jsonl:2", "stands already"]);
    rows[1] = row(
        "b__b-2",
        "go",
        &json!({"hints_text": format!("see {}", place.path("x").display())}),
    );
    write_rows(&place, "rows.jsonl", &rows);
    refused(
        &[],
        &[
            "rows.jsonl:2",
            "column `hints_text`",
            "a folder of this machine",
        ],
    );
    write_rows(&place, "rows.jsonl", &three_rows());
    std::fs::create_dir(place.path("other")).unwrap();
    std::fs::write(place.path("other/mine.txt"), "mine").unwrap();
    let done = place.run(&["publish", "rows.jsonl", "--out", "other"]);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("something else than a release"),
        "{}",
        done.stderr()
    );
    assert!(place.path("other/mine.txt").exists());
}

#[test]
fn what_changed_since_the_release_before_is_told_by_column() {
    let place = Place::new();
    let mut rows = three_rows();
    write_rows(&place, "rows.jsonl", &rows);
    assert_eq!(
        place.run(&["publish", "rows.jsonl", "--out", "v1"]).code(),
        0
    );
    rows.remove(0);
    rows[0]["problem_statement"] = json!("Another text.");
    rows[0]["FAIL_TO_PASS"] = json!("[\"test_b\", \"test_c\"]");
    rows.push(row("c__c-4", "go", &json!({})));
    write_rows(&place, "rows.jsonl", &rows);
    std::fs::write(place.path("train.txt"), "b__b-3\n").unwrap();
    let args = [
        "publish",
        "rows.jsonl",
        "--out",
        "v2",
        "--against",
        "v1",
        "--split",
        "train=train.txt",
        "--split",
        "test",
    ];
    let same = place.run(&args);
    assert_eq!(same.code(), 1);
    assert!(
        same.stderr().contains("give another --version"),
        "{}",
        same.stderr()
    );
    let done = place.run(&[&args[..], &["--version", "2.0.0", "--format", "json"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let text = std::fs::read_to_string(place.path("v2/metadata/changes.json")).unwrap();
    let changes: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(done.json()["changes"], changes);
    assert_eq!(changes["from"], "1.0.0");
    assert_eq!(changes["added"], json!(["c__c-4"]));
    assert_eq!(changes["removed"], json!(["a__a-1"]));
    assert_eq!(changes["moved"], json!({"b__b-3": ["test", "train"]}));
    assert_eq!(
        changes["by_column"],
        json!({"FAIL_TO_PASS": 1, "problem_statement": 1})
    );
    assert_eq!(
        changes["changed"]["b__b-2"]["tests"]["FAIL_TO_PASS"]["added"],
        json!(["test_c"])
    );
    let told = std::fs::read_to_string(place.path("v2/CHANGES.md")).unwrap();
    assert!(told.contains("# Changes from 1.0.0 to 2.0.0"), "{told}");
    assert!(
        told.contains("1 rows added, 1 removed, 1 changed, 1 in another split, 1 the same"),
        "{told}"
    );
}

#[test]
fn the_folder_alone_is_enough_to_validate_a_row() {
    let place = Place::new();
    let made = place.run(&["demo", "--offline", "--out", "made"]);
    assert_eq!(made.code(), 0, "{}{}", made.stdout(), made.stderr());
    // As a program's log may say it.
    let log = place.path("made/demo__wordwrap-1/base.log");
    let mut text = std::fs::read_to_string(&log).unwrap();
    text += &[
        "
at ",
        &place.path("made/repository/x.py").display().to_string(),
        "
",
    ]
    .concat();
    std::fs::write(&log, text).unwrap();
    let done = place.run(&[
        "publish",
        "made",
        "--out",
        "rel",
        "--evidence",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let report = done.json();
    assert_eq!(report["with_environment"], 1);
    assert_eq!(
        report["replaced"],
        json!(["instances/demo__wordwrap-1/base.log"])
    );
    let all = tree(&place.path("rel"));
    for name in [
        "oracle.json",
        "before.log",
        "gold.patch",
        "plan.json",
        "environment/repo.tar",
        "make.json",
    ] {
        assert!(
            all.contains_key(&format!("instances/demo__wordwrap-1/{name}")),
            "{name}"
        );
    }
    let here = place.path("").display().to_string();
    for (name, bytes) in &all {
        let holds = memchr::memmem::find(bytes, here.trim_end_matches('/').as_bytes());
        assert!(holds.is_none(), "{name} names this machine's folder");
    }
    let records = String::from_utf8_lossy(&all["metadata/instances.jsonl"]).into_owned();
    let record: Value = serde_json::from_str(&records).unwrap();
    assert_eq!(record["atlas_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        (&record["engine"], &record["environment"]),
        (&json!("local"), &json!(true))
    );

    // Another place, another cache, nothing of the first.
    let fresh = Place::new();
    let copied = Command::new("cp")
        .arg("-r")
        .args([place.path("rel"), fresh.path("rel")])
        .status();
    assert!(copied.unwrap().success());
    drop(place);
    let args = [
        "validate",
        "rel/test.jsonl",
        "--engine",
        "local",
        "--trust",
        "--out",
        "check",
        "--gates",
        "integrity,test_run,gold_patch,null_patch",
        "--format",
        "json",
    ];
    let done = fresh.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(done.json()["accepted"], 1, "{}", done.stdout());
    assert_eq!(tree(&fresh.path("rel")), all, "the release is only read");
    let graded = fresh.run(&[
        "eval",
        "--dataset",
        "rel/test.jsonl",
        "--predictions",
        "gold",
        "--run-id",
        "again",
        "--engine",
        "local",
        "--trust",
    ]);
    assert_eq!(graded.code(), 0, "{}{}", graded.stdout(), graded.stderr());
}

/// Beside the programs that users of such folders have, where a Python that has them is named.
#[test]
fn the_programs_of_others_take_the_folder() {
    let Some(python) = std::env::var_os("ATLAS_TEST_PYTHON") else {
        println!(
            "skipped: ATLAS_TEST_PYTHON names no Python with datasets, mlcroissant and spdx-tools"
        );
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/release.py");
    let place = Place::new();
    write_rows(&place, "rows.jsonl", &three_rows());
    let done = place.run(&[
        "publish",
        "rows.jsonl",
        "--out",
        "rel",
        "--split",
        "by=language",
        "--name",
        "three",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let checked = Command::new(python)
        .arg(script)
        .arg(place.path("rel"))
        .env("HF_HOME", place.path("hf"))
        .env("HF_HUB_OFFLINE", "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(
        checked.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    let last = said.lines().last().unwrap_or_default();
    let found: Value = serde_json::from_str(last).unwrap();
    assert_eq!(
        found,
        json!({
            "splits": {"cpp": ["b__b-2"], "python": ["a__a-1", "b__b-3"]},
            "croissant": {"cpp": ["b__b-2"], "python": ["a__a-1", "b__b-3"]},
            "croissant_issues": [],
            "spdx_issues": [],
            "spdx_packages": ["a/a", "atlas", "b/b", "registry.example/a:1", "three"],
            "tags": [["x"], null],
        })
    );
}
