//! Failed attempts that may not be the solver's fault (paper 001, section 3.4, layer 4).
//!
//! A task that no model solves is either hard or broken. [`AttemptJudge`] looks at one failed attempt,
//! its trajectory and the log of its grading, and says why it failed: the agent's tools crashed, the
//! environment lacks something that the task needs, the machinery failed, the task asks for what it does
//! not tell, or the attempt was simply wrong. Rules over logs come first, each with the line that proves
//! it; a model, if there is one, is asked about the rest.
//!
//! No verdict is changed here. [`AttemptSummary`] says which failed attempts of a task are worth another
//! look, and a person or a new run decides.

mod judge;
mod rules;
mod summary;

pub use judge::{AttemptJudge, AttemptOptions, attempt_prompt};
pub use rules::{FailedAttempt, attempt_by_rule, rule_confidence};
pub use summary::{AttemptFinding, AttemptSummary};

use serde::{Deserialize, Serialize};

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttemptClass {
    /// The agent's own tools or its loop broke.
    ToolCrash,
    /// The environment lacks a package, tool or service that the task needs and its image does not bring.
    UnsupportedDependency,
    /// Disk, memory, network, container engine or the model's API failed.
    Infrastructure,
    /// The tests ask for what the statement does not tell.
    Underspecified,
    /// The attempt is wrong.
    GenuineFailure,
    /// No rule holds and no model was asked.
    Undecided,
}

impl AttemptClass {
    /// Those that a model may say.
    pub const DECIDED: [Self; 5] = [
        Self::ToolCrash,
        Self::UnsupportedDependency,
        Self::Infrastructure,
        Self::Underspecified,
        Self::GenuineFailure,
    ];

    /// A stable word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolCrash => "tool_crash",
            Self::UnsupportedDependency => "unsupported_dependency",
            Self::Infrastructure => "infrastructure",
            Self::Underspecified => "underspecified",
            Self::GenuineFailure => "genuine_failure",
            Self::Undecided => "undecided",
        }
    }

    /// Whether an attempt of this class should be looked at again: the fault is not shown to be its own.
    pub fn is_worth_a_look(self) -> bool {
        !matches!(self, Self::GenuineFailure | Self::Undecided)
    }
}
