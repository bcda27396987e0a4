//! How much of what is shown is wrong, the more is shown.

use crate::metrics::ranking::steps;
use crate::metrics::{ratio, share};
use serde::{Deserialize, Serialize};

/// The risk at every coverage (Geifman and El-Yaniv 2017).
///
/// Thresholds are the distinct scores, descending: at each, what has at least that score is shown. Equal scores are
/// shown together, so the curve has no point within them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RiskCoverage {
    /// The distinct scores, descending.
    pub thresholds: Vec<f64>,
    /// The share of items that are shown, rising to 1.
    pub coverage: Vec<f64>,
    /// The share of wrong ones among them.
    pub risk: Vec<f64>,
    /// The area under the curve, 0 to 1, smaller is better: the mean over all `n` of the risk of the `n` items with the
    /// highest scores. Within equal scores it is the mean over all their orders, so none of them matters.
    pub area: f64,
    /// The area of scores that put every right item before every wrong one.
    pub best_area: f64,
    /// The risk of showing everything, which is the expected area of scores without skill.
    pub no_skill: f64,
}

/// The curve of items `(truth, score)`; true is right. Scores need not be probabilities.
///
/// `None` without items or with a score that is no finite number.
///
/// ```
/// use atlas_judge::metrics::risk_coverage;
/// let found = risk_coverage(&[(true, 0.9), (false, 0.5), (true, 0.5)]).unwrap();
/// assert_eq!(found.risk, [0.0, 1.0 / 3.0]);
/// // One item: nothing is wrong. Two: in one order of two the second is wrong. Three: one is.
/// assert!((found.area - (0.0 + 0.25 + 1.0 / 3.0) / 3.0).abs() < 1e-12);
/// ```
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn risk_coverage(items: &[(bool, f64)]) -> Option<RiskCoverage> {
    let steps = steps(items)?;
    let all = items.len() as u64;
    let right = steps.last()?.hits;
    let mut found = RiskCoverage {
        thresholds: Vec::with_capacity(steps.len()),
        coverage: Vec::with_capacity(steps.len()),
        risk: Vec::with_capacity(steps.len()),
        area: 0.0,
        best_area: 0.0,
        no_skill: share(all - right, all)?,
    };
    let (mut shown, mut wrong, mut sum) = (0, 0, 0.0);
    for step in &steps {
        let now = step.shown - step.hits;
        let rate = share(now - wrong, step.shown - shown)?;
        for at in 1..=step.shown - shown {
            sum += (wrong as f64 + rate * at as f64) / (shown + at) as f64;
        }
        (shown, wrong) = (step.shown, now);
        found.thresholds.push(step.score);
        found.coverage.push(share(shown, all)?);
        found.risk.push(share(wrong, shown)?);
    }
    found.area = ratio(sum, all)?;
    // A sum of nothing is -0 otherwise.
    let best = (right + 1..=all).fold(0.0, |sum, shown| {
        sum + (shown - right) as f64 / shown as f64
    });
    found.best_area = ratio(best, all)?;
    Some(found)
}
