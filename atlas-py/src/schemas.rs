//! What stands behind `convert`, `lint` and `audit`.

use crate::dataset::{Dataset, given as dataset_of};
use crate::errors::{invalid, raised};
use crate::options::Options;
use crate::report::{told, told_with};
use crate::run::{run_blocking, run_blocking_heard, run_heard};
use atlas_core::Error;
use atlas_formats::{ConvertOptions, LintCode, LintOptions, Schema};
use atlas_pipeline::{PredictionSource, audit_dataset, audit_runs, lint_dataset};
use pyo3::prelude::*;
use std::path::PathBuf;

#[pyfunction]
pub(crate) fn _convert<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let to: Schema = given
        .named("to")?
        .ok_or_else(|| invalid("to", "a schema expected"))?;
    let from = given.named("schema")?;
    let out: Option<PathBuf> = given.maybe("out")?;
    let dataset = dataset_of(&given.get("dataset")?, "dataset")?;
    let dataset = dataset.get();
    let mut options = ConvertOptions::default();
    options.image_namespace = given.get("image_namespace")?;
    options.keep_source = given.get("keep_source")?;
    let (set, report) = py
        .detach(|| {
            let (set, name) = (&dataset.set, &dataset.name);
            let done = atlas_pipeline::convert_dataset(set, name, from, to, &options)?;
            if let Some(out) = &out {
                done.0.write(out)?;
            }
            Ok::<_, Error>(done)
        })
        .map_err(|why| raised(&why))?;
    // In its own schema a dataset stays as it was read.
    let is_read = dataset.is_read && report.from == report.to;
    let name = out.unwrap_or_else(|| dataset.name.clone());
    let converted = Bound::new(py, Dataset { set, name, is_read })?;
    told_with(py, "Conversion", &report, Some(converted.into_any()))
}

/// The schema and the codes that callers of `lint` and `audit` name. Rust's own options cannot be sent to another thread.
struct Asked {
    schema: Option<Schema>,
    ignored: Vec<LintCode>,
}

impl Asked {
    fn of(given: &Options<'_>) -> PyResult<Self> {
        Ok(Self {
            schema: given.named("schema")?,
            ignored: given.all_named("ignore")?,
        })
    }

    fn options(self) -> LintOptions<'static> {
        let mut options = LintOptions::default();
        options.schema = self.schema;
        options.ignored = self.ignored.into_iter().collect();
        options
    }
}

#[pyfunction]
pub(crate) fn _lint<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let asked = Asked::of(&given)?;
    let repos: Option<PathBuf> = given.maybe("repos")?;
    let set = dataset_of(&given.get("dataset")?, "dataset")?
        .get()
        .set
        .clone();
    let report = py.detach(|| {
        run_blocking(move |cx| lint_dataset(cx, &set, &asked.options(), repos.as_deref()))
    })?;
    told(py, "LintReport", &report)
}

#[pyfunction]
pub(crate) fn _audit<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let asked = Asked::of(&given)?;
    let repos: Option<PathBuf> = given.maybe("repos")?;
    let dataset: Bound<'py, PyAny> = given.get("dataset")?;
    let runs = if given.get("run")? {
        if dataset.extract::<PathBuf>().is_err() {
            return Err(invalid("dataset", "a path expected where rows are run"));
        }
        Some(given.evaluation(PredictionSource::Gold)?)
    } else {
        None
    };
    let set = dataset_of(&dataset, "dataset")?.get().set.clone();
    let looked = set.clone();
    let progress = given.progress()?;
    let mut report = py.detach(|| {
        run_blocking_heard(&progress, move |cx| {
            audit_dataset(cx, &looked, &asked.options(), repos.as_deref())
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
    told(py, "AuditReport", &report)
}
