//! `Leaderboard`, `leaderboard` and `pass_at_k`.

use crate::convert::dumps;
use crate::dataset::given;
use crate::errors::{invalid, raised, raised_json};
use crate::notebook::view;
use crate::report::Report;
use crate::table::Table;
use atlas_oracle::RunReport;
use atlas_pipeline::{compare_models, read_run_report};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString, PyType};
use std::path::PathBuf;

/// The chance that at least one of `k` predictions, drawn from `n` of which `c` are resolved, is
/// resolved: the field's estimator, without bias. None where it is not defined: `c` or `k` over `n`.
#[pyfunction]
pub(crate) fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    atlas_oracle::pass_at_k(n, c, k)
}

/// Models side by side.
///
/// Made by `leaderboard`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct Leaderboard(Report);

#[pymethods]
impl Leaderboard {
    /// The table: `k`, `instances`, `columns`, `column_instances` and `rows`, the best model first.
    #[getter]
    fn leaderboard<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "leaderboard")
    }

    /// Model -> pass@k for every `k`, overall and by language, domain and repository.
    #[getter]
    fn pass_at_k<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "pass_at_k")
    }

    /// The table as Markdown.
    fn to_markdown(&self) -> PyResult<String> {
        let board: atlas_oracle::Leaderboard =
            serde_json::from_value(self.0.value("leaderboard").clone()).map_err(raised_json)?;
        Ok(board.to_markdown())
    }

    /// Everything as plain values, equal to what `atlas leaderboard --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: pass@k by model, in percent; of one k with its interval, of several the first four side by side. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::LEADERBOARD)
    }

    /// The table's rows for data frames, the best model first.
    fn table(&self) -> PyResult<Table> {
        Table::of_field(self.0.value("leaderboard"), "rows", None)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::LEADERBOARD)
    }

    fn __repr__(&self) -> String {
        let rows = self.0.value("leaderboard")["rows"].as_array();
        format!("Leaderboard({} models)", rows.map_or(0, Vec::len))
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        Report::restore(state).map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("_restore")?, (slf.get().0.json(),)))
    }
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
#[expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]
pub(crate) fn leaderboard(
    py: Python<'_>,
    dataset: &Bound<'_, PyAny>,
    reports: &Bound<'_, PyAny>,
    k: Vec<u64>,
) -> PyResult<Leaderboard> {
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
    Report::of(&board).map(Leaderboard)
}
