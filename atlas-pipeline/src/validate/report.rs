//! What the gates came to.

use super::ValidateOptions;
use crate::evaluate::InputFault;
use atlas_core::{Decision, Verdict};
use serde::Serialize;
use std::path::PathBuf;

/// One instance and its gates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstanceVerdict {
    /// The instance, or its row's number where it has no name.
    pub instance_id: String,
    /// The strictest of the gates' decisions; absent where something went wrong.
    pub decision: Option<Decision>,
    /// Why it does not pass as it is, in at most ten short lines, as [`Reason`](atlas_core::Reason)
    /// prints them; absent where it passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What each gate said, in the order they ran.
    pub verdicts: Vec<Verdict>,
    /// What went wrong.
    pub error: Option<String>,
    /// Wall seconds.
    pub seconds: f64,
}

/// How many instances came to a gate, and what it did with them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// The gate.
    pub gate: String,
    /// Instances that it looked at.
    pub entered: usize,
    /// Passed as they are.
    pub accepted: usize,
    /// Passed after repair.
    pub repaired: usize,
    /// Not passed.
    pub rejected: usize,
    /// Nothing to decide on.
    pub no_evidence: usize,
}

/// What `atlas validate` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidateReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The dataset.
    pub dataset: PathBuf,
    /// The rows that passed, repaired where needed.
    pub validated: PathBuf,
    /// Instances looked at.
    pub total: usize,
    /// Passed as they are.
    pub accepted: usize,
    /// Passed with tests taken out of their lists.
    pub repaired: usize,
    /// Not passed before someone repairs what no rule can: a statement that holds the solution.
    pub needs_repair: usize,
    /// Not passed.
    pub rejected: usize,
    /// No gate had anything to decide on.
    pub no_evidence: usize,
    /// Instances at which something went wrong, and faults of the dataset.
    pub errors: usize,
    /// What is wrong with the dataset's rows: they were left out, and the others looked at.
    pub faults: Vec<InputFault>,
    /// Gate by gate, in order.
    pub funnel: Vec<FunnelStep>,
    /// Every instance, in the dataset's order.
    pub instances: Vec<InstanceVerdict>,
    /// Wall seconds.
    pub seconds: f64,
}

/// Reject over repair over accept; no evidence only where every gate says so.
pub(super) fn overall(verdicts: &[Verdict]) -> Decision {
    let any = |decision: Decision| verdicts.iter().any(|v| v.decision == decision);
    if any(Decision::Reject) {
        Decision::Reject
    } else if any(Decision::Repair) {
        Decision::Repair
    } else if any(Decision::Accept) {
        Decision::Accept
    } else {
        Decision::NoEvidence
    }
}

/// Whether every repair that gates ask for is one that was made: tests taken out of their lists.
pub(super) fn is_repaired(verdicts: &[Verdict]) -> bool {
    verdicts
        .iter()
        .filter(|verdict| verdict.decision == Decision::Repair)
        .all(|verdict| !verdict.quarantine.is_empty())
}

pub(super) fn sum_up(
    options: &ValidateOptions,
    (instances, faults): (Vec<InstanceVerdict>, Vec<InputFault>),
    validated: PathBuf,
    seconds: f64,
) -> ValidateReport {
    let mut funnel: Vec<FunnelStep> = options
        .gates
        .gates
        .iter()
        .map(|gate| FunnelStep {
            gate: gate.clone(),
            ..FunnelStep::default()
        })
        .collect();
    for verdict in instances.iter().flat_map(|instance| &instance.verdicts) {
        let known = funnel
            .iter()
            .position(|step| step.gate == verdict.validator);
        let step = if let Some(at) = known {
            &mut funnel[at]
        } else {
            // A row that cannot be prepared is refused in the name of a gate that was not asked for.
            funnel.insert(
                0,
                FunnelStep {
                    gate: verdict.validator.clone(),
                    ..FunnelStep::default()
                },
            );
            &mut funnel[0]
        };
        step.entered += 1;
        *match verdict.decision {
            Decision::Accept => &mut step.accepted,
            Decision::Repair => &mut step.repaired,
            Decision::Reject => &mut step.rejected,
            Decision::NoEvidence => &mut step.no_evidence,
        } += 1;
    }
    let repair = instances
        .iter()
        .filter(|i| i.decision == Some(Decision::Repair));
    let needs_repair = repair.filter(|i| !is_repaired(&i.verdicts)).count();
    let count = |decision: Decision| {
        let of = instances.iter().filter(|i| i.decision == Some(decision));
        of.count()
    };
    ValidateReport {
        schema_version: 1,
        dataset: options.dataset.clone(),
        validated,
        total: instances.len(),
        accepted: count(Decision::Accept),
        repaired: count(Decision::Repair) - needs_repair,
        needs_repair,
        rejected: count(Decision::Reject),
        no_evidence: count(Decision::NoEvidence),
        errors: instances.iter().filter(|i| i.error.is_some()).count() + faults.len(),
        faults,
        funnel,
        instances,
        seconds,
    }
}
