//! Where the parsers and their logs are.

use std::fs;
use std::path::{Path, PathBuf};

/// A parser's folder: `src/<language>/<id>/`.
pub(crate) struct Folder {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// The folder of this crate.
pub(crate) fn crate_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The entries of a folder in the order of their names; none where there is no such folder.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
        .unwrap_or_default();
    paths.sort();
    paths
}

/// The last part of a path.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Every folder that holds a parser.
pub(crate) fn parser_folders() -> Vec<Folder> {
    let mut folders = Vec::new();
    for language in entries(&crate_root().join("src")) {
        for path in entries(&language) {
            if path.join("mod.rs").is_file() {
                folders.push(Folder {
                    id: name(&path),
                    path,
                });
            }
        }
    }
    folders
}

impl Folder {
    /// The logs and reports in the parser's corpus.
    pub(crate) fn corpus(&self) -> Vec<PathBuf> {
        entries(&self.path.join("corpus"))
            .into_iter()
            .filter(|file| {
                file.extension()
                    .is_some_and(|end| matches!(end.to_str(), Some("log" | "xml" | "tap" | "json")))
            })
            .collect()
    }
}
