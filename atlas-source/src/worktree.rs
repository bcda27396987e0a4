//! What somebody did to files, as a patch.

use crate::scratch::{Scratch, TreeSide};
use atlas_core::{Error, FileContent, FileMode, Patch};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The patch that leads from some files to others, both by their paths from the repository's root. Whoever made
/// the files has no say in how: no settings, attributes or programs of a repository are read.
///
/// # Errors
/// git fails; a full disk.
///
/// # Cancellation
/// Dropping the future leaves nothing behind.
pub async fn patch_between(
    old: &BTreeMap<String, FileContent>,
    new: &BTreeMap<String, FileContent>,
) -> Result<Patch, Error> {
    let scratch = Scratch::alone(&std::env::temp_dir()).await?;
    let empty = scratch.empty_tree().await?;
    let mut trees = Vec::new();
    for files in [old, new] {
        scratch.read_tree(&empty).await?;
        trees.push(tree_of(&scratch, files).await?);
    }
    scratch.diff(&trees[0], &trees[1]).await
}

/// The tree of files alone; the index holds it afterwards.
pub(crate) async fn tree_of(
    scratch: &Scratch,
    files: &BTreeMap<String, FileContent>,
) -> Result<String, Error> {
    let mut sides = Vec::new();
    for (path, file) in files {
        let mode = match file.mode {
            FileMode::Regular => 0o100_644,
            FileMode::Executable => 0o100_755,
            FileMode::Symlink => 0o120_000,
        };
        let oid = scratch.store(&file.bytes).await?;
        sides.push((path.as_bytes(), TreeSide { mode, oid }));
    }
    let entries = sides.iter().map(|(path, side)| (*path, Some(side)));
    scratch.update_index(entries).await?;
    scratch.write_tree().await
}

/// Those of these paths that git would leave out of a commit, by the files `.gitignore` that are given by their
/// paths from the root. What is tracked already is not asked about.
///
/// # Errors
/// git fails; a full disk.
///
/// # Cancellation
/// Dropping the future leaves nothing behind.
pub async fn ignored_paths(
    ignore_files: &BTreeMap<String, FileContent>,
    paths: &BTreeSet<String>,
) -> Result<BTreeSet<String>, Error> {
    if paths.is_empty() || ignore_files.is_empty() {
        return Ok(BTreeSet::new());
    }
    let scratch = Scratch::alone(&std::env::temp_dir()).await?;
    let root = scratch.folder().join("tree");
    tokio::fs::create_dir_all(&root)
        .await
        .map_err(|why| Error::io("make", &root, why))?;
    for (path, file) in ignore_files {
        let is_plain = Path::new(path)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)));
        if file.mode == FileMode::Symlink || !is_plain {
            continue;
        }
        let place = root.join(path);
        if let Some(folder) = place.parent() {
            tokio::fs::create_dir_all(folder)
                .await
                .map_err(|why| Error::io("make", folder, why))?;
        }
        tokio::fs::write(&place, &file.bytes)
            .await
            .map_err(|why| Error::io("write", &place, why))?;
    }
    let list: Vec<u8> = paths
        .iter()
        .flat_map(|path| [path.as_bytes(), b"\0"].concat())
        .collect();
    // No path is ignored: the exit code 1, which is no failure.
    let output = scratch
        .git()
        .env("GIT_WORK_TREE", &root)
        .setting("core.bare", Path::new("false"))
        .folder(&root)
        .args(["check-ignore", "--no-index", "-z", "--stdin"])
        .stdin(list)
        .output()
        .await?;
    Ok(output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect())
}
