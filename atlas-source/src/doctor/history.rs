//! Commits that a patch would fit.

use super::base::Base;
use crate::repository::GitRepo;
use crate::scratch::TreeSide;
use atlas_core::{CommitSha, Error};
use std::collections::{BTreeMap, BTreeSet};

/// So many commits on each side of the base commit are looked at, those nearest in time.
const MOST_COMMITS: usize = 100;

/// A commit that the patch fits, and where it is.
pub(super) struct Fit {
    pub(super) commit: CommitSha,
    /// Commits that it has and the base commit has not.
    pub(super) ahead: u64,
    /// The other way round.
    pub(super) behind: u64,
}

/// The commit nearest in time that changes one of the files and takes the patch. Commits before and
/// after the base commit are searched, on every branch that the clone has.
pub(super) async fn search(
    repo: &GitRepo,
    commit: &CommitSha,
    base: &Base,
    patch: &[u8],
    paths: &BTreeSet<String>,
) -> Result<Option<Fit>, Error> {
    if paths.is_empty() {
        return Ok(None);
    }
    let mut states: Vec<BTreeMap<String, Option<TreeSide>>> = vec![state_of(&base.entries, paths)];
    for candidate in candidates(repo, commit, paths).await? {
        let Some(state) = read_state(repo, &candidate, paths).await? else {
            continue;
        };
        if states.contains(&state) {
            continue;
        }
        base.scratch.read_tree(&base.tree).await?;
        let entries = state
            .iter()
            .map(|(path, side)| (path.as_bytes(), side.as_ref()));
        let placed = base.scratch.update_index(entries).await.is_ok();
        states.push(state);
        if placed && base.check(patch, &[]).await? {
            let count = |from: CommitSha, to: CommitSha| async move {
                let range = format!("{from}..{to}");
                let output = repo
                    .git()
                    .args(["rev-list", "--count", &range, "--"])
                    .output()
                    .await?;
                Ok::<u64, Error>(output.line().parse().unwrap_or_default())
            };
            let ahead = count(commit.clone(), candidate.clone()).await?;
            let behind = count(candidate.clone(), commit.clone()).await?;
            return Ok(Some(Fit {
                commit: candidate,
                ahead,
                behind,
            }));
        }
    }
    Ok(None)
}

fn state_of(
    entries: &BTreeMap<Vec<u8>, TreeSide>,
    paths: &BTreeSet<String>,
) -> BTreeMap<String, Option<TreeSide>> {
    paths
        .iter()
        .map(|path| (path.clone(), entries.get(path.as_bytes()).cloned()))
        .collect()
}

/// The files as a commit has them. Nothing if the commit cannot be read, as in a partial clone.
async fn read_state(
    repo: &GitRepo,
    commit: &CommitSha,
    paths: &BTreeSet<String>,
) -> Result<Option<BTreeMap<String, Option<TreeSide>>>, Error> {
    let output = repo
        .git()
        .args(["--literal-pathspecs", "ls-tree", "-z", "--full-tree"])
        .args([commit.as_str(), "--"])
        .args(paths)
        .output()
        .await?;
    if !output.success {
        return Ok(None);
    }
    let entries = crate::apply::tree_entries(&output.stdout);
    Ok(Some(state_of(&entries, paths)))
}

/// Commits that change the files, nearest in time first.
async fn candidates(
    repo: &GitRepo,
    commit: &CommitSha,
    paths: &BTreeSet<String>,
) -> Result<Vec<CommitSha>, Error> {
    let mut found: Vec<(u64, CommitSha)> = Vec::new();
    let own = time_of(repo, commit).await?;
    let without = format!("^{commit}");
    for revisions in [&[commit.as_str()][..], &["--all", &without]] {
        let output = repo
            .git()
            .args(["--literal-pathspecs", "rev-list", "--timestamp"])
            .args(revisions)
            .arg("--")
            .args(paths)
            .output()
            .await?;
        if !output.success {
            continue;
        }
        let text = output.line();
        let mut side: Vec<(u64, CommitSha)> = text
            .lines()
            .filter_map(|line| {
                let (time, id) = line.split_once(' ')?;
                Some((time.parse::<u64>().ok()?.abs_diff(own), id.parse().ok()?))
            })
            .collect();
        side.sort();
        side.truncate(MOST_COMMITS);
        found.extend(side);
    }
    found.sort();
    Ok(found.into_iter().map(|(_, id)| id).collect())
}

async fn time_of(repo: &GitRepo, commit: &CommitSha) -> Result<u64, Error> {
    let output = repo
        .git()
        .args([
            "rev-list",
            "--timestamp",
            "--max-count=1",
            commit.as_str(),
            "--",
        ])
        .checked()
        .await?;
    let line = output.line();
    let time = line.split(' ').next().and_then(|time| time.parse().ok());
    Ok(time.unwrap_or_default())
}
