//! From two scores to a quality.

use serde::{Deserialize, Serialize};

/// The two scores, each 0 (best) to 3 (worst).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scores {
    /// How clear the problem statement is.
    pub issue_clarity: u8,
    /// How well the tests judge what it asks for.
    pub test_to_issue_alignment: u8,
}

impl Scores {
    /// The worse of both.
    pub fn worst(self) -> u8 {
        self.issue_clarity.max(self.test_to_issue_alignment)
    }
}

/// What becomes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// Kept as it is.
    High,
    /// Goes to curation: its statement is completed by hints.
    Medium,
    /// Rejected.
    Low,
}

impl Quality {
    /// The judge's label.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// What is done with a task of this quality: `keep`, `curate`, `reject`.
    pub fn action(self) -> &'static str {
        match self {
            Self::High => "keep",
            Self::Medium => "curate",
            Self::Low => "reject",
        }
    }
}

/// From scores to quality. Paper 001 names the three classes and both scores, but not the way from one
/// to the other; this one goes by the worse score, since one fault suffices to spoil a task.
///
/// ```
/// use atlas_judge::alignment::{Quality, QualityRule, Scores};
/// let scores = |issue_clarity, test_to_issue_alignment| Scores { issue_clarity, test_to_issue_alignment };
/// let rule = QualityRule::default();
/// assert_eq!(rule.quality(scores(0, 1)), Quality::High);
/// assert_eq!(rule.quality(scores(2, 0)), Quality::Medium);
/// assert_eq!(rule.quality(scores(1, 3)), Quality::Low);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct QualityRule {
    /// The worst score that is still high quality; default 1.
    pub high_up_to: u8,
    /// The worst score that is still medium quality; default 2.
    pub medium_up_to: u8,
}

impl Default for QualityRule {
    fn default() -> Self {
        Self {
            high_up_to: 1,
            medium_up_to: 2,
        }
    }
}

impl QualityRule {
    /// The quality.
    pub fn quality(self, scores: Scores) -> Quality {
        match scores.worst() {
            worst if worst <= self.high_up_to => Quality::High,
            worst if worst <= self.medium_up_to => Quality::Medium,
            _ => Quality::Low,
        }
    }
}
