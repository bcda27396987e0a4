//! By how much a policy helps, by kind of bug.

use std::collections::BTreeMap;

/// The patches of one bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedBug {
    /// What it is grouped by, as the sanitizer that found it.
    pub kind: String,
    /// All its patches: whether each is right, and whether the policy keeps it.
    pub patches: Vec<KeptPatch>,
}

/// One patch as [`lift_by_type`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPatch {
    /// It is right, by the ground truth.
    pub correct: bool,
    /// The policy keeps it.
    pub kept: bool,
}

/// Lift by type: accept@1 of what the policy keeps over accept@1 of everything, each the mean over the
/// type's bugs of the share of right patches (paper 002, section 6.4, Table 2).
///
/// Bugs without a patch (above: without a kept one) are not in the mean. `None`, the paper's "NA",
/// where the policy keeps no patch of the type or no patch of it is right.
pub fn lift_by_type(bugs: &[TypedBug]) -> BTreeMap<String, Option<f64>> {
    #[derive(Default)]
    struct Sums {
        raw: f64,
        raw_bugs: u64,
        kept: f64,
        kept_bugs: u64,
    }
    let mut types: BTreeMap<&str, Sums> = BTreeMap::new();
    for bug in bugs {
        let sums = types.entry(&bug.kind).or_default();
        if let Some(share) = right_share(bug.patches.iter()) {
            sums.raw += share;
            sums.raw_bugs += 1;
        }
        if let Some(share) = right_share(bug.patches.iter().filter(|patch| patch.kept)) {
            sums.kept += share;
            sums.kept_bugs += 1;
        }
    }
    types
        .into_iter()
        .map(|(kind, sums)| {
            let raw = super::ratio(sums.raw, sums.raw_bugs);
            let kept = super::ratio(sums.kept, sums.kept_bugs);
            let lift = kept
                .zip(raw)
                .and_then(|(kept, raw)| super::quotient(kept, raw));
            (kind.to_owned(), lift)
        })
        .collect()
}

fn right_share<'a>(patches: impl Iterator<Item = &'a KeptPatch>) -> Option<f64> {
    let (mut all, mut right) = (0, 0);
    for patch in patches {
        all += 1;
        right += u64::from(patch.correct);
    }
    super::share(right, all)
}
