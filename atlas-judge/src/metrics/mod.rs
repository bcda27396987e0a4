//! The numbers by which judges and policies are measured.
//!
//! Pure functions over slices; each says its formula, where it comes from, what the paper leaves open
//! and what is chosen here. A number that is not defined is `None`, never NaN, and never 0. [`check()`] compares all of them with stored values.

mod agreement;
pub mod analysis;
mod at_k;
mod binary;
mod bootstrap;
mod calibration;
mod check;
mod correlation;
mod cosine;
mod critic;
mod distance;
mod label;
mod lift;
mod mcnemar;
mod percentile;
mod progress;
mod ranking;
pub mod results;
mod spread;
mod value;
mod vote;
mod yields;

pub use agreement::{Scale, cohen_kappa, fleiss_kappa, krippendorff_alpha};
pub use at_k::{
    AtK, BeyondRuns, BugRuns, Run, RunCount, TooFewRuns, filtered_success_at_k, mean_at_k,
    pass_and_validation_at_k, validation_recall_at_k,
};
pub use atlas_core::pass_at_k;
pub use binary::{
    Confusion, FalsePositiveRates, ReachedPatch, f1_of, false_positive_rates, implied_precision,
    implied_prevalence,
};
pub use bootstrap::{
    ConfidenceInterval, Random, RatioPair, binomial_quantile, bootstrap_mean, bootstrap_mean_with,
    bootstrap_ratio, bootstrap_ratio_differences, bootstrap_ratio_differences_with,
    bootstrap_statistics, paired_differences,
};
pub use calibration::{
    CalibrationMethod, Calibrator, FitError, Isotonic, MAX_BINS, OperatingPoint, Platt,
    Reliability, ReliabilityBin, RiskCoverage, brier_score, operating_point, reliability,
    risk_coverage, threshold_for_precision,
};
pub use check::{CheckReport, Difference, Fault, check};
pub use correlation::{
    CorrelationSummary, average_ranks, kendall, spearman, summarise_correlations,
};
pub use cosine::{GridThreshold, cosine, grid_threshold};
pub use critic::{
    CriticAggregate, LowConfidenceRule, NoTests, RandomBaseline, RandomPatches, TestPrediction,
    aggregate_critic,
};
pub use distance::wasserstein_1;
pub use label::{LabelMass, label_mass, patch_correctness_score};
pub use lift::{KeptPatch, TypedBug, lift_by_type};
pub use mcnemar::{holm, mcnemar_exact};
pub use percentile::{Cutoff, percentile};
pub use progress::{OrderCounts, progress_pairs};
pub use ranking::{
    PrecisionRecallCurve, average_precision, no_skill_precision, precision_recall_curve,
};
pub use spread::{Spread, spread};
pub use value::{BugValue, Decision, ValuePoint};
pub(crate) use vote::vote;
pub use vote::{
    Vote, line_count, majority_vote, normalise_identifiers, normalise_likely_identifiers,
};
pub use yields::{Distribution, YieldCounts, distribution};

/// A share of counts.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// A sum over a count.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn ratio(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// A quotient where there is one.
fn quotient(above: f64, below: f64) -> Option<f64> {
    Some(above / below).filter(|found| found.is_finite())
}
