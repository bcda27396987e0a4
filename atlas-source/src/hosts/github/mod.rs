//! GitHub's GraphQL API as a host.

mod read;
mod rest;

use super::checkout::Checkout;
use super::http::{Api, ApiOptions};
use crate::hosts::fields::text;
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

    /// One answer, with how many pull requests were asked for at last.
    async fn answer(&self, cx: &RunContext, cursor: Option<&str>) -> Result<Value, Error> {
        let url = self.api.url("graphql")?;
        let mut first = PAGE;
        loop {
            let variables = json!({
                "owner": self.owner, "name": self.name, "first": first, "after": cursor,
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

#[async_trait]
impl CodeHost for GithubHost {
    fn name(&self) -> String {
        format!("github {} {}", self.api.address(), self.asked())
    }

    async fn page(&self, cx: &RunContext, cursor: Option<&str>) -> Result<SourcedPage, Error> {
        let before = self.api.requests();
        let answer = self.answer(cx, cursor).await?;
        let repository = &answer["data"]["repository"];
        let asked = self.asked();
        let context = LinkContext {
            flavour: LinkFlavour::Github,
            host: self.web.clone(),
            repo: text(repository, "nameWithOwner")
                .unwrap_or(&asked)
                .to_owned(),
        };
        let faults = faults(&answer);
        let connection = &repository["pullRequests"];
        let mut page = SourcedPage::default();
        let found = connection.get("nodes").and_then(Value::as_array);
        let mut rebased: Vec<(usize, CommitSha, u64)> = Vec::new();
        for (at, node) in found.into_iter().flatten().enumerate() {
            let said = faults.get(&(at as u64)).map(|said| said.join("; "));
            let skip = |why: String| SkippedPullRequest {
                name: match node.get("number").and_then(Value::as_u64) {
                    Some(number) => format!("{}#{number}", context.repo),
                    None => format!("{}, number {} of a page", context.repo, at + 1),
                },
                reason: why,
            };
            if node.is_null() {
                page.skipped.push(skip(
                    said.unwrap_or_else(|| "the host gives nothing".to_owned()),
                ));
                continue;
            }
            match read::ends(node) {
                Err(why) => page.skipped.push(skip(why)),
                Ok(ends) => {
                    let mut told = read::pull_request(node, repository, (&context, &asked), &ends);
                    if let Some(said) = said {
                        told.provenance.insert("untold".to_owned(), said);
                    }
                    if let Ends {
                        head,
                        rebased: Some(commits),
                        ..
                    } = ends
                    {
                        rebased.push((page.pull_requests.len(), head, commits));
                    }
                    page.pull_requests.push(told);
                }
            }
        }
        if let Some(checkout) = &self.checkout {
            for (at, head, commits) in rebased {
                let told = &mut page.pull_requests[at];
                if let Some(base) = checkout.before(&head, commits).await {
                    told.base = base;
                    let how = format!(
                        "rebased onto the branch in {commits} commits; the clone's history"
                    );
                    told.provenance.insert("base".to_owned(), how);
                }
            }
            checkout.fill(cx, &mut page.pull_requests).await?;
        }
        let info = &connection["pageInfo"];
        let more = info.get("hasNextPage").and_then(Value::as_bool) == Some(true);
        page.next = text(info, "endCursor").filter(|_| more).map(str::to_owned);
        page.requests = self.api.requests() - before;
        Ok(page)
    }
}
