//! Whose doing a failure is, and what that does to a score.

use atlas_core::{ExitState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use atlas_oracle::{
    Cause, CauseInput, GoldHere, RunFacts, ScoreBounds, Scored, SignalKind, TamperSignal,
    attribute, grade, wilson,
};
use std::collections::BTreeMap;

const CODE_1: ExitState = ExitState::Exited { code: 1 };
const CODE_0: ExitState = ExitState::Exited { code: 0 };

/// A run of the tests `f` (it defines) and `p` (it guards), and what is known around it.
struct Known {
    log: ParsedLog,
    text: &'static str,
    exit: ExitState,
    signals: Vec<TamperSignal>,
    gold: GoldHere,
    flaky: BTreeMap<String, String>,
    passing_without: Vec<String>,
}

fn known(tests: &[(&str, TestStatus)], outcome: RunOutcome) -> Known {
    let mut log = ParsedLogBuilder::new("mine");
    for (name, status) in tests {
        log.record("m", name, name, *status);
    }
    Known {
        log: log.finish(outcome),
        text: "",
        exit: CODE_1,
        signals: Vec::new(),
        gold: GoldHere::Unknown,
        flaky: BTreeMap::new(),
        passing_without: Vec::new(),
    }
}

/// A run in which the defining test fails by name.
fn failing() -> Known {
    use TestStatus::{Failed, Passed};
    known(&[("f", Failed), ("p", Passed)], RunOutcome::Completed)
}

impl Known {
    fn cause(&self) -> (Cause, String) {
        let grade = grade(&self.log, &["f".to_owned()], &["p".to_owned()]);
        let (cause, evidence) = attribute(&CauseInput {
            gold: self.gold.clone(),
            run: Some(RunFacts {
                grade: &grade,
                parsed: &self.log,
                log: self.text.as_bytes(),
                exit: Some(self.exit),
                signals: &self.signals,
            }),
            flaky: Some(&self.flaky),
            passing_without_patch: &self.passing_without,
            ..CauseInput::default()
        });
        assert!(!evidence.is_empty(), "{cause} without evidence");
        (cause, evidence[0].text.clone())
    }
}

#[test]
fn a_test_that_fails_by_name_is_the_models() {
    let (cause, said) = failing().cause();
    assert_eq!((cause, said.as_str()), (Cause::Model, "f: FAILED"));
    let mut good = failing();
    good.gold = GoldHere::Good;
    assert_eq!(good.cause().0, Cause::Model);
}

#[test]
fn without_a_run() {
    let of = |input: &CauseInput<'_>| attribute(input).0;
    let fault = CauseInput {
        harness_fault: Some("the parser raises KeyError"),
        ..CauseInput::default()
    };
    assert_eq!(of(&fault), Cause::Harness);
    let empty = CauseInput {
        empty: true,
        ..CauseInput::default()
    };
    assert_eq!(of(&empty), Cause::Model);
    let reasons = ["error: patch failed: a.py:1".to_owned()];
    let unfit = CauseInput {
        not_applied: Some(&reasons),
        ..CauseInput::default()
    };
    let (cause, evidence) = attribute(&unfit);
    assert_eq!(
        (cause, &evidence[0].text),
        (Cause::PatchFormat, &reasons[0])
    );
    // Where the gold patch does not fit either, the tree is another one.
    let wrong_tree = CauseInput {
        gold: GoldHere::Broken("does not apply".to_owned()),
        ..unfit
    };
    assert_eq!(of(&wrong_tree), Cause::Environment);
    assert_eq!(of(&CauseInput::default()), Cause::Harness);
}

#[test]
fn meddling_is_told_apart_from_a_run_without_an_end() {
    let signal = |kind| TamperSignal {
        kind,
        message: "so it is".to_owned(),
        decisive: true,
    };
    let mut run = failing();
    run.signals = vec![signal(SignalKind::TotalsWorse)];
    assert_eq!(run.cause(), (Cause::Tampered, "so it is".to_owned()));
    run.signals = vec![signal(SignalKind::Unfinished)];
    assert_eq!(run.cause().0, Cause::Model);
}

#[test]
fn what_the_gold_patch_misses_here_is_the_places() {
    let mut run = failing();
    run.gold = GoldHere::Misses(["f".to_owned()].into());
    assert_eq!(run.cause().0, Cause::Environment);
    run.flaky = BTreeMap::from([("f".to_owned(), "passes in 2 of 3 runs".to_owned())]);
    assert_eq!(run.cause().0, Cause::Flaky);
    // A failure of its own remains the model's.
    let mut run = failing();
    run.gold = GoldHere::Misses(["p".to_owned()].into());
    assert_eq!(run.cause().0, Cause::Model);
    run.gold = GoldHere::Broken("its run timed out".to_owned());
    assert_eq!(run.cause().0, Cause::Environment);
}

#[test]
fn limits_are_the_models_only_where_the_gold_patch_keeps_them() {
    for exit in [ExitState::TimedOut, ExitState::OutOfMemory] {
        let mut run = known(&[("p", TestStatus::Passed)], RunOutcome::Truncated);
        run.exit = exit;
        assert_eq!(run.cause().0, Cause::Environment);
        run.gold = GoldHere::Good;
        assert_eq!(run.cause().0, Cause::Model);
    }
    // What failed before the limit failed.
    let mut run = failing();
    run.exit = ExitState::TimedOut;
    assert_eq!(run.cause().0, Cause::Model);
}

#[test]
fn signs_of_a_broken_machine() {
    let mut run = known(&[("p", TestStatus::Passed)], RunOutcome::Completed);
    run.text = "fatal: Could not resolve host: example.org";
    run.gold = GoldHere::Good;
    let (cause, said) = run.cause();
    assert_eq!(cause, Cause::Environment);
    assert!(said.ends_with("network_unreachable"), "{said}");
    // A test that failed by name may print anything, where it is known to pass here.
    let mut run = failing();
    run.text = "Could not resolve host";
    assert_eq!(run.cause().0, Cause::Environment);
    run.gold = GoldHere::Good;
    assert_eq!(run.cause().0, Cause::Model);
    // Nothing ran, and nobody knows whether anything does.
    let mut run = known(&[], RunOutcome::BuildFailed);
    assert_eq!(run.cause().0, Cause::Environment);
    run.gold = GoldHere::Good;
    assert_eq!(run.cause().0, Cause::Model);
}

#[test]
fn a_log_that_was_not_understood() {
    let mut run = known(&[("x", TestStatus::Passed)], RunOutcome::Completed);
    run.log.totals = Some(Totals {
        passed: Some(3),
        failed: Some(0),
        ..Totals::default()
    });
    run.exit = CODE_0;
    assert_eq!(run.cause().0, Cause::Parser);
    run.log.totals = Some(Totals {
        passed: Some(1),
        ..Totals::default()
    });
    assert_eq!(run.cause().0, Cause::Model, "the tests are gone");
    let mut silent = known(&[], RunOutcome::NothingRan);
    silent.gold = GoldHere::Good;
    silent.exit = CODE_0;
    assert_eq!(silent.cause().0, Cause::Model);
    silent.text = "everything is fine";
    assert_eq!(silent.cause().0, Cause::Parser);
}

#[test]
fn unstable_tests_and_tests_of_nothing() {
    let mut run = failing();
    run.flaky = BTreeMap::from([("f".to_owned(), "passes in 2 of 3 runs".to_owned())]);
    assert_eq!(
        run.cause(),
        (Cause::Flaky, "f: passes in 2 of 3 runs".to_owned())
    );
    let mut run = failing();
    run.passing_without = vec!["f".to_owned()];
    assert_eq!(run.cause().0, Cause::WeakTest);
}

#[test]
fn bounds_of_a_score() {
    let no = |cause| Scored {
        resolved: false,
        cause: Some(cause),
    };
    let yes = Scored {
        resolved: true,
        cause: None,
    };
    let unknown = Scored {
        resolved: false,
        cause: None,
    };
    let all = [
        yes,
        yes,
        unknown,
        no(Cause::Model),
        no(Cause::PatchFormat),
        no(Cause::WeakTest),
        no(Cause::Tampered),
        no(Cause::Environment),
        no(Cause::Parser),
        no(Cause::Flaky),
        no(Cause::Harness),
        no(Cause::Harness),
    ];
    let bounds = ScoreBounds::of(all);
    assert_eq!(
        (bounds.submitted, bounds.resolved, bounds.excused),
        (12, 2, 5)
    );
    assert_eq!((bounds.lower, bounds.upper), (2.0 / 12.0, 7.0 / 12.0));
    assert_eq!(bounds.by_cause[&Cause::Model], 2);
    assert_eq!(bounds.by_cause[&Cause::Harness], 2);
    let json = serde_json::to_value(&bounds).unwrap();
    assert_eq!(json["by_cause"]["patch_format"], 1);
    assert_eq!(ScoreBounds::of([]), ScoreBounds::default());
}

#[test]
fn wilsons_interval_at_its_edges() {
    let near = |share, trials, low: f64, high: f64| {
        let found = wilson(share, trials);
        assert!(
            (found.low - low).abs() < 5e-5 && (found.high - high).abs() < 5e-5,
            "{found:?}"
        );
    };
    near(0.0, 10, 0.0, 0.2775);
    near(1.0, 10, 0.7225, 1.0);
    near(0.5, 10, 0.2366, 0.7634);
    near(0.3, 0, 0.0, 1.0);
}
