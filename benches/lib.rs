//! Inputs that the benchmarks share: synthetic, and the same in every run.

use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use std::fmt::Write as _;

/// What `pytest -v` prints for `tests` tests in files of 50, one in a hundred failing.
///
/// ```
/// let log = atlas_benches::pytest_log(200);
/// assert!(log.ends_with("2 failed, 198 passed in 9.99s ===\n"));
/// ```
pub fn pytest_log(tests: usize) -> String {
    let mut log = String::from("=== test session starts ===\nplatform linux -- Python 3.12.1\n");
    let _ = writeln!(log, "collected {tests} items\n");
    let mut failed = Vec::new();
    for number in 0..tests {
        let id = format!(
            "tests/unit/test_file_{}.py::TestThing::test_case[{number}]",
            number / 50
        );
        let status = if number % 100 == 99 {
            "FAILED"
        } else {
            "PASSED"
        };
        let _ = writeln!(log, "{id} {status} [{:>3}%]", (number + 1) * 100 / tests);
        if status == "FAILED" {
            failed.push(id);
        }
    }
    let _ = writeln!(log, "\n=== short test summary info ===");
    for id in &failed {
        let _ = writeln!(log, "FAILED {id} - AssertionError: assert 1 == 2");
    }
    let passed = tests - failed.len();
    let _ = writeln!(
        log,
        "=== {} failed, {passed} passed in 9.99s ===",
        failed.len()
    );
    log
}

/// A parsed log of `tests` tests of which every `nth` fails.
///
/// ```
/// let log = atlas_benches::parsed(100, 10);
/// assert_eq!(log.count(atlas_core::TestStatus::Failed), 10);
/// ```
pub fn parsed(tests: usize, nth: usize) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("bench");
    for number in 0..tests {
        let module = format!("tests/test_file_{}.py", number / 50);
        let id = format!("{module}::TestThing::test_case[{number}]");
        let status = if number % nth == 0 {
            TestStatus::Failed
        } else {
            TestStatus::Passed
        };
        log.record(&module, &id, &id, status);
    }
    log.finish(RunOutcome::Completed)
}
