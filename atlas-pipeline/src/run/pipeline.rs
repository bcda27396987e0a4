//! The whole way, from the sources to the release.

use super::publish::release;
use super::{
    AskedSource, GatheredCandidates, RunEnd, RunEstimate, RunEvent, RunListener, RunOptions,
    RunReport, Stage, asked_sources, estimate_run, gather_candidates, run_candidates,
};
use crate::{Config, PublishReport};
use atlas_core::{Error, ErrorKind, RunContext};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// What `atlas run` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipelineReport {
    /// How it came by its candidates; absent where files of them are named and all are taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gathered: Option<GatheredCandidates>,
    /// What the stages did.
    #[serde(flatten)]
    pub run: RunReport,
    /// The release that was written; absent where none is asked for, or the one that stands there has these rows already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<PublishReport>,
}

/// What `atlas run --dry-run` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipelineEstimate {
    /// The sources that would be asked first, with what they have told so far.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<AskedSource>,
    /// What the stages would do with the candidates that are known now.
    #[serde(flatten)]
    pub run: RunEstimate,
    /// The folder of the release that would be written at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<PathBuf>,
}

impl Config {
    /// Refuses what no run could use, before any work: [`RunConfig::check`](super::RunConfig::check), a run without
    /// candidates or sources, a release that cannot be.
    fn check_pipeline(&self, options: &RunOptions, stages: &[Arc<dyn Stage>]) -> Result<(), Error> {
        if self.run.candidates.is_empty() && !self.source.names_a_source() {
            let said = "give `candidates = [\"candidates.jsonl\"]` in `[run]`, files as `atlas source` writes them, or name \
                        sources in `[source]`, which are asked then";
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "find candidates:",
                said,
            ));
        }
        let named = self.run.candidates.iter().find(|file| !file.is_file());
        if let Some(file) = named {
            let said = format!("`{}`: there is no such file", file.display());
            return Err(Error::new(ErrorKind::NotFound, "read candidates", said));
        }
        if let Some(publish) = &self.run.publish {
            publish.options(PathBuf::new()).check()?;
        }
        self.run.check(options, stages)
    }
}

/// Takes a run all the way: sources are asked ([`gather_candidates`]), candidates go through the stages
/// ([`run_candidates`]), and what `[run.publish]` says is written when all of them are through. Each part resumes for itself,
/// and does nothing where nothing is new.
///
/// # Errors
/// As these; [`ErrorKind::InvalidInput`] before any work for a configuration that nothing can come of.
///
/// # Cancellation
/// Raising `cx.cancel` ends what is in flight; the same call goes on from there.
pub async fn run_pipeline(
    cx: &RunContext,
    config: &Config,
    options: &RunOptions,
    stages: &[Arc<dyn Stage>],
    listener: Arc<dyn RunListener>,
) -> Result<PipelineReport, Error> {
    config.check_pipeline(options, stages)?;
    let gathered = gather_candidates(cx, config).await?;
    cx.progress.phase("");
    if let Some(gathered) = &gathered {
        listener.hear(&RunEvent::Gathered(gathered));
    }
    let run = run_candidates(cx, options, stages, Arc::clone(&listener)).await?;
    let is_whole = options.only.is_empty()
        && options.limit.is_none()
        && options.depth(stages) == stages.len()
        && run.ended == RunEnd::Done;
    let release = match config.run.publish.clone().filter(|_| is_whole) {
        None => None,
        Some(publish) => {
            let (context, folder) = (cx.clone(), options.folder.clone());
            let work = move || release(&context, &folder, &publish);
            let released = tokio::task::spawn_blocking(work).await;
            cx.progress.phase("");
            released
                .map_err(|why| Error::new(ErrorKind::Internal, "publish", "").with_source(why))??
        }
    };
    if let Some(release) = &release {
        listener.hear(&RunEvent::Released(release));
    }
    Ok(PipelineReport {
        gathered,
        run,
        release,
    })
}

/// Says what [`run_pipeline`] would do. Nobody is asked, nothing is written, no step is done: of candidates only those are
/// counted that are known already.
///
/// # Errors
/// As there, before any work.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn estimate_pipeline(
    cx: &RunContext,
    config: &Config,
    options: &RunOptions,
    stages: &[Arc<dyn Stage>],
) -> Result<PipelineEstimate, Error> {
    config.check_pipeline(options, stages)?;
    let release = config.run.publish.as_ref();
    Ok(PipelineEstimate {
        sources: asked_sources(config).await?,
        run: estimate_run(cx, &config.run, options, stages)?,
        release: release.map(|publish| publish.folder.clone()),
    })
}
