//! GitLab's REST API as a host.

mod pages;

use super::checkout::Checkout;
use super::clone::{bare_issue, linked};
use super::fields::{at, owned, sha, text};
use super::http::{Answer, Api, ApiOptions, TokenHeader};
use super::people::{associated, named};
use crate::links::{LinkContext, TextKind, closing_links};
use crate::repository::GitRepo;
use atlas_core::{
    Author, AuthorClass, CommitSha, Error, ErrorKind, Evidence, LinkedIssue, PullRequestSource,
    Remark, RepositoryFacts, RunContext, SourcedPullRequest,
};
use reqwest::Url;
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::OnceCell;

/// Merge requests on one page: each takes some further requests.
const PAGE: u32 = 20;

/// Pages of comments that are read of one issue or merge request, a hundred each.
const MOST_PAGES: usize = 10;

/// A project at GitLab as a source of merged merge requests, oldest first.
///
/// A page takes one request, and each merge request four more and one for each issue: its commit, its commits, its comments, the
/// issues that it closes, and their comments. Files come from a clone, as with [`GithubHost`](crate::GithubHost). The host counts pages;
/// where a merge request of an earlier page disappears between two of them, the next one is not told of.
#[derive(Debug)]
pub struct GitlabHost {
    api: Api,
    project: String,
    host: String,
    checkout: Option<Checkout>,
    facts: OnceCell<Project>,
}

#[derive(Debug)]
struct Project {
    path: String,
    address: String,
    facts: RepositoryFacts,
}

fn labels(value: &Value) -> Vec<String> {
    let labels = value.get("labels").and_then(Value::as_array);
    labels
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

fn author(value: &Value) -> Option<Author> {
    let account = value.get("author")?;
    // Deleted accounts are the user `ghost` there, too.
    let mut author = associated(text(account, "username"), None, None);
    if account.get("bot").and_then(Value::as_bool) == Some(true) {
        author.class = AuthorClass::Bot;
    }
    Some(author)
}

impl GitlabHost {
    /// The project `group/project`, with any groups within groups.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for another form of name or an address that is none.
    pub fn open(project: &str, options: ApiOptions) -> Result<Self, Error> {
        let parts = project.split('/');
        if parts.clone().count() < 2 || parts.clone().any(str::is_empty) {
            let place = format!("`{project}`: group/project expected");
            return Err(Error::new(ErrorKind::InvalidInput, "ask GitLab for", place));
        }
        let api = Api::open(options)?;
        let host = api.url("")?.host_str().unwrap_or_default().to_owned();
        Ok(Self {
            api,
            project: project.to_owned(),
            host,
            checkout: None,
            facts: OnceCell::new(),
        })
    }

    /// The same with a clone, from which shapes of changes and lines of code come.
    #[must_use]
    pub fn with_clone(mut self, repo: GitRepo, address: impl Into<String>) -> Self {
        self.checkout = Some(Checkout::new(repo, address));
        self
    }

    fn url(&self, project: &str, rest: &str) -> Result<Url, Error> {
        let encoded = project.replace('/', "%2F");
        self.api.url(&format!("api/v4/projects/{encoded}{rest}"))
    }

    async fn get(&self, cx: &RunContext, url: Url) -> Result<Option<Answer>, Error> {
        self.api.get(cx, url, TokenHeader::Gitlab).await
    }

    /// All items of a list, up to [`MOST_PAGES`] pages of it; none where there is no such list.
    async fn list(&self, cx: &RunContext, project: &str, rest: &str) -> Result<Vec<Value>, Error> {
        let mut items = Vec::new();
        let mut url = Some(self.url(project, rest)?);
        for _ in 0..MOST_PAGES {
            let Some(answer) = (match url.take() {
                Some(url) => self.get(cx, url).await?,
                None => None,
            }) else {
                break;
            };
            if let Value::Array(more) = answer.value {
                items.extend(more);
            }
            url = answer.next;
        }
        Ok(items)
    }

    async fn project(&self, cx: &RunContext) -> Result<&Project, Error> {
        self.facts
            .get_or_try_init(async || {
                let url = self.url(&self.project, "?license=true")?;
                let Some(answer) = self.get(cx, url).await? else {
                    let subject = format!("`{}` for `{}`", self.api.address(), self.project);
                    return Err(Error::new(ErrorKind::NotFound, "ask", subject).with_source(
                        "there is no such project, or it is private to these tokens",
                    ));
                };
                let told = &answer.value;
                let licence = told.get("license").and_then(|licence| text(licence, "key"));
                let topics = told.get("topics").and_then(Value::as_array);
                let topics = topics.into_iter().flatten().filter_map(Value::as_str);
                Ok(Project {
                    path: text(told, "path_with_namespace")
                        .unwrap_or(&self.project)
                        .to_owned(),
                    address: owned(told, "http_url_to_repo"),
                    facts: RepositoryFacts {
                        stars: told.get("star_count").and_then(Value::as_u64),
                        topics: topics.map(str::to_owned).collect(),
                        // The host's keys are SPDX names in lower case.
                        licence: licence.map(|key| {
                            spdx::imprecise_license_id(key)
                                .map_or_else(|| key.to_owned(), |(id, _)| id.name.to_owned())
                        }),
                        pushed_at: at(told, "last_activity_at"),
                        fork: Some(
                            told.get("forked_from_project")
                                .is_some_and(|from| !from.is_null()),
                        ),
                        archived: told.get("archived").and_then(Value::as_bool),
                        ..RepositoryFacts::default()
                    },
                })
            })
            .await
    }

    /// What people said, without what the host notes itself.
    async fn notes(&self, cx: &RunContext, project: &str, of: &str) -> Result<Vec<Remark>, Error> {
        let rest = format!("/{of}/notes?sort=asc&order_by=created_at&per_page=100");
        let notes = self.list(cx, project, &rest).await?;
        let said = notes
            .iter()
            .filter(|note| note.get("system").and_then(Value::as_bool) != Some(true));
        Ok(said
            .filter_map(|note| {
                Some(Remark {
                    author: author(note),
                    created_at: at(note, "created_at"),
                    body: text(note, "body")?.to_owned(),
                })
            })
            .collect())
    }

    /// Base and head: the commit that was merged and its first parent.
    async fn ends(
        &self,
        cx: &RunContext,
        project: &str,
        told: &Value,
    ) -> Result<Result<(CommitSha, CommitSha, &'static str), String>, Error> {
        let merged = [
            ("merge_commit_sha", "merge_commit_sha and its first parent"),
            ("squash_commit_sha", "squash_commit_sha and its parent"),
        ];
        let merged = merged
            .iter()
            .find_map(|(field, how)| Some((sha(told, field)?, *how)));
        if let Some((head, how)) = merged {
            let url = self.url(project, &format!("/repository/commits/{head}"))?;
            let commit = self.get(cx, url).await?;
            let parent = commit.as_ref().and_then(|commit| {
                commit
                    .value
                    .get("parent_ids")?
                    .as_array()?
                    .first()?
                    .as_str()?
                    .parse()
                    .ok()
            });
            return Ok(match parent {
                Some(base) => Ok((base, head, how)),
                None => Err(format!(
                    "the host does not know the merged commit {} or its parent",
                    head.short()
                )),
            });
        }
        let refs = told.get("diff_refs").filter(|refs| !refs.is_null());
        let fast = refs.and_then(|refs| Some((sha(refs, "base_sha")?, sha(refs, "head_sha")?)));
        Ok(fast
            .map(|(base, head)| (base, head, "diff_refs: merged without a commit of its own"))
            .ok_or_else(|| "the host names no merged commit".to_owned()))
    }

    async fn merge_request(
        &self,
        cx: &RunContext,
        project: &Project,
        context: &LinkContext,
        listed: &Value,
    ) -> Result<Result<SourcedPullRequest, String>, Error> {
        let Some(number) = listed.get("iid").and_then(Value::as_u64) else {
            return Ok(Err("it has no number".to_owned()));
        };
        let of = format!("merge_requests/{number}");
        let Some(whole) = self
            .get(cx, self.url(&project.path, &format!("/{of}"))?)
            .await?
        else {
            return Ok(Err("the host lists it and does not have it".to_owned()));
        };
        let told = &whole.value;
        let (base, head, how) = match self.ends(cx, &project.path, told).await? {
            Ok(ends) => ends,
            Err(why) => return Ok(Err(why)),
        };
        let commits = self
            .list(cx, &project.path, &format!("/{of}/commits?per_page=100"))
            .await?;
        let first = commits
            .iter()
            .filter_map(|commit| at(commit, "authored_date"))
            .min();
        let issues = self
            .issues(cx, project, context, (&of, told, &commits))
            .await?;
        let mut provenance = BTreeMap::new();
        for (field, from) in [
            ("title", "rest merge_request.title"),
            ("body", "rest merge_request.description"),
            ("labels", "rest merge_request.labels"),
            ("author", "rest merge_request.author"),
            ("created_at", "rest merge_request.created_at"),
            ("merged_at", "rest merge_request.merged_at"),
            (
                "first_commit_at",
                "rest merge_request commits, the earliest authored_date",
            ),
            ("issues", "rest closes_issues, with their notes"),
            ("reviews", "rest merge_request notes"),
            ("repository", "rest project"),
            ("base", how),
            ("head", how),
        ] {
            provenance.insert(field.to_owned(), from.to_owned());
        }
        if !project.path.eq_ignore_ascii_case(&self.project) {
            let from = format!("rest path_with_namespace; asked for as {}", self.project);
            provenance.insert("repo".to_owned(), from);
        }
        Ok(Ok(SourcedPullRequest {
            repo: project.path.clone(),
            clone: project.address.clone(),
            source: PullRequestSource::Gitlab,
            number: Some(number),
            base,
            head,
            title: owned(told, "title"),
            body: owned(told, "description"),
            labels: labels(told),
            author: Some(author(told).unwrap_or_else(|| named(None))),
            created_at: at(told, "created_at"),
            first_commit_at: first,
            merged_at: at(told, "merged_at"),
            issues,
            reviews: self.notes(cx, &project.path, &of).await?,
            change: None,
            repository: project.facts.clone(),
            provenance,
        }))
    }

    async fn issues(
        &self,
        cx: &RunContext,
        project: &Project,
        context: &LinkContext,
        (of, told, commits): (&str, &Value, &[Value]),
    ) -> Result<Vec<LinkedIssue>, Error> {
        let mut words = Vec::new();
        let texts = [
            ("title", TextKind::Plain),
            ("description", TextKind::Markdown),
        ];
        for (field, kind) in texts {
            let links = closing_links(text(told, field).unwrap_or_default(), kind, context);
            words.extend(links.into_iter().map(|link| (link, field.to_owned())));
        }
        for commit in commits {
            let id: String = text(commit, "id")
                .unwrap_or_default()
                .chars()
                .take(12)
                .collect();
            let links = closing_links(
                text(commit, "message").unwrap_or_default(),
                TextKind::Plain,
                context,
            );
            words.extend(links.into_iter().map(|link| (link, format!("commit {id}"))));
        }
        let mut issues = linked(words);
        let rest = format!("/{of}/closes_issues?per_page=100");
        for found in self.list(cx, &project.path, &rest).await? {
            let Some(number) = found.get("iid").and_then(Value::as_u64) else {
                continue;
            };
            // `references.full` is `group/project#12`.
            let full = found
                .get("references")
                .and_then(|references| text(references, "full"));
            let repo = full
                .and_then(|full| full.rsplit_once('#'))
                .map_or(project.path.as_str(), |(repo, _)| repo);
            let at_hand = issues
                .iter()
                .position(|issue| issue.number == number && issue.repo.eq_ignore_ascii_case(repo));
            let place = at_hand.unwrap_or_else(|| {
                issues.push(bare_issue(repo.to_owned(), number, Vec::new()));
                issues.len() - 1
            });
            let comments = self.notes(cx, repo, &format!("issues/{number}")).await?;
            let issue = &mut issues[place];
            issue
                .evidence
                .insert(0, Evidence::of("rest closes_issues", format!("#{number}")));
            issue.title = owned(&found, "title");
            issue.body = owned(&found, "description");
            issue.labels = labels(&found);
            issue.author = author(&found);
            issue.created_at = at(&found, "created_at");
            issue.comments = comments;
        }
        Ok(issues)
    }
}
