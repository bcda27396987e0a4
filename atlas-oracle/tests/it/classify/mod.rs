//! What three states come to.

mod environment;
mod gold_only;
mod unstable;

use atlas_core::{
    BeforeFailureExtent, BuildFailureClass, Evidence, Kind, LostReason, OracleOutcome, ParsedLog,
    ParsedLogBuilder, Patch, RunOutcome, TestStatus,
};
use atlas_oracle::{Classification, ClassifyInput, classify};
use proptest::prelude::*;

/// `a.t1+ a.t2-`: module, test, and `+` passed, `-` failed, `!` not set up, else skipped.
fn log(tests: &str, outcome: RunOutcome, lost: &[(&str, &str)]) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("hand");
    for word in tests.split_whitespace() {
        let (id, mark) = word.split_at(word.len() - 1);
        let status = match mark {
            "+" => TestStatus::Passed,
            "-" => TestStatus::Failed,
            "!" => TestStatus::Error,
            _ => TestStatus::Skipped,
        };
        log.record(id.split('.').next().unwrap(), id, id, status);
    }
    for (module, line) in lost {
        log.lose(
            module,
            LostReason::LoadFailed,
            vec![Evidence::at("log", 7, *line)],
        );
    }
    log.finish(outcome)
}

fn done(tests: &str) -> ParsedLog {
    log(tests, RunOutcome::Completed, &[])
}

fn verdict(base: &ParsedLog, before: &ParsedLog, after: &ParsedLog) -> Classification {
    classify(&ClassifyInput::new(base, before, after))
}

#[test]
fn a_bug_fix() {
    let found = verdict(
        &done("a.x+ a.y+"),
        &done("a.x+ a.y- a.new- a.skip_s"),
        &done("a.x+ a.y+ a.new+ a.skip_+"),
    );
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.before_failure_extent, BeforeFailureExtent::None);
    assert_eq!(found.fail_to_pass, ["a.new", "a.skip_", "a.y"]);
    assert_eq!(found.pass_to_pass, ["a.x"]);
    assert_eq!(found.fail_to_pass_swebench_rule, None);
    assert_eq!(found.transition_counts["F2P"], 2);
}

#[test]
fn a_feature_whose_module_does_not_load() {
    let gold = Patch::new(
        "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1,1 +1,3 @@\n import os\n+def brand_new():\n+    pass\n",
    );
    let before = log(
        "b.z+",
        RunOutcome::Completed,
        &[(
            "a",
            "E   ImportError: cannot import name 'brand_new' from 'm' (/testbed/m.py)",
        )],
    );
    let (base, after) = (done("a.x+ b.z+"), done("a.x+ a.new+ b.z+"));
    let input = ClassifyInput {
        gold_patch: Some(&gold),
        ..ClassifyInput::new(&base, &before, &after)
    };
    let found = classify(&input);
    assert_eq!(found.kind, Some(Kind::FeatureRequest));
    assert_eq!(found.before_failure_extent, BeforeFailureExtent::Partial);
    assert_eq!(found.fail_to_pass, ["a.new"]);
    assert_eq!(
        found.pass_to_pass,
        ["a.x", "b.z"],
        "what the module merely took along guards"
    );
    assert_eq!(
        found.fail_to_pass_swebench_rule.as_deref(),
        Some(&["a.new".to_owned(), "a.x".to_owned()][..])
    );
    let failure = &found.module_failures[0];
    assert_eq!(failure.class, BuildFailureClass::MissingSymbol);
    assert_eq!(failure.symbol.as_deref(), Some("brand_new"));
    assert!(
        failure
            .proof
            .iter()
            .any(|p| p.source == "gold patch" && p.line == Some(6)),
        "{failure:?}"
    );
}

#[test]
fn a_changed_signature_is_found_where_nothing_new_is_named() {
    let gold = Patch::new(
        "diff --git a/m.rs b/m.rs\n--- a/m.rs\n+++ b/m.rs\n@@ -1,1 +1,1 @@\n-fn grow(a: u8) {}\n+fn grow(a: u8, b: u8) {}\n",
    );
    let before = log(
        "",
        RunOutcome::BuildFailed,
        &[("m", "error[E0061]: this function takes 1 argument: `grow`")],
    );
    let (base, after) = (done("m.x+"), done("m.x+ m.y+"));
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.before_failure_extent, BeforeFailureExtent::Full);
    assert_eq!(found.module_failures[0].symbol.as_deref(), Some("grow"));
    assert_eq!(found.fail_to_pass, ["m.y"]);
}

#[test]
fn only_existing_tests_of_a_lost_module_changed() {
    let before = log("b.z+", RunOutcome::Completed, &[("a", "ImportError")]);
    let (base, after) = (
        done("a.x[1]+ a.x[2]+ a.y+ b.x+ b.z+"),
        done("a.x[1]+ a.x[2]+ a.y+ b.x+ b.z+"),
    );
    let modified = ["x".to_owned()];
    let input = ClassifyInput {
        modified_tests: &modified,
        ..ClassifyInput::new(&base, &before, &after)
    };
    let found = classify(&input);
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(
        found.fail_to_pass,
        ["a.x[1]", "a.x[2]"],
        "and not b.x, whose module loads"
    );
    assert_eq!(found.fail_to_pass_rule, "modified_tests");
    assert_eq!(found.pass_to_pass, ["a.y", "b.x", "b.z"]);
    // Something of `a` fails in Before, and nothing tells what.
    let without = verdict(&base, &before, &after);
    assert_eq!(without.outcome, OracleOutcome::NoEvidence);
}

#[test]
fn failures_that_are_counted_and_not_named_are_no_ground_to_reject() {
    let counted = |failed: u64| {
        let mut log = ParsedLogBuilder::new("hand");
        log.record("a", "a.x", "a.x", TestStatus::Passed);
        log.add_totals(atlas_core::Totals {
            failed: Some(failed),
            ..atlas_core::Totals::default()
        });
        log.finish(RunOutcome::Completed)
    };
    let found = verdict(&counted(0), &counted(1), &counted(0));
    assert_eq!(found.outcome, OracleOutcome::NoEvidence);
    assert!(found.reason.contains("1 failures"), "{}", found.reason);
    // What is not named in After either is not the pull request's.
    let found = verdict(&counted(1), &counted(1), &counted(1));
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
}

#[test]
fn a_program_that_was_not_built_fails_for_that_alone() {
    // `ctest` counts a program that is not there among its failures.
    let lost = [("prog", "Unable to find executable: ./prog")];
    let before = log("prog- other+", RunOutcome::Completed, &lost);
    let (base, after) = (
        done("prog+ prog::a+ other+"),
        done("prog+ prog::a+ prog::b+ other+"),
    );
    let found = verdict(&base, &before, &after);
    assert_eq!(found.kind, Some(Kind::FeatureRequest));
    assert_eq!(found.fail_to_pass, ["prog::b"]);
    assert_eq!(found.pass_to_pass, ["other", "prog", "prog::a"]);
}

#[test]
fn a_program_that_fails_with_its_own_test_is_no_task_of_its_own() {
    let found = verdict(
        &done("prog+ prog::a+ other+"),
        &done("prog- prog::a- other-"),
        &done("prog+ prog::a+ other+"),
    );
    assert_eq!(found.fail_to_pass, ["other", "prog::a"]);
    assert_eq!(found.pass_to_pass, Vec::<String>::new());
}

/// A newer edition has `try_into` in its prelude: the tests lose an import, and no test is new.
#[test]
fn what_no_line_of_the_solution_brings_makes_no_changed_test_a_task() {
    let gold = Patch::new(
        "diff --git a/Cargo.toml b/Cargo.toml\n--- a/Cargo.toml\n+++ b/Cargo.toml\n@@ -1,1 +1,1 @@\n\
         -edition = \"2018\"\n+edition = \"2021\"\n\
         diff --git a/m.rs b/m.rs\n--- a/m.rs\n+++ b/m.rs\n@@ -1,1 +1,1 @@\n\
         -    let d = TryInto::try_into(&b[..]);\n+    let d = b[..].try_into();\n",
    );
    let line =
        "error[E0599]: no method named `try_into` found for struct `Vec<u8>` in the current scope";
    let before = log("", RunOutcome::BuildFailed, &[("m", line)]);
    let all = done("m.tests::x+ m.tests::y+");
    let modified = ["tests::x".to_owned()];
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        modified_tests: &modified,
        ..ClassifyInput::new(&all, &before, &all)
    });
    assert_eq!(found.module_failures[0].class, BuildFailureClass::Unknown);
    assert_eq!(found.outcome, OracleOutcome::NoEvidence, "{}", found.reason);
}

/// A refactoring moves a function and its test file into another package, and touches other tests there
/// in passing: these are not about what does not compile.
#[test]
fn tests_that_do_not_use_what_is_missing_are_no_task() {
    let gold = Patch::new(
        "diff --git a/c/utils.go b/c/utils.go\n--- a/c/utils.go\n+++ b/c/utils.go\n@@ -1,1 +1,2 @@\n package c\n\
         +func SafeBytes(b []byte) string { return string(b) }\n",
    );
    let tests = |line: &str| {
        Patch::new(format!(
            "diff --git a/c/hw_test.go b/c/hw_test.go\n--- a/c/hw_test.go\n+++ b/c/hw_test.go\n@@ -3,1 +3,1 @@\n\
             -\tcontains(chips)\n+\t{line}\n\
             diff --git a/c/u/utils_test.go b/c/utils_test.go\nsimilarity index 94%\n\
             rename from c/u/utils_test.go\nrename to c/utils_test.go\n\
             --- a/c/u/utils_test.go\n+++ b/c/utils_test.go\n@@ -1,1 +1,1 @@\n-package u\n+package c\n"
        ))
    };
    let all = done("c.TestHw+ c.TestSafe+");
    let modified = ["TestHw".to_owned()];
    let check = |test_patch: &Patch, lines: &[&str], expected: &[&str]| {
        let mut before = ParsedLogBuilder::new("hand");
        let lines_of_c = lines.iter().map(|line| Evidence::at("log", 7, *line));
        before.lose("c", LostReason::BuildFailed, lines_of_c.collect());
        let before = before.finish(RunOutcome::BuildFailed);
        let found = classify(&ClassifyInput {
            gold_patch: Some(&gold),
            test_patch: Some(test_patch),
            modified_tests: &modified,
            ..ClassifyInput::new(&all, &before, &all)
        });
        assert_eq!(found.fail_to_pass, expected, "{lines:?}: {}", found.reason);
        let instance = found.outcome == OracleOutcome::Instance;
        assert_eq!(instance, !expected.is_empty(), "{}", found.reason);
    };
    let line = "c/utils_test.go:22:18: undefined: SafeBytes";
    check(&tests("slices.Contains(chips)"), &[line], &[]);
    check(&tests("SafeBytes(chips)"), &[line], &["c.TestHw"]);
    // Of a compiler that stopped nobody knows what else is missing.
    let cut = "c/utils_test.go:40:2: too many errors";
    check(
        &tests("slices.Contains(chips)"),
        &[line, cut],
        &["c.TestHw"],
    );
}

#[test]
fn a_changed_test_is_known_by_its_name_without_libtests_remark() {
    let of = |names: &[&str]| {
        let mut log = ParsedLogBuilder::new("hand");
        for name in names {
            log.record("it", name, name, TestStatus::Passed);
        }
        log
    };
    let all = ["a::grows", "a::overflows - should panic"];
    let mut before = of(&[]);
    before.lose("it", LostReason::BuildFailed, Vec::new());
    let modified = ["overflows".to_owned()];
    let found = classify(&ClassifyInput {
        modified_tests: &modified,
        ..ClassifyInput::new(
            &of(&all).finish(RunOutcome::Completed),
            &before.finish(RunOutcome::BuildFailed),
            &of(&all).finish(RunOutcome::Completed),
        )
    });
    assert_eq!(found.fail_to_pass, ["a::overflows - should panic"]);
    assert_eq!(found.pass_to_pass, ["a::grows"]);
}

#[test]
fn a_crash_in_before_is_no_feature_and_loses_nothing() {
    let found = verdict(
        &done("a.x+ a.y+"),
        &log("a.x+", RunOutcome::Crashed, &[]),
        &done("a.x+ a.y+ a.new+"),
    );
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.before_failure_extent, BeforeFailureExtent::Crash);
    assert_eq!(found.fail_to_pass, ["a.new"]);
    assert_eq!(found.pass_to_pass, ["a.x", "a.y"]);
}

/// Seen on filelock: `conftest.py` asked for a key that a helper of the tests gets with the solution, and 281 tests
/// that erred for it alone were `FAIL_TO_PASS`.
#[test]
fn tests_that_a_shared_fixture_keeps_from_running_did_not_fail() {
    let conftest = "--- a/tests/conftest.py\n+++ b/tests/conftest.py\n@@ -1 +1,2 @@\n import pytest\n+import m\n";
    let own = conftest.replace("conftest", "test_a");
    let judge = |patch: &str, before: &str, after: &str| {
        let patch = Patch::new(patch);
        let (base, before, after) = (done("a.x+ b.y+ b.s_"), done(before), done(after));
        classify(&ClassifyInput {
            test_patch: Some(&patch),
            ..ClassifyInput::new(&base, &before, &after)
        })
    };
    // New ones neither: what keeps them from running may have nothing to do with them.
    for new in ["", " a.new!"] {
        let before = format!("a.x! b.y! b.s_{new}");
        let found = judge(conftest, &before, &before.replace('!', "+"));
        assert_eq!(found.outcome, OracleOutcome::NoEvidence);
        assert!(found.reason.contains("conftest.py"), "{}", found.reason);
        assert!(found.fail_to_pass.is_empty());
    }
    // One that ran tells that all could have.
    for (patch, before) in [
        (conftest, "a.x! b.y+"),
        (conftest, "a.x! b.y-"),
        (&own, "a.x! b.y!"),
    ] {
        let found = judge(patch, before, "a.x+ b.y+");
        assert_eq!(found.outcome, OracleOutcome::Instance);
        assert!(found.fail_to_pass.contains(&"a.x".to_owned()));
    }
}

#[test]
fn a_base_that_does_not_build_is_never_a_feature() {
    let broken = || {
        log(
            "",
            RunOutcome::BuildFailed,
            &[("a", "fatal error: zlib.h: No such file")],
        )
    };
    let found = verdict(&broken(), &broken(), &done("a.x+"));
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert_eq!(found.kind, None);
    assert!(found.fail_to_pass.is_empty());
    assert_eq!(found.evidence[0].text, "fatal error: zlib.h: No such file");
}

#[test]
fn a_module_that_is_broken_in_base_too_makes_no_feature() {
    let lost = [("gpu", "ModuleNotFoundError: No module named 'torch'")];
    let run = |tests| log(tests, RunOutcome::Completed, &lost);
    let found = verdict(&run("a.x+ a.y+"), &run("a.x+ a.y-"), &run("a.x+ a.y+"));
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.fail_to_pass, ["a.y"]);
    assert!(
        found
            .module_failures
            .iter()
            .all(|f| f.class == BuildFailureClass::Environment)
    );
}

#[test]
fn a_test_file_that_is_broken_itself() {
    let lost = [("t", "E     SyntaxError: invalid syntax")];
    let run = |tests| log(tests, RunOutcome::Completed, &lost);
    let found = verdict(&done("a.x+ t.y+"), &run("a.x+"), &run("a.x+"));
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
    assert_eq!(
        found.module_failures[0].class,
        BuildFailureClass::BrokenTest
    );
}

#[test]
fn nothing_seen_is_no_evidence_and_no_refactor_is_an_instance() {
    let nothing = ParsedLogBuilder::new("hand").finish(RunOutcome::NothingRan);
    assert_eq!(
        verdict(&nothing, &nothing, &nothing).outcome,
        OracleOutcome::NoEvidence
    );
    assert_eq!(
        verdict(&done("a.x+"), &nothing, &done("a.x+")).outcome,
        OracleOutcome::NoEvidence
    );
    assert_eq!(
        verdict(&done("a.x+"), &done("a.x+"), &nothing).outcome,
        OracleOutcome::NoEvidence
    );
    let same = verdict(&done("a.x+"), &done("a.x+"), &done("a.x+"));
    assert_eq!(same.outcome, OracleOutcome::RejectNoFailToPass);
    assert!(
        same.reason.starts_with("no FAIL_TO_PASS: of 1 tests"),
        "{}",
        same.reason
    );
}

#[test]
fn the_first_tests_of_a_repository() {
    let nothing = ParsedLogBuilder::new("hand").finish(RunOutcome::NothingRan);
    let found = verdict(&nothing, &done("a.x-"), &done("a.x+"));
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.starts_with("Base has no tests")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn pass_to_fail_is_recorded_and_in_neither_list() {
    let found = verdict(
        &done("a.x+ a.y+"),
        &done("a.x+ a.y+ a.z-"),
        &done("a.x+ a.y- a.z+"),
    );
    assert_eq!(found.pass_to_fail, ["a.y"]);
    assert_eq!(
        (found.fail_to_pass, found.pass_to_pass),
        (vec!["a.z".to_owned()], vec!["a.x".to_owned()])
    );
}

fn any_log() -> impl Strategy<Value = ParsedLog> {
    let test = ("[a-e]", prop::sample::select(TestStatus::ALL.to_vec()));
    let outcome = prop::sample::select(vec![
        RunOutcome::Completed,
        RunOutcome::BuildFailed,
        RunOutcome::Crashed,
        RunOutcome::NothingRan,
    ]);
    (
        prop::collection::vec(test, 0..6),
        prop::collection::vec("[a-c]", 0..2),
        outcome,
    )
        .prop_map(|(tests, lost, outcome)| {
            let mut log = ParsedLogBuilder::new("any");
            for (id, status) in tests {
                log.record(&id, &id, &id, status);
            }
            for module in lost {
                log.lose(&module, LostReason::BuildFailed, Vec::new());
            }
            log.finish(outcome)
        })
}

proptest! {
    #[test]
    fn laws(base in any_log(), before in any_log(), after in any_log()) {
        let found = verdict(&base, &before, &after);
        let passing = after.tests();
        for id in found.fail_to_pass.iter().chain(&found.pass_to_pass) {
            prop_assert!(passing[id.as_str()].is_passing(), "{id} is listed and does not pass in After");
        }
        let was = before.tests();
        for id in &found.fail_to_pass {
            prop_assert!(!found.pass_to_pass.contains(id));
            prop_assert!(!was.get(id.as_str()).is_some_and(|s| s.is_passing()), "{id} passes in Before");
        }
        prop_assert_eq!(found.outcome == OracleOutcome::Instance, !found.fail_to_pass.is_empty());
        prop_assert!(!found.reason.is_empty());
    }
}

/// A test that fails in Base and passes in Before, where the test patch changes another module alone, passes
/// by chance.
#[test]
fn what_only_base_fails_is_set_aside_where_the_test_patch_cannot_have_mended_it() {
    let run = |far: TestStatus, near: TestStatus, new: TestStatus| {
        let mut log = ParsedLogBuilder::new("hand");
        for (module, id, status) in [
            ("example.org/m/far", "TestFar", far),
            ("example.org/m/near", "TestNear", near),
            ("example.org/m/near", "TestNew", new),
            ("example.org/m/near", "TestOld", TestStatus::Passed),
        ] {
            log.record(module, id, id, status);
        }
        log.finish(RunOutcome::Completed)
    };
    let (passed, failed) = (TestStatus::Passed, TestStatus::Failed);
    let base = run(failed, failed, failed);
    let before = run(passed, passed, failed);
    let after = run(passed, passed, passed);
    let of = |paths: &[&str]| {
        let files = paths.iter().map(|path| {
            format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@\n-a\n+b\n")
        });
        let patch = Patch::new(files.collect::<String>());
        let input = ClassifyInput {
            test_patch: Some(&patch),
            ..ClassifyInput::new(&base, &before, &after)
        };
        classify(&input)
    };
    let found = of(&["near/near_test.go"]);
    assert_eq!(found.fail_to_pass, ["TestNew"]);
    assert_eq!(found.pass_to_pass, ["TestNear", "TestOld"]);
    assert!(found.unstable["TestFar"].starts_with("fails in Base"));
    // Data may be of any test.
    let found = of(&["near/near_test.go", "testdata/all.json"]);
    assert_eq!(found.pass_to_pass, ["TestFar", "TestNear", "TestOld"]);
}

#[test]
fn a_run_that_dies_before_the_tests_of_the_pull_request_says_nothing() {
    let cut = |tests: &str| log(tests, RunOutcome::Crashed, &[]);
    let (base, before) = (cut("a.x+ a.y+"), cut("a.x+ a.y-"));
    let after = cut("a.x+ a.y+");
    let modified = ["y".to_owned(), "z".to_owned()];
    let of = |base: &ParsedLog, modified: &[String]| {
        let input = ClassifyInput {
            modified_tests: modified,
            ..ClassifyInput::new(base, &before, &after)
        };
        classify(&input)
    };
    let found = of(&base, &modified);
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert!(found.reason.contains("after `a.y`"), "{}", found.reason);
    assert!(
        found.reason.contains("`z` of the test patch was not run"),
        "{}",
        found.reason
    );
    let found = of(&done("a.x+ a.y+"), &modified);
    assert_eq!(found.outcome, OracleOutcome::RejectAfterBroken);
    let found = of(&base, &modified[..1]);
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["a.y"]);
}

#[test]
fn a_pull_request_is_not_rejected_because_its_tests_ran_out_of_time() {
    let modified = ["z".to_owned()];
    for outcome in [RunOutcome::TimedOut, RunOutcome::Truncated] {
        let after = log("a.x+ a.y+", outcome, &[]);
        let (base, before) = (done("a.x+ a.y+"), done("a.x+ a.y-"));
        let input = ClassifyInput {
            modified_tests: &modified,
            ..ClassifyInput::new(&base, &before, &after)
        };
        let found = classify(&input);
        assert_eq!(
            found.outcome,
            OracleOutcome::EnvironmentInvalid,
            "{outcome:?}"
        );
        assert!(
            found.reason.contains("`z` of the test patch was not run"),
            "{}",
            found.reason
        );
    }
}
