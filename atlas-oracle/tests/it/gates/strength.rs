use super::new_test;
use super::support::Case;
use atlas_core::{Decision, RunContext, Validator, Verdict};
use atlas_oracle::{Strength, StrengthOptions};

/// Lines far enough apart for hunks of their own.
const BASE: &str = "one() { echo 0; }\n#\n#\n#\n#\n#\n#\n#\n#\n#\ntwo() { echo 0; }\n#\n#\n#\n#\n#\n#\n#\n#\n#\nnote() { :; }\n";

/// Three hunks: `one`, `two`, a comment; and prose.
const GOLD: &str = "--- a/lib.sh\n+++ b/lib.sh\n@@ -1,2 +1,2 @@\n-one() { echo 0; }\n+one() { echo 1; }\n #\n@@ -10,3 +10,3 @@\n #\n-two() { echo 0; }\n+two() { echo 2; }\n #\n@@ -20,2 +20,3 @@\n #\n+# A remark.\n note() { :; }\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-old\n+new\n";

async fn verdict(tests: &str, options: StrengthOptions) -> Verdict {
    let base = [
        ("lib.sh", BASE),
        ("README.md", "old\n"),
        ("tests/old.sh", "true\n"),
    ];
    let case = Case::new(&base, GOLD, tests).await;
    Strength::new(case.evaluator, options)
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap()
}

fn standings(verdict: &Verdict) -> Vec<(u64, &str)> {
    let parts = verdict.measurements["parts"].as_array().unwrap();
    parts
        .iter()
        .map(|part| {
            (
                part["line"].as_u64().unwrap(),
                part["standing"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_part_that_no_test_notices_is_reported() {
    let tests = new_test("new", "[ \"$(one)\" = 1 ]");
    let verdict = verdict(&tests, StrengthOptions::default()).await;
    assert_eq!(verdict.decision, Decision::Accept);
    assert_eq!(
        standings(&verdict),
        [
            (1, "tested"),
            (10, "untested"),
            (20, "not_code"),
            (1, "not_code")
        ]
    );
    assert_eq!(verdict.measurements["score"], 0.5);
    assert_eq!(verdict.findings.len(), 1);
    assert_eq!(verdict.findings[0].code, "untested_part");
    assert_eq!(verdict.findings[0].evidence[1].text, "+two() { echo 2; }");
}

#[tokio::test]
async fn a_patch_whose_every_part_is_tested_scores_one() {
    let tests = new_test("new", "[ \"$(one)$(two)\" = 12 ]");
    let verdict = verdict(&tests, StrengthOptions::default()).await;
    assert_eq!(verdict.measurements["score"], 1.0);
    assert_eq!(verdict.findings, []);
}

/// Either part suffices: each goes unnoticed alone, and the pair does not.
#[tokio::test]
async fn parts_of_which_one_suffices_are_tested_as_a_pair() {
    let tests = new_test("new", "[ \"$(one)\" = 1 ] || [ \"$(two)\" = 2 ]");
    let verdict = verdict(&tests, StrengthOptions::default()).await;
    assert_eq!(
        standings(&verdict)[..2],
        [(1, "tested_in_pair"), (10, "tested_in_pair")]
    );
    assert_eq!(verdict.measurements["score"], 1.0);
}

#[tokio::test]
async fn weak_tests_are_rejected_where_that_is_asked_for() {
    let tests = new_test("new", "[ \"$(one)\" = 1 ]");
    let options = StrengthOptions {
        min_score: 0.8,
        ..StrengthOptions::default()
    };
    let verdict = verdict(&tests, options).await;
    assert_eq!(verdict.decision, Decision::Reject);
    assert_eq!(verdict.findings.last().unwrap().code, "weak_tests");
}

#[tokio::test]
async fn what_the_budget_leaves_out_is_said() {
    let tests = new_test("new", "[ \"$(one)\" = 1 ]");
    let options = StrengthOptions {
        max_runs: 1,
        ..StrengthOptions::default()
    };
    let verdict = verdict(&tests, options).await;
    assert_eq!(standings(&verdict)[..2], [(1, "tested"), (10, "not_run")]);
    assert_eq!(verdict.measurements["score"], 1.0);
}

/// White space that the language does not read is nothing that a test could notice.
#[tokio::test]
async fn a_reformatted_line_is_no_code() {
    let base = [("lib.sh", BASE), ("tests/old.sh", "true\n")];
    let gold = "--- a/lib.sh\n+++ b/lib.sh\n@@ -1,2 +1,2 @@\n-one() { echo 0; }\n+one() { echo 1; }\n #\n@@ -10,3 +10,5 @@\n #\n-two() { echo 0; }\n+two() {\n+  echo 0;\n+}\n #\n";
    let tests = new_test("new", "[ \"$(one)\" = 1 ]");
    let case = Case::new(&base, gold, &tests).await;
    let verdict = Strength::new(case.evaluator, StrengthOptions::default())
        .validate(&RunContext::new("t"), &case.candidate)
        .await
        .unwrap();
    assert_eq!(standings(&verdict), [(1, "tested"), (10, "not_code")]);
    assert_eq!(verdict.measurements["score"], 1.0);
}

/// A mode or a name that no test reads is code all the same, and a timeout is no notice.
#[tokio::test]
async fn parts_without_lines_and_runs_that_were_cut_short() {
    let base = [
        ("lib.sh", "one() { echo 0; }\n"),
        ("run.sh", "x\n"),
        ("tests/old.sh", "true\n"),
    ];
    let gold = "diff --git a/lib.sh b/lib.sh\n--- a/lib.sh\n+++ b/lib.sh\n@@ -1 +1 @@\n-one() { echo 0; }\n+one() { echo 1; }\ndiff --git a/run.sh b/go.sh\nsimilarity index 100%\nrename from run.sh\nrename to go.sh\n";
    let tests = new_test("new", "[ \"$(one)\" = 1 ]");
    let mut case = Case::new(&base, gold, &tests).await;
    let strength = Strength::new(case.evaluator.clone(), StrengthOptions::default());
    let cx = RunContext::new("t");
    let found = strength.validate(&cx, &case.candidate).await.unwrap();
    assert_eq!(standings(&found), [(1, "tested"), (0, "untested")]);
    assert_eq!(found.measurements["score"], 0.5);

    let test_cmd = &mut case.candidate.environment.plan.test_cmd;
    test_cmd.insert_str(0, "[ -e go.sh ] || exit 99\n");
    let found = strength.validate(&cx, &case.candidate).await.unwrap();
    assert_eq!(standings(&found), [(1, "tested"), (0, "unfinished")]);
    assert_eq!(found.measurements["score"], 1.0);
    assert_eq!(found.measurements["unfinished_runs"], 1.0);
}
