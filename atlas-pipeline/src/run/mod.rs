//! `atlas run`: candidates through all stages, by any number of processes, resumable at any moment.
//!
//! Everything that is known of a run stands in one folder: the store (`run.sqlite`), the artefacts of each instance
//! (`instances/<id>/`), the dataset of those that were accepted. A step is one candidate in one stage. Its key is the
//! candidate's line, the stage's version and settings, and those of the stages before; a step with the same key is never done
//! twice. The scheduler knows nothing of what stages do, and stages nothing of the store, so a further stage is one more
//! [`Stage`] in the list.

mod candidate;
mod config;
mod dataset;
mod estimate;
mod event;
mod gather;
mod owner;
mod pipeline;
mod publish;
mod report;
mod resources;
mod scheduler;
mod settle;
mod stage;
mod stages;
mod standings;
mod status;
mod store;
mod why;

pub use candidate::RunCandidate;
pub use config::{RunClassifyConfig, RunConfig, RunHintsConfig, RunJudgeConfig, StageConfig};
pub use estimate::{RunEstimate, StageEstimate, estimate_run};
pub use event::{QuietRun, RunEvent, RunListener};
pub use gather::{AskedSource, GatheredCandidates, asked_sources, gather_candidates};
pub use pipeline::{PipelineEstimate, PipelineReport, estimate_pipeline, run_pipeline};
pub use publish::RunPublishConfig;
pub use report::{RunEnd, RunReport, StageWork};
pub use scheduler::run_candidates;
pub use stage::{Stage, StepEnvironment, StepOutcome};
pub(crate) use stages::rejected_by_curation;
pub use stages::standard_stages;
pub(crate) use standings::{Standing, standings};
pub use status::{RunStatus, RunningStep, StageStatus, run_status};
pub use store::{ImportReport, RepositoryImages};
pub use why::{CandidateStep, CandidateStory, StoryEvent, why};

use crate::store::Key;
use atlas_core::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a run takes up and what it may use.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder of the run.
    pub folder: PathBuf,
    /// Files of candidates.
    pub candidates: Vec<PathBuf>,
    /// Whether the run makes that file itself ([`gather_candidates`]), so that it may not be there yet. Default: yes where
    /// the configuration names no file, or limits candidates per repository.
    pub gathered: bool,
    /// The last stage that is done. Default: the last there is.
    pub until: Option<String>,
    /// Only candidates whose names match one of these patterns, with `*`, `?` and `[…]`. Default: all.
    pub only: Vec<String>,
    /// Only the first so many of them, in the order of the queue, that have something to do. Default: no limit.
    pub limit: Option<u64>,
    /// Kinds of error whose failed steps are tried again, and for which steps went on without their model's answer.
    pub retry: Vec<String>,
    /// Whether steps of another version or configuration are done anew. Default: no, they are counted.
    pub stale: bool,
    /// Most seconds that all steps may take together, over all continuations. Default: no limit.
    pub seconds: Option<f64>,
    /// Most money that models may cost, over all continuations. Default: no limit.
    pub money: Option<f64>,
    /// Steps of all stages that go on at once in this process. Default: the number of processors.
    pub parallel: usize,
    /// Bytes that must be free on each disk before something new starts. Default: 2 GiB.
    pub min_free: u64,
    /// Bytes of memory that must be available before something new starts. Default: 1 GiB.
    pub min_memory: u64,
    /// How often a step is tried that ends with an error of the machine. Default: 3.
    pub attempts: u32,
    /// The pause before such a step is tried again; four times as long with each try. Default: 10 seconds.
    pub retry_pause: Duration,
    /// So many candidates wait for a stage before the stage before it stops to work ahead. Default: 100.
    pub ahead: u64,
}

impl RunOptions {
    /// What a configuration says; all candidates, all stages.
    pub fn of(config: &RunConfig) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let pause = Duration::try_from_secs_f64(config.retry_seconds);
        Self {
            folder: config.folder.clone(),
            candidates: if config.gathers() {
                vec![gather::gathered_file(&config.folder)]
            } else {
                config.candidates.clone()
            },
            gathered: config.gathers(),
            until: None,
            only: Vec::new(),
            limit: None,
            retry: Vec::new(),
            stale: false,
            seconds: config.seconds,
            money: config.money,
            parallel: config.parallel.unwrap_or_else(processors).max(1),
            min_free: config.min_free.0,
            min_memory: config.min_memory.0,
            attempts: config.attempts.max(1),
            retry_pause: pause.unwrap_or_default(),
            ahead: config.ahead.max(1),
        }
    }

    /// Refuses what cannot be meant, before any work.
    fn check(&self, stages: &[Arc<dyn Stage>], config: Option<&RunConfig>) -> Result<(), Error> {
        let names = names(stages);
        if let Some(until) = &self.until {
            config::known("choose the last stage:", until, &names)?;
        }
        for kind in &self.retry {
            let kinds = ErrorKind::ALL.map(ErrorKind::as_str);
            config::known("choose the kind of error:", kind, &kinds)?;
        }
        for name in config.iter().flat_map(|config| config.stages.keys()) {
            config::known("read configuration: run.stages:", name, &names)?;
        }
        if self.candidates.is_empty() {
            let said = "give `candidates = [\"candidates.jsonl\"]` in `[run]`, files as `atlas source` writes them, or name sources in `[source]`";
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "find candidates:",
                said,
            ));
        }
        let mut files = self.candidates.iter().filter(|_| !self.gathered);
        let missing = files.find(|file| !file.is_file());
        if let Some(file) = missing {
            let said = format!("`{}`: there is no such file", file.display());
            return Err(Error::new(ErrorKind::NotFound, "read candidates", said));
        }
        Ok(())
    }

    /// How many of the stages are done.
    fn depth(&self, stages: &[Arc<dyn Stage>]) -> usize {
        let last = |until: &String| stages.iter().position(|stage| stage.id() == until);
        self.until
            .as_ref()
            .and_then(last)
            .map_or(stages.len(), |at| at + 1)
    }
}

/// Whether a folder is that of a run.
pub(crate) fn is_run(folder: &std::path::Path) -> bool {
    store::Store::file(folder).is_file()
}

impl RunConfig {
    /// Refuses what no run could use, before any work.
    ///
    /// # Errors
    /// It names the key, and what is near it.
    pub fn check(&self, options: &RunOptions, stages: &[Arc<dyn Stage>]) -> Result<(), Error> {
        options.check(stages, Some(self))
    }
}

fn names(stages: &[Arc<dyn Stage>]) -> Vec<&'static str> {
    stages.iter().map(|stage| stage.id()).collect()
}

/// What the steps of a stage are made of beside the candidates' lines.
#[derive(Clone, Debug)]
struct Recipe {
    stage: &'static str,
    version: u32,
    settings: String,
    /// Holds the keys of the stages before, so that what stands on other results is stale with them.
    key: String,
}

/// The current recipes, in the stages' order.
fn recipes(stages: &[Arc<dyn Stage>]) -> Vec<Recipe> {
    let mut before = String::new();
    let of = |stage: &Arc<dyn Stage>| {
        let settings = stage.settings().to_string();
        let key = Key::new(stage.id())
            .part(&stage.version().to_le_bytes())
            .part(settings.as_bytes())
            .part(before.as_bytes())
            .finish();
        before.clone_from(&key);
        Recipe {
            stage: stage.id(),
            version: stage.version(),
            settings,
            key,
        }
    };
    stages.iter().map(of).collect()
}
