//! How far scores mean what they say.

use super::{Table, decimal, interval, percent};
use crate::metrics::analysis::{CalibrationAnalysis, CriticAnalysis, PolicyAnalysis};
use crate::metrics::{CalibrationMethod, OperatingPoint, Reliability, RiskCoverage};

/// Calibrations with the names of their scores.
pub(crate) type Calibrations<'a> = Vec<(&'static str, &'a CalibrationAnalysis)>;

impl PolicyAnalysis {
    pub(crate) fn calibrations(&self) -> Calibrations<'_> {
        let abstention = self.abstention.as_ref();
        let score = self.score.as_ref();
        let found = [
            (
                "abstention, by patch",
                abstention.and_then(|found| found.calibration.as_ref()),
            ),
            (
                "validation score, by patch",
                score.and_then(|found| found.calibration.as_ref()),
            ),
        ];
        let found = found.into_iter();
        found
            .filter_map(|(name, found)| Some((name, found?)))
            .collect()
    }
}

impl CriticAnalysis {
    pub(crate) fn calibrations(&self) -> Calibrations<'_> {
        let found = self.calibration.iter();
        found.map(|found| ("confidence, by test", found)).collect()
    }
}

/// The name of a method for people.
pub(crate) fn method_name(method: CalibrationMethod) -> &'static str {
    match method {
        CalibrationMethod::Platt => "Platt",
        CalibrationMethod::Isotonic => "isotonic",
    }
}

/// How far scores mean what they say, and thresholds for the wanted precision; none without scores.
pub(crate) fn calibration_tables(of: &Calibrations<'_>) -> Vec<Table> {
    let mut errors = Table::new(&[
        "Calibration",
        "Scores",
        "Right",
        "ECE",
        "Largest error",
        "Brier",
        "AURC",
        "Best AURC",
        "AURC without skill",
    ]);
    let mut head = "Precision".to_owned();
    let mut points = Table::new(&[
        "",
        "Threshold",
        "Shown",
        "Precision",
        "95 %",
        "Recall",
        "95 %",
        "Coverage",
        "95 %",
    ]);
    let mut fits = Table::new(&["Fitted to", "Scores", "Right", "Applied to", "Fit"]);
    for (name, found) in of {
        let parts = (&found.reliability, &found.risk_coverage);
        errors
            .rows
            .push(error_row(name, found.items, Some(found.right), parts));
        if let Some(target) = &found.target {
            head = format!("Precision of at least {}", percent(Some(target.precision)));
            let threshold = target.threshold.map(|from| decimal(Some(from)));
            let threshold = threshold.unwrap_or_else(|| "none reaches it".to_owned());
            points
                .rows
                .push(point_row(name, threshold, target.point.as_ref()));
        }
        let Some(after) = &found.calibrated else {
            continue;
        };
        let name = format!("{name}, {} on unseen tasks", method_name(after.method));
        let parts = (&after.reliability, &after.risk_coverage);
        errors.rows.push(error_row(&name, after.items, None, parts));
        if found.target.is_some() {
            let thresholds: Vec<String> = after
                .fits
                .iter()
                .map(|fit| decimal(fit.threshold))
                .collect();
            let row = point_row(&name, thresholds.join(" and "), after.point.as_ref());
            points.rows.push(row);
        }
        for fit in &after.fits {
            fits.rows.push(vec![
                format!("{name}: {}", fit.on),
                fit.items.to_string(),
                fit.right.to_string(),
                fit.applied_to.to_string(),
                fit.fault.clone().unwrap_or_else(|| "ok".to_owned()),
            ]);
        }
    }
    points.head[0] = head;
    [errors, points, fits]
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect()
}

fn error_row(
    name: &str,
    items: u64,
    right: Option<u64>,
    (reliability, curve): (&Option<Reliability>, &Option<RiskCoverage>),
) -> Vec<String> {
    let of = |part: fn(&Reliability) -> f64| decimal(reliability.as_ref().map(part));
    let area = |part: fn(&RiskCoverage) -> f64| decimal(curve.as_ref().map(part));
    vec![
        name.to_owned(),
        items.to_string(),
        right.map_or_else(|| "–".to_owned(), |right| right.to_string()),
        of(|found| found.expected_error),
        of(|found| found.maximum_error),
        of(|found| found.brier),
        area(|found| found.area),
        area(|found| found.best_area),
        area(|found| found.no_skill),
    ]
}

fn point_row(name: &str, threshold: String, point: Option<&OperatingPoint>) -> Vec<String> {
    let dash = || "–".to_owned();
    vec![
        name.to_owned(),
        threshold,
        point.map_or_else(dash, |point| point.shown.to_string()),
        percent(point.and_then(|point| point.precision)),
        interval(point.and_then(|point| point.precision_interval)),
        percent(point.and_then(|point| point.recall)),
        interval(point.and_then(|point| point.recall_interval)),
        percent(point.and_then(|point| point.coverage)),
        interval(point.and_then(|point| point.coverage_interval)),
    ]
}
