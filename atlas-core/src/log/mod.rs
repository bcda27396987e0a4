//! What a log parser reads out of a run, and the trait itself.

use crate::{Evidence, TestStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

mod blocks;
mod builder;
mod index;
mod names;
mod results;
mod table;

pub use builder::ParsedLogBuilder;
pub use names::Names;
pub use results::{TestResult, TestResults};

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
    /// The qualified id of the module itself, where its runner reports such a module as one
    /// erroneous entry of the run: Jest and Vitest do for a test file that does not load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_as: Option<String>,
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
    /// All tests in the order in which the log first names them, each once.
    pub results: TestResults,
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
            map.entry(result.name)
                .and_modify(|status: &mut TestStatus| *status = status.worst(result.status))
                .or_insert(result.status);
        }
        map
    }

    /// The same log with SWE-bench ids that hold no source line:
    /// [`without_source_line`](crate::without_source_line). Qualified ids keep theirs.
    #[must_use]
    pub fn without_source_lines(mut self) -> Self {
        use crate::without_source_line as bare;
        if self.results.iter().all(|test| bare(test.name) == test.name) {
            return self;
        }
        let mut results = TestResults::default();
        for test in &self.results {
            results.merge(TestResult {
                name: bare(test.name),
                ..test
            });
        }
        self.results = results;
        self
    }

    /// Qualified id -> status, modules that the runner reports as an entry of their own included.
    pub fn qualified(&self) -> BTreeMap<&str, TestStatus> {
        let modules = self.modules_not_loaded.iter();
        let modules = modules.filter_map(|lost| lost.reported_as.as_deref());
        modules
            .map(|id| (id, TestStatus::Error))
            .chain(self.results.iter().map(|r| (r.qualified, r.status)))
            .collect()
    }

    /// Ids with more than one result.
    pub fn duplicates(&self) -> Duplicates {
        let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
        for result in &self.results {
            *seen.entry(result.name).or_default() += u64::from(result.seen);
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
