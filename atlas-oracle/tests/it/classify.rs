use atlas_core::{
    BeforeFailureExtent, BuildFailureClass, Evidence, Kind, LostReason, OracleOutcome, ParsedLog,
    ParsedLogBuilder, Patch, RunOutcome, TestStatus,
};
use atlas_oracle::{Classification, ClassifyInput, classify};
use proptest::prelude::*;

/// `a.t1+ a.t2-`: module, test, and `+` passed, `-` failed, `s` skipped.
fn log(tests: &str, outcome: RunOutcome, lost: &[(&str, &str)]) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("hand");
    for word in tests.split_whitespace() {
        let (id, mark) = word.split_at(word.len() - 1);
        let status = match mark {
            "+" => TestStatus::Passed,
            "-" => TestStatus::Failed,
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

/// A patch that adds files of these lines.
fn adding(files: &[(&str, &str)]) -> Patch {
    let section = |(path, text): &(&str, &str)| {
        let count = text.lines().count();
        let lines = text.lines().flat_map(|line| ["+", line, "\n"]);
        let lines: String = lines.collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}"
        )
    };
    Patch::new(files.iter().map(section).collect::<String>())
}

/// A run of tests by module and id, those of `failing` failed.
fn named(
    tests: &[(&str, &str)],
    failing: &[&str],
    outcome: RunOutcome,
    lost: &[&str],
) -> ParsedLog {
    let mut log = ParsedLogBuilder::new("hand");
    for (module, id) in tests {
        let status = if failing.contains(id) {
            TestStatus::Failed
        } else {
            TestStatus::Passed
        };
        log.record_in(module, "::", id, status);
    }
    for module in lost {
        let line = "error[E0425]: cannot find function `parse` in this scope";
        log.lose(
            module,
            LostReason::BuildFailed,
            vec![Evidence::at("log", 1, line)],
        );
    }
    log.finish(outcome)
}

#[test]
fn inline_tests_and_examples_of_files_that_gold_adds_never_decide() {
    let gold = adding(&[(
        "src/parser.rs",
        "/// ```\n/// k::parser::parse();\n/// ```\npub fn parse() {}\n#[cfg(test)]\nmod tests {\n#[test]\nfn works() {}\n}",
    )]);
    let tests = adding(&[(
        "tests/it.rs",
        "#[test]\nfn parses() { k::parser::parse(); }",
    )]);
    let base = named(&[("k", "old::tests::one")], &[], RunOutcome::Completed, &[]);
    let before = named(&[], &[], RunOutcome::BuildFailed, &["it"]);
    let after = named(
        &[
            ("k", "old::tests::one"),
            ("k", "parser::tests::works"),
            ("it", "parses"),
            ("Doc-tests k", "src/parser.rs - parser::parse (line 1)"),
        ],
        &[],
        RunOutcome::Completed,
        &[],
    )
    .without_source_lines();
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        test_patch: Some(&tests),
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["parses"]);
    assert_eq!(found.pass_to_pass, ["old::tests::one"]);
    let golds: Vec<&str> = found.gold_only.keys().map(String::as_str).collect();
    assert_eq!(
        golds,
        ["parser::tests::works", "src/parser.rs - parser::parse"]
    );
    assert!(found.gold_only["parser::tests::works"].contains("src/parser.rs: fn works() {}"));
}

#[test]
fn where_all_exist_only_through_gold_there_is_no_task() {
    let gold = adding(&[(
        "pkg/m.py",
        "def brand_new():\n    \"\"\"\n    >>> 1\n    \"\"\"",
    )]);
    let tests = adding(&[("tests/data.txt", "x")]);
    let run = |ids: &[(&str, &str)]| named(ids, &[], RunOutcome::Completed, &[]);
    let old = ("tests/test_m.py", "tests/test_m.py::test_old");
    let example = ("pkg/m.py", "pkg/m.py::pkg.m.brand_new");
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        test_patch: Some(&tests),
        ..ClassifyInput::new(&run(&[old]), &run(&[old]), &run(&[old, example]))
    });
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
    assert!(
        found.reason.contains("1 exist only through the gold patch"),
        "{}",
        found.reason
    );
}

#[test]
fn parameters_made_from_what_gold_adds_never_decide() {
    let ids = |rules: &[&str]| -> Vec<(&str, String)> {
        let id = |rule: &&str| ("t.py", format!("t.py::test_rule[{rule}]"));
        rules.iter().map(id).collect()
    };
    let run = |rules: &[&str], failing: &[&str]| {
        let ids = ids(rules);
        let ids: Vec<(&str, &str)> = ids.iter().map(|(m, id)| (*m, id.as_str())).collect();
        named(&ids, failing, RunOutcome::Completed, &[])
    };
    let (base, before) = (run(&["a"], &[]), run(&["a", "b"], &["t.py::test_rule[b]"]));
    let after = run(&["a", "b", "shiny"], &[]);
    let found = verdict(&base, &before, &after);
    assert_eq!(found.fail_to_pass, ["t.py::test_rule[b]"]);
    assert_eq!(found.pass_to_pass, ["t.py::test_rule[a]"]);
    assert!(found.gold_only.contains_key("t.py::test_rule[shiny]"));
}

#[test]
fn a_test_that_a_failure_kept_from_running_is_the_test_patchs() {
    // The parent fails in Before ahead of its second subtest, which the test patch names.
    let tests = adding(&[(
        "a_test.go",
        "func TestA(t *testing.T) {\n\tt.Run(\"late case\", f)\n}",
    )]);
    let gold = adding(&[("a.go", "func a() {}")]);
    let before = named(
        &[("p", "TestA"), ("p", "TestA/early")],
        &["TestA"],
        RunOutcome::Completed,
        &[],
    );
    let after = named(
        &[
            ("p", "TestA"),
            ("p", "TestA/early"),
            ("p", "TestA/late_case"),
        ],
        &[],
        RunOutcome::Completed,
        &[],
    );
    let base = named(&[("p", "TestOld")], &[], RunOutcome::Completed, &[]);
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        test_patch: Some(&tests),
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.fail_to_pass, ["TestA", "TestA/late_case"]);
    assert!(found.gold_only.is_empty(), "{:?}", found.gold_only);
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

#[test]
fn ids_that_hold_the_time_are_set_aside_and_constants_are_not() {
    let run = |now: &str, y: TestStatus| {
        let mut log = ParsedLogBuilder::new("hand");
        for id in [&format!("t[{now}]"), "t[2020-01-01 00:00:00]"] {
            log.record("", id, id, TestStatus::Passed);
        }
        log.record("", "y", "y", y);
        log.finish(RunOutcome::Completed)
    };
    let found = verdict(
        &run("11-21-2026 20:34:33", TestStatus::Passed),
        &run("11-21-2026 20:34:57", TestStatus::Failed),
        &run("11-21-2026 20:35:20", TestStatus::Passed),
    );
    assert_eq!(found.fail_to_pass, ["y"]);
    assert_eq!(found.pass_to_pass, ["t[2020-01-01 00:00:00]"]);
    assert_eq!(found.unstable.len(), 3, "{:?}", found.unstable);
}

#[test]
fn a_parameter_that_the_pull_request_changes_is_not_unstable() {
    let run = |time: &str, status: TestStatus| {
        let mut log = ParsedLogBuilder::new("hand");
        let id = format!("t[{time}]");
        log.record("", &id, &id, status);
        log.finish(RunOutcome::Completed)
    };
    let new = "2021-02-02 10:00:00";
    let found = verdict(
        &run("2020-01-01 10:00:00", TestStatus::Passed),
        &run(new, TestStatus::Failed),
        &run(new, TestStatus::Passed),
    );
    assert_eq!(found.fail_to_pass, [format!("t[{new}]")]);
}

#[test]
fn a_time_before_its_date_is_unstable_too() {
    let run = |time: &str| {
        let mut log = ParsedLogBuilder::new("hand");
        for id in [&format!("t[{time} 2026-11-21]"), "x"] {
            log.record("", id, id, TestStatus::Passed);
        }
        log.finish(RunOutcome::Completed)
    };
    let found = verdict(&run("20:34:33"), &run("20:34:57"), &run("20:35:41"));
    assert_eq!((found.fail_to_pass.len(), found.unstable.len()), (0, 3));
}

/// Why the module `a` fails in Before, which it does with these lines and a gold patch that has
/// these lines for one file.
fn before_class(
    path: &str,
    hunk: &str,
    lines: &[&str],
) -> (Classification, BuildFailureClass, Option<String>) {
    let gold = Patch::new(format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,9 +1,9 @@\n{hunk}"
    ));
    let tests = Patch::new("diff --git a/t.x b/t.x\n--- a/t.x\n+++ b/t.x\n@@ -1 +1 @@\n+x\n");
    let lost: Vec<(&str, &str)> = lines.iter().map(|line| ("a", *line)).collect();
    let (base, after) = (done("a.x+ b.z+"), done("a.x+ a.new+ b.z+"));
    let before = log("b.z+", RunOutcome::Completed, &lost);
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        test_patch: Some(&tests),
        ..ClassifyInput::new(&base, &before, &after)
    });
    let failure = found.module_failures[0].clone();
    (found, failure.class, failure.symbol)
}

#[test]
fn the_missing_name_is_the_one_that_the_error_is_about() {
    let cases = [
        // The module is changed by the patch, and is not what is missing.
        (
            "pkg/index.py",
            "+# index of name\n+LIMIT = 1\n",
            "AttributeError: module 'pkg.index' has no attribute 'LIMIT'",
            Some("LIMIT"),
        ),
        // A name that the patch only talks of is not brought by it.
        (
            "m.py",
            "+# about widget\n+x = 1\n",
            "ImportError: cannot import name 'widget' from 'm'",
            None,
        ),
        (
            "NEWS.md",
            "+widget is new\n",
            "ImportError: cannot import name 'widget' from 'm'",
            None,
        ),
        // What a line that does not parse quotes is no name.
        (
            "m.rs",
            "+fn found() {}\n",
            "error: expected one of `)` or `found`, found `;`",
            None,
        ),
        // The new definition of a name that other classes have too.
        (
            "M.java",
            " int size() { return b.get(); }\n+class Shelf { int get() {} }\n",
            "  symbol:   class Shelf",
            Some("Shelf"),
        ),
        (
            "m.js",
            "-f = (a) => a\n+f = (a, b) => a\n",
            "x.ts(1,1): error TS2554: Expected 1 arguments, but got 2.",
            None,
        ),
        (
            "m.kt",
            "+fun carry() = 1\n",
            "e: A.kt:3:5 Unresolved reference 'carry'.",
            Some("carry"),
        ),
        (
            "M.cs",
            "+  public int Carry;\n",
            "A.cs(3,5): error CS1061: 'Sums' does not contain a definition for 'Carry'",
            Some("Carry"),
        ),
        (
            "M.cs",
            "+  public int Carry;\n",
            "A.cs(3,5): error CS1061: Type `Sums' does not contain a definition for `Carry' and no extension",
            Some("Carry"),
        ),
        (
            "M.php",
            "+class Rates {}\n",
            "Error: Class \"App\\Rates\" not found",
            Some("Rates"),
        ),
        (
            "m.zig",
            "+pub fn carry() void {}\n",
            "error: container 'sums' has no member called 'carry'",
            Some("carry"),
        ),
        (
            "package.json",
            "+    \"@scope/kit\": \"1\"\n",
            "Cannot find module '@scope/kit/sub' from 'a.js'",
            Some("@scope/kit"),
        ),
        (
            "pyproject.toml",
            "+  \"my-kit>=1\",\n",
            "ModuleNotFoundError: No module named 'my_kit.sub'",
            Some("my_kit"),
        ),
    ];
    for (path, hunk, line, symbol) in cases {
        let (found, class, named) = before_class(path, hunk, &[line]);
        let expected = symbol.map_or(BuildFailureClass::Unknown, |_| {
            BuildFailureClass::MissingSymbol
        });
        assert_eq!((class, named.as_deref()), (expected, symbol), "{line}");
        // Before cannot load it and After can: a feature, whether or not a name is found.
        assert_eq!(found.kind, Some(Kind::FeatureRequest), "{line}");
        assert_eq!(found.fail_to_pass, ["a.new"], "{line}");
    }
}

#[test]
fn an_environment_that_fails_in_before_alone_is_no_feature() {
    for line in [
        "OSError: [Errno 28] No space left on device",
        "ImportError: libfoo.so.1: cannot open shared object file: No such file or directory",
        "sh: 1: protoc: not found",
        "make: cc: command not found",
        "go: go.mod requires go >= 1.99 (running go 1.23.2; GOTOOLCHAIN=local)",
        "go: download go1.99.0 for linux/amd64: toolchain not available",
        "error: package `x v1` cannot be built because it requires rustc 1.99 or newer",
        "[ERROR] Fatal error compiling: error: release version 99 not supported",
        "npm ERR! getaddrinfo EAI_AGAIN registry.example.org",
        "ModuleNotFoundError: No module named 'numpy'",
    ] {
        let (found, class, _) = before_class("m.py", "+x = 1\n", &[line]);
        assert_eq!(class, BuildFailureClass::Environment, "{line}");
        assert_eq!(
            (found.outcome, found.kind),
            (OracleOutcome::NoEvidence, None),
            "{line}"
        );
        assert!(found.fail_to_pass.is_empty(), "{line}");
        assert_eq!(found.before_failure_extent, BeforeFailureExtent::Partial);
        assert_eq!(found.evidence[0].text, line);
        assert!(found.reason.contains(line), "{}", found.reason);
        assert!(found.reason.ends_with("nor fail; run it again"));
        // What a manifest of the gold patch brings, no second run of Before would have.
        let (found, ..) = before_class("a/Cargo.toml", "+edition = \"2024\"\n", &[line]);
        let lacking = "the gold patch changes `a/Cargo.toml`, which Before may lack";
        assert!(found.reason.contains(lacking), "{}", found.reason);
    }
}

#[test]
fn what_after_alone_needs_of_the_environment_is_the_environments() {
    let run = |line| log("", RunOutcome::BuildFailed, &[("m", line)]);
    for (line, expected) in [
        (
            "[ERROR] error: release version 99 not supported",
            OracleOutcome::EnvironmentInvalid,
        ),
        ("a.c:3:1: error: odd", OracleOutcome::RejectAfterBroken),
    ] {
        let (before, after) = (run(line), run(line));
        let found = verdict(&done("a.x+"), &before, &after);
        assert_eq!(found.outcome, expected, "{}", found.reason);
        assert!(found.evidence.iter().any(|proof| proof.text == line));
    }
}

#[test]
fn a_symbol_that_the_gold_patch_brings_outweighs_noise_of_the_environment() {
    let lines = [
        "warning: could not write cache: Permission denied",
        "a_test.go:3:5: undefined: Carry",
    ];
    let (found, class, symbol) = before_class("m.go", "+func Carry() {}\n", &lines);
    assert_eq!(class, BuildFailureClass::MissingSymbol);
    assert_eq!(symbol.as_deref(), Some("Carry"));
    assert_eq!(found.module_failures[0].proof[0].text, lines[1]);
    assert_eq!(found.module_failures[0].proof[1].source, "gold patch");
    assert_eq!(found.outcome, OracleOutcome::Instance);
}

#[test]
fn what_after_lacks_as_well_is_not_what_the_gold_patch_brings() {
    let gold = Patch::new(
        "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -1 +1,2 @@\n+def other():\n+    return carry\n",
    );
    let lost = [(
        "t",
        "ImportError: cannot import name 'carry' from 'm' (/testbed/m.py)",
    )];
    let run = |tests| log(tests, RunOutcome::Completed, &lost);
    let (base, before, after) = (done("a.x+"), run("a.x-"), run("a.x+"));
    let found = classify(&ClassifyInput {
        gold_patch: Some(&gold),
        ..ClassifyInput::new(&base, &before, &after)
    });
    for failure in &found.module_failures {
        assert_eq!(failure.class, BuildFailureClass::BrokenTest, "{failure:?}");
    }
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.fail_to_pass, ["a.x"]);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.contains("`t` does not build or load, the test file itself is broken")),
        "{:?}",
        found.warnings
    );
}

#[test]
fn a_broken_environment_beside_a_bug_fix_leaves_the_bug_fix() {
    let line = ("c", "OSError: [Errno 28] No space left on device");
    let before = log("a.x-", RunOutcome::Completed, &[line]);
    let found = verdict(&done("a.x+ c.y+"), &before, &done("a.x+ c.y+ c.new+"));
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(
        found.fail_to_pass,
        ["a.x"],
        "c.new could have passed in Before"
    );
    assert_eq!(found.pass_to_pass, ["c.y"]);
    assert!(
        found
            .warnings
            .iter()
            .any(|w| w.contains("the environment is broken"))
    );
}

#[test]
fn an_environment_in_which_most_tests_fail_in_every_state_accepts_nothing() {
    // A gem that is older than what the sources need: one of three tests of the change happens to pass.
    let broken = "o.a- o.b- o.c- o.d- o.e-";
    let before = done(&format!("{broken} a.x- a.y- o.f+"));
    let found = verdict(
        &done(&format!("{broken} o.f+")),
        &before,
        &done(&format!("{broken} a.x+ a.y- o.f+")),
    );
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert_eq!((found.kind, &found.fail_to_pass), (None, &Vec::new()));
    assert!(
        found
            .reason
            .starts_with("5 tests fail in After as they do in Base and 2 pass"),
        "{}",
        found.reason
    );
    // The changed test itself runs: what else the environment lacks is nothing of this pull request.
    let modified = ["x".to_owned()];
    let (base, after) = (
        done(&format!("{broken} a.x+")),
        done(&format!("{broken} a.x+")),
    );
    let before = done(&format!("{broken} a.x-"));
    let mut input = ClassifyInput::new(&base, &before, &after);
    input.modified_tests = &modified;
    let found = classify(&input);
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["a.x"]);
    // As many that pass as fail in both: said, and accepted.
    let found = verdict(
        &done("o.a- o.b- o.f+"),
        &done("o.a- o.b- a.x- o.f+"),
        &done("o.a- o.b- a.x+ o.f+"),
    );
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.fail_to_pass, ["a.x"]);
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
