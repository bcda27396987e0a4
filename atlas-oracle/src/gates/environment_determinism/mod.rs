//! The environment must build from scratch, each time, and run Base alike.

use super::{Draft, Gate, last_words, listed};
use crate::flake::Ending;
use crate::grade::differences;
use crate::{StateDifferentialOracle, Variation};
use async_trait::async_trait;
use atlas_core::{
    Candidate, Decision, EnvSynthesizer, EnvironmentLock, Error, Evidence, Overlay, Repository,
    RunContext, Severity, SynthesisOutcome, TestStatus, Validator, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ID: &str = "environment_determinism";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: |all| all.builds.into(),
    make: |parts| {
        Box::new(EnvironmentDeterminism::new(
            parts.evaluator.oracle().clone(),
            Arc::clone(&parts.from_scratch),
            parts.repository.clone(),
            parts.settings.builds,
        ))
    },
};

/// Builds the environment several times from scratch, starts each and runs Base in it (paper 001,
/// section 3.4, layer 1: three of three).
///
/// Rejects where a build fails, no test runs in it, or Base's run does not come to its end: such a build
/// was not seen to work. A test that ends otherwise than in the oracle's Base is set aside. Dependencies that
/// differ from build to build are a warning. Findings: `build_failed`, `does_not_start`,
/// `base_unfinished`, `base_differs`, `dependencies_differ`.
#[derive(Clone, Debug)]
pub struct EnvironmentDeterminism {
    oracle: StateDifferentialOracle,
    from_scratch: Arc<dyn EnvSynthesizer>,
    repository: Repository,
    builds: u32,
}

impl EnvironmentDeterminism {
    /// The paper's number of builds.
    pub const BUILDS: u32 = 3;

    /// The gate for one repository at its base commit. `from_scratch` must build anew each time it
    /// is asked: with a cache the gate says nothing.
    pub fn new(
        oracle: StateDifferentialOracle,
        from_scratch: Arc<dyn EnvSynthesizer>,
        repository: Repository,
        builds: u32,
    ) -> Self {
        Self {
            oracle,
            from_scratch,
            repository,
            builds: builds.max(1),
        }
    }
}

#[async_trait]
impl Validator for EnvironmentDeterminism {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        let transitions = &candidate.oracle.transitions;
        let expected: BTreeMap<&str, TestStatus> = transitions
            .iter()
            .filter_map(|t| Some((t.name.as_str(), t.base?)))
            .collect();
        let in_lists: BTreeSet<&String> = candidate
            .oracle
            .fail_to_pass
            .iter()
            .chain(&candidate.oracle.pass_to_pass)
            .collect();
        let mut locks: Vec<EnvironmentLock> = Vec::new();
        let mut differing: BTreeMap<String, String> = BTreeMap::new();
        let mut good = 0;
        let mut unfinished = 0_u32;
        for build in 1..=self.builds {
            cx.progress
                .phase(&format!("build {build} of {} from scratch", self.builds));
            let environment = match self.from_scratch.synthesize(cx, &self.repository).await? {
                SynthesisOutcome::Ready { environment } => environment,
                SynthesisOutcome::NotBuildable {
                    reason,
                    attempts,
                    evidence,
                    ..
                } => {
                    let failure = attempts.last().and_then(|a| a.failure.as_ref());
                    let proof = failure.map_or(evidence, |f| {
                        let end = f.stderr.lines().chain(f.stdout.lines());
                        let lines: Vec<&str> = end.filter(|l| !l.trim().is_empty()).collect();
                        let mut proof = vec![Evidence::of("failing step", &f.step)];
                        proof.extend(
                            lines[lines.len().saturating_sub(10)..]
                                .iter()
                                .map(|l| Evidence::of(format!("build {build}"), *l)),
                        );
                        proof
                    });
                    draft.find(
                        "build_failed",
                        Severity::Fatal,
                        format!("build {build} of {} from scratch: {reason}", self.builds),
                        proof,
                    );
                    break;
                }
            };
            let (base, label) = (Overlay::default(), format!("Base of build {build}"));
            let files = (&candidate.task.instance_id, &base);
            let run = self
                .oracle
                .run(cx, &environment, files, &label, &Variation::plain(0))
                .await?;
            if run.parsed.is_empty() && !expected.is_empty() && !run.is_unfinished() {
                draft.find(
                    "does_not_start",
                    Severity::Fatal,
                    format!("no test runs in build {build} of {}", self.builds),
                    last_words(&run, &format!("build {build}.log")),
                );
                break;
            }
            if run.is_unfinished() {
                unfinished += 1;
                draft.find(
                    "base_unfinished",
                    Severity::Fatal,
                    format!(
                        "Base was cut short in build {build} of {}, so it says nothing of the build",
                        self.builds
                    ),
                    last_words(&run, &format!("build {build}.log")),
                );
                break;
            }
            for (id, what) in differences(&expected, &run.parsed) {
                let what = format!("{what} in build {build}");
                differing.entry(id).or_insert(what);
            }
            locks.push(environment.lock.clone());
            good += 1;
        }
        draft.measure("builds", self.builds);
        draft.measure("good_builds", good);
        if unfinished > 0 {
            draft.measure("unfinished_runs", unfinished);
        }
        let unlike = drifting(&locks);
        if !unlike.is_empty() {
            draft.find(
                "dependencies_differ",
                Severity::Warning,
                "dependencies differ between builds of the same plan",
                unlike
                    .iter()
                    .take(20)
                    .map(|line| Evidence::of("environment lock", line))
                    .collect(),
            );
        }
        if good < self.builds {
            return Ok(draft.decide(Decision::Reject));
        }
        if !differing.is_empty() {
            draft.find(
                "base_differs",
                Severity::Fatal,
                format!(
                    "{} tests of Base end otherwise in another build of the environment",
                    differing.len()
                ),
                listed("Base", &differing),
            );
        }
        // Only what counts somewhere needs to be set aside; a test that never passes does not.
        let after = |id: &str| {
            let found = transitions.iter().find(|t| t.name == id);
            Ending::of(found.and_then(|t| t.after))
        };
        draft.verdict.quarantine = differing
            .into_iter()
            .filter(|(id, _)| in_lists.contains(id) || after(id) == Ending::Passed)
            .collect();
        let report = &candidate.oracle;
        Ok(draft.by_quarantine(&report.fail_to_pass, &report.pass_to_pass))
    }
}

/// Lines that are in one lock and not in another, each with the builds that have them.
fn drifting(locks: &[EnvironmentLock]) -> Vec<String> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, lock) in locks.iter().enumerate() {
        let tools = lock.tools.iter().map(|(tool, v)| format!("{tool} {v}"));
        let lines: BTreeSet<String> = lock.dependencies.iter().cloned().chain(tools).collect();
        for line in lines {
            found.entry(line).or_default().push(at + 1);
        }
    }
    found
        .into_iter()
        .filter(|(_, builds)| builds.len() < locks.len())
        .map(|(line, builds)| {
            let builds: Vec<String> = builds.iter().map(ToString::to_string).collect();
            format!("{line} only in build {}", builds.join(", "))
        })
        .collect()
}
