//! Subtly wrong parsers are refused, and right ones are not.

use crate::support::crate_root;
use atlas_core::{LogParser, LogParserExt, LogReader, ParsedLog, ParsedLogBuilder, TestStatus};
use atlas_parsers::{
    Certificate, CertifyCase, CheckKind, Decision, Level, Parsers, RuleParser, RuleSet, Truth,
    certify, stable_log,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn log(path: &str) -> Vec<u8> {
    std::fs::read(crate_root().join("tests/synth").join(path)).unwrap()
}

/// The right rules for Jim Tcl's runner, changed.
fn jim(change: impl FnOnce(&mut Value)) -> RuleParser {
    let mut rules = json!({
        "schema_version": 1, "id": "jim",
        "statuses": {"OK": "PASSED", "ERR": "FAILED", "SKIP": "SKIPPED"},
        "lines": [{"name": "result", "pattern": "(?P<id>[\\w.+-]+) (?P<status>OK|ERR|SKIP) +(?P<message>.+)"}],
        "suites": [{"name": "file", "begin": "==== (?P<suite>\\S+) ===="}],
        "totals": [{"name": "counts", "per": "suite", "pattern":
            "\\S+: Total +(?P<total>\\d+) +Passed +(?P<passed>\\d+) +Skipped +(?P<skipped>\\d+) +Failed +(?P<failed>\\d+)"}],
    });
    change(&mut rules);
    RuleSet::from_json(&rules.to_string())
        .unwrap()
        .compile()
        .unwrap()
}

fn judged(parser: &dyn LogParser, truth: Option<Truth>) -> Certificate {
    let (pass, fail) = (log("jimtcl/pass.log"), log("jimtcl/fail.log"));
    let cases = [
        CertifyCase {
            name: "pass.log".to_owned(),
            log: &pass,
            truth: None,
            exit_code: Some(0),
        },
        CertifyCase {
            name: "fail.log".to_owned(),
            log: &fail,
            truth,
            exit_code: Some(1),
        },
    ];
    certify(parser, "hash", &cases)
}

fn refused(parser: &RuleParser, by: &[CheckKind]) {
    let certificate = judged(parser, None);
    assert_eq!(certificate.decision, Decision::Refused, "{certificate:#?}");
    assert_eq!(certificate.level, Level::None);
    for kind in by {
        let summary = &certificate.checks[kind];
        assert!(summary.passed < summary.done, "{kind:?}: {certificate:#?}");
        assert!(!summary.failures[0].text.is_empty());
    }
}

#[test]
fn a_right_parser_is_certified() {
    let parser = jim(|_| ());
    let certificate = judged(&parser, None);
    assert_eq!(
        certificate.decision,
        Decision::Certified,
        "{certificate:#?}"
    );
    assert_eq!((certificate.level, certificate.logs), (Level::Mutation, 2));
    assert!((certificate.score - 1.0).abs() < 1e-9, "{certificate:#?}");
    let text = serde_json::to_string(&certificate).unwrap();
    assert_eq!(
        serde_json::from_str::<Certificate>(&text).unwrap(),
        certificate
    );

    let read = parser.parse(&log("jimtcl/fail.log"));
    let tests = read
        .tests()
        .into_iter()
        .map(|(id, status)| (id.to_owned(), status));
    let truth = |tests| Truth {
        source: "second parser".to_owned(),
        tests,
        ..Truth::default()
    };
    let mut tests: BTreeMap<String, TestStatus> = tests.collect();
    let agreed = judged(&parser, Some(truth(tests.clone())));
    assert_eq!(agreed.level, Level::Agreement, "{agreed:#?}");
    tests.insert("list-4.1".to_owned(), TestStatus::Skipped);
    let differing = judged(&parser, Some(truth(tests)));
    assert_eq!(differing.decision, Decision::Refused);
    assert!(
        differing.reasons[0].contains("list-4.1"),
        "{:?}",
        differing.reasons
    );
}

#[test]
fn a_parser_that_drops_failures_is_refused() {
    let drops = |rules: &mut Value| {
        rules["statuses"] = json!({"OK": "PASSED", "SKIP": "SKIPPED"});
        rules["lines"][0]["pattern"] = "(?P<id>[\\w.+-]+) (?P<status>OK|SKIP) +.+".into();
    };
    refused(
        &jim(drops),
        &[CheckKind::Totals, CheckKind::Lookalike, CheckKind::ExitCode],
    );
    // Without totals of its own it is the log's counts that tell.
    let blind = jim(|rules| {
        drops(rules);
        rules["totals"] = json!([]);
    });
    refused(&blind, &[CheckKind::Lookalike, CheckKind::ExitCode]);
}

#[test]
fn a_parser_that_takes_skipped_for_passed_is_refused() {
    let takes = |rules: &mut Value| rules["statuses"]["SKIP"] = "PASSED".into();
    refused(&jim(takes), &[CheckKind::Totals]);
    let blind = jim(|rules| {
        takes(rules);
        rules["totals"] = json!([]);
    });
    refused(&blind, &[CheckKind::Words]);
}

#[test]
fn a_parser_that_counts_prose_is_refused() {
    let counts = |rules: &mut Value| {
        rules["lines"][0]["pattern"] = "(?P<id>.+?) (?P<status>OK|ERR|SKIP)\\b.*".into();
    };
    refused(&jim(counts), &[CheckKind::Prose]);
    let blind = jim(|rules| {
        counts(rules);
        rules["totals"] = json!([]);
    });
    refused(&blind, &[CheckKind::Prose]);
}

/// A parser that believes the last result of a test.
#[derive(Debug)]
struct Later(RuleParser);

impl LogParser for Later {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(LaterReader(self.0.start()))
    }
}

struct LaterReader(Box<dyn LogReader>);

impl LogReader for LaterReader {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.feed(bytes);
    }

    fn finish(self: Box<Self>) -> ParsedLog {
        let read = self.0.finish();
        let mut made = ParsedLogBuilder::new(read.parser.as_str());
        for result in &read.results {
            let later = result.seen > 1;
            let status = if later {
                TestStatus::Passed
            } else {
                result.status
            };
            made.record(result.module, result.qualified, result.name, status);
        }
        made.finish(read.outcome)
    }
}

#[test]
fn a_parser_whose_last_result_wins_is_refused() {
    let fail = log("jimtcl/fail.log");
    let cases = [CertifyCase {
        name: "fail.log".to_owned(),
        log: &fail,
        ..CertifyCase::default()
    }];
    let right = certify(&jim(|_| ()), "", &cases);
    assert_eq!(right.decision, Decision::Certified, "{right:#?}");
    let wrong = certify(&Later(jim(|_| ())), "", &cases);
    let late = &wrong.checks[&CheckKind::LatePass];
    assert!(late.passed < late.done, "{wrong:#?}");
    assert_eq!(wrong.decision, Decision::Refused);
}

#[test]
fn logs_without_failures_do_not_certify() {
    let pass = log("steps/pass.log");
    let parser = Parsers::builtin().get("tap").unwrap();
    let tap = b"1..2\nok 1 - a\nok 2 - b\n";
    for (parser, log, decision) in [
        (&*parser, &pass[..], Decision::Insufficient),
        (&*parser, &tap[..], Decision::Insufficient),
    ] {
        let cases = [CertifyCase {
            name: "log".to_owned(),
            log,
            ..CertifyCase::default()
        }];
        let certificate = certify(parser, "", &cases);
        assert_eq!(certificate.decision, decision, "{certificate:#?}");
        assert!(certificate.reasons[0].contains("no outcome could be turned"));
    }
}

/// What a row keeps has no line of a log, and two runs of the same tests give the same bytes.
#[test]
fn what_a_row_keeps_is_the_same_for_two_runs() {
    let run = |seconds: &str, folder: &str| {
        let log = format!(
            "a-1 OK it works ({seconds}s)\na-2 OK it does too (0.1s)\na-3 OK as well\n\
             a-4 ERR it does not, see /tmp/{folder}/x at 0x7f{folder}00\na-5 SKIP later\n"
        );
        let parser = jim(|_| {});
        let known = parser.parse(log.as_bytes());
        let stable = stable_log(log.as_bytes(), known.results.iter().map(|test| test.name));
        assert_eq!(parser.parse(&stable).tests(), known.tests());
        let case = CertifyCase {
            name: "after.log".to_owned(),
            log: &stable,
            truth: None,
            exit_code: Some(1),
        };
        certify(&parser, "hash", &[case]).for_row()
    };
    let (one, two) = (run("0.31", "1111"), run("12.125", "22222222"));
    assert_eq!(one, two);
    assert_eq!(one.decision, Decision::Certified, "{one:#?}");
    let text = serde_json::to_string(&one).unwrap();
    assert!(
        !text.contains("it works") && !text.contains("failures"),
        "{text}"
    );
    assert!(!one.checks.contains_key(&CheckKind::TruncationSeen));
    assert!(one.checks[&CheckKind::Flip].passed > 0);

    let blind = jim(|rules| rules["statuses"]["ERR"] = "PASSED".into());
    let refused = judged(&blind, None).for_row();
    assert_eq!(refused.decision, Decision::Refused);
    assert!(!refused.refused_by.is_empty());
}

#[test]
fn logs_that_agree_show_both_outcomes_together() {
    let truth = |tests: &[(&str, TestStatus)]| Truth {
        source: "report".to_owned(),
        tests: tests
            .iter()
            .map(|(id, status)| ((*id).to_owned(), *status))
            .collect(),
        ..Truth::default()
    };
    let case = |log: &'static [u8], tests: &[(&str, TestStatus)]| CertifyCase {
        name: "log".to_owned(),
        log,
        truth: Some(truth(tests)),
        exit_code: None,
    };
    let pass = case(b"1..1\nok 1 - a\n", &[("a", TestStatus::Passed)]);
    let fail = case(b"1..1\nnot ok 1 - b\n", &[("b", TestStatus::Failed)]);
    let unread = case(b"1..1\nnot ok 1 - b\n", &[("c", TestStatus::Failed)]);
    let parser = Parsers::builtin().get("tap").unwrap();
    let decision = |cases: &[CertifyCase<'_>]| certify(&*parser, "", cases).decision;
    assert_eq!(
        decision(std::slice::from_ref(&pass)),
        Decision::Insufficient
    );
    assert_eq!(decision(&[pass.clone(), fail]), Decision::Certified);
    assert_eq!(decision(&[pass, unread]), Decision::Refused);
}

#[test]
fn a_message_about_a_line_of_a_source_is_no_result() {
    let text = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n\
        === RUN   TestC\n    a_test.go:36: failed:\n        want 1\n--- FAIL: TestC (0.00s)\nFAIL\n\
        FAIL\tm\t0.1s\nFAIL\n";
    let case = CertifyCase {
        name: "fail.log".to_owned(),
        log: text.as_bytes(),
        truth: None,
        exit_code: Some(1),
    };
    let parsers = Parsers::builtin();
    let certificate = certify(&*parsers.get("gotest").unwrap(), "hash", &[case]);
    let lookalike = &certificate.checks[&CheckKind::Lookalike];
    assert_eq!((lookalike.passed, lookalike.done), (1, 1), "{lookalike:#?}");
}

/// Words of outcomes in what programs print, at the place where the runner has its own.
#[test]
fn what_a_program_prints_is_no_result_where_the_runner_writes_more_around_it() {
    let cargo = "running 4 tests\ntest a::error ... ok\ntest a::list ... ok\ntest plain ... ok\ntest error ... FAILED\n\n\
        failures:\n\n---- error stdout ----\nUnexpected failure.\nerror: 1 target failed:\n\n\nfailures:\n    error\n\n\
        test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
    let pytest = "============================= test session starts ==============================\n\
        collected 4 items\n\ntests/test_a.py ...F                                                      [100%]\n\n\
        =================================== FAILURES ===================================\n\
        ____________________________________ test_d ____________________________________\n\n\
            skip = True\n\
        =========================== short test summary info ============================\n\
        PASSED tests/test_a.py::test_a\nPASSED tests/test_a.py::test_b\nPASSED tests/test_b.py::test_c\n\
        FAILED tests/test_b.py::test_d - assert 1\n\
        ========================= 1 failed, 3 passed in 0.05s ==========================\n";
    for (parser, text) in [("cargo", cargo), ("pytest", pytest)] {
        let case = |log| CertifyCase {
            name: "fail.log".to_owned(),
            log,
            truth: None,
            exit_code: Some(1),
        };
        let parsers = Parsers::builtin();
        let parser = parsers.get(parser).unwrap();
        let certificate = certify(&*parser, "hash", &[case(text.as_bytes())]);
        if let Some(words) = certificate.checks.get(&CheckKind::Words) {
            assert_eq!(words.passed, words.done, "{words:#?}");
        }
        let lookalike = &certificate.checks[&CheckKind::Lookalike];
        assert_eq!((lookalike.passed, lookalike.done), (1, 1), "{lookalike:#?}");
    }
    // A line of the runner's own form that no test was read of is one still; and where the name is all that stands
    // beside the word, in letters of another kind.
    let unread = [
        (
            format!("{cargo}test nobody ... FAILED\n"),
            "test (?P<id>\\S+) \\.\\.\\. (?P<status>ok)",
        ),
        (
            "adds ok\nlists ok\nsorts ok\nnobody FAILED\n".to_owned(),
            "(?P<id>\\S+) (?P<status>ok)",
        ),
    ];
    for (text, pattern) in unread {
        let deaf = RuleSet::from_json(
            &json!({
                "schema_version": 1, "id": "deaf", "statuses": {"ok": "PASSED"},
                "lines": [{"name": "result", "pattern": pattern}],
            })
            .to_string(),
        )
        .unwrap()
        .compile()
        .unwrap();
        let case = CertifyCase {
            name: "fail.log".to_owned(),
            log: text.as_bytes(),
            truth: None,
            exit_code: Some(1),
        };
        let certificate = certify(&deaf, "hash", &[case]);
        let lookalike = &certificate.checks[&CheckKind::Lookalike];
        assert!(lookalike.passed < lookalike.done, "{lookalike:#?}");
    }
}
