//! What stands behind `evaluate` and `regrade`.

use crate::options::Options;
use crate::report::told;
use crate::run::run_blocking;
use atlas_core::RunContext;
use atlas_pipeline::RegradeOptions;
use pyo3::prelude::*;

#[pyfunction]
pub(crate) fn _evaluate(given: Options<'_>) -> PyResult<Bound<'_, PyAny>> {
    let options = given.evaluation(given.predictions()?)?;
    given.report("EvalReport", async |cx| {
        atlas_pipeline::evaluate(cx, &options).await
    })
}

#[pyfunction]
pub(crate) fn _regrade<'py>(py: Python<'py>, given: Options<'py>) -> PyResult<Bound<'py, PyAny>> {
    let options = RegradeOptions {
        predictions: given.predictions()?,
        config: given.config()?,
        ..given.fields()?
    };
    // On a thread of its own: grading keeps all cores busy, and Ctrl-C must still be heard.
    let work = move |cx: &RunContext| {
        tokio::runtime::Handle::current().block_on(atlas_pipeline::regrade(cx, &options))
    };
    let report = py.detach(|| run_blocking(work))?;
    told(py, "RegradeReport", &report)
}
