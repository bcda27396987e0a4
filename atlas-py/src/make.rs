//! `MakeReport` and `make`.

use crate::convert::{dumps, named};
use crate::errors::{invalid, raised};
use crate::heard::Heard;
use crate::notebook::view;
use crate::report::Report;
use crate::run::run_heard;
use crate::traits::PyParts;
use atlas_core::{Error, ErrorKind};
use atlas_pipeline::{Config, MakeOptions};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::path::PathBuf;

/// What making a pull request into an instance came to: the verdict, and what proves it.
///
/// Made by `make`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct MakeReport(Report);

#[pymethods]
impl MakeReport {
    /// Version of the report's form.
    #[getter]
    fn schema_version<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "schema_version")
    }

    /// The instance's name.
    #[getter]
    fn instance_id(&self) -> &str {
        self.0.text("instance_id")
    }

    /// The verdict: instance, or why it is none (reject_no_fail_to_pass, environment_invalid,
    /// reject_after_broken, reject_nothing_to_test, reject_entangled, no_evidence).
    #[getter]
    fn outcome(&self) -> &str {
        self.0.text("outcome")
    }

    /// One sentence why.
    #[getter]
    fn reason(&self) -> &str {
        self.0.text("reason")
    }

    /// bug_fix or feature_request, by state; None where it cannot be told.
    #[getter]
    fn kind(&self) -> Option<&str> {
        self.0.value("kind").as_str()
    }

    /// How much of Before did not run: none, partial, full or crash; None if it was not run.
    #[getter]
    fn before_failure_extent(&self) -> Option<&str> {
        self.0.value("before_failure_extent").as_str()
    }

    /// Tests that define the task.
    #[getter]
    fn fail_to_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "FAIL_TO_PASS")
    }

    /// Tests that must go on passing.
    #[getter]
    fn pass_to_pass<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "PASS_TO_PASS")
    }

    /// Tests that exist only through the gold patch, each with what shows it: in neither list.
    #[getter]
    fn gold_only<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "gold_only")
    }

    /// The dataset row's file; None for a rejected pull request.
    #[getter]
    fn row(&self) -> Option<PathBuf> {
        self.0.value("row").as_str().map(PathBuf::from)
    }

    /// The folder with everything that proves the verdict.
    #[getter]
    fn artefacts(&self) -> PathBuf {
        self.0.text("artefacts").into()
    }

    /// The engine that was used.
    #[getter]
    fn engine(&self) -> &str {
        self.0.text("engine")
    }

    /// How the tests were kept apart from this machine; None if none ran.
    #[getter]
    fn isolation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "isolation")
    }

    /// Wall seconds by step.
    #[getter]
    fn seconds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "seconds")
    }

    /// Proof lines.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "evidence")
    }

    /// Remarks.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "warnings")
    }

    /// What further runs said of the tests that define the task; None where none were made.
    #[getter]
    fn confirmation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "confirmation")
    }

    /// What the runner's structured reports say beside the console; None where no state ran.
    #[getter]
    fn second_witness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "second_witness")
    }

    /// What the model was asked and cost, for plan, parser and injection together; None without a model.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, "model")
    }

    /// Everything as plain values, equal to what `atlas make --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.0.json()
    }

    /// A drawing as SVG: seconds by step. None where there is nothing to draw.
    ///
    /// It stands alone, in a file or in a page, and is legible on light and on dark.
    fn to_svg(&self) -> Option<String> {
        self.0.svg(&view::MAKE)
    }

    fn _repr_html_(&self) -> String {
        self.0.html(&view::MAKE)
    }

    fn __repr__(&self) -> String {
        format!(
            "MakeReport('{}', {})",
            self.0.text("instance_id"),
            self.0.summary()
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

/// A parser's file, or an object that is a parser.
pub(crate) fn parser_of<'a, 'py>(
    given: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<(Option<PathBuf>, Option<&'a Bound<'py, PyAny>>)> {
    Ok(match given {
        Some(given) if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? => {
            (Some(given.extract()?), None)
        }
        given => (None, given),
    })
}

/// A path to `atlas.toml`, or its content as a mapping.
pub(crate) fn config(given: Option<&Bound<'_, PyAny>>) -> PyResult<Config> {
    let mut config = read(given)?;
    let registries = &mut config.registries;
    registries.read_environment().map_err(|why| raised(&why))?;
    Ok(config)
}

fn read(given: Option<&Bound<'_, PyAny>>) -> PyResult<Config> {
    let Some(given) = given else {
        return Ok(Config::default());
    };
    if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
        let path: PathBuf = given.extract()?;
        return Config::read(&path).map_err(|why| raised(&why));
    }
    serde_json::from_str(&dumps(given)?).map_err(|why| {
        raised(&Error::new(ErrorKind::InvalidInput, "read configuration", "").with_source(why))
    })
}

/// Makes one merged pull request into a verified instance, or says why it is none.
///
/// `repo` is a clone's path or an address to clone from. The pull request is `base` and `head`
/// (revisions), or `pr` (its number, found in the clone). `problem` is a file with the problem
/// statement; `engine` is 'auto', 'docker' or 'local'; `config` is a path to an atlas.toml or its
/// content as a mapping, and no file is read unasked. Artefacts and `dataset.jsonl` go below `out`.
/// `trust` lets the repository's code run where nothing keeps it apart from this machine. Each state
/// runs `repeats` times; tests that do not repeat are set aside.
/// Each test of FAIL_TO_PASS is run `confirm` further times in Before and in After, its files alone, and
/// set aside if it contradicts itself; 0 for none, by default the configuration's, 3.
/// `scope` is how much of the suite runs: 'full', 'package', 'touched' or 'auto', by default the
/// configuration's, 'auto'. `progress` is that of `evaluate`.
///
/// `candidate` is what `source` wrote, one of its lines as a mapping, in the place of `repo`. `parser` is the file of a parser
/// or an object of the protocol `LogParser`, in the place of the plan's; `synthesizer`, `oracle` and `sandbox` are objects of the
/// protocols `EnvSynthesizer`, `Oracle` and `Sandbox` (`swe_atlas.protocols`), in the place of Atlas's own. What they raise ends the call with
/// an exception that says so, and nothing is written of the instance.
///
/// Runs detached from Python's lock. Ctrl-C, which Python hears in its main thread, ends the step in
/// flight, cleans up and raises KeyboardInterrupt; the same call later goes on from there.
///
/// A rejected pull request is a report, not an exception. Raises AtlasError for what is no property
/// of the pull request: a commit that is not there, a dead engine, a full disk.
#[pyfunction]
#[pyo3(signature = (
    repo=None, *, out, base=None, head=None, pr=None, instance_id=None, problem=None,
    engine="auto", config=None, progress=None, trust=false, repeats=1, confirm=None,
    scope=None, candidate=None, parser=None, synthesizer=None, oracle=None, sandbox=None
))]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn make(
    py: Python<'_>,
    repo: Option<PathBuf>,
    out: PathBuf,
    base: Option<String>,
    head: Option<String>,
    pr: Option<u64>,
    instance_id: Option<&str>,
    problem: Option<PathBuf>,
    engine: &str,
    config: Option<&Bound<'_, PyAny>>,
    progress: Option<&Bound<'_, PyAny>>,
    trust: bool,
    repeats: u32,
    confirm: Option<u32>,
    scope: Option<&str>,
    candidate: Option<&Bound<'_, PyAny>>,
    parser: Option<&Bound<'_, PyAny>>,
    synthesizer: Option<&Bound<'_, PyAny>>,
    oracle: Option<&Bound<'_, PyAny>>,
    sandbox: Option<&Bound<'_, PyAny>>,
) -> PyResult<MakeReport> {
    let repo = repo
        .map(|repo| repo.into_os_string().into_string())
        .transpose()
        .map_err(|repo| invalid("repo", format!("{} is not UTF-8", repo.display())))?;
    let from = match (repo, candidate) {
        (None, Some(candidate)) => {
            let sourced = dumps(candidate).map_err(|why| invalid("candidate", why))?;
            let sourced =
                serde_json::from_str(&sourced).map_err(|why| invalid("candidate", why))?;
            MakeOptions::sourced(sourced, out).map_err(|why| raised(&why))?
        }
        (Some(repo), None) => MakeOptions::new(repo, out),
        (None, None) => return Err(invalid("repo", "give `repo` or `candidate`")),
        (Some(_), Some(_)) => {
            return Err(invalid("candidate", "give either `repo` or `candidate`"));
        }
    };
    let (file, parser) = parser_of(parser)?;
    let parts = PyParts::new().parser(parser)?.synthesizer(synthesizer)?;
    let parts = parts.oracle(oracle)?.sandbox(sandbox)?;
    let instance_id = instance_id.map(|id| named("instance_id", id)).transpose()?;
    let mut config = self::config(config)?;
    config.make.confirm = confirm.unwrap_or(config.make.confirm);
    if let Some(scope) = scope {
        config.make.scope = named("scope", scope)?;
    }
    let options = MakeOptions {
        base: base.or(from.base.clone()),
        head: head.or(from.head.clone()),
        pull_request: pr.or(from.pull_request),
        instance_id: instance_id.or(from.instance_id.clone()),
        problem,
        engine: named("engine", engine)?,
        config,
        trust,
        repeats,
        parser: file,
        parts: Some(parts.shared()),
        ..from
    };
    let progress = Heard::of(progress)?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::make(cx, &options).await
        })
    })?;
    Report::of(&report).map(MakeReport)
}
