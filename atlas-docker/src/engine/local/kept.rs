//! The base commit's own files, kept while commands run that may only add to them.

use super::files::{make_room, real_parent, remove_any};
use atlas_core::Error;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Files of a repository as they were.
///
/// What belongs to the base commit is told by its checkout, without git, which would read settings
/// that untrusted code may have written. The folder `.git` itself is left as it is.
#[derive(Debug)]
pub(super) struct Kept {
    repo: PathBuf,
    /// Each with the place of its copy.
    states: BTreeMap<String, (State, PathBuf)>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Neither a file nor a link.
    Absent,
    Link(PathBuf),
    File {
        mode: u32,
        length: u64,
    },
}

impl State {
    fn of(repo: &Path, path: &str) -> Result<Self, Error> {
        let Some(place) = real_parent(repo, path) else {
            return Ok(Self::Absent);
        };
        Ok(match fs::symlink_metadata(&place) {
            Ok(meta) if meta.is_symlink() => {
                Self::Link(fs::read_link(&place).map_err(|why| Error::io("read", &place, why))?)
            }
            Ok(meta) if meta.is_file() => Self::File {
                mode: meta.permissions().mode(),
                length: meta.len(),
            },
            _ => Self::Absent,
        })
    }
}

impl Kept {
    /// Copies those files of `repo` that are in `checkout` to the new folder `aside`.
    pub(super) fn take(checkout: &Path, repo: PathBuf, aside: &Path) -> Result<Self, Error> {
        fs::create_dir_all(aside).map_err(|why| Error::io("make", aside, why))?;
        let mut states = BTreeMap::new();
        let entries = walkdir::WalkDir::new(checkout)
            .into_iter()
            .filter_entry(|entry| entry.depth() != 1 || entry.file_name() != ".git");
        for entry in entries {
            let entry = entry.map_err(|why| Error::io("read", checkout, why.into()))?;
            // A name that is no text is left alone: manifests and their tools have none.
            let inside = entry.path().strip_prefix(checkout).ok();
            let Some(path) = inside.and_then(Path::to_str) else {
                continue;
            };
            if entry.file_type().is_dir() {
                continue;
            }
            let state = State::of(&repo, path)?;
            let copy = aside.join(states.len().to_string());
            if matches!(state, State::File { .. }) {
                match copy_file(&repo.join(path), &copy) {
                    // A build made it unreadable, for its prefetch too.
                    Err(why) if why.kind() == ErrorKind::PermissionDenied => continue,
                    copied => copied.map_err(|why| Error::io("copy", &repo.join(path), why))?,
                }
            }
            states.insert(path.to_owned(), (state, copy));
        }
        Ok(Self { repo, states })
    }

    /// Puts back what changed since; returns its paths, sorted.
    ///
    /// No link is followed on the way. What was added besides stays.
    pub(super) fn put_back(self) -> Result<Vec<String>, Error> {
        let mut changed = Vec::new();
        for (path, (before, copy)) in &self.states {
            let place = self.repo.join(path);
            let same = *before == State::of(&self.repo, path)?
                && (!matches!(before, State::File { .. }) || same_bytes(&place, copy));
            if same {
                continue;
            }
            let done = match before {
                State::Absent => {
                    remove_any(&place)?;
                    Ok(())
                }
                State::Link(target) => symlink(target, make_room(&self.repo, path)?),
                State::File { .. } => copy_file(copy, &make_room(&self.repo, path)?),
            };
            done.map_err(|why| Error::io("put back", &place, why))?;
            changed.push(path.clone());
        }
        Ok(changed)
    }
}

/// Bytes, mode and time: build tools compare times.
fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    let modified = fs::metadata(from)?.modified()?;
    fs::copy(from, to)?;
    File::open(to)?.set_modified(modified)
}

/// Whether both can be read and hold the same.
fn same_bytes(one: &Path, other: &Path) -> bool {
    let compare = || -> std::io::Result<bool> {
        let [mut one, mut other] = [File::open(one)?, File::open(other)?].map(BufReader::new);
        loop {
            let (left, right) = (one.fill_buf()?, other.fill_buf()?);
            let count = left.len().min(right.len());
            if count == 0 {
                return Ok(left.len() == right.len());
            }
            if left[..count] != right[..count] {
                return Ok(false);
            }
            one.consume(count);
            other.consume(count);
        }
    };
    compare().unwrap_or(false)
}
