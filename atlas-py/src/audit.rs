//! `AuditReport` and `audit`.

use crate::convert::named;
use crate::dataset::given;
use crate::errors::invalid;
use crate::heard::Heard;
use crate::make::config;
use crate::notebook::view;
use crate::report::Report;
use crate::run::{run_blocking_heard, run_heard};
use crate::table::Table;
use atlas_formats::LintOptions;
use atlas_pipeline::{EvalOptions, PredictionSource, audit_dataset, audit_runs};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// What is wrong with a dataset, row by row and kind by kind.
///
/// Made by `audit`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct AuditReport(Report);

#[pymethods]
impl AuditReport {
    /// How many rows could be read.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "rows")
    }

    /// How many of them have a finding that is more than a note.
    #[getter]
    fn rows_with_findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "rows_with_findings")
    }

    /// Code -> its severity, how many rows have it, and what it means.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "counts")
    }

    /// What is wrong with each, in the order of the rows.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "findings")
    }

    /// Rows that could not be read, and what deserves a look.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "faults")
    }

    /// Everything as plain values, equal to what `atlas audit --format json` prints.
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
        self.0.svg(&view::AUDIT)
    }

    /// Rows for data frames: those of `findings`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("findings", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::AUDIT)
    }

    fn __repr__(&self) -> String {
        format!(
            "AuditReport({} of {} rows have something wrong with them)",
            self.0.value("rows_with_findings"),
            self.0.value("rows"),
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

/// Says what is wrong with published rows: a dataset, or its path.
///
/// Beyond what `lint` finds it looks for statements that give the solution away. `schema` is that of all
/// rows, default told from each; `ignore` names codes that are not reported; with `repos`, a clone or a
/// folder of clones, the patches are tried in them.
///
/// With `run` each row is also built and run, with its own solution and without any; then `dataset` must be
/// a path, and `mode`, `engine`, `jobs`, `timeout` (seconds), `out`, `results`, `config` and `trust` are those
/// of `evaluate`. So is `progress`.
///
/// Raises InvalidInputError for an unknown schema or code.
#[pyfunction]
#[pyo3(signature = (dataset, *, schema=None, ignore=Vec::new(), repos=None, run=false, mode="strict",
    engine="auto", jobs=1, timeout=None, run_id="audit", out=PathBuf::from("."), results=None, config=None, progress=None,
    trust=false),
    text_signature = "(dataset, *, schema=None, ignore=(), repos=None, run=False, mode='strict', engine='auto', jobs=1, timeout=None, run_id='audit', out='.', results=None, config=None, progress=None, trust=False)")]
#[expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn audit(
    py: Python<'_>,
    dataset: &Bound<'_, PyAny>,
    schema: Option<&str>,
    ignore: Vec<String>,
    repos: Option<PathBuf>,
    run: bool,
    mode: &str,
    engine: &str,
    jobs: usize,
    timeout: Option<u64>,
    run_id: &str,
    out: PathBuf,
    results: Option<PathBuf>,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    trust: bool,
) -> PyResult<AuditReport> {
    let schema = schema.map(|name| named("schema", name)).transpose()?;
    let ignored = ignore
        .iter()
        .map(|code| named("ignore", code))
        .collect::<PyResult<_>>()?;
    if timeout == Some(0) {
        return Err(invalid("timeout", "a second or more expected"));
    }
    let path = dataset.extract::<PathBuf>().ok();
    let runs = match (run, path) {
        (false, _) => None,
        (true, None) => return Err(invalid("dataset", "a path expected where rows are run")),
        (true, Some(path)) => Some(EvalOptions {
            mode: named("mode", mode)?,
            engine: named("engine", engine)?,
            jobs,
            timeout,
            out,
            repos: repos.clone(),
            results,
            config: self::config(config)?,
            trust,
            ..EvalOptions::new(path, PredictionSource::Gold, run_id)
        }),
    };
    let set = given(dataset, "dataset")?.get().set.clone();
    let looked = set.clone();
    let progress = Heard::of(progress)?;
    let mut report = py.detach(|| {
        run_blocking_heard(&progress, move |cx| {
            let mut options = LintOptions::default();
            options.schema = schema;
            options.ignored = ignored;
            audit_dataset(cx, &looked, &options, repos.as_deref())
        })
    })?;
    if let Some(options) = runs {
        report = py.detach(|| {
            run_heard(&progress, async |cx| {
                audit_runs(cx, &set, &options, &mut report).await?;
                Ok(report)
            })
        })?;
    }
    Report::of(&report).map(AuditReport)
}
