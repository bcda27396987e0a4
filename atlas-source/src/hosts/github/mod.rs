//! GitHub's GraphQL API as a host.

mod read;
mod rest;

use super::checkout::{Checkout, finish};
use super::http::{Api, ApiOptions};
use super::mark::Mark;
use crate::hosts::fields::{at as time_of, text};
use crate::links::{LinkContext, LinkFlavour};
use crate::repository::GitRepo;
use async_trait::async_trait;
use atlas_core::{
    CodeHost, CommitSha, Error, ErrorKind, RunContext, SkippedPullRequest, SourcedPage,
};
use read::Ends;
pub use rest::GithubRestHost;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const QUERY: &str = include_str!("query.graphql");

/// Pull requests on one page; fewer where the server gives up on so many.
const PAGE: u64 = 25;

/// A repository at GitHub as a source of merged pull requests, oldest first.
///
/// One question gives a page: title, description, labels, authors, commits, reviews, the issues that the host says a merge closed
/// or that were connected by hand, with their comments, and what is known of the repository. Of issues that only words
/// name the link alone is known.
///
/// Files are taken from a clone ([`with_clone`](Self::with_clone)): without one, shapes of changes and lines of code are unknown.
///
/// GraphQL wants a token. Limits, primary and secondary, are waited out, with the tokens in turn; what the server breaks off is asked
/// again, and for fewer pull requests at once.
#[derive(Debug)]
pub struct GithubHost {
    api: Api,
    owner: String,
    name: String,
    web: String,
    checkout: Option<Checkout>,
}

impl GithubHost {
    /// The repository `owner/name`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for another form of name, an address that is none, and without a token.
    pub fn open(repo: &str, options: ApiOptions) -> Result<Self, Error> {
        let (owner, name) = owner_and_name(repo)?;
        let api = Api::open(options)?;
        if !api.has_tokens() {
            return Err(wrong(repo, "its GraphQL API wants a token"));
        }
        let web = web_host(&api)?;
        Ok(Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            web,
            api,
            checkout: None,
        })
    }

    /// The same with a clone, from which shapes of changes and lines of code come.
    #[must_use]
    pub fn with_clone(mut self, repo: GitRepo, address: impl Into<String>) -> Self {
        self.checkout = Some(Checkout::new(repo, address));
        self
    }

    fn asked(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// One answer: a page of pull requests in this order, for fewer of them where the server gives up on so many.
    async fn answer(
        &self,
        cx: &RunContext,
        cursor: Option<&str>,
        order: (&str, &str),
    ) -> Result<Value, Error> {
        let url = self.api.url("graphql")?;
        let mut first = PAGE;
        loop {
            let variables = json!({
                "owner": self.owner, "name": self.name, "first": first, "after": cursor,
                "order": {"field": order.0, "direction": order.1}, "begin": cursor.is_none(),
            });
            let body = json!({"query": QUERY, "variables": variables});
            // A page that the server gives up on may be too large for it: half of it is asked for before the tries are used up.
            let attempts = if first > 1 { 2 } else { self.api.attempts() };
            let given_up = match self.api.post(cx, url.clone(), &body, attempts).await {
                Ok(Some(answer)) => match self.told(answer.value)? {
                    Some(answer) => return Ok(answer),
                    None => self.error(ErrorKind::EngineUnreachable, "an answer without data"),
                },
                Ok(None) => return Err(self.error(ErrorKind::NotFound, "no GraphQL API there")),
                Err((why, true)) => why,
                Err((why, false)) => return Err(why),
            };
            if first == 1 {
                return Err(given_up);
            }
            first = (first / 3).max(1);
        }
    }

    /// The answer if it has data; `None` where the server could not answer this time.
    fn told(&self, answer: Value) -> Result<Option<Value>, Error> {
        let repository = answer.get("data").and_then(|data| data.get("repository"));
        if repository.is_some_and(|repository| !repository.is_null()) {
            return Ok(Some(answer));
        }
        let errors = errors(&answer);
        let is_of = |kind: &str| errors.iter().any(|error| text(error, "type") == Some(kind));
        let said: Vec<&str> = errors
            .iter()
            .filter_map(|error| text(error, "message"))
            .collect();
        let said = said.join("; ");
        if is_of("NOT_FOUND") {
            let why = format!("{said}; it may be private to these tokens, or gone");
            return Err(self.error(ErrorKind::NotFound, &why));
        }
        // Errors without a type are the server's own; those with one will be the same again.
        if errors.iter().any(|error| error.get("type").is_some()) {
            return Err(self.error(ErrorKind::InvalidInput, &said));
        }
        Ok(None)
    }

    fn error(&self, kind: ErrorKind, why: &str) -> Error {
        let subject = format!("`{}` for `{}`", self.api.address(), self.asked());
        Error::new(kind, "ask", subject).with_source(why.to_owned())
    }
}

fn wrong(repo: &str, what: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        "ask GitHub for",
        format!("`{repo}`: {what}"),
    )
}

fn owner_and_name(repo: &str) -> Result<(&str, &str), Error> {
    repo.split_once('/')
        .filter(|(owner, name)| !owner.is_empty() && !name.is_empty() && !name.contains('/'))
        .ok_or_else(|| wrong(repo, "owner/name expected"))
}

/// The host of issues' addresses: an enterprise server has its API below the web's.
fn web_host(api: &Api) -> Result<String, Error> {
    match api.address() {
        "https://api.github.com" => Ok("github.com".to_owned()),
        other => Ok(api.url(other)?.host_str().unwrap_or_default().to_owned()),
    }
}

fn errors(answer: &Value) -> Vec<Value> {
    answer
        .get("errors")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default()
}

/// What errors beside the data say of single pull requests, by their place in the page.
fn faults(answer: &Value) -> BTreeMap<u64, Vec<String>> {
    let mut faults: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for error in errors(answer) {
        let path = error.get("path").and_then(Value::as_array);
        let mut path = path
            .into_iter()
            .flatten()
            .skip_while(|part| *part != "pullRequests")
            .skip_while(|part| *part != "nodes");
        if let Some(at) = path.nth(1).and_then(Value::as_u64) {
            let field = path.find_map(Value::as_str).unwrap_or("pullRequest");
            let said = text(&error, "message").unwrap_or("an error without words");
            faults
                .entry(at)
                .or_default()
                .push(format!("{field}: {said}"));
        }
    }
    faults
}

/// Pull requests of one answer, while they are made.
#[derive(Default)]
struct PageBuilder {
    page: SourcedPage,
    /// Those that were rebased onto the branch: place on the page, head, commits.
    rebased: Vec<(usize, CommitSha, u64)>,
}

impl PageBuilder {
    /// Takes one node, the number `at` of the answer, with what errors say of it.
    fn take(
        &mut self,
        node: &Value,
        (at, said): (usize, Option<String>),
        repository: &Value,
        (context, asked): (&LinkContext, &str),
    ) {
        let skip = |why: String| SkippedPullRequest {
            name: match node.get("number").and_then(Value::as_u64) {
                Some(number) => format!("{}#{number}", context.repo),
                None => format!("{}, number {} of a page", context.repo, at + 1),
            },
            reason: why,
        };
        if node.is_null() {
            let why = said.unwrap_or_else(|| "the host gives nothing".to_owned());
            self.page.skipped.push(skip(why));
            return;
        }
        match read::ends(node) {
            Err(why) => self.page.skipped.push(skip(why)),
            Ok(ends) => {
                let mut told = read::pull_request(node, repository, (context, asked), &ends);
                if let Some(said) = said {
                    told.provenance.insert("untold".to_owned(), said);
                }
                if let Ends {
                    head,
                    rebased: Some(commits),
                    ..
                } = ends
                {
                    let place = self.page.pull_requests.len();
                    self.rebased.push((place, head, commits));
                }
                self.page.pull_requests.push(told);
            }
        }
    }
}

impl GithubHost {
    /// The page of an answer, up to the first node that was not changed since the mark.
    async fn read(
        &self,
        cx: &RunContext,
        answer: &Value,
        since: Option<&Mark>,
    ) -> Result<SourcedPage, Error> {
        let repository = &answer["data"]["repository"];
        let asked = self.asked();
        let context = LinkContext {
            flavour: LinkFlavour::Github,
            host: self.web.clone(),
            repo: text(repository, "nameWithOwner")
                .unwrap_or(&asked)
                .to_owned(),
        };
        if let Some(why) = since.and_then(|since| since.moved(&context.repo)) {
            return Ok(SourcedPage::anew(why));
        }
        let faults = faults(answer);
        let connection = &repository["pullRequests"];
        let mut made = PageBuilder::default();
        let mut ended = false;
        let found = connection.get("nodes").and_then(Value::as_array);
        for (place, node) in found.into_iter().flatten().enumerate() {
            // Of what has no time nobody knows; the next one will tell.
            let updated = time_of(node, "updatedAt");
            if let (Some(since), Some(updated)) = (since, updated) {
                ended = !since.reaches(&updated);
                if ended {
                    break;
                }
            }
            let said = faults.get(&(place as u64)).map(|said| said.join("; "));
            made.take(node, (place, said), repository, (&context, &asked));
        }
        let PageBuilder { mut page, rebased } = made;
        if let Some(checkout) = &self.checkout {
            for (place, head, commits) in rebased {
                let told = &mut page.pull_requests[place];
                if let Some(base) = checkout.before(&head, commits).await {
                    told.base = base;
                    let how = format!(
                        "rebased onto the branch in {commits} commits; the clone's history"
                    );
                    told.provenance.insert("base".to_owned(), how);
                }
            }
        }
        let facts = read::facts(repository);
        finish(cx, self.checkout.as_ref(), &facts, &mut page).await?;
        let info = &connection["pageInfo"];
        let more = !ended && info.get("hasNextPage").and_then(Value::as_bool) == Some(true);
        page.next = text(info, "endCursor").filter(|_| more).map(str::to_owned);
        if let Some(newest) = repository.get("newest").filter(|newest| !newest.is_null()) {
            page.total = newest.get("totalCount").and_then(Value::as_u64);
            let latest = read::nodes(repository, "newest").next();
            let mark = Mark {
                repo: context.repo,
                updated: latest
                    .and_then(|node| time_of(node, "updatedAt"))
                    .unwrap_or_default(),
                ..Mark::default()
            };
            page.mark = Some(mark.text());
        }
        Ok(page)
    }
}

#[async_trait]
impl CodeHost for GithubHost {
    fn name(&self) -> String {
        format!("github {} {}", self.api.address(), self.asked())
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let answer = self.answer(cx, cursor, ("CREATED_AT", "ASC")).await?;
        let mut page = self.read(cx, &answer, None).await?;
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
        let since = Mark::read(since)?;
        let answer = self.answer(cx, cursor, ("UPDATED_AT", "DESC")).await?;
        let mut page = self.read(cx, &answer, Some(&since)).await?;
        page.requests = self.api.requests() - before;
        Ok(page)
    }
}
