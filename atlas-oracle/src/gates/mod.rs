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
pub use test_run::{TestRun, implausible_number};

use crate::StateRun;
use atlas_core::{Decision, Evidence, Finding, Severity, Verdict};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Every gate shipped with this crate. The name of a gate is that of its folder. What is flaky is set
/// aside before a single run decides; what costs most comes last.
pub const GATES: &[&str] = &[
    certificate::ID,
    integrity::ID,
    test_run::ID,
    oracle_consistency::ID,
    gold_patch::ID,
    null_patch::ID,
    strength::ID,
    environment_determinism::ID,
];

/// The gates that an instance goes through where nothing else is asked for: all but those that decide
/// by what a row only reports.
pub const USUAL_GATES: &[&str] = GATES.split_at(1).1;

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
