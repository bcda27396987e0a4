//! What was read of one run: results, and the counts that the runner ends it with.
//!
//! A parser knows which lines are results and what its runner counts. Whether the two agree is
//! asked here, and [`Runs`](crate::runs::Runs) makes the log's end of it.

use atlas_core::{ParsedLogBuilder, TestStatus, Totals};

/// One run, or one form of its output where it is not known yet in which form the runner spoke.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    results: Vec<Found>,
    /// The counts that end the run, as far as they were read.
    pub(crate) end: Option<Totals>,
    running: Vec<String>,
    /// Whether the runner printed the beginning of the run. It may have printed no result yet.
    pub(crate) begun: bool,
}

/// One result; the module may be empty.
#[derive(Clone, Debug)]
struct Found {
    module: String,
    name: String,
    status: TestStatus,
}

/// Puts a result into a log: module, name and status. The ids are the parser's to make.
pub(crate) type Put = fn(&mut ParsedLogBuilder, &str, &str, TestStatus);

impl Tally {
    pub(crate) fn add(&mut self, module: &str, name: &str, status: TestStatus) {
        self.results.push(Found {
            module: module.to_owned(),
            name: name.to_owned(),
            status,
        });
    }

    pub(crate) fn add_totals(&mut self, totals: Totals) {
        self.end.get_or_insert_default().add(totals);
    }

    /// This test began; nothing tells how it ended.
    pub(crate) fn still_running(&mut self, name: String) {
        self.running.push(name);
    }

    /// Worsens the last result, if it is of this test. Returns whether it is.
    pub(crate) fn worsen(&mut self, name: &[u8], status: TestStatus) -> bool {
        match self.results.last_mut() {
            Some(last) if last.name.as_bytes() == name => {
                last.status = last.status.worst(status);
                true
            }
            _ => false,
        }
    }

    /// Takes the results of another one of the same form.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.results.append(&mut other.results);
        self.running.append(&mut other.running);
        if let Some(totals) = other.end {
            self.add_totals(totals);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.running.is_empty()
    }

    pub(crate) fn has_total(&self) -> bool {
        let total = self.end.and_then(|end| end.total);
        total.is_some_and(|total| total > 0)
    }

    /// The names of the tests that did not pass.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &str> {
        let bad = |found: &&Found| matches!(found.status, TestStatus::Failed | TestStatus::Error);
        self.results
            .iter()
            .filter(bad)
            .map(|found| found.name.as_str())
    }

    /// Whether a test that passed is named.
    pub(crate) fn names_passed(&self) -> bool {
        self.count(&[TestStatus::Passed]) > 0
    }

    pub(crate) fn count(&self, statuses: &[TestStatus]) -> u64 {
        let counted = self.results.iter();
        counted
            .filter(|found| statuses.contains(&found.status))
            .count() as u64
    }

    /// Whether there are as many results as these counts say, of each kind that they name. Errors
    /// that are not counted apart are failures.
    pub(crate) fn agrees(&self, counts: &Totals) -> bool {
        use TestStatus::{Error, Failed, Passed, Skipped, Xfail, Xpass};
        let same = |declared: Option<u64>, statuses: &[TestStatus]| {
            declared.is_none_or(|declared| declared == self.count(statuses))
        };
        let failed: &[_] = match counts.errors {
            Some(_) => &[Failed],
            None => &[Failed, Error],
        };
        same(counts.failed, failed)
            && same(counts.passed, &[Passed])
            && same(counts.errors, &[Error])
            && same(counts.skipped, &[Skipped])
            && same(counts.xfailed, &[Xfail])
            && same(counts.xpassed, &[Xpass])
            && same(counts.total, &TestStatus::ALL)
    }

    /// Records everything as all there is in a log.
    pub(crate) fn record(self, log: &mut ParsedLogBuilder) {
        if let Some(end) = self.end {
            log.set_consistent(self.agrees(&end));
        }
        self.put_into(log, in_module);
    }

    /// Records the results, the counts and the tests that still ran.
    pub(crate) fn put_into(self, log: &mut ParsedLogBuilder, put: Put) {
        if let Some(end) = self.end {
            log.add_totals(end);
        }
        for found in &self.results {
            put(log, &found.module, &found.name, found.status);
        }
        for name in self.running {
            log.still_running(name);
        }
    }
}

/// Ids of module and name with `::` between.
pub(crate) fn in_module(log: &mut ParsedLogBuilder, module: &str, name: &str, status: TestStatus) {
    log.record_in(module, "::", name, status);
}
