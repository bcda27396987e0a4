//! How large the patches are that policies show and hide (paper 002, Figure 15).

use crate::metrics::results::PatchSize;
use crate::metrics::{self as m, Spread};
use serde::Serialize;

/// The sizes of patches by what a policy decides and by what was true.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DecidedSizes {
    /// Shown.
    pub accepted: PatchSizes,
    /// Shown and right.
    pub accepted_right: PatchSizes,
    /// Shown and wrong.
    pub accepted_wrong: PatchSizes,
    /// Hidden.
    pub rejected: PatchSizes,
    /// Hidden and right.
    pub rejected_right: PatchSizes,
    /// Hidden and wrong.
    pub rejected_wrong: PatchSizes,
}

/// How large patches are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PatchSizes {
    /// Patches.
    pub patches: u64,
    /// Lines added and removed by patch.
    pub line_operations: Option<Spread>,
    /// The mean of lines added.
    pub added: Option<f64>,
    /// The mean of lines removed.
    pub removed: Option<f64>,
    /// The mean of files.
    pub files: Option<f64>,
    /// The mean of hunks.
    pub hunks: Option<f64>,
}

/// A patch of known size that got as far as a policy's last stage.
#[derive(Clone, Copy)]
pub(super) struct SizedPatch {
    pub(super) size: PatchSize,
    pub(super) right: bool,
    pub(super) accepted: bool,
}

/// None without patches.
pub(super) fn by_decision(patches: &[SizedPatch]) -> Option<DecidedSizes> {
    if patches.is_empty() {
        return None;
    }
    let of = |accepted: bool, right: Option<bool>| {
        let wanted = patches.iter().filter(|patch| {
            patch.accepted == accepted && right.is_none_or(|right| right == patch.right)
        });
        sizes(&wanted.map(|patch| patch.size).collect::<Vec<_>>())
    };
    Some(DecidedSizes {
        accepted: of(true, None),
        accepted_right: of(true, Some(true)),
        accepted_wrong: of(true, Some(false)),
        rejected: of(false, None),
        rejected_right: of(false, Some(true)),
        rejected_wrong: of(false, Some(false)),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of lines are far below 2^53"
)]
fn sizes(sizes: &[PatchSize]) -> PatchSizes {
    let patches = sizes.len() as u64;
    let mean = |of: fn(&PatchSize) -> u64| m::share(sizes.iter().map(of).sum(), patches);
    let lines: Vec<f64> = sizes
        .iter()
        .map(|size| size.line_operations() as f64)
        .collect();
    PatchSizes {
        patches,
        line_operations: m::spread(&lines),
        added: mean(|size| size.added),
        removed: mean(|size| size.removed),
        files: mean(|size| size.files),
        hunks: mean(|size| size.hunks),
    }
}
