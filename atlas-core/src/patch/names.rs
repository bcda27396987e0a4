//! File names in patch headers: prefixes, quoting, timestamps.

use super::files::PatchError;

/// All places in a section's headers that name its file.
#[derive(Default)]
pub(super) struct HeaderNames {
    /// From the `diff --git` line, where both names can be told apart.
    pub(super) header: Option<(String, String)>,
    /// From `---` and `+++`; absent is `/dev/null`.
    pub(super) marked: Option<(Option<String>, Option<String>)>,
    pub(super) rename_from: Option<String>,
    pub(super) rename_to: Option<String>,
    pub(super) copy_from: Option<String>,
    pub(super) copy_to: Option<String>,
}

impl HeaderNames {
    /// The old and the new path; `None` if nothing names the file.
    pub(super) fn paths(&self) -> Option<(Option<String>, Option<String>)> {
        let pair = |from: &Option<String>, to: &Option<String>| {
            (from.is_some() && to.is_some()).then(|| (from.clone(), to.clone()))
        };
        pair(&self.rename_from, &self.rename_to)
            .or_else(|| pair(&self.copy_from, &self.copy_to))
            .or_else(|| self.marked.clone())
            .or_else(|| self.header.clone().map(|(old, new)| (Some(old), Some(new))))
    }
}

/// The names on a `diff --git` line. Unquoted names can be told apart only where both are the
/// same, which they are whenever no other header names them.
pub(super) fn from_git_header(rest: &[u8]) -> Option<(String, String)> {
    let (old, new): (Vec<u8>, Vec<u8>) = if rest.first() == Some(&b'"') {
        let (old, after) = unquote(rest)?;
        let after = after.strip_prefix(b" ")?;
        match unquote(after) {
            Some((new, _)) => (old, new),
            None => (old, after.to_vec()),
        }
    } else if let Some(quote) = find(rest, b" \"") {
        let (new, _) = unquote(&rest[quote + 1..])?;
        (rest[..quote].to_vec(), new)
    } else {
        let middle = rest.len() / 2;
        if rest.len().is_multiple_of(2) || rest.get(middle) != Some(&b' ') {
            return None;
        }
        (rest[..middle].to_vec(), rest[middle + 1..].to_vec())
    };
    let old = String::from_utf8(strip_first(&old).to_vec()).ok()?;
    let new = String::from_utf8(strip_first(&new).to_vec()).ok()?;
    Some((old, new))
}

/// The name behind `--- ` or `+++ `; `/dev/null` is `None`. A TAB ends an unquoted name: git puts
/// one behind names with spaces, diff puts a timestamp there.
pub(super) fn from_marker(rest: &[u8], line: usize) -> Result<Option<String>, PatchError> {
    let name = rest.strip_suffix(b"\n").unwrap_or(rest);
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    let bytes = if name.first() == Some(&b'"') {
        unquote(name).ok_or_else(|| bad(name, line))?.0
    } else {
        let end = name.iter().position(|byte| *byte == b'\t');
        name[..end.unwrap_or(name.len())].to_vec()
    };
    if bytes == b"/dev/null" {
        return Ok(None);
    }
    text(strip_first(&bytes), line).map(Some)
}

/// A name without prefix, as `rename from` has it.
pub(super) fn whole(name: &[u8], line: usize) -> Result<String, PatchError> {
    if name.first() == Some(&b'"') {
        text(&unquote(name).ok_or_else(|| bad(name, line))?.0, line)
    } else {
        text(name, line)
    }
}

fn text(name: &[u8], line: usize) -> Result<String, PatchError> {
    match std::str::from_utf8(name) {
        Ok(name) if !name.is_empty() => Ok(name.to_owned()),
        _ => Err(bad(name, line)),
    }
}

fn bad(name: &[u8], line: usize) -> PatchError {
    PatchError::Name {
        line,
        name: String::from_utf8_lossy(name).into_owned(),
    }
}

/// Without the first component; a name that has only one stays.
fn strip_first(name: &[u8]) -> &[u8] {
    name.iter()
        .position(|byte| *byte == b'/')
        .map_or(name, |slash| &name[slash + 1..])
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Reads a C-quoted name; gives it and what follows the closing quote.
fn unquote(quoted: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = quoted.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (&escape, after) = rest.split_first()?;
                rest = after;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let (digits, after) = rest.split_at_checked(2)?;
                        rest = after;
                        digits.iter().try_fold(escape - b'0', |value, digit| {
                            matches!(digit, b'0'..=b'7').then(|| value * 8 + (digit - b'0'))
                        })?
                    }
                    _ => return None,
                });
            }
            other => name.push(other),
        }
    }
}
