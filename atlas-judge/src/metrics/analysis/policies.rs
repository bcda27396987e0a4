//! Paper 002's tables and figures over the patches of a results file.

use super::paired::{PairedDifference, PatchKey};
use super::scores::{self, AbstentionAnalysis, ScoreAnalysis};
use super::sizes::{self, DecidedSizes, SizedPatch};
use super::value::{self, ValueAnalysis};
use super::{AnalysisOptions, Bugs, Population};
use crate::metrics::results::CandidateResult;
use crate::metrics::{
    self as m, AtK, BugRuns, ConfidenceInterval, Confusion, Cutoff, FalsePositiveRates, KeptPatch,
    ReachedPatch, Run, TooFewRuns, TypedBug,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// Policies over one set of patches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyAnalysis {
    /// Whose patches.
    pub name: String,
    /// Tasks.
    pub bugs: u64,
    /// Tasks with a right patch.
    pub fixable: u64,
    /// Patches.
    pub patches: u64,
    /// Right patches.
    pub resolved: u64,
    /// The values of `k`: 1 to the most runs on a bug, at most the options' `max_k` or the largest of `table_ks`.
    pub ks: Vec<u64>,
    /// The policies that the lines allow; the first one shows everything.
    pub policies: Vec<PolicyRow>,
    /// Each two of them over the patches that both judge; of the first set of an analysis alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<PairedDifference>,
    /// What is left after each step of all of them together.
    pub funnel: Vec<FunnelStep>,
    /// The abstention policy over tasks.
    pub abstention: Option<AbstentionAnalysis>,
    /// The validation score over patches that reached validation.
    pub score: Option<ScoreAnalysis>,
    /// What thresholds are worth; absent where nothing is said of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueAnalysis>,
    /// What the reader must know.
    pub notes: Vec<String>,
    /// The options' `table_ks`.
    #[serde(skip)]
    pub(super) table_ks: Vec<u64>,
    /// The patches, in the order of the rows' decisions.
    #[serde(skip)]
    pub(super) keys: Vec<PatchKey>,
}

/// One policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// Patches of which the lines say what it needs. All numbers are about these.
    pub judged: u64,
    /// Patches of which they do not.
    pub unjudged: u64,
    /// Patches that are shown.
    pub shown: u64,
    /// Their share of the judged.
    pub shown_share: Option<f64>,
    /// Tasks with a patch that is shown.
    pub bugs_shown: u64,
    /// Shown against right, patch by patch.
    pub counts: Confusion,
    /// The share of right ones among the shown.
    pub precision: Option<f64>,
    /// Its bootstrap interval at 95 %, over tasks.
    pub precision_interval: Option<ConfidenceInterval>,
    /// The share of shown ones among the right.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
    /// The share of patches rightly shown or hidden.
    pub accuracy: Option<f64>,
    /// The share of hidden ones among the wrong.
    pub specificity: Option<f64>,
    /// Wrong patches shown, with both denominators.
    pub false_positives: FalsePositiveRates,
    /// Shown against right among the patches that got as far as the last stage (paper 002, Table 4, is over
    /// those that passed the deterministic stages).
    pub reached: Confusion,
    /// The lowest score that is shown, where a percentile decides.
    pub cutoff: Option<f64>,
    /// `k` to filtered success@k.
    pub success_at: BTreeMap<u64, AtK>,
    /// The bootstrap interval of filtered success@1 at 95 %, over tasks.
    pub success_at_1_interval: Option<ConfidenceInterval>,
    /// `k` to (pass & validation)@k.
    pub pass_and_validation_at: BTreeMap<u64, AtK>,
    /// `k` to validation recall@k.
    pub recall_at: BTreeMap<u64, AtK>,
    /// The sizes of patches that got as far as the last stage, as those that validation judged (paper 002, Figure 15);
    /// absent where no size is known.
    pub sizes: Option<DecidedSizes>,
    /// The lift at 1 by `kind`; a kind without a number has none.
    pub lift: BTreeMap<String, Option<f64>>,
    /// Of each patch whether it is shown; none where it is not judged.
    #[serde(skip)]
    pub(super) decided: Vec<Option<bool>>,
}

/// One step of the funnel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunnelStep {
    /// What is left.
    pub name: String,
    /// Tasks with a patch that is left.
    pub bugs: u64,
    /// Patches that are left.
    pub patches: u64,
    /// Right ones among them.
    pub resolved: u64,
    /// Filtered success@1 (paper 002, Figure 9): the mean, over tasks with a patch that is left, of the share of right
    /// ones among those.
    pub success_at_1: Option<f64>,
}

/// Which parts the lines of a set have at all.
#[derive(Clone, Copy)]
struct PartsPresent {
    abstention: bool,
    stages: bool,
    validation: bool,
    scores: bool,
    sizes: bool,
}

/// The stages of a policy.
#[derive(Clone, Copy)]
struct Stages {
    abstention: bool,
    /// Hides empty patches.
    nonempty: bool,
    deterministic: bool,
    validation: Validation,
}

#[derive(Clone, Copy)]
enum Validation {
    None,
    Judgement,
    Percentile(f64),
}

/// A patch under a policy.
struct Decided {
    success: bool,
    attempt: bool,
    reached: bool,
    accepted: bool,
}

/// Analyses the patches of one set.
pub(super) fn analyse(
    name: &str,
    bugs: &Bugs<'_>,
    other: Option<&Bugs<'_>>,
    options: &AnalysisOptions,
) -> Result<PolicyAnalysis, TooFewRuns> {
    let patches = || bugs.values().flatten();
    let count = |test: &dyn Fn(&CandidateResult) -> bool| {
        patches().filter(|patch| test(patch)).count() as u64
    };
    let most = bugs.values().map(Vec::len).max().unwrap_or(0) as u64;
    let max_k = options
        .table_ks
        .iter()
        .copied()
        .fold(options.max_k, u64::max);
    let ks: Vec<u64> = (1..=most.min(max_k)).collect();
    let mut notes = Vec::new();
    let score_source = scores::one_source(
        "validation scores",
        scores::score_sources(bugs),
        "percentile policies and the curve of scores are",
        &mut notes,
    );
    let abstention_source = scores::one_source(
        "abstention probabilities",
        scores::abstention_sources(bugs),
        "the curve and the distance of abstention are",
        &mut notes,
    );
    let said = PartsPresent {
        abstention: count(&|patch| patch.abstention.is_some()) > 0,
        stages: count(&|patch| patch.deterministic.is_some()) > 0,
        validation: count(&|patch| patch.validation.is_some()) > 0,
        scores: score_source.is_some(),
        sizes: count(&|patch| patch.patch_size.is_some()) > 0,
    };
    let mut rows = Vec::new();
    let plain = Stages {
        abstention: false,
        nonempty: false,
        deterministic: false,
        validation: Validation::None,
    };
    let mut chains = vec![("show everything".to_owned(), plain)];
    if said.abstention {
        let stages = Stages {
            abstention: true,
            ..plain
        };
        chains.push(("abstention".to_owned(), stages));
        if said.sizes {
            let stages = Stages {
                nonempty: true,
                ..stages
            };
            chains.push(("abstention without empty patches".to_owned(), stages));
        }
    }
    if said.stages {
        let stages = Stages {
            deterministic: true,
            ..plain
        };
        chains.push(("deterministic stages".to_owned(), stages));
        if said.abstention {
            let stages = Stages {
                abstention: true,
                ..stages
            };
            chains.push(("abstention + deterministic stages".to_owned(), stages));
        }
    }
    if said.validation {
        let mut kinds = vec![("validation".to_owned(), Validation::Judgement)];
        if said.scores {
            kinds.extend(
                options
                    .percentiles
                    .iter()
                    .map(|p| (format!("validation p{p}"), Validation::Percentile(*p))),
            );
        }
        for abstention in [false, true] {
            if abstention && !said.abstention {
                continue;
            }
            for (name, validation) in &kinds {
                let name = if abstention {
                    format!("abstention + {name}")
                } else {
                    name.clone()
                };
                let stages = Stages {
                    abstention,
                    deterministic: true,
                    validation: *validation,
                    ..plain
                };
                chains.push((name, stages));
            }
        }
    }
    for (name, stages) in chains {
        rows.push(row(name, stages, bugs, &ks, options)?);
    }
    if let Some(least) = rows.iter().map(|row| row.judged).min()
        && rows.iter().any(|row| row.judged != least)
    {
        notes.push(
            "Not every policy's word is known of every patch: their numbers are over different \
             patches (see \"unjudged\")."
                .to_owned(),
        );
    }
    let fixable = bugs
        .values()
        .filter(|patches| patches.iter().any(|patch| patch.resolved))
        .count() as u64;
    Ok(PolicyAnalysis {
        name: name.to_owned(),
        bugs: bugs.len() as u64,
        fixable,
        patches: count(&|_| true),
        resolved: count(&|patch| patch.resolved),
        ks,
        policies: rows,
        funnel: funnel(bugs, said, options),
        value: value::analyse(
            bugs,
            (abstention_source.is_some(), score_source.is_some()),
            options,
        ),
        abstention: abstention_source
            .map(|source| scores::abstention(bugs, other, &source, options)),
        score: score_source.map(|source| scores::score(bugs, other, &source, options)),
        differences: Vec::new(),
        table_ks: options.table_ks.clone(),
        keys: patches().map(|patch| PatchKey::of(patch)).collect(),
        notes,
    })
}

impl Stages {
    /// The policy's word on a patch; none where the lines do not say what it needs.
    fn decide(
        self,
        patch: &CandidateResult,
        options: &AnalysisOptions,
        cutoff: Option<Cutoff>,
    ) -> Option<Decided> {
        let attempt = if self.abstention {
            patch.abstention.as_ref()?.probability >= options.tau
        } else {
            true
        };
        let reached = attempt
            && (!self.nonempty || patch.patch_size.as_ref()?.files > 0)
            && (!self.deterministic || passed_stages(patch)?);
        let accepted = reached
            && match self.validation {
                Validation::None => true,
                Validation::Judgement => patch.validation.as_ref()?.accepted,
                Validation::Percentile(_) => {
                    let validation = patch.validation.as_ref()?;
                    let score = validation.score?;
                    validation.accepted && cutoff.is_some_and(|cutoff| cutoff.accepts(score))
                }
            };
        Some(Decided {
            success: patch.resolved,
            attempt,
            reached,
            accepted,
        })
    }

    /// The cut-off of a policy by percentile: over the scores of what passed the stages before.
    fn cutoff(self, bugs: &Bugs<'_>, options: &AnalysisOptions) -> Option<Cutoff> {
        let Validation::Percentile(p) = self.validation else {
            return None;
        };
        let attempted = |patch: &CandidateResult| {
            !self.abstention
                || options.population == Population::All
                || patch
                    .abstention
                    .as_ref()
                    .is_some_and(|found| found.probability >= options.tau)
        };
        let scores: Vec<f64> = bugs
            .values()
            .flatten()
            .filter(|patch| passed_stages(patch) == Some(true) && attempted(patch))
            .filter_map(|patch| patch.validation.as_ref()?.score)
            .collect();
        Cutoff::at(&scores, p)
    }
}

/// Whether the patch passed the deterministic stages; none where they were not run, as for a patch of a task
/// that was not attempted. Of a validation that says nothing of them there were none.
pub(super) fn passed_stages(patch: &CandidateResult) -> Option<bool> {
    match &patch.deterministic {
        Some(found) => Some(found.passed),
        None => patch.validation.as_ref().map(|_| true),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of patches are far below 2^53"
)]
fn row(
    name: String,
    stages: Stages,
    bugs: &Bugs<'_>,
    ks: &[u64],
    options: &AnalysisOptions,
) -> Result<PolicyRow, TooFewRuns> {
    let cutoff = stages.cutoff(bugs, options);
    let (mut counts, mut counts_reached) = (Confusion::default(), Confusion::default());
    let mut reached: Vec<ReachedPatch> = Vec::new();
    let (mut unjudged, mut bugs_shown) = (0, 0);
    let mut runs: Vec<BugRuns> = Vec::with_capacity(bugs.len());
    let mut typed: Vec<TypedBug> = Vec::new();
    let mut shown_by_bug: Vec<(f64, f64)> = Vec::with_capacity(bugs.len());
    let mut at_1: Vec<f64> = Vec::new();
    let mut said: Vec<Option<bool>> = Vec::new();
    let mut sized: Vec<SizedPatch> = Vec::new();
    for patches in bugs.values() {
        let mut bug = BugRuns {
            attempt: true,
            runs: Vec::with_capacity(patches.len()),
        };
        let mut kinds: BTreeMap<&str, Vec<KeptPatch>> = BTreeMap::new();
        let (mut shown, mut right) = (0_u64, 0_u64);
        for patch in patches {
            let Some(decided) = stages.decide(patch, options, cutoff) else {
                unjudged += 1;
                said.push(None);
                continue;
            };
            let accepted = decided.attempt && decided.accepted;
            said.push(Some(accepted));
            counts.add(decided.success, accepted);
            if decided.reached {
                counts_reached.add(decided.success, accepted);
                sized.extend(patch.patch_size.map(|size| SizedPatch {
                    size,
                    right: decided.success,
                    accepted,
                }));
            }
            reached.push(ReachedPatch {
                success: decided.success,
                reached: decided.reached,
                accepted,
            });
            bug.runs.push(Run {
                success: decided.success,
                accepted,
            });
            shown += u64::from(accepted);
            right += u64::from(accepted && decided.success);
            if let Some(kind) = &patch.kind {
                kinds.entry(kind).or_default().push(KeptPatch {
                    correct: decided.success,
                    kept: accepted,
                });
            }
        }
        bugs_shown += u64::from(shown > 0);
        shown_by_bug.push((right as f64, shown as f64));
        at_1.extend(m::share(right, shown));
        typed.extend(kinds.into_iter().map(|(kind, patches)| TypedBug {
            kind: kind.to_owned(),
            patches,
        }));
        runs.push(bug);
    }
    let at = |metric: fn(&[BugRuns], u64, m::BeyondRuns) -> Result<AtK, TooFewRuns>| {
        ks.iter()
            .map(|k| Ok((*k, metric(&runs, *k, options.beyond)?)))
            .collect::<Result<BTreeMap<u64, AtK>, TooFewRuns>>()
    };
    let shown = counts.tp + counts.fp;
    Ok(PolicyRow {
        name,
        judged: counts.total(),
        unjudged,
        shown,
        shown_share: m::share(shown, counts.total()),
        bugs_shown,
        precision: counts.precision(),
        precision_interval: m::bootstrap_ratio(
            &shown_by_bug,
            options.resamples,
            options.seed,
            95.0,
        ),
        recall: counts.recall(),
        f1: counts.f1(),
        accuracy: counts.accuracy(),
        specificity: counts.specificity(),
        false_positives: m::false_positive_rates(reached),
        reached: counts_reached,
        cutoff: cutoff.map(|cutoff| cutoff.score),
        success_at: at(m::filtered_success_at_k)?,
        success_at_1_interval: m::bootstrap_mean(&at_1, options.resamples, options.seed, 95.0),
        pass_and_validation_at: at(m::pass_and_validation_at_k)?,
        recall_at: at(m::validation_recall_at_k)?,
        sizes: sizes::by_decision(&sized),
        lift: m::lift_by_type(&typed),
        counts,
        decided: said,
    })
}

fn funnel(bugs: &Bugs<'_>, said: PartsPresent, options: &AnalysisOptions) -> Vec<FunnelStep> {
    let plain = Stages {
        abstention: said.abstention,
        nonempty: false,
        deterministic: false,
        validation: Validation::None,
    };
    let full = |validation| Stages {
        deterministic: true,
        validation,
        ..plain
    };
    let mut steps = vec![(
        "candidates".to_owned(),
        Stages {
            abstention: false,
            ..plain
        },
    )];
    if said.abstention {
        steps.push(("of attempted tasks".to_owned(), plain));
    }
    if said.stages {
        let name = "passed deterministic stages".to_owned();
        steps.push((name, full(Validation::None)));
    }
    if said.validation {
        let name = "accepted by validation".to_owned();
        steps.push((name, full(Validation::Judgement)));
        if said.scores {
            // Each step leaves less than the one before, in whichever order percentiles are given.
            let mut percentiles = options.percentiles.clone();
            percentiles.sort_by(f64::total_cmp);
            percentiles.dedup();
            steps.extend(percentiles.into_iter().map(|p| {
                let name = format!("score at or above p{p}");
                (name, full(Validation::Percentile(p)))
            }));
        }
    }
    steps
        .into_iter()
        .map(|(name, stages)| {
            let cutoff = stages.cutoff(bugs, options);
            let mut step = FunnelStep {
                name,
                bugs: 0,
                patches: 0,
                resolved: 0,
                success_at_1: None,
            };
            let mut shares = Vec::new();
            for patches in bugs.values() {
                let left = patches.iter().filter(|patch| {
                    stages
                        .decide(patch, options, cutoff)
                        .is_some_and(|decided| decided.accepted)
                });
                let (mut some, mut right) = (0, 0);
                for patch in left {
                    some += 1;
                    right += u64::from(patch.resolved);
                }
                step.bugs += u64::from(some > 0);
                step.patches += some;
                step.resolved += right;
                shares.extend(m::share(right, some));
            }
            step.success_at_1 = m::bootstrap::mean(&shares);
            step
        })
        .collect()
}
