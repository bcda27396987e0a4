//! The environment, the three states, the row.

use super::prepare::make_options;
use super::{Surroundings, bytes_below, parallel};
use crate::engine::cache_folder;
use crate::run::resources::NO_SPACE;
use crate::run::{RunCandidate, Stage, StepEnvironment, StepOutcome};
use crate::store::read_json;
use crate::{Engines, MakeOutcome, MakeReport, docker_engine, make};
use async_trait::async_trait;
use atlas_core::{EnvironmentLock, Error, ErrorKind, ImageRef, RunContext};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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

/// What `make` left of the environment, if it has one.
fn built(artefacts: &Path) -> Option<EnvironmentLock> {
    let lock: Option<EnvironmentLock> = read_json(&artefacts.join("environment.lock.json"));
    lock.filter(|lock| !lock.image_id.is_empty())
}

impl MakeStage {
    /// The folder of a prepared environment.
    fn prepared(&self, lock: &EnvironmentLock) -> Result<PathBuf, Error> {
        let root = self.around.config.local.root.clone();
        let root = root.map_or_else(cache_folder, Ok)?;
        Ok(root.join("env").join(&lock.image_id))
    }

    /// What the environment takes up.
    async fn environment(&self, report: &MakeReport) -> Result<Option<StepEnvironment>, Error> {
        let Some(lock) = built(&report.artefacts) else {
            return Ok(None);
        };
        let layers = if lock.engine == "local" {
            let bytes = bytes_below(&self.prepared(&lock)?);
            BTreeMap::from([(lock.image_id.clone(), bytes)])
        } else {
            let engine = docker_engine(&self.around.config).await?;
            let layers = engine.layers_above(&lock).await?.into_iter();
            layers.map(|layer| (layer.hash, layer.bytes)).collect()
        };
        Ok(Some(StepEnvironment {
            image: lock.image_id,
            layers,
            build_seconds: report.seconds.environment,
        }))
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
        let engine = self.around.engine_disk.clone();
        let caches = root.into_iter().chain(cache_folder().ok());
        caches.chain(engine).collect()
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
        // Where no test ran, no environment came to be.
        let environment = match report.isolation {
            Some(_) => self.environment(&report).await?,
            None => None,
        };
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
            environment,
        })
    }

    async fn reclaim(&self, _cx: &RunContext, candidate: &RunCandidate) -> Result<(), Error> {
        let Some(lock) = built(&candidate.artefacts) else {
            return Ok(());
        };
        let config = &self.around.config;
        let engines = Engines::open(self.around.engine, config, self.around.trust).await?;
        let image = if lock.engine == "local" {
            ImageRef::Local {
                path: self.prepared(&lock)?,
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

#[cfg(test)]
mod tests {
    use super::{MakeStage, Surroundings};
    use crate::run::Stage as _;
    use crate::{Config, EngineChoice};
    use std::path::PathBuf;
    use std::sync::Arc;

    #[test]
    fn the_disk_of_the_engine_s_images_is_looked_at() {
        let disk = PathBuf::from("/images");
        let stage = MakeStage::new(Arc::new(Surroundings {
            config: Config::default(),
            engine: EngineChoice::Docker,
            trust: false,
            instances: PathBuf::from("run/instances"),
            engine_disk: Some(disk.clone()),
        }));
        assert!(stage.places().contains(&disk));
    }
}
