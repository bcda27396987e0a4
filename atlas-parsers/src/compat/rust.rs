//! `cargo test`.

use super::text::{strip, without_escapes, words};
use super::{CompatFound, CompatStatuses, FAILED, PASSED};

fn status(outcome: &str) -> Option<&'static str> {
    match outcome {
        "ok" => Some(PASSED),
        "FAILED" => Some(FAILED),
        _ => None,
    }
}

/// A line of exactly the four words `test name ... ok`.
pub(super) fn cargo(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in log.split('\n').map(strip) {
        if !line.starts_with("test") {
            continue;
        }
        let mut words = words(line);
        if let (Some("test"), Some(name), Some("..."), Some(outcome), None) = (
            words.next(),
            words.next(),
            words.next(),
            words.next(),
            words.next(),
        ) && let Some(status) = status(outcome)
        {
            found.push(name, status);
        }
    }
    found
}

pattern!(RESULT = r"test\s+(\S+)\s+\.\.\.\s+(ok|FAILED)");
pattern!(STARTED = r"test\s+(\S+)\s+\.\.\.");

/// SWE-Bench++ also takes a result from a later line, wherever that begins or ends with one.
pub(super) fn cargo_pp(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let mut pending: Option<String> = None;
    for line in log.split('\n') {
        let line = without_escapes(line);
        let line = strip(&line);
        if line.contains("test") && line.contains("...") {
            if let Some(captures) = RESULT.captures(line) {
                if let Some(status) = status(&captures[2]) {
                    found.insert(captures[1].to_owned(), status.to_owned());
                }
                pending = None;
                continue;
            }
            if pending.is_none()
                && let Some(captures) = STARTED.captures(line)
            {
                pending = Some(captures[1].to_owned());
                continue;
            }
        }
        let outcome = ["ok", "FAILED"]
            .into_iter()
            .find(|word| line.starts_with(word))
            .or_else(|| {
                ["ok", "FAILED"]
                    .into_iter()
                    .find(|word| line.ends_with(word))
            });
        if let Some(status) = outcome.and_then(status)
            && let Some(name) = pending.take()
        {
            found.insert(name, status.to_owned());
        }
    }
    found
}
