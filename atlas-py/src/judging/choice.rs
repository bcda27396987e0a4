//! `choose`.

use super::ask::word;
use crate::convert::plain;
use crate::errors::raised;
use atlas_pipeline::{ChooseOptions, choose_patches};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Takes one patch of several for each task, of those that results accept, and writes them to `out` as predictions for
/// `evaluate`, all columns kept (paper 002, section 5.1.2): what `atlas choose` does.
///
/// `predictions` is a file of candidate patches, `results` what `review` or `critic` wrote; without any, every patch may be
/// chosen. `rule` is 'vote' (the most frequent patch, names of variables aside, then the shortest, then the first) or
/// 'score' (the highest score, then by vote). `among` is 'agent', one patch for each task and agent, or 'all', one for each
/// task. `name` is the `model_name_or_path` of the chosen ones, by default their own.
///
/// Gives `candidates`, `accepted`, `unjudged`, `choices`, `without` (tasks of which no patch is accepted), `resolved` where
/// it is known of all chosen ones, and `faults`. Raises AtlasError for files that cannot be read, results that contradict
/// each other, and a score that is asked for and that the results do not have.
#[pyfunction]
#[pyo3(signature = (
    predictions, *, out, results=Vec::new(), rule="vote", among="agent", name=None
), text_signature = "(predictions, *, out, results=(), rule='vote', among='agent', name=None)")]
pub(crate) fn choose<'py>(
    py: Python<'py>,
    predictions: PathBuf,
    out: PathBuf,
    results: Vec<PathBuf>,
    rule: &str,
    among: &str,
    name: Option<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = ChooseOptions {
        predictions,
        results,
        rule: word("rule", rule)?,
        among: word("among", among)?,
        name,
        out,
    };
    let report = py.detach(|| choose_patches(&options));
    plain(py, &report.map_err(|why| raised(&why))?)
}
