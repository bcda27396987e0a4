//! A merged pull request as its host, an archive or a clone tells of it.

use crate::{CommitSha, Evidence};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A merged pull request that may become a task, with the issues that it resolves: one line of `candidates.jsonl`
/// (paper 001, stage 1).
///
/// What the source does not tell is absent, never guessed. Times are RFC 3339 in UTC, as `2024-03-01T12:00:00Z`, so
/// that their order is the order of their texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcedPullRequest {
    /// The repository, `owner/name`; in GitLab with all groups, `group/subgroup/name`.
    pub repo: String,
    /// Where its commits can be had: a folder or an address that `git clone` takes.
    pub clone: String,
    /// Which kind of source lists it.
    pub source: PullRequestSource,
    /// Its number at its host; absent where a clone's history does not say one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The commit that it starts from.
    pub base: CommitSha,
    /// The commit that has all of it: the head that was merged, or the commit it was squashed into.
    pub head: CommitSha,
    /// Title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Description, as written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Labels, in the host's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Who opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// When it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When the earliest of its commits was authored: what was said later may tell of the solution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_commit_at: Option<String>,
    /// When it was merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<String>,
    /// The issues that it says it resolves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<LinkedIssue>,
    /// Reviews and review comments, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<Remark>,
    /// What it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeShape>,
    /// What is known of its repository.
    #[serde(default)]
    pub repository: RepositoryFacts,
    /// Where each field comes from: `title` from `graphql pullRequest.title`, or from `commit 1a2b3c4`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub provenance: BTreeMap<String, String>,
}

/// A kind of source that lists pull requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestSource {
    /// GitHub's API.
    Github,
    /// GitLab's API.
    Gitlab,
    /// The history of a clone.
    Clone,
    /// Archived events of GitHub (GH Archive).
    Archive,
}

/// Who wrote something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The name at the host; of a clone the commit's author. Absent for a deleted account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What kind of author.
    pub class: AuthorClass,
}

/// What kind of author wrote something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthorClass {
    /// Member, owner or collaborator of the repository.
    Maintainer,
    /// Has contributed before.
    Contributor,
    /// First contribution, or none.
    Newcomer,
    /// A program.
    Bot,
    /// A deleted account.
    Deleted,
    /// A person of whom no more is known.
    Unknown,
}

/// An issue that a pull request resolves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkedIssue {
    /// The issue's repository, `owner/name`: not always the pull request's own.
    pub repo: String,
    /// Its number.
    pub number: u64,
    /// Title; empty where only the link is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Description, as written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
    /// Labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Who opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// When it was opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Comments, oldest first, all of them: who makes a row takes those before the first commit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Remark>,
    /// What shows the link: the words of a closing keyword with their place, or an event of the timeline.
    pub evidence: Vec<Evidence>,
}

/// A comment or a review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The words.
    pub body: String,
}

/// How large a change is, tests and the rest apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChangeShape {
    /// Files that are no tests.
    pub files: u64,
    /// Hunks in them.
    pub hunks: u64,
    /// Lines added to them.
    pub added: u64,
    /// Lines removed from them.
    pub removed: u64,
    /// Test files, added or edited.
    pub test_files: u64,
    /// Lines added to test files.
    pub test_added: u64,
    /// Paths of all changed files, sorted.
    pub paths: Vec<String>,
    /// `git patch-id --stable` of the whole change: the same for a back-port that applies as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_id: Option<String>,
}

/// What is known of a repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RepositoryFacts {
    /// Stars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<u64>,
    /// Topics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Licence, an SPDX expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The language of most of its lines, as the host or the counter names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Lines of code without blank lines and comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_of_code: Option<u64>,
    /// Test frameworks that its files name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub test_frameworks: Vec<String>,
    /// When it was last pushed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed_at: Option<String>,
    /// Whether it is a fork.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork: Option<bool>,
    /// Whether it is archived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
}

impl SourcedPullRequest {
    /// The name under which a task is made of it: `owner__name-NUMBER`, or with the head's first twelve digits where it has no
    /// number. A repository without an owner stands for both, and what no [`InstanceId`](crate::InstanceId) may hold is `-`.
    pub fn instance_name(&self) -> String {
        let repo = if self.repo.contains('/') {
            self.repo.replace('/', "__")
        } else {
            format!("{0}__{0}", self.repo)
        };
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let clean: String = repo
            .chars()
            .map(|c| if allowed(c) { c } else { '-' })
            .collect();
        let clean = clean.trim_start_matches(['.', '_', '-']);
        // An id has 200 characters at most; a number has 20.
        let clean = &clean[..clean.len().min(170)];
        match self.number {
            Some(number) => format!("{clean}-{number}"),
            None => format!("{clean}-{}", self.head.short()),
        }
    }

    /// The problem statement: titles and descriptions of the issues, in their order; empty without any.
    pub fn problem_statement(&self) -> String {
        let told = self.issues.iter().filter(|issue| !issue.title.is_empty());
        let texts: Vec<String> = told
            .map(|issue| format!("{}\n{}", issue.title, issue.body))
            .collect();
        texts.join("\n\n")
    }

    /// The comments on its issues from before its first commit, oldest first, as `hints_text` has them. Without a known first
    /// commit, or of a comment without a time, nothing is taken: later words may tell of the solution.
    pub fn hints_text(&self) -> String {
        let Some(first) = &self.first_commit_at else {
            return String::new();
        };
        let comments = self.issues.iter().flat_map(|issue| &issue.comments);
        let mut before: Vec<&Remark> = comments
            .filter(|remark| remark.created_at.as_ref().is_some_and(|at| at < first))
            .collect();
        before.sort_by(|one, other| one.created_at.cmp(&other.created_at));
        let texts: Vec<&str> = before.iter().map(|remark| remark.body.as_str()).collect();
        texts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InstanceId;

    #[expect(clippy::needless_pass_by_value, reason = "calls read better")]
    fn sourced(value: serde_json::Value) -> SourcedPullRequest {
        let mut whole = serde_json::json!({
            "repo": "o/n", "clone": "n.git", "source": "clone",
            "base": "1".repeat(40), "head": "2".repeat(40),
        });
        for (key, value) in value.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }

    #[test]
    fn every_repository_and_number_give_a_valid_name() {
        for (repo, number, name) in [
            ("o/n", Some(7), "o__n-7"),
            ("g/s/n", None, "g__s__n-222222222222"),
            ("n", Some(1), "n__n-1"),
            ("../e t\u{e9}", Some(1), "e-t--1"),
        ] {
            let found = sourced(serde_json::json!({"repo": repo, "number": number}));
            assert_eq!(found.instance_name(), name);
            assert!(name.parse::<InstanceId>().is_ok());
        }
        let long = sourced(serde_json::json!({"repo": "o/".to_owned() + &"n".repeat(300)}));
        assert!(long.instance_name().parse::<InstanceId>().is_ok());
    }

    #[test]
    fn a_statement_is_made_of_the_issues_whose_text_is_known() {
        let issue = |number: u64, title: &str, body: &str| serde_json::json!({"repo": "o/n", "number": number, "title": title, "body": body, "evidence": []});
        let issues = [
            issue(1, "One", "is wrong"),
            issue(2, "", ""),
            issue(3, "Three", "too"),
        ];
        let found = sourced(serde_json::json!({"issues": issues}));
        assert_eq!(found.problem_statement(), "One\nis wrong\n\nThree\ntoo");
        assert_eq!(sourced(serde_json::json!({})).problem_statement(), "");
    }

    #[test]
    fn hints_are_what_was_said_before_the_first_commit() {
        let remark =
            |at: Option<&str>, body: &str| serde_json::json!({"created_at": at, "body": body});
        let issue = |comments: serde_json::Value| serde_json::json!({"repo": "o/n", "number": 1, "comments": comments, "evidence": []});
        let first = issue(serde_json::json!([
            remark(Some("2024-01-03T00:00:00Z"), "second"),
            remark(Some("2024-02-01T00:00:00Z"), "at the same second"),
            remark(Some("2024-02-02T00:00:00Z"), "the solution"),
            remark(None, "whenever"),
        ]));
        let second = issue(serde_json::json!([remark(
            Some("2024-01-02T00:00:00Z"),
            "first"
        )]));
        let issues = [first, second];
        let known =
            serde_json::json!({"issues": issues, "first_commit_at": "2024-02-01T00:00:00Z"});
        assert_eq!(sourced(known).hints_text(), "first\nsecond");
        assert_eq!(
            sourced(serde_json::json!({"issues": issues})).hints_text(),
            ""
        );
    }
}
