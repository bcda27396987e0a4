//! Both policies together, and what each step leaves.

use super::{DecisionError, DecisionRule, Deterministic, Population, Review, Scored, decide};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PatchRecord {
    /// The bug.
    pub bug: String,
    /// The patch.
    pub patch: String,
    /// The probability that the agent succeeds with the bug.
    #[serde(default)]
    pub abstention: Option<f64>,
    /// The stages without a model.
    #[serde(default)]
    pub deterministic: Option<Deterministic>,
    /// The review.
    #[serde(default)]
    pub review: Option<Review>,
}

/// Which policies are applied.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policies {
    /// Attempt from this probability on; absent attempts every bug.
    pub tau: Option<f64>,
    /// Whether the stages without a model count; default yes.
    pub deterministic: bool,
    /// How reviews decide; absent shows whatever is left.
    pub rule: Option<DecisionRule>,
    /// Over what a percentile is taken.
    pub population: Population,
}

impl Default for Policies {
    fn default() -> Self {
        Self {
            tau: Some(0.5),
            deterministic: true,
            rule: Some(DecisionRule::Binary),
            population: Population::default(),
        }
    }
}

/// What one step leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunnelStep {
    /// `all`, `abstention`, the name of a stage without a model, `review`, `percentile`.
    pub step: String,
    /// Bugs with a patch left.
    pub bugs: usize,
    /// Patches left.
    pub patches: usize,
    /// Bugs that lost their last patch here.
    pub removed_bugs: usize,
    /// Patches that were lost here.
    pub removed_patches: usize,
}

/// What is shown, and the way there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combined {
    /// For every record, whether its patch is shown.
    pub shown: Vec<bool>,
    /// Everything at first, then what each step left.
    pub funnel: Vec<FunnelStep>,
    /// The lowest score that is shown, with a percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<f64>,
}

/// Shows a patch if its bug is attempted, no stage without a model rejects it, and the rule accepts its
/// review (paper 002, section 3.3).
///
/// # Errors
/// [`DecisionError::Incomplete`] for a record that lacks what a policy asks for; those of [`decide`], with
/// places counted among the population.
pub fn combine(records: &[PatchRecord], policies: &Policies) -> Result<Combined, DecisionError> {
    let lacks = |record: &PatchRecord, what: &str| DecisionError::Incomplete {
        bug: record.bug.clone(),
        patch: record.patch.clone(),
        what: what.to_owned(),
    };
    let mut left = vec![true; records.len()];
    let mut funnel = Funnel::new(records);
    funnel.step("all", &left);

    let mut attempted = vec![true; records.len()];
    if let Some(tau) = policies.tau {
        for (at, record) in records.iter().enumerate() {
            let p = record.abstention;
            let p = p.ok_or_else(|| lacks(record, "has no probability of success"))?;
            attempted[at] = p >= tau;
            left[at] = attempted[at];
        }
        funnel.step("abstention", &left);
    }

    let mut sound = vec![true; records.len()];
    if policies.deterministic {
        let mut by: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, record) in records.iter().enumerate() {
            match &record.deterministic {
                Some(found) => sound[at] = found.passed,
                // What was not attempted was perhaps never looked at.
                None if attempted[at] => {
                    return Err(lacks(
                        record,
                        "was not put through the stages without a model",
                    ));
                }
                None => sound[at] = false,
            }
            let stage = record.deterministic.as_ref();
            let stage = stage.and_then(|found| found.stage.as_deref());
            // What the policy before took out is not taken out again.
            if !sound[at] && left[at] {
                by.entry(stage.unwrap_or("deterministic"))
                    .or_default()
                    .push(at);
            }
        }
        for (stage, places) in by {
            for at in places {
                left[at] = false;
            }
            funnel.step(stage, &left);
        }
    }

    let mut cutoff = None;
    if let Some(rule) = policies.rule {
        let is_counted =
            |at: usize| sound[at] && (attempted[at] || policies.population == Population::AllBugs);
        let mut places = Vec::new();
        let mut scored = Vec::new();
        for (at, record) in records.iter().enumerate() {
            // The binary rule looks at nothing that is not up for decision.
            if !(left[at] || (is_counted(at) && rule != DecisionRule::Binary)) {
                continue;
            }
            let review = record.review.as_ref();
            let review = review.ok_or_else(|| lacks(record, "was not reviewed"))?;
            places.push(at);
            scored.push(Scored {
                accepted: review.accepted,
                score: review.score,
                source: review.source,
            });
        }
        let decided = decide(rule, &scored)?;
        cutoff = decided.cutoff;
        for (place, patch) in places.iter().zip(&scored) {
            left[*place] &= patch.accepted;
        }
        funnel.step("review", &left);
        if rule != DecisionRule::Binary {
            for (place, is_shown) in places.iter().zip(&decided.shown) {
                left[*place] &= *is_shown;
            }
            funnel.step("percentile", &left);
        }
    }
    Ok(Combined {
        shown: left,
        funnel: funnel.steps,
        cutoff,
    })
}

struct Funnel<'a> {
    records: &'a [PatchRecord],
    steps: Vec<FunnelStep>,
}

impl<'a> Funnel<'a> {
    fn new(records: &'a [PatchRecord]) -> Self {
        Self {
            records,
            steps: Vec::new(),
        }
    }

    fn step(&mut self, step: &str, left: &[bool]) {
        let kept = self.records.iter().zip(left).filter(|(_, left)| **left);
        let bugs: BTreeSet<&str> = kept.map(|(record, _)| record.bug.as_str()).collect();
        let patches = left.iter().filter(|left| **left).count();
        let (before_bugs, before_patches) = self
            .steps
            .last()
            .map_or((bugs.len(), patches), |last| (last.bugs, last.patches));
        self.steps.push(FunnelStep {
            step: step.to_owned(),
            bugs: bugs.len(),
            patches,
            removed_bugs: before_bugs - bugs.len(),
            removed_patches: before_patches - patches,
        });
    }
}
