use atlas_core::{ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use atlas_oracle::compare;

fn log(parser: &str, tests: &[(&str, TestStatus)]) -> ParsedLog {
    let mut log = ParsedLogBuilder::new(parser);
    for (id, status) in tests {
        log.record("", id, id, *status);
    }
    log.finish(RunOutcome::Completed)
}

use TestStatus::{Failed, Passed, Skipped, Xfail};

#[test]
fn spellings_of_console_and_report_are_matched() {
    let console = log(
        "pytest",
        &[
            ("tests/test_a.py::TestA::test_x[a.b::c]", Passed),
            ("tests/test_a.py::test_y", Xfail),
        ],
    );
    let report = log(
        "junit",
        &[
            ("tests.test_a.TestA::test_x[a.b::c]", Passed),
            ("tests.test_a::test_y", Skipped),
        ],
    );
    let found = compare("junit.xml", &console, &report);
    assert!(found.agrees, "{:?}", found.differences);
}

#[test]
fn a_different_status_or_a_missing_test_is_a_difference() {
    let console = log("pytest", &[("a.py::x", Passed), ("a.py::y", Passed)]);
    let report = log("junit", &[("a::x", Failed), ("a::z", Passed)]);
    let found = compare("junit.xml", &console, &report);
    assert!(!found.agrees);
    assert_eq!(found.differences.len(), 3, "{:?}", found.differences);
}

#[test]
fn a_console_that_names_failures_only_is_compared_on_those() {
    let console = log("pytest", &[("a.py::x", Failed)]);
    assert!(
        compare(
            "r",
            &console,
            &log("junit", &[("a::x", Failed), ("a::y", Passed)])
        )
        .agrees
    );
    assert!(
        !compare(
            "r",
            &console,
            &log("junit", &[("a::x", Failed), ("a::y", Failed)])
        )
        .agrees
    );
}
