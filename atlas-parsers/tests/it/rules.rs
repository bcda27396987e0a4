//! Rule sets: what they read, and what is refused.

use crate::support::{crate_root, entries, name};
use atlas_core::testing::log_parser_contract;
use atlas_core::{LogParserExt, ParsedLog, RunOutcome, TestStatus};
use atlas_parsers::{RuleParser, RuleSet};
use proptest::prelude::*;
use serde_json::{Value, json};

fn compile(rules: &Value) -> RuleParser {
    let mut rules = rules.clone();
    rules["schema_version"] = 1.into();
    rules["id"] = "mine".into();
    RuleSet::from_json(&rules.to_string())
        .unwrap()
        .compile()
        .unwrap()
}

fn parse(rules: &Value, log: &str) -> ParsedLog {
    compile(rules).parse(log.as_bytes())
}

/// `id STATUS` of every test, by qualified id.
fn told(log: &ParsedLog) -> Vec<String> {
    let all = log.qualified();
    all.iter()
        .map(|(id, status)| format!("{id} {status}"))
        .collect()
}

fn refused(change: impl FnOnce(&mut Value), wanted: &str) {
    let mut rules = json!({
        "schema_version": 1, "id": "mine", "statuses": {"ok": "PASSED"},
        "lines": [{"name": "result", "pattern": "(?P<id>\\S+): (?P<status>ok|bad)"}],
    });
    change(&mut rules);
    let made = RuleSet::from_json(&rules.to_string()).and_then(|rules| rules.compile());
    let why = made.map(|_| ()).unwrap_err().to_string();
    assert!(why.contains(wanted), "{why}");
}

#[test]
fn what_cannot_be_used_is_refused_by_rule_and_field() {
    refused(|r| r["lines"] = json!([]), "lines: is empty");
    refused(|r| r["schema_version"] = 2.into(), "schema_version: is 2");
    refused(|r| r["id"] = "My Parser".into(), "id: `My Parser`");
    refused(|r| r["colour"] = 1.into(), "colour");
    refused(
        |r| r["lines"][0]["pattern"] = "(".into(),
        "lines[0] `result`.pattern",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "(?=x)(?P<id>.) (?P<status>.)".into(),
        "look-around",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "(?P<id>.*)(?P<status>.*)".into(),
        "matches an empty line",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "(?P<id>.+)(?P<status>.*)".into(),
        "matches every line",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "(?P<name>a) (?P<status>b)".into(),
        "group `name`",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "result".into(),
        "neither a group `id`",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "x{1000}{1000}(?P<id>a)(?P<status>b)".into(),
        "lines[0]",
    );
    refused(
        |r| r["lines"][0]["pattern"] = "y".repeat(601).into(),
        "601 bytes",
    );
    refused(
        |r| r["lines"][0]["status"] = "PASSED".into(),
        "one of them must go",
    );
    refused(|r| r["statuses"] = json!({"ok": "FINE"}), "FINE");
    refused(
        |r| r["statuses"] = json!({" ok": "PASSED"}),
        "blanks around",
    );
    refused(|r| r["statuses"] = json!({}), "statuses: is empty");
    refused(
        |r| {
            r["statuses"] = json!({});
            r["lines"] = json!([{"name": "any", "pattern": "(?P<id>\\w.*)", "status": "PASSED"}]);
        },
        "takes ordinary text for a test that passed",
    );
    refused(
        |r| r["totals"] = json!([{"name": "t", "pattern": "done"}]),
        "totals[0] `t`.pattern",
    );
    refused(|r| r["strip"] = json!(["."]), "strip[0]: cuts out any name");
    let many: Vec<Value> = (0..90)
        .map(|n| json!({"name": "n", "begin": format!("x{n}")}))
        .collect();
    refused(|r| r["ignore"] = many.into(), "one pattern too many");
    let why = RuleSet::from_json(&"x".repeat(70_000))
        .unwrap_err()
        .to_string();
    assert!(why.contains("at most 65536"), "{why}");
}

#[test]
fn suites_sections_totals_and_ignored_blocks_are_read() {
    let rules = json!({
        "statuses": {"ok": "PASSED", "FAIL": "FAILED", "skip": "SKIPPED"},
        "lines": [{"name": "result", "pattern": " *(?P<id>[a-z ]+): (?P<status>\\w+)( \\[(?P<time>\\d+)\\])?"}],
        "suites": [{"name": "suite", "begin": "# (?P<suite>.+)", "end": "# end"}],
        "sections": [{"name": "list", "begin": "Failures:", "end": "--", "entry": "- ((?P<suite>\\w+) > )?(?P<id>.+)"}],
        "ignore": [{"name": "output", "begin": "<<<", "end": ">>>"}, {"name": "note", "begin": "note: .*"}],
        "totals": [{"name": "all", "pattern": "(?P<total>\\d+) in all, (?P<failed>\\d+) failed"}],
        "markers": {"crashed": ["Segmentation fault.*"], "build_failed": ["cannot build (?P<suite>.+)"]},
    });
    let log = "# one\n  a b: ok [3]\n  c: FAIL\nnote: x: ok\n<<<\nfake: ok\n>>>\n# end\n# two\n  a b: skip\n\
               Failures:\n- one > c\n- two > only here\n--\n4 in all, 2 failed\n";
    let read = parse(&rules, log);
    assert_eq!(
        told(&read),
        [
            "one > a b PASSED",
            "one > c FAILED",
            "two > a b SKIPPED",
            "two > only here FAILED"
        ]
    );
    assert_eq!(read.consistent, Some(true));
    assert_eq!(read.outcome, RunOutcome::Completed);
    assert_eq!(
        parse(&rules, &log[..log.len() - 24]).outcome,
        RunOutcome::Truncated
    );
    assert_eq!(
        parse(&rules, "x: ok\nSegmentation fault (core)\n").outcome,
        RunOutcome::Crashed
    );
    let unbuilt = parse(&rules, "cannot build app\n");
    assert_eq!(unbuilt.outcome, RunOutcome::BuildFailed);
    assert_eq!(unbuilt.modules_not_loaded[0].module, "app");
    let missing = parse(&rules, "# one\nc: FAIL\n3 in all, 1 failed\n");
    assert_eq!(missing.consistent, Some(false));
}

#[test]
fn a_word_without_a_status_passes_nothing() {
    let rules = json!({
        "statuses": {"ok": "PASSED"},
        "lines": [{"name": "result", "pattern": "(?P<id>\\w+) (?P<status>[a-z]+)"}],
    });
    let read = parse(&rules, "a ok\nb broken\na broken\n");
    assert_eq!(told(&read), ["a ERROR"]);
    assert!(
        read.warnings[0].text.contains("`broken`"),
        "{:?}",
        read.warnings
    );
    let seen = compile(&rules).examine(b"a ok\nb broken\n== x\n");
    assert_eq!(seen.unknown_words["broken"], 1);
    assert_eq!(seen.unread[0], (3, "== x".to_owned()));
}

#[test]
fn outcomes_may_stand_on_lines_of_their_own() {
    let rules = json!({
        "lines": [
            {"name": "begin", "pattern": "(?P<id>test\\w+)", "otherwise": "PASSED"},
            {"name": "bad", "pattern": "ASSERT:.*", "status": "FAILED"},
        ],
        "strip": ["_0x[0-9a-f]+"],
        "markers": {"end": ["done"]},
    });
    let read = parse(
        &rules,
        "testA_0x7ff\ntestB\nASSERT: no\nASSERT: no again\ntestC\ndone\n",
    );
    assert_eq!(
        told(&read),
        ["testA PASSED", "testB FAILED", "testC PASSED"]
    );
    assert_eq!(read.duplicates().count, 0);
    let cut = parse(&rules, "testA\ntestB\n");
    assert_eq!(told(&cut), ["testA PASSED"]);
    assert_eq!(cut.in_flight, ["testB"]);
    assert_eq!(cut.outcome, RunOutcome::Truncated);
}

#[test]
fn nothing_counts_outside_of_a_run_that_has_a_start() {
    let rules = json!({
        "lines": [{"name": "ok", "pattern": "good (?P<id>\\w+)", "status": "PASSED"}],
        "markers": {"start": ["begin"], "end": ["finish"]},
    });
    let read = parse(&rules, "good early\nbegin\ngood one\nfinish\ngood late\n");
    assert_eq!(told(&read), ["one PASSED"]);
    assert_eq!(read.outcome, RunOutcome::Completed);
}

/// The rule sets that the recorded turns end with, with the logs they are for.
fn made() -> Vec<(RuleParser, Vec<u8>)> {
    let mut all = Vec::new();
    for folder in entries(&crate_root().join("tests/synth")) {
        let Ok(turns) = std::fs::read_to_string(folder.join("turns.jsonl")) else {
            continue;
        };
        let last: Value = serde_json::from_str(turns.lines().last().unwrap()).unwrap();
        let answer: Value = serde_json::from_str(last["text"].as_str().unwrap()).unwrap();
        let Some(rules) = answer.get("rules") else {
            continue;
        };
        let mut rules = rules.clone();
        rules["id"] = name(&folder).into();
        let parser = RuleSet::from_json(&rules.to_string())
            .unwrap()
            .compile()
            .unwrap();
        for log in ["pass.log", "fail.log"] {
            all.push((parser.clone(), std::fs::read(folder.join(log)).unwrap()));
        }
    }
    assert_eq!(all.len(), 8);
    all
}

#[test]
fn rule_sets_keep_the_contract_of_parsers() {
    for (parser, log) in made() {
        log_parser_contract(&parser, &log[..log.len().min(3000)]);
        let again = RuleSet::from_json(&parser.rules().to_json()).unwrap();
        assert_eq!(again.hash(), parser.rules().hash());
    }
}

/// A measurement, printed: `ATLAS_SPEED=1 cargo test --release -p atlas-parsers rules::speed -- --nocapture`.
#[test]
fn speed() {
    let size = if std::env::var_os("ATLAS_SPEED").is_some() {
        64 << 20
    } else {
        1 << 20
    };
    for (parser, log) in made() {
        let long = log.repeat(size / log.len());
        let clock = std::time::Instant::now();
        let read = parser.parse(&long);
        let seconds = clock.elapsed().as_secs_f64();
        let megabytes = f64::from(u32::try_from(long.len()).unwrap()) / 1e6;
        println!(
            "{:8} {:7.1} MB/s, {} tests",
            read.parser,
            megabytes / seconds,
            read.results.len()
        );
        assert!(!read.results.is_empty());
        // Not quadratic, however slow the machine.
        assert!(seconds < 30.0, "{seconds}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_bytes_are_read(log in prop::collection::vec(any::<u8>(), 0..2000), cut in 0_usize..2000) {
        for (parser, own) in made() {
            let mut log = log.clone();
            let cut = cut.min(own.len());
            log.splice(0..0, own[..cut].iter().copied());
            let read = parser.parse(&log);
            for result in &read.results {
                prop_assert!(!result.name.trim().is_empty());
            }
        }
    }

    #[test]
    fn any_text_is_a_rule_set_or_refused(text in "\\PC{0,200}", pattern in "\\PC{0,60}") {
        let _ = RuleSet::from_json(&text);
        let rules = json!({
            "schema_version": 1, "id": "p", "statuses": {"ok": "PASSED"},
            "lines": [{"name": "r", "pattern": pattern}],
        });
        if let Ok(parser) = RuleSet::from_json(&rules.to_string()).and_then(|rules| rules.compile()) {
            parser.parse(b"a ok\n");
        }
    }
}

#[test]
fn statuses_have_the_words_of_the_field() {
    for status in TestStatus::ALL {
        let rules = json!({
            "statuses": {"word": status.as_str()},
            "lines": [{"name": "r", "pattern": "(?P<id>a) (?P<status>word)"}],
        });
        assert_eq!(parse(&rules, "a word\n").tests()["a"], status);
    }
}
