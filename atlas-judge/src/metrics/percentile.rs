//! Percentiles, and acceptance by them.

/// The `p`-th percentile, `p` from 0 to 100, with linear interpolation between neighbours: the
/// default of `NumPy`.
///
/// `None` without values, with one that is no finite number, or with `p` out of range.
///
/// ```
/// use atlas_judge::metrics::percentile;
/// assert_eq!(percentile(&[0.0, 0.0, 0.0, 0.5], 75.0), Some(0.125));
/// ```
pub fn percentile(values: &[f64], p: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    percentile_of_sorted(&sorted, p)
}

/// As [`percentile`], of values in ascending order.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the place is between 0 and the number of values, which is far below 2^53"
)]
pub(super) fn percentile_of_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let (first, last) = (sorted.first()?, sorted.last()?);
    // Ascending in total order: anything that is not finite stands at an end.
    if !(first.is_finite() && last.is_finite() && (0.0..=100.0).contains(&p)) {
        return None;
    }
    let place = (sorted.len() - 1) as f64 * (p / 100.0);
    let at = place.floor();
    let (low, t) = (sorted[at as usize], place - at);
    let high = sorted.get(at as usize + 1).copied().unwrap_or(low);
    // From the nearer end, as `NumPy` does: exact at both, and never beyond them.
    Some(if t < 0.5 {
        low + (high - low) * t
    } else {
        high - (high - low) * (1.0 - t)
    })
}

/// Which patches a score percentile lets through (paper 002, section 3.2.6).
///
/// The cut-off is a percentile over all patches of all bugs of the set that passed the deterministic
/// stages; the paper uses the 75th and the 90th. It leaves the interpolation open (linear here) and
/// does not notice that the cut-off is 0, and lets everything through, where that many scores are 0.
/// A score of 0 means that the review said no, so [`Cutoff::accepts`] also asks for a score above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cutoff {
    /// The lowest score that passes.
    pub score: f64,
}

impl Cutoff {
    /// The cut-off at percentile `p`, 0 to 100. `None` as [`percentile`].
    pub fn at(scores: &[f64], p: f64) -> Option<Self> {
        percentile(scores, p).map(|score| Self { score })
    }

    /// Whether a patch with this score is shown.
    pub fn accepts(&self, score: f64) -> bool {
        score > 0.0 && self.reached_by(score)
    }

    /// Whether the score is at or above the cut-off: the paper's rule without our guard.
    pub fn reached_by(&self, score: f64) -> bool {
        score >= self.score
    }
}
