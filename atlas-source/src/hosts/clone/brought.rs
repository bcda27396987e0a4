//! The commits that each pull request brought: one call of git for a whole page.

use super::PullRequestSteps;
use super::walk::Step;
use crate::git::unexpected;
use crate::repository::{GitRepo, shas};
use atlas_core::{CommitSha, Error};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the commits of a pull request tell.
#[derive(Clone, Debug, Default)]
pub(super) struct Brought {
    /// When the earliest was authored, seconds since 1970. Absent where they are not in the clone.
    pub(super) first: Option<i64>,
    /// Who authored it, where they are there.
    pub(super) author: Option<String>,
    /// Their messages, oldest first.
    pub(super) messages: Vec<(CommitSha, String)>,
    /// Where this comes from.
    pub(super) how: String,
}

/// A commit of the page's part of the history.
struct Node {
    parents: Vec<CommitSha>,
    authored: i64,
    author: String,
    message: String,
}

/// What each pull request among the steps, newest first, brought into the branch.
///
/// A merge brought what its later parents reach and its first one does not; a squashed commit what the host's ref of the
/// number reaches; a single commit itself.
pub(super) async fn brought(
    repo: &GitRepo,
    steps: &[PullRequestSteps],
    heads: &BTreeMap<u64, CommitSha>,
) -> Result<BTreeMap<CommitSha, Brought>, Error> {
    let mut found = BTreeMap::new();
    let (Some(newest), Some(oldest)) = (steps.first(), steps.last()) else {
        return Ok(found);
    };
    let mut tips = Vec::new();
    for taken in steps {
        let Some(told) = &taken.told else { continue };
        let step = &taken.step;
        tips.extend(step.parents.iter().skip(1).cloned());
        if step.parents.len() == 1 && !taken.is_rebased {
            tips.extend(told.number.and_then(|number| heads.get(&number)).cloned());
        }
    }
    let nodes = if tips.is_empty() {
        HashMap::new()
    } else {
        tips.push(newest.step.commit.clone());
        graph(repo, &tips, oldest.base()).await?
    };
    let mut seen: HashSet<&CommitSha> = HashSet::new();
    for taken in steps.iter().rev() {
        let base: Vec<&CommitSha> = taken.base().into_iter().collect();
        reach(&nodes, base, &mut seen);
        let Some(told) = &taken.told else { continue };
        let step = &taken.step;
        if taken.is_rebased {
            found.insert(step.commit.clone(), rebased(taken));
            continue;
        }
        let number = told.number;
        let side: Vec<&CommitSha> = if step.parents.len() > 1 {
            step.parents.iter().skip(1).collect()
        } else {
            number
                .and_then(|number| heads.get(&number))
                .into_iter()
                .collect()
        };
        let brought = if side.is_empty() {
            Brought {
                // The date of a squashed commit is that of its merge.
                first: number.is_none().then_some(step.authored),
                how: format!("commit {}", step.commit.short()),
                ..Brought::default()
            }
        } else {
            let mut own = seen.clone();
            let commits = reach(&nodes, side, &mut own);
            told_by(&nodes, &commits)
        };
        found.insert(step.commit.clone(), brought);
    }
    Ok(found)
}

/// What commits that were rebased tell: they are the pull request's own, with its dates.
fn rebased(taken: &PullRequestSteps) -> Brought {
    let mut own: Vec<&Step> = std::iter::once(&taken.step).chain(&taken.rest).collect();
    own.reverse();
    let first = own.iter().min_by_key(|step| step.authored);
    Brought {
        first: first.map(|step| step.authored),
        author: first.map(|step| step.author.clone()),
        how: first.map_or(String::new(), |step| {
            format!(
                "commit {}, the earliest of {}",
                step.commit.short(),
                own.len()
            )
        }),
        messages: own
            .iter()
            .map(|step| (step.commit.clone(), step.message.clone()))
            .collect(),
    }
}

/// Marks what these commits reach, and gives what was not marked before.
fn reach<'a>(
    nodes: &'a HashMap<CommitSha, Node>,
    from: Vec<&CommitSha>,
    seen: &mut HashSet<&'a CommitSha>,
) -> Vec<&'a CommitSha> {
    let mut reached = Vec::new();
    let mut waiting: Vec<&CommitSha> = from;
    while let Some(commit) = waiting.pop() {
        // What is not among the nodes lies before the page.
        let Some((commit, node)) = nodes.get_key_value(commit) else {
            continue;
        };
        if seen.insert(commit) {
            reached.push(commit);
            waiting.extend(&node.parents);
        }
    }
    reached
}

fn told_by(nodes: &HashMap<CommitSha, Node>, commits: &[&CommitSha]) -> Brought {
    let mut own: Vec<(&CommitSha, &Node)> = commits
        .iter()
        .filter_map(|commit| Some((*commit, nodes.get(*commit)?)))
        // Merges bring the branch up to date; they are nobody's work.
        .filter(|(_, node)| node.parents.len() < 2)
        .collect();
    own.sort_by_key(|(commit, node)| (node.authored, *commit));
    let first = own.first();
    Brought {
        first: first.map(|(_, node)| node.authored),
        author: first.map(|(_, node)| node.author.clone()),
        how: first.map_or(String::new(), |(commit, _)| {
            format!("commit {}, the earliest of {}", commit.short(), own.len())
        }),
        messages: own
            .iter()
            .map(|(commit, node)| ((*commit).clone(), node.message.clone()))
            .collect(),
    }
}

/// The commits that the tips reach and the commit before the page does not.
async fn graph(
    repo: &GitRepo,
    tips: &[CommitSha],
    before: Option<&CommitSha>,
) -> Result<HashMap<CommitSha, Node>, Error> {
    let mut asked: Vec<String> = tips.iter().map(ToString::to_string).collect();
    asked.extend(before.map(|before| format!("^{before}")));
    let output = repo
        .git()
        .args([
            "log",
            "-z",
            "--stdin",
            "--ignore-missing",
            "--encoding=UTF-8",
        ])
        .args([
            "--no-notes",
            "--no-color",
            "--format=%H%x00%P%x00%at%x00%an%x00%B",
        ])
        .stdin(asked.join("\n"))
        .output()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut nodes = HashMap::new();
    let mut fields = text.split('\0');
    while let (Some(commit), Some(parents), Some(authored), Some(author), Some(message)) = (
        fields.next().filter(|commit| !commit.is_empty()),
        fields.next(),
        fields.next(),
        fields.next(),
        fields.next(),
    ) {
        let commit = commit
            .parse()
            .map_err(|why| unexpected("git log").with_source(why))?;
        let node = Node {
            parents: shas(parents)?,
            authored: authored.parse().unwrap_or_default(),
            author: author.to_owned(),
            message: message.trim_end().to_owned(),
        };
        nodes.insert(commit, node);
    }
    Ok(nodes)
}
