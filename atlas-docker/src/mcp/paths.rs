//! From what a client writes to a path that may be opened.

use super::refuse;
use atlas_core::{Error, ErrorKind};
use std::path::{Path, PathBuf};

/// A client's path with its blanks and dots gone: relative, downwards, outside of `.git`. The root
/// is the empty text.
pub(super) fn relative(operation: &str, path: &str) -> Result<String, Error> {
    let wrong = |why: &str| Err(refuse(operation, format!("`{path}`: {why}")));
    if path.contains('\0') {
        return wrong("a path holds no zero byte");
    }
    if path.starts_with(['/', '\\', '~']) || path.get(1..3) == Some(":\\") {
        return wrong("paths are relative to the repository's root, as in `src/main.py`");
    }
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => return wrong("`..` leads out of what may be read"),
            part if part.eq_ignore_ascii_case(".git") => {
                return wrong("git's own files are not served; call `history` for commits");
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The file or folder that a client means, links followed: it is within the checkout.
pub(super) fn resolve(operation: &str, root: &Path, path: &str) -> Result<PathBuf, Error> {
    let path = relative(operation, path)?;
    let root = root
        .canonicalize()
        .map_err(|why| Error::io(operation, root, why))?;
    let full = root.join(&path);
    let shown = if path.is_empty() { "." } else { &path };
    let found = full.canonicalize().map_err(|why| {
        // The message names the path as the client does: this machine's folders are its own.
        let (kind, text) = match why.kind() {
            std::io::ErrorKind::NotFound if full.symlink_metadata().is_ok() => (
                ErrorKind::NotFound,
                "a symbolic link to something that is not there",
            ),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => (
                ErrorKind::NotFound,
                "no such file or folder; call `list` for what is there",
            ),
            _ => (ErrorKind::Io, "not readable"),
        };
        Error::new(kind, operation, format!("`{shown}`: {text}"))
    })?;
    match found.strip_prefix(&root) {
        Err(_) => Err(refuse(
            operation,
            format!("`{shown}`: a symbolic link leads out of the checkout"),
        )),
        Ok(inside) if inside.starts_with(".git") => Err(refuse(
            operation,
            format!("`{shown}`: a symbolic link leads into git's own files"),
        )),
        Ok(_) => Ok(found),
    }
}
