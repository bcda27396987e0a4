//! What Atlas says of a prediction, beside what a harness would say.

use crate::own_parser::ReadBy;
use atlas_core::{Evidence, GradingMode, ResourceUsage, StateSummary};
use atlas_guard::Signal;
use atlas_oracle::{Cause, Graded, Resolution};
use serde::{Deserialize, Serialize};

/// How far an evaluation came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvalOutcome {
    /// Tests ran and were graded, or the prediction was refused as tampered and not run.
    Graded,
    /// The prediction is null.
    NullPatch,
    /// The prediction is an empty text.
    EmptyPatch,
    /// The prediction does not fit on the base commit.
    NotApplied,
    /// Whatever went wrong, it was not the prediction: nothing is known of it.
    NoEvidence,
}

/// What the canary tests of a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CanaryReport {
    /// The test file that held them.
    pub file: Option<String>,
    /// Whether the one that must pass did; absent if none was laid out.
    pub passed: Option<bool>,
    /// Whether the one that must fail did; absent if none was laid out.
    pub failed: Option<bool>,
    /// Why there were none, or fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absent_because: Option<String>,
}

/// Atlas's verdict on one prediction: `verdict.json` beside the harness's `report.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalVerdict {
    /// 1.
    pub schema_version: u32,
    /// The instance.
    pub instance_id: String,
    /// The model, as the prediction names it.
    pub model_name_or_path: String,
    /// By whose rules.
    pub mode: GradingMode,
    /// How far it came.
    pub outcome: EvalOutcome,
    /// Whether the prediction solves the instance.
    pub resolved: bool,
    /// The field's word for how far it does.
    pub resolution: Resolution,
    /// Why it does not; absent if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The reasons in words, the most telling first.
    pub reasons: Vec<String>,
    /// Lines of logs and patches that prove them.
    pub evidence: Vec<Evidence>,
    /// Signs that the prediction meddled with its own verdict.
    pub tampering: Vec<String>,
    /// Changes of the prediction that steer the runner, and what was done about each.
    pub guards: Vec<Signal>,
    /// What the canaries did.
    pub canaries: CanaryReport,
    /// Remarks.
    pub notes: Vec<String>,
    /// The tests that define the task.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Graded,
    /// The tests that guard the rest.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Graded,
    /// The run in numbers; absent if none was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<StateSummary>,
    /// Who read the log, where it was no shipped parser.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_by: Option<ReadBy>,
    /// What the prediction's own run took of the machine; empty where none was made.
    #[serde(default)]
    pub usage: ResourceUsage,
    /// The image or prepared folder.
    pub environment: String,
    /// SHA-256 of the prediction's patch.
    pub patch_sha256: String,
}

impl EvalVerdict {
    pub(super) fn new(instance: &str, model: &str, mode: GradingMode, patch: &[u8]) -> Self {
        Self {
            schema_version: 1,
            instance_id: instance.to_owned(),
            model_name_or_path: model.to_owned(),
            mode,
            outcome: EvalOutcome::NoEvidence,
            resolved: false,
            resolution: Resolution::No,
            cause: None,
            reasons: Vec::new(),
            evidence: Vec::new(),
            tampering: Vec::new(),
            guards: Vec::new(),
            canaries: CanaryReport::default(),
            notes: Vec::new(),
            fail_to_pass: Graded::default(),
            pass_to_pass: Graded::default(),
            run: None,
            read_by: None,
            usage: ResourceUsage::default(),
            environment: String::new(),
            patch_sha256: crate::store::sha256(patch),
        }
    }

    /// Notes whose parser read the log.
    pub(super) fn is_read_by(&mut self, by: ReadBy) {
        self.notes.push(by.note());
        self.read_by = Some(by);
    }
}
