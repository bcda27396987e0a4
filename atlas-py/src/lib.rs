//! The native half of the Python package `swe_atlas`.
//!
//! It translates and never decides: each function calls the Rust function of the same name. Functions with many options have
//! their signatures and documentation in Python, and come here, with a leading underscore, as [`options::Options`]; what they
//! report goes back as JSON in the one class of `report`, for which Python has a name for each field. Whatever computes or
//! waits runs detached from Python's global lock. `errors` alone knows the error types of both worlds.

#![expect(
    clippy::doc_markdown,
    reason = "these are docstrings, which Python shows as they stand"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "arguments are converted on Python's side and handed over"
)]

mod attempt;
mod classification;
mod command;
mod compat;
mod convert;
mod dataset;
mod errors;
mod evaluate;
mod evaluator;
mod heard;
mod instance;
mod judging;
mod log;
mod make;
mod metrics;
mod model;
mod notebook;
mod options;
mod patch;
mod prediction;
mod report;
mod rows;
mod run;
mod schemas;
mod score;
mod synth;
mod table;
mod traits;
mod validate;

use pyo3::prelude::*;

// What a log gave is thousands of small pieces, which are freed while Python's global lock is held.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The native module of `swe_atlas`; import the package instead.
#[pymodule]
mod _swe_atlas {
    #[pymodule_export]
    use crate::attempt::{_attempt, NativeRoom};
    #[pymodule_export]
    use crate::classification::_classify;
    #[pymodule_export]
    use crate::command::_command_line;
    #[pymodule_export]
    use crate::compat::{_grade_compat, _grade_log, _parse_log_compat};
    #[pymodule_export]
    use crate::dataset::{Dataset, Row, diff_datasets, read_dataset};
    #[pymodule_export]
    use crate::errors::{_error_kinds, _raise};
    #[pymodule_export]
    use crate::evaluate::{_evaluate, _regrade};
    #[pymodule_export]
    use crate::evaluator::{NativeEvaluator, NativeSession};
    #[pymodule_export]
    use crate::instance::Instance;
    #[pymodule_export]
    use crate::judging::{_abstain, _choose, _critic, _hints, _judge, _judge_attempts, _review};
    #[pymodule_export]
    use crate::log::{ParsedLog, parse_log};
    #[pymodule_export]
    use crate::make::_make;
    #[pymodule_export]
    use crate::metrics::{_measure, _metric, _policies_report, check};
    #[pymodule_export]
    use crate::notebook::_verdict_html;
    #[pymodule_export]
    use crate::patch::{diagnose_patch, examine_patch};
    #[pymodule_export]
    use crate::prediction::{Prediction, Predictions, read_predictions};
    #[pymodule_export]
    use crate::report::NativeReport;
    #[pymodule_export]
    use crate::rows::NativeRow;
    #[pymodule_export]
    use crate::schemas::{_audit, _convert, _lint};
    #[pymodule_export]
    use crate::score::{leaderboard, pass_at_k};
    #[pymodule_export]
    use crate::synth::{_certify_parser, _synth_parser};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::traits::{_check, _prelude, _source, Tools};
    #[pymodule_export]
    use crate::validate::{_validate, grade};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // A virtual environment's Python is a link: only Python knows which one was called.
        let python: Option<String> = module
            .py()
            .import("sys")?
            .getattr("executable")?
            .extract()?;
        if let Some(python) = python.filter(|python| !python.is_empty()) {
            let words = [python.as_str(), "-m", "swe_atlas"];
            atlas_pipeline::called_as(words.map(Into::into));
        }
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
