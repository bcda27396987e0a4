//! `leaderboard` and `pass_at_k`.

use crate::convert::dumps;
use crate::dataset::given;
use crate::errors::{invalid, raised};
use crate::report::told_with;
use atlas_oracle::RunReport;
use atlas_pipeline::{compare_models, read_run_report};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString};
use std::path::PathBuf;

/// The chance that at least one of `k` predictions, drawn from `n` of which `c` are resolved, is
/// resolved: the field's estimator, without bias. None where it is not defined: `c` or `k` over `n`.
#[pyfunction]
pub(crate) fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    atlas_oracle::pass_at_k(n, c, k)
}

/// A report as a path or a mapping, with the model that the file's name tells.
fn one(value: &Bound<'_, PyAny>) -> PyResult<(Option<String>, RunReport)> {
    if value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? {
        let path: PathBuf = value.extract()?;
        let (model, report) = read_run_report(&path).map_err(|why| raised(&why))?;
        return Ok((Some(model), report));
    }
    if value.cast::<PyMapping>().is_err() {
        return Err(PyTypeError::new_err(format!(
            "reports: a path or a run report as a mapping expected, not {}",
            value.get_type().name()?
        )));
    }
    let report = RunReport::from_json_bytes(dumps(value)?.as_bytes());
    Ok((None, report.map_err(|why| invalid("reports", why))?))
}

/// Compares models by pass@k from their run reports.
///
/// `dataset` is a Dataset or a path; every instance of it counts for every model, predicted or not.
/// `reports` are paths of run reports, whose names begin with the model, or a mapping from model to a
/// list of reports, each a path or a mapping such as `EvalReport.reports` holds. Several reports of one
/// model are several predictions. `k` has the k of pass@k; the first one orders the table.
#[pyfunction]
#[pyo3(signature = (dataset, reports, *, k=vec![1]), text_signature = "(dataset, reports, *, k=[1])")]
pub(crate) fn leaderboard<'py>(
    py: Python<'py>,
    dataset: &Bound<'py, PyAny>,
    reports: &Bound<'py, PyAny>,
    k: Vec<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    if k.is_empty() || k.contains(&0) {
        return Err(invalid("k", "numbers from 1 expected"));
    }
    let dataset = given(dataset, "dataset")?;
    let mut found = Vec::new();
    if let Ok(models) = reports.cast::<PyMapping>() {
        for entry in models.items()?.iter() {
            let (model, list): (String, Bound<'_, PyAny>) = entry.extract()?;
            for value in list.try_iter()? {
                found.push((model.clone(), one(&value?)?.1));
            }
        }
    } else {
        for value in reports.try_iter()? {
            let (model, report) = one(&value?)?;
            let model = model.ok_or_else(|| {
                invalid(
                    "reports",
                    "a report without a file's name: give {model: [report, …]}",
                )
            })?;
            found.push((model, report));
        }
    }
    let set = &dataset.get().set;
    let board = py.detach(|| compare_models(set, &found, &k));
    let markdown = PyString::new(py, &board.leaderboard.to_markdown());
    told_with(py, "Leaderboard", &board, Some(markdown.into_any()))
}
