//! Failures written into real repositories, run, and seen.

use atlas_core::{LogParserExt, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use atlas_parsers::{Certificate, Decision, Injected, Level, Parsers, judge_injection};
use atlas_syntax::{Language, inject_failures};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A small suite in its own runner.
struct Suite {
    file: &'static str,
    source: &'static str,
    more: &'static [(&'static str, &'static str)],
    command: &'static [&'static str],
    parser: &'static str,
}

const SUITES: [Suite; 3] = [
    Suite {
        file: "test_sums.py",
        source: "import unittest\n\nclass Sums(unittest.TestCase):\n    def test_small(self):\n        self.assertEqual(1 + 1, 2)\n\n    def test_large(self):\n        total = 10 ** 9 + 1\n        self.assertEqual(total, 1000000001)\n\n    @unittest.skip('later')\n    def test_later(self):\n        self.fail()\n",
        more: &[],
        command: &["python3", "-m", "unittest", "-v"],
        parser: "unittest",
    },
    Suite {
        file: "sums_test.go",
        source: "package sums\n\nimport \"testing\"\n\nfunc TestSmall(t *testing.T) {\n\tgot := 1 + 1\n\tif got != 2 {\n\t\tt.Errorf(\"no\")\n\t}\n}\n\nfunc TestTable(t *testing.T) {\n\tt.Run(\"one\", func(t *testing.T) {})\n}\n\nfunc TestLater(t *testing.T) {\n\tt.Skip(\"later\")\n}\n",
        more: &[("go.mod", "module example.com/sums\n\ngo 1.18\n")],
        command: &["go", "test", "-v", "./..."],
        parser: "gotest",
    },
    Suite {
        file: "sums.test.js",
        source: "const { test, it } = require('node:test');\nconst assert = require('node:assert');\n\ntest('small sums', () => {\n  assert.strictEqual(1 + 1, 2);\n});\n\nit('large sums', () => assert.ok(true));\n",
        more: &[],
        command: &["node", "--test", "--test-reporter=tap"],
        parser: "nodetest",
    },
];

fn run(folder: &Path, suite: &Suite) -> Option<ParsedLog> {
    let done = Command::new(suite.command[0])
        .args(&suite.command[1..])
        .current_dir(folder)
        .env("GOFLAGS", "-mod=mod")
        .env("GOCACHE", folder.join("cache"))
        .output()
        .ok()?;
    let log = [done.stdout, done.stderr].concat();
    Some(Parsers::builtin().get(suite.parser).unwrap().parse(&log))
}

/// What a parser that drops failures makes of a log.
fn without_failures(read: &ParsedLog) -> ParsedLog {
    let mut made = ParsedLogBuilder::new("drops");
    for result in read
        .results
        .iter()
        .filter(|result| !result.status.is_failing())
    {
        made.record(result.module, result.qualified, result.name, result.status);
    }
    made.finish(RunOutcome::Completed)
}

/// What a parser that always sees a pass makes of it.
fn all_passed(read: &ParsedLog) -> ParsedLog {
    let mut made = ParsedLogBuilder::new("passes");
    for result in &read.results {
        made.record(
            result.module,
            result.qualified,
            result.name,
            TestStatus::Passed,
        );
    }
    made.finish(RunOutcome::Completed)
}

#[test]
fn exactly_the_injected_tests_fail() {
    for suite in &SUITES {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
        for (name, text) in suite.more {
            write(name, text.as_bytes());
        }
        write(suite.file, suite.source.as_bytes());
        let Some(before) = run(folder.path(), suite).filter(|read| !read.results.is_empty()) else {
            println!("skipped: `{}` does not run here", suite.command[0]);
            continue;
        };
        let language = Language::of_path(suite.file).unwrap();
        let made = inject_failures(language, suite.source.as_bytes(), None);
        write(suite.file, &made.source);
        let after = run(folder.path(), suite).unwrap();
        let injected: Vec<Injected> = made
            .injected
            .iter()
            .map(|test| Injected {
                file: suite.file.to_owned(),
                name: test.name.clone(),
            })
            .collect();
        let none = BTreeSet::new();
        let judgement = judge_injection(&before, &after, &injected, &none);
        assert!(
            judgement.is_exact(),
            "{}: {judgement:#?}\n{after:#?}",
            suite.parser
        );
        assert!(judgement.seen.len() >= 2, "{judgement:#?}");
        let certificate = Certificate::weigh(suite.parser, "", 2, &judgement.checks("after"));
        assert_eq!(
            (certificate.decision, certificate.level),
            (Decision::Certified, Level::Injection)
        );

        let dropped = judge_injection(&before, &without_failures(&after), &injected, &none);
        assert!(
            !dropped.is_exact() && !dropped.vanished.is_empty(),
            "{dropped:#?}"
        );
        let blind = judge_injection(&before, &all_passed(&after), &injected, &none);
        assert!(!blind.is_exact() && !blind.missed.is_empty(), "{blind:#?}");
        let refused = Certificate::weigh("blind", "", 2, &blind.checks("after"));
        assert_eq!(refused.decision, Decision::Refused);

        // One more test that fails without an injection is not exact either.
        let fewer = judge_injection(&before, &after, &injected[1..], &none);
        assert!(!fewer.extra.is_empty(), "{fewer:#?}");
    }
}

/// A test of the same name in another file may inherit the body or have its own: it says nothing.
#[test]
fn namesakes_in_other_files_are_left_out() {
    let log = |outcomes: [TestStatus; 3]| {
        let mut log = ParsedLogBuilder::new("pytest");
        let ids = [
            "t/test_a.py::test_x[1]",
            "t/test_b.py::test_x",
            "t/test_b.py::test_y",
        ];
        for (id, status) in ids.iter().zip(outcomes) {
            log.record("", id, id, status);
        }
        log.finish(RunOutcome::Completed)
    };
    let (passed, failed) = (TestStatus::Passed, TestStatus::Failed);
    let injected = [Injected {
        file: "t/test_a.py".to_owned(),
        name: "test_x".to_owned(),
    }];
    let before = log([passed; 3]);
    let none = BTreeSet::new();
    for other in [passed, failed] {
        let judgement = judge_injection(&before, &log([failed, other, passed]), &injected, &none);
        assert!(judgement.is_exact(), "{judgement:#?}");
        assert_eq!(judgement.seen, ["t/test_a.py::test_x[1]"]);
    }
    let missed = judge_injection(&before, &log([passed, failed, passed]), &injected, &none);
    assert_eq!(missed.missed.len(), 1);
    let extra = judge_injection(&before, &log([failed, passed, failed]), &injected, &none);
    assert_eq!(extra.extra[0].id, "t/test_b.py::test_y");
}
