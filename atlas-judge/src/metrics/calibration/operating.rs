//! Where to cut for a wanted precision.

use crate::metrics::ranking::steps;
use crate::metrics::{ConfidenceInterval, bootstrap_ratio, share};
use serde::{Deserialize, Serialize};

/// What a decision about items reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperatingPoint {
    /// Items that are shown.
    pub shown: u64,
    /// The share of right ones among the shown; absent where nothing is shown.
    pub precision: Option<f64>,
    /// Its bootstrap interval at 95 %, over groups.
    pub precision_interval: Option<ConfidenceInterval>,
    /// The share of shown ones among the right; absent where nothing is right.
    pub recall: Option<f64>,
    /// Its interval.
    pub recall_interval: Option<ConfidenceInterval>,
    /// The share of items that are shown; absent without items.
    pub coverage: Option<f64>,
    /// Its interval.
    pub coverage_interval: Option<ConfidenceInterval>,
}

/// The smallest threshold, of the distinct scores, from which on the share of true items is at least `target`: of all
/// such thresholds the one with the largest coverage.
///
/// `None` where no threshold reaches the target, without items, with a score that is no finite number, or with a
/// target that is not within 0 to 1.
///
/// ```
/// use atlas_judge::metrics::threshold_for_precision;
/// let items = [(true, 0.9), (false, 0.8), (true, 0.7), (false, 0.1)];
/// assert_eq!(threshold_for_precision(&items, 0.6), Some(0.7));
/// assert_eq!(threshold_for_precision(&items, 0.9), Some(0.9));
/// assert_eq!(threshold_for_precision(&items[1..], 0.9), None);
/// ```
pub fn threshold_for_precision(items: &[(bool, f64)], target: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&target) {
        return None;
    }
    let steps = steps(items)?;
    let reaches = |shown, hits| share(hits, shown).is_some_and(|precision| precision >= target);
    let last = steps
        .iter()
        .rev()
        .find(|step| reaches(step.shown, step.hits))?;
    Some(last.score)
}

/// What is reached by showing items `(truth, shown)`. Items come in groups that resamples draw whole, such as the
/// patches of a task; each item may be a group of its own.
///
/// The decision is held while items are resampled. Where a threshold was chosen on the same items, its precision is
/// better here than on others, and the interval does not say by how much.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn operating_point(
    groups: &[Vec<(bool, bool)>],
    resamples: usize,
    seed: u64,
) -> OperatingPoint {
    let count = |group: &[(bool, bool)], counts: fn(&(bool, bool)) -> bool| {
        group.iter().filter(|item| counts(item)).count() as u64
    };
    // All, right, shown, both.
    let counted: Vec<[u64; 4]> = groups
        .iter()
        .map(|group| {
            [
                group.len() as u64,
                count(group, |item| item.0),
                count(group, |item| item.1),
                count(group, |item| item.0 && item.1),
            ]
        })
        .collect();
    let sum = |at: usize| counted.iter().map(|group| group[at]).sum::<u64>();
    let interval = |part: usize, whole: usize| {
        let items: Vec<(f64, f64)> = counted
            .iter()
            .map(|group| (group[part] as f64, group[whole] as f64))
            .collect();
        bootstrap_ratio(&items, resamples, seed, 95.0)
    };
    let [all, right, shown, both] = [0, 1, 2, 3];
    OperatingPoint {
        shown: sum(shown),
        precision: share(sum(both), sum(shown)),
        precision_interval: interval(both, shown),
        recall: share(sum(both), sum(right)),
        recall_interval: interval(both, right),
        coverage: share(sum(shown), sum(all)),
        coverage_interval: interval(shown, all),
    }
}
