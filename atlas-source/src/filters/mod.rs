//! Which pull requests become candidates (paper 001, section 3.1; paper 002, appendix A).

mod bounds;
mod check;
mod config;
mod names;
mod presets;
mod rules;
mod seen;
mod written;

pub use bounds::{Bounds, Moment, Window};
pub use config::{Endings, FilterConfig, NearDuplicates, UnknownFacts};
pub use names::FilterName;
pub use presets::FilterPreset;

use atlas_core::SourcedPullRequest;
use rules::Ruling;
use seen::{SeenPatches, SeenStatements, simhash};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Examples that are kept for each filter.
const EXAMPLES: usize = 3;

/// How many pull requests each filter saw and dropped, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterFunnel {
    /// Pull requests that came in.
    pub sourced: u64,
    /// Those that passed all filters.
    pub kept: u64,
    /// The filters, in their order.
    pub steps: Vec<FilterStep>,
}

/// What one filter did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterStep {
    /// Which.
    pub filter: FilterName,
    /// Pull requests that came to it.
    pub seen: u64,
    /// Those that it dropped.
    pub dropped: u64,
    /// Those of which it could not tell: dropped only where the configuration says so.
    pub unknown: u64,
    /// How many it dropped for which reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<String, u64>,
    /// The first that it dropped, three at most.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<FilterExample>,
}

/// A pull request that a filter dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterExample {
    /// Its name, as an instance would have it.
    pub name: String,
    /// Why it was dropped, and what was seen.
    pub reason: String,
}

/// Filters at work, with what they have seen.
///
/// Memory does not grow with what comes through: counts, three examples each, and of the two filters against duplicates at most
/// 2,097,152 hashes, the latest. A duplicate of something older than that is not recognised.
///
/// ```
/// use atlas_source::{FilterConfig, FilterPreset, Filters};
///
/// let filters = Filters::new(FilterConfig::preset(FilterPreset::Paper001));
/// assert_eq!(filters.funnel().sourced, 0);
/// assert_eq!(filters.funnel().steps[0].filter.as_str(), "stars");
/// ```
#[derive(Debug)]
pub struct Filters {
    config: FilterConfig,
    funnel: FilterFunnel,
    patches: SeenPatches,
    statements: SeenStatements,
}

impl Filters {
    /// Filters that have seen nothing.
    pub fn new(config: FilterConfig) -> Self {
        let step = |filter: &FilterName| FilterStep {
            filter: *filter,
            seen: 0,
            dropped: 0,
            unknown: 0,
            reasons: BTreeMap::new(),
            examples: Vec::new(),
        };
        let funnel = FilterFunnel {
            steps: config.order.iter().map(step).collect(),
            ..FilterFunnel::default()
        };
        Self {
            config,
            funnel,
            patches: SeenPatches::default(),
            statements: SeenStatements::default(),
        }
    }

    /// Whether the next pull request passes all filters. They are asked one after the other; the first that drops it ends it.
    pub fn pass(&mut self, candidate: &SourcedPullRequest) -> bool {
        self.funnel.sourced += 1;
        for at in 0..self.funnel.steps.len() {
            let name = self.funnel.steps[at].filter;
            let ruling = match name {
                FilterName::NoDuplicates => self.duplicate(candidate),
                FilterName::NearDuplicates => self.near_duplicate(candidate),
                _ => rules::judge(name, &self.config, candidate),
            };
            let step = &mut self.funnel.steps[at];
            step.seen += 1;
            let (reason, detail) = match ruling {
                Ruling::Pass => continue,
                Ruling::Drop(reason, detail) => (reason.to_owned(), detail),
                Ruling::Unknown(what) => {
                    step.unknown += 1;
                    if self.config.unknown == UnknownFacts::Keep {
                        continue;
                    }
                    (format!("unknown: {what}"), String::new())
                }
            };
            step.dropped += 1;
            if step.examples.len() < EXAMPLES {
                let told = if detail.is_empty() {
                    reason.clone()
                } else {
                    format!("{reason}: {detail}")
                };
                step.examples.push(FilterExample {
                    name: candidate.instance_name(),
                    reason: told,
                });
            }
            *step.reasons.entry(reason).or_default() += 1;
            return false;
        }
        self.funnel.kept += 1;
        true
    }

    /// What came through so far.
    pub fn funnel(&self) -> &FilterFunnel {
        &self.funnel
    }

    fn duplicate(&mut self, candidate: &SourcedPullRequest) -> Ruling {
        let id = candidate
            .change
            .as_ref()
            .and_then(|change| change.patch_id.as_ref());
        let Some(id) = id else {
            return Ruling::Unknown("patch id");
        };
        match self.patches.note(id, self.funnel.sourced) {
            Some(first) => Ruling::Drop(
                "the same change as an earlier one",
                format!("number {first} sourced"),
            ),
            None => Ruling::Pass,
        }
    }

    fn near_duplicate(&mut self, candidate: &SourcedPullRequest) -> Ruling {
        let Some(near) = self.config.near_duplicates else {
            return Ruling::Pass;
        };
        let statement = candidate.problem_statement();
        if statement.is_empty() {
            return Ruling::Unknown("text of the issues");
        }
        let (hash, words) = simhash(&statement);
        if words < near.words {
            return Ruling::Pass;
        }
        match self.statements.note(hash, near.bits, self.funnel.sourced) {
            Some(first) => Ruling::Drop(
                "nearly the statement of an earlier one",
                format!("number {first} sourced"),
            ),
            None => Ruling::Pass,
        }
    }
}
