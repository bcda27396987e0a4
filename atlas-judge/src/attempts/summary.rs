//! The attempts at one task together.

use super::AttemptClass;
use atlas_core::Evidence;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was found about one failed attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptFinding {
    /// The attempt, in the caller's words.
    pub attempt: String,
    /// Why it failed.
    pub class: AttemptClass,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
}

/// What the failed attempts at one task say about it. It changes no verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// Failed attempts that were looked at.
    pub failed: usize,
    /// Class -> how many.
    pub counts: BTreeMap<AttemptClass, usize>,
    /// Attempts that are worth another look, in the order given, each with its class.
    pub look_again: Vec<(String, AttemptClass)>,
    /// Whether no attempt is shown, or left, to be genuinely wrong: the task itself should be looked at
    /// before it counts as hard. False without attempts.
    pub is_task_in_doubt: bool,
}

impl AttemptSummary {
    /// Sums findings up.
    pub fn of(findings: &[AttemptFinding]) -> Self {
        let mut summary = Self {
            failed: findings.len(),
            ..Self::default()
        };
        for one in findings {
            *summary.counts.entry(one.class).or_default() += 1;
            if one.class.is_worth_a_look() {
                summary.look_again.push((one.attempt.clone(), one.class));
            }
        }
        summary.is_task_in_doubt =
            !findings.is_empty() && summary.look_again.len() == findings.len();
        summary
    }
}
