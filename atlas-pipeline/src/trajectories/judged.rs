//! The judge of paper 001, appendix F.3, step 4, as a gate.

use atlas_core::{
    ChatMessage, Decision, Error, ErrorKind, Finding, Instance, InstanceId, Judge as _, Judgement,
    LanguageModel, Patch, RunContext, Severity, Subject, Verdict,
};
use atlas_judge::trajectories::{DimensionScore, TrajectoryJudge, TrajectoryJudgeOptions};
use atlas_trajectory::{Attempt, Source, Step, ToolCall, Trajectory, TrajectoryGate, without_hint};
use serde_json::{Map, Value, json};

/// [`TrajectoryJudge`] as a gate: an attempt is accepted if every dimension that counts is good enough.
///
/// The model is shown what the agent was told without the hint, its steps, and the patch in `extra.submission`.
/// Findings have the dimensions' names as codes, the model's assessment, and quotations that stand in the attempt.
/// Measurements: the judgement's details, `explanation` and `confidence`.
#[derive(Debug)]
pub struct JudgedQuality<M> {
    judge: TrajectoryJudge<M>,
}

impl JudgedQuality<()> {
    /// The gate's name.
    pub const ID: &str = "judged_quality";
}

impl<M: LanguageModel> JudgedQuality<M> {
    /// The gate over a model.
    pub fn new(model: M, options: TrajectoryJudgeOptions) -> Self {
        Self {
            judge: TrajectoryJudge::new(model, options),
        }
    }

    /// What the model is told of an attempt.
    ///
    /// # Errors
    /// The agent did nothing.
    pub fn prompt(&self, attempt: &Attempt) -> Result<Vec<ChatMessage>, Error> {
        self.judge.prompt(&subject(attempt))
    }

    fn verdict(&self, judgement: Judgement) -> Result<Verdict, Error> {
        let fail = |why| {
            Error::new(ErrorKind::Internal, "read the scores of", "a judgement").with_source(why)
        };
        let dimensions = judgement.details.get("dimensions").cloned();
        let dimensions: Vec<DimensionScore> =
            serde_json::from_value(dimensions.unwrap_or_default()).map_err(fail)?;
        let rule = self.judge.options().rule;
        let refused = dimensions.iter().filter(|one| !rule.passes(one));
        let findings: Vec<Finding> = refused
            .map(|one| Finding {
                code: one.dimension.as_str().to_owned(),
                severity: Severity::Fatal,
                message: format!(
                    "score {}, of 0 (best) to 3 (worst): {}",
                    one.score, one.assessment
                ),
                evidence: one.evidence.clone(),
            })
            .collect();
        let mut measurements = judgement.details;
        measurements.insert("explanation".to_owned(), json!(judgement.reasoning));
        measurements.insert("confidence".to_owned(), json!(judgement.confidence));
        Ok(Verdict {
            validator: JudgedQuality::ID.to_owned(),
            decision: if findings.is_empty() {
                Decision::Accept
            } else {
                Decision::Reject
            },
            findings,
            quarantine: std::collections::BTreeMap::new(),
            measurements,
        })
    }
}

#[async_trait::async_trait]
impl<M: LanguageModel> TrajectoryGate for JudgedQuality<M> {
    fn id(&self) -> &str {
        JudgedQuality::ID
    }

    async fn check(&self, cx: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
        let judgement = self.judge.judge(cx, &subject(attempt)).await?;
        self.verdict(judgement)
    }
}

/// An attempt in the form in which judges read it.
fn subject(attempt: &Attempt) -> Subject {
    let (trajectory, _) = without_hint(&attempt.trajectory, &attempt.hint);
    // The name stands in errors alone; recordings may have one that no dataset allows.
    let id = trajectory.instance_id().and_then(|id| id.parse().ok());
    let id: InstanceId = id.unwrap_or_else(|| "attempt".parse().expect("a name"));
    let submission = trajectory.extra.get("submission").and_then(Value::as_str);
    let mut attachments = Map::new();
    attachments.insert("trajectory".to_owned(), steps(&trajectory));
    Subject {
        instance: Instance::new(&id),
        patch: submission.map(Patch::new),
        attachments,
    }
}

/// What was told, of people if they said anything, and the agent's steps with their numbers in the recording.
fn steps(trajectory: &Trajectory) -> Value {
    let told = |source| {
        let steps = trajectory.steps.iter();
        let steps = steps.filter(move |step| step.source == source);
        let texts = steps.map(|step| step.message.text());
        texts
            .filter(|text| !text.trim().is_empty())
            .collect::<Vec<_>>()
    };
    let mut prompts = told(Source::User);
    if prompts.is_empty() {
        prompts = told(Source::System);
    }
    let join = |texts: Vec<String>| texts.join("\n");
    let step = |step: &Step| {
        let thoughts = [
            step.reasoning_content.clone().unwrap_or_default(),
            step.message.text(),
        ];
        json!({
            "step_id": step.step_id,
            "thought": join(thoughts.into_iter().filter(|text| !text.trim().is_empty()).collect()),
            "action": join(step.calls().iter().map(ToolCall::text).collect()),
            "observation": join(step.observed().collect()),
        })
    };
    let steps: Vec<Value> = trajectory.agent_steps().map(step).collect();
    json!({ "prompts": prompts, "steps": steps })
}
