//! `atlas run --dry-run`: what would be done, and what it would take.

use super::store::Store;
use super::{ImportReport, RunConfig, RunOptions, RunStatus, Stage, recipes, status};
use atlas_core::{Error, RunContext};
use serde::Serialize;
use std::sync::Arc;

/// What a run would do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEstimate {
    /// Version of this report's form.
    pub schema_version: u32,
    /// What the files of candidates hold, against what the store knows.
    pub import: ImportReport,
    /// Stage by stage.
    pub stages: Vec<StageEstimate>,
    /// Seconds of all steps, one after the other; absent where a stage that has steps to do has never ended one.
    pub seconds: Option<f64>,
    /// Bytes of artefacts that come, as far as stages have shown what they leave.
    pub bytes: Option<f64>,
    /// Bytes free on the disk of the folder.
    pub free_bytes: Option<u64>,
}

/// What would be done at one stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageEstimate {
    /// Its name.
    pub stage: String,
    /// Steps that wait, with those of new and changed candidates.
    pub waiting: u64,
    /// Steps that may come from the stages before, by the share that passed them until now (all where none has ended).
    pub expected: f64,
    /// Ended steps of another version or configuration; done anew with `--stale`.
    pub stale: u64,
    /// Seconds of a step until now, on average.
    pub mean_seconds: Option<f64>,
    /// Seconds of all of them.
    pub seconds: Option<f64>,
}

/// Says what [`run_candidates`](super::run_candidates) would do; nothing is written and no step done.
///
/// # Errors
/// As there, before any work.
///
/// # Cancellation
/// Dropping the future is harmless.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of candidates, for an estimate"
)]
pub fn estimate_run(
    cx: &RunContext,
    config: &RunConfig,
    options: &RunOptions,
    stages: &[Arc<dyn Stage>],
) -> Result<RunEstimate, Error> {
    config.check(options, stages)?;
    // Where there is no store yet, an empty one in a folder that goes away is compared with.
    let empty = tempfile::tempdir().map_err(|why| Error::io("make", &std::env::temp_dir(), why))?;
    let is_new = !Store::file(&options.folder).exists();
    let store = if is_new {
        Store::open(empty.path())?
    } else {
        Store::read(&options.folder)?
    };
    let mut files = options.candidates.clone();
    // What the run gathers itself may not be there before the first time.
    files.retain(|file| !options.gathered || file.exists());
    let import = store.compare(cx, &files)?;
    let status: RunStatus = status::of(&store, &options.folder, 0)?;
    let known = |name: &str| status.stages.iter().find(|stage| stage.stage == name);
    let stale = store.stale(&recipes(stages))?;
    let mut told = Vec::new();
    let mut from_before = 0.0;
    for (at, stage) in stages.iter().enumerate().take(options.depth(stages)) {
        let now = known(stage.id()).cloned().unwrap_or_default();
        let mut waiting = now.pending + now.running;
        if at == 0 {
            waiting += import.new + import.changed;
        }
        let steps = waiting as f64 + from_before;
        let seconds = match now.mean_seconds {
            _ if steps == 0.0 => Some(0.0),
            mean => mean.map(|mean| mean * steps),
        };
        let ended = now.passed + now.rejected;
        let share = if ended > 0 {
            now.passed as f64 / ended as f64
        } else {
            1.0
        };
        told.push(StageEstimate {
            stage: stage.id().to_owned(),
            waiting,
            expected: from_before,
            stale: stale[at],
            mean_seconds: now.mean_seconds,
            seconds,
        });
        from_before = steps * share;
    }
    let made = told.iter().find(|stage| stage.stage == "make");
    let bytes = made.and_then(|stage| {
        let mean = known("make").and_then(|now| now.mean_bytes)?;
        Some(mean * (stage.waiting as f64 + stage.expected))
    });
    Ok(RunEstimate {
        schema_version: 1,
        seconds: told.iter().map(|stage| stage.seconds).sum(),
        stages: told,
        import,
        bytes,
        free_bytes: status.free_bytes,
    })
}
