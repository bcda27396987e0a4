//! Stages one after another.

use super::{
    LastTestCommand, PatchForm, PatchStage, RegressionCheck, ReviewOptions, SpecificationReview,
    StageOutcome, StageReport, TrajectoryReview, ValidationSubject,
};
use async_trait::async_trait;
use atlas_core::{
    Confidence, ConfidenceSource, Error, Judge, Judgement, LanguageModel, RunContext, Subject,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How a patch fared in the stages without a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deterministic {
    /// Whether none rejected it.
    pub passed: bool,
    /// The one that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
}

/// What a model's review said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Whether it found the bug fixed.
    pub accepted: bool,
    /// 0 unless it did, else how likely its answer was; absent where nothing tells.
    pub score: Option<f64>,
    /// Where the score comes from.
    pub source: ConfidenceSource,
}

/// What validation says about one patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    /// Whether no stage rejected it: the binary decision.
    pub accepted: bool,
    /// The stages without a model.
    pub deterministic: Deterministic,
    /// The review; absent where it was not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// Every stage that was reached, in order.
    pub stages: Vec<StageReport>,
}

/// A chain of stages. The first that rejects ends it; one without evidence does not.
///
/// As a judge: labels `accept` and `reject`; the confidence is that of the review in its own answer, 1 by
/// rule where a stage without model rejected, missing where only such stages looked and none did.
/// Attachments as [`ValidationSubject::of`]. Details: `accepted`, `deterministic`, `review`, `stages`
/// (with the versions of all prompts).
#[derive(Debug)]
pub struct PatchValidation {
    stages: Vec<Box<dyn PatchStage>>,
}

impl PatchValidation {
    /// A chain of any stages.
    pub fn new(stages: Vec<Box<dyn PatchStage>>) -> Self {
        Self { stages }
    }

    /// The stages without a model: form, regression check or reproduction test, last test command.
    /// `test_tools` are names of the agent's own tools that run tests, beside the default ones.
    pub fn deterministic(test_tools: &[String]) -> Self {
        Self::new(vec![
            Box::new(PatchForm),
            Box::new(RegressionCheck),
            Box::new(LastTestCommand::default().with_tools(test_tools)),
        ])
    }

    /// The same with one more stage at its end.
    #[must_use]
    pub fn then(mut self, stage: Box<dyn PatchStage>) -> Self {
        self.stages.push(stage);
        self
    }

    /// The stages without a model, then the review with a specification: what paper 002 found best.
    pub fn with_specification(model: Arc<dyn LanguageModel>, options: ReviewOptions) -> Self {
        let chain = Self::deterministic(&options.test_tools);
        chain.then(Box::new(SpecificationReview::new(model, options)))
    }

    /// These, then the review of the whole trajectory.
    pub fn of_trajectory(model: Arc<dyn LanguageModel>, options: ReviewOptions) -> Self {
        let chain = Self::deterministic(&options.test_tools);
        chain.then(Box::new(TrajectoryReview::new(model, options)))
    }

    /// Looks at a patch.
    ///
    /// # Errors
    /// The first one of a stage.
    ///
    /// # Cancellation
    /// As the model.
    pub async fn validate(
        &self,
        cx: &RunContext,
        subject: &ValidationSubject,
    ) -> Result<ValidationReport, Error> {
        let mut report = ValidationReport::default();
        for stage in &self.stages {
            let found = stage.look(cx, subject).await?;
            report.add(found, stage.is_deterministic());
            if !report.accepted {
                break;
            }
        }
        Ok(report)
    }
}

impl Default for ValidationReport {
    /// Before any stage: nothing is against the patch.
    fn default() -> Self {
        Self {
            accepted: true,
            deterministic: Deterministic {
                passed: true,
                stage: None,
            },
            review: None,
            stages: Vec::new(),
        }
    }
}

impl ValidationReport {
    /// Takes in what the next stage says.
    pub fn add(&mut self, found: StageReport, is_deterministic: bool) {
        let is_rejected = found.outcome == StageOutcome::Rejected;
        if !is_deterministic {
            self.review = Some(Review {
                accepted: !is_rejected,
                score: found.details.get("score").and_then(Value::as_f64),
                source: found
                    .confidence
                    .map_or(ConfidenceSource::Missing, |one| one.source),
            });
        } else if is_rejected {
            self.deterministic.passed = false;
            self.deterministic.stage = Some(found.stage.clone());
        }
        self.accepted &= !is_rejected;
        self.stages.push(found);
    }
}

#[async_trait]
impl Judge for PatchValidation {
    fn id(&self) -> &'static str {
        "patch-validation"
    }

    async fn judge(&self, cx: &RunContext, subject: &Subject) -> Result<Judgement, Error> {
        let subject = ValidationSubject::of(subject)?;
        let report = self.validate(cx, &subject).await?;
        let last = report.stages.last();
        let confidence = match last {
            Some(stage) if stage.confidence.is_some() => stage.confidence,
            Some(stage) if stage.outcome == StageOutcome::Rejected => Some(Confidence {
                value: Some(1.0),
                source: ConfidenceSource::Rule,
            }),
            _ => None,
        };
        let reasoning = last.map_or_else(
            || "there are no stages".to_owned(),
            |stage| format!("{}: {}", stage.stage, stage.reason),
        );
        let evidence = report
            .stages
            .iter()
            .flat_map(|stage| stage.evidence.clone())
            .collect();
        let mut details = Map::new();
        details.insert("accepted".to_owned(), json!(report.accepted));
        details.insert("deterministic".to_owned(), json!(report.deterministic));
        details.insert("review".to_owned(), json!(report.review));
        details.insert("stages".to_owned(), json!(report.stages));
        Ok(Judgement {
            label: if report.accepted { "accept" } else { "reject" }.to_owned(),
            confidence: confidence.unwrap_or(Confidence {
                value: None,
                source: ConfidenceSource::Missing,
            }),
            reasoning,
            evidence,
            details,
        })
    }
}
