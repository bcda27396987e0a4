//! GitHub's REST API as a host: for those who have no token.

use super::super::checkout::{Checkout, finish};
use super::super::http::{Answer, Api, ApiOptions, Lookup, TokenHeader};
use super::super::mark::{Mark, page_number};
use super::super::{issues, time};
use super::read::is_rebased;
use crate::hosts::clone::linked;
use crate::hosts::fields::{at as time_of, text};
use crate::links::{LinkContext, LinkFlavour, TextKind, closing_links};
use crate::repository::GitRepo;
use async_trait::async_trait;
use atlas_core::{
    CodeHost, CommitSha, Error, ErrorKind, LinkedIssue, PullRequestSource, RepositoryFacts,
    RunContext, SkippedPullRequest, SourcedPage, SourcedPullRequest,
};
use reqwest::Url;
use serde_json::Value;
use std::collections::BTreeMap;
use tokio::sync::OnceCell;

/// Pull requests on one page, unmerged ones among them.
const PAGE: u32 = 30;

/// A repository at GitHub as a source of merged pull requests, oldest first, without a token.
///
/// Each merged pull request takes two requests and each issue two more, of which GitHub allows sixty an hour to those whom it
/// does not know: good for small repositories. Links are known by words alone, reviews are not told of.
/// [`GithubHost`](crate::GithubHost) tells more with fewer requests. Files come from a clone, as there.
#[derive(Debug)]
pub struct GithubRestHost {
    api: Api,
    repo: String,
    web: String,
    checkout: Option<Checkout>,
    home: OnceCell<Home>,
}

#[derive(Debug)]
struct Home {
    name: String,
    address: String,
    facts: RepositoryFacts,
}

impl GithubRestHost {
    /// The repository `owner/name`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for another form of name or an address that is none.
    pub fn open(repo: &str, options: ApiOptions) -> Result<Self, Error> {
        let (owner, name) = super::owner_and_name(repo)?;
        let api = Api::open(options)?;
        Ok(Self {
            repo: format!("{owner}/{name}"),
            web: super::web_host(&api)?,
            api,
            checkout: None,
            home: OnceCell::new(),
        })
    }

    /// The same with a clone, from which shapes of changes and lines of code come.
    #[must_use]
    pub fn with_clone(mut self, repo: GitRepo, address: impl Into<String>) -> Self {
        self.checkout = Some(Checkout::new(repo, address));
        self
    }

    async fn get(&self, cx: &RunContext, rest: &str) -> Result<Option<Answer>, Error> {
        let url: Url = self.api.url(rest)?;
        self.api.get(cx, url, TokenHeader::Bearer).await
    }

    async fn home(&self, cx: &RunContext) -> Result<&Home, Error> {
        self.home
            .get_or_try_init(async || {
                let Some(answer) = self.get(cx, &format!("repos/{}", self.repo)).await? else {
                    let subject = format!("`{}` for `{}`", self.api.address(), self.repo);
                    return Err(Error::new(ErrorKind::NotFound, "ask", subject)
                        .with_source("there is no such repository, or it is private"));
                };
                let told = &answer.value;
                let topics = told.get("topics").and_then(Value::as_array);
                let topics = topics.into_iter().flatten().filter_map(Value::as_str);
                let licence = told
                    .get("license")
                    .and_then(|licence| text(licence, "spdx_id"));
                Ok(Home {
                    name: text(told, "full_name").unwrap_or(&self.repo).to_owned(),
                    address: text(told, "clone_url").unwrap_or_default().to_owned(),
                    facts: RepositoryFacts {
                        stars: told.get("stargazers_count").and_then(Value::as_u64),
                        topics: topics.map(str::to_owned).collect(),
                        licence: licence.map(str::to_owned),
                        language: text(told, "language").map(str::to_owned),
                        pushed_at: text(told, "pushed_at").and_then(time::normal),
                        fork: told.get("fork").and_then(Value::as_bool),
                        archived: told.get("archived").and_then(Value::as_bool),
                        ..RepositoryFacts::default()
                    },
                })
            })
            .await
    }

    /// What is known of an issue; `None` where the number is a pull request's.
    async fn issue(
        &self,
        cx: &RunContext,
        mut issue: LinkedIssue,
    ) -> Result<Option<LinkedIssue>, Error> {
        let rest = format!("repos/{}/issues/{}", issue.repo, issue.number);
        let Some(answer) = self.get(cx, &rest).await? else {
            return Ok(Some(issue));
        };
        if answer.value.get("pull_request").is_some() {
            return Ok(None);
        }
        issues::put(&mut issue, &answer.value);
        let comments = self
            .get(cx, &format!("{rest}/comments?per_page=100"))
            .await?;
        let comments = comments.as_ref().and_then(|answer| answer.value.as_array());
        issue.comments = comments
            .into_iter()
            .flatten()
            .filter_map(issues::remark)
            .collect();
        Ok(Some(issue))
    }

    async fn pull_request(
        &self,
        cx: &RunContext,
        home: &Home,
        told: &Value,
    ) -> Result<Result<SourcedPullRequest, &'static str>, Error> {
        let sha =
            |value: &Value, field: &str| -> Option<CommitSha> { text(value, field)?.parse().ok() };
        let (Some(number), Some(head)) = (
            told.get("number").and_then(Value::as_u64),
            sha(told, "merge_commit_sha"),
        ) else {
            return Ok(Err("the host names no merge commit"));
        };
        let merged = self
            .get(cx, &format!("repos/{}/git/commits/{head}", home.name))
            .await?;
        let merged = merged.map(|answer| answer.value).unwrap_or_default();
        let parents = merged.get("parents").and_then(Value::as_array);
        let parents: Vec<CommitSha> = parents
            .into_iter()
            .flatten()
            .filter_map(|parent| sha(parent, "sha"))
            .collect();
        let Some(mut base) = parents.first().cloned() else {
            return Ok(Err(
                "the host does not know the merged commit or its parent",
            ));
        };
        let commits = format!("repos/{}/pulls/{number}/commits?per_page=100", home.name);
        let commits = self
            .get(cx, &commits)
            .await?
            .map(|answer| answer.value)
            .unwrap_or_default();
        let commits = || {
            commits
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|commit| commit.get("commit"))
        };
        let headline = |commit: &Value| {
            text(commit, "message")
                .and_then(|text| text.lines().next())
                .unwrap_or_default()
                .to_owned()
        };
        let last = commits().next_back().map(headline);
        let total = commits().count() as u64;
        let mut base_from = "the first parent of merge_commit_sha";
        if parents.len() == 1
            && is_rebased(total, &headline(&merged), last.as_deref(), number)
            && let Some(noted) = told.get("base").and_then(|base| sha(base, "sha"))
        {
            base = noted;
            base_from = "rebased onto the branch; rest pull.base.sha";
        }
        let authored = |commit: &Value| text(commit.get("author")?, "date").and_then(time::normal);
        let context = LinkContext {
            flavour: LinkFlavour::Github,
            host: self.web.clone(),
            repo: home.name.clone(),
        };
        let mut words = Vec::new();
        let mut add = |text: &str, kind, place: &str| {
            let links = closing_links(text, kind, &context);
            words.extend(links.into_iter().map(|link| (link, place.to_owned())));
        };
        let title = text(told, "title").unwrap_or_default();
        let body = text(told, "body").unwrap_or_default();
        add(title, TextKind::Plain, "title");
        add(body, TextKind::Markdown, "body");
        for commit in commits() {
            add(
                text(commit, "message").unwrap_or_default(),
                TextKind::Plain,
                "a commit",
            );
        }
        let own = |link: &LinkedIssue| link.number == number && link.repo == home.name;
        let mut issues = Vec::new();
        for issue in linked(words).into_iter().filter(|issue| !own(issue)) {
            issues.extend(self.issue(cx, issue).await?);
        }
        let mut provenance = BTreeMap::new();
        for (field, from) in [
            ("title", "rest pull.title"),
            ("body", "rest pull.body"),
            ("labels", "rest pull.labels"),
            ("author", "rest pull.user"),
            ("created_at", "rest pull.created_at"),
            ("merged_at", "rest pull.merged_at"),
            (
                "first_commit_at",
                "rest pull commits, the earliest of the first 100",
            ),
            (
                "issues",
                "words of title, body and commits; rest issues, with the first 100 comments",
            ),
            ("repository", "rest repository"),
            ("base", base_from),
            ("head", "rest pull.merge_commit_sha"),
        ] {
            provenance.insert(field.to_owned(), from.to_owned());
        }
        let labels = told
            .get("labels")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        Ok(Ok(SourcedPullRequest {
            repo: home.name.clone(),
            clone: home.address.clone(),
            source: PullRequestSource::Github,
            number: Some(number),
            base,
            head,
            title: title.to_owned(),
            body: body.to_owned(),
            labels: labels
                .filter_map(|label| text(label, "name"))
                .map(str::to_owned)
                .collect(),
            author: issues::author(told),
            created_at: text(told, "created_at").and_then(time::normal),
            first_commit_at: commits().filter_map(authored).min(),
            merged_at: text(told, "merged_at").and_then(time::normal),
            issues,
            reviews: Vec::new(),
            change: None,
            repository: home.facts.clone(),
            provenance,
        }))
    }
}

impl GithubRestHost {
    /// A page of closed pull requests, those that were changed last first.
    fn latest(home: &Home, number: u32) -> String {
        format!(
            "repos/{}/pulls?state=closed&sort=updated&direction=desc&per_page={PAGE}&page={number}",
            home.name
        )
    }

    /// The mark of a list of the latest changes.
    fn mark(home: &Home, answer: &Answer) -> Mark {
        let listed = answer.value.as_array().into_iter().flatten();
        let updated = listed.filter_map(|told| time_of(told, "updated_at")).max();
        Mark {
            repo: home.name.clone(),
            updated: updated.unwrap_or_default(),
            tag: answer.tag.clone(),
            ..Mark::default()
        }
    }

    /// Takes those of a list that were merged.
    async fn take<'a>(
        &self,
        cx: &RunContext,
        home: &Home,
        listed: impl Iterator<Item = &'a Value>,
        page: &mut SourcedPage,
    ) -> Result<(), Error> {
        for told in listed.filter(|told| text(told, "merged_at").is_some()) {
            cx.check("source pull requests")?;
            match self.pull_request(cx, home, told).await? {
                Ok(found) => page.pull_requests.push(found),
                Err(reason) => {
                    let number = told
                        .get("number")
                        .and_then(Value::as_u64)
                        .unwrap_or_default();
                    page.skipped.push(SkippedPullRequest {
                        name: format!("{}#{number}", home.name),
                        reason: reason.to_owned(),
                    });
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl CodeHost for GithubRestHost {
    fn name(&self) -> String {
        format!("github-rest {} {}", self.api.address(), self.repo)
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let number = page_number(cursor)?;
        let home = self.home(cx).await?;
        let mut page = SourcedPage::default();
        // What changes while the pages are read is found by the next reading: the mark is older than all of them.
        if cursor.is_none()
            && let Some(answer) = self.get(cx, &Self::latest(home, 1)).await?
        {
            page.mark = Some(Self::mark(home, &answer).text());
        }
        let rest = format!(
            "repos/{}/pulls?state=closed&sort=created&direction=asc&per_page={PAGE}&page={number}",
            home.name
        );
        if let Some(answer) = self.get(cx, &rest).await? {
            let listed = answer.value.as_array().into_iter().flatten();
            self.take(cx, home, listed, &mut page).await?;
            page.next = answer.next.map(|_| (number + 1).to_string());
        }
        finish(cx, self.checkout.as_ref(), &home.facts, &mut page).await?;
        page.requests = self.api.requests() - before;
        Ok(page)
    }

    async fn changes(
        &self,
        cx: &RunContext,
        since: &str,
        cursor: Option<&str>,
    ) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let (mut since, number) = (Mark::read(since)?, page_number(cursor)?);
        let home = self.home(cx).await?;
        if let Some(why) = since.moved(&home.name) {
            let page = SourcedPage::anew(why);
            let requests = self.api.requests() - before;
            return Ok(SourcedPage { requests, ..page });
        }
        let mut page = SourcedPage::default();
        let tag = since.tag.take().filter(|_| number == 1);
        let url = self.api.url(&Self::latest(home, number))?;
        let looked = self.api.look(cx, url, TokenHeader::Bearer, tag.as_deref());
        match looked.await? {
            Lookup::Absent => {}
            Lookup::Same => {
                let mark = Mark { tag, ..since };
                page.mark = Some(mark.text());
            }
            Lookup::New(answer) => {
                if number == 1 {
                    page.mark = Some(Self::mark(home, &answer).text());
                }
                let listed = answer.value.as_array().into_iter().flatten();
                let changed = |told: &&Value| {
                    time_of(told, "updated_at").is_none_or(|updated| since.reaches(&updated))
                };
                let total = listed.clone().count();
                let changed: Vec<&Value> = listed.take_while(changed).collect();
                let is_all = changed.len() == total;
                self.take(cx, home, changed.into_iter(), &mut page).await?;
                let next = answer.next.filter(|_| is_all);
                page.next = next.map(|_| (number + 1).to_string());
            }
        }
        finish(cx, self.checkout.as_ref(), &home.facts, &mut page).await?;
        page.requests = self.api.requests() - before;
        Ok(page)
    }
}
