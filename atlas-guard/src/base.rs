//! The repository before any patch.

use std::collections::BTreeMap;

/// The files of the base commit, as far as they are known.
///
/// # Contract
/// - Paths are relative to the repository's root, with `/`.
/// - `names` may leave files out that nobody asked about; then rules that look at neighbours see
///   less. `read` may give nothing for a file that exists; then nothing of it is restored by
///   section.
pub trait BaseFiles {
    /// The file's bytes; of a symbolic link, its target.
    fn read(&self, path: &str) -> Option<&[u8]>;
    /// Whether the base commit has a file of that path.
    fn exists(&self, path: &str) -> bool;
    /// All known paths of files.
    fn names(&self) -> Vec<&str>;
}

impl BaseFiles for BTreeMap<String, Vec<u8>> {
    fn read(&self, path: &str) -> Option<&[u8]> {
        self.get(path).map(Vec::as_slice)
    }

    fn exists(&self, path: &str) -> bool {
        self.contains_key(path)
    }

    fn names(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }
}
