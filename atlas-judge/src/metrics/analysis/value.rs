//! What thresholds are worth (paper 002, appendix C.4).

use super::calibration::Scored;
use super::scores::{chances, scores};
use super::{AnalysisOptions, Bugs};
use crate::metrics::{self as m, BugValue, ConfidenceInterval, Cutoff, Decision, ValuePoint};
use serde::Serialize;
use std::collections::BTreeMap;

/// Net values of both decisions over a grid of thresholds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueAnalysis {
    /// To let the agent try, by the abstention probability. Items are runs, since the paper's chance is a run's; absent
    /// without probabilities of one source.
    pub attempt: Option<ValueSweep>,
    /// To show a patch, by the validation score of those that passed the stages without a model; absent without scores of
    /// one source.
    pub show: Option<ValueSweep>,
}

/// Net values of one decision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueSweep {
    /// Runs or patches.
    pub items: u64,
    /// The chance of being right from which on taking an item is worth more than leaving it: what it costs over `V + C`.
    pub break_even_chance: Option<f64>,
    /// The lowest threshold that loses no money; see [`BugValue::break_even_threshold`].
    pub break_even_threshold: Option<f64>,
    /// The threshold that is worth most; see [`BugValue::best_threshold`].
    pub best_threshold: Option<f64>,
    /// The grid. For attempts 0, 0.1, … 1 and the options' `tau`; for shown patches the scores at the percentiles 0, 10, … 90
    /// and at the options' own.
    pub points: Vec<SweptPoint>,
}

/// A threshold of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SweptPoint {
    /// What it is worth.
    #[serde(flatten)]
    pub point: ValuePoint,
    /// The bootstrap interval of its gain at 95 %, over tasks.
    pub interval: Option<ConfidenceInterval>,
}

/// None where nothing is said of values.
pub(super) fn analyse(
    bugs: &Bugs<'_>,
    is_known: (bool, bool),
    options: &AnalysisOptions,
) -> Option<ValueAnalysis> {
    let value = options.value?;
    let attempt = is_known.0.then(|| {
        let mut grid: Vec<f64> = (0..=10).map(|at| f64::from(at) / 10.0).collect();
        grid.push(options.tau);
        sweep(&value, Decision::Attempt, &chances(bugs), grid, options)
    });
    let show = is_known.1.then(|| {
        let items = scores(bugs);
        let all: Vec<f64> = items.iter().map(|item| item.score).collect();
        let tenths = (0..10).map(|at| f64::from(at) * 10.0);
        let percentiles = tenths.chain(options.percentiles.iter().copied());
        let grid = percentiles.filter_map(|p| Some(Cutoff::at(&all, p)?.score));
        sweep(&value, Decision::Show, &items, grid.collect(), options)
    });
    Some(ValueAnalysis { attempt, show })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn sweep(
    value: &BugValue,
    decision: Decision,
    items: &[Scored<'_>],
    mut grid: Vec<f64>,
    options: &AnalysisOptions,
) -> ValueSweep {
    grid.sort_unstable_by(f64::total_cmp);
    grid.dedup();
    let pairs: Vec<(bool, f64)> = items.iter().map(|item| (item.truth, item.score)).collect();
    let mut by_task: BTreeMap<&str, Vec<(bool, f64)>> = BTreeMap::new();
    for item in items {
        let task = by_task.entry(item.instance).or_default();
        task.push((item.truth, item.score));
    }
    let points = grid.into_iter().map(|threshold| {
        let gains: Vec<(f64, f64)> = by_task
            .values()
            .map(|task| {
                let all = task.len() as f64;
                let gain = value.at_threshold(decision, task, threshold).gain;
                (gain.unwrap_or_default() * all, all)
            })
            .collect();
        SweptPoint {
            point: value.at_threshold(decision, &pairs, threshold),
            interval: m::bootstrap_ratio(&gains, options.resamples, options.seed, 95.0),
        }
    });
    ValueSweep {
        items: items.len() as u64,
        break_even_chance: match decision {
            Decision::Attempt => value.break_even_attempt(),
            Decision::Show => value.break_even_show(),
        },
        break_even_threshold: value.break_even_threshold(decision, &pairs),
        best_threshold: value.best_threshold(decision, &pairs),
        points: points.collect(),
    }
}
