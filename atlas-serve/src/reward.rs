//! What a submission is worth.

use crate::{Grade, Passed};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What the number of a reward is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RewardKind {
    /// 1 if every test of `FAIL_TO_PASS` passes and every one of `PASS_TO_PASS` still does, else 0.
    #[default]
    Resolved,
    /// The fraction of `FAIL_TO_PASS` that passes. Tests of `PASS_TO_PASS` that are broken take nothing away.
    FailToPass,
    /// What a critic foretells without running anything (paper 004): the share of the unseen tests that it says will
    /// pass. Only where the host has one; the tests are run all the same, for the record.
    Critic,
}

impl RewardKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Resolved, Self::FailToPass, Self::Critic];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolved => "resolved",
            Self::FailToPass => "fail_to_pass",
            Self::Critic => "critic",
        }
    }

    /// The number, from 0 to 1; nothing where nothing was found out.
    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers of tests are far below 2^52"
    )]
    pub fn of(self, grade: &Grade) -> Option<f64> {
        match self {
            Self::Resolved => Some(f64::from(u8::from(grade.resolved?))),
            Self::FailToPass if grade.resolved? => Some(1.0),
            Self::FailToPass => {
                let Passed { passed, total } = grade.fail_to_pass;
                Some(passed as f64 / total.max(1) as f64)
            }
            Self::Critic => grade.score,
        }
    }
}

impl fmt::Display for RewardKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no reward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownReward(String);

impl fmt::Display for UnknownReward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no reward `{}`: resolved, fail_to_pass, critic", self.0)
    }
}

impl std::error::Error for UnknownReward {}

impl FromStr for RewardKind {
    type Err = UnknownReward;

    fn from_str(word: &str) -> Result<Self, UnknownReward> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == word);
        known.ok_or_else(|| UnknownReward(word.to_owned()))
    }
}
