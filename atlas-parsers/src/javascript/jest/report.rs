//! The document that `jest --json` writes.

use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    num_failed_tests: u64,
    num_passed_tests: u64,
    num_pending_tests: u64,
    #[serde(default)]
    num_todo_tests: u64,
    num_total_tests: u64,
    test_results: Vec<File>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    assertion_results: Vec<Test>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: String,
}

impl Report {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_slice(line).ok()
    }

    pub(super) fn into_log(self, mut log: ParsedLogBuilder) -> ParsedLog {
        // What the text around the document said of tests is the same run once more.
        let text = std::mem::replace(&mut log, ParsedLogBuilder::new("jest"));
        for warning in text.finish(RunOutcome::NothingRan).warnings {
            log.warn(warning.line, warning.text);
        }
        let mut lost = false;
        for file in &self.test_results {
            if file.assertion_results.is_empty() && file.status == "failed" {
                lost = true;
                let lines = file.message.lines().map(str::trim_end);
                let lines = lines.filter(|line| !line.is_empty()).take(12);
                let proof = lines.map(|line| Evidence::of("log", line)).collect();
                log.lose(&file.name, LostReason::LoadFailed, proof);
            }
            for test in &file.assertion_results {
                let status = match test.status.as_str() {
                    "passed" => TestStatus::Passed,
                    "failed" => TestStatus::Failed,
                    "pending" | "skipped" | "todo" | "disabled" => TestStatus::Skipped,
                    _ => continue,
                };
                let mut name = test.ancestor_titles.join(" > ");
                if !name.is_empty() {
                    name.push_str(" > ");
                }
                name.push_str(&test.title);
                let qualified = format!("{} > {name}", file.name);
                log.record(&file.name, &qualified, &name, status);
            }
        }
        log.add_totals(Totals {
            total: Some(self.num_total_tests),
            passed: Some(self.num_passed_tests),
            failed: Some(self.num_failed_tests),
            skipped: Some(self.num_pending_tests + self.num_todo_tests),
            ..Totals::default()
        });
        let outcome = match (log.recorded(), lost) {
            (0, true) => RunOutcome::BuildFailed,
            (0, false) => RunOutcome::NothingRan,
            _ => RunOutcome::Completed,
        };
        log.finish(outcome)
    }
}
