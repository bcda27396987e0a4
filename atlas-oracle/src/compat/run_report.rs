//! The report of a whole run.

use super::{CompatGrade, InfraFailure, InfraTier, json};
use atlas_core::Harness;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The name of a run's report: `<model, "/" as "__">.<run id>.json`. The harnesses take the model of
/// the first prediction.
pub fn report_file_name(model: &str, run_id: &str) -> String {
    format!("{}.{run_id}.json", model.replace('/', "__"))
}

/// What `report.json` of one prediction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportState {
    /// There is none.
    Missing,
    /// It is there, and empty or no report of this instance.
    Unreadable,
    /// It says resolved.
    Resolved,
    /// It says not resolved.
    Unresolved,
}

/// One prediction, as a run's report counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    /// The instance.
    pub instance_id: String,
    /// Whether the patch is null or the empty text.
    pub empty_patch: bool,
    /// Its report.
    pub report: ReportState,
    /// The reason that its logs give; counted by SWE-bench 5 where it is not resolved.
    pub infra: Option<InfraFailure>,
}

impl RunEntry {
    /// The entry of a prediction that was graded here.
    pub fn graded(
        instance_id: impl Into<String>,
        patch: Option<&str>,
        grade: &CompatGrade,
    ) -> Self {
        let report = match &grade.report {
            None => ReportState::Missing,
            Some(report) if report.body.resolved => ReportState::Resolved,
            Some(_) => ReportState::Unresolved,
        };
        Self {
            instance_id: instance_id.into(),
            empty_patch: patch.is_none_or(str::is_empty),
            report,
            infra: grade.infra.clone(),
        }
    }

    /// The entry of a prediction whose `report.json` is on disk, or is not.
    pub fn stored(
        instance_id: impl Into<String>,
        patch: Option<&str>,
        report: Option<&[u8]>,
        infra: Option<InfraFailure>,
    ) -> Self {
        let instance_id = instance_id.into();
        let report = report.map_or(ReportState::Missing, |bytes| said(bytes, &instance_id));
        Self {
            instance_id,
            empty_patch: patch.is_none_or(str::is_empty),
            report,
            infra,
        }
    }
}

/// What a stored report says. Only this one field is looked at, as the harnesses do.
fn said(report: &[u8], instance_id: &str) -> ReportState {
    let value: Value = serde_json::from_slice(report).unwrap_or_default();
    match value.get(instance_id).and_then(|body| body.get("resolved")) {
        None => ReportState::Unreadable,
        Some(Value::Bool(true)) => ReportState::Resolved,
        Some(_) => ReportState::Unresolved,
    }
}

/// What a run left behind in the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Containers that still exist.
    pub containers: BTreeSet<String>,
    /// Images that still exist.
    pub images: BTreeSet<String>,
}

/// What a run's report is made from.
#[derive(Clone, Copy, Debug)]
pub struct RunReportInput<'a> {
    /// The instances of the dataset, or those of it that were asked for.
    pub dataset: &'a [String],
    /// The predictions, those of instances outside the dataset included. Of several for one instance
    /// the last counts.
    pub predictions: &'a [RunEntry],
    /// What is left in the engine, where one was asked.
    pub leftovers: Option<&'a Leftovers>,
}

/// A run's report. Fields that only some harnesses know are absent elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    /// Instances of the dataset.
    pub total_instances: u64,
    /// Predictions, those outside the dataset included.
    pub submitted_instances: u64,
    /// With a report.
    pub completed_instances: u64,
    /// Resolved.
    pub resolved_instances: u64,
    /// With a report that says not resolved.
    pub unresolved_instances: u64,
    /// SWE-bench 5: not resolved, and the logs show that the environment broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure_instances: Option<u64>,
    /// SWE-bench 5: not resolved, and the logs leave open whether the environment broke.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous_failure_instances: Option<u64>,
    /// With a null or empty patch.
    pub empty_patch_instances: u64,
    /// Without a readable report.
    pub error_instances: u64,
    /// Ids of those with a report.
    pub completed_ids: Vec<String>,
    /// Ids of those without a prediction.
    pub incomplete_ids: Vec<String>,
    /// Ids of those with a null or empty patch.
    pub empty_patch_ids: Vec<String>,
    /// Ids of the predictions.
    pub submitted_ids: Vec<String>,
    /// Ids of the resolved.
    pub resolved_ids: Vec<String>,
    /// Ids of those with a report that says not resolved.
    pub unresolved_ids: Vec<String>,
    /// SWE-bench 5: see `infra_failure_instances`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub infra_failure_ids: Option<Vec<String>>,
    /// SWE-bench 5: see `ambiguous_failure_instances`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambiguous_failure_ids: Option<Vec<String>>,
    /// SWE-bench 5: id to the reason that its logs give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reasons: Option<BTreeMap<String, String>>,
    /// Ids of those without a readable report.
    pub error_ids: Vec<String>,
    /// 2 in all three harnesses; absent in reports of older ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u32>,
    /// Containers that still exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstopped_instances: Option<u64>,
    /// Their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unstopped_containers: Option<Vec<String>>,
    /// Images that still exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unremoved_images: Option<Vec<String>>,
    /// Fields of others, kept; they are written last.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl RunReport {
    /// The report that a harness writes.
    ///
    /// SWE-bench 5 names what is left in the engine where an engine was asked. The other two write
    /// those fields, empty, where none was asked, and only then. A report that cannot be read counts
    /// as completed and as an error; SWE-Bench++ itself would stop there without any report.
    pub fn build(harness: Harness, input: &RunReportInput<'_>) -> Self {
        let predictions: BTreeMap<&str, &RunEntry> = input
            .predictions
            .iter()
            .map(|entry| (entry.instance_id.as_str(), entry))
            .collect();
        let mut ids = Ids::default();
        for id in input.dataset {
            match predictions.get(id.as_str()) {
                None => {
                    ids.incomplete.insert(id);
                }
                Some(entry) => ids.add(harness, entry),
            }
        }
        let count = |set: &BTreeSet<&str>| set.len() as u64;
        let list = |set: &BTreeSet<&str>| set.iter().map(|id| (*id).to_owned()).collect();
        let five = harness == Harness::SweBench5;
        let leftovers = if five {
            input.leftovers.cloned()
        } else {
            input.leftovers.is_none().then(Leftovers::default)
        };
        Self {
            total_instances: input.dataset.len() as u64,
            submitted_instances: predictions.len() as u64,
            completed_instances: count(&ids.completed),
            resolved_instances: count(&ids.resolved),
            unresolved_instances: count(&ids.unresolved),
            infra_failure_instances: five.then(|| count(&ids.infra)),
            ambiguous_failure_instances: five.then(|| count(&ids.ambiguous)),
            empty_patch_instances: count(&ids.empty),
            error_instances: count(&ids.error),
            completed_ids: list(&ids.completed),
            incomplete_ids: list(&ids.incomplete),
            empty_patch_ids: list(&ids.empty),
            submitted_ids: predictions.keys().map(|id| (*id).to_owned()).collect(),
            resolved_ids: list(&ids.resolved),
            unresolved_ids: list(&ids.unresolved),
            infra_failure_ids: five.then(|| list(&ids.infra)),
            ambiguous_failure_ids: five.then(|| list(&ids.ambiguous)),
            failure_reasons: five.then_some(ids.reasons),
            error_ids: list(&ids.error),
            schema_version: Some(2),
            unstopped_instances: leftovers.as_ref().map(|left| left.containers.len() as u64),
            unstopped_containers: leftovers
                .as_ref()
                .map(|left| left.containers.iter().cloned().collect()),
            unremoved_images: leftovers.map(|left| left.images.into_iter().collect()),
            other: Map::new(),
        }
    }

    /// The bytes of the file, equal to what the harnesses write, with the line end that they put here.
    pub fn to_json_bytes(&self) -> Vec<u8> {
        let mut bytes = json::to_bytes(self);
        bytes.push(b'\n');
        bytes
    }

    /// Reads a file.
    ///
    /// # Errors
    /// What is no such report, with the field or the place.
    pub fn from_json_bytes(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}

#[derive(Debug, Default)]
struct Ids<'a> {
    completed: BTreeSet<&'a str>,
    incomplete: BTreeSet<&'a str>,
    empty: BTreeSet<&'a str>,
    resolved: BTreeSet<&'a str>,
    unresolved: BTreeSet<&'a str>,
    error: BTreeSet<&'a str>,
    infra: BTreeSet<&'a str>,
    ambiguous: BTreeSet<&'a str>,
    reasons: BTreeMap<String, String>,
}

impl<'a> Ids<'a> {
    fn add(&mut self, harness: Harness, entry: &'a RunEntry) {
        let id = entry.instance_id.as_str();
        if entry.empty_patch {
            self.empty.insert(id);
            if harness != Harness::SweBenchPp {
                return;
            }
        }
        if entry.report != ReportState::Missing {
            self.completed.insert(id);
        }
        match entry.report {
            ReportState::Missing | ReportState::Unreadable => self.error.insert(id),
            ReportState::Unresolved => self.unresolved.insert(id),
            ReportState::Resolved => {
                self.resolved.insert(id);
                return;
            }
        };
        if let Some(found) = &entry.infra {
            self.reasons.insert(id.to_owned(), found.reason.clone());
            match found.tier {
                InfraTier::Environment => self.infra.insert(id),
                InfraTier::Ambiguous => self.ambiguous.insert(id),
            };
        }
    }
}
