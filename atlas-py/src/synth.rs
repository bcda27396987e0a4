//! What stands behind `synth_parser` and `certify_parser`.

use crate::convert::plain;
use crate::errors::{invalid, raised};
use crate::model::{Payment, session};
use crate::options::Options;
use crate::report::told;
use crate::run::{run, run_heard};
use atlas_pipeline::{CertifyParserOptions, SynthParserOptions};
use pyo3::prelude::*;
use std::path::PathBuf;

#[pyfunction]
pub(crate) fn _synth_parser<'py>(
    py: Python<'py>,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let logs: Vec<PathBuf> = given.get("logs")?;
    if logs.is_empty() {
        return Err(invalid("logs", "one at least expected"));
    }
    let usual = SynthParserOptions::default();
    let options = SynthParserOptions {
        logs,
        exit_codes: given.get("exit_codes")?,
        truths: given.get("truths")?,
        id: given.get("id")?,
        tests_in_sources: given.maybe("tests_in_source")?,
        command: given.maybe("command")?,
        anyway: given.get("anyway")?,
        engine: given.named("engine")?.unwrap_or(usual.engine),
        config: given.config()?,
        trust: given.get("trust")?,
        ..usual
    };
    let model = session(
        &given.get("model")?,
        Payment::of(&given)?,
        &options.config,
        None,
    )?
    .model();
    let progress = given.progress()?;
    let report = py.detach(|| {
        run_heard(&progress, async |cx| {
            atlas_pipeline::synth_parser(cx, &options, model).await
        })
    })?;
    if let (Some(path), Some(_)) = (given.maybe::<PathBuf>("out")?, &report.parser) {
        report.write_parser(&path).map_err(|why| raised(&why))?;
    }
    told(py, "SynthParserReport", &report)
}

#[pyfunction]
pub(crate) fn _certify_parser<'py>(
    py: Python<'py>,
    given: Options<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = CertifyParserOptions {
        logs: given.get("logs")?,
        exit_codes: given.get("exit_codes")?,
        truths: given.get("truths")?,
        parser: given.get::<PathBuf>("parser")?.display().to_string(),
        engine: given.named("engine")?.unwrap_or_default(),
        config: given.config()?,
        trust: given.get("trust")?,
    };
    let certificate =
        py.detach(|| run(async |cx| atlas_pipeline::certify_parser(cx, &options).await))?;
    plain(py, &certificate)
}
