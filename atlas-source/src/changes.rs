//! What differs between two commits.

use crate::repository::{GitRepo, path_text};
use crate::scratch::Scratch;
use atlas_core::{CommitSha, Error, Patch};

/// How a file differs between two commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Only the newer commit has it.
    Added,
    /// Only the older commit has it.
    Deleted,
    /// Both have it, with another content or mode.
    Modified,
}

/// One file that two commits do not share. A rename is a removal and an addition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedFile {
    /// Path from the repository's root.
    pub path: String,
    /// How it differs.
    pub kind: ChangeKind,
}

impl GitRepo {
    /// The files that differ between two commits, in path order.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](atlas_core::ErrorKind::NotFound) if one of the commits is not there,
    /// [`ErrorKind::InvalidInput`](atlas_core::ErrorKind::InvalidInput) for a path that is no UTF-8.
    pub async fn changed_files(
        &self,
        base: &CommitSha,
        head: &CommitSha,
    ) -> Result<Vec<ChangedFile>, Error> {
        let scratch = Scratch::over(self).await?;
        let (old, new) = (scratch.tree_of(base).await?, scratch.tree_of(head).await?);
        scratch
            .changes(&old, &new)
            .await?
            .into_iter()
            .map(|change| {
                Ok(ChangedFile {
                    kind: match (&change.old, &change.new) {
                        (None, _) => ChangeKind::Added,
                        (_, None) => ChangeKind::Deleted,
                        _ => ChangeKind::Modified,
                    },
                    path: path_text(change.path)?,
                })
            })
            .collect()
    }

    /// The patch from one commit's tree to another's, renames found, binary content included.
    ///
    /// It is always UTF-8: a file whose lines are not comes out as a binary patch. Attributes in
    /// the repository have no say in what is text.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](atlas_core::ErrorKind::NotFound) if one of the commits is not there.
    pub async fn diff(&self, base: &CommitSha, head: &CommitSha) -> Result<Patch, Error> {
        let scratch = Scratch::over(self).await?;
        let (old, new) = (scratch.tree_of(base).await?, scratch.tree_of(head).await?);
        scratch.diff(&old, &new).await
    }
}
