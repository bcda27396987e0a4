//! Gates that an instance passes, or not.

use crate::{Environment, Error, Evidence, Instance, OracleReport, OracleTask, RunContext};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// An instance on its way into a dataset, with all that is known of it.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The row.
    pub instance: Instance,
    /// Where it runs.
    pub environment: Environment,
    /// Its patches, and its states as files.
    pub task: OracleTask,
    /// How its tests were found.
    pub oracle: OracleReport,
}

/// What a gate decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Good as it is.
    Accept,
    /// Good after what the findings name is repaired.
    Repair,
    /// Not usable.
    Reject,
    /// The gate saw nothing to decide on.
    NoEvidence,
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Should be looked at.
    Warning,
    /// Decides.
    Fatal,
}

/// One thing a gate found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable snake-case word.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// One sentence.
    pub message: String,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
}

/// What a gate says: data with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The gate.
    pub validator: String,
    /// Its decision.
    pub decision: Decision,
    /// What it found.
    pub findings: Vec<Finding>,
    /// Tests that a grader must not count, each with the reason: what
    /// [`Decision::Repair`] takes out of both lists of the row.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quarantine: BTreeMap<String, String>,
    /// Numbers that the gate documents.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub measurements: Map<String, Value>,
}

/// A quality gate (paper 001, section 3.4; paper 002's patch validation).
///
/// # Contract
/// - A defect of the candidate is a [`Verdict`], never an [`Error`]; a dead engine or model is an
///   [`Error`], never a verdict.
/// - [`Decision::Reject`] and [`Decision::Repair`] come with at least one finding.
/// - Independent of other gates: users compose them in any order.
///
/// # Cancellation
/// As the sandbox or model underneath.
#[async_trait]
pub trait Validator: fmt::Debug + Send + Sync {
    /// The stable name.
    fn id(&self) -> &str;

    /// Looks at a candidate.
    ///
    /// # Errors
    /// Those of the sandbox or model underneath.
    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error>;
}

macro_rules! forward_validator {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<V: Validator + ?Sized> Validator for $ty {
            fn id(&self) -> &str { (**self).id() }
            async fn validate(
                &self,
                cx: &RunContext,
                candidate: &Candidate,
            ) -> Result<Verdict, Error> {
                (**self).validate(cx, candidate).await
            }
        }
    )+};
}
forward_validator!(&V, Box<V>, Arc<V>);
