//! What a call of a run did.

use super::{ImportReport, RunStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Nothing that was asked for is left to do.
    Done,
    /// A budget is spent, and there is more to do.
    Budget,
}

/// What this process did at one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageWork {
    /// Steps that passed.
    pub passed: u64,
    /// Steps that ended with a verdict of "no".
    pub rejected: u64,
    /// Steps that ended with an error.
    pub failed: u64,
    /// Steps that were put back: to be tried again, or stopped.
    pub returned: u64,
    /// Seconds of all of them.
    pub seconds: f64,
}

/// What `atlas run` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// How it ended.
    pub ended: RunEnd,
    /// What the files of candidates held.
    pub import: ImportReport,
    /// Steps of processes that had ended, which were put back.
    pub freed: usize,
    /// Failed steps that were put back for `retry`.
    pub retried: usize,
    /// Candidates that were begun again for `stale`.
    pub renewed: usize,
    /// Ended steps of another version or configuration than now, by stage.
    pub stale: BTreeMap<String, u64>,
    /// What this process did, by stage.
    pub work: BTreeMap<String, StageWork>,
    /// Wall seconds of this process.
    pub seconds: f64,
    /// Where the run stands.
    pub status: RunStatus,
}

impl RunReport {
    pub(super) fn begin(status: RunStatus) -> Self {
        Self {
            schema_version: 1,
            ended: RunEnd::Done,
            import: ImportReport::default(),
            freed: 0,
            retried: 0,
            renewed: 0,
            stale: BTreeMap::new(),
            work: BTreeMap::new(),
            seconds: 0.0,
            status,
        }
    }
}
