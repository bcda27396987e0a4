//! Two gradings of one log, test by test.

use crate::compat::{grade_log, marked, row};
use atlas_core::Harness;
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus};
use atlas_oracle::{GradedSide, ListName, SignalKind, Standing, TamperSignal, grade, grade_diff};

#[test]
fn what_a_harness_and_the_strict_rules_judge_differently() {
    let lines = "FAILED t::f\nPASSED t::f\nPASSED t::g\nSKIPPED t::p\nPASSED t::q";
    let row = row(&["t::f", "t::g"], &["t::p", "t::q", "t::gone"]);
    let theirs = grade_log(Harness::SweBench4, &row, &marked(lines));
    let mut log = ParsedLogBuilder::new("mine");
    for line in lines.lines() {
        let (status, id) = line.split_once(' ').unwrap();
        let status: TestStatus = status.parse().unwrap();
        log.record("t", id, id, status);
    }
    let log = log.finish(RunOutcome::Completed);
    let ours = grade(&log, &row.fail_to_pass, &row.pass_to_pass);
    let found = grade_diff(
        &GradedSide::compat("swebench4", &theirs),
        &GradedSide::strict("strict", &ours, &log, &[]),
    );
    assert_eq!(found.len(), 2, "{found:#?}");
    assert_eq!(
        (found[0].id.as_str(), found[0].list),
        ("t::f", ListName::FailToPass)
    );
    assert_eq!(
        (found[0].from, found[0].to),
        (Standing::Success, Standing::Failure)
    );
    assert_eq!(found[0].why, "swebench4: PASSED; strict: FAILED");
    assert_eq!(
        (found[1].id.as_str(), found[1].list),
        ("t::p", ListName::PassToPass)
    );
    assert_eq!(
        (found[1].from, found[1].to),
        (Standing::Nowhere, Standing::Failure)
    );
    assert!(
        found[1]
            .why
            .contains("counts in neither way; strict: SKIPPED"),
        "{}",
        found[1].why
    );
    let json = serde_json::to_value(&found[1]).unwrap();
    assert_eq!(json["list"], "PASS_TO_PASS");
    assert_eq!(json["from"], "nowhere");
}

#[test]
fn doubts_are_given_as_the_reason() {
    let row = row(&["t::f"], &[]);
    let theirs = grade_log(Harness::SweBench5, &row, &marked("PASSED t::f"));
    let mut log = ParsedLogBuilder::new("mine");
    log.record("t", "t::f", "t::f", TestStatus::Passed);
    let log = log.finish(RunOutcome::Truncated);
    let mut ours = grade(&log, &row.fail_to_pass, &row.pass_to_pass);
    assert_eq!(
        grade_diff(
            &GradedSide::compat("a", &theirs),
            &GradedSide::strict("b", &ours, &log, &[])
        ),
        []
    );
    std::mem::swap(
        &mut ours.fail_to_pass.success,
        &mut ours.fail_to_pass.failure,
    );
    let doubt = TamperSignal {
        kind: SignalKind::Unfinished,
        message: "its log stops".to_owned(),
        decisive: true,
    };
    let found = grade_diff(
        &GradedSide::compat("swebench5", &theirs),
        &GradedSide::strict("strict", &ours, &log, &[doubt]),
    );
    assert_eq!(
        found[0].why,
        "swebench5: PASSED; strict: PASSED, disbelieved: its log stops"
    );
}

#[test]
fn a_log_that_is_not_gradable_differs_in_every_test() {
    let row = row(&["t::f"], &["t::p"]);
    let both = "PASSED t::f\nPASSED t::p";
    let graded = grade_log(
        Harness::SweBench4,
        &row,
        &format!("{}>>>>> Test Exit Code: 1", marked(both)),
    );
    let refused = grade_log(
        Harness::SweBench5,
        &row,
        &format!("{}>>>>> Test Exit Code: 1", marked(both)),
    );
    let found = grade_diff(
        &GradedSide::compat("swebench4", &graded),
        &GradedSide::compat("swebench5", &refused),
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].to, Standing::Nowhere);
    assert!(
        found[0].why.contains("exit code in the log is 1"),
        "{}",
        found[0].why
    );
}
