//! The seam between analysis and engines.

use async_trait::async_trait;
use atlas_core::{
    BuildFailure, EnvironmentLock, EnvironmentPlan, Error, ImageRef, Repository, RunContext,
};
use std::fmt;

/// Builds environments on one engine.
///
/// # Contract
/// - A command or instruction that fails is [`BuildOutcome::Failed`]; an engine that died, a base
///   image that cannot be had and a full disk are an [`Error`].
/// - The repository is only read.
///
/// # Cancellation
/// Raising `cx.cancel` ends the build with [`ErrorKind::Cancelled`](atlas_core::ErrorKind) and
/// leaves nothing running.
#[async_trait]
pub trait Builder: fmt::Debug + Send + Sync {
    /// `docker` or `local`.
    fn engine(&self) -> &'static str;

    /// Builds. `dockerfile` is the rendered template; the build context is `repository.checkout`.
    ///
    /// # Errors
    /// Whatever is no property of the repository: engine, disk, base image, cancellation.
    async fn build(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: &EnvironmentPlan,
        dockerfile: &str,
    ) -> Result<BuildOutcome, Error>;

    /// Removes what [`build`](Self::build) made. One that is gone, or in use by others, stays as it is
    /// and is no error.
    ///
    /// # Errors
    /// The engine or the disk.
    async fn discard(&self, image: &ImageRef) -> Result<(), Error>;
}

/// What a build came to.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value a build, taken apart at once"
)]
pub enum BuildOutcome {
    /// Built.
    Built {
        /// What sandboxes run.
        image: ImageRef,
        /// The plan as it was really used: base image replaced, drift recorded.
        plan: EnvironmentPlan,
        /// What it was made of, as far as the engine knows.
        lock: EnvironmentLock,
        /// Wall time in seconds.
        seconds: f64,
        /// What the build printed.
        log: Vec<u8>,
    },
    /// The build itself failed.
    Failed(BuildFailure),
}
