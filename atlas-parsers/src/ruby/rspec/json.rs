//! `--format json` on stdout.

use crate::ruby::loading;
use crate::ruby::report;
use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Report {
    examples: Vec<Example>,
    summary: Summary,
    #[serde(default)]
    messages: Vec<String>,
}

#[derive(Deserialize)]
struct Example {
    full_description: String,
    status: String,
    #[serde(default)]
    file_path: String,
}

#[derive(Deserialize)]
struct Summary {
    #[serde(rename = "example_count")]
    examples: u64,
    #[serde(rename = "failure_count")]
    failures: u64,
    #[serde(rename = "pending_count", default)]
    pending: u64,
    #[serde(rename = "errors_outside_of_examples_count", default)]
    errors: u64,
}

/// Where a report may begin: `{"version":"3.12.0","examples":[`, with blanks or without, or with
/// its parts in the older order.
pub(super) fn begins(text: &[u8]) -> Option<usize> {
    let keys = [
        &b"\"version\""[..],
        b"\"messages\"",
        b"\"examples\"",
        b"\"seed\"",
    ];
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'{', &text[from..]).map(|at| from + at) {
        let inner = text[at + 1..].trim_ascii_start();
        if let Some(key) = keys.iter().find(|key| inner.starts_with(key))
            && inner[key.len()..].trim_ascii_start().starts_with(b":")
        {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

pub(super) fn parse(text: &[u8]) -> Option<ParsedLog> {
    let mut reports: Vec<Report> = report::documents(text, begins);
    reports.retain(|report| report.examples.len() as u64 == report.summary.examples);
    if reports.is_empty() {
        return None;
    }
    let mut log = ParsedLogBuilder::default();
    let (mut errors, mut all) = (0_u64, 0_u64);
    for report in &reports {
        for example in &report.examples {
            let status = match example.status.as_str() {
                "passed" => TestStatus::Passed,
                "failed" => TestStatus::Failed,
                // A pending example may have failed as expected, which the report does not tell.
                "pending" => TestStatus::Skipped,
                _ => continue,
            };
            let file = example.file_path.as_str();
            let name = example.full_description.as_str();
            log.record_in(file, "::", name, status);
        }
        let summary = &report.summary;
        all = all.saturating_add(summary.examples);
        errors = errors.saturating_add(summary.errors);
        log.add_totals(Totals {
            total: Some(summary.examples),
            failed: Some(summary.failures),
            skipped: Some(summary.pending),
            ..Totals::default()
        });
        for message in &report.messages {
            lose(message, &mut log);
        }
    }
    if errors > 0 {
        log.warn(None, format!("{errors} errors outside of examples"));
    }
    let outcome = match (all, errors) {
        (0, 0) => RunOutcome::NothingRan,
        (0, _) => RunOutcome::BuildFailed,
        _ => RunOutcome::Completed,
    };
    Some(log.finish(outcome))
}

/// A file that could not be loaded.
fn lose(message: &str, log: &mut ParsedLogBuilder) {
    let said = message.trim_start();
    if let Some(file) = loading::file(said.lines().next().unwrap_or_default()) {
        let lines = said
            .lines()
            .filter(|line| loading::is_telling(line.as_bytes()))
            .take(loading::MAX_LINES);
        let proof = lines.map(|line| Evidence::of("log", line.trim())).collect();
        log.lose(file, LostReason::LoadFailed, proof);
    }
}
