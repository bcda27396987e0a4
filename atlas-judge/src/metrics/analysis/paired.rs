//! Policies against each other, over the same patches.

use super::{AnalysisOptions, PolicyAnalysis, PolicyRow};
use crate::metrics::{ConfidenceInterval, RatioPair, bootstrap_ratio_differences};
use serde::Serialize;
use std::collections::BTreeMap;

/// How much more one policy reaches than another, over the patches that both judge.
///
/// Intervals are those of the paired bootstrap: each resample draws the same tasks for both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairedDifference {
    /// The one policy.
    pub a: String,
    /// The other: differences are what it has more.
    pub b: String,
    /// Tasks with a patch that both judge.
    pub bugs: u64,
    /// Patches that both judge.
    pub patches: u64,
    /// Of the share of right ones among the shown.
    pub precision: Option<Change>,
    /// Of the share of shown ones among the right.
    pub recall: Option<Change>,
    /// Of the share of patches rightly shown or hidden.
    pub accuracy: Option<Change>,
    /// Of filtered success@1: the mean, over tasks with a patch shown, of the share of right ones among those.
    pub success_at_1: Option<Change>,
}

/// A difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Change {
    /// What the second has more, -1 to 1.
    pub difference: f64,
    /// Its interval at 95 %.
    pub interval: Option<ConfidenceInterval>,
}

/// A patch as policies know it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PatchKey {
    pub(super) instance: String,
    pub(super) agent: String,
    pub(super) patch: String,
    pub(super) resolved: bool,
}

/// All pairs of a set's policies, the earlier one first.
pub(super) fn within(set: &PolicyAnalysis, options: &AnalysisOptions) -> Vec<PairedDifference> {
    let mut found = Vec::new();
    for (at, b) in set.policies.iter().enumerate() {
        for a in &set.policies[..at] {
            let names = (a.name.clone(), b.name.clone());
            found.push(compare(names, (set, a), (set, b), options));
        }
    }
    found
}

/// The same policies of two judges' sets.
pub(super) fn between(
    judges: (&str, &str),
    a: &PolicyAnalysis,
    b: &PolicyAnalysis,
    options: &AnalysisOptions,
) -> Vec<PairedDifference> {
    // The first policy shows every patch, so it is the same for all judges.
    let rows = a.policies.iter().skip(1);
    rows.filter_map(|row| {
        let same = b.policies.iter().find(|other| other.name == row.name)?;
        let name = |judge: &str| format!("{judge}: {}", row.name);
        let names = (name(judges.0), name(judges.1));
        Some(compare(names, (a, row), (b, same), options))
    })
    .collect()
}

type Side<'a> = (&'a PolicyAnalysis, &'a PolicyRow);

/// The patches that a policy judges, and whether it shows them.
fn said((set, row): Side<'_>) -> impl Iterator<Item = (&PatchKey, bool)> {
    let known = set.keys.iter().zip(&row.decided);
    known.filter_map(|(key, shown)| Some((key, (*shown)?)))
}

/// What a policy shows of a task's patches.
#[derive(Clone, Copy, Default)]
struct Shown {
    right: f64,
    all: f64,
    agree: f64,
}

impl Shown {
    fn add(&mut self, resolved: bool, shown: bool) {
        let one = |counts: bool| f64::from(u8::from(counts));
        self.right += one(resolved && shown);
        self.all += one(shown);
        self.agree += one(resolved == shown);
    }

    /// The parts of precision, recall, accuracy and success@1.
    fn parts(&self, patches: f64, resolved: f64) -> [(f64, f64); 4] {
        let success = if self.all > 0.0 {
            (self.right / self.all, 1.0)
        } else {
            (0.0, 0.0)
        };
        [
            (self.right, self.all),
            (self.right, resolved),
            (self.agree, patches),
            success,
        ]
    }
}

#[derive(Clone, Copy, Default)]
struct OfTask {
    patches: u64,
    resolved: u64,
    a: Shown,
    b: Shown,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn compare(
    names: (String, String),
    a: Side<'_>,
    b: Side<'_>,
    options: &AnalysisOptions,
) -> PairedDifference {
    let of_b: BTreeMap<&PatchKey, bool> = said(b).collect();
    let mut tasks: BTreeMap<&str, OfTask> = BTreeMap::new();
    for (key, shown) in said(a) {
        let Some(other) = of_b.get(key) else {
            continue;
        };
        let task = tasks.entry(&key.instance).or_default();
        task.patches += 1;
        task.resolved += u64::from(key.resolved);
        task.a.add(key.resolved, shown);
        task.b.add(key.resolved, *other);
    }
    let items: Vec<[RatioPair; 4]> = tasks
        .values()
        .map(|task| {
            let of = |shown: &Shown| shown.parts(task.patches as f64, task.resolved as f64);
            let (a, b) = (of(&task.a), of(&task.b));
            std::array::from_fn(|at| RatioPair { a: a[at], b: b[at] })
        })
        .collect();
    let mut sums = [RatioPair::default(); 4];
    for item in &items {
        for (sum, item) in sums.iter_mut().zip(item) {
            sum.add(item);
        }
    }
    let intervals = bootstrap_ratio_differences(&items, options.resamples, options.seed, 95.0);
    let change = |at: usize| {
        let difference = sums[at].difference()?;
        Some(Change {
            difference,
            interval: intervals[at],
        })
    };
    PairedDifference {
        a: names.0,
        b: names.1,
        bugs: tasks.len() as u64,
        patches: tasks.values().map(|task| task.patches).sum(),
        precision: change(0),
        recall: change(1),
        accuracy: change(2),
        success_at_1: change(3),
    }
}
