//! Compares the metrics with stored values.

mod calibration;
mod case;
mod ensembles;
mod papers;
mod policies;
mod statistics;

use case::Case;
use serde::Serialize;
use serde_json::Value;

/// Reads a case's input and computes what it expects.
type Quantity = fn(&mut Case<'_>) -> Result<(), Fault>;

/// Every quantity that a file may be about, by the file's `name`.
const QUANTITIES: &[(&str, Quantity)] = &[
    ("abstention_label_probability", policies::label_probability),
    ("agreement", statistics::agreement),
    ("average_precision", statistics::average_precision),
    ("binary_metrics", statistics::binary_metrics),
    ("bootstrap_ci", statistics::bootstrap),
    ("cascade_curve", ensembles::cascade_curve),
    ("committee", ensembles::committee),
    (
        "cosine_and_grid_threshold",
        statistics::cosine_and_threshold,
    ),
    ("critic_rule_and_aggregation", policies::critic),
    ("expected_net_value", policies::net_value),
    ("filtered_success_at_k", policies::filtered_success),
    ("isotonic", calibration::isotonic),
    ("kendall_tau_b", statistics::kendall),
    ("lift_by_type", policies::lift),
    ("majority_vote", policies::vote),
    ("net_value_thresholds", policies::value_thresholds),
    ("mcnemar", statistics::mcnemar),
    ("operating_point", calibration::operating_point),
    ("paired_ratio_differences", calibration::ratio_differences),
    ("paper1_table5_ci_reconstruction", papers::table_5),
    ("paper1_yield_and_distributions", papers::yields),
    ("paper2_abstention_counts", papers::abstention_counts),
    ("paper2_fpr_consistency", papers::fpr_consistency),
    ("paper3_implied_prevalence", papers::prevalence),
    ("paper3_table_f1_consistency", papers::f1_consistency),
    ("pass_and_validation_at_k", policies::pass_and_validation),
    ("pass_at_k", statistics::pass_at_k),
    ("patch_correctness_score", policies::correctness_score),
    ("percentile_cutoff", policies::percentile_cutoff),
    ("platt", calibration::platt),
    ("precision_recall_curve", statistics::curve),
    ("progress_order", statistics::progress),
    ("random_baseline", policies::random_baseline),
    ("reliability", calibration::reliability),
    ("risk_coverage", calibration::risk_coverage),
    ("spearman_ties", statistics::spearman),
    ("spread", statistics::spread),
    ("validation_recall_at_k", policies::validation_recall),
    ("wasserstein_1d", statistics::wasserstein),
];

/// What a file may say beside its cases.
const ABOUT: [&str; 8] = [
    "name",
    "formula",
    "source",
    "notes",
    "abs_tolerance",
    "null_means",
    "generated_with",
    "cases",
];

/// How a file of stored values compares.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// The quantity that the file names; empty where it names none.
    pub name: String,
    /// Its cases.
    pub cases: u64,
    /// Expected fields that were compared.
    pub fields: u64,
    /// The largest difference of numbers that agree within the file's tolerance.
    pub largest_error: f64,
    /// Values that differ.
    pub differences: Vec<Difference>,
    /// What could not be compared.
    pub faults: Vec<Fault>,
}

impl CheckReport {
    /// Whether something was compared and everything agrees.
    pub fn agrees(&self) -> bool {
        self.differences.is_empty() && self.faults.is_empty() && self.fields > 0
    }
}

/// A value that differs from the stored one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The case's place in the file, from 0.
    pub case: usize,
    /// The field, as `ci95_diff[1]`.
    pub field: String,
    /// The stored value.
    pub expected: Value,
    /// The computed value; null where it is undefined or absent.
    pub got: Value,
}

/// Something of a file that cannot be compared. Never passed over in silence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The case's place in the file, from 0; absent for the file as a whole.
    pub case: Option<usize>,
    /// The field, where it is one.
    pub field: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    fn file(field: &str, message: impl Into<String>) -> Self {
        Self {
            case: None,
            field: Some(field.to_owned()),
            message: message.into(),
        }
    }
}

/// Evaluates a file of stored values: the quantity that it names, for each of its cases, against each
/// expected field, within the file's `abs_tolerance`.
///
/// The form: an object with `name`, `abs_tolerance` and `cases`, a list of objects that hold the
/// input and the expected values side by side; `null` is an undefined value. `formula`, `source`,
/// `notes`, `null_means` and `generated_with` may stand beside them. Another field, at the top or in
/// a case, is a fault, and so are a name that is not known, a file without cases and a case that
/// expects nothing.
pub fn check(file: &Value) -> CheckReport {
    let mut report = CheckReport::default();
    let Some(file) = file.as_object() else {
        report.faults.push(Fault {
            case: None,
            field: None,
            message: "the file is no JSON object with name, abs_tolerance and cases".to_owned(),
        });
        return report;
    };
    for field in file.keys().filter(|key| !ABOUT.contains(&key.as_str())) {
        let about = format!(
            "not known at the top of a file; known are {}",
            ABOUT.join(", ")
        );
        report.faults.push(Fault::file(field, about));
    }
    let name = file.get("name").and_then(Value::as_str).unwrap_or_default();
    name.clone_into(&mut report.name);
    let quantity = QUANTITIES.iter().find(|(known, _)| *known == name);
    if quantity.is_none() {
        let known: Vec<&str> = QUANTITIES.iter().map(|(name, _)| *name).collect();
        let message = format!(
            "`{name}` is no quantity that is known here; known are {}",
            known.join(", ")
        );
        report.faults.push(Fault::file("name", message));
    }
    let tolerance = file
        .get("abs_tolerance")
        .and_then(Value::as_f64)
        .filter(|tolerance| *tolerance >= 0.0);
    if tolerance.is_none() {
        let message = "must be a number, 0 or more";
        report.faults.push(Fault::file("abs_tolerance", message));
    }
    let cases = file.get("cases").and_then(Value::as_array);
    let cases = cases.map_or(&[][..], Vec::as_slice);
    if cases.is_empty() {
        let message = "must be a list with at least one case";
        report.faults.push(Fault::file("cases", message));
    }
    report.cases = cases.len() as u64;
    if let (Some((_, quantity)), Some(tolerance)) = (quantity, tolerance) {
        for (at, case) in cases.iter().enumerate() {
            Case::check(at, case, *quantity, tolerance, &mut report);
        }
    }
    report
}
