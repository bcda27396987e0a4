//! The gold patch must resolve the instance, by the same way as any prediction.

use super::{Draft, Gate, last_words, no_settings, reasons_as_evidence};
use crate::{Evaluated, Evaluator, Resolution, Variation};
use async_trait::async_trait;
use atlas_core::{Candidate, Decision, Error, Evidence, RunContext, Severity, Validator, Verdict};

const ID: &str = "gold_patch";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: no_settings,
    make: |parts| Box::new(GoldPatch::new(parts.evaluator.clone())),
};

/// Rejects an instance that its own gold patch does not resolve.
///
/// The patch goes the way of a prediction: laid on the base commit, the instance's tests on top, run
/// and graded. Findings: `does_not_apply`, `fitted_loosely`,
/// `not_resolved`, `tampered`.
#[derive(Clone, Debug)]
pub struct GoldPatch {
    evaluator: Evaluator,
}

impl GoldPatch {
    /// The gate for instances of this evaluator.
    pub fn new(evaluator: Evaluator) -> Self {
        Self { evaluator }
    }
}

#[async_trait]
impl Validator for GoldPatch {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let gold = &candidate.task.gold_patch;
        let plain = Variation::plain(0);
        let run = self
            .evaluator
            .evaluate(cx, candidate, gold, "gold patch", &plain);
        let (grade, run, signals) = match run.await? {
            Evaluated::Graded {
                grade,
                run,
                notes,
                signals,
            } => {
                if !notes.is_empty() {
                    let evidence = notes.iter().map(|note| Evidence::of("git apply", note));
                    draft.find(
                        "fitted_loosely",
                        Severity::Warning,
                        "the gold patch or the test patch fitted only with help",
                        evidence.collect(),
                    );
                }
                (grade, run, signals)
            }
            Evaluated::NotApplied { reasons } => {
                draft.find(
                    "does_not_apply",
                    Severity::Fatal,
                    "the gold patch does not fit on the base commit",
                    reasons_as_evidence(&reasons),
                );
                return Ok(draft.decide(Decision::Reject));
            }
        };
        draft.measure("resolution", super::json(&grade.resolution));
        if grade.resolution == Resolution::Full {
            return Ok(draft.decide(Decision::Accept));
        }
        let failing = || {
            let lists = [
                ("FAIL_TO_PASS", &grade.fail_to_pass.failure),
                ("PASS_TO_PASS", &grade.pass_to_pass.failure),
            ];
            lists
                .into_iter()
                .flat_map(|(list, ids)| ids.iter().map(move |id| (list, id)))
        };
        let statuses = run.parsed.tests();
        let doubts = signals.iter().filter(|signal| signal.decisive);
        let mut evidence: Vec<Evidence> = failing()
            .take(20)
            .map(|(list, id)| {
                let status = statuses
                    .get(id)
                    .map_or_else(|| "not in the log".to_owned(), ToString::to_string);
                Evidence::of(list, format!("{id}: {status}"))
            })
            .collect();
        evidence.extend(doubts.map(|doubt| Evidence::of("gold patch.log", &doubt.message)));
        if run.parsed.is_empty() {
            evidence.extend(last_words(&run, "gold patch.log"));
        }
        let count = failing().count();
        if !run.tampering.is_empty() {
            let signs = run
                .tampering
                .iter()
                .map(|sign| Evidence::of("gold patch.log", sign));
            draft.find(
                "tampered",
                Severity::Fatal,
                "the run meddled with its own verdict, so nothing that it says counts",
                signs.collect(),
            );
            return Ok(draft.decide(Decision::Reject));
        }
        if run.is_unfinished() {
            draft.measure("unfinished_runs", 1);
        }
        draft.find(
            "not_resolved",
            Severity::Fatal,
            format!("with the gold patch {count} tests of the lists do not pass"),
            evidence,
        );
        Ok(draft.decide(Decision::Reject))
    }
}
