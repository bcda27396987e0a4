//! Whether scores mean what they say, scores that are made to, and from which score on to trust them.
//!
//! An item is `(truth, score)`. The order of items changes no digit.

mod isotonic;
mod operating;
mod platt;
mod reliability;
mod risk;

pub use isotonic::Isotonic;
pub use operating::{OperatingPoint, operating_point, threshold_for_precision};
pub use platt::Platt;
pub(in crate::metrics) use reliability::UnitBins;
pub use reliability::{MAX_BINS, Reliability, ReliabilityBin, brier_score, reliability};
pub use risk::{RiskCoverage, risk_coverage};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How scores are turned into probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationMethod {
    /// A logistic curve: [`Platt`]. Two numbers, so that few items are enough.
    Platt,
    /// Any curve that never falls: [`Isotonic`]. Needs many items.
    Isotonic,
}

impl CalibrationMethod {
    /// Fits a calibrator to items.
    ///
    /// # Errors
    /// As [`Platt::fit`].
    pub fn fit(self, items: &[(bool, f64)]) -> Result<Calibrator, FitError> {
        match self {
            Self::Platt => Platt::fit(items).map(Calibrator::Platt),
            Self::Isotonic => Isotonic::fit(items).map(Calibrator::Isotonic),
        }
    }
}

impl FromStr for CalibrationMethod {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "platt" => Ok(Self::Platt),
            "isotonic" => Ok(Self::Isotonic),
            other => Err(format!("`{other}` is none of platt, isotonic")),
        }
    }
}

/// A fit, which can be stored and applied to other items.
///
/// ```
/// use atlas_judge::metrics::{CalibrationMethod, Calibrator};
/// let fitted = CalibrationMethod::Platt.fit(&[(false, 0.8), (true, 0.9), (false, 0.9)])?;
/// let stored = serde_json::to_string(&fitted).unwrap();
/// let again: Calibrator = serde_json::from_str(&stored).unwrap();
/// assert_eq!(again.apply(0.85), fitted.apply(0.85));
/// assert!(again.apply(0.9) < Some(0.9));
/// # Ok::<(), atlas_judge::metrics::FitError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Calibrator {
    /// By Platt scaling.
    Platt(Platt),
    /// By isotonic regression.
    Isotonic(Isotonic),
}

impl Calibrator {
    /// The probability, 0 to 1, that a score stands for. `None` for what is no finite number.
    pub fn apply(&self, score: f64) -> Option<f64> {
        match self {
            Self::Platt(fitted) => fitted.apply(score),
            Self::Isotonic(fitted) => fitted.apply(score),
        }
    }
}

/// Why nothing can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FitError {
    /// There are no items.
    Empty,
    /// All items are true, or all are false.
    OneClass,
    /// A score is no finite number, or scores lie too far apart or too close together for one.
    NotFinite,
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "there is no item to fit to",
            Self::OneClass => {
                "all items are right, or all are wrong: there is nothing to tell apart"
            }
            Self::NotFinite => "a score or a number of the fit is not finite",
        })
    }
}

impl std::error::Error for FitError {}

/// The items in one order, which both fits start from.
fn fit_input(items: &[(bool, f64)]) -> Result<Vec<(bool, f64)>, FitError> {
    if items.is_empty() {
        return Err(FitError::Empty);
    }
    if items.iter().any(|(_, score)| !score.is_finite()) {
        return Err(FitError::NotFinite);
    }
    if items.iter().all(|(truth, _)| *truth == items[0].0) {
        return Err(FitError::OneClass);
    }
    Ok(sorted(items))
}

/// By score, ascending, then by truth.
fn sorted(items: &[(bool, f64)]) -> Vec<(bool, f64)> {
    // 0 and -0 are one score.
    let mut sorted: Vec<(bool, f64)> = items.iter().map(|item| (item.0, item.1 + 0.0)).collect();
    sorted.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    sorted
}
