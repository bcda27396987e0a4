//! A test of stability that stops as soon as it may.

use serde::{Deserialize, Serialize};

/// Wald's sequential probability ratio test (1945) between "fails at most at `tolerated`" and "fails
/// at `rate` or more".
///
/// With nothing tolerated one deviation decides, and agreement decides after
/// [`runs_if_stable`](Self::runs_if_stable) runs: by then a test that fails at `rate` has deviated
/// with probability 1 - `miss`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SequentialTest {
    /// The rate of deviations to find, above `tolerated`, below 1. Default: 0.05.
    pub rate: f64,
    /// The rate that is taken as stable. Default: 0.
    pub tolerated: f64,
    /// The probability of calling a test stable that deviates at `rate`. Default: 0.05.
    pub miss: f64,
    /// The probability of calling a test unstable that deviates at `tolerated`. Default: 0.05.
    pub false_alarm: f64,
}

impl Default for SequentialTest {
    fn default() -> Self {
        Self {
            rate: 0.05,
            tolerated: 0.0,
            miss: 0.05,
            false_alarm: 0.05,
        }
    }
}

/// What is known of a test so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    /// It deviates too often.
    Unstable,
    /// It does not.
    Stable,
    /// More runs are needed.
    Open,
}

impl SequentialTest {
    /// Whether the numbers are probabilities in their order.
    pub fn is_sound(&self) -> bool {
        let share = |p: f64| p > 0.0 && p < 1.0;
        (0.0..1.0).contains(&self.tolerated)
            && share(self.rate)
            && self.tolerated < self.rate
            && share(self.miss)
            && share(self.false_alarm)
            && self.miss + self.false_alarm < 1.0
    }

    /// Decides on a test that deviated from its first result in so many of `runs` runs.
    ///
    /// ```
    /// use atlas_oracle::{SequentialTest, Stability};
    /// let test = SequentialTest::default();
    /// assert_eq!(test.decide(1, 2), Stability::Unstable);
    /// assert_eq!(test.decide(0, 2), Stability::Open);
    /// assert_eq!(test.decide(0, test.runs_if_stable()), Stability::Stable);
    /// ```
    pub fn decide(&self, deviations: u32, runs: u32) -> Stability {
        let deviations = deviations.min(runs);
        if deviations > 0 && self.tolerated <= 0.0 {
            return Stability::Unstable;
        }
        let agreements = f64::from(runs - deviations);
        let mut ratio = agreements * ((1.0 - self.rate) / (1.0 - self.tolerated)).ln();
        if deviations > 0 {
            ratio += f64::from(deviations) * (self.rate / self.tolerated).ln();
        }
        // With nothing tolerated no false alarm is possible, and its share falls away.
        let false_alarm = if self.tolerated > 0.0 {
            self.false_alarm
        } else {
            0.0
        };
        let slack = 1e-12;
        if ratio <= (self.miss / (1.0 - false_alarm)).ln() + slack {
            Stability::Stable
        } else if self.tolerated > 0.0 && ratio >= ((1.0 - self.miss) / false_alarm).ln() - slack {
            Stability::Unstable
        } else {
            Stability::Open
        }
    }

    /// How many runs without a deviation make a test stable.
    pub fn runs_if_stable(&self) -> u32 {
        const MOST: u32 = 1_000_000;
        (1..=MOST)
            .find(|runs| self.decide(0, *runs) == Stability::Stable)
            .unwrap_or(MOST)
    }
}
