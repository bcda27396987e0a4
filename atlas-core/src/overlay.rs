//! Files that turn one repository state into another.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How a file is stored in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileMode {
    /// Mode 100644.
    Regular,
    /// Mode 100755.
    Executable,
    /// Mode 120000: the content is the target.
    Symlink,
}

/// A file's new content.
#[derive(Clone, PartialEq, Eq)]
pub struct FileContent {
    /// How the file is stored.
    pub mode: FileMode,
    /// Its bytes; of a symbolic link, the target.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FileContent({:?}, {} bytes)",
            self.mode,
            self.bytes.len()
        )
    }
}

/// The difference between the prepared Base tree and another state: files to write, files to
/// remove. Paths are relative to the repository's root, with `/`, and never leave it.
///
/// A state is shipped as whole files computed on the host, so what a sandbox runs does not depend
/// on which patch program its image has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Files to write, by path.
    pub write: BTreeMap<String, FileContent>,
    /// Paths to remove before writing.
    pub remove: BTreeSet<String>,
}

impl Overlay {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty()
    }

    /// The paths that stay inside the repository and outside its `.git`; anything else is returned
    /// as the offender.
    ///
    /// # Errors
    /// The first path that is absolute, empty, climbs out with `..` or touches `.git`.
    pub fn check_paths(&self) -> Result<(), String> {
        for path in self.write.keys().chain(&self.remove) {
            let bad = path.is_empty()
                || path.starts_with('/')
                || path.contains('\0')
                || path.split('/').any(|part| {
                    matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git")
                });
            if bad {
                return Err(path.clone());
            }
        }
        Ok(())
    }
}
