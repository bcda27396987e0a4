//! How large a patch is.

use atlas_core::{HunkLineKind, Patch};
use serde::{Deserialize, Serialize};

/// What a patch changes, counted: what results files know of a patch instead of the patch itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchSize {
    /// Files that it changes, makes or removes; 0 for an empty patch.
    pub files: u64,
    /// Its hunks.
    pub hunks: u64,
    /// Lines that it adds.
    pub added: u64,
    /// Lines that it takes away.
    pub removed: u64,
}

impl PatchSize {
    /// The size of a patch; none of one that cannot be read. A changed line counts as one added and one removed, a
    /// binary file as a file without lines.
    ///
    /// ```
    /// use atlas_judge::metrics::results::PatchSize;
    /// let patch = atlas_core::Patch::new("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n");
    /// let size = PatchSize::of(&patch).unwrap();
    /// assert_eq!((size.files, size.hunks, size.added, size.removed), (1, 1, 2, 1));
    /// ```
    pub fn of(patch: &Patch) -> Option<Self> {
        let mut size = Self::default();
        for file in patch.files().ok()? {
            size.files += 1;
            size.hunks += file.hunks.len() as u64;
            for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
                match line.kind {
                    HunkLineKind::Insert => size.added += 1,
                    HunkLineKind::Delete => size.removed += 1,
                    HunkLineKind::Context => {}
                }
            }
        }
        Some(size)
    }

    /// Its line operations: added and removed lines together (paper 002, section 7).
    pub fn line_operations(&self) -> u64 {
        self.added + self.removed
    }
}
