//! From a critic's word on each test to its word on the patch, and what chance would say.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The rule for predictions that a critic is not sure of: a test that is predicted to pass with a
/// confidence of at most `max_confidence`, and whose source is longer than `longer_than` characters,
/// is taken to fail (paper 004, section 4.1).
///
/// The paper says neither the length of what exactly (here: characters of the test's source) nor
/// whether its Tables 1 and 2 include the rule. A test of unknown length is left as it was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LowConfidenceRule {
    /// 0 to 100; 65 in the paper.
    pub max_confidence: f64,
    /// Characters; 50 in the paper.
    pub longer_than: u64,
}

impl Default for LowConfidenceRule {
    fn default() -> Self {
        Self {
            max_confidence: 65.0,
            longer_than: 50,
        }
    }
}

impl LowConfidenceRule {
    /// The prediction after the rule.
    pub fn apply(&self, test: &TestPrediction) -> bool {
        let long = test.length.is_some_and(|length| length > self.longer_than);
        test.passes && !(test.confidence <= self.max_confidence && long)
    }
}

/// A critic's word on one test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestPrediction {
    /// It is predicted to pass.
    pub passes: bool,
    /// 0 to 100.
    pub confidence: f64,
    /// Characters of the test's source, where it is known.
    pub length: Option<u64>,
}

/// A critic's word on a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CriticAggregate {
    /// Each test, after the rule.
    pub passes: Vec<bool>,
    /// Every test is predicted to pass.
    pub build_success: bool,
    /// The share of tests that are predicted to pass: the progress score.
    pub pass_rate: f64,
}

/// A critic was asked about a patch without any test: there is nothing to conclude from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoTests;

impl fmt::Display for NoTests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no test was predicted: neither success nor failure follows from that")
    }
}

impl std::error::Error for NoTests {}

/// Sums up: success if all unseen tests are predicted to pass (paper 004, section 2.2), progress as
/// the share of them. The paper does not treat a patch without tests.
///
/// # Errors
/// [`NoTests`].
pub fn aggregate_critic(
    tests: &[TestPrediction],
    rule: Option<&LowConfidenceRule>,
) -> Result<CriticAggregate, NoTests> {
    let passes: Vec<bool> = tests
        .iter()
        .map(|test| rule.map_or(test.passes, |rule| rule.apply(test)))
        .collect();
    let count = passes.iter().filter(|passes| **passes).count() as u64;
    let pass_rate = super::share(count, passes.len() as u64).ok_or(NoTests)?;
    Ok(CriticAggregate {
        build_success: passes.iter().all(|passes| *passes),
        passes,
        pass_rate,
    })
}

/// What a coin with the classes' weights is expected to reach (paper 004, section 4.1 with 85:15, and
/// 4.2.1 a for whole patches).
///
/// The paper prints one draw; these are the expectations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomBaseline {
    /// The share of tests that pass, and the chance that the coin says so.
    pub q: f64,
}

impl RandomBaseline {
    /// For a share of 0 to 1; `None` outside.
    pub fn new(q: f64) -> Option<Self> {
        (0.0..=1.0).contains(&q).then_some(Self { q })
    }

    /// `q^2 + (1 - q)^2`.
    pub fn accuracy(&self) -> f64 {
        self.q * self.q + (1.0 - self.q) * (1.0 - self.q)
    }

    /// `q`, for precision, recall and the F1 of the two.
    pub fn precision(&self) -> f64 {
        self.q
    }

    /// The chance that all of `tests` tests are said to pass: `q^tests`.
    pub fn build_success(&self, tests: u32) -> f64 {
        (0..tests).map(|_| self.q).product()
    }

    /// What is expected over whole patches, each with whether it resolves its task and how many tests it is judged by;
    /// `None` without any.
    pub fn patches(&self, patches: &[(bool, u32)]) -> Option<RandomPatches> {
        let count = u32::try_from(patches.len())
            .ok()
            .filter(|count| *count > 0)?;
        let (mut right, mut shown_right, mut shown_wrong) = (0_u32, 0.0, 0.0);
        for (resolved, tests) in patches {
            let shown = self.build_success(*tests);
            right += u32::from(*resolved);
            *(if *resolved {
                &mut shown_right
            } else {
                &mut shown_wrong
            }) += shown;
        }
        let (right, wrong) = (f64::from(right), f64::from(count - right));
        Some(RandomPatches {
            patches: count,
            accuracy: (shown_right + wrong - shown_wrong) / f64::from(count),
            precision: super::quotient(shown_right, shown_right + shown_wrong),
            recall: super::quotient(shown_right, right),
            specificity: super::quotient(wrong - shown_wrong, wrong),
        })
    }
}

/// What a weighted coin over single tests is expected to reach over whole patches, where a patch passes if all its tests are
/// said to (paper 004, 4.2.1 a). Shares are those of the expected counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomPatches {
    /// How many there are.
    pub patches: u32,
    /// Patches that are said to be what they are.
    pub accuracy: f64,
    /// Of those that are said to pass, the share that resolves its task; none where nothing can be said to pass.
    pub precision: Option<f64>,
    /// Of those that resolve their task, the share that is said to pass; none without any.
    pub recall: Option<f64>,
    /// Of the others, the share that is said to fail; none without any.
    pub specificity: Option<f64>,
}
