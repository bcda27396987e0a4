//! One run of one binary, and what its end settles.

use atlas_core::{Evidence, TestStatus, Totals};
use std::collections::HashMap;

/// A test with its result.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    /// How many bytes of the name are the suite's.
    pub(super) suite: usize,
    /// `None` once the end of the run has shown that there was no such test.
    pub(super) status: Option<TestStatus>,
    /// Several results were printed for one announcement.
    pub(super) disputed: bool,
    /// It stands between two results of another test.
    pub(super) suspect: bool,
}

/// A test that was announced and has no result yet.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) name: Vec<u8>,
    pub(super) suite: usize,
    pub(super) line: u64,
    /// How many results there were before it.
    pub(super) entries: usize,
    /// The run as it was, where other runs began or ended since.
    pub(super) outer: Option<Run>,
    /// Its run came to its end: the result was lost, the process did not die.
    pub(super) outlived: bool,
    /// Another run began: the process died.
    pub(super) died: bool,
    pub(super) deaths: Vec<Evidence>,
}

impl Open {
    pub(super) fn entry(self, status: Option<TestStatus>) -> Entry {
        Entry {
            name: self.name,
            suite: self.suite,
            status,
            disputed: false,
            suspect: false,
        }
    }
}

/// A failure that no line announced.
#[derive(Clone, Debug)]
pub(super) struct Brief {
    pub(super) name: Vec<u8>,
    /// A failure's message stands in front of it.
    pub(super) told: bool,
}

impl Brief {
    pub(super) fn entry(self) -> Entry {
        Entry {
            suite: memchr::memchr(b'.', &self.name).unwrap_or(0),
            name: self.name,
            status: Some(TestStatus::Failed),
            disputed: false,
            suspect: false,
        }
    }
}

/// A run from `Running N tests` to the lists at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Where its results begin.
    pub(super) first: usize,
    /// The line that begins a run was read.
    pub(super) explicit: bool,
    pub(super) suite: Option<Vec<u8>>,
    /// The number of tests at its end.
    pub(super) ended: Option<u64>,
    pub(super) passed: Option<u64>,
    pub(super) skipped: u64,
    pub(super) failed: u64,
    /// Which list is being printed.
    pub(super) listing: Option<TestStatus>,
    /// Failures without an announcement.
    pub(super) brief: Vec<Brief>,
    /// What the lists name.
    listed: HashMap<Vec<u8>, TestStatus>,
    /// How many tests the lists have named.
    length: u64,
}

impl Run {
    pub(super) fn new(first: usize) -> Self {
        Self {
            first,
            ..Self::default()
        }
    }

    /// Whether a test of this name belongs to the suite that ran last.
    pub(super) fn names_suite_of(&self, name: &[u8]) -> bool {
        let suite = self.suite.as_deref();
        let rest = suite.and_then(|suite| name.strip_prefix(suite));
        rest.is_some_and(|rest| rest.starts_with(b"."))
    }

    /// Takes back the end, which a test has printed.
    pub(super) fn reopen(&mut self) {
        *self = Self {
            first: self.first,
            explicit: self.explicit,
            suite: self.suite.take(),
            ..Self::default()
        };
    }

    /// A line of the lists at the end.
    pub(super) fn list(&mut self, status: TestStatus, text: &[u8]) -> bool {
        if self.listing != Some(status) || self.length >= self.failed + self.skipped {
            return false;
        }
        let Some(name) = listed_name(text) else {
            return false;
        };
        self.length += 1;
        self.listed.insert(name.to_vec(), status);
        true
    }

    /// Whether no tests were announced in this run, or only by what tests printed.
    pub(super) fn is_brief(&self, entries: &[Entry], lost: &[Open], tests: u64) -> bool {
        let named = entries.len().saturating_sub(self.first);
        !self.explicit
            && (named == 0 && lost.is_empty() || named as u64 != tests && self.length == 0)
    }

    pub(super) fn totals(&self, tests: u64, brief: bool) -> Totals {
        let known = self.passed.unwrap_or(0).saturating_add(self.skipped);
        Totals {
            total: Some(tests),
            passed: self.passed,
            skipped: Some(self.skipped),
            failed: Some(if brief {
                tests.saturating_sub(known)
            } else {
                self.failed
            }),
            ..Totals::default()
        }
    }

    /// Settles what the results left open. Returns whether they agree with the totals.
    pub(super) fn settle(&self, lost: Vec<Open>, tests: u64, entries: &mut Vec<Entry>) -> bool {
        let Some(passed) = self.passed else {
            return false;
        };
        let first = self.first.min(entries.len());
        let suspects = entries[first..]
            .iter()
            .filter(|entry| entry.suspect)
            .count();
        if suspects > 0 && (entries.len() - first - suspects) as u64 == tests {
            let own = entries.split_off(first);
            entries.extend(own.into_iter().filter(|entry| !entry.suspect));
        }
        let ended = (entries.len() - first) as u64;
        // Announcements without a result are tests only if the runner counts them.
        let all = ended.saturating_add(lost.len() as u64) == tests;
        // Two tests may share a name; the list means the one that failed.
        let mut listed = self.listed.clone();
        for entry in &entries[first..] {
            if !entry.disputed && listed.get(&entry.name).copied() == entry.status {
                listed.remove(&entry.name);
            }
        }
        for entry in &mut entries[first..] {
            let listed = listed.get(&entry.name).copied();
            if entry.disputed {
                entry.status = Some(listed.unwrap_or(TestStatus::Passed));
            } else {
                entry.status = entry.status.max(listed);
            }
        }
        for open in lost {
            let listed = listed.get(&open.name).copied();
            let status = listed.or_else(|| all.then_some(TestStatus::Passed));
            if let Some(status) = status {
                entries.push(open.entry(Some(status)));
            }
        }
        let count = |status| {
            entries[first..]
                .iter()
                .filter(|entry| entry.status == Some(status))
                .count() as u64
        };
        count(TestStatus::Passed) == passed
            && count(TestStatus::Skipped) == self.skipped
            && count(TestStatus::Failed) == self.failed
            && (entries.len() - first) as u64 == tests
    }

    /// Picks the real failures of a brief run. Returns whether they are as many as the runner says.
    pub(super) fn settle_brief(&mut self, tests: u64, entries: &mut Vec<Entry>) -> bool {
        entries.truncate(self.first);
        let brief = std::mem::take(&mut self.brief);
        let known = self.passed.unwrap_or(0).saturating_add(self.skipped);
        let failed = tests.saturating_sub(known);
        let all = brief.len() as u64 == failed;
        let before = entries.len();
        entries.extend(
            brief
                .into_iter()
                .filter(|brief| all || brief.told)
                .map(Brief::entry),
        );
        self.passed.is_some() && (entries.len() - before) as u64 == failed
    }
}

/// The test that a line of the lists names; the text behind the brackets.
fn listed_name(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_end();
    if text.ends_with(b": SetUpTestSuite or TearDownTestSuite")
        || text.ends_with(b": SetUpTestCase or TearDownTestCase")
    {
        return None;
    }
    let end = memchr::memmem::find(text, b", where ").unwrap_or(text.len());
    let name = &text[..end];
    (!name.is_empty()).then_some(name)
}
