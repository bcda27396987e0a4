//! Looking through folders of runs quickly.

use super::stored::{Folders, Stored, is_known};
use rayon::prelude::*;
use rustix::fs::{CWD, FileType, Mode, OFlags, RawDir, openat};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How deep folders are looked through on all cores.
const DEEPEST: usize = 64;

/// How a folder is opened.
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The folders below a folder where nothing is a link and all can be read: then there is nothing to tell
/// but what is found. A folder is a few calls of the kernel so, and all cores make them.
pub(super) fn plain_folders(root: &Path) -> Option<Folders> {
    let name = root.file_name().unwrap_or_default();
    let folder = openat(
        CWD,
        root,
        FOLDER.difference(OFlags::NOFOLLOW),
        Mode::empty(),
    )
    .ok()?;
    look_through(&folder, name, root, DEEPEST, Vec::new())
}

/// Adds a folder and those below it to what was found.
fn look_through(
    folder: &OwnedFd,
    name: &OsStr,
    path: &Path,
    depth: usize,
    mut found: Folders,
) -> Option<Folders> {
    let (stored, inner) = list(folder, path)?;
    found.extend(stored.map(|stored| (name.to_string_lossy().into_owned(), stored)));
    if inner.is_empty() {
        return Some(found);
    }
    let depth = depth.checked_sub(1)?;
    let below = inner.par_iter().try_fold(Vec::new, |found, name| {
        let inner = openat(folder, name, FOLDER, Mode::empty()).ok()?;
        look_through(&inner, name, &path.join(name), depth, found)
    });
    let below = below.try_reduce(Vec::new, |mut found, mut more| {
        found.append(&mut more);
        Some(found)
    });
    found.append(&mut below?);
    Some(found)
}

/// What a folder holds of an instance, and the folders in it.
fn list(folder: &OwnedFd, path: &Path) -> Option<(Option<Stored>, Vec<OsString>)> {
    let mut room = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(folder, &mut room);
    let (mut stored, mut inner) = (None, Vec::new());
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        match entry.file_type() {
            FileType::Directory if name == "." || name == ".." => {}
            FileType::Directory => inner.push(name.to_owned()),
            FileType::RegularFile => {
                let text = name.to_string_lossy();
                if is_known(&text) {
                    let stored = stored.get_or_insert_with(|| Stored::of(path.to_owned()));
                    stored.add(&text, path.join(name));
                }
            }
            FileType::Symlink | FileType::Unknown => return None,
            _ => {}
        }
    }
    Some((stored, inner))
}
