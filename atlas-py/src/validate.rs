//! What stands behind `validate`, and `grade`.

use crate::convert::plain;
use crate::errors::invalid;
use crate::log::ParsedLog;
use crate::options::Options;
use crate::traits::PyParts;
use atlas_pipeline::{GateOptions, ValidateOptions};
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn _validate(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    if given.parser_file()?.is_some() {
        return Err(invalid(
            "parser",
            "an object of the protocol `LogParser` expected",
        ));
    }
    let mut gates: GateOptions = given.fields_but(&["gates"])?;
    let mut own = Vec::new();
    if let Some(asked) = given.maybe::<Vec<Bound<'_, PyAny>>>("gates")? {
        gates.gates.clear();
        for gate in asked {
            match gate.extract::<String>() {
                Ok(name) => gates.gates.push(name),
                Err(_) => own.push(gate),
            }
        }
    }
    let options = ValidateOptions {
        gates,
        parts: Some(PyParts::of(&given)?.validators(&own)?.shared()),
        config: given.config()?,
        ..given.fields()?
    };
    given.report("ValidateReport", async |cx| {
        atlas_pipeline::validate(cx, &options).await
    })
}

/// Grades one run against the lists of an instance.
///
/// Only a test that the log names as passing passes; the worst status of an id counts. The result has
/// `resolution` (RESOLVED_FULL, RESOLVED_PARTIAL or RESOLVED_NO), `FAIL_TO_PASS` and `PASS_TO_PASS`
/// (each with `success` and `failure`), and `failed_by_name`, the tests of either list that the log
/// names as failing.
#[pyfunction]
#[pyo3(signature = (log, *, fail_to_pass, pass_to_pass))]
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
