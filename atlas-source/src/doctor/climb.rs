//! A harness's ladder, climbed in a throw-away checkout.

use super::ladder::{LadderStep, TreeReset, ladder};
use super::scan::Scan;
use super::touched_paths;
use crate::apply::{entries, refuse};
use crate::git::GITLINK;
use crate::git::{Call, Output};
use crate::repository::{GitRepo, path_text};
use crate::scratch::{Scratch, TreeSide, write};
use atlas_core::{
    CommitSha, Error, ErrorKind, FileContent, FileMode, GradingMode, Harness, Overlay, Patch,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the patch's file is called in the texts of a [`Try`].
pub(super) const PATCH_NAME: &str = "patch.diff";

/// One attempt and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Try {
    /// The command as it would be typed; the patch is called `patch.diff`.
    pub command: String,
    /// The exit code; absent if the command was not run here or a signal ended it.
    pub exit_code: Option<i32>,
    /// What it printed, or why it was not run.
    pub said: String,
    /// Whether this attempt decided that the patch applies.
    pub applied: bool,
}

/// All attempts at a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// In order; those behind the first that held were not made.
    pub tries: Vec<Try>,
    /// The files as the attempts left them, against the base commit; absent if none held. What
    /// failed attempts leave behind (`.rej` and `.orig` files, half-applied files) is there as well,
    /// because the harness tests with it.
    pub overlay: Option<Overlay>,
}

impl Tries {
    /// Whether the patch applies.
    pub fn applied(&self) -> bool {
        self.overlay.is_some()
    }
}

/// Applies a patch as a harness does, with its commands in its order, in a throw-away checkout of
/// the base commit. Only files that the patch might name are checked out.
///
/// What may differ from the harness's container: files that only the image has (installed packages,
/// build outputs), filled submodules, the versions of git and `patch`. `patch` is not run on text
/// that could make it write outside the checkout or run a program (an `ed` script, `.git` in a
/// path, symbolic links); such an attempt counts as failed and says so.
///
/// # Errors
/// [`ErrorKind::NotFound`] without that commit, [`ErrorKind::ToolFailed`] without git.
///
/// # Cancellation
/// Dropping the future stops git and removes the checkout.
pub async fn climb_as(
    repo: &GitRepo,
    base: &CommitSha,
    patch: &Patch,
    harness: Harness,
) -> Result<Tries, Error> {
    let checkout = Checkout::of(repo, base, &names(patch)).await?;
    let file = checkout.scratch.folder().join(PATCH_NAME);
    write(&file, patch.as_bytes()).await?;
    let barred = unsafe_here(patch.as_bytes(), &checkout.files);
    let mut outcome = Tries::default();
    for step in ladder(GradingMode::Compat(harness)) {
        checkout.reset(step.reset).await?;
        let attempt = match &barred {
            Some(why) if step.command[0] == "patch" => Try {
                command: step.text(PATCH_NAME),
                exit_code: None,
                said: format!("not run here: {why}"),
                applied: false,
            },
            _ => checkout.attempt(&step, &file).await?,
        };
        let applied = attempt.applied;
        outcome.tries.push(attempt);
        if applied {
            outcome.overlay = Some(checkout.changes().await?);
            break;
        }
    }
    Ok(outcome)
}

/// Everything that a program might take for a path: what stands on header lines, with and without
/// its first folder, wherever such lines are.
fn names(patch: &Patch) -> BTreeSet<Vec<u8>> {
    const HEADERS: [&str; 7] = [
        "--- ", "+++ ", "*** ", "Index:", "diff ", "rename ", "copy ",
    ];
    let mut names: BTreeSet<Vec<u8>> = touched_paths(&[patch])
        .into_iter()
        .map(String::into_bytes)
        .collect();
    let scan = Scan::of(patch.as_bytes());
    for line in &scan.lines {
        let text = line.lossy();
        let text = text.trim();
        let Some(header) = HEADERS.iter().find(|header| text.starts_with(*header)) else {
            continue;
        };
        let rest = &text[header.len()..];
        let whole = rest.split('\t').next().unwrap_or(rest).trim();
        for word in rest.split([' ', '\t', '"']).chain([whole]) {
            let inside = word.split_once('/').map_or("", |(_, inside)| inside);
            names.extend([word, inside].map(|name| name.as_bytes().to_vec()));
        }
    }
    names.remove(&b""[..]);
    names
}

/// Whether an entry of the tree matters to programs that meet these names: the file itself, what
/// is above or below it, and what tells git how to treat files. `above` are the folders of all names.
fn matters(path: &[u8], names: &BTreeSet<Vec<u8>>, above: &BTreeSet<Vec<u8>>) -> bool {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    names.contains(path)
        || above.contains(path)
        || matches!(last, b".gitignore" | b".gitattributes")
        || folders(path).any(|folder| names.contains(folder))
}

/// The folders that a path lies in.
fn folders(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memchr_iter(b'/', path).map(|at| &path[..at])
}

/// A work tree at a commit, as far as a patch can tell: the files that it might name are there, the
/// thousands that it cannot are not. Its git folder lies outside, so nothing that a patch writes into the
/// tree is ever read as configuration or run as a hook.
struct Checkout {
    scratch: Scratch,
    folder: PathBuf,
    tree: String,
    files: BTreeMap<Vec<u8>, TreeSide>,
}

impl Checkout {
    async fn of(
        repo: &GitRepo,
        base: &CommitSha,
        names: &BTreeSet<Vec<u8>>,
    ) -> Result<Self, Error> {
        let scratch = Scratch::over(repo).await?;
        let files = entries(&scratch, &scratch.tree_of(base).await?).await?;
        let folder = scratch.folder().join("checkout");
        tokio::fs::create_dir(&folder)
            .await
            .map_err(|why| Error::io("make", &folder, why))?;
        let above: BTreeSet<Vec<u8>> = names
            .iter()
            .flat_map(|name| folders(name).map(<[u8]>::to_vec))
            .collect();
        let present = files
            .iter()
            .filter(|(path, _)| matters(path, names, &above))
            .map(|(path, side)| (path.as_slice(), Some(side)));
        scratch.update_index(present).await?;
        let tree = scratch.write_tree().await?;
        let checkout = Self {
            scratch,
            folder,
            tree,
            files,
        };
        // `git reset --hard HEAD` must find a commit. Nobody sees it, so its author is nobody.
        let nobody = "nobody";
        let commit = checkout
            .git()
            .env("GIT_AUTHOR_NAME", nobody)
            .env("GIT_AUTHOR_EMAIL", nobody)
            .env("GIT_AUTHOR_DATE", "@0 +0000")
            .env("GIT_COMMITTER_NAME", nobody)
            .env("GIT_COMMITTER_EMAIL", nobody)
            .env("GIT_COMMITTER_DATE", "@0 +0000")
            .args(["commit-tree", "-m", "base", &checkout.tree])
            .checked()
            .await?
            .line();
        let head = ["update-ref", "--no-deref", "HEAD", &commit];
        checkout.git().args(head).checked().await?;
        let read = ["read-tree", "--reset", "-u", &commit];
        checkout.git().args(read).checked().await?;
        Ok(checkout)
    }

    fn git(&self) -> Call {
        self.scratch
            .git()
            .env("GIT_WORK_TREE", &self.folder)
            .folder(&self.folder)
    }

    fn call(&self, command: &[impl AsRef<str>]) -> Call {
        let mut words = command.iter().map(AsRef::as_ref);
        match words.next() {
            Some("patch") => Call::program("patch").folder(&self.folder).args(words),
            _ => self.git().args(words),
        }
    }

    async fn reset(&self, reset: TreeReset) -> Result<(), Error> {
        for command in reset.commands() {
            let output = self.call(command).output().await?;
            if !output.success && reset.stops_at_failure() {
                break;
            }
        }
        Ok(())
    }

    async fn attempt(&self, step: &LadderStep, file: &Path) -> Result<Try, Error> {
        let command = step.text(PATCH_NAME);
        match self.call(&step.command).arg(file).output().await {
            Ok(output) => Ok(Try {
                command,
                exit_code: output.code,
                said: said(&output, file),
                applied: output.success,
            }),
            // As in a container without it, where the shell would say 127.
            Err(error) if error.kind() == ErrorKind::ToolFailed && step.command[0] == "patch" => {
                Ok(Try {
                    command,
                    exit_code: None,
                    said: error.chain(),
                    applied: false,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// The files that differ from the base commit, ignored ones included: all come from the patch.
    async fn changes(&self) -> Result<Overlay, Error> {
        let index = self.scratch.folder().join("index-after");
        let git = || self.git().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", &self.tree]).checked().await?;
        let add = ["add", "--all", "--force", "--", "."];
        git().args(add).checked().await?;
        let after = git().arg("write-tree").checked().await?.line();
        let mut overlay = Overlay::default();
        for change in self.scratch.changes(&self.tree, &after).await? {
            let path = path_text(change.path)?;
            match change.new {
                Some(side) if side.mode == GITLINK => {}
                Some(side) => {
                    let content = self.read(&path, &side).await?;
                    overlay.write.insert(path, content);
                }
                None if change.old.is_some_and(|side| side.mode == GITLINK) => {}
                None => {
                    overlay.remove.insert(path);
                }
            }
        }
        Ok(overlay)
    }

    /// A file as it lies in the work tree, so with the line ends of a checkout.
    async fn read(&self, path: &str, side: &TreeSide) -> Result<FileContent, Error> {
        let file = self.folder.join(path);
        let failed = |why| Error::io("read", &file, why);
        if side.mode == 0o120_000 {
            let target = tokio::fs::read_link(&file).await.map_err(failed)?;
            return Ok(FileContent {
                mode: FileMode::Symlink,
                bytes: target.into_os_string().into_encoded_bytes(),
            });
        }
        let mode = if side.mode == 0o100_755 {
            FileMode::Executable
        } else {
            FileMode::Regular
        };
        let bytes = tokio::fs::read(&file).await.map_err(failed)?;
        Ok(FileContent { mode, bytes })
    }
}

/// What a program printed, with the place of the throw-away file left out.
fn said(output: &Output, file: &Path) -> String {
    let mut text = output.line();
    let errors = output.stderr_text();
    if !text.is_empty() && !errors.is_empty() {
        text.push('\n');
    }
    text.push_str(&errors);
    tidy(&text, file)
}

/// The words of a program for a [`Try`]: no path of this machine, and not without end, for a patch
/// decides how much they are.
pub(super) fn tidy(text: &str, file: &Path) -> String {
    const MOST: usize = 64 * 1024;
    let mut text = text.replace(&*file.to_string_lossy(), PATCH_NAME);
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

/// Why `patch` must not see these bytes on this machine. It knows formats that git does not, one of
/// them a script for `ed`, and it goes where header lines send it.
fn unsafe_here(patch: &[u8], files: &BTreeMap<Vec<u8>, TreeSide>) -> Option<String> {
    let scan = Scan::of(patch);
    let in_body = scan.bodies();
    for (at, line) in scan
        .lines
        .iter()
        .enumerate()
        .filter(|(at, _)| !in_body[*at])
    {
        let text = line.lossy();
        let text = text.trim();
        let number = at + 1;
        if is_ed_command(text) {
            return Some(format!("line {number} is a command for `ed`"));
        }
        if text.ends_with(" 120000") {
            return Some(format!("line {number} makes or changes a symbolic link"));
        }
        let names = [
            "--- ", "+++ ", "*** ", "Index:", "diff ", "rename ", "copy ", "Prereq:",
        ];
        if !names.iter().any(|start| text.starts_with(start)) {
            continue;
        }
        for word in text
            .split([' ', '\t', '"'])
            .filter(|word| *word != "/dev/null")
        {
            let inside = word.split_once('/').map_or("", |(_, inside)| inside);
            let mut paths = [word, inside].into_iter().filter(|path| !path.is_empty());
            if let Some(why) = paths.find_map(|path| refuse(path, files)) {
                return Some(format!("line {number}: {why}"));
            }
        }
    }
    None
}

/// Whether GNU patch would take the line for the start of an `ed` script.
fn is_ed_command(line: &str) -> bool {
    let Some(address) = line.strip_suffix(['a', 'c', 'd', 'i', 's']) else {
        return false;
    };
    address.starts_with(|first: char| first.is_ascii_digit())
        && address
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b',')
}
