//! The shipped parsers under certification, over the larger corpus where it lies beside the
//! workspace. A measurement: `ATLAS_CERTIFY=1 cargo test -p atlas-parsers certify_corpus -- --nocapture`;
//! `ATLAS_ONLY=jest` looks at one framework.

use crate::support::{crate_root, entries, name};
use atlas_core::{LogParserExt, TestStatus};
use atlas_parsers::{CertifyCase, Parsers, Truth, certify};
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Expected {
    tests: BTreeMap<String, TestStatus>,
    accept: BTreeMap<String, Vec<TestStatus>>,
    optional: BTreeMap<String, serde_json::Value>,
    aliases: BTreeMap<String, String>,
}

#[test]
fn shipped_parsers_are_measured() {
    if std::env::var_os("ATLAS_CERTIFY").is_none() {
        println!("skipped: a measurement, made with ATLAS_CERTIFY=1");
        return;
    }
    let only = std::env::var("ATLAS_ONLY").ok();
    let parsers = Parsers::builtin();
    let mut measured = 0;
    for framework in entries(&crate_root().join("../../shared/corpus")) {
        let id = name(&framework);
        let Ok(parser) = parsers.get(&id) else {
            continue;
        };
        if only.as_ref().is_some_and(|only| *only != id) {
            continue;
        }
        let mut logs = Vec::new();
        for case in entries(&framework) {
            let Ok(expected) = std::fs::read(case.join("expected.json")) else {
                continue;
            };
            let log = std::fs::read(case.join("log.txt")).unwrap();
            if log.len() > 2 << 20 {
                continue;
            }
            let expected: Expected = serde_json::from_slice(&expected).unwrap();
            let read = parser.parse(&log);
            let mut tests = expected.tests;
            for (alias, real) in expected.aliases {
                if read.tests().contains_key(alias.as_str())
                    && let Some(status) = tests.remove(&real)
                {
                    tests.insert(alias, status);
                }
            }
            let mut accept = expected.accept;
            for id in expected.optional.into_keys() {
                accept.entry(id).or_default();
            }
            let truth = Truth {
                source: "run's own record".to_owned(),
                tests,
                accept,
            };
            logs.push((name(&case), log, truth));
        }
        let cases: Vec<CertifyCase<'_>> = logs
            .iter()
            .map(|(case, log, truth)| CertifyCase {
                name: format!("{id}/{case}"),
                log,
                truth: Some(truth.clone()),
                exit_code: None,
            })
            .collect();
        let certificate = certify(&parser, env!("CARGO_PKG_VERSION"), &cases);
        measured += 1;
        println!(
            "{id:14} {:?} {:?} score {:.4} logs {}",
            certificate.decision, certificate.level, certificate.score, certificate.logs
        );
        assert!((0.0..=1.0).contains(&certificate.score), "{id}");
        for (kind, summary) in &certificate.checks {
            if summary.passed < summary.done {
                println!(
                    "    {:16} {}/{}",
                    kind.as_str(),
                    summary.passed,
                    summary.done
                );
                for failure in &summary.failures {
                    let text: String = failure.text.chars().take(300).collect();
                    println!("        {}:{:?} {text}", failure.source, failure.line);
                }
            }
        }
    }
    println!("{measured} parsers");
}
