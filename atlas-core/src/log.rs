//! What a log parser reads out of a run, and the trait itself.

use crate::{Evidence, TestStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Turns the console output of a test runner into per-test statuses.
///
/// # Contract
/// - Pure: the same bytes give the same [`ParsedLog`], however they are cut into pieces; no I/O,
///   no clock.
/// - Total: any bytes are accepted, in linear time; invalid UTF-8, control characters and a log
///   that stops anywhere included. Nothing panics.
/// - Silent about what it did not see: an unnamed test has no status, prose is no test, and an
///   empty log has no tests and the outcome [`RunOutcome::NothingRan`].
/// - Stable: timings, addresses, temporary paths and worker tags never reach an id, and an id is
///   the same in passing and failing runs.
///
/// `atlas_core::testing::log_parser_contract` (feature `testing`) checks an implementation.
pub trait LogParser: fmt::Debug + Send + Sync {
    /// The stable name, as stored in an instance's `log_parser` field: `gotest`.
    fn id(&self) -> &str;

    /// Begins to read one log.
    fn start(&self) -> Box<dyn LogReader>;
}

/// One log being read, piece by piece; memory is bounded by the result, not by the log.
///
/// Most implementations are a [`LineState`](crate::LineState) inside [`ByLine`](crate::ByLine).
pub trait LogReader: Send {
    /// Takes the next bytes; pieces may be cut anywhere.
    fn feed(&mut self, bytes: &[u8]);
    /// Ends the log.
    fn finish(self: Box<Self>) -> ParsedLog;
}

macro_rules! forward_log_parser {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        impl<P: LogParser + ?Sized> LogParser for $ty {
            fn id(&self) -> &str { (**self).id() }
            fn start(&self) -> Box<dyn LogReader> { (**self).start() }
        }
    )+};
}
forward_log_parser!(&P, Box<P>, Arc<P>);

/// Conveniences over any [`LogParser`].
pub trait LogParserExt: LogParser {
    /// Parses a log that is in memory as a whole.
    fn parse(&self, log: &[u8]) -> ParsedLog {
        let mut reader = self.start();
        reader.feed(log);
        reader.finish()
    }
}

impl<P: LogParser + ?Sized> LogParserExt for P {}

/// How a run ended, as far as its log tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// The runner came to its own end.
    Completed,
    /// Nothing ran because nothing could be built, collected or loaded.
    BuildFailed,
    /// The process died: a signal, an abort, an early exit.
    Crashed,
    /// The runner's own time limit ended it.
    TimedOut,
    /// The log stops before the runner's end.
    Truncated,
    /// No sign of a run, or a run of zero tests: no evidence, neither pass nor fail.
    #[default]
    NothingRan,
}

/// The runner's own counts, as it declared them. Absent fields were not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// All tests, where the runner says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    /// Failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// Errors, where the runner keeps them apart from failures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<u64>,
    /// Skipped, ignored, pending, todo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
    /// Failed as expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xfailed: Option<u64>,
    /// Passed unexpectedly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xpassed: Option<u64>,
}

impl Totals {
    /// Adds another section's totals; a field counts as declared if either declares it.
    pub fn add(&mut self, other: Self) {
        let sum = |a: &mut Option<u64>, b: Option<u64>| {
            if let Some(b) = b {
                *a = Some(a.unwrap_or(0).saturating_add(b));
            }
        };
        sum(&mut self.total, other.total);
        sum(&mut self.passed, other.passed);
        sum(&mut self.failed, other.failed);
        sum(&mut self.errors, other.errors);
        sum(&mut self.skipped, other.skipped);
        sum(&mut self.xfailed, other.xfailed);
        sum(&mut self.xpassed, other.xpassed);
    }
}

/// Why a module's tests did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LostReason {
    /// It did not compile.
    BuildFailed,
    /// It did not import, load or collect.
    LoadFailed,
    /// Its process died.
    Crashed,
    /// Its own time limit ended it.
    TimedOut,
}

/// A file, package, binary or suite whose tests are missing from the log, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostModule {
    /// Its name as the runner prints it; the same text as [`TestResult::module`] of its tests.
    pub module: String,
    /// Why.
    pub reason: LostReason,
    /// The lines that say so, as they stand in the log (at most 40).
    pub lines: Vec<Evidence>,
}

/// A remark of the parser: something it noticed that a reader should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogWarning {
    /// Line in the log, from 1, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What was noticed.
    pub text: String,
}

/// One test as the log knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestResult {
    /// The SWE-bench id: what the console prints. Several tests of one log may share it.
    pub name: String,
    /// The qualified id: package, binary or file in front; unique within the log.
    pub qualified: String,
    /// The file, package or binary it belongs to; empty where the log does not tell.
    pub module: String,
    /// The worst status that was reported.
    pub status: TestStatus,
    /// How many results were reported under this qualified id.
    pub seen: u32,
}

/// Ids that were reported more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicates {
    /// Extra results: every result of an id beyond its first.
    pub count: u64,
    /// The SWE-bench ids concerned, each with the number of results.
    pub ids: BTreeMap<String, u64>,
}

/// Everything one log says about one run. Built with [`ParsedLogBuilder`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedLog {
    /// The parser that read it.
    pub parser: String,
    /// All tests, by qualified id, without duplicates.
    pub results: Vec<TestResult>,
    /// The runner's own totals, if it printed any.
    pub totals: Option<Totals>,
    /// Whether what was parsed agrees with `totals`; absent where that cannot be told.
    pub consistent: Option<bool>,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Modules whose tests are missing.
    pub modules_not_loaded: Vec<LostModule>,
    /// Tests that were running when the process died.
    pub in_flight: Vec<String>,
    /// Remarks.
    pub warnings: Vec<LogWarning>,
}

impl ParsedLog {
    /// SWE-bench id -> status; where several tests share an id, the worst.
    pub fn tests(&self) -> BTreeMap<&str, TestStatus> {
        let mut map = BTreeMap::new();
        for result in &self.results {
            map.entry(result.name.as_str())
                .and_modify(|status: &mut TestStatus| *status = status.worst(result.status))
                .or_insert(result.status);
        }
        map
    }

    /// Qualified id -> status.
    pub fn qualified(&self) -> BTreeMap<&str, TestStatus> {
        self.results
            .iter()
            .map(|r| (r.qualified.as_str(), r.status))
            .collect()
    }

    /// Ids with more than one result.
    pub fn duplicates(&self) -> Duplicates {
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for result in &self.results {
            *seen.entry(&result.name).or_default() += u64::from(result.seen);
        }
        let mut duplicates = Duplicates::default();
        for (name, times) in seen {
            if times > 1 {
                duplicates.count += times - 1;
                duplicates.ids.insert(name.to_owned(), times);
            }
        }
        duplicates
    }

    /// Whether something could not be built, collected or loaded.
    pub fn build_failed(&self) -> bool {
        self.outcome == RunOutcome::BuildFailed
            || self.modules_not_loaded.iter().any(|lost| {
                matches!(
                    lost.reason,
                    LostReason::BuildFailed | LostReason::LoadFailed
                )
            })
    }

    /// Whether the log says nothing about any test.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// How many tests have this status.
    pub fn count(&self, status: TestStatus) -> usize {
        self.results.iter().filter(|r| r.status == status).count()
    }
}

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
    results: BTreeMap<String, (String, String, TestStatus, u32)>,
    recorded: u64,
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
        if name.trim().is_empty() {
            self.warn(
                None,
                format!("a result without a name ({status}) in `{module}`"),
            );
            return;
        }
        self.recorded += 1;
        if let Some((_, _, known, seen)) = self.results.get_mut(qualified) {
            *known = known.worst(status);
            *seen = seen.saturating_add(1);
        } else {
            self.results.insert(
                qualified.to_owned(),
                (name.to_owned(), module.to_owned(), status, 1),
            );
        }
    }

    /// Replaces the status of a test already recorded (a runner that corrects itself: a teardown
    /// error, a rerun). Returns whether it was known.
    pub fn revise(&mut self, qualified: &str, status: TestStatus) -> bool {
        self.results.get_mut(qualified).is_some_and(|entry| {
            entry.2 = status;
            true
        })
    }

    /// The status recorded so far under a qualified id.
    pub fn status(&self, qualified: &str) -> Option<TestStatus> {
        self.results.get(qualified).map(|entry| entry.2)
    }

    /// How many results were recorded, duplicates included.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// How many recorded tests have this status now.
    pub fn count(&self, status: TestStatus) -> u64 {
        self.results
            .values()
            .filter(|entry| entry.2 == status)
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
            results: self
                .results
                .into_iter()
                .map(|(qualified, (name, module, status, seen))| TestResult {
                    name,
                    qualified,
                    module,
                    status,
                    seen,
                })
                .collect(),
            totals: self.totals,
            consistent,
            outcome,
            modules_not_loaded: self.lost,
            in_flight: self.in_flight,
            warnings: self.warnings,
        }
    }

    fn agrees(&self, totals: Totals) -> bool {
        let count = |status| -> u64 {
            self.results
                .values()
                .filter(|e| e.2 == status)
                .map(|e| u64::from(e.3))
                .sum()
        };
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
            && same(
                totals.total,
                self.results.values().map(|e| u64::from(e.3)).sum(),
            )
    }
}
