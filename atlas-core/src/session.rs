//! Sandboxes that stay open: commands one after the other in one copy of an environment.

use crate::{Error, ExitState, FileContent, Isolation, RunContext};
use async_trait::async_trait;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One command for a [`Session`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Text for bash. It starts in the repository's root whatever earlier commands did: of them only files
    /// and processes in the background stay, no folder and no variable.
    pub command: String,
    /// Wall time in seconds; then the command and what it started in its process group are killed.
    pub seconds: u64,
    /// Bytes of output that are kept, from the first on; the rest is counted.
    pub output_bytes: u64,
}

impl Step {
    /// A command with 60 seconds and 1 MiB of output.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            seconds: 60,
            output_bytes: 1 << 20,
        }
    }
}

/// What a command of a [`Session`] did.
#[derive(Clone, Debug, PartialEq)]
pub struct StepResult {
    /// How it ended.
    pub exit: ExitState,
    /// Standard output and standard error as one stream.
    pub output: Vec<u8>,
    /// All bytes that it printed, those that were not kept included.
    pub output_total: u64,
    /// Wall time, in seconds.
    pub seconds: f64,
    /// The session ended with this command: its shell was killed, by the command itself, by the memory
    /// limit or from outside. What it wrote can still be read.
    pub is_over: bool,
}

/// Paths that differ from the environment's, below the repository and outside its `.git`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Files that are new or may have other bytes or modes; folders may be among them.
    pub written: BTreeSet<String>,
    /// Of these, the ones that the environment does not have.
    pub new: BTreeSet<String>,
    /// Paths that are gone; a folder stands for all below it.
    pub removed: BTreeSet<String>,
}

/// A fresh copy of an environment in which commands run one after the other, opened by
/// [`Sandbox::open`](crate::Sandbox::open).
///
/// # Contract
/// - Sealed: isolation and limits are those of a job; the limit of seconds is the whole session's.
/// - Honest: what changed is found out from outside, by no program of the environment.
/// - Clean: when `close` returns, nothing is left. A session that is dropped is removed soon after, and one
///   whose process was killed by the next sweep.
#[async_trait]
pub trait Session: fmt::Debug + Send {
    /// How commands are kept apart.
    fn isolation(&self) -> Isolation;

    /// Runs one command and waits for its end. A session that is over answers with
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
    ///
    /// # Errors
    /// What is no doing of the command: engine, cancellation.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` or dropping the future leaves the command running to its own limit; the session
    /// can only be read and closed then.
    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error>;

    /// What differs from the environment now.
    ///
    /// # Errors
    /// The engine does not answer.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    async fn changed(&mut self, cx: &RunContext) -> Result<Changed, Error>;

    /// The files of these names; what is absent or no file or symbolic link is left out.
    ///
    /// # Errors
    /// The engine does not answer, a path that leaves the repository.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    async fn read(
        &mut self,
        cx: &RunContext,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error>;

    /// Another session that begins with this one's files as they are now, with limits of its own. Processes
    /// are not taken along.
    ///
    /// # Errors
    /// The engine does not answer; a full disk.
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    async fn fork(&mut self, cx: &RunContext) -> Result<Box<dyn Session>, Error>;

    /// Ends everything and removes it.
    ///
    /// # Errors
    /// What could not be removed; the next sweep tries again.
    ///
    /// # Cancellation
    /// Dropping the future leaves the rest to the implementation's clean-up.
    async fn close(self: Box<Self>) -> Result<(), Error>;
}
