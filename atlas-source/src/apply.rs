//! Applying patches that may not fit exactly: a ladder of ever more lenient ways.
//!
//! Every rung works on an index in a throw-away store and begins from the same tree, so a rung that
//! fails half-way leaves nothing behind. A work tree is touched once, by the result.

use crate::git::Call;
use crate::git::GITLINK;
use crate::repository::GitRepo;
use crate::scratch::{Scratch, TreeSide, write};
use atlas_core::{Error, ErrorKind, FilePatch, Patch};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tempfile::TempDir;

/// The way in which a patch was applied, strictest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// There was nothing to apply.
    Empty,
    /// `git apply`.
    Plain,
    /// `git apply --3way`: a merge with the version the patch was made from.
    ThreeWay,
    /// `git apply -C1`: one line of context must fit.
    ReducedContext,
    /// `patch --batch --forward --fuzz=5 -p1`, the last step of the SWE-bench harness.
    FuzzyPatch,
}

/// A rung that did not hold, with what the program said.
pub type Tried = (Rung, String);

/// Whether and how a patch was applied. That it was not is data, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// It fits.
    Applied {
        /// The rung that held.
        rung: Rung,
        /// Those before it.
        tried: Vec<Tried>,
    },
    /// No rung held; nothing was changed.
    NotApplied {
        /// All rungs.
        tried: Vec<Tried>,
    },
}

impl ApplyOutcome {
    /// Whether the patch was applied.
    pub fn is_applied(&self) -> bool {
        matches!(self, Self::Applied { .. })
    }
}

/// What the ladder made of a tree.
#[derive(Debug)]
pub(crate) struct Climb {
    /// The new tree, if a rung held.
    pub(crate) tree: Option<String>,
    pub(crate) outcome: ApplyOutcome,
}

/// Applies a patch to a work tree as it stands, uncommitted changes included.
///
/// The index of the work tree stays as it is, so the change shows as not staged. Ignored files are
/// kept; a patch that would overwrite one is not applied. Paths that are absolute, climb out with
/// `..`, touch `.git` or go through a symbolic link make a rung fail.
///
/// # Errors
/// [`ErrorKind::NotFound`] if there is no work tree, [`ErrorKind::ToolFailed`] without git.
///
/// # Cancellation
/// Dropping the future stops git. The work tree is written by one git process at the end; only
/// stopping that one can leave it half-written.
pub async fn apply(worktree: impl AsRef<Path>, patch: &Patch) -> Result<ApplyOutcome, Error> {
    let worktree = worktree.as_ref();
    let repo = GitRepo::open(worktree).await?;
    let scratch = Scratch::over(&repo).await?;
    let index = scratch.folder().join("snapshot");
    let here = || {
        repo.git()
            .env("GIT_WORK_TREE", worktree)
            .env("GIT_INDEX_FILE", &index)
            .env("GIT_OBJECT_DIRECTORY", scratch.objects())
            .arg("-C")
            .arg(worktree)
    };
    // Tracked files that are ignored too would be missed by `add` alone.
    here().args(["read-tree", "HEAD"]).output().await?;
    here().args(["add", "--all", "--", "."]).checked().await?;
    let before = here().arg("write-tree").checked().await?.line();
    let climb = climb(&scratch, &before, patch).await?;
    let Some(after) = climb.tree else {
        return Ok(climb.outcome);
    };
    if after == before {
        return Ok(climb.outcome);
    }
    let written = here()
        .args(["read-tree", "-m", "-u", &before, &after])
        .output()
        .await?;
    if written.success {
        return Ok(climb.outcome);
    }
    let (rung, mut tried) = match climb.outcome {
        ApplyOutcome::Applied { rung, tried } => (rung, tried),
        ApplyOutcome::NotApplied { tried } => (Rung::Plain, tried),
    };
    tried.push((rung, written.stderr_text()));
    Ok(ApplyOutcome::NotApplied { tried })
}

/// Climbs the ladder from a tree of the store.
pub(crate) async fn climb(scratch: &Scratch, tree: &str, patch: &Patch) -> Result<Climb, Error> {
    if patch.as_bytes().iter().all(u8::is_ascii_whitespace) {
        return Ok(Climb {
            tree: Some(tree.to_owned()),
            outcome: ApplyOutcome::Applied {
                rung: Rung::Empty,
                tried: Vec::new(),
            },
        });
    }
    let file = scratch.folder().join("patch.diff");
    // What models write often lacks the last line end, and git then calls the patch corrupt.
    let mut bytes = patch.as_bytes().to_vec();
    if bytes.last() != Some(&b'\n') {
        bytes.push(b'\n');
    }
    write(&file, &bytes).await?;
    let mut tried = Vec::new();
    for (rung, options) in [
        (Rung::Plain, &[][..]),
        (Rung::ThreeWay, &["--3way"][..]),
        (Rung::ReducedContext, &["-C1"][..]),
    ] {
        scratch.read_tree(tree).await?;
        // A merge of two new files reads and writes the current folder, even with `--cached`.
        let nowhere = empty_folder(scratch)?;
        let output = scratch
            .git()
            .folder(nowhere.path())
            .args(["apply", "--cached", "--whitespace=nowarn"])
            .args(options)
            .arg("--")
            .arg(&file)
            .output()
            .await?;
        // A merge that left conflicts has no tree to write.
        if output.success
            && let Ok(new) = scratch.write_tree().await
        {
            return Ok(held(rung, tried, new));
        }
        tried.push((rung, output.stderr_text()));
    }
    match fuzzy(scratch, tree, patch, &file).await? {
        Ok(new) => Ok(held(Rung::FuzzyPatch, tried, new)),
        Err(why) => {
            tried.push((Rung::FuzzyPatch, why));
            Ok(Climb {
                tree: None,
                outcome: ApplyOutcome::NotApplied { tried },
            })
        }
    }
}

fn held(rung: Rung, tried: Vec<Tried>, tree: String) -> Climb {
    Climb {
        tree: Some(tree),
        outcome: ApplyOutcome::Applied { rung, tried },
    }
}

/// The last rung: the files that the patch names are written to an empty folder, `patch` works
/// there, and what it left is read back.
async fn fuzzy(
    scratch: &Scratch,
    tree: &str,
    patch: &Patch,
    file: &Path,
) -> Result<Result<String, String>, Error> {
    let files = match patch.files() {
        Ok(files) => files,
        Err(why) => return Ok(Err(why.to_string())),
    };
    if files.iter().any(|file| file.binary) {
        return Ok(Err("`patch` cannot apply binary content".to_owned()));
    }
    let paths: BTreeSet<&str> = files.iter().flat_map(FilePatch::paths).collect();
    let entries = entries(scratch, tree).await?;
    if let Some(why) = paths.iter().find_map(|path| refuse(path, &entries)) {
        return Ok(Err(why));
    }
    let dir = empty_folder(scratch)?;
    let present: Vec<(&str, &TreeSide)> = paths
        .iter()
        .filter_map(|path| entries.get(path.as_bytes()).map(|side| (*path, side)))
        .collect();
    let contents = scratch
        .contents(present.iter().map(|(_, side)| side.oid.as_str()))
        .await?;
    for ((path, side), content) in present.iter().zip(contents) {
        let target = dir.path().join(path);
        if let Some(parent) = target.parent() {
            tokio::fs::create_dir_all(parent)
                .await
                .map_err(|why| Error::io("make", parent, why))?;
        }
        write(&target, &content).await?;
        if side.mode == 0o100_755 {
            set_executable(&target).await?;
        }
    }
    // `--forward`: without it `--batch` takes back a patch that is already applied and calls that
    // a success.
    let call = Call::program("patch")
        .args(["--batch", "--forward", "--fuzz=5", "-p1"])
        .args(["--no-backup-if-mismatch", "--reject-file=-", "--directory"])
        .arg(dir.path())
        .arg("--input")
        .arg(file);
    let output = match call.output().await {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::ToolFailed => return Ok(Err(error.chain())),
        Err(error) => return Err(error),
    };
    if !output.success {
        let mut said = output.line();
        said.push('\n');
        said.push_str(&output.stderr_text());
        return Ok(Err(said));
    }
    let mut changes = Vec::new();
    for path in &paths {
        changes.push((*path, read_back(scratch, &dir.path().join(path)).await?));
    }
    scratch.read_tree(tree).await?;
    let updates = changes
        .iter()
        .map(|(path, side)| (path.as_bytes(), side.as_ref()));
    scratch.update_index(updates).await?;
    Ok(Ok(scratch.write_tree().await?))
}

fn empty_folder(scratch: &Scratch) -> Result<TempDir, Error> {
    tempfile::Builder::new()
        .prefix("patch-")
        .tempdir_in(scratch.folder())
        .map_err(|why| Error::io("make a folder in", scratch.folder(), why))
}

/// Why `patch` must not touch a path, if it must not.
pub(crate) fn refuse(path: &str, entries: &BTreeMap<Vec<u8>, TreeSide>) -> Option<String> {
    let outside = path.is_empty()
        || path.starts_with('/')
        || path.contains('\0')
        || path
            .split('/')
            .any(|part| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git"));
    if outside {
        return Some(format!("`{path}` leaves the repository or touches `.git`"));
    }
    let mut ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
    ends.push(path.len());
    ends.into_iter()
        .map(|end| &path[..end])
        .find(|prefix| {
            entries
                .get(prefix.as_bytes())
                .is_some_and(|side| !side.is_text_candidate())
        })
        .map(|prefix| format!("`{path}`: `{prefix}` is a symbolic link or a submodule"))
}

async fn read_back(scratch: &Scratch, path: &Path) -> Result<Option<TreeSide>, Error> {
    let meta = match tokio::fs::symlink_metadata(path).await {
        Ok(meta) if meta.is_dir() => return Ok(None),
        Ok(meta) => meta,
        Err(_) => return Ok(None),
    };
    let (mode, content) = if meta.is_symlink() {
        let target = tokio::fs::read_link(path)
            .await
            .map_err(|why| Error::io("read", path, why))?;
        (0o120_000, target.as_os_str().as_encoded_bytes().to_vec())
    } else {
        let content = tokio::fs::read(path)
            .await
            .map_err(|why| Error::io("read", path, why))?;
        (
            if is_executable(&meta) {
                0o100_755
            } else {
                0o100_644
            },
            content,
        )
    };
    let oid = scratch.store(&content).await?;
    Ok(Some(TreeSide { mode, oid }))
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
async fn set_executable(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    tokio::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .await
        .map_err(|why| Error::io("make executable", path, why))
}

#[cfg(not(unix))]
async fn set_executable(_: &Path) -> Result<(), Error> {
    Ok(())
}

/// All files of a tree by path.
pub(crate) async fn entries(
    scratch: &Scratch,
    tree: &str,
) -> Result<BTreeMap<Vec<u8>, TreeSide>, Error> {
    let output = scratch
        .git()
        .args(["ls-tree", "-r", "-z", "--full-tree", tree])
        .checked()
        .await?;
    let mut entries = BTreeMap::new();
    for line in output.stdout.split(|byte| *byte == 0) {
        let Some(tab) = memchr::memchr(b'\t', line) else {
            continue;
        };
        let meta = String::from_utf8_lossy(&line[..tab]);
        let mut meta = meta.split(' ');
        if let (Some(mode), Some(_), Some(oid)) = (meta.next(), meta.next(), meta.next()) {
            let side = TreeSide {
                mode: u32::from_str_radix(mode, 8).unwrap_or(GITLINK),
                oid: oid.to_owned(),
            };
            entries.insert(line[tab + 1..].to_vec(), side);
        }
    }
    Ok(entries)
}
