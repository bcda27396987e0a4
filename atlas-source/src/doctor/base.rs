//! The tree that a patch was meant for.

use super::climb::PATCH_NAME;
use crate::apply::entries;
use crate::repository::GitRepo;
use crate::scratch::{Scratch, TreeSide, write};
use atlas_core::{CommitSha, Error};
use std::collections::{BTreeMap, BTreeSet};

/// Files beyond this are not compared line by line.
const MOST_LINES: usize = 200_000;

/// A base commit's tree, and the contents of the files that a patch names.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) scratch: Scratch,
    pub(super) tree: String,
    pub(super) entries: BTreeMap<Vec<u8>, TreeSide>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Base {
    pub(super) async fn of(
        repo: &GitRepo,
        commit: &CommitSha,
        paths: &BTreeSet<String>,
    ) -> Result<Self, Error> {
        let scratch = Scratch::over(repo).await?;
        let tree = scratch.tree_of(commit).await?;
        let entries = entries(&scratch, &tree).await?;
        let present: Vec<(&String, &TreeSide)> = paths
            .iter()
            .filter_map(|path| Some((path, entries.get(path.as_bytes())?)))
            .filter(|(_, side)| side.is_text_candidate())
            .collect();
        let contents = scratch
            .contents(present.iter().map(|(_, side)| side.oid.as_str()))
            .await?;
        let files = present
            .iter()
            .zip(contents)
            .filter(|(_, content)| memchr::memchr_iter(b'\n', content).count() <= MOST_LINES)
            .map(|((path, _), content)| ((*path).clone(), content))
            .collect();
        Ok(Self {
            scratch,
            tree,
            entries,
            files,
        })
    }

    /// A regular file's content, if the patch names the file.
    pub(super) fn content(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    pub(super) fn entry(&self, path: &str) -> Option<&TreeSide> {
        self.entries.get(path.as_bytes())
    }

    /// Whether plain `git apply` takes the bytes as they are.
    pub(super) async fn fits(&self, patch: &[u8]) -> Result<bool, Error> {
        self.scratch.read_tree(&self.tree).await?;
        self.check(patch, &[]).await
    }

    /// Whether the tree has the patch already.
    pub(super) async fn has(&self, patch: &[u8]) -> Result<bool, Error> {
        self.scratch.read_tree(&self.tree).await?;
        self.check(patch, &["--reverse"]).await
    }

    /// Whether `git apply` takes the bytes on the index as it is.
    pub(super) async fn check(&self, patch: &[u8], options: &[&str]) -> Result<bool, Error> {
        let file = self.scratch.folder().join(PATCH_NAME);
        write(&file, patch).await?;
        let output = self
            .scratch
            .git()
            .args(["apply", "--cached", "--check", "--whitespace=nowarn"])
            .args(options)
            .arg("--")
            .arg(&file)
            .output()
            .await?;
        Ok(output.success)
    }
}
