//! Whether scores of a results file mean what they say, and from which score on to trust them.

use super::AnalysisOptions;
use crate::metrics::{
    self as m, CalibrationMethod, Calibrator, OperatingPoint, Random, Reliability, RiskCoverage,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Scores against the truth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationAnalysis {
    /// Scores: of patches or of tests.
    pub items: u64,
    /// Tasks that they belong to.
    pub bugs: u64,
    /// Right ones.
    pub right: u64,
    /// The reliability diagram with calibration errors and Brier score, as the scores are. Absent where one is above 1.
    pub reliability: Option<Reliability>,
    /// Risk against coverage.
    pub risk_coverage: Option<RiskCoverage>,
    /// Where to cut for the precision of the options' `target_precision`; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetPoint>,
    /// The scores after a calibration that never saw them; absent where the options' `calibrate` names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrated: Option<CalibratedScores>,
}

/// A threshold for a wanted precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetPoint {
    /// The wanted precision, 0 to 1.
    pub precision: f64,
    /// The smallest score from which on it is reached, over these same items; absent where none reaches it.
    pub threshold: Option<f64>,
    /// What showing everything from there on reaches; absent with the threshold.
    pub point: Option<OperatingPoint>,
}

/// Scores after a calibration, each by a fit to other tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibratedScores {
    /// How they were calibrated.
    pub method: CalibrationMethod,
    /// The fits, and what each was applied to.
    pub fits: Vec<CalibrationFit>,
    /// Scores that a fit was applied to. The numbers below are over these.
    pub items: u64,
    /// As for the scores before.
    pub reliability: Option<Reliability>,
    /// As for the scores before.
    pub risk_coverage: Option<RiskCoverage>,
    /// What the thresholds of the fits reach, on items that neither the fit nor the choice of the threshold saw; absent
    /// without a wanted precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point: Option<OperatingPoint>,
}

/// One fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationFit {
    /// What it was fitted to: `half 0`, `half 1` or `other results`.
    pub on: String,
    /// Scores that it was fitted to.
    pub items: u64,
    /// Right ones among them.
    pub right: u64,
    /// Scores of other tasks that it was applied to.
    pub applied_to: u64,
    /// The fit; absent where there is none.
    pub calibrator: Option<Calibrator>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The smallest calibrated score that reaches the wanted precision among the items of the fit; absent where none
    /// does, and then nothing is shown of what it was applied to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// A score with its task.
#[derive(Clone, Copy)]
pub(super) struct Scored<'a> {
    pub(super) instance: &'a str,
    pub(super) truth: bool,
    pub(super) score: f64,
}

/// The scores that a calibration is fitted to, where they are not a half of the measured ones.
pub(super) enum Other<'a> {
    /// There is no other file: halves.
    None,
    /// Scores of other tasks.
    Scores(Vec<Scored<'a>>),
    /// The other file has none that may be used, and why.
    Unusable(&'static str),
}

/// The half, 0 or 1, that an instance belongs to where a calibration is fitted to one half of the tasks and applied to
/// the other. It hangs on the id alone.
pub fn calibration_half(instance_id: &str) -> usize {
    // FNV-1a; its low bit alone would be the parity of the bytes.
    let hash = instance_id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    usize::from(Random::new(hash).next_u64() % 2 == 1)
}

/// Analyses scores; none where there are none.
pub(super) fn analyse(
    items: &[Scored<'_>],
    other: &Other<'_>,
    options: &AnalysisOptions,
) -> Option<CalibrationAnalysis> {
    if items.is_empty() {
        return None;
    }
    let plain = pairs(items);
    let target = options.target_precision.map(|precision| {
        let threshold = m::threshold_for_precision(&plain, precision);
        let point = threshold.map(|from| point_of(items, |item| item.score >= from, options));
        TargetPoint {
            precision,
            threshold,
            point,
        }
    });
    Some(CalibrationAnalysis {
        items: items.len() as u64,
        bugs: groups(items, |_| false).len() as u64,
        right: right(items),
        reliability: m::reliability(&plain, options.bins),
        risk_coverage: m::risk_coverage(&plain),
        target,
        calibrated: options
            .calibrate
            .map(|method| calibrated(method, items, other, options)),
    })
}

fn calibrated(
    method: CalibrationMethod,
    items: &[Scored<'_>],
    other: &Other<'_>,
    options: &AnalysisOptions,
) -> CalibratedScores {
    let half = |wanted: usize| -> Vec<Scored<'_>> {
        let of_half = items.iter().copied();
        of_half
            .filter(|item| calibration_half(item.instance) == wanted)
            .collect()
    };
    // A fit's name, what it sees, why it may see nothing, and what it is applied to.
    let splits = match other {
        Other::None => vec![
            ("half 0", half(0), None, half(1)),
            ("half 1", half(1), None, half(0)),
        ],
        Other::Scores(seen) => vec![("other results", seen.clone(), None, items.to_vec())],
        Other::Unusable(why) => vec![("other results", Vec::new(), Some(*why), items.to_vec())],
    };
    let mut fits = Vec::new();
    let mut after: Vec<Scored<'_>> = Vec::new();
    let mut shown: Vec<Scored<'_>> = Vec::new();
    for (on, seen, why, unseen) in splits {
        let fitted = match why {
            Some(why) => Err(why.to_owned()),
            None => method.fit(&pairs(&seen)).map_err(|why| why.to_string()),
        };
        let mut fit = CalibrationFit {
            on: on.to_owned(),
            items: seen.len() as u64,
            right: right(&seen),
            applied_to: 0,
            calibrator: None,
            fault: None,
            threshold: None,
        };
        match fitted {
            Err(why) => fit.fault = Some(why),
            Ok(calibrator) => {
                let apply = |items: &[Scored<'_>]| -> Vec<(bool, f64)> {
                    let scores = items
                        .iter()
                        .filter_map(|item| Some((item.truth, calibrator.apply(item.score)?)));
                    scores.collect()
                };
                fit.threshold = options
                    .target_precision
                    .and_then(|target| m::threshold_for_precision(&apply(&seen), target));
                for item in unseen {
                    let Some(score) = calibrator.apply(item.score) else {
                        continue;
                    };
                    fit.applied_to += 1;
                    after.push(Scored { score, ..item });
                    let is_shown = fit.threshold.is_some_and(|from| score >= from);
                    let score = f64::from(u8::from(is_shown));
                    shown.push(Scored { score, ..item });
                }
                fit.calibrator = Some(calibrator);
            }
        }
        fits.push(fit);
    }
    let plain = pairs(&after);
    CalibratedScores {
        method,
        fits,
        items: after.len() as u64,
        reliability: m::reliability(&plain, options.bins),
        risk_coverage: m::risk_coverage(&plain),
        point: options
            .target_precision
            .filter(|_| !shown.is_empty())
            .map(|_| point_of(&shown, |item| item.score > 0.5, options)),
    }
}

fn pairs(items: &[Scored<'_>]) -> Vec<(bool, f64)> {
    items.iter().map(|item| (item.truth, item.score)).collect()
}

fn right(items: &[Scored<'_>]) -> u64 {
    items.iter().filter(|item| item.truth).count() as u64
}

/// Truths and decisions, task by task.
fn groups<'a>(
    items: &[Scored<'a>],
    shows: impl Fn(&Scored<'a>) -> bool,
) -> BTreeMap<&'a str, Vec<(bool, bool)>> {
    let mut groups: BTreeMap<&str, Vec<(bool, bool)>> = BTreeMap::new();
    for item in items {
        let group = groups.entry(item.instance).or_default();
        group.push((item.truth, shows(item)));
    }
    groups
}

fn point_of<'a>(
    items: &[Scored<'a>],
    shows: impl Fn(&Scored<'a>) -> bool,
    options: &AnalysisOptions,
) -> OperatingPoint {
    let groups: Vec<Vec<(bool, bool)>> = groups(items, shows).into_values().collect();
    m::operating_point(&groups, options.resamples, options.seed)
}
