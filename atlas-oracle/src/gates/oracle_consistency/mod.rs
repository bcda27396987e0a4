//! Repeated and perturbed runs of After must say the same.

use super::{Draft, Gate, json, last_words, listed};
use crate::flake::{Ending, Repeats, pass_rate, tally};
use crate::{
    Perturbation, SequentialTest, Stability, StateDifferentialOracle, StateRun, Variation,
    detectable_fail_rate, miss_probability,
};
use async_trait::async_trait;
use atlas_core::{Candidate, Decision, Error, Evidence, RunContext, Severity, Validator, Verdict};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const ID: &str = "oracle_consistency";

pub(super) const GATE: Gate = Gate {
    id: ID,
    is_usual: true,
    settings: |all| {
        let of = &all.consistency;
        let asked: Vec<&String> = of.perturbations.iter().map(|one| &one.id).collect();
        json!([
            of.runs,
            of.perturbed_runs,
            asked,
            of.unknown,
            of.sequential,
            of.power,
            of.set_aside_flaky
        ])
    },
    make: |parts| {
        let oracle = parts.evaluator.oracle().clone();
        Box::new(OracleConsistency::new(
            oracle,
            parts.settings.consistency.clone(),
        ))
    },
};

/// The confidence of the intervals that the gate gives.
const CONFIDENCE: f64 = 0.95;

/// What may be defaulted.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsistencyOptions {
    /// Identical runs of After, at least one. Default: 3 (paper 001, section 3.4, layer 2).
    pub runs: u32,
    /// Ways in which further runs differ, each run at least once. Default: none.
    pub perturbations: Vec<Perturbation>,
    /// Names of perturbations that were asked for and that the runner has no switch for. Default: none.
    pub unknown: Vec<String>,
    /// Runs under each perturbation. Default: 1.
    pub perturbed_runs: u32,
    /// Stops identical runs as soon as every test of the lists is decided, or nothing is left that
    /// defines the task. Default: all runs are made.
    pub sequential: Option<SequentialTest>,
    /// How many runs go on at once. More than one puts load on the machine, which is a perturbation
    /// of its own. Default: 1.
    pub concurrency: usize,
    /// The power that the stated fail rate is for. Default: 0.95.
    pub power: f64,
    /// Whether an instance is kept without the tests of its lists that differ between identical runs, as
    /// long as one is left that defines the task. Default: no, it is rejected, as the paper has it.
    pub set_aside_flaky: bool,
}

impl Default for ConsistencyOptions {
    fn default() -> Self {
        Self {
            runs: 3,
            perturbations: Vec::new(),
            unknown: Vec::new(),
            perturbed_runs: 1,
            sequential: None,
            concurrency: 1,
            power: 0.95,
            set_aside_flaky: false,
        }
    }
}

/// Runs After several times as it is and under perturbations. Instances are kept only where the tests of
/// their lists end alike in all identical runs (paper 001, section 3.4, layer 2); one of which a run was cut
/// short was not seen to.
///
/// A test that differs between identical runs is flaky; its pass probability stands in the
/// measurements with its interval. One that differs only under a perturbation is run under it once
/// more: if it differs again it depends on what was perturbed, else it is flaky, and both are set aside.
/// Flaky tests outside the lists are set aside, too. The verdict states
/// what the number of runs could have missed. A run that was cut short says nothing of the tests that it
/// does not name. Findings: `flaky`, `unfinished`, `depends_on_<perturbation>`, `differed_once`,
/// `nothing_ran`, `not_decided`, `tampered`, `perturbation_without_result`, `perturbation_unknown`, `options`.
#[derive(Clone, Debug)]
pub struct OracleConsistency {
    oracle: StateDifferentialOracle,
    options: ConsistencyOptions,
}

impl OracleConsistency {
    /// The gate for instances of this oracle.
    pub fn new(oracle: StateDifferentialOracle, options: ConsistencyOptions) -> Self {
        Self { oracle, options }
    }

    async fn after(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        variation: Variation,
        label: String,
    ) -> Result<StateRun, Error> {
        let files = (&candidate.task.instance_id, &candidate.task.after);
        self.oracle
            .run(cx, &candidate.environment, files, &label, &variation)
            .await
    }

    /// The identical runs, as many as are needed.
    async fn repeats(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        draft: &mut Draft,
    ) -> Result<Repeats, Error> {
        let wanted = self.options.runs.max(1);
        let mut repeats = Repeats::default();
        let mut unfinished = 0_u32;
        let runs = (0..wanted).map(|repeat| {
            let label = format!("After, run {} of {wanted}", repeat + 1);
            self.after(cx, candidate, Variation::plain(repeat), label)
        });
        let mut runs = futures_util::stream::iter(runs).buffered(self.options.concurrency.max(1));
        while let Some(run) = runs.next().await {
            let run = run?;
            if run.parsed.is_empty() {
                draft.find(
                    "nothing_ran",
                    if run.is_unfinished() {
                        Severity::Warning
                    } else {
                        Severity::Fatal
                    },
                    format!(
                        "run {} of After names no test: it ended as {:?}",
                        repeats.runs() + 1,
                        run.parsed.outcome
                    ),
                    last_words(&run, "After.log"),
                );
            }
            if run.is_unfinished() {
                unfinished += 1;
            }
            if !run.tampering.is_empty() {
                draft.find(
                    "tampered",
                    Severity::Fatal,
                    format!(
                        "run {} of After meddled with its own verdict",
                        repeats.runs() + 1
                    ),
                    text_of(&run.tampering),
                );
            }
            repeats.add(&run.parsed, run.is_unfinished());
            let stop = self.options.sequential.and_then(|test| {
                let runs = repeats.runs();
                stop_reason(test, &repeats, candidate)
                    .map(|why| format!("after {runs} runs: {why}"))
            });
            if let Some(why) = stop.filter(|_| repeats.runs() < wanted) {
                draft.measure("stopped_early", why);
                break;
            }
        }
        if unfinished > 0 {
            draft.measure("unfinished_runs", unfinished);
            draft.find(
                "unfinished",
                Severity::Fatal,
                format!(
                    "{unfinished} of {} runs of After were cut short: they are not known to end alike",
                    repeats.runs()
                ),
                Vec::new(),
            );
        }
        Ok(repeats)
    }

    /// The tests that end otherwise under one perturbation than always without, with the tally.
    async fn perturbed(
        &self,
        cx: &RunContext,
        candidate: &Candidate,
        (perturbation, plain): (&Perturbation, &Repeats),
        draft: &mut Draft,
    ) -> Result<(), Error> {
        let id = &perturbation.id;
        let stable: BTreeMap<&str, Ending> = plain.alike().collect();
        let wanted = self.options.perturbed_runs.max(1);
        let mut found: BTreeMap<String, Vec<Ending>> = BTreeMap::new();
        let mut counted = 0;
        // One more where something differs, to tell what depends on it from what merely happened.
        let mut most = wanted;
        let mut repeat = 0;
        while repeat < most {
            let label = format!("After under `{id}`, run {}", repeat + 1);
            let variation = Variation::of(perturbation, repeat);
            let run = self.after(cx, candidate, variation, label).await?;
            repeat += 1;
            if run.parsed.is_empty() || run.is_unfinished() {
                draft.find(
                    "perturbation_without_result",
                    Severity::Warning,
                    format!(
                        "run {repeat} under `{id}` did not come to its end, so it says nothing"
                    ),
                    last_words(&run, &format!("{id}.log")),
                );
                continue;
            }
            let tests = run.parsed.tests();
            for (&test, &usual) in &stable {
                let ending = Ending::of(tests.get(test).copied());
                if ending != usual && !found.contains_key(test) {
                    found.insert(test.to_owned(), vec![usual; counted]);
                }
            }
            for (test, endings) in &mut found {
                endings.push(Ending::of(tests.get(test.as_str()).copied()));
            }
            counted += 1;
            if !found.is_empty() && most == wanted {
                most = wanted.max(2);
            }
        }
        let mut dependent = BTreeMap::new();
        let mut once = BTreeMap::new();
        for (test, endings) in found {
            let usual = stable.get(test.as_str()).copied();
            let times = endings.iter().filter(|e| Some(**e) != usual).count();
            let said = format!(
                "{} runs under `{id}`; always {} in {} without",
                tally(&endings),
                usual.map_or("absent", Ending::name),
                plain.runs()
            );
            let reason = if times > 1 {
                dependent.insert(test.clone(), said.clone());
                format!("depends on {id}: {said}")
            } else {
                once.insert(test.clone(), said.clone());
                format!("flaky: differed once: {said}")
            };
            draft.verdict.quarantine.entry(test).or_insert(reason);
        }
        if !once.is_empty() {
            draft.find(
                "differed_once",
                Severity::Fatal,
                format!(
                    "{} tests differed in one run under `{id}` and not again",
                    once.len()
                ),
                listed("After", &once),
            );
        }
        if !dependent.is_empty() {
            draft.find(
                &format!("depends_on_{id}"),
                Severity::Fatal,
                format!("{} tests end otherwise under `{id}`", dependent.len()),
                listed("After", &dependent),
            );
        }
        Ok(())
    }
}

impl ConsistencyOptions {
    /// Whether what is tolerated explains these endings of one test.
    fn tolerates(&self, endings: &[Ending]) -> bool {
        self.sequential.is_some_and(|test| {
            test.tolerated > 0.0 && standing(test, endings) == Stability::Stable
        })
    }
}

/// What is known of a test after these endings. Deviations are those from the commonest ending.
fn standing(test: SequentialTest, endings: &[Ending]) -> Stability {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let of = |ending: &Ending| endings.iter().filter(|other| *other == ending).count();
    let commonest = endings.iter().map(of).max().unwrap_or(0);
    // The first run is what the others are compared with.
    let runs = count(endings.len()).saturating_sub(1);
    test.decide(count(endings.len() - commonest), runs)
}

/// Why no further identical run is needed, if so.
fn stop_reason(test: SequentialTest, repeats: &Repeats, candidate: &Candidate) -> Option<String> {
    let report = &candidate.oracle;
    let standing = |id: &String| standing(test, &repeats.of(id));
    let defining = &report.fail_to_pass;
    if !defining.is_empty()
        && defining
            .iter()
            .all(|id| standing(id) == Stability::Unstable)
    {
        return Some("every test of FAIL_TO_PASS is unstable".to_owned());
    }
    let mut all = defining.iter().chain(&report.pass_to_pass);
    all.all(|id| standing(id) != Stability::Open).then(|| {
        format!(
            "every test of the lists is decided for a rate of {}",
            test.rate
        )
    })
}

fn text_of(lines: &[String]) -> Vec<Evidence> {
    lines
        .iter()
        .map(|line| Evidence::of("After.log", line))
        .collect()
}

#[async_trait]
impl Validator for OracleConsistency {
    fn id(&self) -> &str {
        ID
    }

    async fn validate(&self, cx: &RunContext, candidate: &Candidate) -> Result<Verdict, Error> {
        let mut draft = Draft::new(ID);
        if self.options.sequential.is_some_and(|test| !test.is_sound()) {
            draft.find(
                "options",
                Severity::Fatal,
                "the sequential test's rates are no probabilities in order: tolerated < rate, \
                 miss + false_alarm < 1",
                Vec::new(),
            );
            return Ok(draft.decide(Decision::NoEvidence));
        }
        let report = &candidate.oracle;
        let plain = self.repeats(cx, candidate, &mut draft).await?;
        let in_lists: BTreeSet<&String> = report
            .fail_to_pass
            .iter()
            .chain(&report.pass_to_pass)
            .collect();
        let mut rates = Map::new();
        let mut flaky = BTreeMap::new();
        for (id, endings) in plain.differing() {
            if self.options.tolerates(&endings) {
                continue;
            }
            let rate = pass_rate(&endings);
            let interval = rate.interval(CONFIDENCE);
            let said = format!(
                "{} runs; pass probability {:.3} to {:.3}",
                tally(&endings),
                interval.low,
                interval.high
            );
            rates.insert(
                id.to_owned(),
                json!({
                    "passes": rate.passes,
                    "runs": rate.runs,
                    "low": interval.low,
                    "high": interval.high,
                    "in_lists": in_lists.contains(&id.to_owned()),
                }),
            );
            flaky.insert(id.to_owned(), said.clone());
            draft
                .verdict
                .quarantine
                .insert(id.to_owned(), format!("flaky: {said}"));
        }
        if !flaky.is_empty() {
            draft.find(
                "flaky",
                Severity::Fatal,
                format!(
                    "{} tests do not end alike in {} identical runs",
                    flaky.len(),
                    plain.runs()
                ),
                listed("After", &flaky),
            );
        }
        for perturbation in &self.options.perturbations {
            self.perturbed(cx, candidate, (perturbation, &plain), &mut draft)
                .await?;
        }
        if !self.options.unknown.is_empty() {
            draft.find(
                "perturbation_unknown",
                Severity::Note,
                format!(
                    "the runner has no switch from outside for: {}",
                    self.options.unknown.join(", ")
                ),
                Vec::new(),
            );
            draft.measure(
                "perturbations_unknown_to_the_runner",
                json(&self.options.unknown),
            );
        }
        if let Some(test) = self.options.sequential {
            let open = in_lists
                .iter()
                .filter(|id| standing(test, &plain.of(id)) == Stability::Open)
                .count();
            if open > 0 {
                draft.find(
                    "not_decided",
                    Severity::Warning,
                    format!(
                        "{} runs are too few to decide {open} tests for a rate of {}: {} are needed",
                        plain.runs(),
                        test.rate,
                        test.runs_if_stable() + 1
                    ),
                    Vec::new(),
                );
            }
        }
        draft.measure("runs", plain.runs());
        draft.measure("tests", plain.tests());
        draft.measure("interval_confidence", CONFIDENCE);
        draft.measure("flaky", Value::Object(rates));
        draft.measure("power", power(plain.runs(), self.options.power));
        draft.measure(
            "perturbations",
            json(
                &self
                    .options
                    .perturbations
                    .iter()
                    .map(|p| &p.id)
                    .collect::<Vec<_>>(),
            ),
        );
        let has = |code: &str| draft.verdict.findings.iter().any(|f| f.code == code);
        if has("tampered") {
            return Ok(draft.decide(Decision::Reject));
        }
        if plain.tests() == 0 {
            return Ok(draft.decide(Decision::NoEvidence));
        }
        let is_flaky = in_lists.iter().any(|id| flaky.contains_key(*id));
        if has("unfinished") || (is_flaky && !self.options.set_aside_flaky) {
            return Ok(draft.decide(Decision::Reject));
        }
        Ok(draft.by_quarantine(&report.fail_to_pass, &report.pass_to_pass))
    }
}

/// What so many identical runs can find, and what they miss.
fn power(runs: u32, power: f64) -> Value {
    let missed: Map<String, Value> = [0.01, 0.05, 0.1, 0.2, 0.5]
        .iter()
        .map(|rate| (rate.to_string(), json!(miss_probability(*rate, runs))))
        .collect();
    json!({
        "power": power,
        "finds_fail_rates_from": detectable_fail_rate(runs, power),
        "probability_of_missing_fail_rate": missed,
    })
}
