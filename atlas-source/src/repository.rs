//! A repository on this machine, read through the git command.

use crate::git::{Call, GITLINK, Output, sha, unexpected};
use atlas_core::{CommitSha, Error, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a tree's entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// A symbolic link.
    Symlink,
    /// Another repository at a fixed commit.
    Submodule,
}

/// One file of a commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeEntry {
    /// Path from the repository's root; bytes that are no UTF-8 are replaced.
    pub path: String,
    /// The git mode: `0o100644`, `0o100755`, `0o120000`, `0o160000`.
    pub mode: u32,
    /// What it is.
    pub kind: EntryKind,
}

/// A repository that is only read: no command here writes to it.
///
/// It may be a work tree, a `.git` folder or a bare repository. The user's git configuration,
/// hooks and filters have no effect. Dropping a future of any method stops the git process.
#[derive(Clone, Debug)]
pub struct GitRepo {
    git_dir: PathBuf,
    objects: PathBuf,
    common_dir: PathBuf,
    format: String,
    temp: PathBuf,
}

impl GitRepo {
    /// Opens the repository at exactly this path; folders above it are not searched.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none, [`ErrorKind::ToolFailed`] without git.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let full = tokio::fs::canonicalize(path)
            .await
            .map_err(|why| Error::io("open repository", path, why))?;
        let mut call = Call::git().arg("-C").arg(&full).args([
            "rev-parse",
            "--path-format=absolute",
            "--show-object-format",
            "--git-dir",
            "--git-common-dir",
        ]);
        if let Some(parent) = full.parent() {
            call = call.env("GIT_CEILING_DIRECTORIES", parent);
        }
        let output = call.output().await?;
        let text = output.line();
        let mut lines = text.lines();
        let (true, Some(format), Some(git_dir), Some(common)) =
            (output.success, lines.next(), lines.next(), lines.next())
        else {
            return Err(Error::new(
                ErrorKind::NotFound,
                "open repository",
                format!(
                    "`{}`: no git repository there; give the root of a clone, its `.git` folder or a bare repository",
                    path.display()
                ),
            )
            .with_source(output.stderr_text()));
        };
        let common_dir = PathBuf::from(common);
        Ok(Self {
            git_dir: PathBuf::from(git_dir),
            objects: common_dir.join("objects"),
            common_dir,
            format: format.to_owned(),
            temp: std::env::temp_dir(),
        })
    }

    /// The repository's git folder.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Clones a URL (see [`is_url`]) into a new bare repository with all branches, tags and, where
    /// the host offers them, the heads of pull requests.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for text that is no URL, [`ErrorKind::ToolFailed`] if the clone
    /// fails.
    ///
    /// # Cancellation
    /// Dropping the future stops git; a partly made `into` may stay.
    pub async fn clone_url(url: &str, into: impl AsRef<Path>) -> Result<Self, Error> {
        let into = into.as_ref();
        if !is_url(url) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "clone",
                format!("`{url}`: a URL or `host:path` expected"),
            ));
        }
        Call::git()
            .args(["clone", "--quiet", "--bare", "--template="])
            .args([
                "--config",
                "remote.origin.fetch=+refs/pull/*/head:refs/pull/*/head",
            ])
            .args(["--", url])
            .arg(into)
            .checked()
            .await?;
        Self::open(into).await
    }

    /// Brings what is new at the address that [`clone_url`](Self::clone_url) cloned from.
    ///
    /// # Errors
    /// [`ErrorKind::ToolFailed`] if the address does not answer.
    ///
    /// # Cancellation
    /// Dropping the future stops git; what has arrived stays.
    pub async fn fetch(&self) -> Result<(), Error> {
        self.git()
            .args(["fetch", "--quiet", "--tags", "--force", "origin"])
            .args([
                "+refs/heads/*:refs/heads/*",
                "+refs/pull/*/head:refs/pull/*/head",
            ])
            .checked()
            .await
            .map(drop)
    }

    /// The same repository with another place for throw-away files; the system's by default.
    #[must_use]
    pub fn with_temp_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.temp = folder.into();
        self
    }

    pub(crate) fn temp_dir(&self) -> &Path {
        &self.temp
    }

    pub(crate) fn objects(&self) -> &Path {
        &self.objects
    }

    pub(crate) fn object_format(&self) -> &str {
        &self.format
    }

    /// The folder that all work trees of this repository share.
    pub(crate) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    pub(crate) fn git(&self) -> Call {
        Call::git().env("GIT_DIR", &self.git_dir)
    }

    /// The commit that a branch, tag, abbreviated id or expression such as `main~2` means.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if nothing has that name or it is no commit.
    pub async fn resolve(&self, rev: &str) -> Result<CommitSha, Error> {
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet", "--end-of-options"])
            .arg(format!("{rev}^{{commit}}"))
            .output()
            .await?;
        if output.success {
            sha(&output)
        } else {
            Err(self.no_commit(rev))
        }
    }

    fn no_commit(&self, rev: &str) -> Error {
        Error::new(
            ErrorKind::NotFound,
            "find commit",
            format!(
                "`{rev}` in `{}`: no such commit; fetch it, or check the spelling",
                self.git_dir.display()
            ),
        )
    }

    async fn of_commit(&self, commit: &CommitSha, format: &str) -> Result<Output, Error> {
        let output = self
            .git()
            .args(["rev-list", "--no-commit-header", "--no-walk"])
            .arg(format!("--format={format}"))
            .args([commit.as_str(), "--"])
            .output()
            .await?;
        if output.success {
            Ok(output)
        } else {
            Err(self.no_commit(commit.as_str()))
        }
    }

    /// When the commit was made (the committer's date), strict ISO 8601.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without that commit.
    pub async fn commit_date(&self, commit: &CommitSha) -> Result<String, Error> {
        Ok(self.of_commit(commit, "%cI").await?.line())
    }

    /// The commit's parents, first parent first; of a root, none.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without that commit.
    pub async fn parents(&self, commit: &CommitSha) -> Result<Vec<CommitSha>, Error> {
        let output = self.of_commit(commit, "%P").await?;
        shas(&output.line())
    }

    /// The best common ancestor; `None` for unrelated histories.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if one of the commits is not there.
    pub async fn merge_base(
        &self,
        one: &CommitSha,
        other: &CommitSha,
    ) -> Result<Option<CommitSha>, Error> {
        let output = self
            .git()
            .args(["merge-base", one.as_str(), other.as_str()])
            .output()
            .await?;
        if output.success {
            return sha(&output).map(Some);
        }
        for commit in [one, other] {
            self.resolve(commit.as_str()).await?;
        }
        Ok(None)
    }

    /// The messages of the commits after `base` up to `head`, oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if one of the commits is not there.
    pub async fn commit_messages(
        &self,
        base: &CommitSha,
        head: &CommitSha,
    ) -> Result<Vec<String>, Error> {
        let output = self
            .git()
            .args([
                "rev-list",
                "--no-commit-header",
                "--reverse",
                "--topo-order",
            ])
            .args(["--encoding=UTF-8", "--format=%B%x00"])
            .args([head.as_str(), &format!("^{base}"), "--"])
            .output()
            .await?;
        if !output.success {
            for commit in [base, head] {
                self.resolve(commit.as_str()).await?;
            }
            return Err(unexpected("git rev-list").with_source(output.stderr_text()));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text
            .split('\0')
            .map(str::trim)
            .filter(|message| !message.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// `owner/name` from the URL of the remote `origin`, if it has that shape.
    pub async fn remote_name(&self) -> Option<String> {
        let (_, path) = self.remote_address().await?;
        let (owners, name) = path.rsplit_once('/')?;
        let owner = owners.rsplit('/').next()?;
        Some(format!("{owner}/{name}"))
    }

    /// Host and path, `group/sub/name`, from the URL of the remote `origin`, if it has that shape.
    pub(crate) async fn remote_address(&self) -> Option<(String, String)> {
        let output = self
            .git()
            .args(["config", "--get", "remote.origin.url"])
            .output()
            .await
            .ok()?;
        let url = output.success.then(|| output.line())?;
        if !is_url(&url) || url.starts_with("file:") {
            return None;
        }
        let (host, path) = match url.split_once("://") {
            Some((_, rest)) => rest.split_once('/')?,
            None => url.split_once(':')?,
        };
        let host = host.rsplit('@').next().unwrap_or(host);
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        path.contains('/')
            .then(|| (host.to_owned(), path.to_owned()))
    }

    /// The heads of pull requests that the host keeps as refs, where they were fetched.
    pub(crate) async fn pull_request_heads(&self) -> Result<BTreeMap<u64, CommitSha>, Error> {
        let output = self
            .git()
            .args(["for-each-ref", "--format=%(objectname) %(refname)"])
            .args([
                "refs/pull/*/head",
                "refs/remotes/*/pr/*",
                "refs/remotes/*/pull/*/head",
            ])
            .checked()
            .await?;
        let text = output.line();
        Ok(text
            .lines()
            .filter_map(|line| {
                let (id, name) = line.split_once(' ')?;
                let name = name.strip_suffix("/head").unwrap_or(name);
                Some((name.rsplit('/').next()?.parse().ok()?, id.parse().ok()?))
            })
            .collect())
    }

    /// A file's content at a commit; of a symbolic link, its target. `None` if there is no such
    /// file.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without that commit.
    pub async fn read_file(
        &self,
        commit: &CommitSha,
        path: &str,
    ) -> Result<Option<Vec<u8>>, Error> {
        let output = self
            .git()
            .args(["cat-file", "blob"])
            .arg(format!("{commit}:{path}"))
            .output()
            .await?;
        if output.success {
            return Ok(Some(output.stdout));
        }
        self.resolve(commit.as_str()).await?;
        Ok(None)
    }

    /// Every file of a commit, in path order.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without that commit.
    pub async fn list_files(&self, commit: &CommitSha) -> Result<Vec<TreeEntry>, Error> {
        let output = self
            .git()
            .args(["ls-tree", "-r", "-z", "--full-tree", commit.as_str()])
            .output()
            .await?;
        if !output.success {
            return Err(self.no_commit(commit.as_str()));
        }
        let mut entries = Vec::new();
        for line in output.stdout.split(|byte| *byte == 0) {
            let Some(tab) = memchr::memchr(b'\t', line) else {
                continue;
            };
            let mode = String::from_utf8_lossy(&line[..line.len().min(6)]);
            let mode = u32::from_str_radix(&mode, 8).map_err(|_| unexpected("git ls-tree"))?;
            entries.push(TreeEntry {
                path: String::from_utf8_lossy(&line[tab + 1..]).into_owned(),
                mode,
                kind: match mode {
                    0o120_000 => EntryKind::Symlink,
                    GITLINK => EntryKind::Submodule,
                    _ => EntryKind::File,
                },
            });
        }
        Ok(entries)
    }

    /// Which of these words stand in a commit's text files, each by itself: not as a part of a longer word.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] without that commit.
    pub async fn words_among(
        &self,
        commit: &CommitSha,
        words: &[String],
    ) -> Result<BTreeSet<String>, Error> {
        self.resolve(commit.as_str()).await?;
        if words.is_empty() {
            return Ok(BTreeSet::new());
        }
        let words = words.iter().flat_map(|word| ["-e", word.as_str()]);
        let output = self
            .git()
            .args(["grep", "-h", "-o", "-w", "-I", "-F"])
            .args(words)
            .arg(commit.as_str())
            .output()
            .await?;
        // Nothing found is no success.
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(found.lines().map(str::to_owned).collect())
    }
}

/// Whether the text names a remote repository: `https://…`, `ssh://…`, `git://…`, `file://…` or
/// `user@host:path`. Transports that run programs are not URLs.
///
/// ```
/// assert!(atlas_source::is_url("https://example.org/a/b.git"));
/// assert!(atlas_source::is_url("git@example.org:a/b.git"));
/// assert!(!atlas_source::is_url("ext::sh -c id"));
/// assert!(!atlas_source::is_url("./a/b"));
/// ```
pub fn is_url(text: &str) -> bool {
    if let Some((scheme, rest)) = text.split_once("://") {
        let known = ["https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"];
        return known.contains(&scheme) && !rest.is_empty() && !rest.starts_with('-');
    }
    let Some((host, path)) = text.split_once(':') else {
        return false;
    };
    !host.is_empty()
        && !host.starts_with('-')
        && !host.contains('/')
        && !path.is_empty()
        && !path.starts_with(':')
        && !path.starts_with('\\')
        && !text.contains(char::is_whitespace)
}

pub(crate) fn shas(text: &str) -> Result<Vec<CommitSha>, Error> {
    text.split_ascii_whitespace()
        .map(|id| id.parse().map_err(|why| unexpected("git").with_source(why)))
        .collect()
}

pub(crate) fn path_text(path: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(path).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "read file name",
            format!(
                "`{}`: not UTF-8, which a dataset row cannot hold",
                String::from_utf8_lossy(why.as_bytes())
            ),
        )
    })
}
