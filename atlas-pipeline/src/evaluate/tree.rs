//! The files of an instance's base commit, wherever they can be had.

use crate::retry::Patience;
use async_trait::async_trait;
use atlas_core::{
    Applied, Error, ErrorKind, FileContent, FileMode, Patch, PatchApplier, PatchKind, RunContext,
};
use atlas_docker::DockerEngine;
use atlas_source::{CommitApplier, EntryKind, FolderApplier, TreeEntry, index_paths};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::Mutex;

/// Where the harnesses of the field keep the repository in an image.
const REPOSITORY: &str = "/testbed";

/// The base commit of an instance as files.
#[derive(Clone, Debug)]
pub(super) enum BaseTree {
    /// In a clone.
    Commit(CommitApplier),
    /// In an image.
    Image(ImageTree),
}

impl BaseTree {
    /// The files of these names; those that Base does not have are absent.
    pub(super) async fn files(
        &self,
        cx: &RunContext,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        match self {
            Self::Image(tree) => tree.files(cx, paths).await,
            Self::Commit(tree) => {
                let mut files = BTreeMap::new();
                for path in paths {
                    if let Some(bytes) = tree.repo.read_file(&tree.base, path).await? {
                        // Only the content matters to those who ask.
                        let mode = FileMode::Regular;
                        files.insert(path.clone(), FileContent { mode, bytes });
                    }
                }
                Ok(files)
            }
        }
    }

    /// What git tracks in Base, with the mode of each where it is known. Nothing where there is no index.
    pub(super) async fn tracked(
        &self,
        cx: &RunContext,
    ) -> Result<Option<BTreeMap<String, Option<FileMode>>>, Error> {
        match self {
            Self::Image(tree) => {
                let found = tree.tracked(cx).await?;
                Ok(found.map(|paths| paths.into_iter().map(|path| (path, None)).collect()))
            }
            Self::Commit(tree) => {
                let entries = tree.repo.list_files(&tree.base).await?.into_iter();
                let files = entries.filter(|entry| entry.kind != EntryKind::Submodule);
                let mode = |entry: &TreeEntry| match (entry.kind, entry.mode) {
                    (EntryKind::Symlink, _) => FileMode::Symlink,
                    (_, 0o100_755) => FileMode::Executable,
                    _ => FileMode::Regular,
                };
                Ok(Some(
                    files
                        .map(|entry| (entry.path.clone(), Some(mode(&entry))))
                        .collect(),
                ))
            }
        }
    }

    /// What lays patches on it.
    pub(super) fn applier(&self) -> Arc<dyn PatchApplier> {
        match self {
            Self::Commit(tree) => Arc::new(tree.clone()),
            Self::Image(tree) => Arc::new(tree.clone()),
        }
    }
}

/// The repository inside an image; files are read as they are asked for, each once.
#[derive(Clone, Debug)]
pub(super) struct ImageTree {
    engine: DockerEngine,
    image: String,
    patience: Patience,
    known: Arc<Mutex<BTreeMap<String, Option<FileContent>>>>,
}

impl ImageTree {
    /// The repository in the image of this id.
    pub(super) fn new(engine: DockerEngine, image: impl Into<String>, patience: Patience) -> Self {
        Self {
            engine,
            image: image.into(),
            patience,
            known: Arc::default(),
        }
    }

    async fn files(
        &self,
        cx: &RunContext,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        let mut known = self.known.lock().await;
        let missing: BTreeSet<String> = paths
            .iter()
            .filter(|path| !known.contains_key(*path))
            .cloned()
            .collect();
        if !missing.is_empty() {
            let read = || {
                self.engine
                    .read_files(cx, &self.image, REPOSITORY, &missing)
            };
            let mut found = self.patience.run(cx, "read files", read).await?;
            for path in missing {
                let content = found.remove(&path);
                known.insert(path, content);
            }
        }
        Ok(paths
            .iter()
            .filter_map(|path| Some((path.clone(), known.get(path)?.clone()?)))
            .collect())
    }
}

impl ImageTree {
    /// What git tracks in the image's repository; none where it has no index.
    async fn tracked(&self, cx: &RunContext) -> Result<Option<BTreeSet<String>>, Error> {
        const INDEX: &str = ".git/index";
        let mut found = self.files(cx, &BTreeSet::from([INDEX.to_owned()])).await?;
        match found.remove(INDEX) {
            // An index that cannot be read tells nothing.
            Some(index) => Ok(index_paths(&index.bytes).await.ok()),
            None => Ok(None),
        }
    }
}

#[async_trait]
impl PatchApplier for ImageTree {
    async fn apply(&self, cx: &RunContext, patches: &[&Patch]) -> Result<Applied, Error> {
        let mut paths = BTreeSet::new();
        for (place, patch) in patches.iter().enumerate() {
            let files = match patch.files() {
                Ok(files) => files,
                Err(why) => {
                    return Ok(Applied::No {
                        patch: place,
                        reasons: vec![why.to_string()],
                    });
                }
            };
            paths.extend(
                files
                    .iter()
                    .flat_map(|file| file.paths().map(str::to_owned).collect::<Vec<_>>()),
            );
        }
        let mut files = match self.files(cx, &paths).await {
            Ok(files) => files,
            // A path that leaves the repository is the patch's fault.
            Err(why) if why.kind() == ErrorKind::InvalidInput => {
                return Ok(Applied::No {
                    patch: 0,
                    reasons: vec![why.chain()],
                });
            }
            Err(why) => return Err(why),
        };
        // What the environment's build left (a lock file) is no file of Base: a patch may bring one of that name.
        let mut created: BTreeSet<String> = BTreeSet::new();
        for patch in patches {
            let new = patch.files().unwrap_or_default();
            let new = new.iter().filter(|file| file.kind == PatchKind::Create);
            created.extend(new.map(|file| file.path().to_owned()));
        }
        created.retain(|path| files.contains_key(path));
        if !created.is_empty()
            && let Some(tracked) = self.tracked(cx).await?
        {
            files.retain(|path, _| !created.contains(path) || tracked.contains(path));
        }
        FolderApplier::new(files).apply(cx, patches).await
    }
}
