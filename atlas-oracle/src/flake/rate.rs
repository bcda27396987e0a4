//! Pass probabilities with intervals, and what a number of runs would miss.

use serde::{Deserialize, Serialize};

/// How often a test passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassRate {
    /// Runs in which it passed.
    pub passes: u32,
    /// Runs.
    pub runs: u32,
}

/// Bounds of a probability, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl PassRate {
    /// The interval of Clopper and Pearson (1934): at least `confidence` (0 to 1) of such intervals
    /// hold the true probability, whatever it is. Without runs it is 0 to 1.
    ///
    /// ```
    /// let rate = atlas_oracle::PassRate { passes: 10, runs: 10 };
    /// let interval = rate.interval(0.95);
    /// assert!((interval.low - 0.025_f64.powf(0.1)).abs() < 1e-9);
    /// assert_eq!(interval.high, 1.0);
    /// ```
    pub fn interval(self, confidence: f64) -> Interval {
        let tail = ((1.0 - confidence) / 2.0).clamp(0.0, 0.5);
        let (passes, runs) = (self.passes.min(self.runs), self.runs);
        if runs == 0 {
            return Interval {
                low: 0.0,
                high: 1.0,
            };
        }
        let low = if passes == 0 {
            0.0
        } else {
            // The p at which so many passes or more would be seen with probability `tail`.
            bisect(|p| at_least(passes, runs, p) >= tail)
        };
        let high = if passes == runs {
            1.0
        } else {
            bisect(|p| 1.0 - at_least(passes + 1, runs, p) <= tail)
        };
        Interval { low, high }
    }
}

/// The least p in 0 to 1 for which a condition holds that, once true, stays true.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    f64::midpoint(low, high)
}

/// P(X >= k) for X binomial with n trials of probability p; summed from logarithms.
fn at_least(k: u32, n: u32, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 {
        return 0.0;
    }
    let mut choose = 0.0_f64; // ln of n over i
    let mut sum = 0.0;
    for i in 0..=n {
        if i > 0 {
            choose += f64::from(n - i + 1).ln() - f64::from(i).ln();
        }
        if i >= k {
            sum += (choose + f64::from(i) * p.ln() + f64::from(n - i) * (1.0 - p).ln()).exp();
        }
    }
    sum.min(1.0)
}

/// The probability that `runs` runs of a test that fails at `fail_rate` all end alike, so that its
/// flakiness is missed: all pass or all fail.
///
/// ```
/// assert_eq!(atlas_oracle::miss_probability(0.5, 3), 0.25);
/// ```
pub fn miss_probability(fail_rate: f64, runs: u32) -> f64 {
    let p = fail_rate.clamp(0.0, 1.0);
    let exponent = i32::try_from(runs).unwrap_or(i32::MAX);
    if runs == 0 {
        1.0
    } else {
        (p.powi(exponent) + (1.0 - p).powi(exponent)).min(1.0)
    }
}

/// The lowest fail rate, up to one half, that so many runs find with this power (0 to 1); none where
/// they are too few for any.
///
/// ```
/// assert_eq!(atlas_oracle::detectable_fail_rate(3, 0.95), None);
/// assert!(atlas_oracle::detectable_fail_rate(59, 0.95).is_some_and(|rate| rate < 0.05));
/// ```
pub fn detectable_fail_rate(runs: u32, power: f64) -> Option<f64> {
    let missed = 1.0 - power;
    if miss_probability(0.5, runs) > missed {
        return None;
    }
    Some(bisect(|p| miss_probability(p.min(0.5), runs) <= missed))
}

/// How many runs find a test that fails at `fail_rate` (above 0, at most one half) with this power.
///
/// ```
/// assert_eq!(atlas_oracle::runs_to_find(0.05, 0.95), Some(59));
/// ```
pub fn runs_to_find(fail_rate: f64, power: f64) -> Option<u32> {
    const MOST: u32 = 1_000_000;
    if !(fail_rate > 0.0 && fail_rate <= 0.5 && (0.0..1.0).contains(&power)) {
        return None;
    }
    let enough = |runs: u32| miss_probability(fail_rate, runs) <= 1.0 - power;
    let (mut low, mut high) = (0, 1);
    while !enough(high) {
        low = high;
        high *= 2;
        if high > MOST {
            return None;
        }
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
