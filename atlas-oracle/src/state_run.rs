//! What is kept of one state's run.

use atlas_core::{ExitState, ParsedLog, RunOutcome, StateSummary};
use std::collections::BTreeMap;

/// One state's run: what the artefacts keep.
#[derive(Clone, Debug)]
pub struct StateRun {
    /// The output of rebuild and tests, without the markers.
    pub log: Vec<u8>,
    /// The structured report, if one was written.
    pub report: Option<Vec<u8>>,
    /// The log, parsed.
    pub parsed: ParsedLog,
    /// The run in numbers.
    pub summary: StateSummary,
    /// Where its console and its structured report contradict each other.
    pub disputes: Disputes,
    /// What was wrong with the stream.
    pub faults: Vec<String>,
    /// Signs that the code under test meddled with its own verdict: markers that stand twice, an exit
    /// code that the sandbox denies. Nothing such a run says counts.
    pub tampering: Vec<String>,
}

impl StateRun {
    /// Whether the run was cut short from outside or died, so that tests may be missing from its log
    /// for no reason of theirs.
    pub fn is_unfinished(&self) -> bool {
        matches!(
            self.parsed.outcome,
            RunOutcome::TimedOut | RunOutcome::Truncated
        ) || matches!(
            self.summary.exit,
            ExitState::TimedOut | ExitState::OutOfMemory
        )
    }
}

/// Where a run's console and its structured report contradict each other about single tests.
///
/// A name that only one of the two has is no contradiction while the other has as many tests of the
/// same status under names of its own: the two then spell them differently. A driver's report and its console
/// spell them alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disputes {
    /// Tests of the console of which the report says otherwise, with what both say.
    pub tests: BTreeMap<String, String>,
    /// Tests that only the report names: the last part of their id, and whether they passed.
    pub unnamed: BTreeMap<String, bool>,
}
