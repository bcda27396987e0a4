//! Stored values of calibration and of comparisons.

use super::Fault;
use super::case::Case;
use super::statistics::scored;
use crate::metrics::{self as m, CalibrationMethod, Calibrator, RatioPair};
use serde_json::{Value, json};

pub(super) fn reliability(case: &mut Case<'_>) -> Result<(), Fault> {
    let items = scored(case)?;
    let found = m::reliability(&items, case.input("bins")?);
    let found = found.as_ref();
    let filled = |value: fn(&m::ReliabilityBin) -> Value| {
        let bins = found.map(|found| found.bins.iter().filter(|bin| bin.count > 0).map(value));
        bins.map(Iterator::collect::<Value>)
    };
    let counts = found.map(|found| {
        let counts = found.bins.iter().map(|bin| bin.count);
        counts.collect::<Value>()
    });
    case.found("counts", counts);
    case.found("mean_scores", filled(|bin| json!(bin.mean_score)));
    case.found("shares_right", filled(|bin| json!(bin.share_right)));
    case.found("expected_error", found.map(|found| found.expected_error));
    case.found("maximum_error", found.map(|found| found.maximum_error));
    case.found("brier", m::brier_score(&items));
    Ok(())
}

pub(super) fn risk_coverage(case: &mut Case<'_>) -> Result<(), Fault> {
    let items = scored(case)?;
    let found = json!(m::risk_coverage(&items));
    for name in [
        "thresholds",
        "coverage",
        "risk",
        "area",
        "best_area",
        "no_skill",
    ] {
        case.found(name, found[name].clone());
    }
    Ok(())
}

pub(super) fn operating_point(case: &mut Case<'_>) -> Result<(), Fault> {
    let items = scored(case)?;
    let threshold = m::threshold_for_precision(&items, case.input("target")?);
    let groups: Vec<Vec<(bool, bool)>> = items
        .iter()
        .map(|(truth, score)| vec![(*truth, threshold.is_some_and(|from| *score >= from))])
        .collect();
    let point = threshold.map(|_| m::operating_point(&groups, 0, 0));
    case.found("threshold", threshold);
    case.found("precision", point.and_then(|point| point.precision));
    case.found("recall", point.and_then(|point| point.recall));
    case.found("coverage", point.and_then(|point| point.coverage));
    Ok(())
}

pub(super) fn platt(case: &mut Case<'_>) -> Result<(), Fault> {
    fitted(case, CalibrationMethod::Platt)
}

pub(super) fn isotonic(case: &mut Case<'_>) -> Result<(), Fault> {
    fitted(case, CalibrationMethod::Isotonic)
}

fn fitted(case: &mut Case<'_>, method: CalibrationMethod) -> Result<(), Fault> {
    let items = scored(case)?;
    let at: Vec<f64> = case.input("at")?;
    let fitted = method.fit(&items).ok();
    let values = fitted.as_ref().map(|fitted| {
        let values = at.iter().map(|score| json!(fitted.apply(*score)));
        values.collect::<Value>()
    });
    case.found("probabilities", values);
    if method == CalibrationMethod::Platt {
        let platt = match fitted {
            Some(Calibrator::Platt(platt)) => Some(platt),
            _ => None,
        };
        case.found("slope", platt.map(|platt| platt.slope));
        case.found("intercept", platt.map(|platt| platt.intercept));
    }
    Ok(())
}

pub(super) fn ratio_differences(case: &mut Case<'_>) -> Result<(), Fault> {
    let a: Vec<(f64, f64)> = case.input("a")?;
    let b: Vec<(f64, f64)> = case.input("b")?;
    if a.len() != b.len() {
        return Err(case.fault("b", "must be as many as a"));
    }
    let resamples: Vec<Vec<usize>> = case.input("resample_indices")?;
    let pairs = a.into_iter().zip(b);
    let items: Vec<[RatioPair; 1]> = pairs.map(|(a, b)| [RatioPair { a, b }]).collect();
    let sum = items.iter().fold(RatioPair::default(), |mut sum, [item]| {
        sum.add(item);
        sum
    });
    let [found] = m::bootstrap_ratio_differences_with(&items, &resamples, 95.0);
    case.found("difference", sum.difference());
    case.found(
        "ci95_difference",
        json!(found.map(|found| [found.low, found.high])),
    );
    Ok(())
}
