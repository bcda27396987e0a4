//! What a state did not run: programs that died, modules that the patches touch.

use atlas_core::{
    BeforeFailureExtent, Evidence, Kind, LostReason, OracleOutcome, ParsedLog, ParsedLogBuilder,
    Patch, RunOutcome, TestStatus,
};
use atlas_oracle::{Classification, ClassifyInput, classify};
use std::collections::BTreeMap;

/// `prog+ prog::a- …`: `+` passed, `-` failed; the module is what stands before the last `::`.
fn tests(text: &str) -> ParsedLogBuilder {
    let mut log = ParsedLogBuilder::new("hand");
    for word in text.split_whitespace() {
        let (id, mark) = word.split_at(word.len() - 1);
        let status = if mark == "+" {
            TestStatus::Passed
        } else {
            TestStatus::Failed
        };
        let module = id.rsplit_once("::").map_or("", |(module, _)| module);
        log.record(module, id, id, status);
    }
    log
}

fn done(text: &str) -> ParsedLog {
    tests(text).finish(RunOutcome::Completed)
}

fn lost(text: &str, module: &str, line: &str) -> ParsedLog {
    let mut log = tests(text);
    let line = Evidence::at("log", 3, line);
    log.lose(module, LostReason::BuildFailed, vec![line]);
    log.finish(RunOutcome::Completed)
}

fn patch(paths: &[&str]) -> Patch {
    let one = |path: &&str| {
        format!(
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,1 @@\n-old\n+new\n"
        )
    };
    Patch::new(paths.iter().map(one).collect::<String>())
}

fn verdict(base: &ParsedLog, before: &ParsedLog, after: &ParsedLog) -> Classification {
    classify(&ClassifyInput::new(base, before, after))
}

#[test]
fn one_program_that_dies_is_one_program() {
    // What a pipe still held when the program died is in no log.
    let found = verdict(
        &done("add+ add::old+ add::other+ parse+ parse::x+"),
        &done("add- parse+ parse::x+"),
        &done("add+ add::old+ add::other+ add::new+ parse+ parse::x+"),
    );
    assert_eq!(found.outcome, OracleOutcome::Instance);
    assert_eq!(found.kind, Some(Kind::BugFix));
    assert_eq!(found.before_failure_extent, BeforeFailureExtent::Crash);
    assert_eq!(found.fail_to_pass, ["add::new"]);
    assert_eq!(
        found.pass_to_pass,
        ["add::old", "add::other", "parse", "parse::x"]
    );
}

#[test]
fn a_program_that_dies_without_new_tests_is_the_task_itself() {
    let found = verdict(
        &done("add+ add::old+"),
        &done("add-"),
        &done("add+ add::old+"),
    );
    assert_eq!(found.fail_to_pass, ["add"]);
    assert_eq!(found.pass_to_pass, ["add::old"]);
}

#[test]
fn old_and_new_of_a_program_that_never_ran_are_told_apart_by_source() {
    let (base, before) = (done("add- x::y+"), done("add- x::y+"));
    let after = done("add+ add::old+ add::changed+ x::y+");
    let modified = ["changed".to_owned()];
    let found = classify(&ClassifyInput {
        modified_tests: &modified,
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.fail_to_pass, ["add::changed"]);
    assert_eq!(found.pass_to_pass, ["x::y"]);
    let found = verdict(&base, &before, &after);
    assert_eq!(
        found.fail_to_pass,
        ["add"],
        "without their source the program alone"
    );
}

#[test]
fn a_program_that_dies_in_after_is_no_ground_to_reject() {
    let found = verdict(
        &done("all+ all::a+ all::b+"),
        &done("all- all::a+"),
        &done("all- all::a+"),
    );
    assert_eq!(found.outcome, OracleOutcome::NoEvidence);
    assert!(
        found.reason.starts_with("`all` passes in Base"),
        "{}",
        found.reason
    );
    // Tests that the pull request removes are missing in After, too.
    let found = verdict(
        &done("all+ all::a+ all::b+"),
        &done("all+ all::a+"),
        &done("all+ all::a+"),
    );
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
}

#[test]
fn what_before_never_ran_is_no_ground_to_reject() {
    let found = verdict(
        &done("a::x+ b::y+"),
        &tests("a::x+").finish(RunOutcome::Crashed),
        &done("a::x+ b::y+"),
    );
    assert_eq!(found.outcome, OracleOutcome::NoEvidence);
    assert!(
        found.reason.contains("not run in Before"),
        "{}",
        found.reason
    );
}

#[test]
fn no_verdict_where_touched_code_was_not_run() {
    let line = "# pkg-config --cflags taglib";
    for (module, path) in [
        (
            "example.com/navi/scanner/metadata [build failed]",
            "scanner/metadata/taglib.go",
        ),
        ("example.com/navi", "main.go"),
        ("tests/test_a.py", "tests/test_a.py"),
        ("tests.sub.test_a", "tests/sub/test_a.py"),
        ("unittest.loader._FailedTest.sub.test_a", "sub/test_a.py"),
        ("packages/a/index.test.ts", "packages/a/index.test.ts"),
        ("/testbed/src/a.spec.js", "src/a.spec.js"),
        ("src/a.spec.js", "packages/one/src/a.spec.js"),
        ("org.x.FooTest", "core/src/test/java/org/x/FooTest.java"),
        ("App\\Tests\\FooTest", "src/App/Tests/FooTest.php"),
        ("CMakeFiles/t.dir/tests/cart.cpp.o", "tests/cart.cpp"),
        ("cart", "tests/cart.c"),
    ] {
        let other = if module.starts_with("example.com") {
            "example.com/navi/other::T"
        } else {
            "other::T"
        };
        let (whole, run) = (done(&format!("{other}+")), format!("{other}+"));
        let run_of_all = lost(&run, module, line);
        let (gold, unrelated) = (patch(&[path]), patch(&["elsewhere/thing.go", "README.md"]));
        let input = |gold| ClassifyInput {
            gold_patch: Some(gold),
            ..ClassifyInput::new(&run_of_all, &run_of_all, &run_of_all)
        };
        let found = classify(&input(&gold));
        assert_eq!(
            found.outcome,
            OracleOutcome::EnvironmentInvalid,
            "{module}: {}",
            found.reason
        );
        assert!(found.reason.contains(line), "{}", found.reason);
        assert!(
            found
                .evidence
                .iter()
                .any(|proof| proof.source == "after.log")
        );
        let found = classify(&input(&unrelated));
        assert_eq!(
            found.outcome,
            OracleOutcome::RejectNoFailToPass,
            "{module}: a module that the patches do not touch"
        );
        // It was run after all.
        let found = classify(&ClassifyInput {
            gold_patch: Some(&gold),
            ..ClassifyInput::new(&whole, &run_of_all, &whole)
        });
        assert_ne!(found.outcome, OracleOutcome::EnvironmentInvalid, "{module}");
    }
}

#[test]
fn a_compiler_s_place_says_what_was_not_built() {
    let after = lost(
        "other::t+",
        "cart (lib test)",
        "  --> crates/cart/src/sum.rs:3:5",
    );
    let (gold, near) = (
        patch(&["crates/cart/src/sum.rs"]),
        patch(&["cart/src/sum.rs"]),
    );
    let of = |gold| {
        classify(&ClassifyInput {
            gold_patch: Some(gold),
            ..ClassifyInput::new(&after, &after, &after)
        })
        .outcome
    };
    assert_eq!(of(&gold), OracleOutcome::EnvironmentInvalid);
    assert_eq!(of(&near), OracleOutcome::RejectNoFailToPass);
}

#[test]
fn tests_that_fail_in_every_state_alike_are_the_environments() {
    let base = done("a- b- c- d- e+");
    let found = verdict(&base, &base, &base);
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert!(found.reason.contains("4 tests fail"), "{}", found.reason);
    // The tests that a merged pull request adds passed somewhere.
    let (base, after) = (done("a+ b+ c- d+"), done("a+ b+ c- d+ new-"));
    let found = verdict(&base, &after, &after);
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert!(
        found
            .reason
            .contains("`new`, which the pull request adds, fails in After"),
        "{}",
        found.reason
    );
    let found = verdict(&base, &base, &base);
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
}

/// A fork whose heap is full dies in every state alike, before it comes to the tests that changed.
#[test]
fn runs_that_die_alike_before_the_changed_tests_are_no_ground_to_reject() {
    let dead = || tests("x::a+").finish(RunOutcome::Crashed);
    let modified = ["late".to_owned()];
    let of = |after: &ParsedLog| {
        let (base, before) = (dead(), dead());
        classify(&ClassifyInput {
            modified_tests: &modified,
            ..ClassifyInput::new(&base, &before, after)
        })
    };
    let found = of(&dead());
    assert_eq!(found.outcome, OracleOutcome::EnvironmentInvalid);
    assert!(
        found.reason.contains("did not come to its end"),
        "{}",
        found.reason
    );
    // Where a changed test is seen to run and says nothing new, there is nothing to find.
    let (base, before, after) = (
        tests("x::late+").finish(RunOutcome::Crashed),
        tests("x::late+").finish(RunOutcome::Crashed),
        tests("x::late+").finish(RunOutcome::Crashed),
    );
    let found = classify(&ClassifyInput {
        modified_tests: &modified,
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.outcome, OracleOutcome::RejectNoFailToPass);
    // A runner that is older than the tests ask for, and a process that runs out of memory.
    let (base, before, after) = (
        tests("x::a+").finish(RunOutcome::Crashed),
        tests("x::a+ x::late-").finish(RunOutcome::Crashed),
        tests("x::a+ x::late-").finish(RunOutcome::Crashed),
    );
    let found = classify(&ClassifyInput {
        modified_tests: &modified,
        ..ClassifyInput::new(&base, &before, &after)
    });
    assert_eq!(found.outcome, OracleOutcome::NoEvidence);
    assert!(
        found
            .reason
            .contains("x::late`, which the test patch changes"),
        "{}",
        found.reason
    );
}

/// Suites are named as calls are, and for lists; titles end in brackets that are no parameters.
#[test]
fn a_changed_test_is_seen_below_titles_with_brackets() {
    let said = |id: &str, title: &str| {
        let mut log = ParsedLogBuilder::new("hand");
        log.record("", id, id, TestStatus::Passed);
        let log = log.finish(RunOutcome::Completed);
        let modified = [title.to_owned()];
        classify(&ClassifyInput {
            modified_tests: &modified,
            ..ClassifyInput::new(&log, &log, &log)
        })
        .outcome
    };
    for (id, title) in [
        (
            "etag(entity) > with \"weak\" option > makes a tag",
            "makes a tag",
        ),
        ("parse [lists] > takes one item", "takes one item"),
        ("parse > adds (a > b)", "adds (a > b)"),
        ("parse > reads [a, [b]]", "reads [a, [b]]"),
        ("parse > [empty] is null", "[empty] is null"),
        ("parse > [no items]", "[no items]"),
        ("smile :( > still runs", "still runs"),
        ("tests/t.py::test_a[x > y-[1]]", "test_a"),
        ("tests/t.py::test_a[x y] (sub 1)", "test_a"),
    ] {
        let seen = said(id, title) == OracleOutcome::RejectNoFailToPass;
        // A bracket that is never closed hides what follows.
        assert_eq!(seen, !id.contains(":("), "{id}");
        let other = format!("{title} not");
        assert_eq!(said(id, &other), OracleOutcome::NoEvidence, "{id}");
    }
}

/// Some logs name the files of tests alone: a file that ran and failed was seen.
#[test]
fn a_changed_test_is_seen_by_the_name_of_its_file() {
    let log = done("other+ test/x.test.js-");
    let (patch, modified) = (patch(&["test/x.test.js"]), ["answers none".to_owned()]);
    let found = classify(&ClassifyInput {
        modified_tests: &modified,
        test_patch: Some(&patch),
        ..ClassifyInput::new(&log, &log, &log)
    });
    assert_eq!(found.outcome, OracleOutcome::NoEvidence);
    let said = "`test/x.test.js`, which the test patch changes, fails in After, too";
    assert!(found.reason.starts_with(said), "{}", found.reason);
}

/// What is said of a changed test that fails in After follows from how it ended in Before and how the run did.
#[test]
fn a_changed_test_that_fails_in_after_is_told_by_before_and_by_the_run() {
    let log = |status: Option<TestStatus>, outcome| {
        let mut log = ParsedLogBuilder::new("hand");
        log.record("", "other", "other", TestStatus::Passed);
        if let Some(status) = status {
            log.record("", "it", "it", status);
        }
        log.finish(outcome)
    };
    let modified = ["it".to_owned()];
    let patch = patch(&["x.test.js"]);
    let base = log(None, RunOutcome::Completed);
    let said = |before, outcome| {
        let before = log(before, RunOutcome::Completed);
        let after = log(Some(TestStatus::Failed), outcome);
        let found = classify(&ClassifyInput {
            modified_tests: &modified,
            test_patch: Some(&patch),
            ..ClassifyInput::new(&base, &before, &after)
        });
        assert_eq!(found.outcome, OracleOutcome::NoEvidence, "{}", found.reason);
        found.reason
    };
    let (passed, failed) = (Some(TestStatus::Passed), Some(TestStatus::Failed));
    let text = said(failed, RunOutcome::Completed);
    assert!(
        text.contains("fails in After, too: what it needs"),
        "{text}"
    );
    let text = said(None, RunOutcome::Completed);
    assert!(text.contains("fails in After: what it needs"), "{text}");
    let text = said(passed, RunOutcome::Completed);
    assert!(
        text.contains("passes in Before and fails in After: it passes by chance"),
        "{text}"
    );
    let text = said(passed, RunOutcome::TimedOut);
    assert!(
        text.contains("fails in After: the run of After ran out of its time"),
        "{text}"
    );
}

#[test]
fn titles_that_take_values_are_known_and_failing_ones_that_nobody_names_are_a_doubt() {
    let log = |id: &str, status| {
        let mut log = ParsedLogBuilder::new("hand");
        log.record("", id, id, status);
        for other in ["a", "b"] {
            log.record("", other, other, TestStatus::Passed);
        }
        log.finish(RunOutcome::Completed)
    };
    let patch = patch(&["x.test.js"]);
    let verdict = |after: &ParsedLog, modified: &[&str]| {
        let modified: Vec<String> = modified.iter().map(|name| (*name).to_owned()).collect();
        let found = classify(&ClassifyInput {
            modified_tests: &modified,
            test_patch: Some(&patch),
            ..ClassifyInput::new(after, after, after)
        });
        (found.outcome, found.reason)
    };
    let passing = log("Client > resolves (RESP2) it's done", TestStatus::Passed);
    let title = "resolves (RESP${resp}) it\\'s done";
    let (outcome, reason) = verdict(&passing, &[title]);
    assert_eq!(outcome, OracleOutcome::RejectNoFailToPass, "{reason}");
    for other in ["resolves (RESP${resp})", "${a}", "(RESP${a}) it\\'s begun"] {
        let (outcome, reason) = verdict(&passing, &[other]);
        assert_eq!(outcome, OracleOutcome::NoEvidence, "{other}: {reason}");
    }
    // Which tests change is not known, and one of three fails.
    let failing = log("Client > x", TestStatus::Failed);
    let (outcome, reason) = verdict(&failing, &[]);
    assert_eq!(outcome, OracleOutcome::NoEvidence);
    assert!(reason.contains("1 of 3 tests fail in After"), "{reason}");
    assert_eq!(verdict(&passing, &[]).0, OracleOutcome::RejectNoFailToPass);
}

#[test]
fn a_changed_test_that_is_skipped_decides_nothing() {
    let log = |status| {
        let mut log = ParsedLogBuilder::new("hand");
        log.record("", "errors on Windows", "errors on Windows", status);
        log.record("", "rest", "rest", TestStatus::Passed);
        log.finish(RunOutcome::Completed)
    };
    let modified = ["errors on Windows".to_owned()];
    for (status, expected) in [
        (TestStatus::Skipped, OracleOutcome::NoEvidence),
        (TestStatus::Passed, OracleOutcome::RejectNoFailToPass),
    ] {
        let log = log(status);
        let found = classify(&ClassifyInput {
            modified_tests: &modified,
            ..ClassifyInput::new(&log, &log, &log)
        });
        assert_eq!(found.outcome, expected, "{}", found.reason);
        let says = found.reason.contains("is skipped in After");
        assert_eq!(says, status == TestStatus::Skipped, "{}", found.reason);
    }
}

#[test]
fn many_skipped_tests_are_told() {
    let log = |skipped: usize| {
        let mut log = tests("fixed+ rest+");
        for number in 0..skipped {
            let name = format!("translated {number}");
            log.record("", &name, &name, TestStatus::Skipped);
        }
        log.finish(RunOutcome::Completed)
    };
    for (skipped, told) in [(4, false), (5, true)] {
        let found = verdict(&done("rest+"), &done("fixed- rest+"), &log(skipped));
        assert_eq!(found.outcome, OracleOutcome::Instance);
        let says =
            |warning: &String| warning.contains("5 of 7 tests are skipped, as `translated 0`");
        assert_eq!(
            found.warnings.iter().any(says),
            told,
            "{:?}",
            found.warnings
        );
    }
}

#[test]
fn a_changed_test_that_runs_elsewhere_only_is_named_with_its_condition() {
    let log = |status: Option<TestStatus>| {
        let mut log = ParsedLogBuilder::new("hand");
        if let Some(status) = status {
            log.record("", "fail", "fail", status);
        }
        log.record("", "pass", "pass", TestStatus::Passed);
        log.finish(RunOutcome::Completed)
    };
    let line = "#[rustversion::attr(beta, test)]";
    let conditions =
        BTreeMap::from([("fail".to_owned(), Evidence::at("tests/compile.rs", 6, line))]);
    let named = ["fail".to_owned()];
    let said = |status, modified_tests| {
        let log = log(status);
        let found = classify(&ClassifyInput {
            modified_tests,
            conditions: &conditions,
            ..ClassifyInput::new(&log, &log, &log)
        });
        (found.outcome, found.reason)
    };
    let place = "it runs under a condition, tests/compile.rs:6: `#[rustversion::attr(beta, test)]`";
    // Its data alone is changed.
    let (outcome, reason) = said(None, &[]);
    assert_eq!(outcome, OracleOutcome::RejectNoFailToPass);
    let wanted = format!("; the changed test `fail` is not run here: {place}");
    assert!(reason.ends_with(&wanted), "{reason}");
    for (status, words) in [
        (None, "is seen to run in After, as `fail`: "),
        (Some(TestStatus::Skipped), "is skipped in After: "),
    ] {
        let (outcome, reason) = said(status, &named);
        assert_eq!(outcome, OracleOutcome::NoEvidence);
        assert!(reason.ends_with(&format!("{words}{place}")), "{reason}");
    }
    let (outcome, reason) = said(Some(TestStatus::Passed), &named);
    assert_eq!(outcome, OracleOutcome::RejectNoFailToPass);
    assert!(!reason.contains("condition"), "{reason}");
}

/// `CTest` names programs; where all that did not compile are objects of the changed test file, these are what it tests.
#[test]
fn programs_of_a_changed_file_that_before_does_not_build_are_the_task() {
    let object = |target: &str| format!("test/CMakeFiles/{target}.t.dir/span.t.cpp.o");
    let before = |ids: &str, modules: &[String]| {
        let mut log = tests(ids);
        for module in modules {
            let line = Evidence::at(
                "log",
                3,
                "/src/test/span.t.cpp:9:1: error: static assertion failed",
            );
            log.lose(module, LostReason::BuildFailed, vec![line]);
        }
        log.finish(RunOutcome::BuildFailed)
    };
    let verdict = |before: &ParsedLog, after: &ParsedLog, path: &str| {
        // Base runs what After does.
        let (tests, gold) = (patch(&[path]), patch(&["include/span.hpp"]));
        classify(&ClassifyInput {
            test_patch: Some(&tests),
            gold_patch: Some(&gold),
            ..ClassifyInput::new(after, before, after)
        })
    };
    let (both, after) = (
        [object("cpp11"), object("cpp14")],
        done("cpp11+ cpp14+ cpp98+"),
    );
    let found = verdict(&before("cpp98+", &both), &after, "test/span.t.cpp");
    assert_eq!(found.outcome, OracleOutcome::Instance, "{}", found.reason);
    assert_eq!(found.fail_to_pass, ["cpp11", "cpp14"]);
    assert_eq!(found.pass_to_pass, ["cpp98"]);
    assert_eq!(found.fail_to_pass_rule, "changed_programs");

    // Something else was left out, too; another file did not compile; the log names what is within.
    let within = done("cpp11+ cpp11::a+ cpp14+ cpp98+");
    for (before, after, path) in [
        (before("cpp98+", &both[..1]), &after, "test/span.t.cpp"),
        (before("cpp98+", &both), &after, "test/other.t.cpp"),
        (before("cpp98+", &both), &within, "test/span.t.cpp"),
    ] {
        let found = verdict(&before, after, path);
        assert_eq!(found.outcome, OracleOutcome::NoEvidence, "{}", found.reason);
    }
}
