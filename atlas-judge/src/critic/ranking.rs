//! Agents ranked by the progress that a critic foretells.

use crate::metrics::{CorrelationSummary, spearman, summarise_correlations};
use atlas_core::InstanceId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How far one agent's patch for one instance gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentProgress {
    /// The instance.
    pub instance: InstanceId,
    /// The agent.
    pub agent: String,
    /// The share of tests that the critic says pass.
    pub predicted: f64,
    /// The share that do.
    pub actual: f64,
}

/// Whether a critic's order of agents is the true one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RankReport {
    /// Spearman's correlation per instance; none where it is not defined: one agent, or a side on
    /// which all are equal.
    pub per_instance: BTreeMap<InstanceId, Option<f64>>,
    /// Their sum, undefined ones counted apart.
    pub summary: CorrelationSummary,
    /// Agents by mean predicted progress, best first; equal ones by name.
    pub by_prediction: Vec<(String, f64)>,
    /// Agents by mean true progress, best first; equal ones by name.
    pub by_truth: Vec<(String, f64)>,
}

/// Ranks agents (paper 004, section 4.4). Where an agent has several patches for an instance, their
/// mean counts.
pub fn rank_agents(progress: &[AgentProgress]) -> RankReport {
    let mut instances: BTreeMap<&InstanceId, BTreeMap<&str, Mean>> = BTreeMap::new();
    let mut agents: BTreeMap<&str, Mean> = BTreeMap::new();
    for one in progress {
        let of_instance = instances.entry(&one.instance).or_default();
        of_instance.entry(&one.agent).or_default().add(one);
        agents.entry(&one.agent).or_default().add(one);
    }
    let per_instance: BTreeMap<InstanceId, Option<f64>> = instances
        .into_iter()
        .map(|(instance, agents)| {
            let predicted: Vec<f64> = agents.values().map(Mean::predicted).collect();
            let actual: Vec<f64> = agents.values().map(Mean::actual).collect();
            (instance.clone(), spearman(&predicted, &actual))
        })
        .collect();
    let rhos: Vec<Option<f64>> = per_instance.values().copied().collect();
    let order = |value: fn(&Mean) -> f64| {
        let mut order: Vec<(String, f64)> = agents
            .iter()
            .map(|(agent, mean)| ((*agent).to_owned(), value(mean)))
            .collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        order
    };
    RankReport {
        summary: summarise_correlations(&rhos),
        per_instance,
        by_prediction: order(Mean::predicted),
        by_truth: order(Mean::actual),
    }
}

#[derive(Default)]
struct Mean {
    count: f64,
    predicted: f64,
    actual: f64,
}

impl Mean {
    fn add(&mut self, one: &AgentProgress) {
        self.count += 1.0;
        self.predicted += one.predicted;
        self.actual += one.actual;
    }

    fn predicted(&self) -> f64 {
        self.predicted / self.count
    }

    fn actual(&self) -> f64 {
        self.actual / self.count
    }
}
