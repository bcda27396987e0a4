//! The log parser of an instance must not have been refused on the instance's own logs.

use super::{Draft, Gate, no_settings};
use async_trait::async_trait;
use atlas_core::{Candidate, Decision, Error, Evidence, RunContext, Severity, Validator, Verdict};
use serde_json::Value;

const ID: &str = "certificate";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: false,
    settings: no_settings,
    make: |_| Box::new(ParserCertificate),
};

/// Rejects an instance whose row says that certification refused its log parser: who reads its logs
/// does not see what they say. It looks at the row only (`atlas.certificate`) and runs nothing.
///
/// It is for those who ask for it, no part of the [usual gates](Gate::usual): a row tells of
/// its certificate anyway. Findings: `refused` (fatal), `insufficient` (a warning: the logs do not
/// show enough to tell), `absent`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParserCertificate;

#[async_trait]
impl Validator for ParserCertificate {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, _cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let row = candidate.instance.as_map();
        let certificate = row.get("atlas").and_then(|ours| match ours {
            // Columnar files keep objects as text.
            Value::String(text) => serde_json::from_str::<Value>(text)
                .ok()
                .and_then(|ours| ours.get("certificate").cloned()),
            ours => ours.get("certificate").cloned(),
        });
        let text = |key: &str| {
            let value = certificate.as_ref().and_then(|all| all.get(key));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let decision = text("decision");
        if decision.is_empty() {
            draft.find(
                "absent",
                Severity::Note,
                "the row has no certificate of its log parser",
                Vec::new(),
            );
            return Ok(draft.decide(Decision::NoEvidence));
        }
        let parser = text("parser");
        for key in ["decision", "level", "score"] {
            if let Some(value) = certificate.as_ref().and_then(|all| all.get(key)) {
                draft.measure(key, value.clone());
            }
        }
        match decision.as_str() {
            "certified" => Ok(draft.decide(Decision::Accept)),
            "refused" => {
                let kinds = certificate.as_ref().and_then(|all| all.get("refused_by"));
                let kinds = kinds.and_then(Value::as_array).into_iter().flatten();
                let evidence = kinds
                    .filter_map(Value::as_str)
                    .map(|kind| {
                        Evidence::of("atlas.certificate", format!("check `{kind}` did not hold"))
                    })
                    .collect();
                draft.find(
                    "refused",
                    Severity::Fatal,
                    format!("certification refuses the parser `{parser}` on this instance's logs"),
                    evidence,
                );
                Ok(draft.decide(Decision::Reject))
            }
            _ => {
                draft.find(
                    "insufficient",
                    Severity::Warning,
                    format!(
                        "this instance's logs do not show enough to certify the parser `{parser}`"
                    ),
                    Vec::new(),
                );
                Ok(draft.decide(Decision::Accept))
            }
        }
    }
}
