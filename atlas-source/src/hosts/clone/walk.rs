//! The first-parent history of a branch, read while git writes it.

use crate::repository::GitRepo;
use crate::scratch::unexpected;
use atlas_core::{CommitSha, Error, ErrorKind};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, ChildStdout};

/// One commit of the history.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) commit: CommitSha,
    pub(super) parents: Vec<CommitSha>,
    /// Seconds since 1970 at which the author made it.
    pub(super) authored: i64,
    /// Seconds since 1970 at which it was committed.
    pub(super) committed: i64,
    pub(super) author: String,
    pub(super) email: String,
    pub(super) message: String,
}

/// `git log` at work.
#[derive(Debug)]
pub(super) struct Walk {
    child: Child,
    lines: BufReader<ChildStdout>,
    next: Option<Step>,
    broken: bool,
}

impl Walk {
    /// Starts at a commit and goes back along first parents.
    pub(super) async fn from(repo: &GitRepo, start: &CommitSha) -> Result<Self, Error> {
        repo.resolve(start.as_str()).await?;
        let call = repo
            .git()
            .args(["log", "--first-parent", "-z", "--encoding=UTF-8"])
            .args([
                "--no-notes",
                "--no-color",
                "--format=%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%B",
                start.as_str(),
                "--",
            ]);
        let mut command = call.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|why| call.cannot_start(why))?;
        let lines = child.stdout.take().ok_or_else(|| unexpected("git log"))?;
        let mut walk = Self {
            child,
            lines: BufReader::new(lines),
            next: None,
            broken: false,
        };
        walk.advance().await?;
        Ok(walk)
    }

    /// The commit that comes next, if the history goes on.
    pub(super) fn peek(&self) -> Option<&Step> {
        self.next.as_ref()
    }

    /// Whether git gave up before the history's end, for want of objects.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Takes the next commit.
    pub(super) async fn take(&mut self) -> Result<Option<Step>, Error> {
        let taken = self.next.take();
        if taken.is_some() {
            self.advance().await?;
        }
        Ok(taken)
    }

    async fn advance(&mut self) -> Result<(), Error> {
        let Some(commit) = self.field().await? else {
            let status = self.child.wait().await;
            self.broken = status.is_ok_and(|status| !status.success());
            return Ok(());
        };
        let mut fields = Vec::with_capacity(6);
        for _ in 0..6 {
            fields.push(self.field().await?.ok_or_else(|| unexpected("git log"))?);
        }
        let [parents, authored, committed, author, email, message] =
            <[String; 6]>::try_from(fields).map_err(|_| unexpected("git log"))?;
        let number = |text: &str| text.parse().unwrap_or_default();
        self.next = Some(Step {
            commit: commit
                .parse()
                .map_err(|why| unexpected("git log").with_source(why))?,
            parents: crate::repository::shas(&parents)?,
            authored: number(&authored),
            committed: number(&committed),
            author,
            email,
            message: message.trim_end().to_owned(),
        });
        Ok(())
    }

    async fn field(&mut self) -> Result<Option<String>, Error> {
        let mut bytes = Vec::new();
        let read = self.lines.read_until(0, &mut bytes).await;
        read.map_err(|why| Error::new(ErrorKind::Io, "read", "`git log`").with_source(why))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}
