//! What became of the tests of a run, from their lines, the lists below them and the totals.

use super::grammar::LISTED;
use atlas_core::{TestStatus, Totals};
use std::collections::{BTreeSet, HashMap};

/// A test that has a line.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// `pkg.mod.Class.test_x`.
    pub(super) path: String,
    /// The words behind it: several where it failed and its tear down did as well.
    pub(super) words: Vec<TestStatus>,
}

/// An entry of the lists below the results.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) status: TestStatus,
    pub(super) path: String,
}

/// How the lines and the lists agree with the totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Judgement {
    /// The lists hold as many tests of each kind.
    pub(super) lists: bool,
    /// The lines have as many words of each kind.
    pub(super) words: bool,
    /// Nothing contradicts the totals.
    pub(super) agrees: bool,
}

fn declared(totals: &Totals, status: TestStatus) -> u64 {
    let number = match status {
        TestStatus::Skipped => totals.skipped,
        TestStatus::Xfail => totals.xfailed,
        TestStatus::Failed => totals.failed,
        TestStatus::Error => totals.errors,
        TestStatus::Xpass => totals.xpassed,
        TestStatus::Passed => totals.passed,
    };
    number.unwrap_or(0)
}

/// How many results the totals tell of: more than tests where one failed twice.
pub(super) fn results(totals: &Totals) -> u64 {
    let others = LISTED.iter().map(|(_, status)| declared(totals, *status));
    others.fold(declared(totals, TestStatus::Passed), u64::saturating_add)
}

impl Judgement {
    pub(super) fn of(tests: &[Test], entries: &[Entry], totals: &Totals) -> Self {
        let told = |status: TestStatus| {
            let words = tests.iter().flat_map(|test| &test.words);
            words.filter(|word| **word == status).count() as u64
        };
        let listed = |status: TestStatus| {
            let same = entries.iter().filter(|entry| entry.status == status);
            same.count() as u64
        };
        let mut lists = true;
        let mut words = !tests.is_empty();
        for (_, status) in LISTED {
            lists &= listed(status) == declared(totals, status);
            words &= told(status) == declared(totals, status);
        }
        if tests.is_empty() {
            return Self {
                lists,
                words,
                agrees: lists,
            };
        }
        let passed = declared(totals, TestStatus::Passed);
        let paths: BTreeSet<&str> = entries.iter().map(|entry| &*entry.path).collect();
        let unlisted = tests
            .iter()
            .filter(|test| !test.words.is_empty() && !paths.contains(&*test.path));
        let passing =
            told(TestStatus::Passed) == passed || lists && unlisted.count() as u64 == passed;
        let all = totals.total.is_none_or(|total| tests.len() as u64 == total);
        Self {
            lists,
            words,
            agrees: (lists || words) && passing && all,
        }
    }

    /// The status of every test that has one, in the order of the log.
    pub(super) fn statuses<'a>(
        self,
        tests: &'a [Test],
        entries: &'a [Entry],
    ) -> Vec<(&'a str, TestStatus)> {
        let mut told: HashMap<&str, TestStatus> = HashMap::new();
        // Where only the lines fit the totals, a message holds something like a list.
        if self.lists || !self.words {
            for entry in entries {
                told.entry(&entry.path)
                    .and_modify(|known| *known = known.worst(entry.status))
                    .or_insert(entry.status);
            }
        }
        let mut statuses = Vec::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for test in tests {
            known.insert(&test.path);
            let word = test.words.iter().copied().max();
            let status = match told.get(&*test.path) {
                Some(told) if self.lists => Some(*told),
                Some(told) => Some(word.map_or(*told, |word| word.worst(*told))),
                // The lists tell of every test that did not pass.
                None if self.lists && self.agrees => word.map(|_| TestStatus::Passed),
                None => word,
            };
            statuses.extend(status.map(|status| (&*test.path, status)));
        }
        if self.lists || tests.is_empty() {
            for entry in entries {
                if known.insert(&entry.path) {
                    statuses.push((&*entry.path, told[&*entry.path]));
                }
            }
        }
        statuses
    }
}
