//! Repairs of a plan by rules: what the output of a failed build or run asks for.
//!
//! Each repair has the line that proves it. Nothing is guessed: a name in a log only leads to a
//! package that a table or the repository itself knows.

mod change;
mod cmake;
mod npm;
mod php;
mod python;
mod service;
mod settings;
mod system;
mod tables;
mod toolchain;

pub(crate) use change::{Change, with_version};
pub(crate) use settings::NOT_FETCHED;

use crate::tree::Tree;
use atlas_core::{EnvironmentPlan, Evidence};
use std::collections::BTreeSet;

/// What went wrong, as far as rules look at it.
#[derive(Debug)]
pub(crate) struct Symptom<'a> {
    /// The plan that was tried.
    pub(crate) plan: &'a EnvironmentPlan,
    /// The repository.
    pub(crate) tree: &'a Tree,
    /// What it printed.
    pub(crate) text: &'a str,
    /// What printed it, for proofs: `build log`, `test log`.
    pub(crate) source: &'a str,
}

impl Symptom<'_> {
    /// A line of the output as proof.
    pub(crate) fn proof(&self, line: &str) -> Evidence {
        const MOST: usize = 300;
        let line = line.trim();
        let end = line
            .char_indices()
            .nth(MOST)
            .map_or(line.len(), |(at, _)| at);
        Evidence::of(self.source, &line[..end])
    }
}

/// One change of a plan, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Repair {
    /// The rule's name, as reports show it.
    pub(crate) rule: &'static str,
    /// The line that asks for it.
    pub(crate) proof: Evidence,
    /// What to change.
    pub(crate) change: Change,
}

/// A rule: symptoms in, repairs out.
type Rule = fn(&Symptom<'_>) -> Vec<Repair>;

/// The rules, in the order in which their repairs are applied.
const RULES: &[Rule] = &[
    toolchain::versions,
    toolchain::language_level,
    system::tools,
    system::headers,
    system::libraries,
    python::modules,
    python::distributions_of_the_day,
    npm::packages,
    cmake::unreachable_part,
    php::suites,
    service::refused,
    settings::locale,
    settings::time_zone,
    settings::heap,
    settings::stack_of_javac,
    settings::seed_of_hashes,
    settings::git_identity,
    settings::language_standard,
    settings::submodules,
    settings::openssl_of_old_node,
    settings::loader_of_ts_node,
    settings::node_headers,
    settings::artifact_not_fetched,
    settings::newer_rust,
    settings::denied_lints,
];

/// The repairs that a symptom asks for, one for each change, in the order of the rules.
pub(crate) fn find(symptom: &Symptom<'_>) -> Vec<Repair> {
    let mut known = BTreeSet::new();
    RULES
        .iter()
        .flat_map(|rule| rule(symptom))
        .filter(|repair| known.insert(repair.change.clone()))
        .collect()
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Change, Symptom, find};
    use crate::tree::Tree;
    use atlas_core::EnvironmentPlan;

    /// The changes that a text asks for, of a repository with these files.
    pub(crate) fn changes(base_image: &str, files: &[(&str, &str)], text: &str) -> Vec<Change> {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let plan = EnvironmentPlan {
            base_image: base_image.to_owned(),
            ..EnvironmentPlan::default()
        };
        find(&Symptom {
            plan: &plan,
            tree: &Tree::open(folder.path()).unwrap(),
            text,
            source: "build log",
        })
        .into_iter()
        .map(|repair| repair.change)
        .collect()
    }
}
