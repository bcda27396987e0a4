//! Tests that Before lost because their package does not build for want of what others use.

use atlas_core::{
    Evidence, FileContent, FileMode, LostReason, OracleOutcome, Overlay, ParsedLog,
    ParsedLogBuilder, Patch, RunOutcome, TestStatus,
};
use atlas_oracle::{ClassifyInput, classify};

const GOLD: &str = "diff --git a/slice.go b/slice.go\n--- a/slice.go\n+++ b/slice.go\n@@ -1,2 +1,4 @@\n package lo\n+const trimSmallCutset = 8\n+func TrimAll() {}\n func Trim() {}\n";

const TESTS: &str = "package lo

import (
	\"testing\"
)

func cutset() []int {
	return make([]int, trimSmallCutset+1)
}

func TestTrimLarge(t *testing.T) {
	is.True(len(Trim(cutset())) > 0)
}

func TestTrimBoundary(t *testing.T) {
	is.True(trimSmallCutset > 0)
}

// Cutsets of at most trimSmallCutset.
func TestTrimSmallScan(t *testing.T) {
	is.Equal(Trim(1), 1)
}
";

fn run(tests: &[&str], missing: &[&str]) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("gotest");
    for name in tests {
        log.record("lo", name, name, TestStatus::Passed);
    }
    if !missing.is_empty() {
        let lines = missing.iter().enumerate().map(|(at, name)| {
            let text = format!("./slice_test.go:{at}:9: undefined: {name}");
            Evidence::at("log", at + 1, text)
        });
        log.lose("lo", LostReason::BuildFailed, lines.collect());
    }
    log.finish(RunOutcome::Completed)
}

fn doubts(tests: &str, missing: &[&str]) -> Vec<String> {
    let (base, before) = (run(&["TestOld"], &[]), run(&[], missing));
    let new = [
        "TestOld",
        "TestTrimBoundary",
        "TestTrimLarge",
        "TestTrimSmallScan",
    ];
    let after = run(&new, &[]);
    let mut files = Overlay::default();
    let content = FileContent {
        mode: FileMode::Regular,
        bytes: tests.as_bytes().to_vec(),
    };
    files.write.insert("slice_test.go".to_owned(), content);
    let added: Vec<&str> = tests.lines().collect();
    let added = added.join("\n+");
    let count = tests.lines().count();
    let test_patch = Patch::new(format!(
        "diff --git a/slice_test.go b/slice_test.go\nnew file mode 100644\n--- /dev/null\n+++ b/slice_test.go\n@@ -0,0 +1,{count} @@\n+{added}\n"
    ));
    let found = classify(&ClassifyInput {
        gold_patch: Some(&Patch::new(GOLD)),
        test_patch: Some(&test_patch),
        before_files: Some(&files),
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.outcome, OracleOutcome::Instance, "{}", found.reason);
    assert_eq!(found.fail_to_pass, new[1..]);
    assert!(
        found
            .doubts
            .iter()
            .all(|said| found.warnings.contains(said))
    );
    found.doubts
}

#[test]
fn tests_that_use_nothing_of_what_is_missing_are_named() {
    let found = doubts(TESTS, &["trimSmallCutset"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].contains("`trimSmallCutset` alone, which the gold patch defines for its own package (`slice.go: +const trimSmallCutset = 8`)"),
        "{}",
        found[0]
    );
    assert!(
        found[1].starts_with("1 of 3 tests of FAIL_TO_PASS use nothing of what Before lacks")
            && found[1].contains("as `TestTrimSmallScan`"),
        "{}",
        found[1]
    );
}

#[test]
fn what_another_solution_has_to_define_is_no_doubt() {
    let public = TESTS
        .replace("trimSmallCutset", "TrimAll")
        .replace("is.Equal(Trim(1)", "is.Equal(TrimAll(1)");
    assert!(doubts(&public, &["TrimAll"]).is_empty());
    // Only one of several is its own package's.
    let both = public.replace("cutset()) > 0", "cutset()) > trimSmallCutset");
    assert!(doubts(&both, &["TrimAll", "trimSmallCutset"]).is_empty());
}

#[test]
fn where_something_of_all_tests_uses_it_nothing_is_said_of_single_ones() {
    let table = format!("{TESTS}\nvar table = []int{{trimSmallCutset}}\n");
    assert_eq!(doubts(&table, &["trimSmallCutset"]).len(), 1);
    let main = format!("{TESTS}\nfunc TestMain(m *testing.M) {{\n\tuse(cutset())\n}}\n");
    assert_eq!(doubts(&main, &["trimSmallCutset"]).len(), 1);
}
