//! How a run comes by its candidates.

use super::RunConfig;
use crate::Config;
use crate::sourcing::{progress_so_far, take_aside};
use crate::store::lock;
use crate::{HostProgress, SourceReport, TakenCandidates, source_candidates, sourced_file};
use atlas_core::{Error, ErrorKind, RunContext};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How a run came by its candidates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GatheredCandidates {
    /// What the sources told; absent where `[run] candidates` names files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceReport>,
    /// What was taken of it.
    pub taken: TakenCandidates,
}

/// A source that a run asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AskedSource {
    /// Its name.
    pub name: String,
    /// What it has told so far.
    #[serde(flatten)]
    pub progress: HostProgress,
}

/// The file of candidates that a run makes itself, in its folder.
pub(super) fn gathered_file(folder: &Path) -> PathBuf {
    folder.join("candidates.jsonl")
}

/// Where sources' answers stand in a run's folder: what `atlas source --out` writes, with all beside it.
fn source_file(folder: &Path) -> PathBuf {
    folder.join("source").join("candidates.jsonl")
}

impl RunConfig {
    /// Whether `[source]` is asked for the candidates: where no file of them is named.
    fn asks_sources(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Whether the run makes its file of candidates itself.
    pub(super) fn gathers(&self) -> bool {
        self.asks_sources() || self.per_repo.is_some()
    }
}

/// Brings the candidates of a run up to date: asks the sources of `[source]` where `[run] candidates` names no file, as
/// `atlas source` does, and takes of each repository what `[run] per_repo` says. Nothing is done where files are named and
/// no such limit: they are read as they are.
///
/// What the sources tell stands in `<folder>/source/`, what was taken in `<folder>/candidates.jsonl`.
///
/// # Errors
/// No file and no source is named; those of [`source_candidates`] and [`take_candidates`](crate::take_candidates).
///
/// # Cancellation
/// Raising `cx.cancel` ends it after the page in flight; the same call goes on from there.
pub async fn gather_candidates(
    cx: &RunContext,
    config: &Config,
) -> Result<Option<GatheredCandidates>, Error> {
    let run = &config.run;
    if !run.gathers() {
        return Ok(None);
    }
    let name = run.folder.join("gather.lock");
    // What one process takes, another must know before it takes.
    let _lock = tokio::task::spawn_blocking(move || lock(&name))
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "wait for the lock", "").with_source(why))?;
    let (files, source) = if run.asks_sources() {
        let out = source_file(&run.folder);
        let hosts = config.source.hosts().await?;
        let told = source_candidates(cx, &hosts, &config.source.filters, &out).await?;
        (vec![out], Some(told))
    } else {
        (run.candidates.clone(), None)
    };
    let taken = take_aside(cx, files, run.per_repo, gathered_file(&run.folder)).await?;
    Ok(Some(GatheredCandidates { source, taken }))
}

/// The sources that a run would ask, with what they have told so far. Nobody is asked.
///
/// # Errors
/// A source that cannot be read; a token that is missing.
pub async fn asked_sources(config: &Config) -> Result<Vec<AskedSource>, Error> {
    if !config.run.asks_sources() {
        return Ok(Vec::new());
    }
    let mut told = progress_so_far(&sourced_file(&source_file(&config.run.folder)));
    let hosts = config.source.hosts().await?;
    let asked = hosts.iter().map(|host| {
        let name = host.name();
        AskedSource {
            progress: told.remove(&name).unwrap_or_default(),
            name,
        }
    });
    Ok(asked.collect())
}
