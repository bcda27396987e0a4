//! The files of a checkout, as analysis sees them.

use atlas_core::{Error, ErrorKind};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Manifests, workflows and sources are small; a larger file says nothing that analysis needs.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Folders that hold no source of the repository itself.
const FOREIGN: &[&str] = &[
    ".git",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
    "site-packages",
    "third_party",
    "vendor",
];

/// A read-only view of the regular files of a repository, by path with `/`.
///
/// Symbolic links are not followed: a link in a repository could point anywhere on this machine,
/// and what it shows would end in a plan.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    files: BTreeSet<String>,
    overlay: BTreeMap<String, String>,
}

impl Tree {
    /// Lists a checkout.
    pub(crate) fn open(root: &Path) -> Result<Self, Error> {
        let mut files = BTreeSet::new();
        let walk = WalkDir::new(root).sort_by_file_name().into_iter();
        // The root itself may bear any name.
        let walk = walk.filter_entry(|entry| {
            entry.depth() == 0
                || !entry.file_type().is_dir()
                || !FOREIGN.contains(&entry.file_name().to_string_lossy().as_ref())
        });
        for entry in walk {
            let entry = entry.map_err(|why| {
                Error::new(
                    ErrorKind::Io,
                    "list repository",
                    format!("`{}`", root.display()),
                )
                .with_source(why)
            })?;
            if !entry.file_type().is_file() {
                continue;
            }
            // A path that is not UTF-8 names no manifest, workflow or source file that is known.
            if let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) {
                files.insert(path.to_owned());
            }
        }
        Ok(Self {
            root: root.to_owned(),
            files,
            overlay: BTreeMap::new(),
        })
    }

    /// The same tree with some files replaced or added.
    pub(crate) fn overlaid(&self, with: &BTreeMap<String, Vec<u8>>) -> Self {
        let mut files = self.files.clone();
        files.extend(with.keys().cloned());
        let mut overlay = self.overlay.clone();
        let texts = with
            .iter()
            .map(|(path, bytes)| (path.clone(), String::from_utf8_lossy(bytes).into_owned()));
        overlay.extend(texts);
        Self {
            root: self.root.clone(),
            files,
            overlay,
        }
    }

    /// Whether a file is there.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// Whether a folder with at least one file is there.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        self.files
            .range(prefix.clone()..)
            .next()
            .is_some_and(|found| found.starts_with(&prefix))
    }

    /// Whether a regular file or a folder is there, even among what is not the repository's own:
    /// `vendor/modules.txt`. Links on the way are not followed.
    pub(crate) fn has_foreign(&self, path: &str) -> bool {
        let mut full = self.root.clone();
        for part in path.split('/') {
            full.push(part);
            match std::fs::symlink_metadata(&full) {
                Ok(meta) if !meta.is_symlink() => {}
                _ => return false,
            }
        }
        true
    }

    /// A folder of this tree as a tree of its own; all of it for an empty one.
    pub(crate) fn below_or_all(&self, folder: &str) -> Self {
        if folder.is_empty() {
            return self.overlaid(&BTreeMap::new());
        }
        self.below(folder)
    }

    /// A folder of this tree as a tree of its own.
    pub(crate) fn below(&self, folder: &str) -> Self {
        let prefix = format!("{folder}/");
        let inner = |path: &String| path.strip_prefix(&prefix).map(str::to_owned);
        Self {
            root: self.root.join(folder),
            files: self.files.iter().filter_map(inner).collect(),
            overlay: self
                .overlay
                .iter()
                .filter_map(|(path, text)| Some((inner(path)?, text.clone())))
                .collect(),
        }
    }

    /// All files, sorted.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// The files whose path ends so, sorted.
    pub(crate) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = &'a str> {
        self.files().filter(move |path| path.ends_with(end))
    }

    /// The first of these files that is there.
    pub(crate) fn first<'a>(&self, paths: &[&'a str]) -> Option<&'a str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    /// A file's text; bytes that are not UTF-8 are replaced. `None` for a file that is absent,
    /// unreadable or larger than a manifest can be.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        if let Some(text) = self.overlay.get(path) {
            return Some(text.clone());
        }
        if !self.has(path) {
            return None;
        }
        let full = self.root.join(path);
        let read = std::fs::metadata(&full).and_then(|meta| {
            if meta.len() > MAX_FILE_BYTES {
                return Ok(None);
            }
            std::fs::read(&full).map(Some)
        });
        match read {
            Ok(bytes) => bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            Err(why) => {
                tracing::warn!(path, %why, "file of the checkout is not readable");
                None
            }
        }
    }

    /// The first lines of a file of any size.
    pub(crate) fn beginning(&self, path: &str) -> Option<String> {
        use std::io::Read as _;
        if self.overlay.contains_key(path) {
            return self.text(path);
        }
        if !self.has(path) {
            return None;
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(self.root.join(path)).ok()?;
        file.take(4096).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A TOML file's table; `None` where it is absent or no TOML.
    pub(crate) fn toml(&self, path: &str) -> Option<toml::Table> {
        let text = self.text(path)?;
        match text.parse() {
            Ok(table) => Some(table),
            Err(why) => {
                tracing::warn!(path, %why, "not readable as TOML");
                None
            }
        }
    }

    /// The first line, from 1, in which `pattern` is found, with its trimmed text.
    pub(crate) fn line(&self, path: &str, pattern: &Regex) -> Option<(usize, String)> {
        let text = self.text(path)?;
        text.lines()
            .enumerate()
            .find(|(_, line)| pattern.is_match(line))
            .map(|(at, line)| (at + 1, line.trim().to_owned()))
    }

    /// The first line that holds `needle`.
    pub(crate) fn line_with(&self, path: &str, needle: &str) -> Option<usize> {
        let text = self.text(path)?;
        text.lines()
            .position(|line| line.contains(needle))
            .map(|at| at + 1)
    }
}

/// A relative path from a folder, `.` and `..` resolved; `None` where it leaves the repository.
pub(crate) fn resolved(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolved;

    #[test]
    fn relative_paths_from_a_folder() {
        for (folder, relative, expected) in [
            ("a/b", "../pom.xml", Some("a/pom.xml")),
            ("", "core", Some("core")),
            ("a/", "./b//c/", Some("a/b/c")),
            ("", "../x", None),
            ("a", "../../x", None),
        ] {
            assert_eq!(
                resolved(folder, relative).as_deref(),
                expected,
                "{folder} {relative}"
            );
        }
    }
}
