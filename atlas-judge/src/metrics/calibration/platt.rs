//! A logistic curve over scores.

use super::{FitError, fit_input};
use crate::metrics::ranking::same;
use serde::{Deserialize, Serialize};

/// Newton's steps are far fewer; each that is counted lowers the loss.
const MOST_STEPS: usize = 200;

/// Platt scaling: `1 / (1 + exp(-(slope * score + intercept)))` (Platt 1999).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Platt {
    /// By how much a score moves the logarithm of the odds; below 0 where high scores are wrong.
    pub slope: f64,
    /// The logarithm of the odds at the score 0.
    pub intercept: f64,
}

impl Platt {
    /// Fits by maximum likelihood, with Newton's method and Platt's targets: `(p + 1) / (p + 2)` for a true item and
    /// `1 / (n + 2)` for a false one, of `p` true and `n` false items.
    ///
    /// As no target is 0 or 1, scores that separate the classes have a finite fit too. Where all scores
    /// are equal, the slope is 0 and every score stands for the mean target.
    ///
    /// # Errors
    /// No items, items of one class only, numbers that are not finite.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn fit(items: &[(bool, f64)]) -> Result<Self, FitError> {
        let items = fit_input(items)?;
        let right = items.iter().filter(|item| item.0).count() as f64;
        let wrong = items.len() as f64 - right;
        let (high, low) = ((right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0));
        let (first, last) = (items[0].1, items[items.len() - 1].1);
        if same(first, last) {
            let mean = (right * high + wrong * low) / (right + wrong);
            return Ok(Self {
                slope: 0.0,
                intercept: (mean / (1.0 - mean)).ln(),
            });
        }
        // From -1 to 1, so that steps and their ends do not hang on the unit of scores.
        let half = last / 2.0 - first / 2.0;
        let points: Vec<(f64, f64)> = items
            .iter()
            .map(|(truth, score)| {
                let z = (score / 2.0 - first / 2.0) / half * 2.0 - 1.0;
                (z, if *truth { high } else { low })
            })
            .collect();
        let (slope, intercept) = newton(&points, ((right + 1.0) / (wrong + 1.0)).ln());
        let found = Self {
            slope: slope / half,
            intercept: intercept - slope - slope * (first / half),
        };
        if found.slope.is_finite() && found.intercept.is_finite() {
            Ok(found)
        } else {
            Err(FitError::NotFinite)
        }
    }

    /// The probability that a score stands for. `None` for what is no finite number.
    pub fn apply(&self, score: f64) -> Option<f64> {
        let found = logistic(self.slope * score + self.intercept);
        (score.is_finite() && found.is_finite()).then_some(found)
    }
}

/// Slope and intercept of the least loss over `(score, target)`. The loss is convex, and a step that does not lower it
/// is halved, so that the end is the minimum.
fn newton(points: &[(f64, f64)], intercept: f64) -> (f64, f64) {
    let (mut slope, mut intercept) = (0.0, intercept);
    let mut loss = loss_of(points, slope, intercept);
    for _ in 0..MOST_STEPS {
        let (mut weight, mut moment, mut pull) = (0.0, 0.0, 0.0);
        for (z, target) in points {
            let p = logistic(slope * z + intercept);
            weight += p * (1.0 - p);
            moment += p * (1.0 - p) * z;
            pull += p - target;
        }
        // Around the weighted mean, where both directions are independent and nothing cancels.
        let centre = moment / weight;
        let (mut spread, mut turn) = (0.0, 0.0);
        for (z, target) in points {
            let p = logistic(slope * z + intercept);
            spread += p * (1.0 - p) * (z - centre) * (z - centre);
            turn += (p - target) * (z - centre);
        }
        let by_slope = -turn / spread;
        let by_intercept = -pull / weight - by_slope * centre;
        if !(by_slope.is_finite() && by_intercept.is_finite()) {
            break;
        }
        let mut part = 1.0;
        let lower = loop {
            let (a, b) = (slope + part * by_slope, intercept + part * by_intercept);
            let now = loss_of(points, a, b);
            if now < loss {
                (slope, intercept, loss) = (a, b, now);
                break true;
            }
            part /= 2.0;
            if part < 1e-9 {
                break false;
            }
        };
        if !lower {
            // The loss is flat to its last digit here; Newton's last whole step still sharpens the place.
            if by_slope.abs().max(by_intercept.abs()) < 1e-5 {
                (slope, intercept) = (slope + by_slope, intercept + by_intercept);
            }
            break;
        }
    }
    (slope, intercept)
}

fn loss_of(points: &[(f64, f64)], slope: f64, intercept: f64) -> f64 {
    points
        .iter()
        .map(|(z, target)| {
            let x = slope * z + intercept;
            x.max(0.0) + (-x.abs()).exp().ln_1p() - target * x
        })
        .sum()
}

fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        x.exp() / (1.0 + x.exp())
    }
}
