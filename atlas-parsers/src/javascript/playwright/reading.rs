//! What a log of Playwright says, once it has been read to its end.

use super::State;
use super::line::{Count, Title};
use super::report::Report;
use atlas_core::{
    Evidence, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use std::collections::BTreeMap;

impl State {
    fn count(&self, count: Count) -> Option<u64> {
        self.closing.counts.get(&(count as u8)).copied()
    }

    /// The runner's counts, if it came to its end.
    fn totals(&self) -> Option<Totals> {
        if self.closing.counts.is_empty() {
            return None;
        }
        let count = |count| self.count(count);
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        };
        Some(Totals {
            total: self.declared,
            passed: sum(count(Count::Passed), count(Count::Flaky)),
            failed: sum(count(Count::Failed), count(Count::Interrupted)),
            skipped: sum(count(Count::Skipped), count(Count::DidNotRun)),
            ..Totals::default()
        })
    }

    pub(super) fn into_log(mut self, mut log: ParsedLogBuilder) -> ParsedLog {
        self.settle();
        let totals = self.totals();
        if let Some(report) = self.report.take() {
            let agrees =
                totals.is_none_or(|totals| totals.failed.unwrap_or(0) == report.unexpected);
            if self.tests.is_empty() || report.complete && agrees {
                return of_report(&report, log);
            }
        }
        let complete = totals.is_some();
        let mut statuses: BTreeMap<String, (String, TestStatus, u32)> = BTreeMap::new();
        for (id, seen) in std::mem::take(&mut self.tests) {
            let status = if seen.failed {
                // A cross that no list names was expected.
                if complete {
                    TestStatus::Xfail
                } else {
                    TestStatus::Failed
                }
            } else if seen.passed {
                TestStatus::Passed
            } else {
                TestStatus::Skipped
            };
            statuses.insert(id, (seen.file, status, seen.times.max(1)));
        }
        let all_passed = complete
            && self.count(Count::Skipped).is_none()
            && self.count(Count::DidNotRun).is_none();
        if statuses.is_empty() && all_passed {
            for (id, file) in std::mem::take(&mut self.begun) {
                statuses.insert(id, (file, TestStatus::Passed, 1));
            }
        }
        let mut say = |title: &Title, status: TestStatus, times: u32| {
            let entry = statuses
                .entry(title.id.clone())
                .or_insert_with(|| (title.file.clone(), status, times));
            entry.1 = status;
        };
        for (title, times) in &self.closing.flaky {
            say(title, TestStatus::Passed, *times);
        }
        for (title, times) in self.closing.interrupted.iter().chain(&self.closing.failed) {
            say(title, TestStatus::Failed, *times);
        }
        if !complete {
            for title in &self.headings {
                say(title, TestStatus::Failed, 1);
            }
        }
        let mut named = BTreeMap::new();
        for (id, (file, status, times)) in &statuses {
            for _ in 0..*times {
                log.record(file, id, id, *status);
            }
            *named.entry(*status).or_insert(0) += u64::from(*times);
        }
        let named = |status| named.get(&status).copied().unwrap_or(0);
        if let Some(totals) = totals {
            let failed = named(TestStatus::Failed) == totals.failed.unwrap_or(0);
            let passed = named(TestStatus::Passed) + named(TestStatus::Xfail);
            let flaky = self.count(Count::Flaky).unwrap_or(0);
            let listed = passed > flaky || named(TestStatus::Skipped) > 0;
            let agrees = failed && (!listed || passed == totals.passed.unwrap_or(0));
            log.set_consistent(agrees && !self.doubtful);
            log.add_totals(totals);
        }
        if self.several {
            log.warn(None, "several runs in one log");
        }
        if self.count(Count::Errors).is_some() {
            log.warn(None, "errors that belong to no test");
        }
        let outcome = match (complete, self.declared) {
            (true, _) if self.count(Count::Interrupted).is_some() => RunOutcome::Truncated,
            (true, _) => RunOutcome::Completed,
            (false, Some(0) | None) if log.recorded() == 0 => {
                if self.errors.is_empty() {
                    RunOutcome::NothingRan
                } else {
                    RunOutcome::BuildFailed
                }
            }
            _ => RunOutcome::Truncated,
        };
        if outcome == RunOutcome::BuildFailed {
            log.lose("", LostReason::LoadFailed, self.errors);
        }
        log.finish(outcome)
    }
}

fn of_report(report: &Report, mut log: ParsedLogBuilder) -> ParsedLog {
    for test in &report.tests {
        log.record(&test.file, &test.id, &test.id, test.status);
    }
    let expected = |status: &TestStatus| matches!(status, TestStatus::Passed | TestStatus::Xfail);
    let count = |wanted: &dyn Fn(&TestStatus) -> bool| {
        report
            .tests
            .iter()
            .filter(|test| wanted(&test.status))
            .count() as u64
    };
    log.set_consistent(
        report.complete
            && count(&expected) == report.expected.saturating_add(report.flaky)
            && count(&|status| *status == TestStatus::Failed) == report.unexpected
            && count(&|status| *status == TestStatus::Skipped) == report.skipped,
    );
    log.add_totals(Totals {
        passed: Some(report.expected.saturating_add(report.flaky)),
        failed: Some(report.unexpected),
        skipped: Some(report.skipped),
        ..Totals::default()
    });
    for error in &report.errors {
        let line = error.lines().next().unwrap_or_default();
        log.warn(None, format!("an error that belongs to no test: {line}"));
    }
    let outcome = match (
        report.complete,
        report.tests.is_empty(),
        report.errors.is_empty(),
    ) {
        (false, ..) => RunOutcome::Truncated,
        (true, true, false) => RunOutcome::BuildFailed,
        (true, true, true) => RunOutcome::NothingRan,
        _ => RunOutcome::Completed,
    };
    if outcome == RunOutcome::BuildFailed {
        let lines = report
            .errors
            .iter()
            .flat_map(|error| error.lines())
            .take(12);
        let proof = lines.map(|line| Evidence::of("log", line)).collect();
        log.lose("", LostReason::LoadFailed, proof);
    }
    log.finish(outcome)
}
