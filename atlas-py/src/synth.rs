//! `SynthParserReport`, `synth_parser` and `certify_parser`.

use crate::convert::{named, plain};
use crate::errors::{invalid, raised};
use crate::heard::Heard;
use crate::make::config;
use crate::model::{Payment, session};
use crate::notebook::view;
use crate::report::Report;
use crate::run::{run, run_heard};
use crate::table::Table;
use atlas_pipeline::{CertifyParserOptions, SynthParserOptions};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// A parser that a model wrote for logs that no shipped one knows, and how it came about.
///
/// Made by `synth_parser`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct SynthParserReport(Report);

#[pymethods]
impl SynthParserReport {
    /// What came of it: 'known' (a shipped parser knows the log; nothing was asked), 'certified', 'insufficient'
    /// (the logs do not show enough to certify it) or 'refused' (no parser was made that certification takes).
    #[getter]
    fn outcome(&self) -> &str {
        self.0.text("outcome")
    }

    /// The shipped parser that knows the log; None if none does.
    #[getter]
    fn known<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "known")
    }

    /// The parser as `out` keeps it: a rule set, or `id` and `python`; None if none was made.
    #[getter]
    fn parser<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "parser")
    }

    /// Its certificate: `decision`, `score`, `reasons` and every kind of check.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "certificate")
    }

    /// The model's answers, each with its `form` and `problems`.
    #[getter]
    fn attempts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "attempts")
    }

    /// Why no parser in Python was tried, where one was wanted.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.list(py, "notes")
    }

    /// Everything as plain values, equal to what `atlas synth-parser --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// Rows for data frames: those of `attempts`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("attempts", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::PARSER)
    }

    fn __repr__(&self) -> String {
        format!(
            "SynthParserReport(outcome='{}', {} attempts)",
            self.0.text("outcome"),
            self.0.count("attempts")
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

/// Has a model write a parser for logs of one runner that none of the shipped ones knows, and certifies it
/// (paper 001, section 3.3.2).
///
/// `logs` are paths, best with passed, failed and skipped tests; `exit_codes` those of the commands that printed
/// them, in their order; `truths` for each log what another witness says: a report that a shipped parser
/// knows, or JSON `{id: status}`. `tests_in_source` is about how many tests there are, `command` what printed
/// the logs, `id` the parser's name. A rule set is tried first, then Python, which runs in a sandbox of
/// `engine` ('auto', 'docker' or 'local'; `trust` lets it run where nothing keeps it apart). A parser is made
/// even where a shipped one knows the log with `anyway`. It goes to `out`, if one was made.
///
/// `model`, `budget`, `config` and `progress` are those of `abstain`, as is Ctrl-C. A parser that is refused is a report.
/// Raises AtlasError for logs that cannot be read, a model that fails, a budget that is used up.
#[pyfunction]
#[pyo3(signature = (
    logs, *, model, out=None, exit_codes=Vec::new(), truths=Vec::new(), tests_in_source=None,
    command=None, id="synthesised", anyway=false, budget=None, engine="auto", config=None, progress=None, trust=false
), text_signature = "(logs, *, model, out=None, exit_codes=(), truths=(), tests_in_source=None, \
    command=None, id='synthesised', anyway=False, budget=None, engine='auto', config=None, progress=None, \
    trust=False)")]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn synth_parser(
    py: Python<'_>,
    logs: Vec<PathBuf>,
    model: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    exit_codes: Vec<i64>,
    truths: Vec<PathBuf>,
    tests_in_source: Option<u64>,
    command: Option<String>,
    id: &str,
    anyway: bool,
    budget: Option<&str>,
    engine: &str,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    trust: bool,
) -> PyResult<SynthParserReport> {
    if logs.is_empty() {
        return Err(invalid("logs", "one at least expected"));
    }
    let options = SynthParserOptions {
        logs,
        exit_codes,
        truths,
        id: id.to_owned(),
        tests_in_sources: tests_in_source,
        command,
        anyway,
        engine: named("engine", engine)?,
        config: self::config(config)?,
        trust,
        ..SynthParserOptions::default()
    };
    let model = session(model, Payment::within(budget), &options.config, None)?.model();
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::synth_parser(cx, &options, model).await
        })
    })?;
    if let (Some(path), Some(_)) = (&out, &report.parser) {
        report.write_parser(path).map_err(|why| raised(&why))?;
    }
    Report::of(&report).map(SynthParserReport)
}

/// Certifies a parser on logs: a shipped one's id, or a file that `synth_parser` wrote.
///
/// `exit_codes`, `truths`, `engine`, `config` and `trust` are those of `synth_parser`. Gives the certificate:
/// `decision` ('certified', 'insufficient' or 'refused'), `score` (0 to 1), `reasons`, `checks` by kind.
/// Raises AtlasError for a parser or logs that cannot be read.
#[pyfunction]
#[pyo3(signature = (
    logs, parser, *, exit_codes=Vec::new(), truths=Vec::new(), engine="auto", config=None, trust=false
), text_signature = "(logs, parser, *, exit_codes=(), truths=(), engine='auto', config=None, \
    trust=False)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn certify_parser<'py>(
    py: Python<'py>,
    logs: Vec<PathBuf>,
    parser: &Bound<'py, PyAny>,
    exit_codes: Vec<i64>,
    truths: Vec<PathBuf>,
    engine: &str,
    config: Option<&Bound<'py, PyAny>>,
    trust: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let parser = match parser.extract::<String>() {
        Ok(name) => name,
        Err(_) => parser.extract::<PathBuf>()?.display().to_string(),
    };
    let options = CertifyParserOptions {
        logs,
        exit_codes,
        truths,
        parser,
        engine: named("engine", engine)?,
        config: self::config(config)?,
        trust,
    };
    let certificate =
        py.detach(|| run(async |cx| atlas_pipeline::certify_parser(cx, &options).await))?;
    plain(py, &certificate)
}
