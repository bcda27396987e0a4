//! Patch validation: its stages and their chain.

use crate::support::{InOrder, cx, no_attachments, recorded, said, said_with, subject, token};
use async_trait::async_trait;
use atlas_core::testing::judge_contract;
use atlas_core::{Completion, ConfidenceSource, FinishReason, Judge, LanguageModel};
use atlas_judge::validation::{
    CommandOutcome, LastTestCommand, PatchForm, PatchStage, PatchValidation, PromptLimits,
    RegressionCheck, ReviewOptions, SpecificationReview, StageOutcome, Trajectory,
    TrajectoryReview, ValidationSubject, cut_middle, estimated_tokens, test_commands,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

const PATCH: &str = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n";
const FIXED: &str = r#"{"is_bug_fixed": true, "explanation": "it is 2 now"}"#;
const NOT: &str = r#"{"is_bug_fixed": false, "explanation": "still 1"}"#;

fn given(attachments: Value) -> ValidationSubject {
    let subject = subject("It is 1\n\nIt should be 2.", Some(PATCH), attachments);
    ValidationSubject::of(&subject).expect("a subject")
}

fn scored(text: &str, logprob: f64) -> atlas_core::Completion {
    said_with(text, vec![token(text, logprob)])
}

async fn outcome(stage: &dyn PatchStage, subject: &ValidationSubject) -> (StageOutcome, String) {
    let report = stage.look(&cx(), subject).await.expect("no model is asked");
    (report.outcome, report.reason)
}

#[tokio::test]
async fn what_is_no_patch_is_rejected() {
    for (patch, expected) in [
        (PATCH, StageOutcome::Passed),
        ("", StageOutcome::Rejected),
        (" \n", StageOutcome::Rejected),
        (
            "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-x\n",
            StageOutcome::Rejected,
        ),
    ] {
        let subject = ValidationSubject {
            patch: atlas_core::Patch::new(patch),
            ..ValidationSubject::default()
        };
        assert_eq!(outcome(&PatchForm, &subject).await.0, expected, "{patch}");
    }
}

#[tokio::test]
async fn regressions_count_near_the_patch_only() {
    use StageOutcome::{NoEvidence, Passed, Rejected};
    let target = |file: &str, before: &str, after: &str| json!({"name": "t", "direct_dependencies": [file], "before": before, "after": after});
    for (facts, expected, part) in [
        (json!(null), NoEvidence, "no results"),
        (json!({"targets": []}), NoEvidence, "0 test targets"),
        (
            json!({"targets": [target("src/a.py", "passed", "passed")]}),
            Passed,
            "1 targets",
        ),
        (
            json!({"targets": [target("src/a.py", "passed", "failed")]}),
            Rejected,
            "failed with the patch",
        ),
        (
            json!({"targets": [target("src/a.py", "failed", "not_built")]}),
            Rejected,
            "could not be built",
        ),
        (
            json!({"targets": [target("src/a.py", "failed", "failed")]}),
            Passed,
            "1 targets",
        ),
        (
            json!({"targets": [target("src/a.py", "passed", "not_run")]}),
            NoEvidence,
            "1 test targets",
        ),
        (
            json!({"targets": [target("src/b.py", "passed", "failed")]}),
            NoEvidence,
            "directly",
        ),
        // The reproduction test stands in place of all targets, either way.
        (
            json!({"targets": [target("src/a.py", "passed", "failed")], "reproduction": {"name": "r", "after": "passed"}}),
            Passed,
            "reproduction test passes",
        ),
        (
            json!({"targets": [target("src/a.py", "passed", "passed")], "reproduction": {"name": "r", "after": "failed"}}),
            Rejected,
            "`r`",
        ),
        (
            json!({"reproduction": {"after": "not_run"}}),
            NoEvidence,
            "not run",
        ),
    ] {
        let subject = given(json!({"test_facts": facts}));
        let (found, reason) = outcome(&RegressionCheck, &subject).await;
        assert_eq!(found, expected, "{facts}: {reason}");
        assert!(reason.contains(part), "{part}: {reason}");
    }
    let moved = "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n";
    let mut subject =
        given(json!({"test_facts": {"targets": [target("old.py", "passed", "failed")]}}));
    subject.patch = atlas_core::Patch::new(moved);
    assert_eq!(outcome(&RegressionCheck, &subject).await.0, Rejected);
    let why = ValidationSubject::of(&crate::support::subject(
        "x",
        Some(PATCH),
        json!({"test_facts": {"targets": [{"name": 1}]}}),
    ));
    assert!(why.unwrap_err().chain().contains("test_facts"));
}

fn steps(actions: &[(&str, &str)]) -> Trajectory {
    let steps: Vec<Value> = actions
        .iter()
        .map(|(action, observation)| json!({"thought": "t", "action": action, "observation": observation}))
        .collect();
    Trajectory::read(&Value::Array(steps)).expect("steps")
}

#[test]
fn commands_that_run_tests_are_told_from_others() {
    let runs = |action: &str| !test_commands(&steps(&[(action, "")]), &[], None).is_empty();
    for action in [
        "pytest",
        "cd repo && python -m pytest -x tests/test_a.py::test_b",
        "PYTHONPATH=. timeout 60 python3 -m unittest discover -s tests",
        "python tests/runtests.py admin --parallel 1",
        "python manage.py test polls",
        "go test ./... 2>&1 | tail -20",
        "cargo test --workspace",
        "cargo nextest run",
        "npm test",
        "npm run test:unit -- --watch=false",
        "yarn jest src/a.test.js",
        "npx vitest run",
        "./gradlew :app:test --tests X",
        "mvn -q -Dtest=Foo test",
        "bazel test //base:all",
        "make check",
        "bin/test sympy/core",
        "bundle exec rspec spec/a_spec.rb",
        "vendor/bin/phpunit --filter X",
        "bash -c 'cd x; pytest -q'",
        "python test_fix.py",
        "./run_tests.sh",
        "poetry run pytest",
        "node --test",
        "dotnet test",
        "ctest --output-on-failure",
        "tox -e py311",
    ] {
        assert!(runs(action), "{action}");
    }
    for action in [
        "",
        "cat tests/test_a.py",
        "grep -rn pytest .",
        "pip install pytest tox",
        "npm install jest",
        "sed -n 1,40p src/test/java/FooTest.java",
        "test -f setup.py && echo yes",
        "echo 'run pytest now'",
        "cat > run.txt <<'EOF'\npytest -q\nEOF",
        "git commit -m 'make test pass'",
        "python reproduce.py",
        "vim tests/test_a.py",
        "bazel build //foo:test",
        "cargo build --tests",
        "make -j4 checkout",
        "str_replace_editor {\"command\":\"view\",\"path\":\"/x/test_a.py\"}",
    ] {
        assert!(!runs(action), "{action}");
    }
    let own = test_commands(
        &steps(&[("check {\"target\": \"x\"}", "")]),
        &["check".to_owned()],
        None,
    );
    assert_eq!(own.len(), 1);
}

#[test]
fn how_a_test_command_ended_is_read_from_its_output() {
    use CommandOutcome::{Failed, Passed, Unknown};
    let check = |action: &str, output: &str, expected: CommandOutcome| {
        let found = test_commands(&steps(&[(action, output)]), &[], None);
        assert_eq!(found[0].outcome, expected, "{action}: {output}: {found:?}");
    };
    check("pytest", "==== 3 passed in 0.1s ====", Passed);
    check("pytest", "==== 1 failed, 3 passed in 0.1s ====", Failed);
    check(
        "pytest | tail -1",
        "1 error in 0.1s\n(exit code: 0)",
        Failed,
    );
    check("pytest", "2 passed, 1 xfailed", Passed);
    check("go test ./...", "ok  \tx\t0.1s", Passed);
    check("go test ./...", "--- FAIL: TestA (0.00s)\nFAIL\n", Failed);
    check(
        "cargo test",
        "test result: FAILED. 1 passed; 1 failed",
        Failed,
    );
    check("cargo test", "test result: ok. 2 passed; 0 failed", Passed);
    check(
        "mvn test",
        "Tests run: 2, Failures: 0, Errors: 0\nBUILD SUCCESS",
        Passed,
    );
    check("mvn test", "Tests run: 2, Failures: 1, Errors: 0", Failed);
    check("pytest", "bash: pytest: command not found", Failed);
    check("pytest", "some output", Unknown);
    check(
        "pytest",
        "<returncode>2</returncode>\n<output></output>",
        Failed,
    );
    check("pytest -q", "Command finished with exit code 0", Passed);
    // What is printed on the way is no summary, and an exit code of 0 is none of a failed run.
    let passed = [
        "Ran 2 tests in 0.1s\n\nOK (expected failures=1)",
        "2 errors ignored\n==== 12 passed in 0.1s ====",
        "tests for 3 broken links\n5 passed",
        "FAIL fast mode on\nok  \tx\t0.1s",
        "not ok 2 - later # TODO\nok 3 - x",
    ];
    for output in passed {
        check("make test | cat", output, Passed);
        check("make test", &format!("{output}\n(exit code: 0)"), Passed);
        check("make test", &format!("{output}\n(exit code: 1)"), Failed);
    }
    let failed = [
        "FAIL\tx [build failed]\nok  \ty\t0.1s\nFAIL",
        "not ok 2 - x\nok 3 - y",
        "test result: FAILED. 1 passed; 1 failed\ntest result: ok. 2 passed; 0 failed\nerror: 1 target failed:",
        "FAIL src/a.test.js\nPASS src/b.test.js",
        "50% tests passed, 1 tests failed out of 2",
        "5 passed\n1 failed, 4 passed",
    ];
    for output in failed {
        check("make test | cat", output, Failed);
    }
    // The exit code is that of the last command.
    check("pytest; grep x y", "3 passed\nexit code: 1", Passed);
    check("pytest; grep x y", "exit code: 1", Unknown);
    let python = "Ran 2 tests in 0.1s\n\nFAILED (failures=1)";
    check("python -m unittest", python, Failed);
    check("python -m unittest", "Ran 2 tests in 0.1s\n\nOK", Passed);
}

#[tokio::test]
async fn the_last_test_command_decides() {
    let stage = LastTestCommand::default();
    let with = |trajectory: Trajectory| ValidationSubject {
        trajectory: Some(trajectory),
        ..given(no_attachments())
    };
    let none = given(no_attachments());
    assert_eq!(outcome(&stage, &none).await.0, StageOutcome::NoEvidence);
    let idle = with(steps(&[("ls", "a"), ("submit", "")]));
    assert_eq!(
        outcome(&stage, &idle).await,
        (StageOutcome::Passed, "the agent ran no tests".to_owned())
    );
    let mended = with(steps(&[
        ("pytest", "1 failed"),
        ("edit", ""),
        ("pytest", "1 passed"),
        ("submit", ""),
    ]));
    assert_eq!(outcome(&stage, &mended).await.0, StageOutcome::Passed);
    let broken = with(steps(&[
        ("pytest", "1 passed"),
        ("edit", ""),
        ("pytest", "1 failed"),
        ("submit", ""),
    ]));
    let report = stage.look(&cx(), &broken).await.unwrap();
    assert_eq!(report.outcome, StageOutcome::Rejected);
    assert_eq!(report.evidence[0].source, "trajectory, step 3");
    assert!(report.evidence[0].text.contains("1 failed"));
}

#[test]
fn trajectories_are_read_in_the_forms_of_the_field() {
    let traj = json!({"trajectory": [
        {"action": "ls", "observation": "a", "response": "look\n", "state": "{}", "thought": "look"},
        {"action": "submit", "observation": "", "response": "", "thought": "done"},
    ], "history": [{"role": "system", "content": "x"}], "info": {"exit_status": "submitted"}});
    assert_eq!(Trajectory::read(&traj).unwrap().steps.len(), 2);

    let messages = json!([
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "the task"}]},
        {"role": "assistant", "content": "I run them", "tool_calls": [
            {"id": "1", "function": {"name": "bash", "arguments": "{\"command\": \"pytest -q\"}"}}]},
        {"role": "tool", "content": "1 passed"},
        {"role": "assistant", "content": null, "tool_calls": [
            {"function": {"name": "edit", "arguments": "{\"command\": \"create\", \"path\": \"x\"}"}}]},
        {"role": "tool", "content": "ok"},
    ]);
    let found = Trajectory::read(&messages).unwrap();
    assert_eq!(found.prompts, ["be good", "the task"]);
    assert_eq!(found.steps[0].action, "pytest -q");
    assert_eq!(found.steps[0].observation, "1 passed");
    assert!(
        found.steps[1].action.starts_with("edit {"),
        "{}",
        found.steps[1].action
    );
    let text = found.text();
    for part in ["be good", "## Step 1", "pytest -q", "1 passed", "## Step 2"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Its own form comes back as it is.
    let again = Trajectory::read(&serde_json::to_value(&found).unwrap()).unwrap();
    assert_eq!(again, found);

    for (value, part) in [
        (json!("text"), "`\"text\"`"),
        (json!({"other": 1}), "other"),
        (json!([1]), "entry 1"),
        (json!([{"x": 1}]), "neither"),
    ] {
        let why = Trajectory::read(&value).unwrap_err().to_string();
        assert!(why.contains(part), "{part}: {why}");
    }
}

proptest! {
    #[test]
    fn cut_texts_fit_and_keep_both_ends(lines in proptest::collection::vec("\\PC{0,60}", 1..80), tokens in 20_usize..400) {
        let text = lines.join("\n");
        let cut = cut_middle(&text, tokens);
        if estimated_tokens(&text) <= tokens {
            prop_assert_eq!(cut, text);
        } else {
            prop_assert!(cut.len() <= tokens * 4 + 100);
            let (head, tail) = cut.split_once("[... ").unwrap();
            prop_assert!(text.starts_with(head.trim_end_matches('\n')));
            let tail = tail.split_once(" ...]\n").unwrap().1;
            prop_assert!(text.ends_with(tail));
        }
    }

    #[test]
    fn nothing_in_a_trajectory_panics(text in "\\PC{0,200}", code in any::<i64>()) {
        let value = json!([{"action": text, "observation": text, "exit_code": code}, {"role": "assistant", "content": text}]);
        let found = Trajectory::read(&value).unwrap();
        test_commands(&found, &[], None);
        found.text();
    }
}

#[tokio::test]
async fn of_a_specification_that_was_cut_off_the_whole_lines_count() {
    let cut = Completion {
        finish: FinishReason::Length,
        ..said("- x must be 2\n- y must stay\n- and if the na")
    };
    let model = Arc::new(InOrder::new([cut, scored(FIXED, -0.25)]));
    let review = SpecificationReview::new(Arc::clone(&model), ReviewOptions::default());
    let report = review.look(&cx(), &given(json!({}))).await.unwrap();
    let whole = "- x must be 2\n- y must stay";
    assert_eq!(report.details["specification"], whole);
    assert_eq!(report.details["cut"], json!(["specification"]));
    let asked = model.asked.lock().unwrap();
    let question = &asked[1].messages[1].content;
    assert!(question.contains(whole) && !question.contains("and if"));
}

#[tokio::test]
async fn the_review_asks_for_a_specification_first() {
    let model = Arc::new(InOrder::new([said("- x must be 2"), scored(FIXED, -0.25)]));
    let subject = given(json!({
        "originals": {"src/a.py": "x = 1\n", "src/b.py": "y"},
        "trajectory": [{"action": "pytest", "observation": "1 passed"}],
    }));
    let review = SpecificationReview::new(Arc::clone(&model), ReviewOptions::default());
    let report = review.look(&cx(), &subject).await.unwrap();
    assert_eq!(report.outcome, StageOutcome::Passed);
    assert!((report.details["score"].as_f64().unwrap() - (-0.25_f64).exp()).abs() < 1e-12);
    assert_eq!(
        report.details["prompt_versions"],
        json!(["specification.v1", "review.v2"])
    );
    assert_eq!(report.details["specification"], "- x must be 2");
    assert!(!report.details.contains_key("cut"));
    let asked = model.asked.lock().unwrap();
    let text = |at: usize| asked[at].messages[1].content.clone();
    for part in [
        "It is 1",
        "It should be 2.",
        "## src/a.py\n````\nx = 1\n",
        "## src/b.py",
    ] {
        assert!(text(0).contains(part), "{part}: {}", text(0));
    }
    assert!(
        !text(0).contains("+x = 2"),
        "the specification is written without the patch"
    );
    for part in [
        "+x = 2",
        "Attempt 1 (passed)",
        "$ pytest",
        "1 passed",
        "- x must be 2",
    ] {
        assert!(text(1).contains(part), "{part}: {}", text(1));
    }
    assert!(asked[1].json_schema.is_some() && asked[0].json_schema.is_none());
}

/// The score is of the answer that could be read; that it is not the first one stands in the report.
#[tokio::test]
async fn a_review_says_that_its_answer_was_asked_for_again() {
    for (answers, told) in [
        (vec![scored(FIXED, -0.25)], Value::Null),
        (
            vec![scored("It is fixed.", -0.01), scored(FIXED, -0.25)],
            json!(1),
        ),
    ] {
        let answers = std::iter::once(said("- s")).chain(answers);
        let model = InOrder::new(answers.collect::<Vec<_>>());
        let report = SpecificationReview::new(model, ReviewOptions::default())
            .look(&cx(), &given(no_attachments()))
            .await
            .unwrap();
        assert_eq!(report.details["score"], json!((-0.25_f64).exp()));
        assert_eq!(
            report
                .details
                .get("corrections")
                .cloned()
                .unwrap_or_default(),
            told
        );
    }
}

/// The prompt leaves the middle of a long run out, and so the report says.
#[tokio::test]
async fn a_review_says_that_output_of_tests_was_cut() {
    for (lines, cut) in [(2000, json!(["tests"])), (1, Value::Null)] {
        let options = ReviewOptions {
            limits: PromptLimits {
                tests: 1000,
                ..PromptLimits::default()
            },
            ..ReviewOptions::default()
        };
        let model = Arc::new(InOrder::new([said("- s"), scored(NOT, -0.1)]));
        let output = "a line of output\n".repeat(lines) + "1 passed";
        let subject = given(json!({
            "trajectory": [{"action": "pytest", "observation": output}],
        }));
        let report = SpecificationReview::new(Arc::clone(&model), options)
            .look(&cx(), &subject)
            .await
            .unwrap();
        let told = report.details.get("cut").cloned().unwrap_or_default();
        assert_eq!(told, cut, "{lines}");
    }
}

#[tokio::test]
async fn a_review_says_when_no_tests_ran_and_what_was_cut() {
    let long = "a line of a source file\n".repeat(2000);
    let options = ReviewOptions {
        limits: PromptLimits {
            files: 1000,
            ..PromptLimits::default()
        },
        ..ReviewOptions::default()
    };
    let model = Arc::new(InOrder::new([said("- s"), scored(NOT, -0.1)]));
    let subject = given(json!({
        "originals": {"big.py": long, "small.py": "keep me"},
        "trajectory": [{"action": "ls", "observation": ""}],
    }));
    let report = SpecificationReview::new(Arc::clone(&model), options)
        .look(&cx(), &subject)
        .await
        .unwrap();
    assert_eq!(report.outcome, StageOutcome::Rejected);
    assert_eq!(report.details["score"], 0.0);
    assert_eq!(report.confidence.unwrap().value, Some((-0.1_f64).exp()));
    assert_eq!(report.details["cut"], json!(["files"]));
    assert_eq!(report.details["originals_missing"], json!(["src/a.py"]));
    let asked = model.asked.lock().unwrap();
    assert!(asked[0].messages[1].content.contains("keep me"));
    assert!(asked[0].messages[1].content.contains("are left out here"));
    assert!(asked[1].messages[1].content.contains("ran no tests"));
}

#[tokio::test]
async fn the_trajectory_review_sees_everything_at_once() {
    let model = Arc::new(InOrder::new([scored(FIXED, -0.5)]));
    let subject =
        given(json!({"trajectory": [{"thought": "hm", "action": "ls", "observation": "a b"}]}));
    let review = TrajectoryReview::new(Arc::clone(&model), ReviewOptions::default());
    let report = review.look(&cx(), &subject).await.unwrap();
    assert_eq!(
        report.details["prompt_versions"],
        json!(["review-trajectory.v1"])
    );
    let text = model.asked.lock().unwrap()[0].messages[1].content.clone();
    for part in ["hm", "a b", "+x = 2"] {
        assert!(text.contains(part), "{part}");
    }
    let why = review
        .look(&cx(), &given(no_attachments()))
        .await
        .unwrap_err();
    assert!(why.chain().contains("none was given"));
}

fn chain(model: InOrder) -> (Arc<InOrder>, PatchValidation) {
    let model = Arc::new(model);
    let shared: Arc<dyn LanguageModel> = Arc::<InOrder>::clone(&model);
    (
        model,
        PatchValidation::with_specification(shared, ReviewOptions::default()),
    )
}

#[tokio::test]
async fn the_chain_stops_at_the_first_rejection() {
    use StageOutcome::{NoEvidence, Passed};
    let (model, validation) = chain(InOrder::new([]));
    let subject = given(json!({
        "test_facts": {"reproduction": {"after": "failed"}},
        "trajectory": [{"action": "pytest", "observation": "1 failed"}],
    }));
    let report = validation.validate(&cx(), &subject).await.unwrap();
    assert!(!report.accepted && report.review.is_none());
    assert_eq!(
        report.deterministic.stage.as_deref(),
        Some("regression-check")
    );
    assert_eq!((model.calls(), report.stages.len()), (0, 2));

    let (_, validation) = chain(InOrder::new([said("- s"), scored(FIXED, -0.5)]));
    let report = validation
        .validate(&cx(), &given(no_attachments()))
        .await
        .unwrap();
    let review = report.review.unwrap();
    assert!(report.accepted && review.accepted && report.deterministic.passed);
    assert_eq!(review.score, Some((-0.5_f64).exp()));
    assert_eq!(review.source, ConfidenceSource::TokenLogprobs);
    let outcomes: Vec<_> = report.stages.iter().map(|stage| stage.outcome).collect();
    assert_eq!(outcomes, [Passed, NoEvidence, NoEvidence, Passed]);
}

#[tokio::test]
async fn the_chain_is_a_judge() {
    let labels = ["accept", "reject"];
    let subject = |attachments| subject("It is 1", Some(PATCH), attachments);
    for answer in [recorded("review_json_schema"), scored(NOT, -0.2)] {
        let (_, validation) = chain(InOrder::new([said("- s"), answer]));
        judge_contract(&validation, &subject(no_attachments()), &labels).await;
    }
    let (_, validation) = chain(InOrder::new([]));
    let broken = subject(json!({"test_facts": {"reproduction": {"after": "failed"}}}));
    judge_contract(&validation, &broken, &labels).await;
    let found = validation.judge(&cx(), &broken).await.unwrap();
    assert_eq!(
        (found.label.as_str(), found.confidence.source),
        ("reject", ConfidenceSource::Rule)
    );
    let alone = PatchValidation::deterministic(&[]);
    judge_contract(&alone, &subject(no_attachments()), &labels).await;

    // An answer that cannot be read is an error, never a rejection.
    for (answer, part) in [
        (recorded("review_json_schema_truncated"), "cut off"),
        (said("Looks good."), "no JSON"),
    ] {
        let answers = [said("- s"), answer.clone(), answer.clone(), answer];
        let (_, validation) = chain(InOrder::new(answers));
        let why = validation
            .judge(&cx(), &subject(no_attachments()))
            .await
            .unwrap_err();
        assert!(why.chain().contains(part), "{}", why.chain());
    }
    let cut = atlas_core::Completion {
        finish: FinishReason::Length,
        ..said("- s")
    };
    let (_, validation) = chain(InOrder::new([cut]));
    assert!(
        validation
            .judge(&cx(), &subject(no_attachments()))
            .await
            .is_err()
    );
}

#[derive(Debug)]
struct TooLong;

#[async_trait]
impl PatchStage for TooLong {
    fn id(&self) -> &'static str {
        "too-long"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    async fn look(
        &self,
        _: &atlas_core::RunContext,
        subject: &ValidationSubject,
    ) -> Result<atlas_judge::validation::StageReport, atlas_core::Error> {
        let outcome = if subject.patch.as_bytes().len() > 10 {
            StageOutcome::Rejected
        } else {
            StageOutcome::Passed
        };
        Ok(atlas_judge::validation::StageReport::new(
            self.id(),
            outcome,
            "length",
        ))
    }
}

#[tokio::test]
async fn stages_of_others_take_part() {
    let validation = PatchValidation::new(vec![Box::new(PatchForm), Box::new(TooLong)]);
    let report = validation
        .validate(&cx(), &given(no_attachments()))
        .await
        .unwrap();
    assert_eq!(report.deterministic.stage.as_deref(), Some("too-long"));
}
