//! How large changes are: two calls of git for many of them.

use crate::git::unexpected;
use crate::repository::GitRepo;
use crate::rules::PathRules;
use atlas_core::{ChangeShape, CommitSha, Error, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// One changed file.
#[derive(Debug, Default)]
struct File {
    path: String,
    added: u64,
    removed: u64,
    hunks: u64,
    /// Whether it is Rust of which test items change.
    has_test_items: bool,
    /// Sections that a patch has for it: two where a file becomes a link.
    sections: u64,
}

/// The shapes of the changes from base to head, by head. What the clone cannot show is absent.
///
/// Renames count as a removal and an addition, as in the split. A Rust file that holds tests besides other code counts as both
/// where the change adds a test attribute or lies in `mod tests`.
pub(crate) async fn shapes(
    repo: &GitRepo,
    rules: &PathRules,
    changes: &[(CommitSha, CommitSha)],
) -> Result<BTreeMap<CommitSha, ChangeShape>, Error> {
    if changes.is_empty() {
        return Ok(BTreeMap::new());
    }
    let here = present(repo, changes).await?;
    let known: Vec<_> = changes
        .iter()
        .filter(|(base, head)| here.contains(base) && here.contains(head))
        .collect();
    let mut shapes = BTreeMap::new();
    let mut waiting = vec![known.as_slice()];
    while let Some(some) = waiting.pop() {
        match of_some(repo, rules, some).await {
            Ok(found) => shapes.extend(found),
            // Git ends at the first object that it lacks: halves find the change that needs it.
            Err(why) if why.kind() == ErrorKind::ToolFailed => {
                let (one, other) = some.split_at(some.len() / 2);
                waiting.extend([one, other].into_iter().filter(|_| some.len() > 1));
            }
            Err(why) => return Err(why),
        }
    }
    Ok(shapes)
}

/// The shapes of changes whose commits are there, by two calls of git.
async fn of_some(
    repo: &GitRepo,
    rules: &PathRules,
    changes: &[&(CommitSha, CommitSha)],
) -> Result<BTreeMap<CommitSha, ChangeShape>, Error> {
    // With a commit and other parents behind it, git shows the difference from these.
    let lines = changes
        .iter()
        .map(|(base, head)| format!("{head} {base}\n"));
    let lines: String = lines.collect();
    let mut files = names(repo, &lines).await?;
    let patch_ids = patches(repo, &lines, &mut files).await?;
    let mut shapes = BTreeMap::new();
    for (_, head) in changes {
        let mut shape = ChangeShape {
            patch_id: patch_ids.get(head.as_str()).cloned(),
            ..ChangeShape::default()
        };
        for file in files.remove(head.as_str()).unwrap_or_default() {
            let is_test = rules.decide(&file.path).test;
            if is_test || file.has_test_items {
                shape.test_files += 1;
                shape.test_added += file.added;
            }
            if !is_test {
                shape.files += 1;
                shape.hunks += file.hunks;
                shape.added += file.added;
                shape.removed += file.removed;
            }
            shape.paths.push(file.path);
        }
        shape.paths.sort();
        shapes.insert(head.clone(), shape);
    }
    Ok(shapes)
}

/// Those of the commits that the clone has.
async fn present(
    repo: &GitRepo,
    changes: &[(CommitSha, CommitSha)],
) -> Result<BTreeSet<CommitSha>, Error> {
    let asked: String = changes
        .iter()
        .flat_map(|(base, head)| [format!("{base}\n"), format!("{head}\n")])
        .collect();
    let output = repo
        .git()
        .env("GIT_NO_LAZY_FETCH", "1")
        .args(["cat-file", "--batch-check=%(objectname) %(objecttype)"])
        .stdin(asked)
        .checked()
        .await?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text
        .lines()
        .filter_map(|line| line.strip_suffix(" commit")?.parse().ok())
        .collect())
}

/// Paths and counts of lines.
async fn names(repo: &GitRepo, lines: &str) -> Result<BTreeMap<String, Vec<File>>, Error> {
    let output = repo
        .git()
        .env("GIT_NO_LAZY_FETCH", "1")
        .args([
            "diff-tree",
            "--stdin",
            "-r",
            "-z",
            "--raw",
            "--numstat",
            "--no-renames",
        ])
        .args(["--no-ext-diff", "--no-textconv"])
        .stdin(lines)
        .checked()
        .await?;
    let mut changes: BTreeMap<String, Vec<File>> = BTreeMap::new();
    let mut current = String::new();
    let mut fields = output.stdout.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        let text = String::from_utf8_lossy(field);
        // The commit's id stands before its first entry.
        let text = text.trim_start_matches('\n');
        if let Some(entry) = text.strip_prefix(':') {
            let path = fields.next().ok_or_else(|| unexpected("git diff-tree"))?;
            let kind = entry.rsplit(' ').next().unwrap_or_default();
            let sections = if kind.starts_with('T') { 2 } else { 1 };
            changes.entry(current.clone()).or_default().push(File {
                path: String::from_utf8_lossy(path).into_owned(),
                sections,
                ..File::default()
            });
        } else if let Some((added, rest)) = text.split_once('\t') {
            let (removed, path) = rest
                .split_once('\t')
                .ok_or_else(|| unexpected("git diff-tree"))?;
            let files = changes.entry(current.clone()).or_default();
            let file = files.binary_search_by(|file| file.path.as_str().cmp(path));
            let at = file
                .ok()
                .or_else(|| files.iter().position(|file| file.path == path));
            if let Some(file) = at.and_then(|at| files.get_mut(at)) {
                // Of binary files git prints `-`.
                file.added = added.parse().unwrap_or_default();
                file.removed = removed.parse().unwrap_or_default();
            }
        } else if !text.is_empty() {
            text.clone_into(&mut current);
        }
    }
    Ok(changes)
}

/// Reads the patches as git writes them, counts their hunks, and hands them on to `git patch-id`: gives its ids by commit.
async fn patches(
    repo: &GitRepo,
    lines: &str,
    files: &mut BTreeMap<String, Vec<File>>,
) -> Result<BTreeMap<String, String>, Error> {
    let fail = |why| Error::new(ErrorKind::Io, "read", "`git diff-tree`").with_source(why);
    let call = repo
        .git()
        .env("GIT_NO_LAZY_FETCH", "1")
        .args([
            "diff-tree",
            "--stdin",
            "-r",
            "-p",
            "--full-index",
            "--no-renames",
        ])
        .args(["--no-ext-diff", "--no-textconv", "--no-color"]);
    let mut command = call.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut differ = command.spawn().map_err(|why| call.cannot_start(why))?;
    let call = repo.git().args(["patch-id", "--stable"]);
    let mut command = call.command();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut identifier = command.spawn().map_err(|why| call.cannot_start(why))?;
    let pipe = || unexpected("a pipe of git");
    let mut asked = differ.stdin.take().ok_or_else(pipe)?;
    let mut patch = BufReader::new(differ.stdout.take().ok_or_else(pipe)?);
    let mut into = identifier.stdin.take().ok_or_else(pipe)?;
    let mut ids = identifier.stdout.take().ok_or_else(pipe)?;

    let feed = async {
        // A git that ends early closes the pipe; what it wrote tells the story.
        let _ = asked.write_all(lines.as_bytes()).await;
        drop(asked);
        Ok::<(), Error>(())
    };
    let read = async {
        let mut reader = PatchReader::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            if patch.read_until(b'\n', &mut line).await.map_err(fail)? == 0 {
                break;
            }
            reader.line(&line, files);
            let _ = into.write_all(&line).await;
        }
        drop(into);
        Ok(())
    };
    let collect = async {
        let mut text = String::new();
        ids.read_to_string(&mut text).await.map_err(fail)?;
        Ok(text)
    };
    let ((), (), text) = tokio::try_join!(feed, read, collect)?;
    let (differ, identifier) = tokio::try_join!(differ.wait(), identifier.wait()).map_err(fail)?;
    if !differ.success() || !identifier.success() {
        let why = "git diff-tree or git patch-id failed; the clone may lack objects";
        return Err(Error::new(ErrorKind::ToolFailed, "compare commits:", why));
    }
    let ids = text.lines().filter_map(|line| line.split_once(' '));
    Ok(ids
        .map(|(id, commit)| (commit.to_owned(), id.to_owned()))
        .collect())
}

/// Where in the patches a line is.
#[derive(Debug, Default)]
struct PatchReader {
    commit: String,
    /// The section's place among the files of its commit, from 1; 0 before the first.
    file: usize,
    sections: u64,
}

impl PatchReader {
    fn line(&mut self, line: &[u8], changes: &mut BTreeMap<String, Vec<File>>) {
        if line.starts_with(b"diff --git ") {
            let files = changes.get(&self.commit);
            let wanted = files.and_then(|files| files.get(self.file.checked_sub(1)?));
            if wanted.is_some_and(|file| self.sections < file.sections) {
                self.sections += 1;
            } else {
                (self.file, self.sections) = (self.file + 1, 1);
            }
            return;
        }
        let is_hunk = line.starts_with(b"@@ ");
        if !is_hunk && !line.starts_with(b"+") {
            if line.first().is_some_and(u8::is_ascii_hexdigit) {
                let id = String::from_utf8_lossy(line);
                // Of a patch's lines none but `deleted file mode` begins with such a letter.
                if id.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    *self = Self::default();
                    id.trim_end().clone_into(&mut self.commit);
                }
            }
            return;
        }
        let files = changes.get_mut(&self.commit);
        let file = self.file.checked_sub(1).and_then(|at| files?.get_mut(at));
        let Some(file) = file else { return };
        file.hunks += u64::from(is_hunk);
        let is_rust = file.path.as_bytes().ends_with(b".rs");
        file.has_test_items |= is_rust && names_tests(line, is_hunk);
    }
}

/// Whether a line of a patch shows a test of Rust: an attribute that it adds, or a hunk within `mod tests`.
fn names_tests(line: &[u8], is_hunk: bool) -> bool {
    let text = String::from_utf8_lossy(line);
    if is_hunk {
        let context = text.splitn(3, "@@").nth(2).unwrap_or_default();
        let context = context
            .trim()
            .trim_start_matches("pub ")
            .trim_start_matches("pub(crate) ");
        return context.starts_with("mod test");
    }
    let code = text[1..].trim_start();
    code.starts_with("#[test]") || code.starts_with("#[cfg(test)]") || {
        let name = code
            .strip_prefix("#[")
            .and_then(|rest| rest.split(['(', ']']).next());
        name.is_some_and(|name| name.ends_with("::test"))
    }
}
