//! What a results file says about its policies and critics.

mod calibration;
mod cascade;
mod costs;
mod critics;
mod lengths;
mod order;
mod paired;
mod policies;
mod progress;
mod scores;
mod sizes;
mod tables;
mod value;

pub use calibration::{
    CalibratedScores, CalibrationAnalysis, CalibrationFit, TargetPoint, calibration_half,
};
pub use cascade::{CascadeCurve, CascadePoint, cascade_curves};
pub use costs::{CostAnalysis, MeanCost, MemberCostAnalysis};
pub use critics::{
    AgentCritic, ConfidenceBin, CriticAnalysis, CriticScores, PassRateCell, WHOLE_PATCH,
};
pub use lengths::LengthBin;
pub use order::{AgentOrder, AgentStanding, OrderedBy};
pub use paired::{Change, PairedDifference};
pub use policies::{FunnelStep, PolicyAnalysis, PolicyRow};
pub use progress::ProgressAnalysis;
pub use scores::{AbstentionAnalysis, ProbabilityBin, ScoreAnalysis};
pub use sizes::{DecidedSizes, PatchSizes};
pub use value::{SweptPoint, ValueAnalysis, ValueSweep};

pub(crate) use tables::{
    Calibrations, Table, calibration_tables, counted, critic_name, decimal, differences,
    method_name, percent,
};

use super::results::{CandidateResult, Results};
use super::{BeyondRuns, BugValue, CalibrationMethod, LowConfidenceRule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Below this many tasks a note says that they are few.
const FEW: usize = 10;

/// Which patches the percentile of a policy that also abstains is over. Paper 002 (section 3.2.6) says
/// "all bugs in the given set" and not whether those that were abstained from are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// Only patches of bugs that are attempted.
    #[default]
    Attempted,
    /// Patches of all bugs.
    All,
}

/// How to analyse a results file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnalysisOptions {
    /// A bug is attempted from this probability on; 0.5, as in paper 002.
    pub tau: f64,
    /// Percentiles of the validation score, 0 to 100; 75 and 90, as in paper 002.
    pub percentiles: Vec<f64>,
    /// What the percentile of a combined policy is over.
    pub population: Population,
    /// The largest `k` of curves; 20, as in paper 002. Never more than the most runs on a bug.
    pub max_k: u64,
    /// The values of `k` that tables have a column for; 1, 3, 5, 10, 20 and the largest if empty. They are measured
    /// however large `max_k` is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub table_ks: Vec<u64>,
    /// What happens where a bug has fewer runs than `k`.
    pub beyond: BeyondRuns,
    /// The rule for a critic's unsure predictions.
    pub rule: LowConfidenceRule,
    /// Resamples of the bootstrap; 1000. None: 0.
    pub resamples: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// Bins of reliability diagrams, 1 to [`MAX_BINS`](super::MAX_BINS); 10.
    pub bins: usize,
    /// A precision, 0 to 1, for which thresholds are looked for; none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_precision: Option<f64>,
    /// What a fix is worth, and what is paid for it; not known, as the paper gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<BugValue>,
    /// How scores are calibrated; not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrate: Option<CalibrationMethod>,
    /// Draw curves of cascades of each two judges, with bands of doubt whose ends lie this far apart, 0.005 to 1; not at
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cascade_step: Option<f64>,
}

impl Default for AnalysisOptions {
    fn default() -> Self {
        Self {
            tau: 0.5,
            percentiles: vec![75.0, 90.0],
            population: Population::default(),
            max_k: 20,
            table_ks: Vec::new(),
            beyond: BeyondRuns::default(),
            rule: LowConfidenceRule::default(),
            resamples: 1000,
            seed: 0,
            bins: 10,
            target_precision: None,
            value: None,
            calibrate: None,
            cascade_step: None,
        }
    }
}

/// Everything that follows from a results file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Lines of the file.
    pub lines: u64,
    /// Tasks.
    pub instances: u64,
    /// Who made the patches, to the number of patches.
    pub agents: BTreeMap<String, u64>,
    /// Labels of how patches were made, to the number of patches.
    pub kinds: BTreeMap<String, u64>,
    /// Judges that are compared, such as models; empty where there is one alone. Names of sets of patches and of
    /// critics then begin with the judge's, as `big: all agents`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<String>,
    /// How it was computed.
    pub options: AnalysisOptions,
    /// Policies: over all patches, then, if there are several agents, agent by agent.
    pub policies: Vec<PolicyAnalysis>,
    /// The same policies of two judges, over the patches of all agents; empty where there is one judge alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<PairedDifference>,
    /// Critics, by variant.
    pub critics: Vec<CriticAnalysis>,
    /// Each two critics, or the same critics of two judges: patches, then single tests; empty where there is one alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub critic_differences: Vec<PairedDifference>,
    /// What the review and the critics cost beside how good they are; empty where no line tells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostAnalysis>,
    /// Cascades of each two judges, where they are asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cascades: Vec<CascadeCurve>,
    /// Whether critics, and proxies beside them, respect the progress of patches; empty where no patch is known to be
    /// further than another one of its task.
    pub progress: Vec<ProgressAnalysis>,
    /// What the reader must know to read the numbers rightly.
    pub notes: Vec<String>,
}

impl Analysis {
    /// Several judges of the same patches side by side, each with its name.
    pub fn beside(parts: Vec<(String, Self)>, options: &AnalysisOptions) -> Self {
        let mut all = Self {
            lines: 0,
            instances: 0,
            agents: BTreeMap::new(),
            kinds: BTreeMap::new(),
            judges: Vec::new(),
            options: options.clone(),
            policies: Vec::new(),
            differences: Vec::new(),
            critics: Vec::new(),
            critic_differences: Vec::new(),
            costs: Vec::new(),
            cascades: Vec::new(),
            progress: Vec::new(),
            notes: Vec::new(),
        };
        for (at, (b, of_b)) in parts.iter().enumerate() {
            for (a, of_a) in &parts[..at] {
                // The first set of a judge is over the patches of all agents.
                if let (Some(one), Some(other)) = (of_a.policies.first(), of_b.policies.first()) {
                    let found = paired::between((a, b), one, other, options);
                    all.differences.extend(found);
                }
                let found = paired::critics_between((a, b), &of_a.critics, &of_b.critics, options);
                all.critic_differences.extend(found);
            }
        }
        let patches = |part: &Self| part.agents.clone();
        if parts
            .windows(2)
            .any(|two| patches(&two[0].1) != patches(&two[1].1))
        {
            all.notes.push(
                "The judges' files are about different patches: compare their numbers with care."
                    .to_owned(),
            );
        }
        for (name, mut part) in parts {
            let named = |what: &str| match what {
                "" => name.clone(),
                what => format!("{name}: {what}"),
            };
            all.lines += part.lines;
            all.instances = all.instances.max(part.instances);
            for (known, new) in [(&mut all.agents, part.agents), (&mut all.kinds, part.kinds)] {
                for (of, count) in new {
                    let known = known.entry(of).or_default();
                    *known = count.max(*known);
                }
            }
            for set in &mut part.policies {
                set.name = named(&set.name);
            }
            for critic in &mut part.critics {
                critic.variant = named(&critic.variant);
            }
            for score in &mut part.progress {
                score.name = named(&score.name);
            }
            let new: Vec<String> = part.notes.iter().map(|note| named(note)).collect();
            all.notes.extend(new);
            all.policies.append(&mut part.policies);
            for cost in &mut part.costs {
                cost.name = named(&cost.name);
            }
            all.critics.append(&mut part.critics);
            all.costs.append(&mut part.costs);
            all.progress.append(&mut part.progress);
            all.judges.push(name);
        }
        all
    }
}

/// Analyses a results file.
///
/// # Errors
/// [`TooFewRuns`](super::TooFewRuns), with [`BeyondRuns::Error`] only.
pub fn analyse(
    results: &Results,
    options: &AnalysisOptions,
) -> Result<Analysis, super::TooFewRuns> {
    analyse_both(results, None, options)
}

/// As [`analyse`], with calibrations that are fitted to `other` results instead of halves of the tasks. What those say
/// of a task that is measured is not looked at.
///
/// # Errors
/// As [`analyse`].
pub fn analyse_calibrated_on(
    results: &Results,
    other: &Results,
    options: &AnalysisOptions,
) -> Result<Analysis, super::TooFewRuns> {
    analyse_both(results, Some(other), options)
}

/// The patches of each task.
type Bugs<'a> = BTreeMap<&'a str, Vec<&'a CandidateResult>>;

fn by_instance<'a>(candidates: impl Iterator<Item = &'a CandidateResult>) -> Bugs<'a> {
    let mut found = Bugs::new();
    for candidate in candidates {
        let patches = found.entry(candidate.instance_id.as_str()).or_default();
        patches.push(candidate);
    }
    found
}

/// The patches of one agent.
fn of_agent<'a>(bugs: &Bugs<'a>, agent: &str) -> Bugs<'a> {
    let patches = bugs.values().flatten().copied();
    by_instance(patches.filter(|patch| patch.agent == agent))
}

fn analyse_both(
    results: &Results,
    other: Option<&Results>,
    options: &AnalysisOptions,
) -> Result<Analysis, super::TooFewRuns> {
    let mut agents: BTreeMap<String, u64> = BTreeMap::new();
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    for candidate in &results.candidates {
        *agents.entry(candidate.agent.clone()).or_default() += 1;
        if let Some(kind) = &candidate.kind {
            *kinds.entry(kind.clone()).or_default() += 1;
        }
    }
    let by_instance = by_instance(results.candidates.iter());
    let mut notes = Vec::new();
    match by_instance.len() {
        0 => notes.push("There are no results: nothing can be measured.".to_owned()),
        few @ ..FEW => notes.push(format!(
            "Only {}: the numbers are exact and say little about others.",
            counted(few as u64, "task")
        )),
        _ => {}
    }
    if results.without_truth > 0 {
        notes.push(format!(
            "{} left out: no line says whether they resolve their task.",
            counted(results.without_truth, "patch")
        ));
    }
    let other = other.map(|other| fit_input(other, &by_instance, &mut notes));
    let mut analysed = Vec::new();
    if !results.candidates.is_empty() {
        let name = match agents.keys().next() {
            Some(only) if agents.len() == 1 => only.as_str(),
            _ => "all agents",
        };
        let mut set = policies::analyse(name, &by_instance, other.as_ref(), options)?;
        set.differences = paired::within(&set, options);
        analysed.push(set);
    }
    if agents.len() > 1 {
        notes.push(format!(
            "{} agents are in the file: where they are taken together, a bug's runs are those of all \
             of them.",
            agents.len()
        ));
        for agent in agents.keys() {
            let patches = of_agent(&by_instance, agent);
            let other = other.as_ref().map(|other| of_agent(other, agent));
            analysed.push(policies::analyse(agent, &patches, other.as_ref(), options)?);
        }
    }
    let critics = critics::analyse(&by_instance, other.as_ref(), options, &mut notes);
    Ok(Analysis {
        lines: results.lines,
        instances: by_instance.len() as u64,
        agents,
        kinds,
        judges: Vec::new(),
        options: options.clone(),
        costs: costs::analyse(
            &by_instance,
            &results.abstentions,
            analysed.first(),
            &critics,
        ),
        policies: analysed,
        differences: Vec::new(),
        critic_differences: paired::critics(&critics, options),
        critics,
        cascades: Vec::new(),
        progress: progress::analyse(&by_instance, options),
        notes,
    })
}

/// The other results without tasks that are measured: a fit must not have seen what it is measured on.
fn fit_input<'a>(other: &'a Results, measured: &Bugs<'_>, notes: &mut Vec<String>) -> Bugs<'a> {
    let mut found = by_instance(other.candidates.iter());
    let all = found.len();
    found.retain(|instance, _| !measured.contains_key(instance));
    if found.len() < all {
        notes.push(format!(
            "{} of the results for calibration are measured here: no fit looks at them.",
            counted((all - found.len()) as u64, "task")
        ));
    }
    found
}
