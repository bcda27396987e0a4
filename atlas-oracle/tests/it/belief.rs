//! Which runs are believed.

use atlas_core::{
    ExitState, Isolation, LostReason, ParsedLog, ParsedLogBuilder, ReportAgreement, ResourceUsage,
    RunOutcome, StateSummary, TestIds, TestStatus, Totals,
};
use atlas_oracle::SignalKind::{
    self, ExpectedFailures, ForgedMarkers, ReportDiffers, TotalsDiffer, TotalsMissing, TotalsWorse,
    UnexplainedExit, UnexplainedSuccess, Unfinished,
};
use atlas_oracle::{BeliefInput, Disputes, Resolution, believe, grade};
use std::collections::BTreeMap;

/// A log of `module test status` words, with these totals.
fn log(
    tests: &[(&str, &str, TestStatus)],
    totals: Option<Totals>,
    outcome: RunOutcome,
) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("mine");
    for (module, name, status) in tests {
        log.record_in(module, "::", name, *status);
    }
    if let Some(totals) = totals {
        log.add_totals(totals);
    }
    log.finish(outcome)
}

fn totals(passed: u64, failed: u64) -> Totals {
    Totals {
        passed: Some(passed),
        failed: Some(failed),
        ..Totals::default()
    }
}

use TestStatus::{Failed, Passed};

const PASSING: [(&str, &str, TestStatus); 2] = [("m", "f", Passed), ("m", "p", Passed)];

/// A run with the gold patch: it passes, prints totals and ends with 0.
fn honest() -> StateSummary {
    StateSummary {
        build: None,
        exit: ExitState::Exited { code: 0 },
        outcome: RunOutcome::Completed,
        counts: BTreeMap::from([(Passed, 2)]),
        totals: Some(totals(2, 0)),
        consistent: Some(true),
        report: None,
        isolation: Isolation::default(),
        seconds: 0.0,
        overhead_seconds: 0.0,
        usage: ResourceUsage::default(),
    }
}

/// The signals as kind and whether it decides.
fn of(log: &ParsedLog, code: i64, reference: Option<&StateSummary>) -> Vec<(SignalKind, bool)> {
    let listed = TestIds::from(["f", "p"]);
    let found = believe(&BeliefInput {
        log,
        exit: Some(ExitState::Exited { code }),
        report: None,
        disputes: None,
        tampering: &[],
        reference,
        listed: [&listed, &TestIds::default()],
    });
    found
        .iter()
        .map(|signal| (signal.kind, signal.decisive))
        .collect()
}

#[test]
fn an_honest_run_has_no_signals() {
    let passing = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
    assert_eq!(of(&passing, 0, Some(&honest())), []);
    assert_eq!(of(&passing, 0, None), []);
    let failing = log(
        &[("m", "f", Failed)],
        Some(totals(0, 1)),
        RunOutcome::Completed,
    );
    assert_eq!(of(&failing, 1, Some(&honest())), []);
    // Nor has one of a runner that prints no totals at all.
    let bare = log(&PASSING, None, RunOutcome::Completed);
    assert_eq!(of(&bare, 0, None), []);
}

#[test]
fn a_run_that_did_not_come_to_its_end_decides() {
    for outcome in [
        RunOutcome::Crashed,
        RunOutcome::Truncated,
        RunOutcome::TimedOut,
    ] {
        let cut = log(&PASSING, Some(totals(2, 0)), outcome);
        assert_eq!(
            of(&cut, 1, Some(&honest())),
            [(Unfinished, true)],
            "{outcome:?}"
        );
        // It is the suite's habit where the gold patch ends so, too.
        let mut habit = honest();
        habit.outcome = RunOutcome::Crashed;
        assert_eq!(of(&cut, 1, Some(&habit)), [(Unfinished, false)]);
    }
    for exit in [ExitState::TimedOut, ExitState::OutOfMemory] {
        let complete = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
        let found = believe(&BeliefInput {
            log: &complete,
            exit: Some(exit),
            report: None,
            disputes: None,
            tampering: &[],
            reference: None,
            listed: [&TestIds::default(), &TestIds::default()],
        });
        assert_eq!((found[0].kind, found[0].decisive), (Unfinished, true));
        assert!(!found[0].is_tampering());
    }
    // Where nothing was printed there is nothing to doubt.
    assert_eq!(
        of(&log(&[], None, RunOutcome::NothingRan), 1, Some(&honest())),
        []
    );
}

#[test]
fn a_module_that_died_elsewhere_leaves_the_listed_tests_alone() {
    let died = |module: &str| {
        let mut log = ParsedLogBuilder::new("mine");
        log.record_in("a", "::", "f", Passed);
        log.record_in("a", "::", "p", Passed);
        log.record_in("b", "::", "other", Passed);
        log.lose(module, LostReason::Crashed, Vec::new());
        log.finish(RunOutcome::Crashed)
    };
    assert_eq!(of(&died("b"), 1, None), [(Unfinished, false)]);
    assert_eq!(of(&died("a"), 1, None), [(Unfinished, true)]);
    // Not where the whole was killed.
    assert_eq!(of(&died("b"), 137, None), [(Unfinished, true)]);
}

#[test]
fn forged_passes_without_the_runners_totals_decide() {
    // `PASSED` lines by a hook that then leaves the process with success.
    let forged = log(&PASSING, None, RunOutcome::Completed);
    assert_eq!(of(&forged, 0, Some(&honest())), [(TotalsMissing, true)]);
    // The same with a decoy that fails and a failing code.
    let mut decoy = PASSING.to_vec();
    decoy.push(("m", "decoy", Failed));
    let forged = log(&decoy, None, RunOutcome::Completed);
    assert_eq!(of(&forged, 1, Some(&honest())), [(TotalsMissing, true)]);
}

#[test]
fn totals_that_are_worse_than_the_results_decide() {
    let forged = log(&PASSING, Some(totals(1, 1)), RunOutcome::Completed);
    assert_eq!(of(&forged, 1, Some(&honest())), [(TotalsWorse, true)]);
    assert_eq!(of(&forged, 1, None), [(TotalsWorse, true)]);
    // A failure that no line names.
    let hidden = log(&PASSING, Some(totals(2, 1)), RunOutcome::Completed);
    assert_eq!(of(&hidden, 1, None), [(TotalsWorse, true)]);
    // More tests than the runner ran.
    let only_all = Some(Totals {
        total: Some(1),
        ..Totals::default()
    });
    let more = log(&PASSING, only_all, RunOutcome::Completed);
    assert_eq!(of(&more, 0, None), [(TotalsWorse, true)]);
}

#[test]
fn totals_that_only_differ_do_not() {
    // Results that were not read, or lines that no runner counted as failures.
    let unread = log(&PASSING, Some(totals(3, 0)), RunOutcome::Completed);
    assert_eq!(of(&unread, 0, Some(&honest())), [(TotalsDiffer, false)]);
    // A suite whose totals never agree has a habit.
    let mut habit = honest();
    habit.consistent = Some(false);
    let worse = log(&PASSING, Some(totals(1, 1)), RunOutcome::Completed);
    assert_eq!(of(&worse, 1, Some(&habit)), []);
    // A module that did not load may be counted as a failure without a name.
    let mut lost = ParsedLogBuilder::new("mine");
    lost.record_in("a", "::", "f", Passed);
    lost.record_in("a", "::", "p", Passed);
    lost.lose("b", LostReason::LoadFailed, Vec::new());
    lost.add_totals(totals(2, 1));
    let lost = lost.finish(RunOutcome::Completed);
    assert_eq!(of(&lost, 1, Some(&honest())), [(TotalsDiffer, false)]);
}

#[test]
fn a_failing_code_without_a_failure_decides_only_without_totals() {
    // The listed tests pass and the suite ends with 5 for its coverage: an honest log.
    let covered = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
    assert_eq!(of(&covered, 5, Some(&honest())), [(UnexplainedExit, false)]);
    assert_eq!(of(&covered, 5, None), [(UnexplainedExit, false)]);
    // Passing lines alone and a failing code.
    let bare = log(&PASSING, None, RunOutcome::Completed);
    assert_eq!(of(&bare, 1, None), [(UnexplainedExit, true)]);
    // The gold patch ends with that code, too.
    let mut habit = honest();
    habit.exit = ExitState::Exited { code: 5 };
    assert_eq!(of(&covered, 5, Some(&habit)), []);
    // An unlisted failure explains it.
    let mut more = PASSING.to_vec();
    more.push(("m", "x", Failed));
    let unlisted = log(&more, Some(totals(2, 1)), RunOutcome::Completed);
    assert_eq!(of(&unlisted, 1, Some(&honest())), []);
}

#[test]
fn success_with_failures_is_noted() {
    let mut more = PASSING.to_vec();
    more.push(("m", "x", Failed));
    let failed = log(&more, Some(totals(2, 1)), RunOutcome::Completed);
    assert_eq!(
        of(&failed, 0, Some(&honest())),
        [(UnexplainedSuccess, false)]
    );
    // Some runners always end with 0.
    let mut habit = honest();
    habit.counts.insert(Failed, 1);
    assert_eq!(of(&failed, 0, Some(&habit)), []);
}

#[test]
fn markers_decide_and_reports_are_noted() {
    let passing = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
    let report = ReportAgreement {
        file: "junit.xml".to_owned(),
        differences: vec!["f: console 1 passing, report 1 failing".to_owned()],
        ..ReportAgreement::default()
    };
    let forged = ["markers stand more than once".to_owned()];
    let reference = honest();
    let none = TestIds::default();
    let input = BeliefInput {
        log: &passing,
        exit: None,
        report: Some(&report),
        disputes: None,
        tampering: &forged,
        reference: Some(&reference),
        listed: [&none, &none],
    };
    let found = believe(&input);
    assert_eq!(
        (found[0].kind, found[0].is_tampering()),
        (ForgedMarkers, true)
    );
    assert_eq!((found[1].kind, found[1].decisive), (ReportDiffers, false));
    assert!(found[1].message.contains("junit.xml"));
    assert_eq!(found.len(), 2);
    let habit = StateSummary {
        report: Some(report.clone()),
        ..honest()
    };
    let input = BeliefInput {
        reference: Some(&habit),
        ..input
    };
    assert_eq!(believe(&input).len(), 1);
}

#[test]
fn a_report_that_contradicts_a_graded_test_decides() {
    let passing = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
    let report = ReportAgreement::default();
    let said = "the console says 1 passing, junit.xml says 1 failing".to_owned();
    let disputes = Disputes {
        tests: [("f".to_owned(), said)].into(),
        ..Disputes::default()
    };
    let reference = honest();
    let (listed, none) = (TestIds::from(["f"]), TestIds::default());
    let input = BeliefInput {
        log: &passing,
        exit: None,
        report: Some(&report),
        disputes: Some(&disputes),
        tampering: &[],
        reference: Some(&reference),
        listed: [&listed, &none],
    };
    let found = believe(&input);
    assert_eq!(
        (found[0].kind, found[0].is_tampering()),
        (ReportDiffers, true)
    );
    assert!(found[0].message.starts_with("of `f` the console says"));
    // Another test is none that is graded; and what the gold patch does as well is a habit.
    let other = TestIds::from(["p"]);
    let input = BeliefInput {
        listed: [&other, &none],
        ..input
    };
    assert!(believe(&input).iter().all(|signal| !signal.decisive));
    let habit = StateSummary {
        report: Some(report.clone()),
        ..honest()
    };
    let input = BeliefInput {
        reference: Some(&habit),
        listed: [&listed, &none],
        ..input
    };
    assert_eq!(believe(&input), []);
}

/// What fools the released harnesses, by the rules of this crate.
#[test]
fn logs_that_fool_others() {
    let (f2p, p2p) = (vec!["f".to_owned()], vec!["p".to_owned()]);
    let verdict = |log: &ParsedLog, code: i64| {
        let decided = of(log, code, Some(&honest()))
            .iter()
            .any(|(_, decisive)| *decisive);
        (!decided).then(|| grade(log, &f2p, &p2p).resolution)
    };
    // Forged passes and code 1; and with a decoy; and with code 0.
    let forged = log(&PASSING, None, RunOutcome::Truncated);
    assert_eq!(verdict(&forged, 1), None);
    assert_eq!(verdict(&forged, 0), None);
    let mut decoy = PASSING.to_vec();
    decoy.push(("m", "decoy", Failed));
    assert_eq!(verdict(&log(&decoy, None, RunOutcome::Truncated), 1), None);
    // A real failure and a later forged pass: the worst counts.
    let later = [("m", "f", Failed), ("m", "f", Passed), ("m", "p", Passed)];
    let later = log(&later, Some(totals(1, 1)), RunOutcome::Completed);
    assert_eq!(verdict(&later, 1), Some(Resolution::No));
    // The same name in two packages, one of which fails.
    let two = [("b", "f", Failed), ("c", "f", Passed), ("c", "p", Passed)];
    let two = log(&two, Some(totals(2, 1)), RunOutcome::Completed);
    assert_eq!(verdict(&two, 1), Some(Resolution::No));
    // Honest: the listed tests pass and the suite ends with 5, or with 1 for a test nobody listed.
    let honest_log = log(&PASSING, Some(totals(2, 0)), RunOutcome::Completed);
    assert_eq!(verdict(&honest_log, 5), Some(Resolution::Full));
    let unlisted = log(&decoy, Some(totals(2, 1)), RunOutcome::Completed);
    assert_eq!(verdict(&unlisted, 1), Some(Resolution::Full));
}

#[test]
fn a_graded_test_is_not_expected_to_fail_all_at_once() {
    use TestStatus::Xfail;
    let said = log(
        &[("m", "f", Xfail), ("m", "p", Passed), ("m", "own", Xfail)],
        None,
        RunOutcome::Completed,
    );
    let mut gold = StateSummary {
        totals: None,
        ..honest()
    };
    assert_eq!(of(&said, 0, Some(&gold)), [(ExpectedFailures, true)]);
    // Without a run to compare with nothing is known, and one that is usual is no sign.
    assert_eq!(of(&said, 0, None), []);
    gold.counts = BTreeMap::from([(Passed, 1), (Xfail, 1)]);
    assert_eq!(of(&said, 0, Some(&gold)), []);
}
