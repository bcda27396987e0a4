//! How large a task is, in the bins of paper 001 (section 4.1, "Difficulty Distribution").
//!
//! The paper's bins of files begin with two, and their shares sum to 100 %: only the whole pull request, tests included,
//! never changes fewer. So both patches are counted here together. It has bins for lines and files; those for hunks are
//! ours, as are the ones for a single file and for none.

use atlas_core::{HunkLineKind, Instance, InstanceError, Patch};
use serde::{Deserialize, Serialize};

/// What a pull request changes, and in which bins that falls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difficulty {
    /// Lines added and removed, in the gold patch and the test patch.
    pub lines: u64,
    /// Their bin: `small` (1-30), `medium` (31-100), `large` (101-300), `very-large` (301 and more); `none` without any.
    pub lines_bin: String,
    /// Files that either patch changes.
    pub files: u64,
    /// Their bin: `1`, `2-4`, `5-8`, `9-15`, `16+`; `none` without any.
    pub files_bin: String,
    /// Hunks of both patches.
    pub hunks: u64,
    /// Their bin: `1`, `2-5`, `6-15`, `16-40`, `41+`; `none` without any.
    pub hunks_bin: String,
    /// Lines added and removed by the gold patch alone.
    pub gold_lines: u64,
    /// Files of the gold patch alone.
    pub gold_files: u64,
    /// Hunks of the gold patch alone.
    pub gold_hunks: u64,
}

/// The bins of lines, each with the most that falls into it.
pub const LINE_BINS: [(&str, u64); 5] = [
    ("none", 0),
    ("small", 30),
    ("medium", 100),
    ("large", 300),
    ("very-large", u64::MAX),
];

/// The bins of files.
pub const FILE_BINS: [(&str, u64); 6] = [
    ("none", 0),
    ("1", 1),
    ("2-4", 4),
    ("5-8", 8),
    ("9-15", 15),
    ("16+", u64::MAX),
];

/// The bins of hunks.
pub const HUNK_BINS: [(&str, u64); 6] = [
    ("none", 0),
    ("1", 1),
    ("2-5", 5),
    ("6-15", 15),
    ("16-40", 40),
    ("41+", u64::MAX),
];

fn bin(bins: &[(&str, u64)], count: u64) -> String {
    let found = bins.iter().find(|(_, most)| count <= *most);
    found.map_or("none", |(name, _)| *name).to_owned()
}

/// The size of a pull request from its two patches. What is no patch counts as none.
///
/// ```
/// use atlas_core::Patch;
/// let patch = Patch::new("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n");
/// let found = atlas_judge::difficulty::difficulty(&patch, &Patch::new(""));
/// assert_eq!((found.lines, found.lines_bin.as_str(), found.files_bin.as_str()), (2, "small", "1"));
/// ```
pub fn difficulty(gold_patch: &Patch, test_patch: &Patch) -> Difficulty {
    let mut found = Difficulty::default();
    let mut paths = std::collections::BTreeSet::new();
    for (patch, is_gold) in [(gold_patch, true), (test_patch, false)] {
        for file in patch.files().unwrap_or_default() {
            let hunks = file.hunks.len() as u64;
            let changed = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            let lines = changed.filter(|line| line.kind != HunkLineKind::Context);
            let lines = lines.count() as u64;
            found.lines += lines;
            found.hunks += hunks;
            if is_gold {
                found.gold_lines += lines;
                found.gold_hunks += hunks;
                found.gold_files += 1;
            }
            paths.insert(file.path().to_owned());
        }
    }
    found.files = paths.len() as u64;
    found.lines_bin = bin(&LINE_BINS, found.lines);
    found.files_bin = bin(&FILE_BINS, found.files);
    found.hunks_bin = bin(&HUNK_BINS, found.hunks);
    found
}

/// The same of a row, by its columns `patch` and `test_patch`.
///
/// # Errors
/// A column that holds something else than text.
pub fn row_difficulty(row: &Instance) -> Result<Difficulty, InstanceError> {
    let test_patch = match row.as_map().get("test_patch") {
        None | Some(serde_json::Value::Null) => Patch::new(""),
        Some(_) => row.test_patch()?,
    };
    Ok(difficulty(&row.gold_patch()?, &test_patch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bins_are_the_papers() {
        for (count, name) in [
            (0, "none"),
            (1, "small"),
            (30, "small"),
            (31, "medium"),
            (100, "medium"),
            (101, "large"),
            (300, "large"),
            (301, "very-large"),
        ] {
            assert_eq!(bin(&LINE_BINS, count), name, "{count} lines");
        }
        for (count, name) in [
            (1, "1"),
            (2, "2-4"),
            (4, "2-4"),
            (5, "5-8"),
            (9, "9-15"),
            (16, "16+"),
        ] {
            assert_eq!(bin(&FILE_BINS, count), name, "{count} files");
        }
        assert_eq!(bin(&HUNK_BINS, 41), "41+");
    }

    #[test]
    fn a_file_of_both_patches_is_one_file() {
        let gold =
            Patch::new("--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n");
        let test = Patch::new(
            "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -9 +10,2 @@\n t\n+u\n--- /dev/null\n+++ b/t.rs\n@@ -0,0 +1 @@\n+x\n",
        );
        let found = difficulty(&gold, &test);
        assert_eq!((found.lines, found.files, found.hunks), (5, 2, 3));
        assert_eq!(
            (found.gold_lines, found.gold_files, found.gold_hunks),
            (3, 1, 1)
        );
        let nothing = difficulty(&Patch::new("no patch"), &Patch::new(""));
        assert_eq!(nothing.lines_bin, "none");
    }
}
