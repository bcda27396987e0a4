//! What running tests on a patch has shown, given as data.

use atlas_core::Patch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How a test target ended in one state of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOutcome {
    /// Built, and every test passed.
    Passed,
    /// Built, and a test failed.
    Failed,
    /// Could not be built.
    NotBuilt,
    /// Was not run, or nobody knows.
    NotRun,
}

/// One test target: a Bazel target, a package, a test file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestTarget {
    /// Its name.
    pub name: String,
    /// Files that it depends on directly, from the repository's root.
    pub direct_dependencies: BTreeSet<String>,
    /// Without the patch.
    pub before: TargetOutcome,
    /// With the patch.
    pub after: TargetOutcome,
}

/// The test that reproduces the bug, where one is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reproduction {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// With the patch.
    pub after: TargetOutcome,
}

/// What is known about tests. Whoever ran them fills this in; nothing is run here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestFacts {
    /// Test targets.
    pub targets: Vec<TestTarget>,
    /// The reproduction test: its result stands in place of all targets (paper 002, section 3.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reproduction: Option<Reproduction>,
}

/// What the facts say about a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Regression {
    /// Nothing got worse; how many targets tell so.
    None(usize),
    /// Something did.
    Found(Vec<String>),
    /// Nothing that was run has to do with the patch.
    Unknown(String),
}

impl TestFacts {
    /// Whether the patch breaks something: the reproduction test if there is one, else the targets that
    /// depend directly on a modified file.
    pub(super) fn regression(&self, patch: &Patch) -> Regression {
        if let Some(test) = &self.reproduction {
            return match test.after {
                TargetOutcome::Passed => Regression::None(1),
                TargetOutcome::NotRun => {
                    Regression::Unknown("the reproduction test was not run".to_owned())
                }
                other => Regression::Found(vec![format!(
                    "reproduction test `{}`: {}",
                    test.name,
                    word(other)
                )]),
            };
        }
        let files = modified(patch);
        let near: Vec<&TestTarget> = self
            .targets
            .iter()
            .filter(|target| !target.direct_dependencies.is_disjoint(&files))
            .collect();
        let worse: Vec<String> = near
            .iter()
            .filter(|target| is_worse(target.before, target.after))
            .map(|target| {
                format!(
                    "target `{}`: {} before, {} with the patch",
                    target.name,
                    word(target.before),
                    word(target.after)
                )
            })
            .collect();
        let known = near
            .iter()
            .filter(|target| target.after != TargetOutcome::NotRun)
            .count();
        if !worse.is_empty() {
            Regression::Found(worse)
        } else if known == 0 {
            Regression::Unknown(format!(
                "of {} test targets none that was run depends directly on a modified file",
                self.targets.len()
            ))
        } else {
            Regression::None(known)
        }
    }
}

/// Worse than before: it passed and does not, or it was built and is not. A target that nobody ran
/// before counts as one that passed, since what is broken with the patch has to be explained by it.
fn is_worse(before: TargetOutcome, after: TargetOutcome) -> bool {
    use TargetOutcome::{Failed, NotBuilt, NotRun, Passed};
    matches!(
        (before, after),
        (Passed | NotRun, Failed) | (Passed | Failed | NotRun, NotBuilt)
    )
}

/// Every path that the patch touches, under its old and its new name.
fn modified(patch: &Patch) -> BTreeSet<String> {
    patch
        .files()
        .unwrap_or_default()
        .iter()
        .flat_map(|file| file.paths().map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

fn word(outcome: TargetOutcome) -> &'static str {
    match outcome {
        TargetOutcome::Passed => "passed",
        TargetOutcome::Failed => "failed",
        TargetOutcome::NotBuilt => "could not be built",
        TargetOutcome::NotRun => "was not run",
    }
}
