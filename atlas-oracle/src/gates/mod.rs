//! Quality gates (paper 001, section 3.4, layers 1 and 2, and what the integrity of a dataset asks
//! for): each a [`Validator`](atlas_core::Validator) in a folder of its own name, for users to
//! compose in any order.
//!
//! Gates share their runs: the same files under the same variation are the same job, so over a
//! sandbox that remembers, the gold patch's run is After's, the empty patch's is Before's, and the
//! first of the repeats is the oracle's own.

mod certificate;
mod environment_determinism;
mod gold_patch;
mod integrity;
mod null_patch;
mod oracle_consistency;
mod strength;
mod test_run;

pub use certificate::ParserCertificate;
pub use environment_determinism::EnvironmentDeterminism;
pub use gold_patch::GoldPatch;
pub use integrity::{Integrity, IntegrityOptions, Leak, leak_of, unnamed_interface};
pub use null_patch::NullPatch;
pub use oracle_consistency::{ConsistencyOptions, OracleConsistency};
pub use strength::{PartStanding, Strength, StrengthOptions, StrengthPart};
pub use test_run::{TestCounter, TestRun, implausible_number};

use crate::{Evaluator, StateRun};
use atlas_core::{
    Decision, EnvSynthesizer, Evidence, Finding, Repository, Sandbox, Severity, Validator, Verdict,
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Every gate shipped with this crate. What is flaky is set aside before a single run decides; what costs
/// most comes last.
pub const GATES: &[Gate] = &[
    certificate::GATE,
    integrity::GATE,
    test_run::GATE,
    oracle_consistency::GATE,
    gold_patch::GATE,
    null_patch::GATE,
    strength::GATE,
    environment_determinism::GATE,
];

/// A quality gate as the list of all gates has it: its name, and how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The name of its folder, of its verdicts, and by which it is asked for.
    pub id: &'static str,
    /// Whether an instance goes through it where no gates are asked for by name.
    pub is_usual: bool,
    /// The settings that its verdict depends on. A verdict of other settings is not used again.
    pub settings: fn(&GateSettings) -> Value,
    /// The gate for one instance.
    pub make: fn(&GateParts) -> Box<dyn Validator>,
}

impl Gate {
    /// The gate of this name.
    pub fn named(id: &str) -> Option<&'static Self> {
        GATES.iter().find(|gate| gate.id == id)
    }

    /// The names of all gates, in the order in which they should run.
    ///
    /// ```
    /// assert!(atlas_oracle::Gate::names().contains(&"gold_patch"));
    /// ```
    pub fn names() -> Vec<&'static str> {
        GATES.iter().map(|gate| gate.id).collect()
    }

    /// The names of the gates that an instance goes through where none are asked for by name.
    ///
    /// ```
    /// assert!(!atlas_oracle::Gate::usual().contains(&"certificate"));
    /// ```
    pub fn usual() -> Vec<&'static str> {
        let usual = GATES.iter().filter(|gate| gate.is_usual);
        usual.map(|gate| gate.id).collect()
    }
}

/// The settings of all gates.
#[derive(Clone, Debug, PartialEq)]
pub struct GateSettings {
    /// Of `oracle_consistency`.
    pub consistency: ConsistencyOptions,
    /// Of `integrity`.
    pub integrity: IntegrityOptions,
    /// Of `strength`.
    pub strength: StrengthOptions,
    /// Runs of the empty prediction, at least one. Default: 1.
    pub null_runs: u32,
    /// Builds from scratch, at least one. Default: 3.
    pub builds: u32,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            consistency: ConsistencyOptions::default(),
            integrity: IntegrityOptions::default(),
            strength: StrengthOptions::default(),
            null_runs: 1,
            builds: EnvironmentDeterminism::BUILDS,
        }
    }
}

/// What the gates of one instance are made of.
#[derive(Clone, Debug)]
pub struct GateParts {
    /// Grades predictions of the instance; its oracle runs states.
    pub evaluator: Evaluator,
    /// Where the environment can be looked into.
    pub sandbox: Arc<dyn Sandbox>,
    /// Builds the environment without any cache, so that each build starts from nothing.
    pub from_scratch: Arc<dyn EnvSynthesizer>,
    /// The repository at the base commit.
    pub repository: Repository,
    /// Counts the tests that sources declare.
    pub counter: Arc<dyn TestCounter>,
    /// Settings of all gates.
    pub settings: GateSettings,
}

/// For gates that have no settings.
fn no_settings(_: &GateSettings) -> Value {
    Value::Null
}

/// A verdict in the making.
struct Draft {
    verdict: Verdict,
}

impl Draft {
    fn new(gate: &str) -> Self {
        Self {
            verdict: Verdict {
                validator: gate.to_owned(),
                decision: Decision::Accept,
                findings: Vec::new(),
                quarantine: BTreeMap::new(),
                measurements: Map::new(),
            },
        }
    }

    fn find(
        &mut self,
        code: &str,
        severity: Severity,
        message: impl Into<String>,
        evidence: Vec<Evidence>,
    ) {
        self.verdict.findings.push(Finding {
            code: code.to_owned(),
            severity,
            message: message.into(),
            evidence,
        });
    }

    fn measure(&mut self, name: &str, value: impl Into<Value>) {
        self.verdict
            .measurements
            .insert(name.to_owned(), value.into());
    }

    fn decide(mut self, decision: Decision) -> Verdict {
        self.verdict.decision = decision;
        self.verdict
    }

    /// The decision that a quarantine asks for: nothing of the lists is in it, some is, or all that
    /// defines the task.
    fn by_quarantine(self, fail_to_pass: &[String], pass_to_pass: &[String]) -> Verdict {
        let set_aside = |id: &String| self.verdict.quarantine.contains_key(id);
        let decision = if !fail_to_pass.is_empty() && fail_to_pass.iter().all(set_aside) {
            Decision::Reject
        } else if fail_to_pass.iter().chain(pass_to_pass).any(set_aside) {
            Decision::Repair
        } else {
            Decision::Accept
        };
        self.decide(decision)
    }
}

/// The first of some lines, each with the name of what it is about.
fn listed<'a>(
    source: &str,
    lines: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<Evidence> {
    const MOST: usize = 20;
    lines
        .into_iter()
        .take(MOST)
        .map(|(id, what)| Evidence::of(source, format!("{id}: {what}")))
        .collect()
}

/// The end of a run's log, for a run that says nothing else.
fn last_words(run: &StateRun, source: &str) -> Vec<Evidence> {
    const LINES: usize = 8;
    let text = String::from_utf8_lossy(&run.log);
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let end = lines[lines.len().saturating_sub(LINES)..]
        .iter()
        .map(|(at, line)| Evidence::at(source, at + 1, *line));
    let faults = run.faults.iter().map(|fault| Evidence::of(source, fault));
    end.chain(faults).collect()
}

fn reasons_as_evidence(reasons: &[String]) -> Vec<Evidence> {
    reasons
        .iter()
        .map(|reason| Evidence::of("git apply", reason))
        .collect()
}

fn json<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
