//! Distances, orders, intervals, counts.

#![expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]

use crate::convert::plain;
use crate::errors::invalid;
use atlas_judge::metrics::{self as m, ConfidenceInterval, YieldCounts};
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// The Wasserstein-1 distance between two samples, in their unit (paper 002, section 6.1: predicted
/// probabilities of success against observed rates). None if one is empty or holds what is no finite number.
#[pyfunction]
pub(crate) fn wasserstein_1(u: Vec<f64>, v: Vec<f64>) -> Option<f64> {
    m::wasserstein_1(&u, &v)
}

/// The `p`-th percentile, `p` from 0 to 100, with linear interpolation, NumPy's default. None without values,
/// with one that is no finite number, or with `p` out of range.
#[pyfunction]
pub(crate) fn percentile(values: Vec<f64>, p: f64) -> Option<f64> {
    m::percentile(&values, p)
}

/// Ranks from 1, ascending; equal values share the mean of their places. None with a value that is no finite
/// number.
#[pyfunction]
pub(crate) fn average_ranks(values: Vec<f64>) -> Option<Vec<f64>> {
    m::average_ranks(&values)
}

/// Spearman's rank correlation, -1 to 1, with average ranks (paper 004, section 4.4). None where the lengths
/// differ, all values of one are equal, or one is no finite number.
#[pyfunction]
pub(crate) fn spearman(x: Vec<f64>, y: Vec<f64>) -> Option<f64> {
    m::spearman(&x, &y)
}

/// Sums rank correlations of many instances up: `defined`, `undefined` (the Nones), `mean` and
/// `share_perfect`, the share of the defined ones that are 1 (paper 004, section 4.4).
#[pyfunction]
pub(crate) fn summarise_correlations(
    py: Python<'_>,
    rhos: Vec<Option<f64>>,
) -> PyResult<Bound<'_, PyAny>> {
    plain(py, &m::summarise_correlations(&rhos))
}

fn ends(interval: Option<ConfidenceInterval>) -> Option<(f64, f64)> {
    interval.map(|interval| (interval.low, interval.high))
}

/// The percentile bootstrap of a mean: low and high end of the interval that holds `level` percent. The same
/// values, seed and number of resamples give the same interval everywhere. None without values or resamples.
///
/// For the difference of two systems give `paired_differences`. Paper 001 (Table 5) prints intervals without
/// saying how they were made; this is the usual way.
#[pyfunction]
#[pyo3(signature = (values, *, resamples=1000, seed=0, level=95.0))]
pub(crate) fn bootstrap_mean(
    py: Python<'_>,
    values: Vec<f64>,
    resamples: usize,
    seed: u64,
    level: f64,
) -> Option<(f64, f64)> {
    ends(py.detach(|| m::bootstrap_mean(&values, resamples, seed, level)))
}

/// As `bootstrap_mean`, with resamples that are given: for each a list of places in `values`. None where a
/// resample is empty or names a place that is not there.
#[pyfunction]
#[pyo3(signature = (values, resamples, *, level=95.0))]
pub(crate) fn bootstrap_mean_with(
    py: Python<'_>,
    values: Vec<f64>,
    resamples: Vec<Vec<usize>>,
    level: f64,
) -> Option<(f64, f64)> {
    ends(py.detach(|| m::bootstrap_mean_with(&values, &resamples, level)))
}

/// The bootstrap of a ratio of sums, of items `(above, below)` that are drawn whole: all patches of a bug stay
/// together. Draws whose lower sum is 0 are left out. Options and result are those of `bootstrap_mean`.
#[pyfunction]
#[pyo3(signature = (items, *, resamples=1000, seed=0, level=95.0))]
pub(crate) fn bootstrap_ratio(
    py: Python<'_>,
    items: Vec<(f64, f64)>,
    resamples: usize,
    seed: u64,
    level: f64,
) -> Option<(f64, f64)> {
    ends(py.detach(|| m::bootstrap_ratio(&items, resamples, seed, level)))
}

/// The differences b - a of paired values; None if their numbers differ.
#[pyfunction]
pub(crate) fn paired_differences(a: Vec<f64>, b: Vec<f64>) -> Option<Vec<f64>> {
    m::paired_differences(&a, &b)
}

/// The smallest number of successes that has, in `n` trials with chance `p`, at least the chance `q` not to be
/// exceeded: with `q` of 0.025 and 0.975 the intervals of paper 001's Table 5. None if `p` or `q` is out of
/// range.
#[pyfunction]
pub(crate) fn binomial_quantile(q: f64, n: u64, p: f64) -> Option<u64> {
    m::binomial_quantile(q, n, p)
}

/// Percentages of labels among `all` items (paper 001, appendix E): `percent`, label -> 0 to 100, and
/// `counted`, the sum of the counts. Raises InvalidInputError if `all` is 0 or less than that sum.
#[pyfunction]
pub(crate) fn distribution(
    py: Python<'_>,
    counts: BTreeMap<String, u64>,
    all: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let found = m::distribution(&counts, all);
    let found = found.ok_or_else(|| invalid("all", "at least the sum of the counts expected"))?;
    plain(py, &found)
}

/// What is left of sourced pull requests (paper 001, section 4.1): `replicated_of_sourced`,
/// `accepted_of_sourced` and `accepted_of_replicated`, 0 to 1; None where the denominator is 0.
#[pyfunction]
pub(crate) fn yields(
    py: Python<'_>,
    sourced: u64,
    replicated: u64,
    accepted: u64,
) -> PyResult<Bound<'_, PyAny>> {
    let counts = YieldCounts {
        sourced,
        replicated,
        accepted,
    };
    plain(
        py,
        &json!({
            "replicated_of_sourced": counts.replicated_of_sourced(),
            "accepted_of_sourced": counts.accepted_of_sourced(),
            "accepted_of_replicated": counts.accepted_of_replicated(),
        }),
    )
}
