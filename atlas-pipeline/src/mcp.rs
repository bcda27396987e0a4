//! `atlas mcp`: which repositories a language model may look at, and their checkouts. The model that is asked for a
//! plan has the same tools, over the checkout that the plan is for.

use crate::make::pull_request::{checkout, name, open};
use async_trait::async_trait;
use atlas_core::{CommitSha, Error, ErrorKind, Repository, RunContext};
use atlas_docker::{
    Checkout, HistoryEntry, HistoryQuery, Repositories, RepositoryServer, RepositoryTools,
    ToolSource,
};
use atlas_source::{GitRepo, LogQuery, is_url};
use serde_json::Map;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Mutex;

/// What the server shows.
#[derive(Clone, Debug)]
pub struct McpOptions {
    /// A clone on this machine, or an address to clone from. Clients see it at `base` alone.
    pub repo: String,
    /// The commit, any revision git understands.
    pub base: String,
    /// Other clones, folders that hold clones, and addresses. Clients choose the commit of these
    /// themselves. Default: none.
    pub allow: Vec<String>,
}

impl McpOptions {
    /// One repository at one commit.
    pub fn new(repo: impl Into<String>, base: impl Into<String>) -> Self {
        Self {
            repo: repo.into(),
            base: base.into(),
            allow: Vec::new(),
        }
    }
}

/// Serves one client of the Model Context Protocol over standard input and output until it closes
/// the connection. Checkouts are made in a folder of their own, which goes with the server.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a repository or a commit that is not there, before anything is
/// served; those of [`RepositoryServer::serve_stdio`].
///
/// # Cancellation
/// Dropping the future ends the connection and removes the checkouts.
pub async fn serve_mcp(cx: &RunContext, options: &McpOptions) -> Result<(), Error> {
    let allowed = Allowed::open(cx, options).await?;
    cx.progress.phase("");
    let server = RepositoryServer::new(Arc::new(allowed));
    // Clients end a server that does not stop by itself with this signal; the checkouts go first.
    let mut terminated = signal(SignalKind::terminate()).map_err(|why| {
        Error::new(ErrorKind::Io, "listen for the signal to end", "").with_source(why)
    })?;
    tokio::select! {
        done = server.serve_stdio(cx) => done,
        _ = terminated.recv() => Ok(()),
    }
}

/// A repository that may be shown.
#[derive(Clone, Debug)]
struct Source {
    address: String,
    repo: GitRepo,
    name: String,
}

#[derive(Debug)]
struct Allowed {
    cx: RunContext,
    first: Source,
    base: CommitSha,
    allow: Vec<String>,
    folder: TempDir,
    /// By address and commit.
    made: Mutex<BTreeMap<(String, String), Checkout>>,
}

impl Allowed {
    async fn open(cx: &RunContext, options: &McpOptions) -> Result<Self, Error> {
        let first = Source::open(cx, &options.repo).await?;
        let base = match first.repo.resolve(&options.base).await {
            // A mirror of an earlier run may be older than the commit.
            Err(why) if why.kind() == ErrorKind::NotFound && is_url(&options.repo) => {
                first.repo.fetch().await?;
                first.repo.resolve(&options.base).await?
            }
            other => other?,
        };
        let folder = tempfile::Builder::new()
            .prefix("atlas-mcp-")
            .tempdir()
            .map_err(|why| Error::io("make a folder in", &std::env::temp_dir(), why))?;
        Ok(Self {
            cx: cx.clone(),
            first,
            base,
            allow: options.allow.clone(),
            folder,
            made: Mutex::default(),
        })
    }

    /// The repository and commit of a request, if it is allowed.
    async fn find(
        &self,
        repository: Option<&str>,
        base: Option<&str>,
    ) -> Result<(Source, CommitSha), Error> {
        let asked = repository.unwrap_or(&self.first.address);
        if asked == self.first.name || same(asked, &self.first.address) {
            only_base(&self.first.repo, &self.first.name, &self.base, base).await?;
            return Ok((self.first.clone(), self.base.clone()));
        }
        if !self.allow.iter().any(|allowed| within(asked, allowed)) {
            let mut names = vec![self.first.name.as_str()];
            names.extend(self.allow.iter().map(String::as_str));
            return Err(not_allowed(asked, &names));
        }
        let Some(base) = base else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "clone",
                format!("`{asked}`: give its base commit"),
            ));
        };
        let source = Source::open(&self.cx, asked).await?;
        let base = source.repo.resolve(base).await?;
        Ok((source, base))
    }
}

impl Source {
    async fn open(cx: &RunContext, address: &str) -> Result<Self, Error> {
        let repo = open(cx, address).await?;
        Ok(Self {
            address: address.to_owned(),
            name: name(&repo, address).await,
            repo,
        })
    }
}

#[async_trait]
impl Repositories for Allowed {
    async fn checkout(
        &self,
        repository: Option<&str>,
        base: Option<&str>,
    ) -> Result<Checkout, Error> {
        let (source, base) = self.find(repository, base).await?;
        let mut made = self.made.lock().await;
        let key = (source.address.clone(), base.to_string());
        if let Some(known) = made.get(&key) {
            return Ok(known.clone());
        }
        let below = tempfile::Builder::new()
            .prefix("checkout-")
            .tempdir_in(self.folder.path())
            .map_err(|why| Error::io("make a folder in", self.folder.path(), why))?;
        let root = below.path().join("repo");
        let repo = source.repo.clone().with_temp_dir(below.path());
        let remarks = checkout(&repo, &base, &root).await?;
        let made_now = Checkout {
            repository: source.name,
            base_date: repo.commit_date(&base).await?,
            base,
            root,
            remarks,
        };
        // From here on it goes with the folder of all checkouts.
        let _: PathBuf = below.keep();
        made.insert(key, made_now.clone());
        Ok(made_now)
    }

    async fn history(
        &self,
        checkout: &Checkout,
        query: &HistoryQuery,
    ) -> Result<Vec<HistoryEntry>, Error> {
        history(checkout, query).await
    }
}

/// Refuses every commit but the base. One answer for all others: whether they exist is no business of clients.
async fn only_base(
    repo: &GitRepo,
    name: &str,
    base: &CommitSha,
    asked: Option<&str>,
) -> Result<(), Error> {
    let Some(asked) = asked else {
        return Ok(());
    };
    if repo
        .resolve(asked)
        .await
        .is_ok_and(|chosen| chosen == *base)
    {
        return Ok(());
    }
    let subject =
        format!("`{name}` at `{asked}`: only its base commit {base} may be seen; leave base out");
    Err(Error::new(ErrorKind::NotTrusted, "clone", subject))
}

fn not_allowed(asked: &str, names: &[&str]) -> Error {
    let subject = format!("`{asked}`: not allowed here; allowed: {}", names.join(", "));
    Error::new(ErrorKind::NotTrusted, "clone", subject)
}

/// Commits of the checkout's own repository: it has no younger one that could be shown.
async fn history(checkout: &Checkout, query: &HistoryQuery) -> Result<Vec<HistoryEntry>, Error> {
    let repo = GitRepo::open(&checkout.root).await?;
    let query = LogQuery {
        path: query.path.clone(),
        skip: query.skip,
        limit: query.limit,
    };
    let found = repo.log(&checkout.base, &query).await?;
    Ok(found
        .into_iter()
        .map(|entry| HistoryEntry {
            commit: entry.commit,
            date: entry.date,
            author: entry.author,
            message: entry.message,
            paths: entry.paths,
        })
        .collect())
}

/// Gives a model that writes a plan the tools of `atlas mcp` over the checkout that the plan is for, and over no
/// other.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckoutTools;

#[async_trait]
impl ToolSource for CheckoutTools {
    async fn open(&self, repository: &Repository) -> Result<Arc<dyn RepositoryTools>, Error> {
        let checkout = Checkout {
            repository: repository.name.clone(),
            base: repository.base.clone(),
            base_date: repository.base_date.clone(),
            root: repository.checkout.clone(),
            remarks: Vec::new(),
        };
        let server = RepositoryServer::new(Arc::new(OneCheckout(checkout)));
        // The checkout is there: no call need be spent on making it.
        server.call("clone", Map::new()).await.map_err(|why| {
            let name = repository.name.clone();
            Error::new(ErrorKind::Internal, "open the checkout of", name).with_source(why)
        })?;
        Ok(Arc::new(server))
    }
}

/// The one checkout there is.
#[derive(Debug)]
struct OneCheckout(Checkout);

#[async_trait]
impl Repositories for OneCheckout {
    async fn checkout(
        &self,
        repository: Option<&str>,
        base: Option<&str>,
    ) -> Result<Checkout, Error> {
        let name = &self.0.repository;
        if let Some(asked) = repository.filter(|asked| asked != name) {
            return Err(not_allowed(asked, &[name]));
        }
        if base.is_some() {
            let repo = GitRepo::open(&self.0.root).await?;
            only_base(&repo, name, &self.0.base, base).await?;
        }
        Ok(self.0.clone())
    }

    async fn history(
        &self,
        checkout: &Checkout,
        query: &HistoryQuery,
    ) -> Result<Vec<HistoryEntry>, Error> {
        history(checkout, query).await
    }
}

/// An address without what makes no difference.
fn plain(url: &str) -> &str {
    let url = url.trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url)
}

/// Whether two texts name the same repository.
fn same(one: &str, other: &str) -> bool {
    if is_url(one) || is_url(other) {
        return plain(one) == plain(other);
    }
    match (full(one), full(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// Whether a repository is the allowed one, or stands in the allowed folder.
fn within(asked: &str, allowed: &str) -> bool {
    if is_url(asked) || is_url(allowed) {
        return plain(asked) == plain(allowed);
    }
    match (full(asked), full(allowed)) {
        (Some(asked), Some(allowed)) => asked.starts_with(allowed),
        _ => false,
    }
}

/// The place that a path means, links followed. A clone and its `.git` are one place.
fn full(path: &str) -> Option<PathBuf> {
    let full = Path::new(path).canonicalize().ok()?;
    match full.parent() {
        Some(parent) if full.ends_with(".git") => Some(parent.to_owned()),
        _ => Some(full),
    }
}
