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
    let options = SynthParserOptions {
        config: given.config()?,
        ..given.fields()?
    };
    if options.logs.is_empty() {
        return Err(invalid("logs", "one at least expected"));
    }
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
        config: given.config()?,
        ..given.fields()?
    };
    let certificate =
        py.detach(|| run(async |cx| atlas_pipeline::certify_parser(cx, &options).await))?;
    plain(py, &certificate)
}
