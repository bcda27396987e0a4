//! `RegradeReport` and `regrade`.

use crate::convert::{instance_ids, named};
use crate::notebook::view;
use crate::prediction::source;
use crate::report::Report;
use crate::run::run_blocking;
use crate::table::Table;
use atlas_core::RunContext;
use atlas_pipeline::RegradeOptions;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// Stored logs, graded again.
///
/// Made by `regrade`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct RegradeReport(Report);

#[pymethods]
impl RegradeReport {
    /// By whose rules.
    #[getter]
    fn mode(&self) -> &str {
        self.0.text("mode")
    }

    /// Instances that the first model resolved.
    #[getter]
    fn resolved_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "resolved_ids")
    }

    /// Each instance with its model, its log, what the harness would write and Atlas's verdict.
    #[getter]
    fn instances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "instances")
    }

    /// Instance -> its report, as the harness writes it.
    #[getter]
    fn instance_reports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "instance_reports")
    }

    /// Bounds of the score.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "bounds")
    }

    /// What the rules that were compared with see differently, test by test.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.list(py, "changes")
    }

    /// What was wrong with the inputs.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "faults")
    }

    /// Everything as plain values, equal to what `atlas regrade --format json` prints: the harness's
    /// report of the run, and the attributes of this object.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: predictions by what became of them. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::REGRADE)
    }

    /// Rows for data frames: those of `instances`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("instances", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::REGRADE)
    }

    fn __repr__(&self) -> String {
        format!(
            "RegradeReport(mode='{}', {} instances, {} resolved)",
            self.0.text("mode"),
            self.0.count("instances"),
            self.0.count("resolved_ids")
        )
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        Report::restore(state).map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("_restore")?, (slf.get().0.json(),)))
    }
}

/// Grades stored logs again, by any rules; needs no engine.
///
/// `logs` is a folder with `<instance>/test_output*.txt` at any depth, such as a harness leaves.
/// `predictions` and `mode` are those of `evaluate`; `against` names other rules, and what they see
/// differently is told test by test.
///
/// A log that cannot be read, or is there twice, is one of `faults`, and its prediction is without
/// evidence. Raises AtlasError for inputs that cannot be read at all.
#[pyfunction]
#[pyo3(signature = (
    dataset, predictions, logs, *, mode="strict", against=None, instance_ids=None
))]
pub(crate) fn regrade(
    py: Python<'_>,
    dataset: PathBuf,
    predictions: &Bound<'_, PyAny>,
    logs: PathBuf,
    mode: &str,
    against: Option<&str>,
    instance_ids: Option<Vec<String>>,
) -> PyResult<RegradeReport> {
    let options = RegradeOptions {
        instances: self::instance_ids(instance_ids)?,
        mode: named("mode", mode)?,
        against: against.map(|mode| named("against", mode)).transpose()?,
        ..RegradeOptions::new(dataset, source(predictions)?, logs)
    };
    // On a thread of its own: grading keeps all cores busy, and Ctrl-C must still be heard.
    let work = move |cx: &RunContext| {
        tokio::runtime::Handle::current().block_on(atlas_pipeline::regrade(cx, &options))
    };
    let report = py.detach(|| run_blocking(work))?;
    Report::of(&report).map(RegradeReport)
}
