//! How several words become one.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where a number leaves doubt: from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    low: f64,
    high: f64,
}

impl Band {
    /// A band; none where the numbers are not in order between 0 and 1.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (0.0 <= low && low <= high && high <= 1.0).then_some(Self { low, high })
    }

    /// Its lower end.
    pub fn low(self) -> f64 {
        self.low
    }

    /// Its upper end.
    pub fn high(self) -> f64 {
        self.high
    }

    /// Whether a number lies in it.
    pub fn holds(self, number: f64) -> bool {
        (self.low..=self.high).contains(&number)
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

impl FromStr for Band {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (low, high) = text.split_once("..")?;
            Self::new(low.trim().parse().ok()?, high.trim().parse().ok()?)
        };
        read().ok_or_else(|| {
            format!("`{text}` is no band of doubt: LOW..HIGH expected, with 0 <= LOW <= HIGH <= 1, such as 0.3..0.7")
        })
    }
}

/// How an ensemble decides. As a text `majority`, `mean`, `weighted`, `cascade=LOW..HIGH` or, with a band for each member
/// but the last, `cascade=LOW..HIGH,LOW..HIGH`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum EnsembleRule {
    /// Yes where more than half of the members that have a word say so; of a tie: no. Its number is their share.
    Majority,
    /// The mean of the members' numbers; yes from the ensemble's threshold on.
    Mean,
    /// The mean of calibrated probabilities, each weighted by the inverse of its member's Brier score, as Bates and
    /// Granger (1969) weight forecasts by the inverse of their mean square errors; yes from the threshold on.
    Weighted,
    /// Members one after another, until the number of one is outside of its band: its word counts. One band for all, or
    /// one for each but the last.
    Cascade(Vec<Band>),
}

impl fmt::Display for EnsembleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Majority => f.write_str("majority"),
            Self::Mean => f.write_str("mean"),
            Self::Weighted => f.write_str("weighted"),
            Self::Cascade(bands) => {
                let bands: Vec<String> = bands.iter().map(Band::to_string).collect();
                write!(f, "cascade={}", bands.join(","))
            }
        }
    }
}

impl FromStr for EnsembleRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("cascade=")) {
            (_, Some(bands)) => {
                let bands: Result<Vec<Band>, String> = bands.split(',').map(str::parse).collect();
                Ok(Self::Cascade(bands?))
            }
            ("majority", _) => Ok(Self::Majority),
            ("mean", _) => Ok(Self::Mean),
            ("weighted", _) => Ok(Self::Weighted),
            _ => Err(format!(
                "`{text}` is none of majority, mean, weighted, cascade=LOW..HIGH"
            )),
        }
    }
}

impl From<EnsembleRule> for String {
    fn from(rule: EnsembleRule) -> Self {
        rule.to_string()
    }
}

impl TryFrom<String> for EnsembleRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
