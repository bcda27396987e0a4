//! Policies, and critics, against each other, over the same patches.

use super::{AnalysisOptions, CriticAnalysis, PolicyAnalysis, PolicyRow};
use crate::metrics::results::CandidateResult;
use crate::metrics::{ConfidenceInterval, RatioPair, bootstrap_ratio_differences};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// How much more one policy or critic reaches than another, over the patches, or single tests of patches, that both judge.
/// Of a critic, shown are patches that it says pass all tests, or tests that it says pass, after the low-confidence rule, and
/// right are those that do.
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
    /// Tests of these that both judge, where single tests are compared; else 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub tests: u64,
    /// Of the share of right ones among the shown.
    pub precision: Option<Change>,
    /// Of the share of shown ones among the right.
    pub recall: Option<Change>,
    /// Of the share of patches rightly shown or hidden.
    pub accuracy: Option<Change>,
    /// Of filtered success@1: the mean, over tasks with a patch shown, of the share of right ones among those. None of single
    /// tests.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A patch as policies know it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PatchKey {
    pub(super) instance: String,
    pub(super) agent: String,
    pub(super) patch: String,
    pub(super) resolved: bool,
}

impl PatchKey {
    pub(super) fn of(patch: &CandidateResult) -> Self {
        Self {
            instance: patch.instance_id.clone(),
            agent: patch.agent.clone(),
            patch: patch.patch_id.clone(),
            resolved: patch.resolved,
        }
    }
}

/// All pairs of a set's policies, the earlier one first.
pub(super) fn within(set: &PolicyAnalysis, options: &AnalysisOptions) -> Vec<PairedDifference> {
    let mut found = Vec::new();
    for (at, b) in set.policies.iter().enumerate() {
        for a in &set.policies[..at] {
            let names = (a.name.clone(), b.name.clone());
            found.push(compare(names, shown(set, a), shown(set, b), options));
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
        Some(compare(names, shown(a, row), shown(b, same), options))
    })
    .collect()
}

/// All pairs of critics, the earlier one first: of each patches, then single tests where both judge some.
pub(super) fn critics(all: &[CriticAnalysis], options: &AnalysisOptions) -> Vec<PairedDifference> {
    let mut found = Vec::new();
    for (at, b) in all.iter().enumerate() {
        for a in &all[..at] {
            found.extend(two_critics((&a.variant, &b.variant), a, b, options));
        }
    }
    found
}

/// The same critics of two judges.
pub(super) fn critics_between(
    judges: (&str, &str),
    a: &[CriticAnalysis],
    b: &[CriticAnalysis],
    options: &AnalysisOptions,
) -> Vec<PairedDifference> {
    let pairs = a.iter().filter_map(|one| {
        let same = b.iter().find(|other| other.variant == one.variant)?;
        let name = |judge: &str| match one.variant.as_str() {
            "" => judge.to_owned(),
            variant => format!("{judge}: {variant}"),
        };
        let names = (name(judges.0), name(judges.1));
        Some(two_critics((&names.0, &names.1), one, same, options))
    });
    pairs.flatten().collect()
}

fn two_critics(
    names: (&str, &str),
    a: &CriticAnalysis,
    b: &CriticAnalysis,
    options: &AnalysisOptions,
) -> Vec<PairedDifference> {
    let both = || (names.0.to_owned(), names.1.to_owned());
    let found = [
        compare(both(), wholes(a), wholes(b), options),
        compare(both(), tests(a), tests(b), options),
    ];
    found.into_iter().filter(|one| one.patches > 0).collect()
}

/// What a critic said of one patch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CriticWord {
    pub(super) key: PatchKey,
    /// Whether it passes as a whole; none where not all was seen.
    pub(super) whole: Option<bool>,
    /// Its tests of known end: the hash of the id, whether it passes, and whether that was said.
    pub(super) tests: Vec<(u64, bool, bool)>,
}

impl CriticWord {
    /// The hash by which a test is known among those of its patch.
    pub(super) fn hash(id: &str) -> u64 {
        let mut hash = DefaultHasher::new();
        id.hash(&mut hash);
        // 0 stands for the whole patch.
        hash.finish().max(1)
    }
}

/// What is judged, a patch or one of its tests, whether it is right, and whether a judge says so.
type Word<'a> = (&'a PatchKey, u64, bool, bool);

/// The patches that a policy judges, and whether it shows them.
fn shown<'a>(set: &'a PolicyAnalysis, row: &'a PolicyRow) -> impl Iterator<Item = Word<'a>> {
    let known = set.keys.iter().zip(&row.decided);
    known.filter_map(|(key, shown)| Some((key, 0, key.resolved, (*shown)?)))
}

fn wholes(critic: &CriticAnalysis) -> impl Iterator<Item = Word<'_>> {
    let words = critic.words.iter();
    words.filter_map(|word| Some((&word.key, 0, word.key.resolved, word.whole?)))
}

fn tests(critic: &CriticAnalysis) -> impl Iterator<Item = Word<'_>> {
    critic.words.iter().flat_map(|word| {
        let tests = word.tests.iter();
        tests.map(|(test, passes, said)| (&word.key, *test, *passes, *said))
    })
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

#[derive(Clone, Default)]
struct OfTask<'a> {
    patches: BTreeSet<&'a PatchKey>,
    judged: u64,
    right: u64,
    a: Shown,
    b: Shown,
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn compare<'a>(
    names: (String, String),
    a: impl Iterator<Item = Word<'a>>,
    b: impl Iterator<Item = Word<'a>>,
    options: &AnalysisOptions,
) -> PairedDifference {
    let of_b: BTreeMap<(&PatchKey, u64), bool> =
        b.map(|(key, test, _, said)| ((key, test), said)).collect();
    let mut tasks: BTreeMap<&str, OfTask<'a>> = BTreeMap::new();
    let mut are_tests = false;
    for (key, test, right, said) in a {
        let Some(other) = of_b.get(&(key, test)) else {
            continue;
        };
        are_tests |= test != 0;
        let task = tasks.entry(&key.instance).or_default();
        task.patches.insert(key);
        task.judged += 1;
        task.right += u64::from(right);
        task.a.add(right, said);
        task.b.add(right, *other);
    }
    let items: Vec<[RatioPair; 4]> = tasks
        .values()
        .map(|task| {
            let of = |shown: &Shown| shown.parts(task.judged as f64, task.right as f64);
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
    let judged = tasks.values().map(|task| task.judged).sum();
    PairedDifference {
        a: names.0,
        b: names.1,
        bugs: tasks.len() as u64,
        patches: tasks.values().map(|task| task.patches.len() as u64).sum(),
        tests: if are_tests { judged } else { 0 },
        precision: change(0),
        recall: change(1),
        accuracy: change(2),
        success_at_1: change(3).filter(|_| !are_tests),
    }
}
