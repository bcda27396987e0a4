//! One look at a patch.

use super::ValidationSubject;
use super::facts::Regression;
use super::test_commands::{CommandOutcome, TestCommand, test_commands};
use async_trait::async_trait;
use atlas_core::{Confidence, Error, Evidence, RunContext};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// What a stage says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StageOutcome {
    /// Nothing against the patch.
    Passed,
    /// The patch is not shown.
    Rejected,
    /// There was nothing to look at; the patch goes on.
    NoEvidence,
}

/// What a stage found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// The stage.
    pub stage: String,
    /// What it says.
    pub outcome: StageOutcome,
    /// Why, in one sentence or the model's words.
    pub reason: String,
    /// Proof lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// How sure a model was of its answer; absent where none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// What the stage documents, such as versions of prompts.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl StageReport {
    /// A report without model.
    pub fn new(stage: &str, outcome: StageOutcome, reason: impl Into<String>) -> Self {
        Self {
            stage: stage.to_owned(),
            outcome,
            reason: reason.into(),
            evidence: Vec::new(),
            confidence: None,
            details: Map::new(),
        }
    }
}

/// One stage of patch validation (paper 002, section 3.2.1).
///
/// A stage of its own kind, not a [`Validator`](atlas_core::Validator): that looks at an instance with
/// its environment, this one at one candidate patch among many, of which there may be no more than a
/// diff and a trajectory.
///
/// # Contract
/// - A defect of the patch is a [`StageOutcome::Rejected`] with a reason, never an [`Error`]; a model
///   that fails is an [`Error`], never a rejection.
/// - Where there is nothing to look at, the outcome is [`StageOutcome::NoEvidence`], not
///   [`StageOutcome::Passed`].
/// - The same subject and the same answers of the model give the same report.
///
/// # Cancellation
/// As the model underneath.
#[async_trait]
pub trait PatchStage: fmt::Debug + Send + Sync {
    /// The stable name.
    fn id(&self) -> &str;

    /// Whether no model is asked. Percentiles are taken over the patches that pass all such stages.
    fn is_deterministic(&self) -> bool;

    /// Looks.
    ///
    /// # Errors
    /// The model's, or an answer that cannot be read.
    async fn look(
        &self,
        cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error>;
}

/// Rejects what is no patch at all: empty, or not readable as a diff.
#[derive(Clone, Copy, Debug, Default)]
pub struct PatchForm;

#[async_trait]
impl PatchStage for PatchForm {
    fn id(&self) -> &'static str {
        "patch-form"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    async fn look(
        &self,
        _cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let rejected = |why: String| StageReport::new(self.id(), StageOutcome::Rejected, why);
        Ok(match subject.patch.files() {
            Ok(files) if files.is_empty() => rejected("the patch is empty".to_owned()),
            Ok(files) => {
                let reason = format!("the patch touches {} files", files.len());
                StageReport::new(self.id(), StageOutcome::Passed, reason)
            }
            Err(why) => rejected(format!("the patch cannot be read: {why}")),
        })
    }
}

/// Rejects a patch that breaks a test target which depends directly on a modified file; or, where a
/// test is known that reproduces the bug, a patch with which that one does not pass.
///
/// Decides from [`ValidationSubject::facts`]; without any there is no evidence.
#[derive(Clone, Copy, Debug, Default)]
pub struct RegressionCheck;

#[async_trait]
impl PatchStage for RegressionCheck {
    fn id(&self) -> &'static str {
        "regression-check"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    async fn look(
        &self,
        _cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let report = |outcome, reason: String| StageReport::new(self.id(), outcome, reason);
        let Some(facts) = &subject.facts else {
            let reason = "no results of tests were given".to_owned();
            return Ok(report(StageOutcome::NoEvidence, reason));
        };
        let is_reproduction = facts.reproduction.is_some();
        let mut found = match facts.regression(&subject.patch) {
            Regression::Unknown(why) => report(StageOutcome::NoEvidence, why),
            Regression::None(_) if is_reproduction => report(
                StageOutcome::Passed,
                "the reproduction test passes".to_owned(),
            ),
            Regression::None(known) => report(
                StageOutcome::Passed,
                format!("{known} targets near the patch are no worse"),
            ),
            Regression::Found(worse) => {
                let mut report = report(StageOutcome::Rejected, worse.join("; "));
                let evidence = worse.into_iter().map(|one| Evidence::of("tests", one));
                report.evidence = evidence.collect();
                report
            }
        };
        let by = if is_reproduction {
            "reproduction_test"
        } else {
            "targets"
        };
        found.details.insert("by".to_owned(), json!(by));
        Ok(found)
    }
}

/// Rejects a patch whose agent stopped although the last test command that it ran had failed.
///
/// Without a trajectory there is no evidence. An agent that ran no tests passes, and the review is
/// told so; so does one whose last test command ended in a way that nothing tells.
#[derive(Clone, Debug)]
pub struct LastTestCommand {
    /// Names of the agent's own tools that run tests; default `run_tests`, `run_test`.
    pub tools: Vec<String>,
}

impl Default for LastTestCommand {
    fn default() -> Self {
        Self {
            tools: ["run_tests", "run_test"].map(str::to_owned).to_vec(),
        }
    }
}

impl LastTestCommand {
    /// The same with more tools.
    #[must_use]
    pub fn with_tools(mut self, tools: &[String]) -> Self {
        self.tools.extend_from_slice(tools);
        self
    }

    /// The test commands of the subject's trajectory.
    pub fn commands(&self, subject: &ValidationSubject) -> Vec<TestCommand> {
        subject
            .trajectory
            .as_ref()
            .map(|trajectory| test_commands(trajectory, &self.tools, subject.log_parser.as_deref()))
            .unwrap_or_default()
    }
}

#[async_trait]
impl PatchStage for LastTestCommand {
    fn id(&self) -> &'static str {
        "last-test-command"
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    async fn look(
        &self,
        _cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<StageReport, Error> {
        let report = |outcome, reason: &str| StageReport::new(self.id(), outcome, reason);
        if subject.trajectory.is_none() {
            return Ok(report(StageOutcome::NoEvidence, "no trajectory was given"));
        }
        let commands = self.commands(subject);
        let Some(last) = commands.last() else {
            return Ok(report(StageOutcome::Passed, "the agent ran no tests"));
        };
        let mut found = match last.outcome {
            CommandOutcome::Failed => {
                report(StageOutcome::Rejected, "the last test command failed")
            }
            CommandOutcome::Passed => report(StageOutcome::Passed, "the last test command passed"),
            CommandOutcome::Unknown => report(
                StageOutcome::Passed,
                "nothing tells how the last test command ended",
            ),
        };
        let command: String = last.command.chars().take(200).collect();
        let step = format!("trajectory, step {}", last.step);
        found
            .evidence
            .push(Evidence::of(step, format!("{command}: {}", last.proof)));
        let count = commands.len();
        found
            .details
            .insert("test_commands".to_owned(), json!(count));
        Ok(found)
    }
}
