//! The numbers that policies decide by: probabilities of abstention, scores of validation.

use super::calibration::{self, CalibrationAnalysis, Other, Scored};
use super::policies::passed_stages;
use super::{AnalysisOptions, Bugs};
use crate::metrics::calibration::UnitBins;
use crate::metrics::{self as m, Confusion, PrecisionRecallCurve};
use serde::Serialize;
use std::collections::BTreeSet;

/// The abstention policy, task by task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AbstentionAnalysis {
    /// Tasks with a probability.
    pub bugs: u64,
    /// Attempted against fixable: a task is fixable if a run on it is right.
    pub counts: Confusion,
    /// Tasks whose lines give different probabilities; their mean counts.
    pub disagreeing: u64,
    /// Where the probabilities come from.
    pub source: String,
    /// Average precision.
    pub average_precision: Option<f64>,
    /// The precision of attempting everything.
    pub no_skill: Option<f64>,
    /// Precision against recall.
    pub curve: Option<PrecisionRecallCurve>,
    /// The Wasserstein-1 distance between probabilities and success rates.
    pub wasserstein: Option<f64>,
    /// Tasks by probability and by success rate (paper 002, Figure 2), in the options' `bins` from 0 to 1.
    pub histogram: Vec<ProbabilityBin>,
    /// Probabilities against right, patch by patch: what was asked for is the chance of one run.
    pub calibration: Option<CalibrationAnalysis>,
}

/// Tasks of similar probability, and tasks of similar success rate. A bin holds its upper edge, the first one also 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ProbabilityBin {
    /// Above this.
    pub from: f64,
    /// Up to this.
    pub to: f64,
    /// Tasks with such a probability that most of their runs solve: more than half of them are right.
    pub solved: u64,
    /// Tasks with such a probability that most of their runs do not solve.
    pub unsolved: u64,
    /// Tasks with such a share of right runs, whatever their probability.
    pub success_rates: u64,
}

/// The validation score, patch by patch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreAnalysis {
    /// Patches with a score.
    pub patches: u64,
    /// Where the scores come from.
    pub source: String,
    /// Average precision.
    pub average_precision: Option<f64>,
    /// The precision of showing everything that reached validation.
    pub no_skill: Option<f64>,
    /// Precision against recall.
    pub curve: Option<PrecisionRecallCurve>,
    /// Scores against right, patch by patch.
    pub calibration: Option<CalibrationAnalysis>,
}

pub(super) fn score_sources<'a>(bugs: &'a Bugs<'_>) -> impl Iterator<Item = &'a str> {
    bugs.values().flatten().filter_map(|patch| {
        let validation = patch.validation.as_ref()?;
        validation.score.map(|_| validation.source.as_str())
    })
}

pub(super) fn abstention_sources<'a>(bugs: &'a Bugs<'_>) -> impl Iterator<Item = &'a str> {
    let patches = bugs.values().flatten();
    patches.filter_map(|patch| Some(patch.abstention.as_ref()?.source.as_str()))
}

/// The scores of other results, where they are of the same source as the measured ones.
fn other_scores<'a>(
    other: Option<&Bugs<'a>>,
    is_same_source: impl Fn(&Bugs<'a>) -> bool,
    scores: impl Fn(&Bugs<'a>) -> Vec<Scored<'a>>,
) -> Other<'a> {
    match other {
        None => Other::None,
        Some(bugs) if !is_same_source(bugs) => {
            Other::Unusable("the other results have scores of another source")
        }
        Some(bugs) => Other::Scores(scores(bugs)),
    }
}

/// The one source of numbers, or a note that there are several.
pub(super) fn one_source<'a>(
    what: &str,
    sources: impl Iterator<Item = &'a str>,
    left_out: &str,
    notes: &mut Vec<String>,
) -> Option<String> {
    let sources: BTreeSet<&str> = sources.collect();
    if sources.len() > 1 {
        let names: Vec<&str> = sources.into_iter().collect();
        notes.push(format!(
            "{what} come from different sources ({}), which cannot be compared: {left_out} left out.",
            names.join(", ")
        ));
        return None;
    }
    if sources.contains(MISSING) {
        // A rejected patch has the score 0 all the same: a percentile over those would show nothing.
        notes.push(format!(
            "{what}: the model told none, so {left_out} left out."
        ));
        return None;
    }
    if sources.contains(MIXED) {
        notes.push(format!(
            "{what} are several judges' and not calibrated, and do not compare: {left_out} left out."
        ));
        return None;
    }
    sources.first().map(|source| (*source).to_owned())
}

/// The source of what no source tells.
const MISSING: &str = "missing";
/// That of numbers of several scales.
const MIXED: &str = "mixed";

/// The probabilities of success, run by run: that one of many runs succeeds is more likely than was asked for.
pub(super) fn chances<'a>(bugs: &Bugs<'a>) -> Vec<Scored<'a>> {
    bugs.values()
        .flatten()
        .filter_map(|patch| {
            Some(Scored {
                instance: &patch.instance_id,
                truth: patch.resolved,
                score: patch.abstention.as_ref()?.probability,
            })
        })
        .collect()
}

pub(super) fn abstention(
    bugs: &Bugs<'_>,
    other: Option<&Bugs<'_>>,
    source: &str,
    options: &AnalysisOptions,
) -> AbstentionAnalysis {
    let (mut items, mut rates) = (Vec::new(), Vec::new());
    let mut counts = Confusion::default();
    let mut disagreeing = 0;
    for patches in bugs.values() {
        let mut said: Vec<f64> = patches
            .iter()
            .filter_map(|patch| Some(patch.abstention.as_ref()?.probability))
            .collect();
        said.sort_unstable_by(f64::total_cmp); // the order of lines changes no digit
        let Some(first) = said.first() else {
            continue;
        };
        let same = said.iter().all(|p| (p - first).abs() < 1e-12);
        disagreeing += u64::from(!same);
        // The mean of equal numbers may differ from them in its last digit, and so at the threshold.
        let p = if same {
            *first
        } else {
            m::bootstrap::mean(&said).unwrap_or(*first)
        };
        let right = patches.iter().filter(|patch| patch.resolved).count() as u64;
        counts.add(right > 0, p >= options.tau);
        items.push((right > 0, p));
        rates.extend(m::share(right, patches.len() as u64));
    }
    let probabilities: Vec<f64> = items.iter().map(|item| item.1).collect();
    let histogram = histogram(&probabilities, &rates, options.bins);
    let other = other_scores(
        other,
        |bugs| abstention_sources(bugs).all(|found| found == source),
        chances,
    );
    AbstentionAnalysis {
        bugs: items.len() as u64,
        counts,
        disagreeing,
        source: source.to_owned(),
        average_precision: m::average_precision(&items),
        no_skill: m::no_skill_precision(&items),
        curve: m::precision_recall_curve(&items),
        wasserstein: m::wasserstein_1(&probabilities, &rates),
        histogram,
        calibration: calibration::analyse(&chances(bugs), &other, options),
    }
}

fn histogram(probabilities: &[f64], rates: &[f64], bins: usize) -> Vec<ProbabilityBin> {
    let edges = UnitBins::new(bins.clamp(1, m::MAX_BINS));
    let mut found: Vec<ProbabilityBin> = edges
        .0
        .windows(2)
        .map(|edge| ProbabilityBin {
            from: edge[0],
            to: edge[1],
            ..ProbabilityBin::default()
        })
        .collect();
    for (probability, rate) in probabilities.iter().zip(rates) {
        let bin = &mut found[edges.place(*probability)];
        *(if *rate > 0.5 {
            &mut bin.solved
        } else {
            &mut bin.unsolved
        }) += 1;
        found[edges.place(*rate)].success_rates += 1;
    }
    found
}

/// The scores of what reached validation.
pub(super) fn scores<'a>(bugs: &Bugs<'a>) -> Vec<Scored<'a>> {
    bugs.values()
        .flatten()
        .filter(|patch| passed_stages(patch) == Some(true))
        .filter_map(|patch| {
            Some(Scored {
                instance: &patch.instance_id,
                truth: patch.resolved,
                score: patch.validation.as_ref()?.score?,
            })
        })
        .collect()
}

pub(super) fn score(
    bugs: &Bugs<'_>,
    other: Option<&Bugs<'_>>,
    source: &str,
    options: &AnalysisOptions,
) -> ScoreAnalysis {
    let scored = scores(bugs);
    let items: Vec<(bool, f64)> = scored.iter().map(|item| (item.truth, item.score)).collect();
    let other = other_scores(
        other,
        |bugs| score_sources(bugs).all(|found| found == source),
        scores,
    );
    ScoreAnalysis {
        patches: items.len() as u64,
        source: source.to_owned(),
        average_precision: m::average_precision(&items),
        no_skill: m::no_skill_precision(&items),
        curve: m::precision_recall_curve(&items),
        calibration: calibration::analyse(&scored, &other, options),
    }
}
