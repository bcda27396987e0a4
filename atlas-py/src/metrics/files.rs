//! `Analysis`, `measure`, `policies_report` and `check`.

use crate::convert::{named, plain};
use crate::errors::{invalid, raised_json};
use crate::notebook::{self, view};
use crate::report::Report;
use crate::run::run_blocking;
use crate::table::Table;
use atlas_judge::metrics::analysis::{AnalysisOptions, Population};
use atlas_judge::metrics::{BeyondRuns, BugValue, CalibrationMethod, LowConfidenceRule};
use atlas_pipeline::{MeasureInput, check_file};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What policies and critics reach, from their results.
///
/// Made by `measure` and `policies_report`. Immutable; every attribute gives fresh plain values.
#[pyclass(frozen, eq, module = "swe_atlas")]
#[derive(Debug, PartialEq)]
pub(crate) struct Analysis {
    report: Report,
    markdown: String,
    /// Name -> SVG.
    figures: Vec<(String, String)>,
}

impl Analysis {
    fn of(analysis: &atlas_judge::metrics::analysis::Analysis) -> PyResult<Self> {
        Ok(Self {
            report: Report::of(analysis)?,
            markdown: analysis.to_markdown(),
            figures: atlas_judge::policies_figures(analysis)
                .into_iter()
                .map(|figure| (format!("{}: {}", figure.section, figure.title), figure.svg))
                .collect(),
        })
    }
}

#[pymethods]
impl Analysis {
    /// Lines of the results.
    #[getter]
    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "lines")
    }

    /// Tasks.
    #[getter]
    fn instances<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "instances")
    }

    /// Who made the patches -> how many.
    #[getter]
    fn agents<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "agents")
    }

    /// Label of how patches were made -> how many.
    #[getter]
    fn kinds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "kinds")
    }

    /// Policies: over all patches, then, if there are several agents, agent by agent.
    #[getter]
    fn policies<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "policies")
    }

    /// Critics, by variant.
    #[getter]
    fn critics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "critics")
    }

    /// Whether critics, and proxies beside them, respect the progress of patches.
    #[getter]
    fn progress<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "progress")
    }

    /// What the reader must know to read the numbers rightly.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.field(py, "notes")
    }

    /// The tables as Markdown, as `atlas metrics` prints them.
    fn to_markdown(&self) -> &str {
        &self.markdown
    }

    /// The drawings of the page of `policies_report` as SVG, by section and title: precision against recall,
    /// reliability, success by k, what each step leaves, pass rates, and others, as far as there is something to draw.
    ///
    /// Each stands alone, in a file or in a page, and is legible on light and on dark.
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let figures = PyDict::new(py);
        for (name, svg) in &self.figures {
            figures.set_item(name, svg)?;
        }
        Ok(figures)
    }

    /// Rows for data frames: those of `policies`, or of another list.
    ///
    /// Raises InvalidInputError for a field that is no list of rows.
    #[pyo3(signature = (field=None))]
    fn table(&self, field: Option<&str>) -> PyResult<Table> {
        self.report.table("policies", field)
    }

    fn _repr_html_(&self) -> String {
        notebook::with_figures(
            &view::ANALYSIS,
            self.report.whole(),
            &self.figures,
            |title| {
                matches!(
                    title,
                    "Precision against recall" | "Filtered success@k" | "Reliability"
                )
            },
        )
    }

    /// Everything as plain values, equal to what `atlas metrics --format json` prints.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.report.dict(py)
    }

    /// The same as one line of JSON.
    fn to_json(&self) -> String {
        self.report.json()
    }

    fn __repr__(&self) -> String {
        format!(
            "Analysis({} lines, {} instances, {} critics)",
            self.report.value("lines"),
            self.report.value("instances"),
            self.report.count("critics")
        )
    }

    #[classmethod]
    fn _restore(_class: &Bound<'_, PyType>, state: &str) -> PyResult<Self> {
        let (report, markdown, figures): (Value, String, Vec<(String, String)>) =
            serde_json::from_str(state).map_err(raised_json)?;
        Ok(Self {
            report: Report::of(&report)?,
            markdown,
            figures,
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let this = slf.get();
        let state =
            serde_json::json!([this.report.whole(), this.markdown, this.figures]).to_string();
        Ok((slf.get_type().getattr("_restore")?, (state,)))
    }
}

/// Results and evaluations, and how they are measured.
struct Asked {
    input: MeasureInput,
    options: AnalysisOptions,
}

/// The keyword arguments that `measure` and `policies_report` share.
struct Options {
    tau: f64,
    percentiles: Vec<f64>,
    population: String,
    beyond: String,
    max_k: u64,
    ks: Vec<u64>,
    low_confidence: f64,
    longer_than: u64,
    resamples: usize,
    seed: u64,
    bins: usize,
    target_precision: Option<f64>,
    value: Option<BTreeMap<String, f64>>,
    calibrate: Option<String>,
    calibrate_on: Vec<PathBuf>,
    cascade_step: Option<f64>,
}

impl Options {
    fn with(self, results: &Bound<'_, PyAny>, evaluations: Vec<PathBuf>) -> PyResult<Asked> {
        let (results, judges) = results_of(results)?;
        if results.is_empty() && judges.is_empty() && evaluations.is_empty() {
            return Err(invalid("results", "a file at least expected"));
        }
        if !(0.0..=1.0).contains(&self.tau) {
            return Err(invalid("tau", "a number from 0 to 1 expected"));
        }
        let mut percentiles = self.percentiles.iter();
        if percentiles.any(|p| !(0.0..=100.0).contains(p)) {
            return Err(invalid("percentiles", "numbers from 0 to 100 expected"));
        }
        if self.max_k == 0 {
            return Err(invalid("max_k", "1 or more expected"));
        }
        if self.ks.contains(&0) {
            return Err(invalid("ks", "numbers of 1 or more expected"));
        }
        let value: Option<BugValue> = self.value.as_ref().map(value_of).transpose()?;
        let population = match self.population.as_str() {
            "attempted" => Population::Attempted,
            "all" => Population::All,
            other => {
                let why = format!("`{other}`: attempted or all expected");
                return Err(invalid("population", why));
            }
        };
        let beyond: BeyondRuns = named("beyond", &self.beyond)?;
        if !(1..=1000).contains(&self.bins) {
            return Err(invalid("bins", "a number from 1 to 1000 expected"));
        }
        let target = self.target_precision;
        if target.is_some_and(|target| !(0.0..=1.0).contains(&target)) {
            return Err(invalid("target_precision", "a number from 0 to 1 expected"));
        }
        let calibrate: Option<CalibrationMethod> = self
            .calibrate
            .map(|method| named("calibrate", &method))
            .transpose()?;
        if calibrate.is_none() && !self.calibrate_on.is_empty() {
            return Err(invalid("calibrate_on", "only with calibrate"));
        }
        let step = self.cascade_step;
        if step.is_some_and(|step| !(0.005..=1.0).contains(&step)) {
            return Err(invalid("cascade_step", "a number from 0.005 to 1 expected"));
        }
        Ok(Asked {
            input: MeasureInput {
                results,
                judges,
                evaluations,
                calibrate_on: self.calibrate_on,
            },
            options: AnalysisOptions {
                tau: self.tau,
                percentiles: self.percentiles,
                population,
                max_k: self.max_k,
                table_ks: self.ks,
                beyond,
                rule: LowConfidenceRule {
                    max_confidence: self.low_confidence,
                    longer_than: self.longer_than,
                },
                resamples: self.resamples,
                seed: self.seed,
                bins: self.bins,
                target_precision: target,
                value,
                calibrate,
                cascade_step: step,
            },
        })
    }
}

/// Reads the four numbers as the command does.
fn value_of(parts: &BTreeMap<String, f64>) -> PyResult<BugValue> {
    let parts = parts
        .iter()
        .map(|(name, number)| format!("{name}={number}"));
    let text = parts.collect::<Vec<_>>().join(",");
    text.parse().map_err(|why: String| invalid("value", why))
}

/// Files that are read as one, and those of judges.
type Files = (Vec<PathBuf>, Vec<(String, PathBuf)>);

fn results_of(value: &Bound<'_, PyAny>) -> PyResult<Files> {
    let Ok(judges) = value.cast::<PyDict>() else {
        return Ok((paths(value, "results")?, Vec::new()));
    };
    let mut found = Files::default();
    for (name, files) in judges {
        let name: String = name.extract()?;
        for path in paths(&files, "results")? {
            if name.is_empty() {
                found.0.push(path);
            } else {
                found.1.push((name.clone(), path));
            }
        }
    }
    Ok(found)
}

/// One path, or several.
fn paths(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<PathBuf>> {
    let paths = match value.extract::<PathBuf>() {
        Ok(path) => Ok(vec![path]),
        Err(_) => value.extract::<Vec<PathBuf>>(),
    };
    let paths = paths.map_err(|_| invalid(name, "a path, or a list of them, expected"))?;
    // A lone dash would be standard input further down.
    let dash = |path: PathBuf| {
        if path == Path::new("-") {
            "./-".into()
        } else {
            path
        }
    };
    Ok(paths.into_iter().map(dash).collect())
}

/// Measures policies and critics from their results: what `abstain`, `review` and `critic` wrote, one or more
/// lines a candidate patch.
///
/// `results` is a path or a list of paths, read as one file, or a dict of judges that are compared, such as two models:
/// name to path or paths, where the files of the empty name are common to all. `evaluations` are folders
/// `logs/run_evaluation/<run id>`, whose verdicts say which patches resolve their task and which tests pass.
/// A task is attempted from the probability `tau` on; `percentiles` of the validation score decide what is
/// shown, over patches of tasks that are 'attempted' or of 'all' (`population`). `beyond` is that of
/// `metrics.mean_at_k`, `max_k` the largest k; `ks` are those that tables show. A test that is said to pass with at most `low_confidence`, 0 to
/// 100, and whose source has more than `longer_than` characters is taken to fail. Intervals come from
/// `resamples` of tasks, with this `seed`; 0 makes none. Reliability diagrams have `bins` bins.
/// `target_precision`, 0 to 1, looks for the score from which on this share is right. `value` says what a fix is worth (`fix`), what a
/// bug that stays open costs (`open`), what a run (`run`) and a person's look at a patch (`review`) cost: which thresholds lose
/// money. `calibrate` is 'platt' or 'isotonic': each
/// half of the tasks is measured by a fit to the other one, or by a fit to the results files `calibrate_on`, of which tasks that are
/// measured are left out. With `cascade_step`, 0.005 to 1, each two judges, the cheaper one first, are tried as a cascade over bands
/// of doubt whose ends lie this far apart.
///
/// Raises InvalidInputError for a line with a fault, named by line and field.
#[pyfunction]
#[pyo3(signature = (
    results, *, evaluations=Vec::new(), tau=0.5, percentiles=vec![75.0, 90.0], population="attempted",
    beyond="clamp", max_k=20, ks=Vec::new(), low_confidence=65.0, longer_than=50, resamples=1000, seed=0,
    bins=10, target_precision=None, value=None, calibrate=None, calibrate_on=Vec::new(), cascade_step=None
), text_signature = "(results, *, evaluations=(), tau=0.5, percentiles=(75.0, 90.0), \
    population='attempted', beyond='clamp', max_k=20, ks=(), low_confidence=65.0, longer_than=50, \
    resamples=1000, seed=0, bins=10, target_precision=None, value=None, calibrate=None, calibrate_on=(), cascade_step=None)")]
#[expect(
    clippy::too_many_arguments,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn measure(
    py: Python<'_>,
    results: &Bound<'_, PyAny>,
    evaluations: Vec<PathBuf>,
    tau: f64,
    percentiles: Vec<f64>,
    population: &str,
    beyond: &str,
    max_k: u64,
    ks: Vec<u64>,
    low_confidence: f64,
    longer_than: u64,
    resamples: usize,
    seed: u64,
    bins: usize,
    target_precision: Option<f64>,
    value: Option<BTreeMap<String, f64>>,
    calibrate: Option<String>,
    calibrate_on: Vec<PathBuf>,
    cascade_step: Option<f64>,
) -> PyResult<Analysis> {
    let options = Options {
        tau,
        percentiles,
        population: population.to_owned(),
        beyond: beyond.to_owned(),
        max_k,
        ks,
        low_confidence,
        longer_than,
        resamples,
        seed,
        bins,
        target_precision,
        value,
        calibrate,
        calibrate_on,
        cascade_step,
    };
    let Asked { input, options } = options.with(results, evaluations)?;
    let found =
        py.detach(move || run_blocking(move |_| atlas_pipeline::measure(&input, &options)))?;
    Analysis::of(&found)
}

/// Writes a page of figures on policies and critics, one self-contained HTML file, to `out`: curves of precision
/// and recall, filtered success@k, funnel and trade-off (paper 002), confidence, predicted against actual
/// pass rates and rank correlation (paper 004). Gives what is in it.
///
/// All other arguments and exceptions are those of `measure`.
#[pyfunction]
#[pyo3(signature = (
    results, out, *, title="Policies and critics", evaluations=Vec::new(), tau=0.5,
    percentiles=vec![75.0, 90.0], population="attempted", beyond="clamp", max_k=20, ks=Vec::new(),
    low_confidence=65.0, longer_than=50, resamples=1000, seed=0, bins=10,
    target_precision=None, value=None, calibrate=None, calibrate_on=Vec::new(), cascade_step=None
), text_signature = "(results, out, *, title='Policies and critics', evaluations=(), tau=0.5, \
    percentiles=(75.0, 90.0), population='attempted', beyond='clamp', max_k=20, ks=(), low_confidence=65.0, \
    longer_than=50, resamples=1000, seed=0, bins=10, target_precision=None, value=None, calibrate=None, \
    calibrate_on=(), cascade_step=None)")]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "keyword arguments, on Python's side"
)]
pub(crate) fn policies_report(
    py: Python<'_>,
    results: &Bound<'_, PyAny>,
    out: PathBuf,
    title: &str,
    evaluations: Vec<PathBuf>,
    tau: f64,
    percentiles: Vec<f64>,
    population: &str,
    beyond: &str,
    max_k: u64,
    ks: Vec<u64>,
    low_confidence: f64,
    longer_than: u64,
    resamples: usize,
    seed: u64,
    bins: usize,
    target_precision: Option<f64>,
    value: Option<BTreeMap<String, f64>>,
    calibrate: Option<String>,
    calibrate_on: Vec<PathBuf>,
    cascade_step: Option<f64>,
) -> PyResult<Analysis> {
    let options = Options {
        tau,
        percentiles,
        population: population.to_owned(),
        beyond: beyond.to_owned(),
        max_k,
        ks,
        low_confidence,
        longer_than,
        resamples,
        seed,
        bins,
        target_precision,
        value,
        calibrate,
        calibrate_on,
        cascade_step,
    };
    let Asked { input, options } = options.with(results, evaluations)?;
    let found = py.detach(|| atlas_pipeline::report_policies(&input, &options, title, &out));
    Analysis::of(&found.map_err(|why| crate::errors::raised(&why))?)
}

/// Compares files of stored values with what is computed here: what `atlas metrics --check` does.
///
/// `files` is a path or a list of paths. Gives for each `file`, `agrees`, the `name` of its quantity, `cases`,
/// `fields`, `largest_error`, `differences` and `faults`; a file that cannot be read has that as its fault.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    files: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let files = paths(files, "files")?;
    let checked: Vec<_> = py.detach(|| files.iter().map(|path| check_file(path)).collect());
    plain(py, &checked)
}
