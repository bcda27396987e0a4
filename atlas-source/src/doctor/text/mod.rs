//! What the text of a patch alone tells.

mod encoding;
mod hunks;
mod sections;
mod wrapping;

use super::fault::{PatchFault, PatchFaultKind as Kind};
use super::scan::Scan;
use std::collections::BTreeMap;

/// At most so many faults of one kind are given; the rest repeat themselves.
const MOST_OF_A_KIND: usize = 20;

/// What is wrong with a patch, or noteworthy in it, as far as its text alone tells. In the order of
/// the lines; what concerns the whole comes first.
///
/// Any bytes are taken. That nothing is found does not mean that the patch fits anywhere: see
/// [`diagnose`](crate::diagnose).
///
/// ```
/// use atlas_source::{PatchFaultKind, examine};
/// let faults = examine(b"--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b\n+c\n d\n@@ -20 +20 @@\n-e\n+f\n");
/// let counts = faults.iter().find(|fault| fault.kind == PatchFaultKind::HunkCounts).unwrap();
/// assert_eq!(counts.line, Some(3));
/// assert!(counts.breaks);
/// ```
pub fn examine(patch: &[u8]) -> Vec<PatchFault> {
    if patch.is_empty() {
        return vec![
            PatchFault::new(
                Kind::Empty,
                "the patch is empty",
                "let the model write its changes",
            )
            .breaking(),
        ];
    }
    if patch.iter().all(u8::is_ascii_whitespace) {
        return vec![
            PatchFault::new(
                Kind::WhitespaceOnly,
                "the patch is white space only",
                "let the model write its changes",
            )
            .breaking(),
        ];
    }
    let scan = Scan::of(patch);
    let mut faults = Vec::new();
    encoding::examine(patch, &scan, &mut faults);
    wrapping::examine(patch, &scan, &mut faults);
    sections::examine(&scan, &mut faults);
    hunks::examine(&scan, &mut faults);
    faults.sort_by_key(|fault| (fault.line, fault.kind));
    let mut seen: BTreeMap<Kind, usize> = BTreeMap::new();
    faults.retain(|fault| {
        let count = seen.entry(fault.kind).or_default();
        *count += 1;
        *count <= MOST_OF_A_KIND
    });
    faults
}
