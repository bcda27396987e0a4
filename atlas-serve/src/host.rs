//! What the server stands on: whoever opens sessions and grades patches.

use crate::{Grade, RewardKind};
use async_trait::async_trait;
use atlas_core::{Error, Isolation, RunContext, Step, StepResult};
use std::fmt;

/// What an agent is told of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// `owner/name`.
    pub repo: String,
    /// The commit that the session's files are of.
    pub base_commit: String,
    /// What is asked for.
    pub problem_statement: String,
    /// The row's hints; told only where a reset asks for them.
    pub hints: Option<String>,
}

/// A patch that waits for its verdict.
#[derive(Clone, Copy, Debug)]
pub struct Submission<'a> {
    /// The episode, as a name for the grader's files: no two submissions share one.
    pub episode: &'a str,
    /// The instance.
    pub instance_id: &'a str,
    /// The patch on Base; may be empty.
    pub patch: &'a str,
    /// What the reward will be made of.
    pub reward: RewardKind,
}

/// Opens sessions in instances and grades what is submitted.
///
/// # Contract
/// - A verdict is a function of instance and patch: grading the same again gives the same, so that a server that
///   was killed may ask anew.
/// - What a process left behind that was killed is removed by the host's own sweep, not by the server.
#[async_trait]
pub trait EpisodeHost: fmt::Debug + Send + Sync {
    /// The instances that can be worked in.
    fn instances(&self) -> &[String];

    /// What an agent is told of one; nothing if there is none of that name.
    fn task(&self, instance_id: &str) -> Option<Task>;

    /// Whether it knows this kind of reward. Default: all but a critic's.
    fn knows(&self, reward: RewardKind) -> bool {
        reward != RewardKind::Critic
    }

    /// Opens a session at Base, in a fresh copy of the instance's environment.
    ///
    /// # Errors
    /// No such instance, no environment for it, the engine.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` or dropping the future leaves nothing behind.
    async fn begin(
        &self,
        cx: &RunContext,
        instance_id: &str,
    ) -> Result<Box<dyn HostedEpisode>, Error>;

    /// The verdict on a patch. What is no doing of the patch is a grade without `resolved`, or an error.
    ///
    /// # Errors
    /// What is worth asking again for.
    ///
    /// # Cancellation
    /// Raising `cx.cancel` ends it; dropping the future is harmless.
    async fn grade(&self, cx: &RunContext, submission: Submission<'_>) -> Result<Grade, Error>;
}

/// One open session. One that is dropped is removed by the host soon after.
#[async_trait]
pub trait HostedEpisode: fmt::Debug + Send {
    /// How commands are kept apart.
    fn isolation(&self) -> Isolation;

    /// Where commands start, as they see it.
    fn working_directory(&self) -> String;

    /// Runs one command; as [`Session::step`](atlas_core::Session::step).
    ///
    /// # Errors
    /// What is no doing of the command.
    ///
    /// # Cancellation
    /// As [`Session::step`](atlas_core::Session::step).
    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error>;

    /// What was done to the repository, as a patch on Base that no program of the session made.
    ///
    /// # Errors
    /// The engine; changes that are no patch.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    async fn patch(&mut self, cx: &RunContext) -> Result<String, Error>;

    /// Another session that begins with this one's files.
    ///
    /// # Errors
    /// The engine; a host that cannot.
    ///
    /// # Cancellation
    /// Dropping the future leaves nothing behind.
    async fn fork(&mut self, cx: &RunContext) -> Result<Box<dyn HostedEpisode>, Error>;

    /// Ends the session and removes it.
    ///
    /// # Errors
    /// What could not be removed.
    ///
    /// # Cancellation
    /// Dropping the future leaves the rest to the host's clean-up.
    async fn close(self: Box<Self>) -> Result<(), Error>;
}
