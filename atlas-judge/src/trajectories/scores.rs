//! Four dimensions, and from their scores to a quality.

use atlas_core::Evidence;
use serde::{Deserialize, Serialize};

/// What an attempt is judged by: the dimensions of paper 001, appendix F.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// The problem was made to happen before it was mended. Of bug fixes only.
    Reproduction,
    /// The solution treats the cause.
    Plausibility,
    /// It was shown to work.
    Validation,
    /// Sound engineering.
    Practices,
}

impl Dimension {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 4] = [
        Self::Reproduction,
        Self::Plausibility,
        Self::Validation,
        Self::Practices,
    ];

    /// Its word in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reproduction => "reproduction",
            Self::Plausibility => "plausibility",
            Self::Validation => "validation",
            Self::Practices => "practices",
        }
    }
}

/// One dimension of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimensionScore {
    /// Which.
    pub dimension: Dimension,
    /// 0 (best) to 3 (worst).
    pub score: u8,
    /// Whether it counts: reproduction does for bug fixes only.
    pub counts: bool,
    /// The model's words.
    pub assessment: String,
    /// Its quotations that were found: `step 3 action` with the line in it.
    pub evidence: Vec<Evidence>,
}

/// Whether an attempt is worth learning from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrajectoryQuality {
    /// Kept.
    High,
    /// Left out.
    Low,
}

impl TrajectoryQuality {
    /// The judge's label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
        }
    }
}

/// From scores to quality. Paper 001 keeps "only high-quality trajectories" and names no threshold; this one goes by the
/// worst score that counts, since what is learnt from a trajectory is all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrajectoryRule {
    /// The worst score that is still high quality; default 1.
    pub high_up_to: u8,
}

impl Default for TrajectoryRule {
    fn default() -> Self {
        Self { high_up_to: 1 }
    }
}

impl TrajectoryRule {
    /// Whether a dimension is good enough.
    pub fn passes(self, one: &DimensionScore) -> bool {
        !one.counts || one.score <= self.high_up_to
    }

    /// The quality.
    ///
    /// ```
    /// use atlas_judge::trajectories::{Dimension, DimensionScore, TrajectoryQuality, TrajectoryRule};
    /// let one = |dimension, score, counts| DimensionScore { dimension, score, counts, assessment: String::new(), evidence: vec![] };
    /// let mut all = [one(Dimension::Reproduction, 3, false), one(Dimension::Validation, 1, true)];
    /// assert_eq!(TrajectoryRule::default().quality(&all), TrajectoryQuality::High);
    /// all[0].counts = true;
    /// assert_eq!(TrajectoryRule::default().quality(&all), TrajectoryQuality::Low);
    /// ```
    pub fn quality(self, all: &[DimensionScore]) -> TrajectoryQuality {
        if all.iter().all(|one| self.passes(one)) {
            TrajectoryQuality::High
        } else {
            TrajectoryQuality::Low
        }
    }
}
