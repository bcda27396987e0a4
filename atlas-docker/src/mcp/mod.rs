//! A server of the Model Context Protocol through which a language model looks at a repository.
//!
//! Paper 001 (3.2.2) lets the model that writes an environment plan `clone`, `list` and `read`;
//! here are also `search` and `history`. Whatever it asks, it sees the base commit and what came
//! before, and no byte outside of the checkout: the future would hold the solution, the machine
//! everything else. So the checkouts are sealed, paths are resolved before they are opened, and
//! each answer has an upper size with a way to ask for the rest.
//!
//! Where checkouts come from is the business of [`Repositories`], so that this server knows
//! neither git nor which repositories a caller allows. A request that is refused is an answer with
//! `isError` and a sentence that says why and what to do instead; the server goes on.

mod answers;
mod calls;
mod files;
mod paths;
mod search;
#[cfg(test)]
mod tests;

use answers::{
    CloneArgs, Cloned, Commits, Found, HistoryArgs, ListArgs, Listing, Page, ReadArgs, SearchArgs,
};
use async_trait::async_trait;
use atlas_core::{CommitSha, Error, ErrorKind, RunContext};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{ContentBlock, IntoContents};
use rmcp::{Json, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Mutex;

/// A sealed checkout of one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    /// The repository's name: `owner/name`, or the name of its folder.
    pub repository: String,
    /// The commit.
    pub base: CommitSha,
    /// When it was made, ISO 8601.
    pub base_date: String,
    /// The folder of the checkout. It is not told to clients.
    pub root: PathBuf,
    /// What is not there: submodules, Git LFS content.
    pub remarks: Vec<String>,
}

/// Which commits of a history are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Only commits that change this file or folder; all if empty.
    pub path: String,
    /// How many to leave out, newest first.
    pub skip: usize,
    /// How many to give.
    pub limit: usize,
}

/// One commit of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Its id.
    pub commit: CommitSha,
    /// When it was made, ISO 8601.
    pub date: String,
    /// Who wrote it: the name alone.
    pub author: String,
    /// Its whole message.
    pub message: String,
    /// The files that it changes, against its first parent.
    pub paths: Vec<String>,
}

/// Where checkouts come from.
///
/// # Contract
/// - A checkout holds nothing that is younger than its base commit, neither files nor git objects.
/// - What is not allowed is an error whose text says what is.
/// - The folder stays as it is for as long as this value lives.
#[async_trait]
pub trait Repositories: fmt::Debug + Send + Sync {
    /// Makes a checkout, of the repository and the base commit that the server was started for
    /// where these are `None`.
    ///
    /// # Errors
    /// [`ErrorKind::NotTrusted`] for what is not allowed, [`ErrorKind::NotFound`] for a commit that
    /// is not there.
    ///
    /// # Cancellation
    /// Dropping the future stops git.
    async fn checkout(
        &self,
        repository: Option<&str>,
        base: Option<&str>,
    ) -> Result<Checkout, Error>;

    /// Commits of a checkout's history, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::ToolFailed`] where git fails.
    ///
    /// # Cancellation
    /// Dropping the future stops git.
    async fn history(
        &self,
        checkout: &Checkout,
        query: &HistoryQuery,
    ) -> Result<Vec<HistoryEntry>, Error>;
}

/// A request that is answered with `isError` and its reason.
#[derive(Debug)]
struct Refused(Error);

impl From<Error> for Refused {
    fn from(why: Error) -> Self {
        Self(why)
    }
}

impl IntoContents for Refused {
    fn into_contents(self) -> Vec<ContentBlock> {
        vec![ContentBlock::text(self.0.chain())]
    }
}

/// An argument that cannot be served as given.
fn refuse(operation: &str, subject: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidInput, operation, subject)
}

/// The server: five tools over the checkouts that its [`Repositories`] give.
///
/// A checkout that has been made once serves every later request for the same commit.
#[derive(Debug)]
pub struct RepositoryServer {
    repositories: Arc<dyn Repositories>,
    checkouts: Mutex<Checkouts>,
}

#[derive(Debug, Default)]
struct Checkouts {
    /// By the name that clients are told.
    named: BTreeMap<String, Checkout>,
    /// The last one cloned.
    last: Option<String>,
}

impl RepositoryServer {
    /// A server that has cloned nothing yet.
    pub fn new(repositories: Arc<dyn Repositories>) -> Self {
        Self {
            repositories,
            checkouts: Mutex::default(),
        }
    }

    /// Serves one client over standard input and output until it closes the connection. Nothing
    /// else may write to standard output meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::ToolFailed`] for a client that does not speak the protocol,
    /// [`ErrorKind::Cancelled`] when the context is cancelled.
    ///
    /// # Cancellation
    /// Dropping the future ends the connection.
    pub async fn serve_stdio(self, cx: &RunContext) -> Result<(), Error> {
        let failed = |why: Box<dyn std::error::Error + Send + Sync>| {
            let operation = "serve a client of the Model Context Protocol";
            Error::new(ErrorKind::ToolFailed, operation, "over standard input").with_source(why)
        };
        let work = async {
            let running = match self.serve(rmcp::transport::stdio()).await {
                Ok(running) => running,
                // A client that closes before it has said anything has changed its mind.
                Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
                Err(why) => return Err(failed(why.into())),
            };
            running.waiting().await.map_err(|why| failed(why.into()))?;
            Ok(())
        };
        tokio::select! {
            done = work => done,
            () = cx.cancel.cancelled() => cx.check("serve a client"),
        }
    }

    /// The checkout of that name, the last one where none is given.
    async fn checkout(&self, name: Option<&str>) -> Result<Checkout, Error> {
        let known = self.checkouts.lock().await;
        let Some(name) = name.or(known.last.as_deref()) else {
            return Err(refuse(
                "look into a checkout:",
                "there is none; call `clone` first",
            ));
        };
        known.named.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = known.named.keys().map(String::as_str).collect();
            let subject = format!("`{name}`: no such one; there are: {}", names.join(", "));
            refuse("look into checkout", subject)
        })
    }
}

/// Runs work that reads many files away from the threads that serve.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<Json<T>, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|why| {
        Error::new(ErrorKind::Internal, "read files of the checkout", "").with_source(why)
    })?;
    Ok(Json(done?))
}

#[tool_router]
impl RepositoryServer {
    #[tool(
        name = "clone",
        description = "Make a checkout of a repository at its base commit. Call this first. It holds the files of that commit and the history before it, nothing younger. Without arguments it is the repository that the server was started for.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn clone_repository(
        &self,
        Parameters(args): Parameters<CloneArgs>,
    ) -> Result<Json<Cloned>, Refused> {
        // Held for the whole clone: two requests for the same repository make one checkout.
        let mut known = self.checkouts.lock().await;
        let (repository, base) = (args.repository.as_deref(), args.base.as_deref());
        let checkout = self.repositories.checkout(repository, base).await?;
        let name = format!("{}@{}", checkout.repository, &checkout.base.as_str()[..12]);
        let root = checkout.root.clone();
        let mut cloned = Cloned {
            checkout: name.clone(),
            repository: checkout.repository.clone(),
            base_commit: checkout.base.to_string(),
            base_date: checkout.base_date.clone(),
            entries: Vec::new(),
            remarks: checkout.remarks.clone(),
        };
        known.named.insert(name.clone(), checkout);
        known.last = Some(name);
        let Json(listing) = blocking(move || files::list(&root, &ListArgs::default())).await?;
        cloned.entries = listing.entries;
        Ok(Json(cloned))
    }

    #[tool(
        description = "List a folder of the checkout: names, kinds and sizes, in the order of their bytes. With depth above 1 its subfolders too. Long listings come in pages: pass next_offset as offset.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list(&self, Parameters(args): Parameters<ListArgs>) -> Result<Json<Listing>, Refused> {
        let root = self.checkout(args.checkout.as_deref()).await?.root;
        blocking(move || files::list(&root, &args)).await
    }

    #[tool(
        description = "Read a text file of the checkout, all of it or a range of lines. Long files come in pages: pass next_line as first_line. Binary files and files above 8 MiB are refused.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn read(&self, Parameters(args): Parameters<ReadArgs>) -> Result<Json<Page>, Refused> {
        let root = self.checkout(args.checkout.as_deref()).await?.root;
        blocking(move || files::read(&root, &args)).await
    }

    #[tool(
        description = "Find the lines of the checkout's text files that match a regular expression (Rust's syntax, no look-around) or a literal text. Narrow it by folder or by a glob of file names. Many matches come in pages: pass next_offset as offset.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn search(
        &self,
        Parameters(args): Parameters<SearchArgs>,
    ) -> Result<Json<Found>, Refused> {
        let root = self.checkout(args.checkout.as_deref()).await?.root;
        blocking(move || search::search(&root, &args)).await
    }

    #[tool(
        description = "The commits up to and including the base commit, newest first: id, date, author, message, changed files. Younger commits are not there. Narrow it by a file or folder. More come with next_offset as offset.",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn history(
        &self,
        Parameters(args): Parameters<HistoryArgs>,
    ) -> Result<Json<Commits>, Refused> {
        let checkout = self.checkout(args.checkout.as_deref()).await?;
        let path = paths::relative("history of", args.path.as_deref().unwrap_or_default())?;
        let limit = args.limit.unwrap_or(20).clamp(1, answers::MAX_COMMITS);
        let skip = args.offset.unwrap_or(0);
        let query = HistoryQuery {
            path,
            skip,
            limit: limit + 1,
        };
        let mut found = self.repositories.history(&checkout, &query).await?;
        let next_offset = (found.len() > limit).then(|| skip.saturating_add(limit));
        found.truncate(limit);
        Ok(Json(Commits {
            commits: found.into_iter().map(answers::commit).collect(),
            next_offset,
        }))
    }
}

#[tool_handler(
    name = "atlas",
    instructions = "One repository at the commit that a pull request starts from. Call clone, then list, read, search and history to find out how its tests are built and run. Paths are relative to the repository's root. Nothing can be written, run or fetched."
)]
impl ServerHandler for RepositoryServer {}
