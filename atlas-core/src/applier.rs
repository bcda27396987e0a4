//! Patches laid on a base commit.

use crate::{Error, Overlay, Patch, RunContext};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

/// What became of a chain of patches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// All of them fit: the files that differ from the base commit, and remarks (a patch that fitted
    /// only with less context, a submodule that moves).
    Yes {
        /// The files.
        overlay: Overlay,
        /// Remarks.
        notes: Vec<String>,
    },
    /// One did not.
    No {
        /// Its place in the chain, from 0.
        patch: usize,
        /// What was tried, and what was said to it.
        reasons: Vec<String>,
    },
}

/// Lays patches on one base commit, for those who run the result and know no git.
///
/// # Contract
/// - The same patches give the same files; nothing outside is changed.
/// - A patch that does not fit is [`Applied::No`], never an [`Error`].
///
/// # Cancellation
/// Dropping the future is harmless.
#[async_trait]
pub trait PatchApplier: fmt::Debug + Send + Sync {
    /// Lays the patches on the base commit, one after another.
    ///
    /// # Errors
    /// What is no property of the patches: a repository that is gone, a full disk.
    async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error>;
}

macro_rules! forward_patch_applier {
    ($($ty:ty),+) => {$(
        #[deny(clippy::missing_trait_methods)]
        #[async_trait]
        impl<A: PatchApplier + ?Sized> PatchApplier for $ty {
            async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
                (**self).apply(cx, patches).await
            }
        }
    )+};
}
forward_patch_applier!(&A, Box<A>, Arc<A>);
