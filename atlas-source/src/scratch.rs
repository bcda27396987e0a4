//! A throw-away object store over a repository.
//!
//! Trees, indexes and blobs are made here and read through to the repository, which is never
//! written to. Its configuration, hooks, filters and attributes are not seen either, so the same
//! commits give the same bytes wherever the clone is.

use crate::git::{Call, unexpected};
use crate::repository::GitRepo;
use atlas_core::{CommitSha, Error, ErrorKind, Patch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// One entry of a comparison of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawChange {
    pub(crate) old: Option<TreeSide>,
    pub(crate) new: Option<TreeSide>,
    pub(crate) path: Vec<u8>,
}

/// A file in one of two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeSide {
    pub(crate) mode: u32,
    pub(crate) oid: String,
}

impl TreeSide {
    pub(crate) fn is_text_candidate(&self) -> bool {
        matches!(self.mode, 0o100_644 | 0o100_755)
    }
}

/// The throw-away store.
#[derive(Debug)]
pub(crate) struct Scratch {
    dir: TempDir,
    git_dir: PathBuf,
    /// The id of nothing, as long as the repository's ids.
    zero: String,
}

impl Scratch {
    /// A store that reads through to the repository.
    pub(crate) async fn over(repo: &GitRepo) -> Result<Self, Error> {
        let mut alternate = repo.objects().as_os_str().as_encoded_bytes().to_vec();
        alternate.push(b'\n');
        Self::make(repo.temp_dir(), repo.object_format(), &alternate).await
    }

    /// A store of its own, for files that are in no repository.
    pub(crate) async fn alone(temp: &Path) -> Result<Self, Error> {
        Self::make(temp, "sha1", b"").await
    }

    async fn make(temp: &Path, format: &str, alternates: &[u8]) -> Result<Self, Error> {
        let dir = tempfile::Builder::new()
            .prefix("atlas-source-")
            .tempdir_in(temp)
            .map_err(|why| Error::io("make a folder in", temp, why))?;
        let git_dir = dir.path().join("git");
        let config = if format == "sha1" {
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n".to_owned()
        } else {
            format!(
                "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = {format}\n"
            )
        };
        for folder in ["objects/info", "refs"] {
            let folder = git_dir.join(folder);
            tokio::fs::create_dir_all(&folder)
                .await
                .map_err(|why| Error::io("make", &folder, why))?;
        }
        for (name, content) in [
            ("objects/info/alternates", alternates),
            ("HEAD", b"ref: refs/heads/none\n"),
            ("config", config.as_bytes()),
        ] {
            write(&git_dir.join(name), content).await?;
        }
        let zero = "0".repeat(if format == "sha1" { 40 } else { 64 });
        Ok(Self { dir, git_dir, zero })
    }

    /// A folder for files of one operation.
    pub(crate) fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Where new objects go.
    pub(crate) fn objects(&self) -> PathBuf {
        self.git_dir.join("objects")
    }

    /// git on this store with the index of that name.
    pub(crate) fn git(&self) -> Call {
        Call::git()
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_INDEX_FILE", self.index())
    }

    fn index(&self) -> PathBuf {
        self.dir.path().join("index")
    }

    /// The tree without entries, which any repository may lack.
    pub(crate) async fn empty_tree(&self) -> Result<String, Error> {
        let output = self
            .git()
            .args(["hash-object", "-t", "tree", "-w", "/dev/null"])
            .checked()
            .await?;
        Ok(output.line())
    }

    /// The tree of a commit.
    pub(crate) async fn tree_of(&self, commit: &CommitSha) -> Result<String, Error> {
        let output = self
            .git()
            .args(["rev-parse", "--verify", "--quiet"])
            .arg(format!("{commit}^{{tree}}"))
            .output()
            .await?;
        if output.success {
            Ok(output.line())
        } else {
            Err(Error::new(
                ErrorKind::NotFound,
                "read the tree of",
                format!("commit {commit}: it is not in the repository; fetch it first"),
            ))
        }
    }

    /// Starts the index afresh from a tree.
    pub(crate) async fn read_tree(&self, tree: &str) -> Result<(), Error> {
        let _ = tokio::fs::remove_file(self.index()).await;
        self.git().args(["read-tree", tree]).checked().await?;
        Ok(())
    }

    /// The paths that an index of another repository holds.
    pub(crate) async fn paths_of_index(&self, index: &[u8]) -> Result<Vec<String>, Error> {
        write(&self.index(), index).await?;
        let output = self.git().args(["ls-files", "-z"]).checked().await?;
        let paths = output.stdout.split(|byte| *byte == 0);
        Ok(paths
            .filter(|path| !path.is_empty())
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect())
    }

    /// The tree that the index describes.
    pub(crate) async fn write_tree(&self) -> Result<String, Error> {
        Ok(self.git().arg("write-tree").checked().await?.line())
    }

    /// Changes entries of the index; no side removes the path. Removals come first, so that a file
    /// may take the place of a folder.
    pub(crate) async fn update_index<'a>(
        &self,
        entries: impl IntoIterator<Item = (&'a [u8], Option<&'a TreeSide>)>,
    ) -> Result<(), Error> {
        let (mut gone, mut set) = (Vec::new(), Vec::new());
        for (path, side) in entries {
            let list = if side.is_some() { &mut set } else { &mut gone };
            let head = side.map_or_else(
                || format!("0 {}\t", self.zero),
                |side| format!("{:06o} {}\t", side.mode, side.oid),
            );
            list.extend_from_slice(head.as_bytes());
            list.extend_from_slice(path);
            list.push(0);
        }
        gone.extend(set);
        self.git()
            .args(["update-index", "--add", "-z", "--index-info"])
            .stdin(gone)
            .checked()
            .await?;
        Ok(())
    }

    /// Stores a file's content.
    pub(crate) async fn store(&self, content: &[u8]) -> Result<String, Error> {
        let output = self
            .git()
            .args(["hash-object", "-w", "--no-filters", "--stdin"])
            .stdin(content)
            .checked()
            .await?;
        Ok(output.line())
    }

    /// The contents of objects, in the order asked for.
    pub(crate) async fn contents<'a>(
        &self,
        ids: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut input = String::new();
        let mut count = 0;
        for id in ids {
            input.push_str(id);
            input.push('\n');
            count += 1;
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let output = self
            .git()
            .args(["cat-file", "--batch"])
            .stdin(input)
            .checked()
            .await?;
        let mut rest = output.stdout.as_slice();
        let mut contents = Vec::with_capacity(count);
        while contents.len() < count {
            let (content, after) = batch_entry(rest)?;
            contents.push(content.to_vec());
            rest = after;
        }
        Ok(contents)
    }

    /// What differs between two trees, in path order, renames as removal and addition.
    pub(crate) async fn changes(&self, old: &str, new: &str) -> Result<Vec<RawChange>, Error> {
        let output = self
            .git()
            .args(["diff-tree", "-r", "-z", "--raw", "--no-renames"])
            .args(["--full-index", "--no-abbrev", "--ignore-submodules=none"])
            .args([old, new, "--"])
            .checked()
            .await?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let (Some(meta), Some(path)) = (fields.next(), fields.next()) {
            let meta = String::from_utf8_lossy(meta);
            let mut meta = meta.trim_start_matches(':').split(' ');
            let (Some(old_mode), Some(new_mode), Some(old), Some(new)) =
                (meta.next(), meta.next(), meta.next(), meta.next())
            else {
                return Err(unexpected("git diff-tree"));
            };
            let side = |mode: &str, oid: &str| {
                let mode = u32::from_str_radix(mode, 8)
                    .ok()
                    .filter(|mode| *mode != 0)?;
                let oid = oid.to_owned();
                Some(TreeSide { mode, oid })
            };
            changes.push(RawChange {
                old: side(old_mode, old),
                new: side(new_mode, new),
                path: path.to_vec(),
            });
        }
        Ok(changes)
    }

    /// Files that moved between two trees, perhaps changed: old path to new path.
    pub(crate) async fn renames(
        &self,
        old: &str,
        new: &str,
    ) -> Result<BTreeMap<String, String>, Error> {
        let output = self
            .git()
            .args([
                "diff-tree",
                "-r",
                "-z",
                "-M",
                "--name-status",
                "--diff-filter=R",
            ])
            .args([old, new, "--"])
            .checked()
            .await?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        let mut renames = BTreeMap::new();
        while let (Some(_), Some(from), Some(to)) = (fields.next(), fields.next(), fields.next()) {
            renames.insert(
                String::from_utf8_lossy(from).into_owned(),
                String::from_utf8_lossy(to).into_owned(),
            );
        }
        Ok(renames)
    }

    /// The patch between two trees as git prints it; always UTF-8, because a file whose lines are
    /// not comes out as a binary patch.
    pub(crate) async fn diff(&self, old: &str, new: &str) -> Result<Patch, Error> {
        let first = self.diff_with(old, new, None).await?;
        if first.as_text().is_ok() {
            return Ok(first);
        }
        let mut attributes = String::new();
        let files = first.files().map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "read", "the diff git printed").with_source(why)
        })?;
        for file in files
            .iter()
            .filter(|file| std::str::from_utf8(&file.raw).is_err())
        {
            for path in file.paths() {
                attributes.push_str(&attribute_pattern(path));
                attributes.push_str(" -diff\n");
            }
        }
        // Another diff of the same scratch may be under way.
        let list = self.dir.path().join(format!("attributes-{old}-{new}"));
        write(&list, attributes.as_bytes()).await?;
        let second = self.diff_with(old, new, Some(&list)).await?;
        match second.as_text() {
            Ok(_) => Ok(second),
            Err(why) => Err(Error::new(
                ErrorKind::Internal,
                "write as a UTF-8 patch",
                format!("the change from tree {old} to {new}"),
            )
            .with_source(why)),
        }
    }

    async fn diff_with(
        &self,
        old: &str,
        new: &str,
        attributes: Option<&Path>,
    ) -> Result<Patch, Error> {
        let mut call = self.git();
        if let Some(attributes) = attributes {
            call = call.setting("core.attributesFile", attributes);
        }
        let output = call
            .args(["diff-tree", "-r", "-p", "--full-index", "--binary", "-M"])
            .args(["--no-ext-diff", "--no-textconv", "--no-color"])
            .args(["--src-prefix=a/", "--dst-prefix=b/", "--unified=3"])
            .args(["--submodule=short", "--ignore-submodules=none"])
            .args([old, new, "--"])
            .checked()
            .await?;
        Ok(Patch::new(output.stdout))
    }
}

/// Reads `<oid> <type> <size>\n<content>\n`.
fn batch_entry(bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let wrong = || unexpected("git cat-file");
    let end = memchr::memchr(b'\n', bytes).ok_or_else(wrong)?;
    let head = String::from_utf8_lossy(&bytes[..end]);
    if head.ends_with(" missing") {
        return Err(Error::new(
            ErrorKind::NotFound,
            "read",
            format!(
                "object {}: not in the repository; a partial clone must fetch it first",
                head.trim_end_matches(" missing")
            ),
        ));
    }
    let size: usize = head
        .rsplit(' ')
        .next()
        .and_then(|size| size.parse().ok())
        .ok_or_else(wrong)?;
    let rest = &bytes[end + 1..];
    let content = rest.get(..size).ok_or_else(wrong)?;
    Ok((content, rest.get(size + 1..).ok_or_else(wrong)?))
}

pub(crate) async fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    tokio::fs::write(path, content)
        .await
        .map_err(|why| Error::io("write", path, why))
}

/// A pattern of an attributes file that fits exactly this path.
fn attribute_pattern(path: &str) -> String {
    let mut pattern = String::from("\"/");
    for byte in path.bytes() {
        match byte {
            // Escaped once for the pattern and once for the quotes.
            b'*' | b'?' | b'[' => {
                pattern.push_str("\\\\");
                pattern.push(char::from(byte));
            }
            b'\\' => pattern.push_str("\\\\\\\\"),
            b'"' => pattern.push_str("\\\""),
            0x20..=0x7e => pattern.push(char::from(byte)),
            other => {
                pattern.push('\\');
                for shift in [6, 3, 0] {
                    pattern.push(char::from(b'0' + ((other >> shift) & 7)));
                }
            }
        }
    }
    pattern.push('"');
    pattern
}
