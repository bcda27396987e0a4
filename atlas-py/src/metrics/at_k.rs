//! Chances of a success within k runs.

use crate::convert::{named, plain};
use crate::errors::invalid;
use atlas_judge::metrics::{self as m, AtK, BeyondRuns, BugRuns, Run, RunCount, TooFewRuns};
use pyo3::prelude::*;

/// A bug as a mapping.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Bug {
    #[pyo3(default = true)]
    attempt: bool,
    success: Vec<bool>,
    #[pyo3(default)]
    accepted: Option<Vec<bool>>,
}

fn read(bugs: Vec<Bug>) -> PyResult<Vec<BugRuns>> {
    let read = |(at, bug): (usize, Bug)| {
        let accepted = bug
            .accepted
            .unwrap_or_else(|| vec![true; bug.success.len()]);
        if accepted.len() != bug.success.len() {
            let why = format!(
                "bug {at}: {} runs of `success` and {} of `accepted`",
                bug.success.len(),
                accepted.len()
            );
            return Err(invalid("bugs", why));
        }
        let runs = bug.success.into_iter().zip(accepted);
        Ok(BugRuns {
            attempt: bug.attempt,
            runs: runs
                .map(|(success, accepted)| Run { success, accepted })
                .collect(),
        })
    };
    bugs.into_iter().enumerate().map(read).collect()
}

fn value(py: Python<'_>, found: Result<AtK, TooFewRuns>) -> PyResult<Bound<'_, PyAny>> {
    plain(py, &found.map_err(|why| invalid("k", why))?)
}

/// The mean of pass@k over bugs, each given as `(runs, successes)` (paper 002, section 5.2).
///
/// Gives `value`, 0 to 1, None where no bug counts, and `bugs_counted`. Bugs without a run are left out. What
/// a bug with fewer than `k` runs counts as, `beyond` says: 'clamp' (`k` is lowered to its runs), 'exclude'
/// (it is left out) or 'error' (InvalidInputError).
#[pyfunction]
#[pyo3(signature = (counts, k, *, beyond="clamp"))]
pub(crate) fn mean_at_k<'py>(
    py: Python<'py>,
    counts: Vec<(u64, u64)>,
    k: u64,
    beyond: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let beyond: BeyondRuns = named("beyond", beyond)?;
    let counts = counts.into_iter();
    let counts: Vec<RunCount> = counts
        .map(|(runs, successes)| RunCount { runs, successes })
        .collect();
    value(py, py.detach(|| m::mean_at_k(&counts, k, beyond)))
}

/// Filtered success@k: the chance that one of `k` patches is right, of those that the policies let through
/// (paper 002, section 5.2).
///
/// A bug is a mapping with `success` (a bool for each run), `accepted` (the same, default all) and `attempt`
/// (default True). Gives `value` and `bugs_counted`; `beyond` is that of `mean_at_k`, with the runs that are
/// left.
#[pyfunction]
#[pyo3(signature = (bugs, k, *, beyond="clamp"))]
pub(crate) fn filtered_success_at_k<'py>(
    py: Python<'py>,
    bugs: Vec<Bug>,
    k: u64,
    beyond: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (bugs, beyond) = (read(bugs)?, named("beyond", beyond)?);
    value(py, py.detach(|| m::filtered_success_at_k(&bugs, k, beyond)))
}

/// (pass & validation)@k: the chance over all bugs that one of `k` runs is right and accepted (paper 002,
/// section 6.2). Unlike `filtered_success_at_k` it falls with every right patch that a policy hides.
///
/// Bugs, result and `beyond` are those of `filtered_success_at_k`; a bug that is not attempted has no success.
#[pyfunction]
#[pyo3(signature = (bugs, k, *, beyond="clamp"))]
pub(crate) fn pass_and_validation_at_k<'py>(
    py: Python<'py>,
    bugs: Vec<Bug>,
    k: u64,
    beyond: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (bugs, beyond) = (read(bugs)?, named("beyond", beyond)?);
    value(
        py,
        py.detach(|| m::pass_and_validation_at_k(&bugs, k, beyond)),
    )
}

/// Validation recall@k: the chance that one of `k` right runs is accepted, over the bugs that have one (paper
/// 002, appendix C.1).
///
/// Bugs, result and `beyond` are those of `filtered_success_at_k`; whether a bug is attempted makes no
/// difference.
#[pyfunction]
#[pyo3(signature = (bugs, k, *, beyond="clamp"))]
pub(crate) fn validation_recall_at_k<'py>(
    py: Python<'py>,
    bugs: Vec<Bug>,
    k: u64,
    beyond: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (bugs, beyond) = (read(bugs)?, named("beyond", beyond)?);
    value(
        py,
        py.detach(|| m::validation_recall_at_k(&bugs, k, beyond)),
    )
}
