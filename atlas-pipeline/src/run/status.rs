//! `atlas status`: where a run stands, without counting anything.

use super::RepositoryImages;
use super::resources::free_bytes;
use super::store::{Store, now};
use atlas_core::Error;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunStatus {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The folder of the run.
    pub folder: PathBuf,
    /// Candidates in the files.
    pub candidates: u64,
    /// Candidates that were in the files once.
    pub withdrawn: u64,
    /// The stages, in order.
    pub stages: Vec<StageStatus>,
    /// What runs now, the oldest first.
    pub running: Vec<RunningStep>,
    /// Why nothing new starts, as the process says that holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// The dataset.
    pub dataset: PathBuf,
    /// Its rows.
    pub dataset_rows: u64,
    /// Seconds of all steps together, those that were tried again included.
    pub seconds: f64,
    /// Money that models cost.
    pub money: f64,
    /// Bytes of artefacts, as the stage that saw most of them left them.
    pub artefact_bytes: u64,
    /// Bytes free on the disk of the folder.
    pub free_bytes: Option<u64>,
    /// Bytes of environments, a layer that several of one repository have once.
    pub image_bytes: u64,
    /// Repositories that have environments.
    pub repositories_with_images: u64,
    /// What each of them takes up and shares, those with most bytes first: twenty of them, in `report.json` all.
    pub repositories: Vec<RepositoryImages>,
}

/// So many repositories are told one by one.
pub(super) const REPOSITORIES: usize = 20;

/// One stage: how many candidates are where.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageStatus {
    /// Its name.
    pub stage: String,
    /// Waiting.
    pub pending: u64,
    /// At work.
    pub running: u64,
    /// Went on.
    pub passed: u64,
    /// Ended here by a verdict.
    pub rejected: u64,
    /// Ended here by an error.
    pub failed: u64,
    /// Verdicts by their words.
    pub outcomes: BTreeMap<String, u64>,
    /// Errors by their kinds.
    pub errors: BTreeMap<String, u64>,
    /// Seconds of all steps that ended with a verdict.
    pub seconds: f64,
    /// Bytes of artefacts that candidates had after them.
    pub bytes: u64,
    /// Money that models cost in them.
    pub money: f64,
    /// Seconds of a step that ended, on average; absent before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_seconds: Option<f64>,
    /// Bytes of artefacts after a step, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_bytes: Option<f64>,
    /// Steps an hour, by the last hour.
    pub per_hour: f64,
    /// Seconds until what waits now is done, at this rate; absent without one, and where nothing waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta_seconds: Option<f64>,
}

/// A step that runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunningStep {
    /// The stage.
    pub stage: String,
    /// The candidate.
    pub candidate: String,
    /// Seconds since it began.
    pub seconds: f64,
    /// Who does it: a process id and something that tells runners apart.
    pub owner: String,
}

/// Reads where a run stands. Other processes go on meanwhile, and nothing is changed.
///
/// # Errors
/// No run in that folder; a store that cannot be read.
pub fn run_status(folder: &Path) -> Result<RunStatus, Error> {
    of(&Store::read(folder)?, folder, REPOSITORIES)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of the store that count things"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds and counts of a run"
)]
pub(super) fn of(store: &Store, folder: &Path, repositories: usize) -> Result<RunStatus, Error> {
    let order = store.note("stages")?.unwrap_or_default();
    let mut stages: Vec<StageStatus> = order
        .split_whitespace()
        .map(|name| StageStatus {
            stage: name.to_owned(),
            ..StageStatus::default()
        })
        .collect();
    let mut artefact_bytes = 0;
    let time = now();
    let tallies = store.tally()?;
    for stage in &mut stages {
        let (mut seconds, mut bytes, mut ended) = (0.0, 0, 0);
        for tally in tallies.iter().filter(|tally| tally.stage == stage.stage) {
            let count = tally.steps;
            match (tally.state.as_str(), tally.passed) {
                ("pending", _) => stage.pending += count,
                ("running", _) => stage.running += count,
                ("failed", _) => {
                    stage.failed += count;
                    *stage.errors.entry(tally.outcome.clone()).or_default() += count;
                }
                (_, passed) => {
                    *if passed {
                        &mut stage.passed
                    } else {
                        &mut stage.rejected
                    } += count;
                    *stage.outcomes.entry(tally.outcome.clone()).or_default() += count;
                    seconds += tally.seconds;
                    stage.money += tally.money;
                    bytes += tally.bytes;
                    ended += count;
                }
            }
        }
        artefact_bytes = bytes.max(artefact_bytes);
        stage.seconds = seconds;
        stage.bytes = bytes;
        if ended > 0 {
            stage.mean_seconds = Some(seconds / ended as f64);
            stage.mean_bytes = Some(bytes as f64 / ended as f64);
        }
        let minute = time / 60_000;
        let first = store.first_minute(&stage.stage, minute - 59)?;
        let lately = store.ended_since(&stage.stage, minute - 59)?;
        let minutes = first.map_or(60.0, |first| (minute - first + 1) as f64);
        stage.per_hour = lately as f64 * 60.0 / minutes.max(1.0);
        let left = (stage.pending + stage.running) as f64;
        if stage.per_hour > 0.0 && left > 0.0 {
            stage.eta_seconds = Some(left / stage.per_hour * 3600.0);
        }
    }
    let running = store.running()?.into_iter().map(|step| RunningStep {
        stage: step.stage,
        candidate: step.candidate,
        seconds: (time - step.started).max(0) as f64 / 1000.0,
        owner: step.owner,
    });
    let running: Vec<RunningStep> = running.collect();
    let held = store.note("held")?.filter(|why| !why.is_empty());
    let withdrawn = whole(store.number("withdrawn")?);
    let (repositories_with_images, image_bytes) = store.sharing_in_all()?;
    Ok(RunStatus {
        schema_version: 1,
        folder: folder.to_owned(),
        candidates: whole(store.number("candidates")?) - withdrawn,
        withdrawn,
        stages,
        running,
        held,
        dataset: super::dataset::file(folder),
        dataset_rows: whole(store.number("dataset_rows")?),
        seconds: store.number("seconds")?,
        money: store.number("money")?,
        artefact_bytes,
        free_bytes: free_bytes(folder),
        image_bytes,
        repositories_with_images,
        repositories: store.sharing(repositories)?,
    })
}
