//! Tests that exist only through the gold patch.

use super::*;

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
