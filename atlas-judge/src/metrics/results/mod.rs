//! The results file: what policies and critics said of candidate patches, and what was true.
//!
//! JSON lines, one object a line. Several lines may be about the same patch, each with a part of what
//! is known: lines with the same `instance_id`, `agent` and `patch_id` are one [`CandidateResult`]. A line without the last two
//! is about a task, as an abstention policy's word ([`TaskLine`]).

mod cost;
mod read;
mod size;

pub use cost::{Cost, LineCost, MemberCost};
pub use read::{Results, ResultsError, ResultsReader, read_results};
pub use size::PatchSize;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of a results file. Fields that are not known are ignored; absent and null are the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultLine {
    /// The task.
    pub instance_id: String,
    /// The patch, among those of its agent for this task.
    pub patch_id: String,
    /// Who made the patch: the model's name.
    pub agent: String,
    /// The ground truth: the evaluator found it resolved. Absent where this line does not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<bool>,
    /// The ground truth test by test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Vec<TestTruth>>,
    /// What the abstention policy said of the task before the patch was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abstention: Option<AbstentionResult>,
    /// What the stages without a model said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deterministic: Option<DeterministicResult>,
    /// What the validation policy said; absent where the patch did not get that far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<ValidationResult>,
    /// What a critic said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<CriticResult>,
    /// A label of how the patch was made, or of what kind of bug it is for; free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What was paid for the review's or the critic's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<Cost>,
    /// Answers behind it that were kept from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Cost>,
    /// The members of a committee or a cascade that the word is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<MemberCost>>,
    /// How large the patch is; absent where it is not known, as of one that cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch_size: Option<PatchSize>,
}

/// A line about a task, whoever makes patches for it, as `atlas abstain` writes it: it has neither `patch_id` nor `agent`.
/// Fields that are not known are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TaskLine {
    /// The task.
    pub instance_id: String,
    /// What the abstention policy said; absent where it failed.
    #[serde(default)]
    pub abstention: Option<AbstentionResult>,
    /// What was paid for its word.
    #[serde(default)]
    pub paid: Option<Cost>,
    /// Answers behind it that were kept from before.
    #[serde(default)]
    pub kept: Option<Cost>,
    /// The members of a committee or a cascade that the word is of.
    #[serde(default)]
    pub members: Option<Vec<MemberCost>>,
}

impl TaskLine {
    /// The line, if it is one: the policy's word, or its failure, and nothing that is about a patch.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(bytes).ok()?;
        let has = |name: &&str| fields.get(*name).is_some_and(|value| !value.is_null());
        let of_patch = [
            "patch_id",
            "agent",
            "resolved",
            "tests",
            "deterministic",
            "validation",
            "critic",
        ];
        if of_patch.iter().any(has) || !["abstention", "error"].iter().any(has) {
            return None;
        }
        serde_json::from_value(fields.into()).ok()
    }
}

/// How one test ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestTruth {
    /// The test's name, as the critic uses it.
    pub id: String,
    /// It passed.
    pub passed: bool,
    /// Characters of its source, for the low-confidence rule, where the critic's word has none; without
    /// either the rule leaves the test be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

/// An abstention policy's word on a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AbstentionResult {
    /// Of success, 0 to 1.
    pub probability: f64,
    /// Where the probability comes from. Those of different sources are never compared.
    pub source: String,
}

/// What the stages without a model said of a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeterministicResult {
    /// It passed all of them.
    pub passed: bool,
    /// The one that rejected it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

/// A validation policy's word on a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationResult {
    /// The judgement.
    pub accepted: bool,
    /// The patch correctness score, 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Where the score comes from. Those of different sources are never compared.
    pub source: String,
}

/// A critic's word on a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticResult {
    /// Test by test.
    pub tests: Vec<CriticTest>,
    /// Tests of `FAIL_TO_PASS` that it was not shown: of a patch that passes all the others it says nothing. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unseen: u64,
    /// A number that orders patches, higher for better ones, where the critic has one of its own, as the cosine of the
    /// likeness baseline; any number. Patches are else ordered by their predicted share of passing tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Which critic, or how it was shown the patch; absent is one of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A critic's word on one test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticTest {
    /// The test's name.
    pub id: String,
    /// It is predicted to pass.
    pub predicted: bool,
    /// 0 to 100.
    pub confidence: f64,
    /// Characters of the test's source, as the critic was shown it, for the low-confidence rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
}

/// All that the lines say of one patch.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateResult {
    /// The task.
    pub instance_id: String,
    /// The patch.
    pub patch_id: String,
    /// Who made it.
    pub agent: String,
    /// The ground truth.
    pub resolved: bool,
    /// The ground truth test by test.
    pub tests: Option<Vec<TestTruth>>,
    /// Of the abstention policy.
    pub abstention: Option<AbstentionResult>,
    /// Of the stages without a model.
    pub deterministic: Option<DeterministicResult>,
    /// Of the validation policy.
    pub validation: Option<ValidationResult>,
    /// Of critics, by variant; a critic without one is under the empty name.
    pub critics: BTreeMap<String, CriticResult>,
    /// The free label.
    pub kind: Option<String>,
    /// What words cost: of critics by variant, without one of the validation policy.
    pub costs: BTreeMap<Option<String>, LineCost>,
    /// How large the patch is.
    pub patch_size: Option<PatchSize>,
}
