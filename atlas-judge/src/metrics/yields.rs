//! How much is left after each step, and of what kinds it is.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is left of sourced pull requests (paper 001, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct YieldCounts {
    /// Pull requests that were found.
    pub sourced: u64,
    /// Those whose environment was built and whose tests ran.
    pub replicated: u64,
    /// Those that became instances.
    pub accepted: u64,
}

impl YieldCounts {
    /// The share of the sourced that were replicated.
    pub fn replicated_of_sourced(&self) -> Option<f64> {
        super::share(self.replicated, self.sourced)
    }

    /// The share of the sourced that became instances.
    pub fn accepted_of_sourced(&self) -> Option<f64> {
        super::share(self.accepted, self.sourced)
    }

    /// The share of the replicated that became instances.
    pub fn accepted_of_replicated(&self) -> Option<f64> {
        super::share(self.accepted, self.replicated)
    }
}

/// A distribution over labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Label to its share of all, in percent.
    pub percent: BTreeMap<String, f64>,
    /// The sum of the counts; less than the number of all where some are in no row.
    pub counted: u64,
}

/// Percentages of labels among `all` items. Paper 001 (appendix E) divides by 488, though its rows
/// sum to 487 and 486: so the base is given, and [`Distribution::counted`] shows what is missing.
///
/// `None` if `all` is 0 or less than the sum.
pub fn distribution(counts: &BTreeMap<String, u64>, all: u64) -> Option<Distribution> {
    let counted = counts
        .values()
        .try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
    if counted > all {
        return None;
    }
    let percent = counts
        .iter()
        .map(|(label, count)| Some((label.clone(), 100.0 * super::share(*count, all)?)))
        .collect::<Option<_>>()?;
    Some(Distribution { percent, counted })
}
