//! Scores that order items by how likely they are right.

use serde::{Deserialize, Serialize};

/// Precision and recall at every threshold.
///
/// Thresholds are the distinct scores, ascending; at each, an item counts as yes from that score on.
/// One more point, precision 1 and recall 0, closes the curve. That is the form of scikit-learn;
/// paper 002 (Figure 3) names none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionRecallCurve {
    /// One more than thresholds.
    pub precision: Vec<f64>,
    /// One more than thresholds; never rises.
    pub recall: Vec<f64>,
    /// The distinct scores, ascending.
    pub thresholds: Vec<f64>,
    /// The share of items with at least that score, one for each threshold: what is shown.
    pub shown: Vec<f64>,
}

/// The curve of items `(truth, score)`. Equal scores are one step.
///
/// `None` without a true item (recall is not defined) or with a score that is no finite number.
pub fn precision_recall_curve(items: &[(bool, f64)]) -> Option<PrecisionRecallCurve> {
    let steps = steps(items)?;
    let positives = steps.last()?.hits;
    let mut curve = PrecisionRecallCurve {
        precision: Vec::with_capacity(steps.len() + 1),
        recall: Vec::with_capacity(steps.len() + 1),
        thresholds: Vec::with_capacity(steps.len()),
        shown: Vec::with_capacity(steps.len()),
    };
    for step in steps.iter().rev() {
        curve.precision.push(super::share(step.hits, step.shown)?);
        curve.recall.push(super::share(step.hits, positives)?);
        curve.thresholds.push(step.score);
        curve
            .shown
            .push(super::share(step.shown, items.len() as u64)?);
    }
    curve.precision.push(1.0);
    curve.recall.push(0.0);
    Some(curve)
}

/// Average precision: the sum over thresholds, highest score first, of the precision there times the
/// rise of recall (paper 002, Figure 3, prints it without a formula; this is scikit-learn's). No
/// interpolation; equal scores are one step.
///
/// `None` without a true item or with a score that is no finite number.
///
/// ```
/// use atlas_judge::metrics::average_precision;
/// let items = [(false, 0.1), (false, 0.4), (true, 0.35), (true, 0.8)];
/// assert!((average_precision(&items).unwrap() - 5.0 / 6.0).abs() < 1e-12);
/// assert_eq!(average_precision(&[(false, 0.5)]), None);
/// ```
pub fn average_precision(items: &[(bool, f64)]) -> Option<f64> {
    let steps = steps(items)?;
    let positives = steps.last()?.hits;
    let mut sum = 0.0;
    let mut before = 0;
    for step in &steps {
        // Divided once, at the end: so a perfect order sums whole numbers, and is exactly 1.
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let rise = (step.hits - before) as f64;
        sum += rise * super::share(step.hits, step.shown)?;
        before = step.hits;
    }
    super::ratio(sum, positives)
}

/// The share of true items, which is the precision of a policy without skill.
pub fn no_skill_precision(items: &[(bool, f64)]) -> Option<f64> {
    let hits = items.iter().filter(|(truth, _)| *truth).count();
    super::share(hits as u64, items.len() as u64)
}

/// All items from one score on.
pub(super) struct Step {
    pub(super) score: f64,
    pub(super) shown: u64,
    pub(super) hits: u64,
}

/// The steps, highest score first.
pub(super) fn steps(items: &[(bool, f64)]) -> Option<Vec<Step>> {
    if items.iter().any(|(_, score)| !score.is_finite()) {
        return None;
    }
    let mut sorted = items.to_vec();
    sorted.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    let mut steps: Vec<Step> = Vec::new();
    let (mut shown, mut hits) = (0, 0);
    for (truth, score) in sorted {
        shown += 1;
        hits += u64::from(truth);
        match steps.last_mut() {
            Some(last) if same(last.score, score) => (last.shown, last.hits) = (shown, hits),
            _ => steps.push(Step { score, shown, hits }),
        }
    }
    Some(steps)
}

/// Equal as numbers, so that 0 and -0 are one score.
pub(super) fn same(a: f64, b: f64) -> bool {
    a.partial_cmp(&b) == Some(std::cmp::Ordering::Equal)
}
