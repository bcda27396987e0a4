//! `atlas mcp`: which repositories a language model may look at, and their checkouts.

use crate::make::pull_request::{checkout, name, open};
use async_trait::async_trait;
use atlas_core::{CommitSha, Error, ErrorKind, RunContext};
use atlas_docker::{Checkout, HistoryEntry, HistoryQuery, Repositories, RepositoryServer};
use atlas_source::{GitRepo, LogQuery, is_url};
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
            if let Some(base) = base {
                // One answer for every other commit: whether it exists is no business of clients.
                let chosen = self.first.repo.resolve(base).await;
                if !chosen.is_ok_and(|chosen| chosen == self.base) {
                    return Err(Error::new(
                        ErrorKind::NotTrusted,
                        "clone",
                        format!(
                            "`{}` at `{base}`: only its base commit {} may be seen; leave base out",
                            self.first.name, self.base
                        ),
                    ));
                }
            }
            return Ok((self.first.clone(), self.base.clone()));
        }
        if !self.allow.iter().any(|allowed| within(asked, allowed)) {
            let mut names = vec![self.first.name.as_str()];
            names.extend(self.allow.iter().map(String::as_str));
            let subject = format!("`{asked}`: not allowed here; allowed: {}", names.join(", "));
            return Err(Error::new(ErrorKind::NotTrusted, "clone", subject));
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
        // The checkout's own repository: it has no younger commit that could be shown.
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
