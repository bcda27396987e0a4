//! What stands below a file's summary line: its failing and slow tests, all its tests, or the tree
//! of its suites and tests, by reporter and version.

use super::line::{Marked, Symbol, suite, title};
use atlas_core::TestStatus;

#[derive(Clone, Debug)]
struct Entry {
    depth: usize,
    symbol: Symbol,
    text: String,
    hash: u64,
}

/// The lines of one file.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) project: String,
    pub(super) file: String,
    declared: u64,
    entries: Vec<Entry>,
}

/// A test of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) status: TestStatus,
    pub(super) hash: u64,
}

impl Listing {
    pub(super) fn new(project: &str, file: &str, declared: u64) -> Self {
        Self {
            project: project.to_owned(),
            file: file.to_owned(),
            declared,
            entries: Vec::new(),
        }
    }

    /// How many tests the file has.
    pub(super) fn declared(&self) -> u64 {
        self.declared
    }

    pub(super) fn push(&mut self, line: &Marked<'_>, hash: u64) {
        // A suite has a test, so there are never more suites on a path than the tree is deep.
        let most = self.declared.saturating_mul(64).saturating_add(64);
        if (self.entries.len() as u64) < most {
            self.entries.push(Entry {
                depth: line.depth,
                symbol: line.symbol,
                text: line.text.to_owned(),
                hash,
            });
        }
    }

    /// The tests it names, and whether these are all tests of the file.
    ///
    /// Where only failing and slow tests are listed, whether a passing test is there depends on
    /// the clock; such a line is not counted as naming it.
    pub(super) fn tests(&self, version: u32) -> (Vec<Listed>, bool) {
        let mut tests = Vec::new();
        let mut suites: Vec<&str> = Vec::new();
        let mut count = 0;
        for (at, entry) in self.entries.iter().enumerate() {
            let level = entry.depth.saturating_sub(1);
            let deeper = self
                .entries
                .get(at + 1)
                .is_some_and(|next| next.depth > entry.depth);
            if level <= suites.len() {
                suites.truncate(level);
                if let Some(name) = suite(&entry.text, version)
                    && (deeper || version < 3)
                {
                    suites.push(name);
                    continue;
                }
            }
            count += 1;
            if level > suites.len() {
                // Version 4 indents a test but does not print its suites.
                continue;
            }
            let status = match entry.symbol {
                Symbol::Passed => TestStatus::Passed,
                Symbol::Failed => TestStatus::Failed,
                Symbol::Pointer if version < 2 => TestStatus::Failed,
                Symbol::Skipped => TestStatus::Skipped,
                _ => continue,
            };
            let own = title(&entry.text, entry.symbol, version, true);
            let own = own
                .strip_prefix(self.file.as_str())
                .and_then(|rest| rest.strip_prefix(" > "))
                .unwrap_or(own);
            let mut name = String::new();
            for suite in &suites {
                name.push_str(suite);
                name.push_str(" > ");
            }
            name.push_str(own);
            tests.push(Listed {
                name,
                status,
                hash: entry.hash,
            });
        }
        let complete = count == self.declared;
        if !complete {
            tests.retain(|test| test.status == TestStatus::Failed);
        }
        let all = complete && tests.len() as u64 == count;
        (tests, all)
    }
}
