//! The stages of `atlas run`.

mod accept;
mod make;
mod prepare;
mod validate;

use accept::Accept;
use make::MakeStage;
use prepare::Prepare;
use validate::ValidateStage;

use super::{RunConfig, Stage};
use crate::{Config, EngineChoice, docker_engine};
use atlas_core::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What all stages know: the configuration, and where things are.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) config: Config,
    pub(super) engine: EngineChoice,
    pub(super) trust: bool,
    /// The folder of all instances.
    pub(super) instances: PathBuf,
}

/// The folder of all instances in a run's folder.
pub(super) fn instances(folder: &Path) -> PathBuf {
    folder.join("instances")
}

/// The stages that a configuration asks for, in order. The engine `auto` is decided here, once for all candidates: results
/// of two engines are not mixed when one of them is away for a moment.
///
/// # Errors
/// Values that no stage takes: an unknown gate, limits that make no sense; an engine that fails.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn standard_stages(config: &Config) -> Result<Vec<Arc<dyn Stage>>, Error> {
    let run = &config.run;
    let engine = match run.engine {
        EngineChoice::Auto => match docker_engine(config).await {
            Ok(_) => EngineChoice::Docker,
            Err(why) if why.kind() == ErrorKind::EngineUnreachable => EngineChoice::Local,
            Err(why) => return Err(why),
        },
        chosen => chosen,
    };
    let around = Arc::new(Surroundings {
        config: config.clone(),
        engine,
        trust: config.local.trust,
        instances: instances(&run.folder),
    });
    let mut stages: Vec<Arc<dyn Stage>> = vec![
        Arc::new(Prepare::new(Arc::clone(&around))),
        Arc::new(MakeStage::new(Arc::clone(&around))),
    ];
    if !run.validate.gates.is_empty() {
        stages.push(Arc::new(ValidateStage::new(Arc::clone(&around))?));
    }
    stages.push(Arc::new(Accept::new(around)));
    Ok(stages)
}

/// How many steps of a stage go on at once.
fn parallel(run: &RunConfig, stage: &str, usual: usize) -> usize {
    run.stages
        .get(stage)
        .and_then(|limits| limits.parallel)
        .unwrap_or(usual)
        .max(1)
}

/// Bytes of the files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let files = walkdir::WalkDir::new(folder).into_iter().flatten();
    files
        .filter_map(|entry| entry.metadata().ok())
        .filter(std::fs::Metadata::is_file)
        .map(|about| about.len())
        .sum()
}
