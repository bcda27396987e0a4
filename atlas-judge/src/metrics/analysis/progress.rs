//! Do scores grow with the progress of patches? (paper 004, section 2.1.1)

use super::order::standing;
use super::{AnalysisOptions, Bugs};
use crate::metrics::results::{CandidateResult, PatchSize};
use crate::metrics::{self as m, ConfidenceInterval, OrderCounts, progress_pairs};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How often a score respects the progress of patches: pairs of one task of which one patch passes every test that the
/// other passes, and one more at least.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProgressAnalysis {
    /// The critic's variant, or the proxy: `lines added`, `line operations`, `hunks`, `files`.
    pub name: String,
    /// Whether it is a proxy, which nothing but the patch itself tells.
    pub is_proxy: bool,
    /// Tasks with such a pair.
    pub tasks: u64,
    /// The pairs.
    #[serde(flatten)]
    pub counts: OrderCounts,
    /// See [`OrderCounts::share_concordant`].
    pub share_concordant: Option<f64>,
    /// Its bootstrap interval at 95 %, over tasks.
    pub interval: Option<ConfidenceInterval>,
    /// See [`OrderCounts::share_respected`].
    pub share_respected: Option<f64>,
    /// Its interval, likewise.
    pub respected_interval: Option<ConfidenceInterval>,
}

/// A number of a patch's size.
type Count = fn(&PatchSize) -> u64;

/// The patches of a task with pairs.
struct Task<'a> {
    patches: &'a [&'a CandidateResult],
    pairs: Vec<(usize, usize)>,
}

/// Critics by variant, then proxies; those that have no pair are left out.
pub(super) fn analyse(bugs: &Bugs<'_>, options: &AnalysisOptions) -> Vec<ProgressAnalysis> {
    let tasks: Vec<Task<'_>> = bugs
        .values()
        .map(|patches| Task {
            patches,
            pairs: progress_pairs(&ends(patches)),
        })
        .filter(|task| !task.pairs.is_empty())
        .collect();
    let patches = || tasks.iter().flat_map(|task| task.patches);
    let variants: BTreeSet<&str> = patches()
        .flat_map(|patch| patch.critics.keys().map(String::as_str))
        .collect();
    let mut found = Vec::new();
    for variant in variants {
        found.extend(measure(variant, false, &tasks, options, |patch| {
            Some(standing(patch, patch.critics.get(variant)?)?.0)
        }));
    }
    let proxies: [(&str, Count); 4] = [
        ("lines added", |size| size.added),
        ("line operations", PatchSize::line_operations),
        ("hunks", |size| size.hunks),
        ("files", |size| size.files),
    ];
    for (name, of) in proxies {
        #[expect(
            clippy::cast_precision_loss,
            reason = "counts of lines are far below 2^53"
        )]
        let score = |patch: &CandidateResult| Some(of(patch.patch_size.as_ref()?) as f64);
        found.extend(measure(name, true, &tasks, options, score));
    }
    found
}

/// How the tests of each patch ended, the same test at the same place.
fn ends(patches: &[&CandidateResult]) -> Vec<Vec<Option<bool>>> {
    let tests = patches
        .iter()
        .flat_map(|patch| patch.tests.iter().flatten());
    let ids: BTreeSet<&str> = tests.map(|test| test.id.as_str()).collect();
    let places: BTreeMap<&str, usize> = ids.into_iter().zip(0..).collect();
    let of_patch = |patch: &&CandidateResult| {
        let mut ends = vec![None; places.len()];
        for test in patch.tests.iter().flatten() {
            ends[places[test.id.as_str()]] = Some(test.passed);
        }
        ends
    };
    patches.iter().map(of_patch).collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of pairs are far below 2^53"
)]
fn measure(
    name: &str,
    is_proxy: bool,
    tasks: &[Task<'_>],
    options: &AnalysisOptions,
    score: impl Fn(&CandidateResult) -> Option<f64>,
) -> Option<ProgressAnalysis> {
    let mut counts = OrderCounts::default();
    let (mut concordant, mut respected) = (Vec::new(), Vec::new());
    for task in tasks {
        let scores: Vec<Option<f64>> = task.patches.iter().map(|patch| score(patch)).collect();
        let of_task = OrderCounts::of(&task.pairs, &scores);
        if of_task.pairs > 0 {
            counts.add(&of_task);
            let pairs = of_task.pairs as f64;
            concordant.push((of_task.concordant as f64, pairs));
            respected.push(((of_task.concordant + of_task.ties) as f64, pairs));
        }
    }
    let interval =
        |parts: &[(f64, f64)]| m::bootstrap_ratio(parts, options.resamples, options.seed, 95.0);
    (counts.pairs > 0).then(|| ProgressAnalysis {
        name: name.to_owned(),
        is_proxy,
        tasks: concordant.len() as u64,
        counts,
        share_concordant: counts.share_concordant(),
        interval: interval(&concordant),
        share_respected: counts.share_respected(),
        respected_interval: interval(&respected),
    })
}
