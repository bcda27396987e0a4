//! Reading a patch: which files it touches and what each hunk does.
//!
//! A hunk's extent comes from the counts in its header, never from what its lines look like: a
//! patch of a patch holds lines such as `diff --git` and `--- a/x` inside hunks. Paths lose their
//! first component (`a/`, `b/`), as `git apply -p1` does.

use super::names::{self, HeaderNames};
use std::fmt;

/// What a section does to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PatchKind {
    /// Changes the content, perhaps the mode too.
    Modify,
    /// Makes a new file.
    Create,
    /// Removes the file.
    Delete,
    /// Moves the file, perhaps changing it.
    Rename,
    /// Makes a new file out of another one.
    Copy,
    /// Changes nothing but the mode.
    ModeChange,
}

/// What a line of a hunk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HunkLineKind {
    /// Stands in both versions.
    Context,
    /// Stands only in the new version.
    Insert,
    /// Stands only in the old version.
    Delete,
}

/// One line of a hunk.
#[derive(Clone, PartialEq, Eq)]
pub struct HunkLine {
    /// What the line does.
    pub kind: HunkLineKind,
    /// The line without its first column, with its line end where the file has one.
    pub bytes: Vec<u8>,
    /// Whether the file ends here without a line end.
    pub no_newline: bool,
}

impl fmt::Debug for HunkLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(&self.bytes);
        write!(f, "{:?}({text:?}, {})", self.kind, self.no_newline)
    }
}

/// One `@@` block.
#[derive(Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line in the old version, from 1; 0 where the old version is empty there.
    pub old_start: u64,
    /// Lines of the old version.
    pub old_lines: u64,
    /// First line in the new version, from 1; 0 where the new version is empty there.
    pub new_start: u64,
    /// Lines of the new version.
    pub new_lines: u64,
    /// What stands behind the second `@@`, without the line end: often the enclosing function.
    pub section: Vec<u8>,
    /// The lines.
    pub lines: Vec<HunkLine>,
    /// The hunk's bytes, header included.
    pub raw: Vec<u8>,
}

impl fmt::Debug for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Hunk(-{},{} +{},{})",
            self.old_start, self.old_lines, self.new_start, self.new_lines
        )
    }
}

/// The part of a patch that belongs to one file.
#[derive(Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Bytes before the first section that belong to no file, such as a mail header. Empty in all
    /// sections but the first.
    pub preamble: Vec<u8>,
    /// The section's bytes. `preamble` and `raw` of all sections, one after another, are the patch.
    /// Text that follows the last hunk, such as a mail signature, stays with the section before it.
    pub raw: Vec<u8>,
    /// The path before; absent for a new file.
    pub old_path: Option<String>,
    /// The path after; absent for a removed file.
    pub new_path: Option<String>,
    /// What happens to the file.
    pub kind: PatchKind,
    /// Whether the content is binary, given (`GIT binary patch`) or not (`Binary files differ`).
    pub binary: bool,
    /// The mode before, where the patch says so: `0o100644`, `0o120000`, …
    pub old_mode: Option<u32>,
    /// The mode after, where the patch says so.
    pub new_mode: Option<u32>,
    /// The hunks of a text file.
    pub hunks: Vec<Hunk>,
}

impl FilePatch {
    /// The path after, or before for a removed file.
    pub fn path(&self) -> &str {
        self.new_path
            .as_deref()
            .or(self.old_path.as_deref())
            .unwrap_or_default()
    }

    /// Both paths, without repeating one that stays.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let new = self.new_path.as_deref();
        let old = self.old_path.as_deref();
        old.into_iter().chain(new.filter(move |_| new != old))
    }
}

impl fmt::Debug for FilePatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FilePatch({:?} {:?} -> {:?}, {} hunks)",
            self.kind,
            self.old_path,
            self.new_path,
            self.hunks.len()
        )
    }
}

/// Why bytes are no patch. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// There is text, but no file section in it.
    #[error("no file section found: `diff --git` or `---`/`+++` lines expected")]
    NoFiles,
    /// A hunk that cannot be read.
    #[error("patch line {line}: {why}")]
    Hunk {
        /// Where.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// A header that cannot be read.
    #[error("patch line {line}: {why}")]
    Header {
        /// Where.
        line: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// A path that is no UTF-8, or none at all.
    #[error("patch line {line}: path `{name}` is not UTF-8 or not quoted as git does")]
    Name {
        /// Where.
        line: usize,
        /// The path, bytes that are no text replaced.
        name: String,
    },
    /// A merge's combined diff, which cannot be applied.
    #[error("patch line {line}: combined diffs of merges are not patches")]
    Combined {
        /// Where.
        line: usize,
    },
}

/// Cuts a patch into its sections.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<FilePatch>, PatchError> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut reader = Reader {
        lines: &lines,
        at: 0,
        section_start: 0,
        preamble: Vec::new(),
        open: None,
        files: Vec::new(),
    };
    reader.run()?;
    if reader.files.is_empty() && bytes.iter().any(|byte| !byte.is_ascii_whitespace()) {
        return Err(PatchError::NoFiles);
    }
    Ok(reader.files)
}

/// A section while it is being read.
#[derive(Default)]
struct Open {
    /// Line of the section's first header.
    line: usize,
    names: HeaderNames,
    old_mode: Option<u32>,
    new_mode: Option<u32>,
    created: bool,
    deleted: bool,
    binary: bool,
    hunks: Vec<Hunk>,
    /// Whether `---`/`+++` were seen.
    has_names: bool,
}

struct Reader<'a> {
    lines: &'a [&'a [u8]],
    at: usize,
    section_start: usize,
    preamble: Vec<u8>,
    open: Option<Open>,
    files: Vec<FilePatch>,
}

impl<'a> Reader<'a> {
    fn line(&self, at: usize) -> &'a [u8] {
        self.lines.get(at).copied().unwrap_or_default()
    }

    fn run(&mut self) -> Result<(), PatchError> {
        while self.at < self.lines.len() {
            let line = self.line(self.at);
            let number = self.at + 1;
            if let Some(rest) = line.strip_prefix(b"diff --git ") {
                self.begin()?;
                let names = names::from_git_header(trim_end(rest));
                self.section().names.header = names;
            } else if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
                return Err(PatchError::Combined { line: number });
            } else if self.is_name_pair() {
                self.name_pair()?;
                continue;
            } else if line.starts_with(b"@@ -") {
                self.hunk()?;
                continue;
            } else if line.starts_with(b"GIT binary patch") && self.in_header() {
                self.binary_patch();
                continue;
            } else if self.in_header() {
                self.extended_header(line, number)?;
            }
            self.at += 1;
        }
        self.close()
    }

    /// Whether a section is open whose hunks have not begun.
    fn in_header(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|open| open.hunks.is_empty() && !open.has_names && !open.binary)
    }

    fn section(&mut self) -> &mut Open {
        self.open.get_or_insert_default()
    }

    /// Ends the section before this line and opens one here.
    fn begin(&mut self) -> Result<(), PatchError> {
        self.close()?;
        if self.files.is_empty() {
            self.preamble = self.lines[..self.at].concat();
        }
        self.section_start = self.at;
        self.open = Some(Open {
            line: self.at + 1,
            ..Open::default()
        });
        Ok(())
    }

    fn is_name_pair(&self) -> bool {
        self.line(self.at).starts_with(b"--- ")
            && self.line(self.at + 1).starts_with(b"+++ ")
            && self.line(self.at + 2).starts_with(b"@@ -")
    }

    fn name_pair(&mut self) -> Result<(), PatchError> {
        if !self.in_header() {
            self.begin()?;
        }
        let old = names::from_marker(&self.line(self.at)[4..], self.at + 1)?;
        let new = names::from_marker(&self.line(self.at + 1)[4..], self.at + 2)?;
        let open = self.section();
        open.created |= old.is_none();
        open.deleted |= new.is_none();
        open.names.marked = Some((old, new));
        open.has_names = true;
        self.at += 2;
        Ok(())
    }

    fn extended_header(&mut self, line: &[u8], number: usize) -> Result<(), PatchError> {
        let line = trim_end(line);
        let after = |prefix: &str| line.strip_prefix(prefix.as_bytes());
        let bad = || PatchError::Header {
            line: number,
            why: "file mode is no octal number",
        };
        let open = self.open.get_or_insert_default();
        if let Some(mode) = after("old mode ") {
            open.old_mode = Some(octal(mode).ok_or_else(bad)?);
        } else if let Some(mode) = after("new mode ") {
            open.new_mode = Some(octal(mode).ok_or_else(bad)?);
        } else if let Some(mode) = after("new file mode ") {
            open.new_mode = Some(octal(mode).ok_or_else(bad)?);
            open.created = true;
        } else if let Some(mode) = after("deleted file mode ") {
            open.old_mode = Some(octal(mode).ok_or_else(bad)?);
            open.deleted = true;
        } else if let Some(name) = after("rename from ") {
            open.names.rename_from = Some(names::whole(name, number)?);
        } else if let Some(name) = after("rename to ") {
            open.names.rename_to = Some(names::whole(name, number)?);
        } else if let Some(name) = after("copy from ") {
            open.names.copy_from = Some(names::whole(name, number)?);
        } else if let Some(name) = after("copy to ") {
            open.names.copy_to = Some(names::whole(name, number)?);
        } else if let Some(rest) = after("index ") {
            let mode = rest.iter().rposition(|byte| *byte == b' ');
            if let Some(mode) = mode.and_then(|space| octal(&rest[space + 1..])) {
                open.old_mode = Some(mode);
                open.new_mode = Some(mode);
            }
        } else if line.starts_with(b"Binary files ") {
            open.binary = true;
        }
        Ok(())
    }

    /// Passes over `literal`/`delta` blocks; each ends with an empty line.
    fn binary_patch(&mut self) {
        self.section().binary = true;
        self.at += 1;
        while self.line(self.at).starts_with(b"literal ")
            || self.line(self.at).starts_with(b"delta ")
        {
            while self.at < self.lines.len() && !trim_end(self.line(self.at)).is_empty() {
                self.at += 1;
            }
            self.at = (self.at + 1).min(self.lines.len());
        }
    }

    fn hunk(&mut self) -> Result<(), PatchError> {
        let start = self.at;
        let wrong = |at: usize, why| PatchError::Hunk { line: at + 1, why };
        let Some(open) = self.open.as_mut() else {
            return Err(wrong(start, "a hunk without a file header before it"));
        };
        let (mut hunk, mut old_left, mut new_left) = hunk_header(self.lines[start])
            .ok_or_else(|| wrong(start, "hunk header is not `@@ -a,b +c,d @@`"))?;
        let mut at = start + 1;
        while old_left > 0 || new_left > 0 {
            let Some(line) = self.lines.get(at) else {
                return Err(wrong(at, "the patch ends inside a hunk"));
            };
            let (kind, content): (_, &[u8]) = match line.first() {
                Some(b' ') => (HunkLineKind::Context, &line[1..]),
                Some(b'+') => (HunkLineKind::Insert, &line[1..]),
                Some(b'-') => (HunkLineKind::Delete, &line[1..]),
                // An editor that trims line ends leaves an empty line for an empty context line.
                Some(b'\n') => (HunkLineKind::Context, line),
                Some(b'\\') => {
                    mark_no_newline(&mut hunk);
                    at += 1;
                    continue;
                }
                _ => return Err(wrong(at, "a hunk's line begins with ` `, `+`, `-` or `\\`")),
            };
            let (old, new) = match kind {
                HunkLineKind::Context => (1, 1),
                HunkLineKind::Insert => (0, 1),
                HunkLineKind::Delete => (1, 0),
            };
            let (Some(old), Some(new)) = (old_left.checked_sub(old), new_left.checked_sub(new))
            else {
                return Err(wrong(at, "the hunk has more lines than its header says"));
            };
            (old_left, new_left) = (old, new);
            hunk.lines.push(HunkLine {
                kind,
                bytes: content.to_vec(),
                no_newline: false,
            });
            at += 1;
        }
        if self
            .lines
            .get(at)
            .is_some_and(|line| line.starts_with(b"\\"))
        {
            mark_no_newline(&mut hunk);
            at += 1;
        }
        hunk.raw = self.lines[start..at].concat();
        open.hunks.push(hunk);
        self.at = at;
        Ok(())
    }

    fn close(&mut self) -> Result<(), PatchError> {
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let (mut old_path, mut new_path) = open.names.paths().ok_or(PatchError::Header {
            line: open.line,
            why: "the section names no file",
        })?;
        if open.created {
            old_path = None;
        }
        if open.deleted {
            new_path = None;
        }
        if old_path.is_none() && new_path.is_none() {
            return Err(PatchError::Header {
                line: open.line,
                why: "the section names no file",
            });
        }
        let mode_changed = open.old_mode.is_some() && open.old_mode != open.new_mode;
        let kind = if open.names.rename_from.is_some() {
            PatchKind::Rename
        } else if open.names.copy_from.is_some() {
            PatchKind::Copy
        } else if open.created {
            PatchKind::Create
        } else if open.deleted {
            PatchKind::Delete
        } else if mode_changed && open.hunks.is_empty() && !open.binary {
            PatchKind::ModeChange
        } else {
            PatchKind::Modify
        };
        self.files.push(FilePatch {
            preamble: std::mem::take(&mut self.preamble),
            raw: self.lines[self.section_start..self.at].concat(),
            old_path,
            new_path,
            kind,
            binary: open.binary,
            old_mode: open.old_mode,
            new_mode: open.new_mode,
            hunks: open.hunks,
        });
        Ok(())
    }
}

/// The line before `\ No newline at end of file` has no line end in the file.
fn mark_no_newline(hunk: &mut Hunk) {
    if let Some(last) = hunk.lines.last_mut() {
        last.no_newline = true;
        if last.bytes.last() == Some(&b'\n') {
            last.bytes.pop();
        }
    }
}

/// The hunk without lines, and how many old and new lines must follow.
fn hunk_header(line: &[u8]) -> Option<(Hunk, u64, u64)> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (old_start, old_lines, rest) = range(rest)?;
    let rest = rest.strip_prefix(b" +")?;
    let (new_start, new_lines, rest) = range(rest)?;
    let section = rest.strip_prefix(b" @@")?;
    let section = section.strip_suffix(b"\n").unwrap_or(section);
    let hunk = Hunk {
        old_start,
        old_lines,
        new_start,
        new_lines,
        section: section.strip_prefix(b" ").unwrap_or(section).to_vec(),
        lines: Vec::new(),
        raw: Vec::new(),
    };
    Some((hunk, old_lines, new_lines))
}

/// `a,b` or `a`, which means one line.
fn range(text: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let digits = std::str::from_utf8(&text[..end]).ok()?;
    Some((digits.parse().ok()?, &text[end..]))
}

fn octal(text: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(text).ok()?, 8).ok()
}

/// Without the line end, `\n` or `\r\n`.
fn trim_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
