//! The judge as a gate.

use super::judge::{Alignment, AlignmentOptions};
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, Error, Finding, Judge as _, LanguageModel, RunContext, Severity, Subject,
    Validator, Verdict,
};
use serde_json::{Map, Value};

/// [`Alignment`] as a gate: high quality is accepted, medium is to be repaired by hints, low rejected. A
/// row without a problem statement, or without tests or a solution, gives no evidence.
///
/// The patches are the row's, or where it has none yet the candidate's. Findings: `needs_curation`,
/// `unclear_or_misaligned`. Measurements: the judgement's details, and `confidence`.
#[derive(Debug)]
pub struct AlignmentGate<M> {
    judge: Alignment<M>,
}

impl<M: LanguageModel> AlignmentGate<M> {
    /// The gate over a model.
    pub fn new(model: M, options: AlignmentOptions) -> Self {
        Self {
            judge: Alignment::new(model, options),
        }
    }
}

#[async_trait]
impl<M: LanguageModel> Validator for AlignmentGate<M> {
    fn id(&self) -> &'static str {
        "alignment"
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut instance = candidate.instance.clone();
        let own = [
            ("patch", &candidate.task.gold_patch),
            ("test_patch", &candidate.task.test_patch),
        ];
        for (column, patch) in own {
            if matches!(instance.text(column), Ok(None)) {
                let text = String::from_utf8_lossy(patch.as_bytes()).into_owned();
                instance.set(column, text);
            }
        }
        let mut verdict = Verdict {
            validator: self.id().to_owned(),
            decision: Decision::NoEvidence,
            findings: Vec::new(),
            quarantine: std::collections::BTreeMap::new(),
            measurements: Map::new(),
        };
        let missing = ["problem_statement", "patch", "test_patch"]
            .into_iter()
            .find(|column| {
                let text = instance.text(column).ok().flatten();
                text.is_none_or(|text| text.trim().is_empty())
            });
        if let Some(column) = missing {
            verdict.findings.push(Finding {
                code: "nothing_to_judge".to_owned(),
                severity: Severity::Note,
                message: format!("the row has no `{column}`"),
                evidence: Vec::new(),
            });
            return Ok(verdict);
        }
        let subject = Subject {
            instance,
            patch: None,
            attachments: Map::new(),
        };
        let judgement = self.judge.judge(cx, &subject).await?;
        let (decision, finding) = match judgement.label.as_str() {
            "high" => (Decision::Accept, None),
            "medium" => (
                Decision::Repair,
                Some(("needs_curation", Severity::Warning)),
            ),
            _ => (
                Decision::Reject,
                Some(("unclear_or_misaligned", Severity::Fatal)),
            ),
        };
        verdict.decision = decision;
        verdict
            .findings
            .extend(finding.map(|(code, severity)| Finding {
                code: code.to_owned(),
                severity,
                message: judgement.reasoning.clone(),
                evidence: judgement.evidence.clone(),
            }));
        verdict.measurements = judgement.details;
        let confidence = serde_json::to_value(judgement.confidence).unwrap_or(Value::Null);
        verdict
            .measurements
            .insert("confidence".to_owned(), confidence);
        Ok(verdict)
    }
}
