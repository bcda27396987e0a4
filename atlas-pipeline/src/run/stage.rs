//! What a run is made of.

use super::RunCandidate;
use async_trait::async_trait;
use atlas_core::{Error, Evidence, RunContext};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What a stage found out about a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepOutcome {
    /// Whether the candidate goes on to the next stage.
    pub passed: bool,
    /// The outcome in one word out of a small set, by which steps are counted: `instance`, `reject_entangled`.
    pub outcome: String,
    /// Why, for people; may be empty.
    pub reason: String,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
    /// Money that was spent on models.
    pub money: f64,
    /// Bytes on the disk that the candidate takes up after this stage.
    pub bytes: u64,
    /// The environment that it built or found built.
    pub environment: Option<StepEnvironment>,
}

/// An environment of a candidate, as far as it tells what candidates of one repository share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepEnvironment {
    /// The image's id, or the key of a prepared folder.
    pub image: String,
    /// Its layers without those of its base image, by their hashes, with their bytes. A prepared folder is one layer.
    pub layers: BTreeMap<String, u64>,
    /// Seconds of analysis and build.
    pub build_seconds: f64,
}

/// One stage of a run: a step for each candidate that passed the stage before.
///
/// # Contract
/// - A function of the candidate's line, of [`settings`](Self::settings) and of what the stages before left in the
///   artefacts: the same inputs give the same outcome and the same files, but for fields that tell seconds.
/// - May be killed at any moment and run again: files are written whole, and no step is needed to clean up after another.
/// - A verdict is an outcome; an error tells that nothing was found out.
#[async_trait]
pub trait Stage: fmt::Debug + Send + Sync {
    /// Its name, as in `[run.stages.NAME]`, in the store and after `--until`.
    fn id(&self) -> &'static str;

    /// Raised whenever the same inputs would be judged otherwise: what was done before is then stale.
    fn version(&self) -> u32;

    /// Everything of the configuration that its outcomes depend on.
    fn settings(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Steps of it that go on at once in one process. Default: 1.
    fn parallel(&self) -> usize {
        1
    }

    /// Whether candidates of one repository go through it one after the other, in all processes together.
    fn one_per_repository(&self) -> bool {
        false
    }

    /// Folders whose disks it fills beside the run's own.
    fn places(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Does its step for one candidate.
    ///
    /// # Errors
    /// Whatever is no property of the candidate.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it with [`ErrorKind::Cancelled`](atlas_core::ErrorKind::Cancelled), cleaned up.
    async fn run(&self, cx: &RunContext, candidate: &RunCandidate) -> Result<StepOutcome, Error>;

    /// Gives back what a finished candidate takes up on the machine beside its artefacts, where it can be made again. Called
    /// when the disk is full and the candidate's repository has nothing to do.
    ///
    /// # Errors
    /// The engine or the disk.
    ///
    /// # Cancellation
    /// Dropping the future may leave a part.
    async fn reclaim(&self, _cx: &RunContext, _candidate: &RunCandidate) -> Result<(), Error> {
        Ok(())
    }
}
