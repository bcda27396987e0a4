//! States as whole files: what a chain of patches makes of a commit.

use crate::apply::{ApplyOutcome, Rung, Tried, climb};
use crate::git::GITLINK;
use crate::repository::{GitRepo, path_text};
use crate::rules::is_manifest;
use crate::scratch::{Scratch, TreeSide};
use crate::submodules::module_at;
use atlas_core::{CommitSha, Error, ErrorKind, FileContent, FileMode, Overlay, Patch};
use std::collections::BTreeMap;

/// The state after one patch of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayState {
    /// The files that differ from base.
    pub overlay: Overlay,
    /// How the patch was applied.
    pub rung: Rung,
    /// The rungs that did not hold.
    pub tried: Vec<Tried>,
}

/// What a chain of patches makes of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OverlayOutcome {
    /// One state per patch that was applied, each with all patches up to it.
    pub states: Vec<OverlayState>,
    /// The patch at which the chain broke: its place in the list and the rungs tried.
    pub failed: Option<(usize, Vec<Tried>)>,
    /// What an overlay cannot hold, for people: submodules that the patches move.
    pub notes: Vec<String>,
}

/// Applies patches one after another to a commit and gives every state on the way as the files
/// that differ from the commit.
///
/// Nothing is checked out and the repository is not written to. Contents are those stored in git,
/// before any conversion of line ends on checkout.
///
/// # Errors
/// [`ErrorKind::NotFound`] without that commit; [`ErrorKind::InvalidInput`] for a path that is no
/// UTF-8.
pub async fn overlay(
    repo: &GitRepo,
    base: &CommitSha,
    patches: &[&Patch],
) -> Result<OverlayOutcome, Error> {
    let scratch = Scratch::over(repo).await?;
    let base_tree = scratch.tree_of(base).await?;
    chain(&scratch, Some(repo), base_tree, patches).await
}

/// Applies patches one after another to a tree of the store. Without a clone a submodule that moves
/// is only noted.
pub(crate) async fn chain(
    scratch: &Scratch,
    repo: Option<&GitRepo>,
    base_tree: String,
    patches: &[&Patch],
) -> Result<OverlayOutcome, Error> {
    let mut tree = base_tree.clone();
    let mut outcome = OverlayOutcome::default();
    for (place, patch) in patches.iter().enumerate() {
        let climb = climb(scratch, &tree, patch).await?;
        match (climb.tree, climb.outcome) {
            (Some(new), ApplyOutcome::Applied { rung, tried }) => {
                tree = new;
                let overlay =
                    between(repo, scratch, [&base_tree, &tree], &mut outcome.notes).await?;
                outcome.states.push(OverlayState {
                    overlay,
                    rung,
                    tried,
                });
            }
            (_, ApplyOutcome::NotApplied { tried } | ApplyOutcome::Applied { tried, .. }) => {
                outcome.failed = Some((place, tried));
                break;
            }
        }
    }
    outcome.notes.dedup();
    Ok(outcome)
}

/// The dependency manifests among a state's files: what an environment for that state must know
/// beforehand.
pub fn manifests_of(overlay: &Overlay) -> BTreeMap<String, Vec<u8>> {
    overlay
        .write
        .iter()
        .filter(|(path, content)| is_manifest(path) && content.mode != FileMode::Symlink)
        .map(|(path, content)| (path.clone(), content.bytes.clone()))
        .collect()
}

/// The difference between two trees as whole files. A submodule that moves is the difference between
/// its two commits, where the clone has them.
pub(crate) async fn between(
    repo: Option<&GitRepo>,
    scratch: &Scratch,
    [old, new]: [&str; 2],
    notes: &mut Vec<String>,
) -> Result<Overlay, Error> {
    let mut overlay = Overlay::default();
    let mut written = Vec::new();
    for change in scratch.changes(old, new).await? {
        let path = path_text(change.path)?;
        let is_link = |side: &Option<TreeSide>| side.as_ref().is_some_and(|s| s.mode == GITLINK);
        if is_link(&change.old) || is_link(&change.new) {
            let ids = [&change.old, &change.new].map(|side| {
                let link = side.as_ref().filter(|side| side.mode == GITLINK);
                link.map(|side| side.oid.clone())
            });
            // Either tree may be the one that names the submodule.
            let tree = if ids[1].is_some() { new } else { old };
            let module = match repo {
                Some(repo) => module_at(scratch.git(), tree, &path, repo).await,
                None => None,
            };
            if let Some(inner) = moved(module, &ids, notes).await? {
                let below = |inside: String| format!("{path}/{inside}");
                let files = inner.write.into_iter();
                overlay
                    .write
                    .extend(files.map(|(inside, content)| (below(inside), content)));
                overlay.remove.extend(inner.remove.into_iter().map(below));
            } else {
                let to = ids[1].as_deref().unwrap_or("nothing");
                notes.push(format!(
                    "submodule `{path}` moves to {to}, which the clone does not have"
                ));
            }
        }
        match change.new {
            Some(side) if side.mode == GITLINK => {}
            Some(side) => written.push((path, side)),
            None if is_link(&change.old) => {}
            None => {
                overlay.remove.insert(path);
            }
        }
    }
    let contents = scratch
        .contents(written.iter().map(|(_, side)| side.oid.as_str()))
        .await?;
    for ((path, side), bytes) in written.into_iter().zip(contents) {
        let mode = match side.mode {
            0o100_755 => FileMode::Executable,
            0o120_000 => FileMode::Symlink,
            _ => FileMode::Regular,
        };
        overlay.write.insert(path, FileContent { mode, bytes });
    }
    overlay.check_paths().map_err(|path| {
        Error::new(
            ErrorKind::InvalidInput,
            "make overlay",
            format!("`{path}`: the path leaves the repository or touches `.git`"),
        )
    })?;
    Ok(overlay)
}

/// What changes inside a submodule; nothing where its objects are not here. Where the old commit is
/// not, the checkout of the base commit has left the submodule empty.
async fn moved(
    module: Option<GitRepo>,
    [old, new]: &[Option<String>; 2],
    notes: &mut Vec<String>,
) -> Result<Option<Overlay>, Error> {
    let Some(module) = module else {
        return Ok(None);
    };
    let scratch = Scratch::over(&module).await?;
    let mut trees = Vec::new();
    for (id, must_be_there) in [(old, false), (new, true)] {
        let commit = match id {
            Some(id) => module.resolve(id).await.ok(),
            None => None,
        };
        match commit {
            Some(commit) => trees.push(scratch.tree_of(&commit).await?),
            None if must_be_there && id.is_some() => return Ok(None),
            None => trees.push(scratch.empty_tree().await?),
        }
    }
    let overlay = Box::pin(between(
        Some(&module),
        &scratch,
        [&trees[0], &trees[1]],
        notes,
    ))
    .await?;
    Ok(Some(overlay))
}
