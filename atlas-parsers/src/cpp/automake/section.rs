//! What stands between two summaries: the results of one folder.

use super::line::Counts;
use atlas_core::TestStatus;

#[derive(Clone, Default)]
pub(super) struct Section {
    pub(super) results: Vec<(String, TestStatus)>,
    /// The folder that make was in.
    pub(super) folder: String,
}

impl Section {
    pub(super) fn push(&mut self, name: &str, status: TestStatus) {
        self.results.push((name.to_owned(), status));
    }

    fn count(&self, sought: TestStatus) -> u64 {
        let same = self.results.iter().filter(|(_, status)| *status == sought);
        same.count() as u64
    }

    /// Without a summary nothing vouches for a line: messages of other programs begin with `ERROR: `,
    /// too, and only a word or a TAP file's complaint can be a test.
    pub(super) fn drop_messages(&mut self) {
        self.results.retain(|(name, status)| {
            *status != TestStatus::Error || !name.contains(' ') || name.contains(" - ")
        });
    }

    /// Ends with a summary of counts. Returns whether they agree.
    pub(super) fn counted(&mut self, counts: Counts) -> bool {
        if counts.errors == Some(0) {
            self.results
                .retain(|(_, status)| *status != TestStatus::Error);
        }
        let same = |declared: Option<u64>, status| declared.is_none_or(|d| d == self.count(status));
        same(counts.passed, TestStatus::Passed)
            && same(counts.failed, TestStatus::Failed)
            && same(counts.errors, TestStatus::Error)
            && same(counts.skipped, TestStatus::Skipped)
            && same(counts.xfailed, TestStatus::Xfail)
            && same(counts.xpassed, TestStatus::Xpass)
            && counts
                .total
                .is_none_or(|total| total == self.results.len() as u64)
    }

    /// Ends with an older summary: of `all` tests that ran, `bad` did not behave.
    pub(super) fn banner(&mut self, all: u64, bad: u64) -> bool {
        self.drop_messages();
        let failing = self.count(TestStatus::Failed)
            + self.count(TestStatus::Xpass)
            + self.count(TestStatus::Error);
        let ran = (self.results.len() as u64).saturating_sub(self.count(TestStatus::Skipped));
        ran == all && failing == bad
    }
}

/// The folders of several sections without what all folders of the log have in common.
pub(super) fn module<'a>(folder: &'a str, root: &str) -> &'a str {
    folder
        .strip_prefix(root)
        .map_or(folder, |inner| inner.trim_start_matches('/'))
}
