//! GraphQL's answers as pull requests. What is absent or null in an answer is absent in them.

use crate::hosts::clone::{bare_issue, linked};
use crate::hosts::fields::{at, owned, sha, text};
use crate::hosts::people::associated;
use crate::links::{IssueLink, LinkContext, TextKind, closing_links};
use atlas_core::{
    Author, CommitSha, Evidence, LinkedIssue, PullRequestSource, Remark, RepositoryFacts,
    SourcedPullRequest,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// A list of a connection.
pub(super) fn nodes<'a>(value: &'a Value, connection: &str) -> impl Iterator<Item = &'a Value> {
    let nodes = value.get(connection).and_then(|found| found.get("nodes"));
    nodes.and_then(Value::as_array).into_iter().flatten()
}

fn author(value: &Value) -> Option<Author> {
    // A deleted account is null; a field that was not asked for is absent.
    let account = value.get("author")?;
    let association = text(value, "authorAssociation");
    Some(associated(
        text(account, "login"),
        text(account, "__typename"),
        association,
    ))
}

fn remark(value: &Value, time_field: &str) -> Option<Remark> {
    let body = text(value, "body").filter(|body| !body.trim().is_empty())?;
    Some(Remark {
        author: author(value),
        created_at: at(value, time_field),
        body: body.to_owned(),
    })
}

/// What the answer says of the repository.
pub(super) fn facts(repository: &Value) -> RepositoryFacts {
    let flag = |field: &str| repository.get(field).and_then(Value::as_bool);
    let named = |field: &str, name: &str| {
        let found = repository.get(field).and_then(|found| text(found, name));
        found.map(str::to_owned)
    };
    let topics =
        nodes(repository, "repositoryTopics").filter_map(|node| text(node.get("topic")?, "name"));
    RepositoryFacts {
        stars: repository.get("stargazerCount").and_then(Value::as_u64),
        topics: topics.map(str::to_owned).collect(),
        licence: named("licenseInfo", "spdxId"),
        language: named("primaryLanguage", "name"),
        pushed_at: at(repository, "pushedAt"),
        fork: flag("isFork"),
        archived: flag("isArchived"),
        ..RepositoryFacts::default()
    }
}

fn issue(node: &Value, evidence: Vec<Evidence>) -> Option<LinkedIssue> {
    let repo = text(node.get("repository")?, "nameWithOwner")?;
    let mut issue = bare_issue(repo.to_owned(), node.get("number")?.as_u64()?, evidence);
    issue.title = owned(node, "title");
    issue.body = owned(node, "body");
    issue.labels = nodes(node, "labels")
        .filter_map(|label| text(label, "name"))
        .map(str::to_owned)
        .collect();
    issue.author = author(node);
    issue.created_at = at(node, "createdAt");
    issue.comments = nodes(node, "comments")
        .filter_map(|node| remark(node, "createdAt"))
        .collect();
    Some(issue)
}

/// The issues of a pull request: what the host says it closes, what was connected by hand, and what its words say.
fn issues(node: &Value, context: &LinkContext, asked: &str) -> Vec<LinkedIssue> {
    let mut found: Vec<LinkedIssue> = Vec::new();
    let mut add = |issue: LinkedIssue| {
        let known = found.iter_mut().find(|known| {
            known.number == issue.number && known.repo.eq_ignore_ascii_case(&issue.repo)
        });
        match known {
            Some(known) => known.evidence.extend(issue.evidence),
            None => found.push(issue),
        }
    };
    for closing in nodes(node, "closingIssuesReferences") {
        let named = closing
            .get("number")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let evidence = Evidence::of("graphql closingIssuesReferences", format!("#{named}"));
        issue(closing, vec![evidence])
            .into_iter()
            .for_each(&mut add);
    }
    for (link, when) in connected(node) {
        let evidence = Evidence::of("timeline ConnectedEvent", when);
        add(bare_issue(link.0, link.1, vec![evidence]));
    }
    let mut words: Vec<(IssueLink, String)> = Vec::new();
    let texts = [("title", TextKind::Plain), ("body", TextKind::Markdown)];
    for (field, kind) in texts {
        let links = closing_links(text(node, field).unwrap_or_default(), kind, context);
        words.extend(links.into_iter().map(|link| (link, field.to_owned())));
    }
    for commit in nodes(node, "commits").filter_map(|node| node.get("commit")) {
        let id: String = text(commit, "oid")
            .unwrap_or_default()
            .chars()
            .take(12)
            .collect();
        let message = text(commit, "message").unwrap_or_default();
        let links = closing_links(message, TextKind::Plain, context);
        words.extend(links.into_iter().map(|link| (link, format!("commit {id}"))));
    }
    let own = node.get("number").and_then(Value::as_u64);
    for (link, _) in &mut words {
        // Words of before a transfer name the repository as it was.
        if link.repo.eq_ignore_ascii_case(asked) {
            link.repo.clone_from(&context.repo);
        }
    }
    words.retain(|(link, _)| Some(link.number) != own || link.repo != context.repo);
    linked(words).into_iter().for_each(&mut add);
    found
}

/// Issues that were connected by hand and not disconnected later, with when.
fn connected(node: &Value) -> BTreeMap<(String, u64), String> {
    let mut found = BTreeMap::new();
    for event in nodes(node, "timelineItems") {
        let subject = event.get("subject");
        let key = subject.and_then(|subject| {
            let repo = text(subject.get("repository")?, "nameWithOwner")?;
            Some((repo.to_owned(), subject.get("number")?.as_u64()?))
        });
        let Some(key) = key else { continue };
        match text(event, "__typename") {
            Some("ConnectedEvent") => {
                found.insert(key, at(event, "createdAt").unwrap_or_default());
            }
            Some("DisconnectedEvent") => {
                found.remove(&key);
            }
            _ => {}
        }
    }
    found
}

/// Where a pull request begins and ends.
pub(super) struct Ends {
    pub(super) base: CommitSha,
    pub(super) head: CommitSha,
    /// How they were chosen.
    pub(super) how: &'static str,
    /// How many commits stand one behind the other in the branch, where it was rebased: base is so far behind head.
    pub(super) rebased: Option<u64>,
}

/// Base and head as a clone's history has them, so that both sources tell the same: the commit that was merged and its first
/// parent. A pull request that was rebased in several commits begins so many commits before; until a clone tells that
/// commit, it is the base that the host noted.
pub(super) fn ends(node: &Value) -> Result<Ends, String> {
    let merge = node.get("mergeCommit").filter(|merge| !merge.is_null());
    let merge = merge.ok_or("the host names no merge commit")?;
    let head = sha(merge, "oid").ok_or("its merge commit has no id")?;
    let parents: Vec<CommitSha> = nodes(merge, "parents")
        .filter_map(|parent| sha(parent, "oid"))
        .collect();
    let first = parents
        .first()
        .cloned()
        .ok_or("its merge commit has no parent")?;
    let total = node
        .get("commits")
        .and_then(|commits| commits.get("totalCount")?.as_u64())
        .unwrap_or(1);
    let number = node
        .get("number")
        .and_then(Value::as_u64)
        .unwrap_or_default();
    let headline = text(merge, "messageHeadline").unwrap_or_default();
    let last = nodes(node, "commits")
        .last()
        .and_then(|node| text(node.get("commit")?, "messageHeadline"));
    let is_rebase = parents.len() == 1 && total <= 100 && is_rebased(total, headline, last, number);
    if is_rebase {
        return Ok(Ends {
            base: sha(node, "baseRefOid").unwrap_or(first),
            head,
            how: "rebased onto the branch; baseRefOid",
            rebased: Some(total),
        });
    }
    let how = if parents.len() > 1 {
        "mergeCommit and its first parent"
    } else {
        "squashed mergeCommit and its parent"
    };
    Ok(Ends {
        base: first,
        head,
        how,
        rebased: None,
    })
}

/// Whether a merged commit with one parent is the last of several that were rebased: it then has its own subject, and not the one
/// that squashing gives.
pub(super) fn is_rebased(total: u64, headline: &str, last: Option<&str>, number: u64) -> bool {
    total > 1 && !headline.ends_with(&format!("(#{number})")) && last == Some(headline)
}

/// A pull request of the answer.
pub(super) fn pull_request(
    node: &Value,
    repository: &Value,
    (context, asked): (&LinkContext, &str),
    ends: &Ends,
) -> SourcedPullRequest {
    let commits = || nodes(node, "commits").filter_map(|node| node.get("commit"));
    let first = commits()
        .filter_map(|commit| at(commit, "authoredDate"))
        .min();
    let mut reviews = Vec::new();
    for review in nodes(node, "reviews") {
        reviews.extend(remark(review, "submittedAt"));
        reviews.extend(nodes(review, "comments").filter_map(|node| remark(node, "createdAt")));
    }
    reviews.sort_by(|one, other| one.created_at.cmp(&other.created_at));
    let mut provenance = BTreeMap::new();
    for (field, from) in [
        ("title", "graphql pullRequest.title"),
        ("body", "graphql pullRequest.body"),
        ("labels", "graphql pullRequest.labels"),
        ("author", "graphql pullRequest.author"),
        ("created_at", "graphql pullRequest.createdAt"),
        ("merged_at", "graphql pullRequest.mergedAt"),
        (
            "first_commit_at",
            "graphql pullRequest.commits, the earliest authoredDate of the first 100",
        ),
        (
            "issues",
            "graphql closingIssuesReferences, with the first 100 comments",
        ),
        ("reviews", "graphql pullRequest.reviews, the first 50"),
        ("repository", "graphql repository"),
        ("base", ends.how),
        ("head", "graphql mergeCommit.oid"),
    ] {
        provenance.insert(field.to_owned(), from.to_owned());
    }
    if !context.repo.eq_ignore_ascii_case(asked) {
        let from = format!("graphql repository.nameWithOwner; asked for as {asked}");
        provenance.insert("repo".to_owned(), from);
    }
    SourcedPullRequest {
        repo: context.repo.clone(),
        clone: format!("{}.git", text(repository, "url").unwrap_or_default()),
        source: PullRequestSource::Github,
        number: node.get("number").and_then(Value::as_u64),
        base: ends.base.clone(),
        head: ends.head.clone(),
        title: owned(node, "title"),
        body: owned(node, "body"),
        labels: nodes(node, "labels")
            .filter_map(|label| text(label, "name"))
            .map(str::to_owned)
            .collect(),
        author: author(node),
        created_at: at(node, "createdAt"),
        first_commit_at: first,
        merged_at: at(node, "mergedAt"),
        issues: issues(node, context, asked),
        reviews,
        change: None,
        repository: facts(repository),
        provenance,
    }
}
