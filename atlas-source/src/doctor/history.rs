//! Commits that a patch would fit.

use super::base::Base;
use super::lines::{Content, Likeness, Side};
use super::scan::Scan;
use crate::repository::GitRepo;
use crate::scratch::TreeSide;
use atlas_core::{CommitSha, Error};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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
    // One request names a commit and a path in a line.
    if paths.is_empty() || paths.iter().any(|path| path.contains('\n')) {
        return Ok(None);
    }
    let candidates = candidates(repo, commit, paths).await?;
    let states = states(base, &candidates, paths).await?;
    let wanted: BTreeSet<&str> = states
        .iter()
        .flat_map(|state| state.values().flatten().map(String::as_str))
        .collect();
    let contents = base.scratch.contents(wanted.iter().copied()).await?;
    let contents: BTreeMap<&str, Vec<u8>> = wanted.iter().copied().zip(contents).collect();
    let scan = Scan::of(patch);
    let mut seen: Vec<&State> = Vec::new();
    for (candidate, state) in candidates.iter().zip(&states) {
        if seen.contains(&state) {
            continue;
        }
        seen.push(state);
        if !may_fit(&scan, state, &contents) || !fits(base, patch, state).await? {
            continue;
        }
        return Ok(Some(Fit {
            commit: candidate.clone(),
            ahead: count(repo, commit, candidate).await?,
            behind: count(repo, candidate, commit).await?,
        }));
    }
    Ok(None)
}

/// The commits of the second that the first has not.
async fn count(repo: &GitRepo, from: &CommitSha, to: &CommitSha) -> Result<u64, Error> {
    let range = format!("{from}..{to}");
    let call = repo.git().args(["rev-list", "--count", &range, "--"]);
    Ok(call.output().await?.line().parse().unwrap_or_default())
}

/// The ids of files by path; nothing where a file is not there.
type State = BTreeMap<String, Option<String>>;

/// The files as each commit has them, in one process. The list ends early where the contents would
/// take too much memory.
async fn states(
    base: &Base,
    commits: &[CommitSha],
    paths: &BTreeSet<String>,
) -> Result<Vec<State>, Error> {
    const MOST_BYTES: u64 = 64 * 1024 * 1024;
    let mut request = String::new();
    for commit in commits {
        for path in paths {
            let _ = writeln!(request, "{commit}:{path}");
        }
    }
    let output = base
        .scratch
        .git()
        .args(["cat-file", "--batch-check"])
        .stdin(request)
        .checked()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut bytes = 0;
    let mut states = Vec::new();
    for _ in commits {
        let mut state = State::new();
        for path in paths {
            let mut words = lines.next().unwrap_or_default().split(' ');
            let (id, kind, size) = (words.next(), words.next(), words.next());
            let id = match (id, kind, size) {
                (Some(id), Some("blob"), Some(size)) => {
                    if known.insert(id.to_owned()) {
                        bytes += size.parse::<u64>().unwrap_or_default();
                    }
                    Some(id.to_owned())
                }
                _ => None,
            };
            state.insert(path.clone(), id);
        }
        if bytes > MOST_BYTES {
            break;
        }
        states.push(state);
    }
    Ok(states)
}

/// Whether each file of the patch is there, or not there, and has the lines: a quick look before
/// git is asked.
fn may_fit(scan: &Scan<'_>, state: &State, contents: &BTreeMap<&str, Vec<u8>>) -> bool {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    scan.sections.iter().all(|section| {
        let Some(path) = scan.path(section) else {
            return false;
        };
        // A second section of a file builds on the first; moved files are for git to judge.
        let (Some(file), true) = (state.get(&path), seen.insert(path)) else {
            return true;
        };
        let says = |start: &str| {
            let mut lines = section.extended.iter();
            lines.any(|at| scan.lines[*at].starts(start))
        };
        if says("rename ") || says("copy ") {
            return true;
        }
        let creates =
            says("new file mode ") || section.old.is_some_and(|at| scan.name(at).is_none());
        let Some(content) = file.as_deref().and_then(|id| contents.get(id)) else {
            return creates;
        };
        let content = Content::of(content);
        !creates
            && section.hunks.iter().all(|hunk| {
                let old = Side::of(scan, hunk, true);
                // The last line may lack its end.
                old.lines.is_empty() || !content.places(&old, Likeness::Ends).is_empty()
            })
    })
}

/// Whether git applies the patch to the base tree with these files in it.
async fn fits(base: &Base, patch: &[u8], state: &State) -> Result<bool, Error> {
    base.scratch.read_tree(&base.tree).await?;
    let sides: Vec<(&str, Option<TreeSide>)> = state
        .iter()
        .map(|(path, id)| {
            let mode = base.entry(path).map_or(0o100_644, |side| side.mode);
            let side = id.clone().map(|oid| TreeSide { mode, oid });
            (path.as_str(), side)
        })
        .collect();
    let entries = sides
        .iter()
        .map(|(path, side)| (path.as_bytes(), side.as_ref()));
    Ok(base.scratch.update_index(entries).await.is_ok() && base.check(patch, &[]).await?)
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
