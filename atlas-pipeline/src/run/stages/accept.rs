//! The row that the dataset takes.

use super::Surroundings;
use super::curate::{CurationStage, StageRecord};
use crate::judging::{Curation, classes_of};
use crate::run::dataset::ROW;
use crate::run::{RunCandidate, Stage, StepOutcome};
use crate::write_atomically;
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, Instance, RunContext};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Takes the row as the gates left it, with what the curation's stages said in `curation` of its column `atlas`.
#[derive(Debug)]
pub(super) struct Accept {
    around: Arc<Surroundings>,
    /// The curation's stages, in order.
    curated_by: Vec<&'static str>,
}

impl Accept {
    /// Its name.
    const ID: &'static str = "accept";

    pub(super) fn new(around: Arc<Surroundings>, curated_by: Vec<&'static str>) -> Self {
        Self { around, curated_by }
    }

    /// Writes what was said into the row.
    fn curate(&self, candidate: &RunCandidate, row: &mut Instance) -> Result<(), Error> {
        let wrong = |what: String| {
            let of = format!("`{}`", candidate.id);
            Error::new(ErrorKind::InvalidInput, "curate", of).with_source(what)
        };
        let mut curation = Curation::of(row).map_err(|why| wrong(why.to_string()))?;
        let mut unanswered = Map::new();
        for stage in &self.curated_by {
            let path = CurationStage::file(&candidate.artefacts, stage);
            let text = std::fs::read(&path).map_err(|why| Error::io("read", &path, why))?;
            let said: StageRecord = serde_json::from_slice(&text)
                .map_err(|why| wrong(format!("`{}`: {why}", path.display())))?;
            unanswered.extend(
                said.no_answer
                    .map(|kind| ((*stage).to_owned(), Value::from(kind))),
            );
            let Some(judgement) = said.judgement else {
                continue;
            };
            let details = &judgement.details;
            if let Some(model) = details.get("model").and_then(Value::as_str) {
                curation.asked(model);
            }
            match *stage {
                CurationStage::CLASSIFY => {
                    curation.classes(&classes_of(details).map_err(wrong)?);
                }
                CurationStage::JUDGE => curation.put(
                    "judge",
                    json!({
                        "quality": judgement.label,
                        "scores": details.get("scores"),
                        "reasoning": judgement.reasoning,
                        "prompt_version": details.get("prompt_version"),
                    }),
                ),
                _ => {
                    let mut hints = json!({
                        "is_hint_needed": judgement.label == "needed",
                        "hint": details.get("hint"),
                        "rules": details.get("report").map(|report| &report["rules"]),
                    });
                    // Where no model was asked there was no prompt.
                    if let Some(version) = details.get("prompt_version") {
                        hints["prompt_version"] = version.clone();
                    }
                    curation.put("hints", hints);
                }
            }
        }
        if !unanswered.is_empty() {
            curation.put("no_answer", Value::Object(unanswered));
        }
        curation.write(row).map_err(wrong)
    }
}

#[async_trait]
impl Stage for Accept {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn version(&self) -> u32 {
        2
    }

    async fn run(&self, _cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let target = candidate.artefacts.join(ROW);
        if self.curated_by.is_empty() {
            let from = self.around.row_file(candidate);
            let row = std::fs::read(&from).map_err(|why| Error::io("read", &from, why))?;
            write_atomically(&target, &row)?;
        } else {
            let mut row = self.around.row(candidate)?;
            self.curate(candidate, &mut row)?;
            write_atomically(&target, format!("{row}\n").as_bytes())?;
        }
        Ok(StepOutcome {
            passed: true,
            outcome: "accepted".to_owned(),
            ..StepOutcome::default()
        })
    }
}
