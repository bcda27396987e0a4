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
fn rows_of_commits() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(["-c", "user.name=a"]);
        git.args(["-c", "user.email=a@b.invalid"]).args(args);
        assert!(git.output().unwrap().status.success(), "{args:?}");
    };
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    git(&["init", "-q"]);
    write("a.py", "A = 1\n");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    write("a.py", "A = 1\n\ndef f():\n    return A\n");
    write(
        "test_a.py",
        "from a import f\n\ndef test_f():\n    assert f()\n",
    );
    git(&["add", "."]);
    git(&["commit", "-qm", "Add a thing"]);
    let list = folder.path().join("list");
    std::fs::write(&list, format!("{} o/n HEAD\n", folder.path().display())).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rows_of_commits"))
        .stdin(std::fs::File::open(&list).unwrap())
        .output()
        .unwrap();
    let row: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(row["problem_statement"], "Add a thing");
    assert!(row["patch"].as_str().unwrap().contains("+def f():"));
    assert!(
        row["test_patch"]
            .as_str()
            .unwrap()
            .contains("+def test_f():")
    );
    assert_eq!(row["files"]["a.py"], "A = 1\n");
    std::fs::write(&list, "nothing\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rows_of_commits"))
        .stdin(std::fs::File::open(&list).unwrap())
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("`nothing` is not CLONE REPO COMMIT"));
}
