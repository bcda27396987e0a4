//! `list` and `read`.

use super::answers::{Entry, Kind, ListArgs, Listing, Page, ReadArgs};
use super::{paths, refuse};
use atlas_core::{Error, ErrorKind};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use walkdir::WalkDir;

/// A file above this is not read.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Text of one answer.
const MAX_PAGE_BYTES: usize = 64 << 10;

/// Lines of one answer.
const MAX_PAGE_LINES: usize = 2_000;

/// Characters of one line.
const MAX_LINE: usize = 4_000;

/// Entries that are counted below one folder.
const MAX_ENTRIES: usize = 100_000;

/// Bytes in which a binary file shows itself by a zero, as git does it.
const BINARY_PREFIX: usize = 8_000;

pub(super) fn list(root: &Path, args: &ListArgs) -> Result<Listing, Error> {
    let operation = "list";
    let asked = args.path.as_deref().unwrap_or_default();
    let folder = paths::resolve(operation, root, asked)?;
    let path = paths::relative(operation, asked)?;
    if !folder.is_dir() {
        let subject = format!("`{path}`: this is a file; call `read`");
        return Err(refuse(operation, subject));
    }
    let limit = args.limit.unwrap_or(200).clamp(1, 1_000);
    let offset = args.offset.unwrap_or(0);
    let depth = args.depth.unwrap_or(1).clamp(1, 5);
    let walk = WalkDir::new(&folder)
        .min_depth(1)
        .max_depth(depth)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.file_name() != ".git");
    let mut entries = Vec::new();
    let mut total = 0;
    let mut incomplete = false;
    for (seen, found) in walk.enumerate() {
        if seen == MAX_ENTRIES {
            incomplete = true;
            break;
        }
        let Ok(found) = found else { continue };
        let Ok(below) = found.path().strip_prefix(&folder) else {
            continue;
        };
        total += 1;
        if total <= offset || entries.len() == limit {
            continue;
        }
        let below = below.to_string_lossy();
        let kind = found.file_type();
        let mut entry = Entry {
            path: if path.is_empty() {
                below.into_owned()
            } else {
                format!("{path}/{below}")
            },
            kind: Kind::File,
            bytes: None,
            target: None,
        };
        if kind.is_dir() {
            entry.kind = Kind::Folder;
        } else if kind.is_symlink() {
            entry.kind = Kind::Symlink;
            let target = fs::read_link(found.path()).ok();
            entry.target = target.map(|target| target.to_string_lossy().into_owned());
        } else {
            entry.bytes = found.metadata().ok().map(|meta| meta.len());
        }
        entries.push(entry);
    }
    let end = offset.saturating_add(entries.len());
    Ok(Listing {
        path,
        entries,
        total,
        next_offset: (end < total).then_some(end),
        incomplete,
    })
}

pub(super) fn read(root: &Path, args: &ReadArgs) -> Result<Page, Error> {
    let operation = "read";
    let full = paths::resolve(operation, root, &args.path)?;
    let path = paths::relative(operation, &args.path)?;
    let wrong = |why: String| Err(refuse(operation, format!("`{path}`: {why}")));
    let failed = |why: std::io::Error| {
        Error::new(ErrorKind::Io, operation, format!("`{path}`")).with_source(why)
    };
    let meta = fs::metadata(&full).map_err(failed)?;
    if meta.is_dir() {
        return wrong("this is a folder; call `list`".to_owned());
    }
    if !meta.is_file() {
        return wrong("this is no regular file".to_owned());
    }
    if meta.len() > MAX_FILE_BYTES {
        return wrong(format!(
            "{} bytes, more than the {MAX_FILE_BYTES} that are read; no manifest or test configuration is that large",
            meta.len()
        ));
    }
    let mut bytes = Vec::new();
    File::open(&full)
        .and_then(|file| file.take(MAX_FILE_BYTES).read_to_end(&mut bytes))
        .map_err(failed)?;
    if is_binary(&bytes) {
        return wrong(format!(
            "a binary file of {} bytes; only text is read",
            bytes.len()
        ));
    }
    let text = String::from_utf8_lossy(&bytes);
    let mut altered = matches!(text, std::borrow::Cow::Owned(_));
    let lines: Vec<&str> = text.lines().collect();
    let total_lines = lines.len();
    let first_line = args.first_line.unwrap_or(1).max(1);
    let last = args.last_line.unwrap_or(usize::MAX);
    if last < first_line {
        return wrong(format!(
            "last_line {last} is before first_line {first_line}"
        ));
    }
    if first_line > total_lines.max(1) {
        return wrong(format!(
            "there is no line {first_line}; it has {total_lines}"
        ));
    }
    let mut shown = String::new();
    let mut last_line = first_line - 1;
    for line in lines.iter().skip(first_line - 1).take(MAX_PAGE_LINES) {
        if last_line == last {
            break;
        }
        let cut = super::answers::cut(line, MAX_LINE);
        if !shown.is_empty() && shown.len() + cut.len() > MAX_PAGE_BYTES {
            break;
        }
        altered |= cut.len() != line.len();
        shown.push_str(&cut);
        shown.push('\n');
        last_line += 1;
    }
    let wanted = last.min(total_lines);
    Ok(Page {
        path,
        text: shown,
        first_line,
        last_line,
        total_lines,
        bytes: meta.len(),
        next_line: (last_line < wanted).then_some(last_line + 1),
        altered,
    })
}

/// Whether a file is no text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(BINARY_PREFIX)].contains(&0)
}
