//! `Conversion` and `convert`, `LintReport` and `lint`.

use crate::convert::{Reduced, named};
use crate::dataset::{Dataset, given};
use crate::errors::raised;
use crate::notebook::view;
use crate::report::Report;
use crate::run::run_blocking;
use crate::table::Table;
use atlas_core::Error;
use atlas_formats::{ConvertOptions, LintOptions};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// A dataset in another schema, and what that schema does not carry as it was.
///
/// Made by `convert`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, module = "swe_atlas")]
#[derive(Debug)]
pub(crate) struct Conversion {
    dataset: Py<Dataset>,
    report: Report,
}

#[pymethods]
impl Conversion {
    /// The rows in the new schema.
    #[getter]
    fn dataset(&self, py: Python<'_>) -> Py<Dataset> {
        self.dataset.clone_ref(py)
    }

    /// The schema of the rows as they were.
    #[getter(from_schema)]
    fn schema_before(&self) -> &str {
        self.report.text("from")
    }

    /// The schema they have now.
    #[getter]
    fn to_schema(&self) -> &str {
        self.report.text("to")
    }

    /// What the new schema does not carry as it was, by row and column.
    #[getter]
    fn losses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "losses")
    }

    /// Rows that could not be read, and what deserves a look.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "faults")
    }

    /// What was lost, as plain values, equal to what `atlas convert --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.report.json()
    }

    /// Rows for data frames: those of `losses`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.report.table("losses", field)
    }

    fn _repr_html_(&self) -> String {
        self.report.html(&view::CONVERSION)
    }

    fn __repr__(&self) -> String {
        format!(
            "Conversion('{}' to '{}', {} rows, {} losses)",
            self.report.text("from"),
            self.report.text("to"),
            self.report.value("rows"),
            self.report.count("losses"),
        )
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, dataset: Py<Dataset>, report: &str) -> PyResult<Self> {
        let report = Report::restore(report)?;
        Ok(Self { dataset, report })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (Py<Dataset>, String)> {
        let (py, this) = (slf.py(), slf.get());
        let state = (this.dataset.clone_ref(py), this.report.json());
        Ok((slf.get_type().getattr("_restore")?, state))
    }
}

/// Writes a dataset, or its path, in another schema of the field.
///
/// `to` is swebench4, swebench5, swebench5-tasks, swebenchpp, swebenchpp-delivery, multi-swebench,
/// swebench-live, swebench-pro, swe-rebench, swe-smith, r2e or harbor; `schema` is that of the rows,
/// default told from them. With `out` the result is written there too: a file by its extension, or a
/// folder for tasks. `image_namespace` is the registry namespace of images that are named by rule.
///
/// What the new schema has no place for goes into a column `_atlas_source`, so that the way back gives
/// the same bytes, unless `keep_source` is off. Raises InvalidInputError for an unknown schema, or where
/// that of the rows cannot be told.
#[pyfunction]
#[pyo3(signature = (
    dataset, to, *, schema=None, out=None, image_namespace="swebench", keep_source=true
))]
pub(crate) fn convert(
    py: Python<'_>,
    dataset: &Bound<'_, PyAny>,
    to: &str,
    schema: Option<&str>,
    out: Option<PathBuf>,
    image_namespace: &str,
    keep_source: bool,
) -> PyResult<Conversion> {
    let to = named("to", to)?;
    let from = schema.map(|name| named("schema", name)).transpose()?;
    let given = given(dataset, "dataset")?;
    let given = given.get();
    let mut options = ConvertOptions::default();
    image_namespace.clone_into(&mut options.image_namespace);
    options.keep_source = keep_source;
    let (set, report) = py
        .detach(|| {
            let done =
                atlas_pipeline::convert_dataset(&given.set, &given.name, from, to, &options)?;
            if let Some(out) = &out {
                done.0.write(out)?;
            }
            Ok::<_, Error>(done)
        })
        .map_err(|why| raised(&why))?;
    // In its own schema a dataset stays as it was read.
    let is_read = given.is_read && report.from == report.to;
    let name = out.unwrap_or_else(|| given.name.clone());
    Ok(Conversion {
        dataset: Py::new(py, Dataset { set, name, is_read })?,
        report: Report::of(&report)?,
    })
}

/// What is wrong with a dataset's rows.
///
/// Made by `lint`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct LintReport(Report);

#[pymethods]
impl LintReport {
    /// How many rows could be read.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "rows")
    }

    /// What is wrong with these, in the order of the rows.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "findings")
    }

    /// Rows that could not be read, and what deserves a look.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "faults")
    }

    /// Everything as plain values, equal to what `atlas lint --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: findings by code. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::LINT)
    }

    /// Rows for data frames: those of `findings`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("findings", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::LINT)
    }

    fn __repr__(&self) -> String {
        format!(
            "LintReport({} rows, {} findings, {} faults)",
            self.0.value("rows"),
            self.0.count("findings"),
            self.0.count("faults"),
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

/// Looks for faults in the rows of a dataset, or of its path.
///
/// `schema` is that of all rows, default told from each. `ignore` names codes that are not reported.
/// `repos` is a clone or a folder of clones: the patches are tried in them, which takes git.
///
/// Each finding has a code, a severity (note, warning or fatal), the row, the column and the way out.
/// Raises InvalidInputError for an unknown schema or code.
#[pyfunction]
#[pyo3(signature = (dataset, *, schema=None, ignore=Vec::new(), repos=None),
    text_signature = "(dataset, *, schema=None, ignore=(), repos=None)")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]
pub(crate) fn lint(
    py: Python<'_>,
    dataset: &Bound<'_, PyAny>,
    schema: Option<&str>,
    ignore: Vec<String>,
    repos: Option<PathBuf>,
) -> PyResult<LintReport> {
    let schema = schema.map(|name| named("schema", name)).transpose()?;
    let ignored = ignore
        .iter()
        .map(|code| named("ignore", code))
        .collect::<PyResult<_>>()?;
    let set = given(dataset, "dataset")?.get().set.clone();
    let report = py.detach(|| {
        run_blocking(move |cx| {
            let mut options = LintOptions::default();
            options.schema = schema;
            options.ignored = ignored;
            atlas_pipeline::lint_dataset(cx, &set, &options, repos.as_deref())
        })
    })?;
    Report::of(&report).map(LintReport)
}
