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
