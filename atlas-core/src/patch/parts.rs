//! Leaving parts of a patch out.

use super::{FilePatch, Hunk, HunkLineKind, Patch, PatchError, PatchKind};
use std::collections::BTreeSet;

/// A part of a patch that can be left out by itself: one hunk of a changed text file, or a whole
/// section where there is nothing smaller (a new, removed, moved or binary file, a change of mode).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PatchPart {
    /// The file, as it is called after the patch.
    pub path: String,
    /// The section's place in [`Patch::files`].
    pub file: usize,
    /// The hunk's place in the section; absent for a whole section.
    pub hunk: Option<usize>,
    /// First line in the new version, from 1; 0 for a whole section.
    pub line: u64,
    /// Lines that the part adds.
    pub inserted: Vec<String>,
    /// Lines that the part takes away.
    pub deleted: Vec<String>,
}

impl Patch {
    /// Every part that can be left out by itself, in the patch's order.
    ///
    /// ```
    /// let patch = atlas_core::Patch::new(
    ///     "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n",
    /// );
    /// let parts = patch.parts()?;
    /// assert_eq!(parts.len(), 2);
    /// assert_eq!(patch.without(&parts)?.as_bytes(), b"");
    /// # Ok::<(), atlas_core::PatchError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Patch::files`].
    pub fn parts(&self) -> Result<Vec<PatchPart>, PatchError> {
        let mut parts = Vec::new();
        for (place, file) in self.files()?.iter().enumerate() {
            if is_divisible(file) {
                let hunks = file.hunks.iter().enumerate();
                parts.extend(hunks.map(|(at, hunk)| part(file, place, Some(at), &[hunk])));
            } else {
                let hunks: Vec<&Hunk> = file.hunks.iter().collect();
                parts.push(part(file, place, None, &hunks));
            }
        }
        Ok(parts)
    }

    /// The patch without these parts of it. Places of later hunks in the new version are counted
    /// anew, so the result applies wherever the whole patch does.
    ///
    /// # Errors
    /// As [`Patch::files`].
    pub fn without<'a>(
        &self,
        parts: impl IntoIterator<Item = &'a PatchPart>,
    ) -> Result<Self, PatchError> {
        let left_out: BTreeSet<(usize, Option<usize>)> = parts
            .into_iter()
            .map(|part| (part.file, part.hunk))
            .collect();
        let mut bytes = Vec::with_capacity(self.as_bytes().len());
        for (place, file) in self.files()?.iter().enumerate() {
            if left_out.contains(&(place, None)) {
                continue;
            }
            let kept: Vec<bool> = (0..file.hunks.len())
                .map(|at| !left_out.contains(&(place, Some(at))))
                .collect();
            if kept.iter().all(|kept| *kept) {
                bytes.extend(&file.raw);
            } else if kept.iter().any(|kept| *kept) {
                write_some(file, &kept, &mut bytes);
            }
        }
        Ok(Self::new(bytes))
    }

    /// The patch without the sections of some files, told by both of their paths.
    ///
    /// # Errors
    /// As [`Patch::files`].
    pub fn without_files(
        &self,
        mut is_left_out: impl FnMut(&FilePatch) -> bool,
    ) -> Result<Self, PatchError> {
        let mut bytes = Vec::with_capacity(self.as_bytes().len());
        for file in self.files()?.iter().filter(|file| !is_left_out(file)) {
            bytes.extend(&file.raw);
        }
        Ok(Self::new(bytes))
    }
}

/// Whether the section's hunks can be left out one by one: the file stays what and where it is.
fn is_divisible(file: &FilePatch) -> bool {
    file.kind == PatchKind::Modify && !file.binary && !file.hunks.is_empty()
}

fn part(file: &FilePatch, place: usize, hunk: Option<usize>, hunks: &[&Hunk]) -> PatchPart {
    let lines = |kind: HunkLineKind| -> Vec<String> {
        hunks
            .iter()
            .flat_map(|hunk| &hunk.lines)
            .filter(|line| line.kind == kind)
            .map(|line| {
                String::from_utf8_lossy(&line.bytes)
                    .trim_end_matches(['\r', '\n'])
                    .to_owned()
            })
            .collect()
    };
    PatchPart {
        path: file.path().to_owned(),
        file: place,
        hunk,
        line: if hunk.is_some() {
            hunks.first().map_or(0, |hunk| hunk.new_start)
        } else {
            0
        },
        inserted: lines(HunkLineKind::Insert),
        deleted: lines(HunkLineKind::Delete),
    }
}

/// A section with some of its hunks. The `index` line names a result that is not this one's, and
/// goes.
fn write_some(file: &FilePatch, kept: &[bool], bytes: &mut Vec<u8>) {
    let in_hunks: usize = file.hunks.iter().map(|hunk| hunk.raw.len()).sum();
    let header = &file.raw[..header_length(file, in_hunks)];
    for line in header.split_inclusive(|byte| *byte == b'\n') {
        if !line.starts_with(b"index ") {
            bytes.extend(line);
        }
    }
    let mut lost: i128 = 0;
    for (hunk, kept) in file.hunks.iter().zip(kept) {
        if !kept {
            lost += i128::from(hunk.new_lines) - i128::from(hunk.old_lines);
            continue;
        }
        let start = (i128::from(hunk.new_start) - lost).max(0);
        let header = format!(
            "@@ -{},{} +{start},{} @@",
            hunk.old_start, hunk.old_lines, hunk.new_lines
        );
        bytes.extend(header.as_bytes());
        if !hunk.section.is_empty() {
            bytes.push(b' ');
            bytes.extend(&hunk.section);
        }
        bytes.push(b'\n');
        let body = hunk.raw.iter().position(|byte| *byte == b'\n');
        bytes.extend(body.map_or(&[][..], |end| &hunk.raw[end + 1..]));
    }
}

/// Where the first hunk begins. What follows the last hunk is no part of it and belongs to no hunk.
fn header_length(file: &FilePatch, in_hunks: usize) -> usize {
    let first = file.hunks.first().map_or(&[][..], |hunk| &hunk.raw);
    let latest = file.raw.len().saturating_sub(in_hunks);
    (0..=latest)
        .find(|at| {
            file.raw[*at..].starts_with(first) && (*at == 0 || file.raw.get(at - 1) == Some(&b'\n'))
        })
        .unwrap_or(latest)
}
