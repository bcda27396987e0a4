//! Pull requests that were rebased onto the branch in one commit or several: which commits of the history are one.
//!
//! A rebase keeps author, author's date and subject of each commit. Where the clone has the host's `refs/pull/N/head`, the
//! branch's commits are compared with those of the ref; where it has none, commits that stand one behind the other, name the same
//! number and were committed at one moment by one person are one pull request. What is less sure stays single commits.

use super::walk::{Step, Walk};
use crate::repository::GitRepo;
use atlas_core::{CommitSha, Error};
use std::collections::{BTreeMap, HashMap};

/// Seconds between the dates of commits that one rebase made.
const ONE_MOMENT: u64 = 60;

/// Commits of one rebased pull request at most: as many as hosts list.
const MOST_COMMITS: usize = 250;

/// What a rebase keeps of a commit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct RebaseIdentity {
    email: String,
    authored: i64,
    subject: String,
}

impl RebaseIdentity {
    fn of(step: &Step) -> Self {
        Self {
            email: step.email.clone(),
            authored: step.authored,
            subject: subject(&step.message).to_owned(),
        }
    }
}

/// The first line.
pub(super) fn subject(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim()
}

/// Commits of several heads, each with what a rebase keeps, in git's order.
async fn commits(
    repo: &GitRepo,
    options: &[&str],
    asked: String,
) -> Result<Vec<(String, RebaseIdentity)>, Error> {
    let output = repo
        .git()
        .args(["log", "-z", "--stdin", "--ignore-missing", "--no-notes"])
        .args(["--no-color", "--encoding=UTF-8"])
        .args(["--format=%H%x00%ae%x00%at%x00%B"])
        .args(options)
        .stdin(asked)
        .output()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fields = text.split('\0');
    let mut found = Vec::new();
    while let (Some(commit), Some(email), Some(authored), Some(message)) = (
        fields.next().filter(|commit| !commit.is_empty()),
        fields.next(),
        fields.next(),
        fields.next(),
    ) {
        let kept = RebaseIdentity {
            email: email.to_owned(),
            authored: authored.parse().unwrap_or_default(),
            subject: subject(message).to_owned(),
        };
        found.push((commit.to_owned(), kept));
    }
    Ok(found)
}

/// The last commits of all pull requests of which the clone has a ref.
#[derive(Debug, Default)]
pub(super) struct Tips(HashMap<RebaseIdentity, Vec<(u64, CommitSha)>>);

/// What a ref says of a commit of the history.
#[derive(Debug)]
pub(super) enum ByRef {
    /// It and so many commits before it are the commits of this pull request.
    Whole { number: u64, commits: usize },
    /// It is like the last commit of a pull request, and that is not enough.
    Doubtful(String),
}

impl Tips {
    pub(super) async fn of(
        repo: &GitRepo,
        heads: &BTreeMap<u64, CommitSha>,
    ) -> Result<Self, Error> {
        if heads.is_empty() {
            return Ok(Self::default());
        }
        let asked: Vec<&str> = heads.values().map(CommitSha::as_str).collect();
        let known: HashMap<String, RebaseIdentity> =
            commits(repo, &["--no-walk"], asked.join("\n"))
                .await?
                .into_iter()
                .collect();
        let mut tips: HashMap<RebaseIdentity, Vec<(u64, CommitSha)>> = HashMap::new();
        for (number, head) in heads {
            if let Some(kept) = known.get(head.as_str()) {
                let entry = tips.entry(kept.clone()).or_default();
                entry.push((*number, head.clone()));
            }
        }
        Ok(Self(tips))
    }

    /// What refs say of a commit that is no merge; `None` where it is no pull request's last one. The walk stands behind it;
    /// `until` and what comes then was told of before.
    pub(super) async fn look(
        &self,
        repo: &GitRepo,
        step: &Step,
        (walk, until): (&mut Walk, Option<&CommitSha>),
    ) -> Result<Option<ByRef>, Error> {
        let Some(found) = self.0.get(&RebaseIdentity::of(step)) else {
            return Ok(None);
        };
        let [(number, head)] = &found[..] else {
            let numbers: Vec<String> = found
                .iter()
                .map(|(number, _)| format!("#{number}"))
                .collect();
            let why = format!("{} end in this commit", numbers.join(" and "));
            return Ok(Some(ByRef::Doubtful(why)));
        };
        if *head == step.commit {
            let why = format!(
                "refs/pull/{number}/head is this very commit: where #{number} began nothing says"
            );
            return Ok(Some(ByRef::Doubtful(why)));
        }
        let asked = format!("{head}\n^{}", step.commit);
        let own = commits(repo, &["--no-merges", "--topo-order"], asked).await?;
        if own.len() > MOST_COMMITS {
            let why = format!("#{number} has more than {MOST_COMMITS} commits");
            return Ok(Some(ByRef::Doubtful(why)));
        }
        walk.look_ahead(own.len().saturating_sub(1)).await?;
        let branch = std::iter::once(step).chain(walk.ahead());
        let same = branch
            .take_while(|step| Some(&step.commit) != until)
            .zip(&own)
            .take_while(|(step, (_, kept))| {
                step.parents.len() == 1 && RebaseIdentity::of(step) == *kept
            })
            .count();
        Ok(Some(if same == own.len() && same > 0 {
            ByRef::Whole {
                number: *number,
                commits: same,
            }
        } else {
            ByRef::Doubtful(format!(
                "#{number} ends in this commit, and {} of its {} commits stand elsewhere",
                own.len() - same,
                own.len()
            ))
        }))
    }
}

/// Whether an older commit was rebased together with a newer one that names the same number.
pub(super) fn is_one_rebase(newer: &Step, older: &Step) -> bool {
    newer.merged_by == older.merged_by
        && newer.committed.abs_diff(older.committed) <= ONE_MOMENT
        && older.parents.len() == 1
}
