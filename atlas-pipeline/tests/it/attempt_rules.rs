//! How often rules are right about why an attempt failed, over real logs whose cause is known.
//!
//! `tests/attempts/<cause>` holds runs of pytest, unittest, `go test` and `node:test`: a full disk, a host that
//! cannot be resolved, too many open files; a package that is not installed; and tests that print or check such
//! words while they pass or fail for another reason (`neither`).

use atlas_pipeline::judge::attempts::{
    AttemptClass, FailedAttempt, attempt_by_rule, rule_confidence,
};
use atlas_pipeline::parse_bytes;
use atlas_pipeline::parsers::{Hints, message_lines};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn logs() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attempts");
    let mut found = Vec::new();
    for cause in std::fs::read_dir(root).unwrap() {
        let cause = cause.unwrap().path();
        let name = cause.file_name().unwrap().to_str().unwrap().to_owned();
        for log in std::fs::read_dir(&cause).unwrap() {
            found.push((name.clone(), log.unwrap().path()));
        }
    }
    found.sort();
    found
}

/// Findings by class, right ones and all, and those that are missing.
#[derive(Default)]
struct Tally {
    by_class: BTreeMap<AttemptClass, [u32; 2]>,
    wrong: Vec<String>,
    missed: Vec<String>,
}

fn measure(only_messages: bool) -> Tally {
    let mut tally = Tally::default();
    for (cause, path) in logs() {
        let log = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let (stem, _) = name.rsplit_once('.').unwrap();
        let runner = stem.rsplit('.').next().unwrap();
        let parser = runner.trim_end_matches("-s").trim_end_matches("-rA");
        let messages = only_messages.then(|| {
            let (parsed, _) = parse_bytes(log.as_bytes(), parser, &Hints::default()).unwrap();
            message_lines(&log, &parsed)
        });
        let attempt = FailedAttempt {
            log: Some(log),
            messages,
            ..FailedAttempt::default()
        };
        let found = attempt_by_rule(&attempt);
        if let Some((class, proof)) = &found {
            let [right, all] = tally.by_class.entry(*class).or_default();
            *all += 1;
            let is_right = class.as_str() == cause;
            *right += u32::from(is_right);
            if !is_right {
                tally
                    .wrong
                    .push(format!("{cause}/{name}: {class:?} by {proof:?}"));
            }
        } else if cause != "neither" {
            tally.missed.push(format!("{cause}/{name}"));
        }
    }
    tally
}

#[test]
fn what_tests_print_is_no_cause_and_confidence_is_measured() {
    let [messages, lines] = [true, false].map(measure);
    assert_eq!(messages.wrong, Vec::<String>::new());
    assert_eq!(messages.missed, Vec::<String>::new());
    assert!(!lines.wrong.is_empty());
    for (tally, given) in [(messages, Some(Vec::new())), (lines, None)] {
        for (class, [right, all]) in tally.by_class {
            let attempt = FailedAttempt {
                messages: given.clone(),
                ..FailedAttempt::default()
            };
            let proof = atlas_core::Evidence::at("log", 1, "x");
            let told = rule_confidence(&attempt, class, &proof).unwrap();
            let measured = f64::from(right + 1) / f64::from(all + 2);
            assert!(
                (told - measured).abs() < 1e-9,
                "{class:?}: {right} of {all}"
            );
        }
    }
}
