//! A score between what is certain and what is possible.

use crate::{Cause, Interval};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One verdict, as a score counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scored {
    /// Whether it is resolved.
    pub resolved: bool,
    /// Why not, where it is not; absent where nobody looked, which counts as the model's doing.
    pub cause: Option<Cause>,
}

/// The share of predictions that are resolved, with what it would be if each failure that is not the
/// model's were none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreBounds {
    /// Predictions.
    pub submitted: u64,
    /// Those that are resolved.
    pub resolved: u64,
    /// Those that are not, for a reason that is not the model's.
    pub excused: u64,
    /// `resolved / submitted`; 0 without predictions.
    pub lower: f64,
    /// `(resolved + excused) / submitted`; 0 without predictions.
    pub upper: f64,
    /// Cause to the number of predictions that are not resolved for it.
    pub by_cause: BTreeMap<Cause, u64>,
}

impl ScoreBounds {
    /// The bounds of these verdicts.
    pub fn of(verdicts: impl IntoIterator<Item = Scored>) -> Self {
        let mut bounds = Self::default();
        for verdict in verdicts {
            bounds.submitted += 1;
            if verdict.resolved {
                bounds.resolved += 1;
                continue;
            }
            let cause = verdict.cause.unwrap_or(Cause::Model);
            *bounds.by_cause.entry(cause).or_default() += 1;
            bounds.excused += u64::from(!cause.is_the_models());
        }
        bounds.lower = share(bounds.resolved, bounds.submitted);
        bounds.upper = share(bounds.resolved + bounds.excused, bounds.submitted);
        bounds
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of predictions are far below 2^53"
)]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// Wilson's interval (1927) at 95 % of a share, 0 to 1, seen in so many trials. Without trials it is
/// 0 to 1. For the mean of shares, such as pass@k over instances, it is too wide rather than too narrow.
///
/// ```
/// let interval = atlas_oracle::wilson(0.5, 100);
/// assert!((interval.low - 0.4038).abs() < 1e-4 && (interval.high - 0.5962).abs() < 1e-4);
/// ```
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of instances are far below 2^53"
)]
pub fn wilson(share: f64, trials: u64) -> Interval {
    /// The standard normal's 97.5 % point.
    const Z: f64 = 1.959_963_984_540_054;
    if trials == 0 {
        return Interval {
            low: 0.0,
            high: 1.0,
        };
    }
    let (p, n) = (share.clamp(0.0, 1.0), trials as f64);
    let scale = 1.0 + Z * Z / n;
    let middle = (p + Z * Z / (2.0 * n)) / scale;
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
    Interval {
        low: (middle - half).max(0.0),
        high: (middle + half).min(1.0),
    }
}
