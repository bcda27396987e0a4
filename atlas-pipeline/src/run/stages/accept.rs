//! The row that the dataset takes.

use super::Surroundings;
use super::validate::VALIDATED;
use crate::run::dataset::ROW;
use crate::run::{RunCandidate, Stage, StepOutcome};
use crate::write_atomically;
use async_trait::async_trait;
use atlas_core::{Error, RunContext};
use std::sync::Arc;

/// Takes the row as the last stage left it.
#[derive(Debug)]
pub(super) struct Accept {
    around: Arc<Surroundings>,
}

impl Accept {
    /// Its name.
    const ID: &'static str = "accept";

    pub(super) fn new(around: Arc<Surroundings>) -> Self {
        Self { around }
    }
}

#[async_trait]
impl Stage for Accept {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn version(&self) -> u32 {
        1
    }

    async fn run(&self, _cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let validated = !self.around.config.run.validate.gates.is_empty();
        let name = if validated {
            VALIDATED
        } else {
            "instance.json"
        };
        let from = candidate.artefacts.join(name);
        let row = std::fs::read(&from).map_err(|why| Error::io("read", &from, why))?;
        write_atomically(&candidate.artefacts.join(ROW), &row)?;
        Ok(StepOutcome {
            passed: true,
            outcome: "accepted".to_owned(),
            ..StepOutcome::default()
        })
    }
}
