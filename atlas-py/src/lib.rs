//! The native half of the Python package `swe_atlas`.
//!
//! It translates and never decides: each function calls the Rust function of the same name, each
//! class is a frozen newtype over what that function returned. Whatever computes or waits runs
//! detached from Python's global lock. `errors` alone knows the error types of both worlds.

#![expect(
    clippy::doc_markdown,
    reason = "these are docstrings, which Python shows as they stand"
)]

mod attempt;
mod audit;
mod classification;
mod columns;
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
mod patch;
mod prediction;
mod regrade;
mod report;
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
    use crate::audit::{AuditReport, audit};
    #[pymodule_export]
    use crate::classification::{Classification, classify};
    #[pymodule_export]
    use crate::command::_command_line;
    #[pymodule_export]
    use crate::compat::{grade_compat, grade_log, parse_log_compat};
    #[pymodule_export]
    use crate::dataset::{Dataset, Row, diff_datasets, read_dataset};
    #[pymodule_export]
    use crate::errors::{_error_kinds, _raise};
    #[pymodule_export]
    use crate::evaluate::{EvalReport, evaluate};
    #[pymodule_export]
    use crate::evaluator::{NativeEvaluator, NativeSession};
    #[pymodule_export]
    use crate::instance::Instance;
    #[pymodule_export]
    use crate::judging::{
        AbstainReport, AttemptReport, CriticReport, JudgeReport, ReviewReport, abstain, choose,
        critic, hints, judge, judge_attempts, review,
    };
    #[pymodule_export]
    use crate::log::{ParsedLog, parse_log};
    #[pymodule_export]
    use crate::make::{MakeReport, make};
    #[pymodule_export]
    use crate::metrics::at_k::{
        filtered_success_at_k, mean_at_k, pass_and_validation_at_k, validation_recall_at_k,
    };
    #[pymodule_export]
    use crate::metrics::decisions::{
        aggregate_critic, average_precision, brier_score, confusion, cosine, expected_net_value,
        f1_of, false_positive_rates, grid_threshold, implied_precision, implied_prevalence,
        label_mass, lift_by_type, majority_vote, no_skill_precision, normalise_identifiers,
        patch_correctness_score, percentile_decision, precision_recall_curve, random_baseline,
        reliability, risk_coverage, threshold_for_precision,
    };
    #[pymodule_export]
    use crate::metrics::files::{Analysis, check, measure, policies_report};
    #[pymodule_export]
    use crate::metrics::statistics::{
        average_ranks, binomial_quantile, bootstrap_mean, bootstrap_mean_with, bootstrap_ratio,
        distribution, paired_differences, percentile, spearman, summarise_correlations,
        wasserstein_1, yields,
    };
    #[pymodule_export]
    use crate::notebook::_verdict_html;
    #[pymodule_export]
    use crate::patch::{diagnose_patch, examine_patch};
    #[pymodule_export]
    use crate::prediction::{Prediction, Predictions, read_predictions};
    #[pymodule_export]
    use crate::regrade::{RegradeReport, regrade};
    #[pymodule_export]
    use crate::schemas::{Conversion, LintReport, convert, lint};
    #[pymodule_export]
    use crate::score::{Leaderboard, leaderboard, pass_at_k};
    #[pymodule_export]
    use crate::synth::{SynthParserReport, certify_parser, synth_parser};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::traits::{_check, _prelude, Tools, source};
    #[pymodule_export]
    use crate::validate::{ValidateReport, grade, validate};
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
