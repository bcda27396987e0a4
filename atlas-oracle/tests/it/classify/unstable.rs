//! Ids that are not the same twice.

use super::*;

#[test]
fn ids_that_hold_the_time_are_set_aside_and_constants_are_not() {
    let run = |now: &str, y: TestStatus| {
        let mut log = ParsedLogBuilder::new("hand");
        for id in [&format!("t[{now}]"), "t[2020-01-01 00:00:00]"] {
            log.record("", id, id, TestStatus::Passed);
        }
        log.record("", "y", "y", y);
        log.finish(RunOutcome::Completed)
    };
    let found = verdict(
        &run("11-21-2026 20:34:33", TestStatus::Passed),
        &run("11-21-2026 20:34:57", TestStatus::Failed),
        &run("11-21-2026 20:35:20", TestStatus::Passed),
    );
    assert_eq!(found.fail_to_pass, ["y"]);
    assert_eq!(found.pass_to_pass, ["t[2020-01-01 00:00:00]"]);
    assert_eq!(found.unstable.len(), 3, "{:?}", found.unstable);
}

#[test]
fn a_parameter_that_the_pull_request_changes_is_not_unstable() {
    let run = |time: &str, status: TestStatus| {
        let mut log = ParsedLogBuilder::new("hand");
        let id = format!("t[{time}]");
        log.record("", &id, &id, status);
        log.finish(RunOutcome::Completed)
    };
    let new = "2021-02-02 10:00:00";
    let found = verdict(
        &run("2020-01-01 10:00:00", TestStatus::Passed),
        &run(new, TestStatus::Failed),
        &run(new, TestStatus::Passed),
    );
    assert_eq!(found.fail_to_pass, [format!("t[{new}]")]);
}

#[test]
fn a_time_before_its_date_is_unstable_too() {
    let run = |time: &str| {
        let mut log = ParsedLogBuilder::new("hand");
        for id in [&format!("t[{time} 2026-11-21]"), "x"] {
            log.record("", id, id, TestStatus::Passed);
        }
        log.finish(RunOutcome::Completed)
    };
    let found = verdict(&run("20:34:33"), &run("20:34:57"), &run("20:35:41"));
    assert_eq!((found.fail_to_pass.len(), found.unstable.len()), (0, 3));
}

#[test]
fn checks_of_style_stand_in_no_list() {
    // pytest-ruff leaves out what it knows from an earlier run, and judges how a solution is written.
    let found = verdict(
        &done("m.py::ruff+ o.py::ruff+ t.py::test_a-"),
        &done("m.py::ruff- o.py::ruff+ t.py::test_a-"),
        &done("m.py::ruff+ o.py::ruff+ t.py::test_a+"),
    );
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["t.py::test_a"]);
    assert_eq!(found.pass_to_pass, Vec::<String>::new());
    let aside: Vec<_> = found.unstable.keys().collect();
    assert_eq!(aside, ["m.py::ruff", "o.py::ruff"]);
}
