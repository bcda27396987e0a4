//! A curve over scores that never falls.

use super::{FitError, fit_input};
use crate::metrics::ranking::same;
use crate::metrics::share;
use serde::{Deserialize, Serialize};

/// Isotonic regression: the curve that never falls and is closest, in squares, to the truth (Zadrozny and Elkan 2002).
///
/// Between the scores of [`scores`](Self::scores) it is a straight line, and outside the value at the nearer end:
/// scikit-learn's `IsotonicRegression(out_of_bounds="clip")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct Isotonic {
    scores: Vec<f64>,
    values: Vec<f64>,
}

impl Isotonic {
    /// Fits by pooling neighbours that are out of order. Equal scores are one point with the share of true items as
    /// its value.
    ///
    /// # Errors
    /// No items, items of one class only, a score that is no finite number.
    pub fn fit(items: &[(bool, f64)]) -> Result<Self, FitError> {
        let mut blocks: Vec<Block> = Vec::new();
        for (truth, score) in fit_input(items)? {
            let truth = u64::from(truth);
            match blocks.last_mut() {
                Some(last) if same(last.to, score) => {
                    last.right += truth;
                    last.count += 1;
                }
                _ => blocks.push(Block {
                    from: score,
                    to: score,
                    right: truth,
                    count: 1,
                }),
            }
        }
        let mut pooled: Vec<Block> = Vec::with_capacity(blocks.len());
        for mut block in blocks {
            while let Some(last) = pooled.pop_if(|last| !last.is_below(&block)) {
                block = Block {
                    from: last.from,
                    to: block.to,
                    right: last.right + block.right,
                    count: last.count + block.count,
                };
            }
            pooled.push(block);
        }
        let (mut scores, mut values) = (Vec::new(), Vec::new());
        for block in pooled {
            let Some(value) = share(block.right, block.count) else {
                continue;
            };
            scores.push(block.from);
            values.push(value);
            if block.to > block.from {
                scores.push(block.to);
                values.push(value);
            }
        }
        Ok(Self { scores, values })
    }

    /// The scores at which the curve bends, ascending.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }

    /// Its values there, 0 to 1, never falling.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The probability that a score stands for. `None` for what is no finite number.
    pub fn apply(&self, score: f64) -> Option<f64> {
        if !score.is_finite() {
            return None;
        }
        let at = self.scores.partition_point(|known| *known <= score);
        let Some(low) = at.checked_sub(1) else {
            return self.values.first().copied();
        };
        let (from, below) = (*self.scores.get(low)?, *self.values.get(low)?);
        let (Some(to), Some(above)) = (self.scores.get(at), self.values.get(at)) else {
            return Some(below);
        };
        // By halves, since the distance of two finite numbers may not be finite.
        let t = (score / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0);
        Some(if t.is_finite() {
            below + (above - below) * t.clamp(0.0, 1.0)
        } else {
            below
        })
    }
}

/// Items of neighbouring scores with one value.
struct Block {
    from: f64,
    to: f64,
    right: u64,
    count: u64,
}

impl Block {
    /// Whether its share of true items is below the other's, in whole numbers.
    fn is_below(&self, other: &Self) -> bool {
        u128::from(self.right) * u128::from(other.count)
            < u128::from(other.right) * u128::from(self.count)
    }
}

/// A stored curve, before it is known to be one.
#[derive(Deserialize)]
struct Parts {
    scores: Vec<f64>,
    values: Vec<f64>,
}

impl TryFrom<Parts> for Isotonic {
    type Error = &'static str;

    fn try_from(parts: Parts) -> Result<Self, &'static str> {
        let Parts { scores, values } = parts;
        if scores.is_empty() || scores.len() != values.len() {
            return Err("scores and values must be equally many, and at least one");
        }
        if !scores.iter().all(|score| score.is_finite()) || !scores.is_sorted_by(|a, b| a < b) {
            return Err("scores must be finite and rise");
        }
        if !values.iter().all(|value| (0.0..=1.0).contains(value)) || !values.is_sorted() {
            return Err("values must be within 0 to 1 and not fall");
        }
        Ok(Self { scores, values })
    }
}
