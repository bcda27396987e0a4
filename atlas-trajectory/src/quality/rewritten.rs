//! What must hold after thoughts were rewritten (paper 001, appendix F.3, step 3).

use super::{Attempt, HintTerms, TrajectoryGate, finding, proof, verdict};
use crate::{Content, Source, Step, ToolCall, Trajectory};
use async_trait::async_trait;
use atlas_core::{Error, Evidence, Finding, RunContext, Severity, Verdict};

/// Refuses rewritten attempts that still speak of the hint, lost a thought, or differ in anything but thoughts:
/// actions and observations must be the original's byte for byte. An attempt without an original was not
/// rewritten; then only its thoughts are looked at.
#[derive(Clone, Debug, Default)]
pub struct RewrittenThoughts {
    /// Words that count as the hint's beside the usual ones. Default: none.
    pub words: Vec<String>,
}

impl RewrittenThoughts {
    /// The gate's name.
    pub const ID: &str = "rewritten_thoughts";
}

/// A step without what a rewriting may change.
fn without_thought(step: &Step) -> String {
    let mut rest = step.clone();
    if rest.source == Source::Agent {
        rest.message = Content::default();
        rest.reasoning_content = rest.reasoning_content.map(|_| String::new());
    }
    serde_json::to_string(&rest).expect("maps with text keys only")
}

fn is_empty(step: &Step) -> bool {
    let reasoning = step.reasoning_content.as_deref().unwrap_or_default();
    step.message.text().trim().is_empty() && reasoning.trim().is_empty()
}

/// What differs beside thoughts.
fn differences(original: &Trajectory, rewritten: &Trajectory, terms: &HintTerms) -> Vec<Finding> {
    let mut changed = Vec::new();
    let mut lost = Vec::new();
    let mut needless = Vec::new();
    for (before, after) in original.steps.iter().zip(&rewritten.steps) {
        if without_thought(before) != without_thought(after) {
            let action = |step: &Step| step.calls().iter().map(ToolCall::text).collect::<Vec<_>>();
            let text = if action(before) == action(after) {
                "the step differs from the original in more than its thought".to_owned()
            } else {
                format!(
                    "{} became {}",
                    action(before).join("\n"),
                    action(after).join("\n")
                )
            };
            changed.push(proof(after, "action", &text));
        }
        if !is_empty(before) && is_empty(after) {
            lost.push(proof(before, "thought", &before.message.text()));
        }
        let is_same =
            before.message == after.message && before.reasoning_content == after.reasoning_content;
        if before.source == Source::Agent && !is_same && terms.in_thought(before).is_none() {
            needless.push(proof(after, "thought", &after.message.text()));
        }
    }
    if original.steps.len() != rewritten.steps.len() {
        let text = format!(
            "{} steps became {}",
            original.steps.len(),
            rewritten.steps.len()
        );
        changed.push(Evidence::of("steps", text));
    }
    let mut findings = Vec::new();
    let mut add = |code: &str, message: &str, evidence: Vec<Evidence>| {
        if !evidence.is_empty() {
            findings.push(finding(code, Severity::Fatal, message.to_owned(), evidence));
        }
    };
    add(
        "more_than_thoughts",
        "more than thoughts was rewritten",
        changed,
    );
    add("thought_lost", "thoughts became empty", lost);
    add(
        "needless",
        "thoughts that did not speak of the hint were rewritten",
        needless,
    );
    findings
}

#[async_trait]
impl TrajectoryGate for RewrittenThoughts {
    fn id(&self) -> &str {
        Self::ID
    }

    async fn check(&self, _: &RunContext, attempt: &Attempt) -> Result<Verdict, Error> {
        let terms = HintTerms::new(&attempt.hint, &self.words);
        let mut findings = attempt
            .original
            .as_ref()
            .map(|original| differences(original, &attempt.trajectory, &terms))
            .unwrap_or_default();
        let left: Vec<Evidence> = attempt
            .trajectory
            .agent_steps()
            .filter_map(|step| Some(proof(step, "thought", &terms.in_thought(step)?)))
            .collect();
        if !left.is_empty() {
            let message = format!("thoughts that speak of the hint: {}", left.len());
            findings.push(finding("hint_in_thought", Severity::Fatal, message, left));
        }
        Ok(verdict(Self::ID, findings))
    }
}
