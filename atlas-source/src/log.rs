//! The commits that led to a commit.

use crate::git::unexpected;
use crate::repository::GitRepo;
use atlas_core::{CommitSha, Error};

/// Which commits of a history are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogQuery {
    /// Only commits that change this file or folder; all if empty. Taken as it is written: no
    /// pattern.
    pub path: String,
    /// How many to leave out, newest first.
    pub skip: usize,
    /// How many to give; all by default.
    pub limit: usize,
}

impl Default for LogQuery {
    fn default() -> Self {
        Self {
            path: String::new(),
            skip: 0,
            limit: usize::MAX,
        }
    }
}

/// One commit of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its id.
    pub commit: CommitSha,
    /// When it was made (the committer's date), strict ISO 8601.
    pub date: String,
    /// The author's name.
    pub author: String,
    /// The whole message, without blank lines at its end.
    pub message: String,
    /// The files that it changes against its first parent, in path order; bytes that are no UTF-8
    /// are replaced. Where the query names a path, only those below it.
    pub paths: Vec<String>,
}

impl GitRepo {
    /// A commit and its ancestors, newest first.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](atlas_core::ErrorKind::NotFound) without that commit,
    /// [`ErrorKind::ToolFailed`](atlas_core::ErrorKind::ToolFailed) if objects that the history
    /// needs are not there.
    pub async fn log(&self, head: &CommitSha, query: &LogQuery) -> Result<Vec<LogEntry>, Error> {
        self.resolve(head.as_str()).await?;
        let mut call = self
            .git()
            .args(["--literal-pathspecs", "log", "-z", "--encoding=UTF-8"])
            .args(["--no-notes", "--no-color", "--no-ext-diff", "--no-textconv"])
            .args(["--no-renames", "--name-only", "--diff-merges=first-parent"])
            // A record begins with a byte that no id has and ends where the next one begins.
            .arg("--format=%x01%H%x00%cI%x00%an%x00%B%x00")
            .arg(format!("--skip={}", query.skip));
        if query.limit != usize::MAX {
            call = call.arg(format!("--max-count={}", query.limit));
        }
        call = call.args([head.as_str(), "--"]);
        if !query.path.is_empty() {
            call = call.arg(&query.path);
        }
        let output = call.checked().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut entries: Vec<LogEntry> = Vec::new();
        let mut fields = text.split('\0');
        while let Some(field) = fields.next() {
            let commit = field
                .strip_prefix('\u{1}')
                .and_then(|id| id.parse::<CommitSha>().ok());
            if let Some(commit) = commit {
                let mut next = || fields.next().unwrap_or_default().trim_end().to_owned();
                entries.push(LogEntry {
                    commit,
                    date: next(),
                    author: next(),
                    message: next(),
                    paths: Vec::new(),
                });
                continue;
            }
            // The first name stands on a line of its own.
            let path = field.strip_prefix('\n').unwrap_or(field);
            if !path.is_empty() {
                let last = entries.last_mut().ok_or_else(|| unexpected("git log"))?;
                last.paths.push(path.to_owned());
            }
        }
        Ok(entries)
    }
}
