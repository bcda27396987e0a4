//! The environment, the three states, the row.

use super::prepare::make_options;
use super::{Surroundings, bytes_below, parallel};
use crate::engine::cache_folder;
use crate::run::resources::NO_SPACE;
use crate::run::{RunCandidate, Stage, StepOutcome};
use crate::store::read_json;
use crate::{Engines, MakeOutcome, make};
use async_trait::async_trait;
use atlas_core::{EnvironmentLock, Error, ErrorKind, ImageRef, RunContext};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// What `atlas make` does, with all of its artefacts. Candidates of one repository go through it one after the other, so
/// that each finds the layers of the one before.
#[derive(Debug)]
pub(super) struct MakeStage {
    around: Arc<Surroundings>,
}

impl MakeStage {
    /// Its name.
    const ID: &'static str = "make";

    pub(super) fn new(around: Arc<Surroundings>) -> Self {
        Self { around }
    }
}

#[async_trait]
impl Stage for MakeStage {
    fn id(&self) -> &'static str {
        Self::ID
    }

    fn version(&self) -> u32 {
        1
    }

    fn settings(&self) -> serde_json::Value {
        let config = &self.around.config;
        json!({
            "engine": self.around.engine,
            "limits": config.limits,
            "make": config.make,
            "plan": config.plan,
            "model": config.model,
            "image": config.image,
            "substitute": config.registries.substitute,
            "exact": config.engine.exact,
        })
    }

    fn parallel(&self) -> usize {
        parallel(&self.around.config.run, Self::ID, 1)
    }

    fn one_per_repository(&self) -> bool {
        true
    }

    fn places(&self) -> Vec<PathBuf> {
        let root = self.around.config.local.root.clone();
        root.into_iter().chain(cache_folder().ok()).collect()
    }

    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error> {
        let options = make_options(&self.around, candidate)?;
        let report = Box::pin(make(cx, &options)).await?;
        let is_full = report.outcome != MakeOutcome::Instance
            && (report.reason.contains(NO_SPACE)
                || report.evidence.iter().any(|e| e.text.contains(NO_SPACE)));
        if is_full {
            // What a full disk broke says nothing about the pull request.
            let what = format!("`{}`: {NO_SPACE}", candidate.id);
            return Err(Error::new(ErrorKind::Io, "make", what).with_source(report.reason));
        }
        let outcome = serde_json::to_value(report.outcome).unwrap_or_default();
        let money = report
            .model
            .as_ref()
            .and_then(|model| model["money"].as_f64());
        Ok(StepOutcome {
            passed: report.outcome == MakeOutcome::Instance,
            outcome: outcome.as_str().unwrap_or_default().to_owned(),
            reason: report.reason,
            evidence: report.evidence.into_iter().take(20).collect(),
            money: money.unwrap_or_default(),
            bytes: bytes_below(&report.artefacts),
        })
    }

    async fn reclaim(&self, _cx: &RunContext, candidate: &RunCandidate) -> Result<(), Error> {
        let lock: Option<EnvironmentLock> =
            read_json(&candidate.artefacts.join("environment.lock.json"));
        let Some(lock) = lock.filter(|lock| !lock.image_id.is_empty()) else {
            return Ok(());
        };
        let config = &self.around.config;
        let engines = Engines::open(self.around.engine, config, self.around.trust).await?;
        let image = if lock.engine == "local" {
            let root = config.local.root.clone().map_or_else(cache_folder, Ok)?;
            ImageRef::Local {
                path: root.join("env").join(&lock.image_id),
            }
        } else {
            ImageRef::Docker {
                id: lock.image_id.clone(),
                tag: lock.image_id,
            }
        };
        if engines.builder.engine() == lock.engine {
            engines.builder.discard(&image).await?;
        }
        Ok(())
    }
}
