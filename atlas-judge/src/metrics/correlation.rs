//! Do two orders agree?

use super::ranking::same;
use serde::{Deserialize, Serialize};

/// Ranks from 1, ascending; equal values share the mean of their places. `None` with a value that is
/// no finite number.
#[expect(
    clippy::cast_precision_loss,
    reason = "sums of two ranks are far below 2^53"
)]
pub fn average_ranks(values: &[f64]) -> Option<Vec<f64>> {
    let doubled = doubled_ranks(values)?;
    Some(doubled.iter().map(|rank| *rank as f64 / 2.0).collect())
}

/// Twice the average ranks, which are whole numbers.
fn doubled_ranks(values: &[f64]) -> Option<Vec<u64>> {
    if values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let mut to = from + 1;
        while to < order.len() && same(values[order[to]], values[order[from]]) {
            to += 1;
        }
        // Places from+1 ..= to; twice their mean is first plus last.
        for at in &order[from..to] {
            ranks[*at] = (from + 1 + to) as u64;
        }
        from = to;
    }
    Some(ranks)
}

/// Spearman's rank correlation: Pearson's of the [`average_ranks`] (paper 004, section 4.4).
///
/// It is exactly 1 where the orders are the same. `None` where it is not defined: a side is constant
/// (which the paper does not treat), the lengths differ, fewer than two values, or one that is no
/// finite number.
///
/// ```
/// use atlas_judge::metrics::spearman;
/// assert_eq!(spearman(&[1.0, 2.0, 3.0], &[0.1, 0.2, 0.9]), Some(1.0));
/// assert_eq!(spearman(&[1.0, 2.0], &[5.0, 5.0]), None);
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "the sums are exact whole numbers and rounded once each"
)]
pub fn spearman(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.len() != y.len() || x.len() < 2 {
        return None;
    }
    let (x, y) = (doubled_ranks(x)?, doubled_ranks(y)?);
    // All in whole numbers around the common mean, twice of which is n + 1.
    let mean = x.len() as i128 + 1;
    let (mut both, mut of_x, mut of_y) = (0_i128, 0_i128, 0_i128);
    for (a, b) in x.iter().zip(&y) {
        let (a, b) = (i128::from(*a) - mean, i128::from(*b) - mean);
        both += a * b;
        of_x += a * a;
        of_y += b * b;
    }
    if of_x == 0 || of_y == 0 {
        return None;
    }
    // Equal spreads, as without ties, need no root: the same and the opposite order are exactly 1 and
    // -1. By Cauchy and Schwarz no others are.
    let scale = if of_x == of_y {
        of_x as f64
    } else {
        (of_x as f64).sqrt() * (of_y as f64).sqrt()
    };
    let rho = both as f64 / scale;
    Some(rho.clamp(-1.0, 1.0))
}

/// Kendall's rank correlation, tau-b: pairs in the same order less pairs in the opposite one, over the root of the pairs
/// without a tie on the one side times those without one on the other. Every pair is looked at.
///
/// `None` where it is not defined: a side is constant, the lengths differ, fewer than two values, or one that is no finite
/// number.
///
/// ```
/// use atlas_judge::metrics::kendall;
/// assert_eq!(kendall(&[1.0, 2.0, 3.0], &[0.1, 0.9, 0.2]), Some(1.0 / 3.0));
/// ```
#[expect(clippy::cast_precision_loss, reason = "pairs are far below 2^53")]
pub fn kendall(x: &[f64], y: &[f64]) -> Option<f64> {
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if x.len() != y.len() || !finite(x) || !finite(y) {
        return None;
    }
    let order = |values: &[f64], at: usize, other: usize| {
        let sign = values[at].partial_cmp(&values[other]);
        sign.map_or(0, |sign| sign as i64)
    };
    let (mut sum, mut of_x, mut of_y) = (0_i64, 0_i64, 0_i64);
    for at in 0..x.len() {
        for other in 0..at {
            let (a, b) = (order(x, at, other), order(y, at, other));
            sum += a * b;
            of_x += a.abs();
            of_y += b.abs();
        }
    }
    // Equal counts need no root: the same order is exactly 1.
    let scale = if of_x == of_y {
        of_x as f64
    } else {
        (of_x as f64).sqrt() * (of_y as f64).sqrt()
    };
    super::quotient(sum as f64, scale)
}

/// Rank correlations of many instances.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CorrelationSummary {
    /// Instances with a correlation.
    pub defined: u64,
    /// Instances without one, as with constant ranks; they are in no other number here.
    pub undefined: u64,
    /// The mean over the defined ones.
    pub mean: Option<f64>,
    /// The share of the defined ones whose orders are the same.
    pub share_perfect: Option<f64>,
}

/// Sums up; the order does not matter.
pub fn summarise_correlations(rhos: &[Option<f64>]) -> CorrelationSummary {
    let mut defined: Vec<f64> = rhos.iter().copied().flatten().collect();
    defined.sort_unstable_by(f64::total_cmp);
    let count = defined.len() as u64;
    let perfect = defined.iter().filter(|rho| same(**rho, 1.0)).count() as u64;
    CorrelationSummary {
        defined: count,
        undefined: rhos.len() as u64 - count,
        mean: super::ratio(defined.iter().sum(), count),
        share_perfect: super::share(perfect, count),
    }
}
