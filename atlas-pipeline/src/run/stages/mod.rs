//! The stages of `atlas run`.

mod accept;
mod curate;
mod make;
mod prepare;
mod validate;

use accept::Accept;
use curate::CurationStage;
pub(super) use curate::NO_ANSWER;
pub(crate) use curate::rejected_by_curation;
use make::MakeStage;
use prepare::Prepare;
use validate::{VALIDATED, ValidateStage};

use super::{RunCandidate, RunConfig, Stage};
use crate::{Config, EngineChoice, docker_engine};
use atlas_core::{Error, ErrorKind};
use atlas_docker::DockerEngine;
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
    /// Where the container engine stores images, if that is on this machine.
    pub(super) engine_disk: Option<PathBuf>,
}

/// The folder of all instances in a run's folder.
pub(super) fn instances(folder: &Path) -> PathBuf {
    folder.join("instances")
}

/// The stages that a configuration asks for, in order. The engine `auto` is decided here, once for all candidates: results
/// of two engines are not mixed when one of them is away for a moment.
///
/// # Errors
/// Values that no stage takes: an unknown gate, limits that make no sense; a model that cannot be opened; an engine that
/// fails.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn standard_stages(config: &Config) -> Result<Vec<Arc<dyn Stage>>, Error> {
    let run = &config.run;
    let found = match run.engine {
        EngineChoice::Local => None,
        EngineChoice::Auto | EngineChoice::Docker => match docker_engine(config).await {
            Ok(engine) => Some(engine),
            // A step that needs it waits for it.
            Err(why) if why.kind() == ErrorKind::EngineUnreachable => None,
            Err(why) => return Err(why),
        },
    };
    let engine = match run.engine {
        EngineChoice::Auto if found.is_some() => EngineChoice::Docker,
        EngineChoice::Auto => EngineChoice::Local,
        chosen => chosen,
    };
    let disk = found.as_ref().and_then(DockerEngine::data_folder_here);
    let around = Arc::new(Surroundings {
        config: config.clone(),
        engine,
        trust: config.local.trust,
        instances: instances(&run.folder),
        engine_disk: disk.map(Path::to_owned),
    });
    let mut stages: Vec<Arc<dyn Stage>> = vec![
        Arc::new(Prepare::new(Arc::clone(&around))),
        Arc::new(MakeStage::new(Arc::clone(&around))),
    ];
    if !run.validate.gates.is_empty() {
        stages.push(Arc::new(ValidateStage::new(Arc::clone(&around))?));
    }
    let curation = CurationStage::all(&around)?;
    let curated_by = curation.iter().map(Stage::id).collect();
    stages.extend(curation.into_iter().map(|stage| Arc::new(stage) as _));
    stages.push(Arc::new(Accept::new(around, curated_by)));
    Ok(stages)
}

impl Surroundings {
    /// The file of a candidate's row as the gates left it, or as `make` did where there are none.
    fn row_file(&self, candidate: &RunCandidate) -> PathBuf {
        let is_validated = !self.config.run.validate.gates.is_empty();
        candidate.artefacts.join(if is_validated {
            VALIDATED
        } else {
            "instance.json"
        })
    }
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
