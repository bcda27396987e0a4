//! What the instance's own patches do to a file.

use crate::BaseFiles;
use atlas_core::{FilePatch, Hunk, HunkLineKind, Patch, PatchKind};
use std::collections::BTreeMap;

/// The sections of both patches, by path.
#[derive(Debug, Default)]
pub(crate) struct Upstream {
    tests: BTreeMap<String, Vec<FilePatch>>,
    gold: BTreeMap<String, Vec<FilePatch>>,
}

/// A file as one of the instance's states has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// No such file.
    Absent,
    /// Its bytes.
    Known(Vec<u8>),
    /// There is one, but its bytes are not known here.
    Unknown,
}

impl Version {
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Known(bytes) => Some(bytes),
            Self::Absent | Self::Unknown => None,
        }
    }
}

impl Upstream {
    /// Reads both patches. One that cannot be read touches nothing: whoever made the instance has
    /// refused it already.
    pub(crate) fn new(test_patch: &Patch, gold_patch: &Patch) -> Self {
        Self {
            tests: sections(test_patch),
            gold: sections(gold_patch),
        }
    }

    pub(crate) fn tests_touch(&self, path: &str) -> bool {
        self.tests.contains_key(path)
    }

    pub(crate) fn gold_touches(&self, path: &str) -> bool {
        self.gold.contains_key(path)
    }

    /// Paths that the test patch leaves in the tree.
    pub(crate) fn test_paths(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().flat_map(|(path, sections)| {
            sections
                .iter()
                .filter_map(|section| section.new_path.as_deref())
                .filter(move |new| *new == path)
        })
    }

    /// The file with the test patch alone.
    pub(crate) fn with_tests(&self, base: &dyn BaseFiles, path: &str) -> Version {
        applied(base, path, &[self.tests.get(path)])
    }

    /// The file with both patches.
    pub(crate) fn with_both(&self, base: &dyn BaseFiles, path: &str) -> Version {
        applied(base, path, &[self.gold.get(path), self.tests.get(path)])
    }
}

fn sections(patch: &Patch) -> BTreeMap<String, Vec<FilePatch>> {
    let mut by_path: BTreeMap<String, Vec<FilePatch>> = BTreeMap::new();
    for file in patch.files().unwrap_or_default() {
        for path in file.paths() {
            by_path
                .entry(path.to_owned())
                .or_default()
                .push(file.clone());
        }
    }
    by_path
}

/// The base file with some sections applied at once. Both patches count lines in the base file, so
/// their hunks are merged by place and need no offsets.
fn applied(base: &dyn BaseFiles, path: &str, patches: &[Option<&Vec<FilePatch>>]) -> Version {
    let sections: Vec<&FilePatch> = patches.iter().flatten().flat_map(|list| *list).collect();
    let mut source = path;
    let mut hunks: Vec<&Hunk> = Vec::new();
    for section in &sections {
        if section.binary {
            return Version::Unknown;
        }
        match section.new_path.as_deref() {
            // Removed, or moved away; a copy leaves its source.
            None => return Version::Absent,
            Some(new) if new != path => {
                if section.kind == PatchKind::Rename {
                    return Version::Absent;
                }
                continue;
            }
            Some(_) => {}
        }
        if matches!(section.kind, PatchKind::Rename | PatchKind::Copy) {
            source = section.old_path.as_deref().unwrap_or(path);
        }
        hunks.extend(&section.hunks);
    }
    let created = sections
        .iter()
        .any(|section| section.kind == PatchKind::Create && section.path() == path);
    let old = match base.read(source) {
        Some(bytes) => bytes,
        None if base.exists(source) => return Version::Unknown,
        None if created => b"",
        None => return Version::Absent,
    };
    hunks.sort_by_key(|hunk| hunk.old_start);
    merge(old, &hunks).map_or(Version::Unknown, Version::Known)
}

fn merge(old: &[u8], hunks: &[&Hunk]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let mut new = Vec::with_capacity(old.len());
    let mut at = 0;
    for hunk in hunks {
        let start = usize::try_from(hunk.old_start).ok()?;
        // A hunk that takes no old line stands behind the line it names.
        let start = if hunk.old_lines == 0 {
            start
        } else {
            start.checked_sub(1)?
        };
        new.extend(lines.get(at..start)?.concat());
        at = start;
        for line in &hunk.lines {
            if line.kind != HunkLineKind::Insert {
                if *lines.get(at)? != line.bytes {
                    return None;
                }
                at += 1;
            }
            if line.kind != HunkLineKind::Delete {
                new.extend(&line.bytes);
            }
        }
    }
    new.extend(lines.get(at..)?.concat());
    Some(new)
}
