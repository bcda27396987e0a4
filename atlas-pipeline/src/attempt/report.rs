//! What all attempts come to.

use super::InputFault;
use super::record::{AttemptRecord, Place, write_lines};
use crate::store::write_json;
use atlas_core::{Decision, Error, pass_at_k};
use atlas_trajectory::{AgentUsage, Forbidden};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// The attempts at one instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstanceAttempts {
    /// The instance.
    pub instance_id: String,
    /// Attempts that say something.
    pub attempts: u64,
    /// Of these, the ones that resolve it.
    pub resolved: u64,
}

/// `attempts.json`.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptReport {
    /// 1.
    pub schema_version: u32,
    /// The instances, by name.
    pub instances: Vec<InstanceAttempts>,
    /// k -> the mean over instances with at least k attempts of the chance that one of k resolves
    /// them.
    pub pass_at_k: BTreeMap<u64, f64>,
    /// Instances that at least one attempt resolves.
    pub resolved_instances: u64,
    /// Attempts that resolve theirs.
    pub resolved_attempts: u64,
    /// Attempts without a verdict that says something: whatever went wrong, it was not the agent.
    pub without_evidence: u64,
    /// How attempts ended -> how many.
    pub exit_statuses: BTreeMap<String, u64>,
    /// What agents reached for that is hidden from them -> tries, and how many of them revealed something.
    pub forbidden: BTreeMap<Forbidden, (u64, u64)>,
    /// Quality gate -> attempts that it does not accept.
    pub not_accepted: BTreeMap<String, u64>,
    /// What agents told of their models' use.
    pub usage: AgentUsage,
    /// Seconds of all attempts together.
    pub seconds: f64,
    /// The attempts, by instance and number.
    pub attempts: Vec<AttemptRecord>,
    /// Rows that could not be used.
    pub faults: Vec<InputFault>,
}

impl AttemptReport {
    /// Whether every instance is resolved by an attempt.
    pub fn all_resolved(&self) -> bool {
        self.instances.iter().all(|instance| instance.resolved > 0)
    }
}

/// Sums records up and writes the files of the whole.
pub(super) fn finish(
    out: &Path,
    records: Vec<AttemptRecord>,
    faults: &[InputFault],
) -> Result<AttemptReport, Error> {
    write_lines(&out.join("predictions.jsonl"), &records, |record| {
        if record.verdict.is_none() {
            return Ok(None);
        }
        let path = Place::new(out, &record.instance_id, record.attempt).patch();
        let patch = std::fs::read_to_string(&path).map_err(|why| Error::io("read", &path, why))?;
        let line = json!({
            "instance_id": record.instance_id,
            "model_name_or_path": record.model_name_or_path,
            "model_patch": patch,
        });
        Ok(Some(line.to_string()))
    })?;
    write_lines(&out.join("trajectories.jsonl"), &records, |record| {
        if record.verdict.is_none() {
            return Ok(None);
        }
        let path = Place::new(out, &record.instance_id, record.attempt).trajectory();
        let read = crate::trajectories::read_trajectories(&path)?
            .next()
            .transpose()?;
        Ok(read.map(|trajectory| trajectory.to_atif_line()))
    })?;
    let report = sum_up(records, faults);
    write_json(&out.join("attempts.json"), &report)?;
    Ok(report)
}

#[expect(clippy::cast_precision_loss, reason = "counts of instances")]
fn sum_up(records: Vec<AttemptRecord>, faults: &[InputFault]) -> AttemptReport {
    let mut by_instance: BTreeMap<&str, InstanceAttempts> = BTreeMap::new();
    let mut report = AttemptReport {
        schema_version: 1,
        instances: Vec::new(),
        pass_at_k: BTreeMap::new(),
        resolved_instances: 0,
        resolved_attempts: 0,
        without_evidence: 0,
        exit_statuses: BTreeMap::new(),
        forbidden: BTreeMap::new(),
        not_accepted: BTreeMap::new(),
        usage: AgentUsage::default(),
        seconds: 0.0,
        attempts: Vec::new(),
        faults: faults.to_vec(),
    };
    for record in &records {
        let entry = by_instance
            .entry(&record.instance_id)
            .or_insert_with(|| InstanceAttempts {
                instance_id: record.instance_id.clone(),
                attempts: 0,
                resolved: 0,
            });
        entry.attempts += u64::from(record.is_evidence());
        entry.resolved += u64::from(record.is_resolved());
        report.resolved_attempts += u64::from(record.is_resolved());
        report.without_evidence += u64::from(!record.is_evidence());
        *report
            .exit_statuses
            .entry(record.exit_status.clone())
            .or_default() += 1;
        for read in &record.forbidden {
            let (tries, revealed) = report.forbidden.entry(read.what).or_default();
            *tries += 1;
            *revealed += u64::from(read.revealed);
        }
        for gate in record
            .gates
            .iter()
            .filter(|gate| gate.decision != Decision::Accept)
        {
            *report
                .not_accepted
                .entry(gate.validator.clone())
                .or_default() += 1;
        }
        report.usage.add(record.usage);
        report.seconds += record.seconds;
    }
    report.instances = by_instance.into_values().collect();
    report.resolved_instances = report
        .instances
        .iter()
        .filter(|one| one.resolved > 0)
        .count() as u64;
    let most = report
        .instances
        .iter()
        .map(|one| one.attempts)
        .max()
        .unwrap_or(0);
    for k in 1..=most {
        let chances: Vec<f64> = report
            .instances
            .iter()
            .filter_map(|one| pass_at_k(one.attempts, one.resolved, k))
            .collect();
        if !chances.is_empty() {
            let mean = chances.iter().sum::<f64>() / chances.len() as f64;
            report.pass_at_k.insert(k, mean);
        }
    }
    report.attempts = records;
    report
}
