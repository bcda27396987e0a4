//! Tasks handed to people and brought back.

use crate::support::{Done, Place};
use serde_json::{Value, json};

fn rows(place: &Place, ids: &[&str]) {
    let row = |id: &&str| {
        json!({
            "instance_id": id,
            "repo": "a/a",
            "base_commit": "0123456789012345678901234567890123456789",
            "patch": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n",
            "test_patch": "--- a/t.py\n+++ b/t.py\n@@ -1 +1 @@\n-a\n+b\n",
            "problem_statement": "=HYPERLINK(\"x\"), say ```` and more\nIt is wrong.",
            "FAIL_TO_PASS": ["test_b"],
            "PASS_TO_PASS": [],
            "version": "1",
        })
        .to_string()
    };
    let lines: Vec<String> = ids.iter().map(row).collect();
    std::fs::write(place.path("rows.jsonl"), lines.join("\n") + "\n").unwrap();
}

/// Writes answers into an exported table: row -> the cells from `decision` on.
fn answer(place: &Place, who: &str, answers: &[(&str, &str)]) {
    let path = place.path(who).join("annotations.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let filled: Vec<String> = text
        .lines()
        .map(|line| {
            let found = answers
                .iter()
                .find(|(id, _)| line.starts_with(&format!("{id},")));
            match found {
                Some((_, cells)) => line.strip_suffix(",,,,,").unwrap().to_owned() + "," + cells,
                None => line.to_owned(),
            }
        })
        .collect();
    std::fs::write(&path, filled.join("\r\n") + "\r\n").unwrap();
}

fn export(place: &Place, who: &str) -> Done {
    place.run(&["annotate", "export", "rows.jsonl", "--out", who])
}

const IDS: [&str; 4] = ["a__a-1", "a__a-2", "a__a-3", "a__a-4"];

#[test]
fn several_annotators_come_together() {
    let place = Place::new();
    rows(&place, &IDS);
    for who in ["ann", "bob", "cyd", "judge"] {
        assert_eq!(export(&place, who).code(), 0);
    }
    let page = std::fs::read_to_string(place.path("ann/instances/a__a-1.md")).unwrap();
    assert!(
        page.contains("`````text\n=HYPERLINK"),
        "the fence is longer than what it holds: {page}"
    );
    let table = std::fs::read_to_string(place.path("ann/annotations.csv")).unwrap();
    assert!(
        table.contains("'=HYPERLINK"),
        "no formula of a stranger: {table}"
    );
    answer(
        &place,
        "ann",
        &[
            ("a__a-1", "accept,0,0,1,"),
            ("a__a-2", "reject,3,2,1,\"vague, and more\""),
            ("a__a-3", "accept,1,0,2,"),
        ],
    );
    answer(
        &place,
        "bob",
        &[
            ("a__a-1", "Accept,1,0,1,"),
            ("a__a-2", "repair,1,2,2,"),
            ("a__a-3", "accept,1,0,2,"),
        ],
    );
    answer(
        &place,
        "cyd",
        &[
            ("a__a-1", "accept,0,0,1.0,"),
            ("a__a-2", "accept,2,2,1,"),
            ("a__a-3", "reject,1,,3,"),
        ],
    );
    let merge = [
        "annotate",
        "merge",
        "ann",
        "bob",
        "third=cyd",
        "--out",
        "decisions.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&merge);
    assert_eq!(
        done.code(),
        3,
        "a decision is open: {}{}",
        done.stdout(),
        done.stderr()
    );
    let report = done.json();
    assert_eq!(
        report["annotators"],
        json!({"ann": 3, "bob": 3, "third": 3})
    );
    assert_eq!(
        report["decisions"],
        json!({"accept": 2, "none": 1, "open": 1})
    );
    let decision = &report["agreement"]["decision"];
    // Of nine pairs, three and one are the same.
    assert_eq!(decision["share"], json!(4.0 / 9.0));
    assert_eq!(decision["fleiss"]["rows"], 3);
    assert_eq!(decision["cohen"]["ann/bob"]["rows"], 3);
    assert_eq!(
        report["agreement"]["test_to_issue_alignment"]["alpha"],
        json!({"rows": 3, "value": 1.0})
    );
    let conflicts: Vec<(&str, &str)> = report["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["instance_id"].as_str().unwrap(),
                one["question"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        conflicts,
        [
            ("a__a-2", "decision"),
            ("a__a-2", "issue_clarity"),
            ("a__a-3", "decision")
        ]
    );
    let text = std::fs::read_to_string(place.path("decisions.jsonl")).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["decision"], Value::Null);
    assert_eq!(lines[1]["notes"], json!({"ann": "vague, and more"}));
    assert_eq!(lines[2]["answers"]["decision"]["settled_by"], "majority");
    assert_eq!(lines[2]["answers"]["difficulty"]["answer"], "2");

    answer(&place, "judge", &[("a__a-2", "reject,,,,no way to tell")]);
    let done = place.run(&[&merge[..], &["--arbiter", "judge"]].concat());
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(
        done.json()["decisions"],
        json!({"accept": 2, "none": 1, "reject": 1})
    );
    assert_eq!(
        done.json()["agreement"],
        report["agreement"],
        "the arbiter does not count"
    );
    let text = place.run(&merge[..merge.len() - 2]);
    assert!(
        text.stdout()
            .contains("conflict: a__a-2 decision: ann reject, bob repair, third accept; open"),
        "{}",
        text.stdout()
    );

    // What was filled in is not written over.
    let again = export(&place, "ann");
    assert_eq!(again.code(), 1);
    assert!(
        again.stderr().contains("has been filled in"),
        "{}",
        again.stderr()
    );
}

#[test]
fn a_release_holds_what_annotators_accept() {
    let place = Place::new();
    rows(&place, &IDS);
    export(&place, "ann");
    answer(
        &place,
        "ann",
        &[
            ("a__a-1", "accept,0,0,1,"),
            ("a__a-2", "reject,0,0,1,"),
            ("a__a-3", "repair,,,,"),
        ],
    );
    assert_eq!(
        place
            .run(&["annotate", "merge", "ann", "--out", "decisions.jsonl"])
            .code(),
        0
    );
    let publish = [
        "publish",
        "rows.jsonl",
        "--out",
        "rel",
        "--decisions",
        "decisions.jsonl",
        "--format",
        "json",
    ];
    let done = place.run(&publish);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(done.json()["left_out"], json!({"reject": 1, "repair": 1}));
    assert_eq!(done.json()["rows"], 2);
    assert!(
        done.json()["warnings"][0]
            .as_str()
            .unwrap()
            .contains("1 rows are in it on which no annotator decided")
    );
    // Another task under the same name was not decided on; what is said about a task does not make it another.
    let text = std::fs::read_to_string(place.path("rows.jsonl")).unwrap();
    let told = text.replace(
        "\"version\":\"1\"",
        "\"version\":\"1\",\"atlas\":{\"kind\":\"bug_fix\"}",
    );
    std::fs::write(place.path("rows.jsonl"), told).unwrap();
    assert_eq!(place.run(&publish).code(), 0);
    std::fs::write(
        place.path("rows.jsonl"),
        text.replacen("It is wrong.", "It is right.", 1),
    )
    .unwrap();
    let done = place.run(&publish);
    assert_eq!(done.code(), 1);
    assert!(
        done.stderr().contains("export it again"),
        "{}",
        done.stderr()
    );
}

#[test]
fn wrong_edits_are_told_with_line_column_and_answers() {
    let place = Place::new();
    rows(&place, &IDS[..2]);
    export(&place, "ann");
    let path = place.path("ann/annotations.csv");
    let table = std::fs::read_to_string(&path).unwrap();
    let check = |edited: &str, words: &[&str]| {
        std::fs::write(&path, edited).unwrap();
        let done = place.run(&["annotate", "merge", "ann", "--out", "decisions.jsonl"]);
        assert_eq!(done.code(), 1, "{edited}");
        for word in words.iter().chain(&["annotations.csv"]) {
            assert!(done.stderr().contains(word), "{word}: {}", done.stderr());
        }
        assert!(!place.path("decisions.jsonl").exists());
    };
    let second = |cells: &str| {
        let lines: Vec<&str> = table.lines().collect();
        format!(
            "{}\n{}\n{},{cells}\n",
            lines[0],
            lines[1],
            lines[2].strip_suffix(",,,,,").unwrap()
        )
    };
    check(
        &second("acept,,,,"),
        &[
            "line 3",
            "column `decision`",
            "`acept`",
            "accept, repair, reject",
            "did you mean `accept`",
        ],
    );
    check(
        &second("accept,4,,,"),
        &["line 3", "column `issue_clarity`", "0, 1, 2, 3"],
    );
    check(
        &second("accept,,,,so, and so"),
        &["line 3", "behind the last column"],
    );
    check(
        &table.replace("issue_clarity", "isue_clarity"),
        &["line 1", "did you mean `issue_clarity`"],
    );
    check(
        &table.replace("revision,", "notes,"),
        &["line 1", "`notes` is there twice"],
    );
    check(
        &table.replace("a__a-2", "a__a-1"),
        &["line 3", "stands already on line 2"],
    );
    let latin = second("accept,,,,caf").into_bytes();
    let latin = [&latin[..latin.len() - 1], b"\xe9\n"].concat();
    std::fs::write(&path, latin).unwrap();
    let done = place.run(&["annotate", "merge", "ann", "--out", "decisions.jsonl"]);
    assert!(done.stderr().contains("no UTF-8"), "{}", done.stderr());
    // As spreadsheets of other countries save it.
    let semicolons = format!("\u{feff}{}", second("accept,1,,,fine").replace(',', ";"));
    std::fs::write(&path, semicolons).unwrap();
    let done = place.run(&[
        "annotate",
        "merge",
        "ann",
        "--out",
        "decisions.jsonl",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(done.json()["decisions"], json!({"accept": 1, "none": 1}));
    // Two who saw different tasks.
    export(&place, "bob");
    let other = std::fs::read_to_string(place.path("bob/annotations.csv")).unwrap();
    let line = other.lines().nth(1).unwrap();
    let revision = line.split(',').nth(1).unwrap();
    std::fs::write(
        place.path("bob/annotations.csv"),
        other.replace(revision, "0123456789ab"),
    )
    .unwrap();
    let done = place.run(&[
        "annotate",
        "merge",
        "ann",
        "bob",
        "--out",
        "decisions.jsonl",
    ]);
    assert_eq!(done.code(), 1);
    assert!(done.stderr().contains("saw revision"), "{}", done.stderr());
}
