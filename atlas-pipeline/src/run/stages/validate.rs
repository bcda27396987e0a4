//! The gates that need no model.

use super::{Surroundings, bytes_below, parallel};
use crate::run::{RunCandidate, Stage, StepOutcome};
use crate::store::write_json;
use crate::validate::validate_row;
use crate::{Engines, ValidateOptions, write_atomically};
use async_trait::async_trait;
use atlas_core::{Decision, Error, ErrorKind, Instance, RunContext, Severity};
use serde_json::json;
use std::sync::Arc;

/// Puts the instance through the gates of `[run.validate]`. What is kept of its row stands in `validated.json`, what each
/// gate said in `validate.json` and `gates/`.
#[derive(Debug)]
pub(super) struct ValidateStage {
    around: Arc<Surroundings>,
    options: ValidateOptions,
}

/// The row that the gates left, in the folder of artefacts.
pub(super) const VALIDATED: &str = "validated.json";

impl ValidateStage {
    /// Its name.
    const ID: &'static str = "validate";

    pub(super) fn new(around: Arc<Surroundings>) -> Result<Self, Error> {
        // Its folder is what counts: `make` left the rest beside it.
        let beside = around.instances.join("dataset.jsonl");
        let options = ValidateOptions {
            out: Some(around.instances.clone()),
            engine: around.engine,
            config: around.config.clone(),
            trust: around.trust,
            gates: around.config.run.validate.clone(),
            ..ValidateOptions::new(beside)
        };
        options.gates.check()?;
        Ok(Self { around, options })
    }
}

#[async_trait]
impl Stage for ValidateStage {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn version(&self) -> u32 {
        1
    }

    fn settings(&self) -> serde_json::Value {
        json!(self.around.config.run.validate)
    }

    fn parallel(&self) -> usize {
        parallel(&self.around.config.run, Self::ID, 1)
    }

    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let path = candidate.artefacts.join("instance.json");
        let text = std::fs::read_to_string(&path).map_err(|why| Error::io("read", &path, why))?;
        let row: Instance = serde_json::from_str(&text).map_err(|why| {
            let what = format!("`{}`", path.display());
            Error::new(ErrorKind::InvalidInput, "read row", what).with_source(why)
        })?;
        let engines = Engines::open(
            self.options.engine,
            &self.options.config,
            self.options.trust,
        );
        let engines = engines.await?;
        let out = &self.around.instances;
        let decided = Box::pin(validate_row(cx, &self.options, &engines, out, row)).await;
        engines.sandbox.settle().await?;
        let (entry, row) = decided.map_err(|(_, why)| why)?;
        write_json(&candidate.artefacts.join("validate.json"), &entry)?;
        let kept = candidate.artefacts.join(VALIDATED);
        match &row {
            Some(row) => write_atomically(&kept, format!("{row}\n").as_bytes())?,
            None => match std::fs::remove_file(&kept) {
                Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", &kept, why));
                }
                _ => {}
            },
        }
        let rejected = entry.verdicts.iter().find(|verdict| {
            matches!(verdict.decision, Decision::Reject)
                || (row.is_none() && verdict.decision == Decision::Repair)
        });
        let outcome = match (entry.decision, rejected) {
            (_, Some(verdict)) => format!("reject_{}", verdict.validator),
            (Some(Decision::Repair), None) => "repaired".to_owned(),
            (Some(Decision::NoEvidence) | None, None) => "no_evidence".to_owned(),
            (Some(_), None) => "accepted".to_owned(),
        };
        let findings = rejected.into_iter().flat_map(|verdict| &verdict.findings);
        let proof = findings
            .filter(|finding| finding.severity != Severity::Note)
            .flat_map(|finding| finding.evidence.iter().cloned());
        Ok(StepOutcome {
            passed: row.is_some(),
            outcome,
            reason: entry.reason.clone().unwrap_or_default(),
            evidence: proof.take(20).collect(),
            bytes: bytes_below(&candidate.artefacts),
            ..StepOutcome::default()
        })
    }
}
