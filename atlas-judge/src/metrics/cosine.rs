//! The edit-distance baseline: likeness of embeddings, with a threshold found on a validation set.

use super::Confusion;
use serde::{Deserialize, Serialize};

/// The cosine of the angle between two vectors, -1 to 1. `None` if their lengths differ, one is zero
/// or a number is not finite.
pub fn cosine(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = dot(a, a).sqrt() * dot(b, b).sqrt();
    super::quotient(dot(a, b), lengths).map(|found| found.clamp(-1.0, 1.0))
}

/// What [`grid_threshold`] found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GridThreshold {
    /// Yes from this score on.
    pub threshold: f64,
    /// F1 on the validation set.
    pub f1: f64,
}

/// The threshold with the best F1 on a validation set of `(truth, score)`.
///
/// Paper 004 (section 4.2.1 b) has "a grid search on a validation set" and says neither the grid nor
/// the aim. Here the grid is the distinct scores, yes means a score at or above the threshold, and of
/// equally good thresholds the lowest wins.
///
/// `None` without a true item or with a score that is no finite number.
pub fn grid_threshold(items: &[(bool, f64)]) -> Option<GridThreshold> {
    if items.iter().any(|(_, score)| !score.is_finite()) {
        return None;
    }
    let mut sorted = items.to_vec();
    sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
    let positives = sorted.iter().filter(|(truth, _)| *truth).count() as u64;
    if positives == 0 {
        return None;
    }
    let mut counts = Confusion {
        tp: positives,
        fp: sorted.len() as u64 - positives,
        ..Confusion::default()
    };
    let mut best: Option<GridThreshold> = None;
    let mut before = None;
    for (truth, score) in sorted {
        if before.is_none_or(|before| score > before) {
            let f1 = counts.f1()?;
            if best.is_none_or(|best| f1 > best.f1) {
                best = Some(GridThreshold {
                    threshold: score,
                    f1,
                });
            }
            before = Some(score);
        }
        // What is below the next threshold is said to be no.
        if truth {
            (counts.tp, counts.fn_) = (counts.tp - 1, counts.fn_ + 1);
        } else {
            (counts.fp, counts.tn) = (counts.fp - 1, counts.tn + 1);
        }
    }
    best
}
