//! Patches that do not apply, and what is said about them.

mod ladders;
mod mending;
mod text;
mod trees;

use atlas_source::PatchFaultKind;

/// A kind without a test is a kind that nobody has seen.
#[test]
fn every_kind_has_a_test() {
    // Bytes that no text can hold have tests of their own.
    let bytes = [PatchFaultKind::InvalidUtf8, PatchFaultKind::Utf16];
    let tested: Vec<PatchFaultKind> = text::cases()
        .iter()
        .map(|case| case.kind)
        .chain(trees::KINDS.iter().copied())
        .chain(bytes)
        .collect();
    for kind in PatchFaultKind::ALL {
        assert!(tested.contains(kind), "{kind}");
    }
}
