//! Gates that look at what a run is worth: whether it came to its end, and whether it is a test run at all.

use super::support::Case;
use super::{GOLD, LIB, OLD, new_test};
use async_trait::async_trait;
use atlas_core::{
    CommitSha, Decision, EnvSynthesizer, Environment, Error, Repository, RunContext,
    SynthesisOutcome, Validator, Verdict,
};
use atlas_oracle::{EnvironmentDeterminism, TestRun};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// An engine that builds this each time.
#[derive(Debug)]
struct Builds(Environment);

#[async_trait]
impl EnvSynthesizer for Builds {
    async fn synthesize(&self, _: &RunContext, _: &Repository) -> Result<SynthesisOutcome, Error> {
        Ok(SynthesisOutcome::Ready {
            environment: Box::new(self.0.clone()),
        })
    }
}

async fn case() -> Case {
    let tests = new_test("new", "[ \"$(add 1 1)\" = 2 ]");
    Case::new(&[LIB, OLD], GOLD, &tests).await
}

fn codes(verdict: &Verdict) -> Vec<&str> {
    verdict.findings.iter().map(|f| f.code.as_str()).collect()
}

async fn built(case: &Case, before_the_tests: &str) -> Verdict {
    let mut environment = case.candidate.environment.clone();
    environment.plan.test_cmd.insert_str(0, before_the_tests);
    let repository = Repository {
        name: "a/b".to_owned(),
        checkout: PathBuf::from("."),
        base: CommitSha::try_from("0".repeat(40)).unwrap(),
        base_date: String::new(),
        head_manifests: BTreeMap::new(),
        head_tests: BTreeMap::new(),
        touched: Vec::new(),
    };
    let gate = EnvironmentDeterminism::new(
        case.oracle.clone(),
        Arc::new(Builds(environment)),
        repository,
        3,
    );
    let cx = RunContext::new("t");
    gate.validate(&cx, &case.candidate).await.unwrap()
}

/// A Base that was cut short says nothing of its build, and only what was seen to run counts as good.
#[tokio::test]
async fn builds_in_which_base_does_not_finish_are_not_accepted() {
    let case = case().await;
    let good = built(&case, "").await;
    assert_eq!(good.decision, Decision::Accept, "{:?}", good.findings);
    assert_eq!(good.measurements["good_builds"], 3);
    for cut in ["exit 99\n", "echo 'ok tests/old.sh'; exit 99\n"] {
        let found = built(&case, cut).await;
        assert_eq!(found.decision, Decision::Reject, "{cut}");
        assert_eq!(codes(&found), ["base_unfinished"]);
        assert_eq!(found.measurements["good_builds"], 0);
    }
}

async fn looked_at(case: &Case, declared: Option<u64>) -> Verdict {
    TestRun::new(case.oracle.clone(), std::sync::Arc::new(declared))
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_run_in_which_tests_fail_is_a_test_run() {
    let case = case().await;
    let found = looked_at(&case, Some(2)).await;
    assert_eq!(found.decision, Decision::Accept, "{:?}", found.findings);
    assert_eq!(found.measurements["tests_after"], 2);
    let answer = &found.measurements["answer"];
    assert_eq!(answer["success"], true);
    assert_eq!(answer["details"]["allTestsRan"], true);
}

#[tokio::test]
async fn a_run_that_is_none_is_rejected_with_what_it_said() {
    for (command, code, detail) in [
        (
            "echo no-runner: not found; exit 127\n",
            "not_started",
            "testCommandExecuted",
        ),
        (
            "echo nothing to do; echo done; exit 0\n",
            "no_test_names",
            "testNamesPrinted",
        ),
        (
            "echo 'ok tests/old.sh'; exit 99\n",
            "not_completed",
            "mostTestsRan",
        ),
        (
            "echo 'ok tests/old.sh'; echo done; exit 0\n",
            "not_in_scope",
            "mostTestsRan",
        ),
    ] {
        let mut case = case().await;
        let test_cmd = &mut case.candidate.environment.plan.test_cmd;
        test_cmd.insert_str(0, command);
        let found = looked_at(&case, None).await;
        assert_eq!(found.decision, Decision::Reject, "{command}");
        assert!(
            codes(&found).contains(&code),
            "{command}: {:?}",
            codes(&found)
        );
        let answer = &found.measurements["answer"];
        assert_eq!(answer["success"], false);
        assert_eq!(answer["details"][detail], false, "{command}: {answer}");
        assert!(!answer["reason"].as_str().unwrap().is_empty());
    }
}

/// The numbers are said; a suite of which a part runs is not refused for it.
#[tokio::test]
async fn a_number_of_tests_that_does_not_fit_the_sources_is_a_warning() {
    let found = looked_at(&case().await, Some(400)).await;
    assert_eq!(found.decision, Decision::Accept);
    assert_eq!(codes(&found), ["implausible_number"]);
    assert_eq!(
        found.findings[0].message,
        "the log names 2 tests, far fewer than the 400 that the sources declare"
    );
}
