//! An empty prediction must not resolve the instance.

use super::{Draft, Gate, listed, reasons_as_evidence};
use crate::{Evaluated, Evaluator, Resolution, Variation};
use async_trait::async_trait;
use atlas_core::{Candidate, Decision, Error, Patch, RunContext, Severity, Validator, Verdict};
use std::collections::BTreeMap;

const ID: &str = "null_patch";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: |all| all.null_runs.into(),
    make: |parts| {
        Box::new(NullPatch::new(
            parts.evaluator.clone(),
            parts.settings.null_runs,
        ))
    },
};

/// Rejects an instance that a prediction which changes nothing resolves, in any of some runs: a race
/// that the gold patch mends passes now and then without it.
///
/// A test of `FAIL_TO_PASS` that passes in some of the runs is set aside. Findings:
/// `resolved_by_nothing`, `passes_without_solution`, `does_not_apply`, `unfinished`.
#[derive(Clone, Debug)]
pub struct NullPatch {
    evaluator: Evaluator,
    runs: u32,
}

impl NullPatch {
    /// The gate for instances of this evaluator, with this many runs, at least one.
    pub fn new(evaluator: Evaluator, runs: u32) -> Self {
        Self {
            evaluator,
            runs: runs.max(1),
        }
    }
}

#[async_trait]
impl Validator for NullPatch {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let nothing = Patch::default();
        let mut passed: BTreeMap<String, u32> = BTreeMap::new();
        let mut resolved = 0;
        let mut unfinished = 0_u32;
        for repeat in 0..self.runs {
            let variation = Variation::plain(repeat);
            let run = self
                .evaluator
                .evaluate(cx, candidate, &nothing, "null patch", &variation);
            match run.await? {
                Evaluated::Graded { grade, run, .. } => {
                    unfinished += u32::from(run.is_unfinished());
                    resolved += u32::from(grade.resolution == Resolution::Full);
                    for id in grade.fail_to_pass.success {
                        *passed.entry(id).or_default() += 1;
                    }
                }
                Evaluated::NotApplied { reasons } => {
                    draft.find(
                        "does_not_apply",
                        Severity::Fatal,
                        "the test patch does not fit on the base commit",
                        reasons_as_evidence(&reasons),
                    );
                    return Ok(draft.decide(Decision::Reject));
                }
            }
        }
        draft.measure("runs", self.runs);
        draft.measure("resolved", resolved);
        if unfinished > 0 {
            draft.measure("unfinished_runs", unfinished);
        }
        for (id, times) in passed {
            let reason = format!(
                "passes without the solution in {times} of {} runs",
                self.runs
            );
            draft.verdict.quarantine.insert(id, reason);
        }
        if resolved > 0 {
            let evidence = listed("FAIL_TO_PASS", &draft.verdict.quarantine);
            draft.find(
                "resolved_by_nothing",
                Severity::Fatal,
                format!(
                    "a prediction that changes nothing resolves the instance in {resolved} of {} runs",
                    self.runs
                ),
                evidence,
            );
            return Ok(draft.decide(Decision::Reject));
        }
        if !draft.verdict.quarantine.is_empty() {
            let evidence = listed("FAIL_TO_PASS", &draft.verdict.quarantine);
            draft.find(
                "passes_without_solution",
                Severity::Fatal,
                "tests of FAIL_TO_PASS pass without the solution",
                evidence,
            );
        }
        // A run that was cut short resolves nothing, whatever the tests would have said.
        if unfinished == self.runs {
            draft.find(
                "unfinished",
                Severity::Warning,
                "no run of the empty prediction came to its end",
                Vec::new(),
            );
            return Ok(draft.decide(Decision::NoEvidence));
        }
        let report = &candidate.oracle;
        Ok(draft.by_quarantine(&report.fail_to_pass, &report.pass_to_pass))
    }
}
