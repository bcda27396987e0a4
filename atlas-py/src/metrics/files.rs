//! `measure`, `policies_report` and `check`.

use crate::convert::plain;
use crate::errors::{invalid, raised};
use crate::options::Options;
use crate::report::told_with;
use crate::run::run_blocking;
use atlas_judge::metrics::analysis::{Analysis, AnalysisOptions};
use atlas_judge::metrics::{BugValue, LowConfidenceRule};
use atlas_pipeline::{MeasureInput, check_file};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A number that lies within bounds.
fn within(name: &str, number: f64, least: f64, most: f64) -> PyResult<f64> {
    if (least..=most).contains(&number) {
        Ok(number)
    } else {
        let why = format!("a number from {least} to {most} expected");
        Err(invalid(name, why))
    }
}

/// The same where it may be left out.
fn maybe_within(given: &Options<'_>, name: &str, least: f64) -> PyResult<Option<f64>> {
    let number: Option<f64> = given.maybe(name)?;
    number
        .map(|number| within(name, number, least, 1.0))
        .transpose()
}

fn options(given: &Options<'_>) -> PyResult<AnalysisOptions> {
    let percentiles: Vec<f64> = given.get("percentiles")?;
    for percentile in &percentiles {
        within("percentiles", *percentile, 0.0, 100.0)?;
    }
    let (max_k, table_ks): (u64, Vec<u64>) = (given.get("max_k")?, given.get("ks")?);
    if max_k == 0 {
        return Err(invalid("max_k", "1 or more expected"));
    }
    if table_ks.contains(&0) {
        return Err(invalid("ks", "numbers of 1 or more expected"));
    }
    let bins: usize = given.get("bins")?;
    if !(1..=1000).contains(&bins) {
        return Err(invalid("bins", "a number from 1 to 1000 expected"));
    }
    let value: Option<BTreeMap<String, f64>> = given.maybe("value")?;
    Ok(AnalysisOptions {
        tau: within("tau", given.get("tau")?, 0.0, 1.0)?,
        percentiles,
        population: given.word("population")?,
        max_k,
        table_ks,
        beyond: given.named("beyond")?.unwrap_or_default(),
        rule: LowConfidenceRule {
            max_confidence: given.get("low_confidence")?,
            longer_than: given.get("longer_than")?,
        },
        resamples: given.get("resamples")?,
        seed: given.get("seed")?,
        bins,
        target_precision: maybe_within(given, "target_precision", 0.0)?,
        value: value.as_ref().map(value_of).transpose()?,
        calibrate: given.named("calibrate")?,
        cascade_step: maybe_within(given, "cascade_step", 0.005)?,
    })
}

/// Reads the four numbers as the command does.
fn value_of(parts: &BTreeMap<String, f64>) -> PyResult<BugValue> {
    let parts = parts
        .iter()
        .map(|(name, number)| format!("{name}={number}"));
    let text = parts.collect::<Vec<_>>().join(",");
    text.parse().map_err(|why: String| invalid("value", why))
}

/// Files that are read as one, and those of judges by name.
fn input(given: &Options<'_>) -> PyResult<MeasureInput> {
    let mut input = MeasureInput {
        results: Vec::new(),
        judges: Vec::new(),
        evaluations: given.get("evaluations")?,
        calibrate_on: given.get("calibrate_on")?,
    };
    let value: Bound<'_, PyAny> = given.get("results")?;
    if let Ok(judges) = value.cast::<PyDict>() {
        for (name, files) in judges {
            let (name, files): (String, _) = (name.extract()?, paths(&files, "results")?);
            if name.is_empty() {
                input.results.extend(files);
            } else {
                let files = files.into_iter().map(|path| (name.clone(), path));
                input.judges.extend(files);
            }
        }
    } else {
        input.results = paths(&value, "results")?;
    }
    if input.results.is_empty() && input.judges.is_empty() && input.evaluations.is_empty() {
        return Err(invalid("results", "a file at least expected"));
    }
    if given.object("calibrate")?.is_none() && !input.calibrate_on.is_empty() {
        return Err(invalid("calibrate_on", "only with calibrate"));
    }
    Ok(input)
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

/// The report, and beside it the tables as Markdown and the figures by their names.
fn analysed<'py>(py: Python<'py>, found: &Analysis) -> PyResult<Bound<'py, PyAny>> {
    let figures = atlas_judge::policies_figures(found).into_iter();
    let figures = figures
        .map(|figure| (format!("{}: {}", figure.section, figure.title), figure.svg))
        .into_py_dict(py)?;
    let beside = (found.to_markdown(), figures).into_pyobject(py)?;
    told_with(py, "Analysis", found, Some(beside.into_any()))
}

#[pyfunction]
pub(crate) fn _measure<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let (input, options) = (input(&given)?, options(&given)?);
    let work = move || run_blocking(move |_| atlas_pipeline::measure(&input, &options));
    analysed(py, &py.detach(work)?)
}

#[pyfunction]
pub(crate) fn _policies_report<'py>(
    py: Python<'py>,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (input, options) = (input(&given)?, options(&given)?);
    let (title, out): (String, PathBuf) = (given.get("title")?, given.get("out")?);
    let found = py.detach(|| atlas_pipeline::report_policies(&input, &options, &title, &out));
    analysed(py, &found.map_err(|why| raised(&why))?)
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
