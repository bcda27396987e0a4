//! The order in which a critic puts agents (paper 004, section 4.4).

use super::Bugs;
use crate::metrics::results::{CandidateResult, CriticResult};
use crate::metrics::{self as m, ConfidenceInterval, TestPrediction};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Agents by what a critic foretells and by what was true, over all tasks together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentOrder {
    /// By what.
    pub by: OrderedBy,
    /// The agents, best actual one first; equal ones by name.
    pub agents: Vec<AgentStanding>,
    /// Spearman's correlation of the two means.
    pub spearman: Option<f64>,
    /// Its bootstrap interval at 95 %, over tasks; draws in which it is not defined are left out.
    pub spearman_interval: Option<ConfidenceInterval>,
    /// Kendall's correlation of the two means, tau-b.
    pub kendall: Option<f64>,
    /// Its interval, likewise.
    pub kendall_interval: Option<ConfidenceInterval>,
}

/// What agents are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderedBy {
    /// The predicted, or the critic's own score, against the actual share of passing tests.
    Progress,
    /// The share of patches said to pass against the share that resolve their task.
    Resolved,
}

/// One agent in an order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentStanding {
    /// The agent.
    pub agent: String,
    /// Its patches that count.
    pub patches: u64,
    /// The mean of what the critic foretold.
    pub predicted: f64,
    /// The mean of what was true.
    pub actual: f64,
    /// Its place by prediction, from 1; equal ones share the mean of theirs.
    pub predicted_rank: f64,
    /// Its actual place.
    pub actual_rank: f64,
}

/// How far a patch gets by a critic's word and in truth: the shares of passing tests among those that the critic judged
/// and whose end is known. A critic with a score of its own is taken by that, against the share of all tests whose end
/// is known.
pub(super) fn standing(patch: &CandidateResult, said: &CriticResult) -> Option<(f64, f64)> {
    let truths = || patch.tests.iter().flatten();
    if let Some(score) = said.score {
        let passed = truths().filter(|test| test.passed).count() as u64;
        return Some((score, m::share(passed, truths().count() as u64)?));
    }
    let truths: HashMap<&str, bool> = truths()
        .map(|test| (test.id.as_str(), test.passed))
        .collect();
    let (mut known, mut predicted, mut actual) = (0, 0, 0);
    for test in &said.tests {
        if let Some(passed) = truths.get(test.id.as_str()) {
            known += 1;
            predicted += u64::from(test.predicted);
            actual += u64::from(*passed);
        }
    }
    Some((m::share(predicted, known)?, m::share(actual, known)?))
}

/// Whether a patch is said to pass, and whether it resolves its task; none where nothing is said of it as a whole.
fn verdict(patch: &CandidateResult, said: &CriticResult) -> Option<(f64, f64)> {
    let tests = said.tests.iter().map(|test| TestPrediction {
        passes: test.predicted,
        confidence: test.confidence,
        length: None,
    });
    let found = m::aggregate_critic(&tests.collect::<Vec<_>>(), None).ok()?;
    let is_open = found.build_success && said.unseen > 0;
    let one = |word: bool| f64::from(u8::from(word));
    (!is_open).then(|| (one(found.build_success), one(patch.resolved)))
}

/// Sums of an agent.
#[derive(Clone, Copy, Default)]
struct Sums {
    patches: u64,
    predicted: f64,
    actual: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.patches += other.patches;
        self.predicted += other.predicted;
        self.actual += other.actual;
    }

    /// To twelve digits: the same shares added in another order may differ in the last one, and are a tie all the same.
    fn means(&self) -> Option<(f64, f64)> {
        let mean = |sum| Some((m::ratio(sum, self.patches)? * 1e12).round() / 1e12);
        Some((mean(self.predicted)?, mean(self.actual)?))
    }
}

/// The orders of a critic that has patches of two agents at least.
pub(super) fn orders(
    variant: &str,
    bugs: &Bugs<'_>,
    options: &super::AnalysisOptions,
) -> Vec<AgentOrder> {
    type Word = fn(&CandidateResult, &CriticResult) -> Option<(f64, f64)>;
    let by: [(OrderedBy, Word); 2] = [
        (OrderedBy::Progress, standing),
        (OrderedBy::Resolved, verdict),
    ];
    by.into_iter()
        .filter_map(|(by, word)| order(by, word, variant, bugs, options))
        .collect()
}

fn order(
    by: OrderedBy,
    word: fn(&CandidateResult, &CriticResult) -> Option<(f64, f64)>,
    variant: &str,
    bugs: &Bugs<'_>,
    options: &super::AnalysisOptions,
) -> Option<AgentOrder> {
    let mut tasks: Vec<BTreeMap<&str, Sums>> = Vec::new();
    for patches in bugs.values() {
        let mut task: BTreeMap<&str, Sums> = BTreeMap::new();
        for patch in patches {
            let found = patch
                .critics
                .get(variant)
                .and_then(|said| word(patch, said));
            if let Some((predicted, actual)) = found {
                task.entry(&patch.agent).or_default().add(&Sums {
                    patches: 1,
                    predicted,
                    actual,
                });
            }
        }
        tasks.push(task);
    }
    tasks.retain(|task| !task.is_empty());
    let all = total(tasks.iter());
    if all.len() < 2 {
        return None;
    }
    let [spearman_interval, kendall_interval] = m::bootstrap_statistics(
        tasks.len(),
        options.resamples,
        options.seed,
        95.0,
        |places| correlations(&total(places.iter().map(|at| &tasks[*at]))),
    );
    let [spearman, kendall] = correlations(&all);
    Some(AgentOrder {
        by,
        agents: standings(&all),
        spearman,
        spearman_interval,
        kendall,
        kendall_interval,
    })
}

fn total<'a>(tasks: impl Iterator<Item = &'a BTreeMap<&'a str, Sums>>) -> BTreeMap<&'a str, Sums> {
    let mut all: BTreeMap<&str, Sums> = BTreeMap::new();
    for (agent, sums) in tasks.flatten() {
        all.entry(agent).or_default().add(sums);
    }
    all
}

/// Spearman's and Kendall's.
fn correlations(agents: &BTreeMap<&str, Sums>) -> [Option<f64>; 2] {
    let (predicted, actual): (Vec<f64>, Vec<f64>) = agents.values().filter_map(Sums::means).unzip();
    [
        m::spearman(&predicted, &actual),
        m::kendall(&predicted, &actual),
    ]
}

fn standings(agents: &BTreeMap<&str, Sums>) -> Vec<AgentStanding> {
    let means: Vec<(f64, f64)> = agents.values().filter_map(Sums::means).collect();
    let ranks = |of: fn(&(f64, f64)) -> f64| {
        // The greatest has rank 1.
        let down: Vec<f64> = means.iter().map(|means| -of(means)).collect();
        m::average_ranks(&down).unwrap_or_default()
    };
    let (predicted_ranks, actual_ranks) = (ranks(|means| means.0), ranks(|means| means.1));
    let mut found: Vec<AgentStanding> = agents
        .iter()
        .zip(&means)
        .zip(predicted_ranks.into_iter().zip(actual_ranks))
        .map(|(((agent, sums), means), ranks)| AgentStanding {
            agent: (*agent).to_owned(),
            patches: sums.patches,
            predicted: means.0,
            actual: means.1,
            predicted_rank: ranks.0,
            actual_rank: ranks.1,
        })
        .collect();
    found.sort_by(|a, b| {
        let by_rank = a.actual_rank.total_cmp(&b.actual_rank);
        by_rank.then_with(|| a.agent.cmp(&b.agent))
    });
    found
}
