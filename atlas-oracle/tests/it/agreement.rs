use atlas_core::{ParsedLog, ParsedLogBuilder, ReportSpec, RunOutcome, TestStatus, Totals};
use atlas_oracle::compare;

fn log(parser: &str, tests: &[(&str, TestStatus)]) -> ParsedLog {
    let mut log = ParsedLogBuilder::new(parser);
    for (id, status) in tests {
        log.record("", id, id, *status);
    }
    log.finish(RunOutcome::Completed)
}

fn spec() -> ReportSpec {
    ReportSpec::new("junit.xml", "junit")
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
    let found = compare(&spec(), &console, &report);
    assert!(found.agrees, "{:?}", found.differences);
}

#[test]
fn a_different_status_or_a_missing_test_is_a_difference() {
    let console = log("pytest", &[("a.py::x", Passed), ("a.py::y", Passed)]);
    let report = log("junit", &[("a::x", Failed), ("a::z", Passed)]);
    let found = compare(&spec(), &console, &report);
    assert!(!found.agrees);
    assert_eq!(found.differences.len(), 3, "{:?}", found.differences);
}

#[test]
fn a_console_that_names_failures_only_is_compared_on_those() {
    let console = log("pytest", &[("a.py::x", Failed)]);
    assert!(
        compare(
            &spec(),
            &console,
            &log("junit", &[("a::x", Failed), ("a::y", Passed)])
        )
        .agrees
    );
    assert!(
        !compare(
            &spec(),
            &console,
            &log("junit", &[("a::x", Failed), ("a::y", Failed)])
        )
        .agrees
    );
}

#[test]
fn skipped_tests_that_the_console_counts_without_a_name_are_no_difference() {
    let mut console = log(
        "pytest",
        &[
            ("a.py::x", Passed),
            ("a.py::y", Passed),
            ("a.py::s", Skipped),
        ],
    );
    let report = |more: &[(&str, TestStatus)]| {
        let named = [("a::x", Passed), ("a::y", Passed), ("a::s", Skipped)];
        log("junit", &[&named, more].concat())
    };
    // One whose name another file's test has, too, and one of its own.
    let both = report(&[("b::x", Skipped), ("b::z", Skipped)]);
    for (counted, expected) in [
        (None, false),
        (Some(2), false),
        (Some(3), true),
        (Some(4), false),
    ] {
        console.totals = Some(Totals {
            skipped: counted,
            ..Totals::default()
        });
        let found = compare(&spec(), &console, &both);
        assert_eq!(
            found.agrees, expected,
            "{counted:?}: {:?}",
            found.differences
        );
        assert!(!compare(&spec(), &console, &report(&[("b::z", Passed)])).agrees);
    }
}

#[test]
fn a_report_may_hold_under_one_id_what_the_console_tells_apart() {
    let console = log(
        "vitest",
        &[("|a| t.ts > x", Passed), ("|b| t.ts > x", Passed)],
    );
    let report = |times: usize| log("vitest", &vec![("t.ts > x", Passed); times]);
    for (times, expected) in [(1, false), (2, true), (3, false)] {
        let found = compare(&spec(), &console, &report(times));
        assert_eq!(found.agrees, expected, "{times}: {:?}", found.differences);
    }
}

#[test]
fn a_drivers_report_is_compared_on_the_programs_that_it_names() {
    let spec = ReportSpec {
        outer: true,
        ..spec()
    };
    let console = [
        ("parser", Passed),
        ("parser::reads", Passed),
        ("reader", Failed),
    ];
    let console = log("ctest+unity", &console);
    let agrees = |report: &[(&str, TestStatus)]| compare(&spec, &console, &log("junit", report));
    assert!(agrees(&[("parser", Passed), ("reader", Failed)]).agrees);
    let found = agrees(&[("parser", Passed), ("reader", Passed), ("writer", Passed)]);
    assert_eq!(
        found.differences,
        [
            "reader: console 1 failing, report 1 passing",
            "writer: console nothing, report 1 passing"
        ]
    );
}
