//! Building a parsed log, result by result.

use super::results::is_blank;
use super::{LogWarning, LostModule, LostReason, ParsedLog, RunOutcome, TestResults, Totals};
use crate::{Evidence, TestStatus};

/// Collects results in the order of the log and ends with a [`ParsedLog`].
///
/// ```
/// use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus};
/// let mut log = ParsedLogBuilder::new("mine");
/// log.record("pkg/a", "pkg/a::TestNew", "TestNew", TestStatus::Failed);
/// log.record("pkg/a", "pkg/a::TestNew", "TestNew", TestStatus::Passed); // worst wins
/// log.record("pkg/b", "pkg/b::TestNew", "TestNew", TestStatus::Passed);
/// let log = log.finish(RunOutcome::Completed);
/// assert_eq!(log.tests()["TestNew"], TestStatus::Failed);
/// assert_eq!(log.qualified()["pkg/b::TestNew"], TestStatus::Passed);
/// assert_eq!(log.duplicates().count, 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ParsedLogBuilder {
    parser: String,
    results: TestResults,
    recorded: u64,
    joined: String,
    totals: Option<Totals>,
    consistent: Option<bool>,
    lost: Vec<LostModule>,
    in_flight: Vec<String>,
    warnings: Vec<LogWarning>,
}

impl ParsedLogBuilder {
    /// The most warnings that are kept; a hostile log must not fill memory.
    pub const MAX_WARNINGS: usize = 200;

    /// An empty log of the named parser.
    pub fn new(parser: impl Into<String>) -> Self {
        Self {
            parser: parser.into(),
            ..Self::default()
        }
    }

    /// One result. `module` may be empty; `name` is the SWE-bench id. A result without a name, as
    /// a log has it that stops in the middle of a line, is no test and only warned of.
    pub fn record(&mut self, module: &str, qualified: &str, name: &str, status: TestStatus) {
        if is_blank(name) {
            let text = format!("a result without a name ({status}) in `{module}`");
            self.warn(None, text);
            return;
        }
        self.recorded += 1;
        self.results.add(module, qualified, name, status);
    }

    /// One result whose qualified id is module, separator and name: `record` without a string of
    /// one's own. Without a module, the name is the qualified id.
    pub fn record_in(&mut self, module: &str, separator: &str, name: &str, status: TestStatus) {
        if module.is_empty() {
            self.record(module, name, name, status);
            return;
        }
        let mut joined = std::mem::take(&mut self.joined);
        joined.clear();
        joined.push_str(module);
        joined.push_str(separator);
        joined.push_str(name);
        self.record(module, &joined, name, status);
        self.joined = joined;
    }

    /// Results of one module, by name, status and how often each was reported: as if `record_in`
    /// were called for every report, and cheaper. No name may come twice.
    ///
    /// ```
    /// use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus};
    /// let mut log = ParsedLogBuilder::new("mine");
    /// log.record_all("pkg/a", "::", [("TestX", TestStatus::Passed, 1), ("TestY", TestStatus::Failed, 2)]);
    /// assert_eq!(log.recorded(), 3);
    /// assert_eq!(log.status("pkg/a::TestY"), Some(TestStatus::Failed));
    /// ```
    pub fn record_all<'a>(
        &mut self,
        module: &str,
        separator: &str,
        results: impl IntoIterator<Item = (&'a str, TestStatus, u32)>,
    ) {
        let (recorded, mut nameless) = (&mut self.recorded, Vec::new());
        let named = results.into_iter().filter(|(name, status, seen)| {
            if is_blank(name) {
                nameless.push((*status, *seen));
                return false;
            }
            *recorded += u64::from(*seen);
            true
        });
        self.results.add_named(module, separator, named);
        for (status, seen) in nameless {
            for _ in 0..seen.min(Self::MOST_NAMELESS) {
                self.record(module, "", "", status);
            }
        }
    }

    /// More warnings than that are not kept anyway.
    const MOST_NAMELESS: u32 = 200;

    /// The results recorded so far.
    pub fn results(&self) -> &TestResults {
        &self.results
    }

    /// Results that were collected elsewhere, as if each were recorded as often as it was seen;
    /// cheap for the first of them.
    pub fn append(&mut self, results: TestResults) {
        if self.results.is_empty() && !results.has_blank() {
            self.recorded += results.reports();
            self.results = results;
            return;
        }
        for result in &results {
            if is_blank(result.name) {
                self.record(result.module, result.qualified, result.name, result.status);
            } else {
                self.recorded += u64::from(result.seen);
                self.results.merge(result);
            }
        }
    }

    /// Replaces the status of a test already recorded (a runner that corrects itself: a teardown
    /// error, a rerun). Returns whether it was known.
    pub fn revise(&mut self, qualified: &str, status: TestStatus) -> bool {
        let Some(at) = self.results.find(qualified) else {
            return false;
        };
        let seen = self.results.at(at).seen;
        self.results.set(at, status, seen);
        true
    }

    /// The status recorded so far under a qualified id.
    pub fn status(&self, qualified: &str) -> Option<TestStatus> {
        self.results.get(qualified).map(|result| result.status)
    }

    /// How many results were recorded, duplicates included.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// How many recorded tests have this status now.
    pub fn count(&self, status: TestStatus) -> u64 {
        self.results
            .iter()
            .filter(|result| result.status == status)
            .count() as u64
    }

    /// Adds the runner's totals of one section.
    pub fn add_totals(&mut self, totals: Totals) {
        self.totals.get_or_insert_with(Totals::default).add(totals);
    }

    /// States whether the results agree with the totals.
    pub fn set_consistent(&mut self, consistent: bool) {
        self.consistent = Some(consistent);
    }

    /// A module whose tests are missing. The same module and reason again adds its lines.
    pub fn lose(&mut self, module: &str, reason: LostReason, lines: Vec<Evidence>) {
        const MAX_LINES: usize = 40;
        if let Some(known) = self
            .lost
            .iter_mut()
            .find(|lost| lost.module == module && lost.reason == reason)
        {
            for line in lines {
                if known.lines.len() < MAX_LINES && !known.lines.contains(&line) {
                    known.lines.push(line);
                }
            }
        } else {
            let mut lines = lines;
            lines.truncate(MAX_LINES);
            self.lost.push(LostModule {
                module: module.to_owned(),
                reason,
                lines,
                reported_as: None,
            });
        }
    }

    /// A test that had started and has no result.
    pub fn still_running(&mut self, name: impl Into<String>) {
        self.in_flight.push(name.into());
    }

    /// A remark.
    pub fn warn(&mut self, line: Option<u64>, text: impl Into<String>) {
        if self.warnings.len() < Self::MAX_WARNINGS {
            self.warnings.push(LogWarning {
                line,
                text: text.into(),
            });
        }
    }

    /// Ends the log. With totals and no [`set_consistent`](Self::set_consistent), agreement is
    /// judged by counting recorded results per status.
    pub fn finish(self, outcome: RunOutcome) -> ParsedLog {
        let consistent = self
            .consistent
            .or_else(|| self.totals.map(|totals| self.agrees(totals)));
        ParsedLog {
            parser: self.parser,
            results: self.results,
            totals: self.totals,
            consistent,
            outcome,
            modules_not_loaded: self.lost,
            in_flight: self.in_flight,
            warnings: self.warnings,
        }
    }

    fn agrees(&self, totals: Totals) -> bool {
        let counts = self.results.reports_by_status();
        let count = |status: TestStatus| counts[status as usize];
        let same = |declared: Option<u64>, counted: u64| declared.is_none_or(|d| d == counted);
        let failures = count(TestStatus::Failed);
        let errors = count(TestStatus::Error);
        same(totals.passed, count(TestStatus::Passed))
            && same(totals.skipped, count(TestStatus::Skipped))
            && same(totals.xfailed, count(TestStatus::Xfail))
            && same(totals.xpassed, count(TestStatus::Xpass))
            && match totals.errors {
                Some(_) => same(totals.failed, failures) && same(totals.errors, errors),
                None => same(totals.failed, failures + errors),
            }
            && same(totals.total, counts.iter().sum())
    }
}
