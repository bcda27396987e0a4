//! Turning a patch round: what it adds is removed, what it removes is added.

use atlas_core::{FilePatch, Hunk, HunkLineKind, Patch, PatchError, PatchKind};
use std::collections::BTreeSet;

/// Why a patch cannot be turned round.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReverseError {
    /// It is no patch.
    #[error(transparent)]
    NoPatch(#[from] PatchError),
    /// A copy: the reverse deletes a file whose content the patch does not say.
    #[error("`{0}` is a copy: the patch does not hold the content that the reverse removes")]
    Copy(String),
    /// Binary content that is not in the patch, or one way only.
    #[error(
        "`{0}` is binary and the patch does not hold the old content (`git diff --binary` does)"
    )]
    Binary(String),
}

/// The patch that undoes this one: modes, renames, new and deleted files, binary content and missing
/// line ends at the end of files included.
///
/// ```
/// use atlas_core::Patch;
/// let bug = Patch::new("--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-good\n+bad\n");
/// let fix = atlas_formats::reverse(&bug)?;
/// assert_eq!(fix.as_text().unwrap(), "--- a/x\n+++ b/x\n@@ -1 +1 @@ f\n-bad\n+good\n");
/// # Ok::<(), atlas_formats::ReverseError>(())
/// ```
///
/// # Errors
/// [`ReverseError`].
pub fn reverse(patch: &Patch) -> Result<Patch, ReverseError> {
    let mut files = patch.files()?;
    // One after another on the same file: the last change is undone first.
    let mut seen = BTreeSet::new();
    let again = files
        .iter()
        .flat_map(FilePatch::paths)
        .any(|path| !seen.insert(path.to_owned()));
    let mut out = Vec::new();
    if let Some(first) = files.first_mut() {
        out.append(&mut first.preamble);
    }
    if again {
        files.reverse();
    }
    for file in &files {
        section(file, &mut out)?;
    }
    Ok(Patch::new(out))
}

fn section(file: &FilePatch, out: &mut Vec<u8>) -> Result<(), ReverseError> {
    if file.kind == PatchKind::Copy {
        return Err(ReverseError::Copy(file.path().to_owned()));
    }
    let lines: Vec<&[u8]> = file.raw.split_inclusive(|byte| *byte == b'\n').collect();
    let body = lines
        .iter()
        .position(|line| line.starts_with(b"@@ -") || line.starts_with(b"GIT binary patch"))
        .unwrap_or(lines.len());
    let header: Vec<&[u8]> = lines[..body].iter().map(|line| without_end(line)).collect();
    let end: &[u8] = match lines.first() {
        Some(line) if line.ends_with(b"\r\n") => b"\r\n",
        _ => b"\n",
    };
    for line in turned_header(&header, file)? {
        out.extend_from_slice(&line);
        out.extend_from_slice(end);
    }
    if file.binary {
        return binary(&lines[body..], file, out);
    }
    let mut rest = lines[..body].concat().len();
    for hunk in &file.hunks {
        turned_hunk(hunk, out);
        rest += hunk.raw.len();
    }
    out.extend_from_slice(file.raw.get(rest..).unwrap_or_default());
    Ok(())
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn turned_header(header: &[&[u8]], file: &FilePatch) -> Result<Vec<Vec<u8>>, ReverseError> {
    let value = |prefix: &str| {
        header
            .iter()
            .find_map(|line| line.strip_prefix(prefix.as_bytes()))
    };
    let joined = |prefix: &str, rest: &[u8]| [prefix.as_bytes(), rest].concat();
    let renamed = value("rename from ").zip(value("rename to "));
    let mut out = Vec::new();
    for line in header {
        let after = |prefix: &str| line.strip_prefix(prefix.as_bytes());
        let turned = if line.starts_with(b"diff --git ") {
            match renamed {
                Some((from, to)) => {
                    let names = [prefixed(b"a/", to), b" ".to_vec(), prefixed(b"b/", from)];
                    joined("diff --git ", &names.concat())
                }
                None => line.to_vec(),
            }
        } else if after("old mode ").is_some() {
            joined("old mode ", value("new mode ").unwrap_or_default())
        } else if after("new mode ").is_some() {
            joined("new mode ", value("old mode ").unwrap_or_default())
        } else if let Some(mode) = after("new file mode ") {
            joined("deleted file mode ", mode)
        } else if let Some(mode) = after("deleted file mode ") {
            joined("new file mode ", mode)
        } else if after("rename from ").is_some() {
            joined("rename from ", value("rename to ").unwrap_or_default())
        } else if after("rename to ").is_some() {
            joined("rename to ", value("rename from ").unwrap_or_default())
        } else if let Some(ids) = after("index ") {
            joined("index ", &turned_index(ids))
        } else if after("--- ").is_some() {
            joined(
                "--- ",
                &switched(value("+++ ").unwrap_or_default(), b"b/", b"a/"),
            )
        } else if after("+++ ").is_some() {
            joined(
                "+++ ",
                &switched(value("--- ").unwrap_or_default(), b"a/", b"b/"),
            )
        } else if after("Binary files ").is_some() {
            return Err(ReverseError::Binary(file.path().to_owned()));
        } else {
            line.to_vec()
        };
        out.push(turned);
    }
    Ok(out)
}

/// `a/` before a name, inside its quotes.
fn prefixed(prefix: &[u8], name: &[u8]) -> Vec<u8> {
    match name.strip_prefix(b"\"") {
        Some(rest) => [b"\"", prefix, rest].concat(),
        None => [prefix, name].concat(),
    }
}

/// The name with one prefix in place of the other; a name without it stays.
fn switched(name: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (quote, rest): (&[u8], _) = match name.strip_prefix(b"\"") {
        Some(rest) => (b"\"", rest),
        None => (b"", name),
    };
    match rest.strip_prefix(from) {
        Some(rest) => [quote, to, rest].concat(),
        None => name.to_vec(),
    }
}

/// `old..new mode` turned round.
fn turned_index(ids: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(ids);
    let (range, mode) = match text.split_once(' ') {
        Some((range, mode)) => (range, format!(" {mode}")),
        None => (text.as_ref(), String::new()),
    };
    match range.split_once("..") {
        Some((old, new)) => format!("{new}..{old}{mode}").into_bytes(),
        None => ids.to_vec(),
    }
}

/// Two blocks follow the heading: the way forth and the way back.
fn binary(lines: &[&[u8]], file: &FilePatch, out: &mut Vec<u8>) -> Result<(), ReverseError> {
    let lost = || ReverseError::Binary(file.path().to_owned());
    let heading = lines.first().ok_or_else(lost)?;
    let mut blocks = Vec::new();
    let mut at = 1;
    while blocks.len() < 2 {
        let starts = lines
            .get(at)
            .is_some_and(|line| line.starts_with(b"literal ") || line.starts_with(b"delta "));
        if !starts {
            return Err(lost());
        }
        let length = lines[at..]
            .iter()
            .take_while(|line| !without_end(line).is_empty())
            .count();
        blocks.push(lines[at..at + length].concat());
        at = (at + length + 1).min(lines.len());
    }
    out.extend_from_slice(heading);
    for block in blocks.iter().rev() {
        out.extend_from_slice(block);
        if !block.ends_with(b"\n") {
            out.push(b'\n');
        }
        out.push(b'\n');
    }
    out.extend_from_slice(&lines[at..].concat());
    Ok(())
}

fn turned_hunk(hunk: &Hunk, out: &mut Vec<u8>) {
    let lines: Vec<&[u8]> = hunk.raw.split_inclusive(|byte| *byte == b'\n').collect();
    let header = lines.first().copied().unwrap_or_default();
    out.extend_from_slice(&turned_ranges(header));
    // Within a run of changed lines git writes what goes before what comes.
    let mut goes = Vec::new();
    let mut comes = Vec::new();
    let mut kinds = hunk.lines.iter().map(|line| line.kind);
    let mut last = HunkLineKind::Context;
    for line in lines.iter().skip(1) {
        let kind = if line.starts_with(b"\\") {
            last
        } else {
            kinds.next().unwrap_or(HunkLineKind::Context)
        };
        last = kind;
        if kind == HunkLineKind::Context {
            out.append(&mut goes);
            out.append(&mut comes);
        }
        let (target, sign): (&mut Vec<u8>, u8) = match kind {
            HunkLineKind::Context => (&mut *out, b' '),
            HunkLineKind::Insert => (&mut goes, b'-'),
            HunkLineKind::Delete => (&mut comes, b'+'),
        };
        match line.first() {
            Some(b'+' | b'-') if kind != HunkLineKind::Context => {
                target.push(sign);
                target.extend_from_slice(&line[1..]);
            }
            _ => target.extend_from_slice(line),
        }
        // The text of a patch may have lost its last line end.
        if !line.ends_with(b"\n") {
            target.push(b'\n');
        }
    }
    out.append(&mut goes);
    out.append(&mut comes);
}

/// `@@ -a,b +c,d @@ …` with its ranges exchanged, as they are spelled.
fn turned_ranges(header: &[u8]) -> Vec<u8> {
    let parts = header.strip_prefix(b"@@ -").and_then(|rest| {
        let plus = rest.windows(2).position(|pair| pair == b" +")?;
        let end = rest.windows(3).position(|three| three == b" @@")?;
        Some((&rest[..plus], rest.get(plus + 2..end)?, &rest[end..]))
    });
    match parts {
        Some((old, new, rest)) => [b"@@ -", new, b" +", old, rest].concat(),
        None => header.to_vec(),
    }
}
