//! The verdict's word and the time it took.

use atlas_core::OracleOutcome;
use serde::{Deserialize, Serialize};

/// What `make` came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MakeOutcome {
    /// A verified instance.
    Instance,
    /// No test fails before and passes after.
    RejectNoFailToPass,
    /// No environment could be built, or Base does not build or run in it.
    EnvironmentInvalid,
    /// After does not build or run.
    RejectAfterBroken,
    /// The pull request changes no test, or nothing but tests.
    RejectNothingToTest,
    /// Solution and tests cannot be told apart well enough for a grader to apply them one after the
    /// other.
    RejectEntangled,
    /// Nothing was seen to run.
    NoEvidence,
}

impl From<OracleOutcome> for MakeOutcome {
    fn from(outcome: OracleOutcome) -> Self {
        match outcome {
            OracleOutcome::Instance => Self::Instance,
            OracleOutcome::RejectNoFailToPass => Self::RejectNoFailToPass,
            OracleOutcome::EnvironmentInvalid => Self::EnvironmentInvalid,
            OracleOutcome::RejectAfterBroken => Self::RejectAfterBroken,
            OracleOutcome::NoEvidence => Self::NoEvidence,
        }
    }
}

/// Wall seconds by step; steps that an earlier run had done count what they took then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Reading the repository, splitting the patch, laying out the states.
    pub prepare: f64,
    /// Analysis and build.
    pub environment: f64,
    /// The test command in Base.
    pub base: f64,
    /// The test command in Before.
    pub before: f64,
    /// The test command in After.
    pub after: f64,
    /// Further runs of tests that define the task.
    pub confirm: f64,
    /// Everything around the three: creating, copying, removing sandboxes.
    pub sandbox_overhead: f64,
    /// This run, start to end.
    pub total: f64,
}
