//! Whether what a new parser reads can be true.

use super::{SynthOptions, SynthRequest};
use crate::certify::{counts_of, looks_like_counts};
use crate::rules::RuleReading;
use atlas_core::{ParsedLog, RunOutcome, TestStatus};
use std::collections::BTreeSet;

/// What is wrong with the readings of the given logs, in words for the model; worst first.
pub(super) fn problems(
    asked: &SynthRequest<'_>,
    read: &[ParsedLog],
    options: &SynthOptions,
) -> Vec<String> {
    let mut found = Vec::new();
    let mut ids = BTreeSet::new();
    for (log, read) in asked.logs.iter().zip(read) {
        let name = &log.name;
        ids.extend(read.results.iter().map(|result| result.qualified));
        if read.results.is_empty() {
            if read.outcome != RunOutcome::BuildFailed {
                found.push(format!("`{name}`: no test was read"));
            }
            continue;
        }
        if read.consistent == Some(false) && read.outcome == RunOutcome::Completed {
            let totals = serde_json::to_string(&read.totals).unwrap_or_default();
            found.push(format!(
                "`{name}`: the totals that your rules read are {totals}, and the results are {}",
                counted(read)
            ));
        }
        let text = String::from_utf8_lossy(log.bytes);
        let counts = text
            .lines()
            .enumerate()
            .filter(|(_, line)| looks_like_counts(line))
            .last();
        if let Some((at, line)) = counts
            && read.totals.is_none()
            && let Some(said) = counts_of(line)
            && let Some(why) = contradicted(said.failed, said.total, said.passed, read)
        {
            found.push(format!(
                "`{name}`, line {}: `{}` {why}; read were {}",
                at + 1,
                line.trim(),
                counted(read)
            ));
        }
        if let Some(code) = log.exit_code
            && code != 0
            && read.outcome == RunOutcome::Completed
            && !read.results.iter().any(|result| result.status.is_failing())
        {
            found.push(format!(
                "`{name}`: the command ended with {code}, and no test was read as failed"
            ));
        }
        for result in read.results.iter().filter(|r| has_timing(r.name)).take(1) {
            found.push(format!(
                "`{name}`: the id `{}` holds a duration, which differs from run to run",
                result.name
            ));
        }
    }
    if let Some(expected) = asked.tests_in_sources
        && !ids.is_empty()
    {
        let count = ids.len() as u64;
        if count * options.fewest < expected || count > expected.saturating_mul(options.most) {
            found.push(format!(
                "{count} tests were read, and the sources have about {expected}"
            ));
        }
    }
    found
}

/// What the rules made of the logs beyond that: contradictions, unknown words, lines not read.
pub(super) fn remarks(
    asked: &SynthRequest<'_>,
    readings: &[RuleReading],
) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    for (log, reading) in asked.logs.iter().zip(readings) {
        let name = &log.name;
        if !reading.contradictions.is_empty() {
            problems.push(format!(
                "`{name}`: {} results contradict an earlier one of the same id; the first: {}",
                reading.contradictions.len(),
                reading.contradictions[0]
            ));
        }
        if !reading.unknown_words.is_empty() {
            let words: Vec<String> = reading
                .unknown_words
                .iter()
                .take(5)
                .map(|(word, seen)| format!("`{word}` ({seen} times)"))
                .collect();
            problems.push(format!(
                "`{name}`: words in the place of a status that `statuses` does not have: {}",
                words.join(", ")
            ));
        }
        let unread: Vec<String> = reading
            .unread
            .iter()
            .filter(|(_, line)| line.chars().any(char::is_alphanumeric))
            .take(12)
            .map(|(at, line)| format!("{at}: {line}"))
            .collect();
        if !unread.is_empty() {
            notes.push(format!(
                "for your information, `{name}` has {} lines that no rule took; among them:\n    {}",
                reading.unread_lines,
                unread.join("\n    ")
            ));
        }
    }
    (problems, notes)
}

fn contradicted(
    failed: Option<u64>,
    total: Option<u64>,
    passed: Option<u64>,
    read: &ParsedLog,
) -> Option<&'static str> {
    let failing = count(read, TestStatus::is_failing);
    if failed.is_some_and(|failed| failed > failing) {
        return Some("counts more failures");
    }
    // A line may count one of several files: more is possible, fewer is not.
    let least = |said: Option<u64>, have: u64| said.is_some_and(|said| said > have);
    if least(total, read.results.reports()) {
        return Some("counts more tests");
    }
    least(passed, count(read, TestStatus::is_passing)).then_some("counts more passed tests")
}

fn count(read: &ParsedLog, wanted: fn(TestStatus) -> bool) -> u64 {
    read.results
        .iter()
        .filter(|result| wanted(result.status))
        .map(|result| u64::from(result.seen))
        .sum()
}

fn counted(read: &ParsedLog) -> String {
    let parts: Vec<String> = TestStatus::ALL
        .into_iter()
        .filter_map(|status| {
            let seen: u64 = read
                .results
                .iter()
                .filter(|result| result.status == status)
                .map(|result| u64::from(result.seen))
                .sum();
            (seen > 0).then(|| format!("{seen} {status}"))
        })
        .collect();
    parts.join(", ")
}

/// `(12 ms)` or `[0.3s]` at an id's end.
fn has_timing(name: &str) -> bool {
    let Some(inner) = name.strip_suffix([')', ']']) else {
        return false;
    };
    let Some(at) = inner.rfind(['(', '[']) else {
        return false;
    };
    let inner = inner[at + 1..].trim();
    let digits = inner.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ' || c == 'µ');
    let unit = inner[digits.len()..].trim();
    !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
        && matches!(
            unit,
            "s" | "ms" | "us" | "µs" | "ns" | "sec" | "secs" | "seconds" | "msec"
        )
}
