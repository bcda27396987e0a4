//! The shipped parsers under certification, over the larger corpus where it lies beside the
//! workspace. A measurement: `ATLAS_CERTIFY=1 cargo test -p atlas-parsers certify_corpus -- --nocapture`;
//! `ATLAS_ONLY=jest` looks at one framework.

use crate::shared::{self, in_one_text, unreadable};
use crate::support::{crate_root, entries, name, parser_folders};
use atlas_core::{LogParserExt, ParsedLog, TestStatus};
use atlas_parsers::{CertifyCase, Decision, Parsers, Truth, certify};

/// What is known of a log; an id in dispute may have any status, or be absent.
fn truth(framework: &str, case: &str, log: &[u8], known: &[u8], read: &ParsedLog) -> Truth {
    let mut known: shared::Truth = serde_json::from_slice(known).unwrap();
    in_one_text(framework, &String::from_utf8_lossy(log), read, &mut known);
    let mut tests = known.tests;
    for (alias, real) in known.aliases {
        if read.tests().contains_key(alias.as_str())
            && let Some(status) = tests.remove(&real)
        {
            tests.insert(alias, status);
        }
    }
    let mut accept = known.accept;
    for id in known.optional.into_keys() {
        accept.entry(id).or_default();
    }
    let parts = unreadable(framework, case);
    let disputed = |id: &str| {
        let quoted = format!("{id:?}");
        parts.iter().any(|part| quoted.contains(part))
    };
    let read = read.tests();
    let ids: Vec<String> = read.keys().map(|id| (*id).to_owned()).collect();
    for id in ids.into_iter().filter(|id| disputed(id)) {
        accept.entry(id).or_insert_with(|| TestStatus::ALL.to_vec());
    }
    tests.retain(|id, _| !disputed(id));
    Truth {
        source: "run's own record".to_owned(),
        tests,
        accept,
    }
}

/// The logs beside a parser's source, the small ones.
fn own_logs(id: &str) -> Vec<(String, Vec<u8>)> {
    let folder = parser_folders().into_iter().find(|folder| folder.id == id);
    let files = folder.map(|folder| folder.corpus()).unwrap_or_default();
    files
        .iter()
        .map(|log| (name(log), std::fs::read(log).unwrap()))
        .filter(|(_, log)| log.len() <= 64 << 10)
        .collect()
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
        if only
            .as_ref()
            .is_some_and(|only| !only.split(',').any(|one| one == id))
        {
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
            let read = parser.parse(&log);
            let truth = truth(&id, &name(&case), &log, &expected, &read);
            logs.push((name(&case), log, truth));
        }
        let mut cases: Vec<CertifyCase<'_>> = logs
            .iter()
            .map(|(case, log, truth)| CertifyCase {
                name: format!("{id}/{case}"),
                log,
                truth: Some(truth.clone()),
                exit_code: None,
            })
            .collect();
        let mut certificate = certify(&parser, env!("CARGO_PKG_VERSION"), &cases);
        if certificate.decision == Decision::Insufficient {
            // The project's own logs may show more.
            let own = own_logs(&id);
            cases.extend(own.iter().map(|(case, log)| CertifyCase {
                name: format!("{id}/own/{case}"),
                log,
                ..CertifyCase::default()
            }));
            certificate = certify(&parser, env!("CARGO_PKG_VERSION"), &cases);
        }
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
