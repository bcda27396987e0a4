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
