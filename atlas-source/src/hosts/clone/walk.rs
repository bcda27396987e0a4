//! The first-parent history of a branch, read while git writes it.

use crate::git::unexpected;
use crate::repository::GitRepo;
use atlas_core::{CommitSha, Error, ErrorKind};
use std::collections::VecDeque;
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
    /// The committer's address.
    pub(super) merged_by: String,
    pub(super) message: String,
}

/// `git log` at work.
#[derive(Debug)]
pub(super) struct Walk {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// What was read and not taken yet.
    ahead: VecDeque<Step>,
    ended: bool,
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
                "--format=%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%ce%x00%B",
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
            ahead: VecDeque::new(),
            ended: false,
            broken: false,
        };
        walk.look_ahead(1).await?;
        Ok(walk)
    }

    /// The commit that comes next, if the history goes on.
    pub(super) fn peek(&self) -> Option<&Step> {
        self.ahead.front()
    }

    /// Whether git gave up before the history's end, for want of objects.
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Takes the next commit.
    pub(super) async fn take(&mut self) -> Result<Option<Step>, Error> {
        let taken = self.ahead.pop_front();
        if taken.is_some() {
            self.look_ahead(1).await?;
        }
        Ok(taken)
    }

    /// Reads so many commits that can be looked at before they are taken; fewer at the end.
    pub(super) async fn look_ahead(&mut self, count: usize) -> Result<(), Error> {
        while self.ahead.len() < count && !self.ended {
            self.advance().await?;
        }
        Ok(())
    }

    /// What was read and not taken, newest first.
    pub(super) fn ahead(&self) -> impl Iterator<Item = &Step> {
        self.ahead.iter()
    }

    async fn advance(&mut self) -> Result<(), Error> {
        let Some(commit) = self.field().await? else {
            self.ended = true;
            let status = self.child.wait().await;
            self.broken = status.is_ok_and(|status| !status.success());
            return Ok(());
        };
        let mut fields = Vec::with_capacity(7);
        for _ in 0..7 {
            fields.push(self.field().await?.ok_or_else(|| unexpected("git log"))?);
        }
        let [
            parents,
            authored,
            committed,
            author,
            email,
            merged_by,
            message,
        ] = <[String; 7]>::try_from(fields).map_err(|_| unexpected("git log"))?;
        let number = |text: &str| text.parse().unwrap_or_default();
        self.ahead.push_back(Step {
            commit: commit
                .parse()
                .map_err(|why| unexpected("git log").with_source(why))?,
            parents: crate::repository::shas(&parents)?,
            authored: number(&authored),
            committed: number(&committed),
            author,
            email,
            merged_by,
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
