//! Results of one form of output, kept apart until it is known in which form the runner spoke.

use atlas_core::{ParsedLogBuilder, TestStatus, Totals};

/// What one form of output says.
#[derive(Clone, Default)]
pub(super) struct Tally {
    results: Vec<Found>,
    totals: Totals,
    running: Vec<String>,
}

/// One result; the module may be empty.
#[derive(Clone)]
struct Found {
    module: String,
    name: String,
    status: TestStatus,
}

impl Tally {
    pub(super) fn add(&mut self, module: &str, name: &str, status: TestStatus) {
        self.results.push(Found {
            module: module.to_owned(),
            name: name.to_owned(),
            status,
        });
    }

    pub(super) fn add_totals(&mut self, totals: Totals) {
        self.totals.add(totals);
    }

    pub(super) fn still_running(&mut self, name: String) {
        self.running.push(name);
    }

    /// Worsens the last result, if it is of this test. Returns whether it is.
    pub(super) fn worsen(&mut self, name: &[u8], status: TestStatus) -> bool {
        match self.results.last_mut() {
            Some(last) if last.name.as_bytes() == name => {
                last.status = last.status.worst(status);
                true
            }
            _ => false,
        }
    }

    /// Takes the results of another one of the same form.
    pub(super) fn append(&mut self, mut other: Self) {
        self.results.append(&mut other.results);
        self.running.append(&mut other.running);
        self.totals.add(other.totals);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.running.is_empty()
    }

    pub(super) fn has_total(&self) -> bool {
        self.totals.total.is_some_and(|total| total > 0)
    }

    /// The names of the tests that did not pass.
    pub(super) fn failing(&self) -> impl Iterator<Item = &str> {
        let bad = |found: &&Found| matches!(found.status, TestStatus::Failed | TestStatus::Error);
        self.results
            .iter()
            .filter(bad)
            .map(|found| found.name.as_str())
    }

    /// Whether a test that passed is named.
    pub(super) fn names_passed(&self) -> bool {
        self.count(&[TestStatus::Passed]) > 0
    }

    fn count(&self, statuses: &[TestStatus]) -> u64 {
        let counted = self.results.iter();
        counted
            .filter(|found| statuses.contains(&found.status))
            .count() as u64
    }

    /// Whether there is a result for each that the runner counted.
    pub(super) fn agrees(&self) -> bool {
        let same = |declared: Option<u64>, statuses: &[TestStatus]| {
            declared.is_none_or(|declared| declared == self.count(statuses))
        };
        let failed = match self.totals.errors {
            Some(_) => same(self.totals.failed, &[TestStatus::Failed]),
            None => same(self.totals.failed, &[TestStatus::Failed, TestStatus::Error]),
        };
        failed
            && same(self.totals.passed, &[TestStatus::Passed])
            && same(self.totals.skipped, &[TestStatus::Skipped])
            && same(self.totals.errors, &[TestStatus::Error])
            && same(self.totals.total, &TestStatus::ALL)
    }

    /// Records everything.
    pub(super) fn record(self, log: &mut ParsedLogBuilder) {
        if self.totals != Totals::default() {
            log.set_consistent(self.agrees());
            log.add_totals(self.totals);
        }
        for found in &self.results {
            log.record_in(&found.module, "::", &found.name, found.status);
        }
        for name in self.running {
            log.still_running(name);
        }
    }
}
