//! How much of each part a critic's prompt holds.

use super::CriticMode;
use serde::{Deserialize, Serialize};

/// How much of each part a critic's prompt holds, in tokens of four bytes; what is longer is cut in its middle. A part
/// without a limit is whole, which is the default of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CriticLimits {
    /// The candidate patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<usize>,
    /// The gold patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold: Option<usize>,
    /// All tests of one question together, shared out evenly among those that are too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<usize>,
    /// The problem statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<usize>,
    /// The hints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<usize>,
}

impl CriticLimits {
    /// The names of the parts.
    pub const PARTS: [&str; 5] = ["patch", "gold", "tests", "problem", "hints"];

    /// The limit of a part, by its name; none of another name.
    pub fn part_mut(&mut self, part: &str) -> Option<&mut Option<usize>> {
        match part {
            "patch" => Some(&mut self.patch),
            "gold" => Some(&mut self.gold),
            "tests" => Some(&mut self.tests),
            "problem" => Some(&mut self.problem),
            "hints" => Some(&mut self.hints),
            _ => None,
        }
    }

    /// Whether nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Limits with which every question of a mode fits into a model's context of so many tokens, beside an answer of
    /// `answer` tokens: half for the patch, the other half for what it is judged by. A limit that is there stays.
    ///
    /// ```
    /// use atlas_judge::critic::{CriticLimits, CriticMode};
    /// let limits = CriticLimits { tests: Some(100), ..CriticLimits::default() };
    /// let small = limits.within(32_768, 2_048, CriticMode::Isolated);
    /// assert!(small.patch.is_some_and(|patch| (8_000..16_384).contains(&patch)));
    /// assert_eq!((small.tests, small.gold), (Some(100), None));
    /// ```
    #[must_use]
    pub fn within(mut self, window: u64, answer: u32, mode: CriticMode) -> Self {
        let room = crate::validation::room(window, answer);
        let others: &[&str] = match mode {
            CriticMode::Isolated | CriticMode::Holistic => &["tests"],
            CriticMode::ChangeAware => &["gold"],
            CriticMode::Problem => &["problem"],
            CriticMode::ProblemHints => &["problem", "hints"],
        };
        self.patch.get_or_insert(room / 2);
        for part in others {
            if let Some(limit) = self.part_mut(part) {
                limit.get_or_insert(room / 2 / others.len());
            }
        }
        self
    }
}
