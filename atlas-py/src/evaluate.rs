//! `EvalReport` and `evaluate`.

use crate::convert::{instance_ids, named};
use crate::errors::invalid;
use crate::heard::Heard;
use crate::make::{config, parser_of};
use crate::notebook::view;
use crate::prediction::source;
use crate::report::Report;
use crate::run::run_heard;
use crate::table::Table;
use crate::traits::PyParts;
use atlas_core::Network;
use atlas_pipeline::EvalOptions;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What evaluating predictions came to, model by model and prediction by prediction.
///
/// Made by `evaluate`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct EvalReport(Report);

impl EvalReport {
    fn resolved(&self) -> BTreeSet<&str> {
        let reports = self.0.value("reports").as_object();
        reports
            .into_iter()
            .flat_map(|reports| reports.values())
            .filter_map(|report| report["resolved_ids"].as_array())
            .flatten()
            .filter_map(|id| id.as_str())
            .collect()
    }
}

#[pymethods]
impl EvalReport {
    /// The run's name.
    #[getter]
    fn run_id(&self) -> &str {
        self.0.text("run_id")
    }

    /// By whose rules.
    #[getter]
    fn mode(&self) -> &str {
        self.0.text("mode")
    }

    /// Instances that are resolved, by whichever model; those of one model are in its report.
    #[getter]
    fn resolved_ids(&self) -> Vec<&str> {
        self.resolved().into_iter().collect()
    }

    /// The verdicts, by model and instance.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "verdicts")
    }

    /// Model -> the report that the harness writes of a run.
    #[getter]
    fn reports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "reports")
    }

    /// Model -> bounds of its score: what infrastructure lost counts as failed in the lower one and as
    /// resolved in the upper.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "bounds")
    }

    /// Why predictions are not resolved, of all models together: cause -> number.
    #[getter]
    fn causes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "causes")
    }

    /// What was wrong with the inputs.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "faults")
    }

    /// What it cost: jobs and seconds.
    #[getter]
    fn ledger<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "ledger")
    }

    /// Everything as plain values, equal to what `atlas eval --format json` prints.
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
        self.0.svg(&view::EVALUATION)
    }

    /// Rows for data frames: those of `verdicts`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("verdicts", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::EVALUATION)
    }

    fn __repr__(&self) -> String {
        format!(
            "EvalReport('{}', mode='{}', {} predictions, {} instances resolved)",
            self.0.text("run_id"),
            self.0.text("mode"),
            self.0.count("verdicts"),
            self.resolved().len()
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

/// Runs predictions against the instances of a dataset and grades them.
///
/// `dataset` is a file or a folder of tasks. `predictions` is a path, 'gold' (the rows' own patches),
/// 'null' (empty ones), what `read_predictions` gave, or what would stand in such a file: mappings with
/// `instance_id`, `model_name_or_path` and `model_patch`, or a dict of them by instance. `run_id` names a folder and nothing more: results are shared
/// by content, so what was run before, by whichever run, is not run again.
///
/// `mode` says by whose rules: 'strict', 'compat-swebench5', 'compat-swebench4' or 'compat-swebenchpp'.
/// `jobs` instances go on at once; a run of tests ends after `timeout` seconds, default the
/// configuration's; in strict mode also after `times_gold` times (default 10; 0: never) what the gold
/// patch took, but not before `least_seconds` (default 120). `repos` is a clone or a folder of clones, for rows without an image. `canaries` runs
/// the gold patch first with tests that must pass and must fail; with `fresh_canaries` their names are this run's own, and
/// strict mode shares no results with runs of other names. `network` is 'none' or 'full', default
/// none in strict mode and full in the others. `results` is where results are kept, default the user's
/// cache folder. `engine`, `config` and `trust` are those of `make`. What the SWE-bench harness leaves,
/// `logs/run_evaluation` and `<model>.<run_id>.json`, goes below `out`, with a `verdict.json` beside each
/// `report.json`.
///
/// `parser`, in strict mode, is the file of a parser or an object of the protocol `LogParser` that reads all logs in the place of the
/// rows' own; `sandbox` is an object of the protocol `Sandbox` (`swe_atlas.protocols`). What they raise is the cause of a verdict
/// without evidence.
///
/// `progress` hears what the run does: True opens a bar of tqdm, a callable gets dicts with `phase`, `detail`, `done` and
/// `total`, in this thread, ten times a second at most; of details between two times it gets the last one. The run waits for it, and
/// what it raises ends the run in order and is raised here. By default nothing is shown.
///
/// Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
/// KeyboardInterrupt; the same call later goes on from there.
///
/// A prediction that fails is a part of the report, and so is what goes wrong with one row or one
/// instance. Raises AtlasError for inputs that cannot be read at all, wrong options, a dead engine.
#[pyfunction]
#[pyo3(signature = (
    dataset, predictions, run_id, *, mode="strict", instance_ids=None, engine="auto", jobs=1,
    timeout=None, out=PathBuf::from("."), repos=None, canaries=true, network=None, results=None,
    config=None, progress=None, trust=false, fresh_canaries=false, times_gold=None, least_seconds=None,
    parser=None, sandbox=None
), text_signature = "(dataset, predictions, run_id, *, mode='strict', instance_ids=None, \
    engine='auto', jobs=1, timeout=None, out='.', repos=None, canaries=True, network=None, \
    results=None, config=None, progress=None, trust=False, fresh_canaries=False, times_gold=None, \
    least_seconds=None, parser=None, sandbox=None)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn evaluate(
    py: Python<'_>,
    dataset: PathBuf,
    predictions: &Bound<'_, PyAny>,
    run_id: &str,
    mode: &str,
    instance_ids: Option<Vec<String>>,
    engine: &str,
    jobs: usize,
    timeout: Option<u64>,
    out: PathBuf,
    repos: Option<PathBuf>,
    canaries: bool,
    network: Option<&str>,
    results: Option<PathBuf>,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    trust: bool,
    fresh_canaries: bool,
    times_gold: Option<u32>,
    least_seconds: Option<u64>,
    parser: Option<&Bound<'_, PyAny>>,
    sandbox: Option<&Bound<'_, PyAny>>,
) -> PyResult<EvalReport> {
    if timeout == Some(0) {
        return Err(invalid("timeout", "a second or more expected"));
    }
    let network = match network {
        None => None,
        Some("none") => Some(Network::None),
        Some("full") => Some(Network::Full),
        Some(other) => {
            return Err(invalid(
                "network",
                format!("`{other}`: none or full expected"),
            ));
        }
    };
    let (file, parser) = parser_of(parser)?;
    let options = EvalOptions {
        instances: self::instance_ids(instance_ids)?,
        mode: named("mode", mode)?,
        engine: named("engine", engine)?,
        jobs,
        timeout,
        times_gold,
        least_seconds,
        out,
        repos,
        canaries,
        network,
        results,
        config: self::config(config)?,
        trust,
        fresh_canaries,
        parser: file,
        parts: Some(PyParts::new().parser(parser)?.sandbox(sandbox)?.shared()),
        ..EvalOptions::new(dataset, source(predictions)?, run_id)
    };
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::evaluate(cx, &options).await
        })
    })?;
    Report::of(&report).map(EvalReport)
}
