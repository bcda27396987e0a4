//! Patches laid on a commit of a clone, or on files that are in no clone.

use crate::apply::{Rung, Tried};
use crate::overlay::{OverlayOutcome, chain, overlay};
use crate::repository::GitRepo;
use crate::scratch::Scratch;
use crate::worktree::tree_of;
use async_trait::async_trait;
use atlas_core::{
    Applied, CommitSha, Error, ErrorKind, FileContent, Overlay, Patch, PatchApplier, RunContext,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Lays patches on one commit of a clone, by the same ladder for gold patches and predictions.
#[derive(Clone, Debug)]
pub struct CommitApplier {
    /// The clone; nothing is written to it.
    pub repo: GitRepo,
    /// The commit.
    pub base: CommitSha,
}

#[async_trait]
impl PatchApplier for CommitApplier {
    async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
        cx.check("apply patches")?;
        let outcome = overlay(&self.repo, &self.base, patches).await?;
        Ok(applied(outcome))
    }
}

/// Lays patches on plain files, for those who have no clone: only an image that the files were read
/// from.
///
/// The ladder is that of [`CommitApplier`]; `--3way` never helps here, because no older versions
/// are at hand. A path without an entry does not exist, so the files must be at least those that the
/// patches name: see [`touched_paths`](crate::touched_paths).
#[derive(Clone, Debug)]
pub struct FolderApplier {
    /// The files by their paths from the repository's root.
    pub files: BTreeMap<String, FileContent>,
    temp: PathBuf,
}

impl FolderApplier {
    /// An applier over these files.
    pub fn new(files: BTreeMap<String, FileContent>) -> Self {
        Self {
            files,
            temp: std::env::temp_dir(),
        }
    }

    /// The same with another place for throw-away files; the system's by default.
    #[must_use]
    pub fn with_temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temp = folder.into();
        self
    }
}

/// The paths that a repository's index (`.git/index`) holds, for those who have that file alone: what git tracks, as
/// opposed to what builds left beside it.
///
/// # Errors
/// The file is no index that git can read.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn index_paths(index: &[u8]) -> Result<BTreeSet<String>, Error> {
    let scratch = Scratch::alone(&std::env::temp_dir()).await?;
    Ok(scratch.paths_of_index(index).await?.into_iter().collect())
}

#[async_trait]
impl PatchApplier for FolderApplier {
    async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
        cx.check("apply patches")?;
        let given = Overlay {
            write: self.files.clone(),
            ..Overlay::default()
        };
        given.check_paths().map_err(|path| {
            Error::new(
                ErrorKind::InvalidInput,
                "apply patches to files",
                format!("`{path}`: the path leaves the repository or touches `.git`; give paths from its root"),
            )
        })?;
        let scratch = Scratch::alone(&self.temp).await?;
        let tree = tree_of(&scratch, &self.files).await?;
        Ok(applied(chain(&scratch, None, tree, patches).await?))
    }
}

fn applied(mut outcome: OverlayOutcome) -> Applied {
    if let Some((patch, tried)) = outcome.failed {
        let reasons = tried.iter().map(said).collect();
        return Applied::No { patch, reasons };
    }
    let mut notes = outcome.notes;
    for (place, state) in outcome.states.iter().enumerate() {
        if !matches!(state.rung, Rung::Plain | Rung::Empty) {
            notes.push(format!("patch {place} fitted only by {:?}", state.rung));
        }
    }
    let overlay = outcome.states.pop().map(|state| state.overlay);
    Applied::Yes {
        overlay: overlay.unwrap_or_default(),
        notes,
    }
}

fn said((rung, words): &Tried) -> String {
    format!("{rung:?}: {}", words.trim())
}
