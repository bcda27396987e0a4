//! Predictions, run and graded.

use super::support::Case;
use super::{GOLD, LIB, OLD, new_test};
use atlas_core::{Patch, RunContext, TestIds};
use atlas_oracle::{Evaluated, Resolution, SignalKind, TamperSignal, Variation};

async fn evaluate(case: &Case, prediction: &str) -> (Resolution, TestIds, Vec<TamperSignal>) {
    let (cx, plain) = (RunContext::new("t"), Variation::plain(0));
    let prediction = Patch::new(prediction);
    let evaluated =
        case.evaluator
            .evaluate(&cx, &case.candidate, &prediction, "prediction", &plain);
    match evaluated.await.unwrap() {
        Evaluated::Graded { grade, signals, .. } => {
            (grade.resolution, grade.fail_to_pass.success, signals)
        }
        Evaluated::NotApplied { reasons } => panic!("{reasons:?}"),
    }
}

#[tokio::test]
async fn a_run_that_leaves_before_its_runner_does_resolves_nothing() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    let plan = &mut case.candidate.environment.plan;
    plan.test_cmd = format!(
        "if [ -e early ]; then cat early; exit 0; fi\n{}",
        plan.test_cmd
    );
    let forged =
        "--- /dev/null\n+++ b/early\n@@ -0,0 +1,2 @@\n+ok tests/new.sh\n+ok tests/old.sh\n";
    let (resolution, passing, signals) = evaluate(&case, forged).await;
    assert_eq!((resolution, passing.len()), (Resolution::No, 0));
    assert_eq!(signals.len(), 1);
    assert_eq!(
        (signals[0].kind, signals[0].decisive),
        (SignalKind::Unfinished, true)
    );
    // The solution itself is believed.
    let (resolution, passing, signals) = evaluate(&case, GOLD).await;
    assert_eq!((resolution, passing.len()), (Resolution::Full, 1));
    assert_eq!(signals, []);
}

#[tokio::test]
async fn an_exit_code_that_nothing_explains_is_noted_beside_the_verdict() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    let mut case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    let plan = &mut case.candidate.environment.plan;
    plan.test_cmd.push_str("exit 3\n");
    // This runner prints no totals to ask.
    let (resolution, _, signals) = evaluate(&case, GOLD).await;
    assert_eq!(resolution, Resolution::No);
    assert_eq!(signals[0].kind, SignalKind::UnexplainedExit);
    assert!(signals[0].message.ends_with("exit code is 3"));
    // It is the suite's habit where it ended so when the lists were made.
    let after = case
        .candidate
        .oracle
        .states
        .get_mut(&atlas_core::State::After);
    after.unwrap().exit = atlas_core::ExitState::Exited { code: 3 };
    let (resolution, _, signals) = evaluate(&case, GOLD).await;
    assert_eq!((resolution, signals), (Resolution::Full, Vec::new()));
}
