//! What a pull request touches.

use atlas_source::{Side, SplitDecision};
use std::path::{Path, PathBuf};

/// What a pull request touches of a checkout of Base.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    pub(super) checkout: PathBuf,
    pub(super) tests: Vec<String>,
    pub(super) sources: Vec<String>,
}

impl Touched {
    pub(crate) fn new(checkout: &Path, decisions: &[SplitDecision]) -> Self {
        let of = |sides: &[Side]| {
            let found = decisions.iter().filter(|d| sides.contains(&d.side));
            found.map(|d| d.path.clone()).collect()
        };
        Self {
            checkout: checkout.to_owned(),
            tests: of(&[Side::Test, Side::Both]),
            sources: of(&[Side::Gold, Side::Both]),
        }
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.checkout.join(path).is_file()
    }

    /// Whether a file may have tests that run in Base.
    pub(super) fn runs_in_base(&self, path: &str) -> bool {
        may_hold_tests(path) && self.exists(path)
    }

    /// The folder nearest to a file that holds a manifest of this name, `.` for the root.
    pub(super) fn holder(&self, path: &str, manifest: &str) -> Option<String> {
        let mut folder = path;
        loop {
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
            if self.checkout.join(folder).join(manifest).is_file() {
                return Some(if folder.is_empty() { "." } else { folder }.to_owned());
            }
            if folder.is_empty() {
                return None;
            }
        }
    }

    /// Files beside this one whose names end as its name does.
    pub(super) fn beside(&self, path: &str) -> Vec<String> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let end = name.find('.').map_or("", |at| &name[at..]);
        let entries = std::fs::read_dir(self.checkout.join(folder));
        let mut found: Vec<String> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|other| !end.is_empty() && other.ends_with(end))
            .map(|other| {
                if folder.is_empty() {
                    other
                } else {
                    format!("{folder}/{other}")
                }
            })
            .collect();
        found.sort();
        found
    }
}

/// Whether a file among the tests may be more than what tests use: where runners go by names, so does this.
pub(super) fn may_hold_tests(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
    let lower = stem.to_ascii_lowercase();
    !["java", "kt", "groovy", "scala", "php", "py", "rb"].contains(&end)
        || lower.contains("test") && stem != "conftest"
        || lower.contains("spec")
        || stem.ends_with("IT")
}
