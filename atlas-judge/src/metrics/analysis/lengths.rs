//! How sure a critic is, and how right, by the length of tests (paper 004, Figure 3 right).

use super::Bugs;
use crate::metrics as m;
use serde::Serialize;
use std::collections::HashMap;

/// The upper edges of all bins but the last, in characters: doubled from the length from which on the paper calls a test
/// complex.
const EDGES: [u64; 7] = [50, 100, 200, 400, 800, 1600, 3200];

/// Predictions on tests of similar length whose end is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LengthBin {
    /// Longer than this, in characters of the test's source; the first bin holds 0 as well.
    pub above: u64,
    /// At most this long; absent for the last bin.
    pub up_to: Option<u64>,
    /// Predictions that came true.
    pub right: u64,
    /// Those that did not.
    pub wrong: u64,
    /// The share of right ones.
    pub accuracy: Option<f64>,
    /// The mean confidence, 0 to 100.
    pub mean_confidence: Option<f64>,
    /// That of the right ones.
    pub mean_confidence_right: Option<f64>,
    /// That of the wrong ones.
    pub mean_confidence_wrong: Option<f64>,
}

/// Bins of a critic's predictions; none without a test whose length and end are known.
pub(super) fn by_length(variant: &str, bugs: &Bugs<'_>) -> Vec<LengthBin> {
    // Of each bin the confidences of wrong and of right predictions.
    let mut found: Vec<[Vec<f64>; 2]> = vec![Default::default(); EDGES.len() + 1];
    for patch in bugs.values().flatten() {
        let Some(said) = patch.critics.get(variant) else {
            continue;
        };
        let truths: HashMap<&str, (bool, Option<u64>)> = patch
            .tests
            .iter()
            .flatten()
            .map(|test| (test.id.as_str(), (test.passed, test.length)))
            .collect();
        for test in &said.tests {
            let Some((passed, length)) = truths.get(test.id.as_str()) else {
                continue;
            };
            if let Some(length) = test.length.or(*length) {
                let bin = EDGES.partition_point(|edge| *edge < length);
                found[bin][usize::from(test.predicted == *passed)].push(test.confidence);
            }
        }
    }
    if found.iter().flatten().all(Vec::is_empty) {
        return Vec::new();
    }
    let bins = found.into_iter().enumerate();
    bins.map(|(at, [wrong, right])| {
        let counts = (right.len() as u64, wrong.len() as u64);
        let all = counts.0 + counts.1;
        let sum: f64 = right.iter().chain(&wrong).sum();
        LengthBin {
            above: at.checked_sub(1).map_or(0, |below| EDGES[below]),
            up_to: EDGES.get(at).copied(),
            right: counts.0,
            wrong: counts.1,
            accuracy: m::share(counts.0, all),
            mean_confidence: m::ratio(sum, all),
            mean_confidence_right: m::bootstrap::mean(&right),
            mean_confidence_wrong: m::bootstrap::mean(&wrong),
        }
    })
    .collect()
}
