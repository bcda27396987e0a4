//! Figures of what scores mean.

use crate::metrics::analysis::{
    CalibratedScores, CalibrationAnalysis, Calibrations, calibration_tables, decimal, method_name,
};
use crate::metrics::{Reliability, RiskCoverage};
use crate::report::chart::{Axis, Chart};
use crate::report::html::Html;

/// Reliability and risk of scores, before and after calibration; nothing where there are no scores.
pub(super) fn calibrations(page: &mut Html, of: &Calibrations<'_>) {
    if of.is_empty() {
        return;
    }
    let chart = reliability(of);
    page.figure(
        "Reliability",
        "The share of right ones among scores of a bin, by their mean. On the diagonal scores mean what they say; the \
         larger a point, the more scores.",
        chart.as_ref().map_err(|why| *why),
        &calibration_tables(of),
    );
    let chart = risk(of);
    page.figure(
        "Risk against coverage",
        "The share of wrong ones among what is shown, the more is shown, from the highest score on. The thin \
         line is the risk of showing everything.",
        chart.as_ref().map_err(|why| *why),
        &[],
    );
}

/// The scores as they are and after calibration, each with name, colour, and whether it is dashed.
fn before_and_after<'a, T>(
    of: &Calibrations<'a>,
    before: impl Fn(&'a CalibrationAnalysis) -> Option<&'a T>,
    after: impl Fn(&'a CalibratedScores) -> Option<&'a T>,
) -> Vec<(String, usize, bool, &'a T)> {
    let mut found = Vec::new();
    for (at, (name, of)) in of.iter().enumerate() {
        found.extend(before(of).map(|part| ((*name).to_owned(), at + 1, false, part)));
        let calibrated = of.calibrated.as_ref();
        found.extend(calibrated.and_then(|of| {
            let name = format!("{name}, {}", method_name(of.method));
            Some((name, at + 1, true, after(of)?))
        }));
    }
    found
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn reliability(of: &Calibrations<'_>) -> Result<Chart, &'static str> {
    let parts: Vec<(String, usize, bool, &Reliability)> = before_and_after(
        of,
        |found| found.reliability.as_ref(),
        |found| found.reliability.as_ref(),
    );
    if parts.is_empty() {
        return Err("There are scores above 1, which are no probabilities.");
    }
    let mut chart = Chart::new(Axis::share("mean score", 1.0), Axis::share("right", 1.0));
    chart.diagonal();
    for (name, colour, dashed, part) in parts {
        let most = part.bins.iter().map(|bin| bin.count).max().unwrap_or(1);
        let points: Vec<(f64, f64, f64)> = part
            .bins
            .iter()
            .filter_map(|bin| {
                // By the root: the area shows the count.
                let size = (bin.count as f64 / most.max(1) as f64).sqrt();
                Some((bin.mean_score?, bin.share_right?, size))
            })
            .collect();
        let error = decimal(Some(part.expected_error));
        chart.dots(&format!("{name} (ECE {error})"), colour, dashed, &points);
    }
    Ok(chart)
}

fn risk(of: &Calibrations<'_>) -> Result<Chart, &'static str> {
    let parts: Vec<(String, usize, bool, &RiskCoverage)> = before_and_after(
        of,
        |found| found.risk_coverage.as_ref(),
        |found| found.risk_coverage.as_ref(),
    );
    let most = parts.iter().flat_map(|part| part.3.risk.iter().copied());
    let most = most.fold(0.0, f64::max);
    if parts.is_empty() {
        return Err("There is no score.");
    }
    let mut chart = Chart::new(
        Axis::share("coverage", 1.0),
        Axis::share("risk: share of wrong ones", most),
    );
    for (name, colour, dashed, part) in parts {
        let points = part.coverage.iter().copied().zip(part.risk.iter().copied());
        let area = decimal(Some(part.area));
        chart.styled_line(&format!("{name} (AURC {area})"), colour, dashed, points);
        if !dashed {
            chart.guide("", colour, [(0.0, part.no_skill), (1.0, part.no_skill)]);
        }
    }
    Ok(chart)
}
