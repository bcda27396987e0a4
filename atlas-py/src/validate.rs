//! `ValidateReport`, `validate` and `grade`.

use crate::convert::{named, plain};
use crate::heard::Heard;
use crate::log::ParsedLog;
use crate::make::config;
use crate::notebook::view;
use crate::report::Report;
use crate::run::run_heard;
use crate::table::Table;
use crate::traits::PyParts;
use atlas_oracle::SequentialTest;
use atlas_pipeline::ValidateOptions;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// What the quality gates came to, instance by instance and gate by gate.
///
/// Made by `validate`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct ValidateReport(Report);

#[pymethods]
impl ValidateReport {
    /// Version of the report's form.
    #[getter]
    fn schema_version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "schema_version")
    }

    /// The dataset.
    #[getter]
    fn dataset(&self) -> PathBuf {
        self.0.text("dataset").into()
    }

    /// The rows that passed, repaired where needed.
    #[getter]
    fn validated(&self) -> PathBuf {
        self.0.text("validated").into()
    }

    /// Instances looked at.
    #[getter]
    fn total<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "total")
    }

    /// Instances that passed as they are.
    #[getter]
    fn accepted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "accepted")
    }

    /// What is wrong with the dataset's rows, each with `file`, `line`, `field` and `message`: they were
    /// left out, and the others looked at.
    #[getter]
    fn faults<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "faults")
    }

    /// Instances that passed with tests taken out of their lists.
    #[getter]
    fn repaired<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "repaired")
    }

    /// Instances that do not pass before someone repairs what no rule can: a statement that holds the
    /// solution.
    #[getter]
    fn needs_repair<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "needs_repair")
    }

    /// Instances that did not pass.
    #[getter]
    fn rejected<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "rejected")
    }

    /// Instances about which no gate had anything to decide on.
    #[getter]
    fn no_evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "no_evidence")
    }

    /// Instances at which something went wrong, and faults of the dataset.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "errors")
    }

    /// Gate by gate, in order: how many instances entered and what became of them.
    #[getter]
    fn funnel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "funnel")
    }

    /// Every instance with its verdicts, in the dataset's order.
    #[getter]
    fn instances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "instances")
    }

    /// Wall seconds.
    #[getter]
    fn seconds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "seconds")
    }

    /// Everything as plain values, equal to what `atlas validate --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: how many instances come to each gate, and how many it lets through. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::VALIDATION)
    }

    /// Rows for data frames: those of `instances`, or of another list of the report.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.0.table("instances", field)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::VALIDATION)
    }

    fn __repr__(&self) -> String {
        let count = |name: &str| self.0.value(name).to_string();
        format!(
            "ValidateReport('{}', accepted={}, repaired={}, rejected={}, errors={})",
            self.0.text("dataset"),
            count("accepted"),
            count("repaired"),
            count("rejected"),
            count("errors")
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

/// Puts the instances of a dataset through quality gates.
///
/// `dataset` is a file of JSON lines or one JSON list; `instances` names those wanted, default all.
/// `repos` is a clone or a folder of clones; without it the clone is used that `make` used beside the
/// dataset. `gates` names gates in order, default all: integrity, test_run, oracle_consistency,
/// gold_patch, null_patch, strength, environment_determinism; the first that rejects an instance ends its way
/// unless `keep_going`. Objects of the protocol `Validator` (`swe_atlas.protocols`) may be among them and run behind the others.
/// `parser` and `sandbox` are those of `evaluate`. `runs` identical runs of After (default 3, or as many as `sequential` may need),
/// `null_runs` of the empty prediction,
/// `perturbed_runs` under each of `perturbations` (order, parallelism, clock, timezone, locale, load,
/// network), `builds` from scratch, at most `strength_runs` without parts of the gold patch.
/// `sequential` is a fail rate: runs stop as soon as every test is decided at it, for rates up to
/// `tolerate` as stable, with `power`. An instance with a test in its lists that differs between
/// identical runs is rejected; with `set_aside_flaky` it is kept without it. `concurrency` runs of an instance go on at once, and `jobs`
/// instances. `engine`, `config` and `trust` are those of `make`, `progress` is that of `evaluate`. Reports go below `out`, default the
/// dataset's folder.
///
/// Runs detached from Python's lock. Ctrl-C ends the runs in flight, cleans up and raises
/// KeyboardInterrupt; the same call later goes on from there.
///
/// A rejected instance is a part of the report, and so is what goes wrong with one instance. Raises
/// AtlasError for a dataset that cannot be read, wrong options, a dead engine.
#[pyfunction]
#[pyo3(signature = (
    dataset, *, instances=None, repos=None, gates=None, keep_going=false, runs=None, null_runs=1,
    perturbations=Vec::new(), perturbed_runs=1, sequential=None, tolerate=0.0, power=0.95, builds=3,
    strength_runs=40, min_strength=0.0, concurrency=1, jobs=1, engine="auto", config=None, progress=None, out=None,
    trust=false, set_aside_flaky=false, parser=None, sandbox=None
), text_signature = "(dataset, *, instances=None, repos=None, gates=None, keep_going=False, runs=None, \
    null_runs=1, perturbations=(), perturbed_runs=1, sequential=None, tolerate=0.0, power=0.95, \
    builds=3, strength_runs=40, min_strength=0.0, concurrency=1, jobs=1, engine='auto', config=None, progress=None, \
    out=None, trust=False, set_aside_flaky=False, parser=None, sandbox=None)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn validate(
    py: Python<'_>,
    dataset: PathBuf,
    instances: Option<Vec<String>>,
    repos: Option<PathBuf>,
    gates: Option<Vec<Bound<'_, PyAny>>>,
    keep_going: bool,
    runs: Option<u32>,
    null_runs: u32,
    perturbations: Vec<String>,
    perturbed_runs: u32,
    sequential: Option<f64>,
    tolerate: f64,
    power: f64,
    builds: u32,
    strength_runs: usize,
    min_strength: f64,
    concurrency: usize,
    jobs: usize,
    engine: &str,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    trust: bool,
    set_aside_flaky: bool,
    parser: Option<&Bound<'_, PyAny>>,
    sandbox: Option<&Bound<'_, PyAny>>,
) -> PyResult<ValidateReport> {
    let instances = instances
        .unwrap_or_default()
        .iter()
        .map(|id| named("instances", id))
        .collect::<PyResult<Vec<_>>>()?;
    let defaults = ValidateOptions::new(dataset);
    let (names, own) = match gates {
        None => (defaults.gates.clone(), Vec::new()),
        Some(gates) => {
            let (mut names, mut own) = (Vec::new(), Vec::new());
            for gate in gates {
                match gate.extract::<String>() {
                    Ok(name) => names.push(name),
                    Err(_) => own.push(gate),
                }
            }
            (names, own)
        }
    };
    let parts = PyParts::new()
        .parser(parser)?
        .sandbox(sandbox)?
        .validators(&own)?;
    let options = ValidateOptions {
        instances,
        repos,
        gates: names,
        parts: Some(parts.shared()),
        keep_going,
        runs,
        null_runs,
        perturbations,
        perturbed_runs,
        sequential: sequential.map(|rate| SequentialTest {
            rate,
            tolerated: tolerate,
            miss: 1.0 - power,
            ..SequentialTest::default()
        }),
        power,
        set_aside_flaky,
        builds,
        strength_runs,
        min_strength,
        concurrency,
        jobs,
        engine: named("engine", engine)?,
        config: self::config(config)?,
        out,
        trust,
        ..defaults
    };
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::validate(cx, &options).await
        })
    })?;
    Report::of(&report).map(ValidateReport)
}

/// Grades one run against the lists of an instance.
///
/// Only a test that the log names as passing passes; the worst status of an id counts. The result has
/// `resolution` (RESOLVED_FULL, RESOLVED_PARTIAL or RESOLVED_NO), `FAIL_TO_PASS` and `PASS_TO_PASS`
/// (each with `success` and `failure`), and `failed_by_name`, the tests of either list that the log
/// names as failing.
#[pyfunction]
#[pyo3(signature = (log, *, fail_to_pass, pass_to_pass))]
#[expect(
    clippy::needless_pass_by_value,
    reason = "converted arguments, on Python's side"
)]
pub(crate) fn grade<'py>(
    py: Python<'py>,
    log: &Bound<'py, ParsedLog>,
    fail_to_pass: Vec<String>,
    pass_to_pass: Vec<String>,
) -> PyResult<Bound<'py, PyAny>> {
    let log = &log.get().log;
    let graded = py.detach(|| atlas_oracle::grade(log, &fail_to_pass, &pass_to_pass));
    plain(py, &graded)
}
