//! Runs each example as a user would, and reads its verdict.

use std::process::Command;

fn run(program: &str, expected: &[&str]) {
    let output = Command::new(program).output().expect("the example starts");
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{program}: {}\n{out}{err}",
        output.status
    );
    for line in expected {
        assert!(
            out.lines().any(|l| l.starts_with(line)),
            "no line `{line}…` in:\n{out}"
        );
    }
}

#[test]
fn own_log_parser() {
    run(
        env!("CARGO_BIN_EXE_own_log_parser"),
        &[
            "Instance: ",
            r#"FAIL_TO_PASS ["sums > two and two"]"#,
            r#"PASS_TO_PASS ["sums > zero"]"#,
        ],
    );
}

#[test]
fn own_sandbox() {
    run(
        env!("CARGO_BIN_EXE_own_sandbox"),
        &[
            "the sandbox keeps its contract",
            "Instance: ",
            r#"FAIL_TO_PASS ["test_two (test_calc.Add"#,
            r#"PASS_TO_PASS ["test_zero (test_calc.Add"#,
            "before ran as process; the script can read and write",
        ],
    );
}

#[test]
fn own_judge() {
    run(
        env!("CARGO_BIN_EXE_own_judge"),
        &[
            "good: accept, critic-problem-function: it adds or not",
            "prints: reject, patch-validation: no-leftovers: the patch prints",
            "    patch: print(a, b)",
            "long: reject, small-enough: 4 lines are added, 3 may be",
            "wrong: reject, critic-problem-function: it adds or not",
        ],
    );
}

#[test]
fn own_gate() {
    run(
        env!("CARGO_BIN_EXE_own_gate"),
        &[
            "at most 10 changed lines",
            "  gold_patch: Accept",
            "  few_changes: Accept",
            "  null_patch: Accept",
            "at most 1 changed lines",
            "  few_changes: Reject",
            "    too_many_changes: 2 lines change, 1 may",
        ],
    );
}

#[test]
fn candidate_patches() {
    let patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = x == 2\n\
                 @@ -9 +9 @@\n-z\n+zz\n";
    let row = serde_json::json!({"instance_id": "me__it-1", "patch": patch});
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("dataset.jsonl");
    std::fs::write(&dataset, row.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_candidate_patches"))
        .arg(&dataset)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let made: Vec<(String, String)> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            let field = |name: &str| line[name].as_str().unwrap().to_owned();
            (field("model_name_or_path"), field("model_patch"))
        })
        .collect();
    let kinds: Vec<&str> = made.iter().map(|(kind, _)| kind.as_str()).collect();
    let expected = [
        "gold",
        "nothing",
        "without-hunk-1",
        "without-hunk-2",
        "near-miss-1",
        "breaks",
        "wrong-place",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(made[0].1, patch);
    assert!(!made[2].1.contains("x == 2") && made[2].1.contains("+zz"));
    assert!(made[4].1.contains("+y = x != 2\n"));
    assert!(
        made[5]
            .1
            .contains("@@ -1,2 +1,3 @@\n x = 1\n-y = 2\n+y = x == 2\n+((\n")
    );
    assert!(
        made[6]
            .1
            .ends_with("@@ -1,2 +1,3 @@\n x = 1\n y = 2\n+y = x == 2\n")
    );
}
