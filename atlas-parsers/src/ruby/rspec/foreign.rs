//! Which lines of the tree are what tests have printed, where the totals show that there are too
//! many, and which stand behind output without a line end, where there are too few.

use super::tree::Leaf;
use atlas_core::TestStatus;

/// An example with its name, its status, and whether it may be what a test has printed.
pub(super) type Found = (Leaf, String, TestStatus, bool);

/// Makes of the lines that were read, and of those that may stand behind output, as many as the
/// totals say there are. Where more than these are missing, none of them is believed: a log with
/// holes would turn tables into tests.
pub(super) fn settle(found: &mut Vec<Found>, halves: Vec<Found>, all: usize) {
    let printed = found.iter().filter(|leaf| is_printed(leaf)).count();
    let room = all.saturating_sub(found.len()) + printed;
    if halves.len() <= room && found.len() + halves.len() >= all {
        found.extend(halves);
    }
    drop_foreign(found, all);
}

/// A title like a failure's that no list has, with more output directly behind it: the same test
/// has printed both.
fn is_printed(leaf: &Found) -> bool {
    leaf.3 && leaf.0.noisy
}

/// Drops what is too much by the totals: what tests have printed, or else what stands in front of
/// the run, where without its groups all are there.
fn drop_foreign(found: &mut Vec<Found>, all: usize) {
    let excess = found.len().saturating_sub(all);
    if excess == 0 {
        return;
    }
    let mut printed = found.clone();
    let left = drop_printed(&mut printed, excess);
    drop_excess(&mut printed, left);
    let run = &found[excess..];
    let in_front = run.first().is_some_and(|first| {
        found[..excess]
            .iter()
            .all(|(leaf, _, status, _)| leaf.group < first.0.group && *status == TestStatus::Passed)
    });
    if printed.len() > all && in_front {
        found.drain(..excess);
        return;
    }
    *found = printed;
}

/// Drops what is surely printed, as far as there is too much; the rest of the excess.
fn drop_printed(found: &mut Vec<Found>, mut excess: usize) -> usize {
    found.retain(|leaf| {
        let drop = excess > 0 && is_printed(leaf);
        excess -= usize::from(drop);
        !drop
    });
    excess
}

/// Drops examples that were not run: those that tests have printed themselves, as far as the
/// totals show that there are too many.
fn drop_excess(found: &mut Vec<Found>, mut excess: usize) {
    // A title that ends like a failure whose number was another's is hardly a title; and what
    // stands directly in front of it came from the same test.
    let mut at = found.len();
    let mut gone = vec![false; found.len()];
    while at > 0 && excess > 0 {
        at -= 1;
        if !found[at].3 {
            continue;
        }
        let mut from = at;
        loop {
            gone[from] = true;
            excess -= 1;
            let depth = found[from].0.path.len();
            let before = from > 0
                && found[from].0.follows
                && found[from - 1].0.path.len() == depth
                && found[from - 1].2 == TestStatus::Passed
                && !gone[from - 1];
            if excess == 0 || !before {
                break;
            }
            from -= 1;
        }
    }
    let mut keep = gone.iter().map(|gone| !gone);
    found.retain(|_| keep.next().unwrap_or(true));
}
