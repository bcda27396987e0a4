//! Scores beside the shares of right items.

use super::sorted;
use crate::metrics::{ratio, share};
use serde::{Deserialize, Serialize};

/// The most bins that [`reliability`] takes.
pub const MAX_BINS: usize = 10_000;

/// Items of similar score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// Above this score; the first bin holds 0 as well.
    pub from: f64,
    /// Up to this score, which is in the bin.
    pub to: f64,
    /// Items.
    pub count: u64,
    /// Right ones among them.
    pub right: u64,
    /// The mean of their scores; absent without items.
    pub mean_score: Option<f64>,
    /// The share of right ones; absent without items.
    pub share_right: Option<f64>,
}

/// A reliability diagram in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Bins of equal width from 0 to 1, also those without items.
    pub bins: Vec<ReliabilityBin>,
    /// Expected calibration error, 0 to 1: the distance of mean score and share of right ones, averaged over bins
    /// by their items.
    pub expected_error: f64,
    /// Maximum calibration error: the largest such distance of a bin with items.
    pub maximum_error: f64,
    /// [`brier_score`].
    pub brier: f64,
}

/// Bins of equal width from 0 to 1, by their edges. A bin holds its upper edge, the first one also 0.
pub(in crate::metrics) struct UnitBins(pub(in crate::metrics) Vec<f64>);

impl UnitBins {
    /// `bins` is 1 or more.
    #[expect(clippy::cast_precision_loss, reason = "at most MAX_BINS")]
    pub(in crate::metrics) fn new(bins: usize) -> Self {
        Self((0..=bins).map(|at| at as f64 / bins as f64).collect())
    }

    /// The bin of a score of 0 to 1.
    pub(in crate::metrics) fn place(&self, score: f64) -> usize {
        // By comparison, not by division: 0.7 times 10 is above 7.
        let uppers = &self.0[1..];
        let at = uppers.partition_point(|upper| *upper < score);
        at.min(uppers.len() - 1)
    }
}

/// Bins of equal width, calibration errors (Guo et al. 2017, section 2) and the Brier score of items `(truth, score)`.
///
/// A bin holds the scores above its lower and up to its upper edge, as there and in scikit-learn's
/// `calibration_curve`; 10 bins are usual. The expected error depends on their number: compare only values of the same.
///
/// `None` without items, with a score that is not within 0 to 1, with no bins or more than [`MAX_BINS`].
///
/// ```
/// use atlas_judge::metrics::reliability;
/// let found = reliability(&[(true, 0.9), (false, 0.9), (false, 0.3)], 10).unwrap();
/// assert_eq!((found.bins[8].count, found.bins[8].share_right), (2, Some(0.5)));
/// assert!((found.expected_error - (2.0 * 0.4 + 0.3) / 3.0).abs() < 1e-12);
/// ```
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn reliability(items: &[(bool, f64)], bins: usize) -> Option<Reliability> {
    let brier = brier_score(items)?;
    if !(1..=MAX_BINS).contains(&bins) {
        return None;
    }
    let edges = UnitBins::new(bins);
    let mut sums = vec![(0.0, 0_u64, 0_u64); bins];
    for (truth, score) in sorted(items) {
        let (sum, count, right) = &mut sums[edges.place(score)];
        *sum += score;
        *count += 1;
        *right += u64::from(truth);
    }
    let (mut expected, mut maximum) = (0.0, 0.0_f64);
    let bins = sums
        .into_iter()
        .enumerate()
        .map(|(at, (sum, count, right))| {
            let bin = ReliabilityBin {
                from: edges.0[at],
                to: edges.0[at + 1],
                count,
                right,
                mean_score: ratio(sum, count),
                share_right: share(right, count),
            };
            if let (Some(said), Some(found)) = (bin.mean_score, bin.share_right) {
                let error = (said - found).abs();
                expected += error * count as f64;
                maximum = maximum.max(error);
            }
            bin
        })
        .collect();
    Some(Reliability {
        bins,
        expected_error: ratio(expected, items.len() as u64)?,
        maximum_error: maximum,
        brier,
    })
}

/// The Brier score: the mean square of the distance between score and truth (1 or 0). 0 is best; always saying one
/// half gives 0.25.
///
/// `None` without items or with a score that is not within 0 to 1.
pub fn brier_score(items: &[(bool, f64)]) -> Option<f64> {
    if !items.iter().all(|(_, score)| (0.0..=1.0).contains(score)) {
        return None;
    }
    let sum = sorted(items)
        .into_iter()
        .map(|(truth, score)| (score - f64::from(u8::from(truth))).powi(2))
        .sum();
    ratio(sum, items.len() as u64)
}
