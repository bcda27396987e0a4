//! Running untrusted scripts.

use crate::{Environment, Error, ErrorKind, Limits, Overlay, RunContext, Session};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Whether a script may reach the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Only a loopback interface.
    #[default]
    None,
    /// Whatever the machine reaches.
    Full,
}

/// A file that is put beside the repository before the script starts; the script finds it in
/// `$ATLAS_IN` and may delete it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// Plain file name.
    pub name: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// Who a script is in its environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobUser {
    /// The user that environments of Atlas are made for: not root, no capability.
    #[default]
    Tests,
    /// Root without any capability: for images of others, where everything belongs to root. Files of
    /// other users can be read as their modes say, and not written.
    BareRoot,
    /// Root as the engine makes it by default, as the harnesses of the field run their tests.
    Root,
}

/// One script to run in a fresh copy of an environment.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// What it is, for names and labels: `before`.
    pub label: String,
    /// Files that turn the prepared Base tree into the state to run.
    pub overlay: Overlay,
    /// Files for the script.
    pub files: Vec<JobFile>,
    /// Text for bash. It starts in the repository's root, `$ATLAS_REPO`, with `$ATLAS_OUT` (an empty folder to
    /// write reports to), `$ATLAS_IN`, `$ATLAS_ENV` and `$ATLAS_CACHE` (what the environment's build installed, and
    /// its caches) and the variables of the environment's plan set.
    pub script: String,
    /// File names below `$ATLAS_OUT` to bring back.
    pub collect: Vec<String>,
    /// Environment variables. Values may use those above.
    pub env: BTreeMap<String, String>,
    /// Upper bounds.
    pub limits: Limits,
    /// Network. Tests run without.
    pub network: Network,
    /// Who the script is. An engine without users takes any for [`JobUser::Tests`].
    pub user: JobUser,
}

/// How a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum ExitState {
    /// By itself, with this code.
    Exited {
        /// The code; 128 + n stands for signal n, as shells report it.
        code: i64,
    },
    /// Killed at the time limit.
    TimedOut,
    /// Killed by the memory limit.
    OutOfMemory,
}

/// What keeps a script apart from the machine, as it really was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Isolation {
    /// `container`, `bubblewrap` or `process`.
    pub kind: String,
    /// Network off.
    pub network_off: bool,
    /// The rest of the file system unwritable.
    pub filesystem: bool,
    /// Own process tree, invisible to and unable to see others.
    pub processes: bool,
    /// All capabilities dropped and no way to gain any.
    pub no_privileges: bool,
    /// Not root inside.
    pub non_root: bool,
    /// Limits that are enforced: `memory`, `cpus`, `processes`, `seconds`, `output`, `file`.
    pub limits: Vec<String>,
    /// What is missing, in words.
    pub missing: Vec<String>,
}

/// What a script did.
#[derive(Clone, Debug)]
pub struct JobResult {
    /// How it ended.
    pub exit: ExitState,
    /// Standard output and standard error as one stream, byte for byte, up to the limit.
    pub output: Vec<u8>,
    /// All bytes it printed, those beyond the limit included.
    pub output_total: u64,
    /// The collected files that exist.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Wall time of the script, in seconds.
    pub seconds: f64,
    /// Wall time of everything around it: creating, copying, removing.
    pub overhead_seconds: f64,
    /// How it was kept apart.
    pub isolation: Isolation,
    /// What it took of the machine.
    pub usage: ResourceUsage,
}

/// What a job took of the machine, as far as the engine and the kernel told. What they did not tell is
/// absent, never 0: a job that was killed, an engine without control groups, an older kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceUsage {
    /// The most memory that all its processes together had at one time, in bytes, with the files that the
    /// kernel kept in memory for them.
    pub peak_memory_bytes: Option<u64>,
    /// Processor seconds of all its processes, in user mode and in the kernel.
    pub cpu_seconds: Option<f64>,
}

impl ResourceUsage {
    /// What two jobs took together: the higher peak, for they need not have run at the same time, and the
    /// sum of processor time. What is absent of one is taken from the other.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            peak_memory_bytes: self.peak_memory_bytes.max(other.peak_memory_bytes),
            cpu_seconds: match (self.cpu_seconds, other.cpu_seconds) {
                (Some(one), Some(two)) => Some(one + two),
                (one, two) => one.or(two),
            },
        }
    }
}

/// What a sandbox is, for reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxInfo {
    /// `docker` or `local`.
    pub engine: String,
    /// Version of the engine.
    pub version: String,
}

/// Runs scripts in fresh copies of an environment.
///
/// # Contract
/// - Fresh: nothing that one job writes is seen by another, nor changes the environment.
/// - Bounded: the job's limits hold; what cannot be enforced is named in [`Isolation::missing`].
///   Reaching the time or memory limit is an [`ExitState`], not an [`Error`].
/// - Complete: output is drained to the end; bytes are kept as bytes.
/// - Clean: when `run` returns, nothing of the job is left, whatever happened. Of a job that was
///   expected nothing is left when [`settle`](Self::settle) returns.
///
/// # Cancellation
/// Raising `cx.cancel` kills the job, cleans up and returns
/// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). Dropping the future leaves clean-up to
/// the implementation's sweep at its next start.
#[async_trait]
pub trait Sandbox: fmt::Debug + Send + Sync {
    /// What this is.
    fn info(&self) -> SandboxInfo;

    /// Runs one job.
    ///
    /// # Errors
    /// What is no doing of the script: engine, disk, cancellation, an environment of another
    /// sandbox.
    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error>;

    /// Hears that this very job will be run soon, so that fresh copies for several jobs may be got ready
    /// together. Returns at once; no job begins while a copy is being made. Nothing of the environment or of the job runs before `run` is called,
    /// and a job that nobody runs leaves no more than one that was never expected. Who calls it calls
    /// [`settle`](Self::settle) in the end. Does nothing by itself.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    async fn expect(&self, cx: &RunContext, environment: &Environment, job: &Job) {
        let _ = (cx, environment, job);
    }

    /// Gives up what was made ready for expected jobs that were not run, and waits until nothing of
    /// expected jobs is left. Not for jobs that are running. Does nothing by itself.
    ///
    /// # Errors
    /// What could not be removed; a sweep at the next start tries again.
    ///
    /// # Cancellation
    /// Dropping the future leaves the rest to the implementation's sweep.
    async fn settle(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Opens a fresh copy for commands that are given one by one. Of the job its files, overlay, variables,
    /// limits, network and user count; its script and what it collects do not. Refuses by itself.
    ///
    /// # Errors
    /// As of [`run`](Self::run); [`ErrorKind::InvalidInput`] of a sandbox that keeps none open.
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    async fn open(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<Box<dyn Session>, Error> {
        let _ = (cx, environment);
        Err(Error::new(
            ErrorKind::InvalidInput,
            format!("open `{}`", job.label),
            "this sandbox runs whole scripts only",
        ))
    }
}

macro_rules! forward_sandbox {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<S: Sandbox + ?Sized> Sandbox for $ty {
            fn info(&self) -> SandboxInfo {
                (**self).info()
            }
            async fn run(
                &self,
                cx: &RunContext,
                environment: &Environment,
                job: &Job,
            ) -> Result<JobResult, Error> {
                (**self).run(cx, environment, job).await
            }
            async fn expect(&self, cx: &RunContext, environment: &Environment, job: &Job) {
                (**self).expect(cx, environment, job).await;
            }
            async fn settle(&self) -> Result<(), Error> {
                (**self).settle().await
            }
            async fn open(
                &self,
                cx: &RunContext,
                environment: &Environment,
                job: &Job,
            ) -> Result<Box<dyn Session>, Error> {
                (**self).open(cx, environment, job).await
            }
        }
    )+};
}
forward_sandbox!(&S, Box<S>, Arc<S>);
