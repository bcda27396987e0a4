use super::support::Case;
use super::{GOLD, LIB, OLD, new_test};
use atlas_core::{Decision, RunContext, Validator, Verdict};
use atlas_oracle::{ConsistencyOptions, OracleConsistency, Perturbation, SequentialTest};

/// A repository with one more old test of this text.
async fn with_old_test(text: &str) -> Case {
    let more = ("tests/other.sh", text);
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    Case::new(&[LIB, OLD, more], GOLD, &tests).await
}

async fn verdict(case: &Case, options: ConsistencyOptions) -> Verdict {
    OracleConsistency::new(case.oracle.clone(), options)
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap()
}

#[tokio::test]
async fn equal_runs_are_accepted_with_their_power() {
    let case = with_old_test("true").await;
    let verdict = verdict(&case, ConsistencyOptions::default()).await;
    assert_eq!(verdict.decision, Decision::Accept);
    assert_eq!(verdict.measurements["runs"], 3);
    let power = &verdict.measurements["power"];
    assert_eq!(power["finds_fail_rates_from"], serde_json::Value::Null);
    assert_eq!(power["probability_of_missing_fail_rate"]["0.5"], 0.25);
}

/// The first three runs are the oracle's own: 3, 4 and so on are the gate's.
#[tokio::test]
async fn a_test_that_fails_every_fifth_time_is_found_with_its_interval() {
    let options = ConsistencyOptions {
        runs: 10,
        ..ConsistencyOptions::default()
    };
    // The paper keeps only instances whose results are identical in all runs.
    let case = with_old_test("[ $((RUN % 5)) != 4 ]").await;
    let rejected = verdict(&case, options.clone()).await;
    assert_eq!(rejected.decision, Decision::Reject);
    assert!(rejected.quarantine.contains_key("tests/other.sh"));

    let case = with_old_test("[ $((RUN % 5)) != 4 ]").await;
    let options = ConsistencyOptions {
        set_aside_flaky: true,
        ..options
    };
    let verdict = verdict(&case, options).await;
    assert_eq!(verdict.decision, Decision::Repair);
    let reason = &verdict.quarantine["tests/other.sh"];
    assert!(
        reason.starts_with("flaky: passes in 8, fails in 2 of 10 runs"),
        "{reason}"
    );
    let rate = &verdict.measurements["flaky"]["tests/other.sh"];
    assert!(rate["low"].as_f64().unwrap() < 0.8 && rate["high"].as_f64().unwrap() > 0.8);
    assert_eq!(rate["in_lists"], true);
}

#[tokio::test]
async fn an_instance_of_nothing_but_flaky_tests_is_rejected_and_stops_early() {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ] && [ $((RUN % 2)) = 0 ]");
    let case = Case::new(&[LIB, OLD], GOLD, &tests).await;
    let options = ConsistencyOptions {
        runs: 100,
        sequential: Some(SequentialTest::default()),
        ..ConsistencyOptions::default()
    };
    let verdict = verdict(&case, options).await;
    assert_eq!(verdict.decision, Decision::Reject);
    assert_eq!(verdict.measurements["runs"], 2);
    assert_eq!(
        verdict.measurements["stopped_early"],
        "after 2 runs: every test of FAIL_TO_PASS is unstable"
    );
}

/// 59 runs find a rate of 5 % with 95 % power; the first run is what the others are compared with.
#[tokio::test]
async fn stable_tests_are_run_no_longer_than_the_power_asks() {
    let case = with_old_test("true").await;
    let options = ConsistencyOptions {
        runs: 1000,
        sequential: Some(SequentialTest::default()),
        concurrency: 4,
        ..ConsistencyOptions::default()
    };
    let verdict = verdict(&case, options).await;
    assert_eq!(verdict.decision, Decision::Accept);
    assert_eq!(verdict.measurements["runs"], 60);
}

fn variable(name: &str) -> Perturbation {
    Perturbation {
        id: "place".to_owned(),
        env: [(name.to_owned(), "1".to_owned())].into(),
        ..Perturbation::default()
    }
}

#[tokio::test]
async fn a_test_that_depends_on_what_is_perturbed_is_told_from_a_flaky_one() {
    let case = with_old_test("[ -z \"$PLACE\" ]").await;
    let options = ConsistencyOptions {
        perturbations: vec![variable("PLACE")],
        ..ConsistencyOptions::default()
    };
    let found = verdict(&case, options.clone()).await;
    assert_eq!(found.decision, Decision::Repair);
    assert_eq!(found.findings[0].code, "depends_on_place");
    let reason = &found.quarantine["tests/other.sh"];
    assert!(
        reason.contains("fails in 2 of 2 runs under `place`"),
        "{reason}"
    );

    // Fails once, in the first perturbed run: 3 runs of the oracle and 3 plain ones come before.
    let case = with_old_test("[ $RUN != 6 ]").await;
    let found = verdict(&case, options).await;
    let reason = &found.quarantine["tests/other.sh"];
    assert!(reason.starts_with("flaky: differed once"), "{reason}");
}

/// A perturbation that keeps the tests from running says nothing of them.
#[tokio::test]
async fn a_perturbation_without_result_sets_nothing_aside() {
    let case = with_old_test("true").await;
    let options = ConsistencyOptions {
        perturbations: vec![Perturbation {
            id: "place".to_owned(),
            prelude: "echo there is no such place; exit 124".to_owned(),
            ..Perturbation::default()
        }],
        ..ConsistencyOptions::default()
    };
    let found = verdict(&case, options).await;
    assert_eq!(found.decision, Decision::Accept);
    assert_eq!(found.findings[0].code, "perturbation_without_result");
    let said: Vec<&str> = found.findings[0]
        .evidence
        .iter()
        .map(|e| e.text.as_str())
        .collect();
    assert!(
        said.iter().any(|line| line.contains("no such place")),
        "{said:?}"
    );
}

/// What a run lost that was cut short did not change by itself, nor is it known to end alike.
#[tokio::test]
async fn a_run_whose_time_was_up_sets_nothing_aside_and_is_not_accepted() {
    let mut case = with_old_test("true").await;
    // The fifth run, the second of the gate, ends in the midst of its tests.
    let test_cmd = &mut case.candidate.environment.plan.test_cmd;
    test_cmd.insert_str(
        0,
        "if [ $RUN = 4 ]; then echo 'ok tests/new.sh'; exit 99; fi\n",
    );
    let found = verdict(&case, ConsistencyOptions::default()).await;
    assert!(found.quarantine.is_empty(), "{:?}", found.quarantine);
    assert_eq!(found.measurements["unfinished_runs"], 1);
    assert_eq!(found.decision, Decision::Reject);
}

/// One failure in eleven runs is within what is tolerated.
#[tokio::test]
async fn what_is_tolerated_is_not_set_aside() {
    let case = with_old_test("[ $RUN != 3 ]").await;
    let options = ConsistencyOptions {
        runs: 60,
        sequential: Some(SequentialTest {
            rate: 0.5,
            tolerated: 0.2,
            ..SequentialTest::default()
        }),
        ..ConsistencyOptions::default()
    };
    let found = verdict(&case, options).await;
    assert_eq!(found.decision, Decision::Accept, "{:?}", found.quarantine);
}

#[tokio::test]
async fn runs_that_are_too_few_to_decide_say_so() {
    let case = with_old_test("true").await;
    let options = ConsistencyOptions {
        sequential: Some(SequentialTest::default()),
        ..ConsistencyOptions::default()
    };
    let found = verdict(&case, options).await;
    assert_eq!(found.findings[0].code, "not_decided");
    assert!(found.findings[0].message.contains("60 are needed"));
}
