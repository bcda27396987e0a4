//! Why a prediction is not resolved, and whose doing that is.

use crate::{Grade, InfraTier, TamperSignal, classify_infra};
use atlas_core::{Evidence, ExitState, ParsedLog, RunOutcome, TestStatus};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a prediction is not resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The prediction does not solve the task, or is empty.
    Model,
    /// The prediction is no patch, or does not fit on the base commit.
    PatchFormat,
    /// The tests that are missed do not test the task: they pass without any patch.
    WeakTest,
    /// The log was not understood: its tests are not read, though its runner says that they passed.
    Parser,
    /// The place does not run the task: the gold patch fails here as well, or the machine broke.
    Environment,
    /// The grading itself failed.
    Harness,
    /// The tests that are missed are known to fail now and then.
    Flaky,
    /// The run meddled with its own verdict.
    Tampered,
}

impl Cause {
    /// Whether the failure counts against the model. Causes that do not are 0 in the lower bound of a
    /// score and 1 in the upper.
    pub fn is_the_models(self) -> bool {
        match self {
            Self::Model | Self::PatchFormat | Self::WeakTest | Self::Tampered => true,
            Self::Parser | Self::Environment | Self::Harness | Self::Flaky => false,
        }
    }

    /// Its word: `patch_format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::PatchFormat => "patch_format",
            Self::WeakTest => "weak_test",
            Self::Parser => "parser",
            Self::Environment => "environment",
            Self::Harness => "harness",
            Self::Flaky => "flaky",
            Self::Tampered => "tampered",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What the gold patch did in this place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum GoldHere {
    /// Nobody tried.
    #[default]
    Unknown,
    /// It resolves the instance.
    Good,
    /// It does not fit on the base commit, or its run did not come to an end.
    Broken(String),
    /// It misses these tests of the lists.
    Misses(BTreeSet<String>),
}

/// A run of a prediction, as far as its failure is explained.
#[derive(Clone, Copy, Debug)]
pub struct RunFacts<'a> {
    /// How it was graded.
    pub grade: &'a Grade,
    /// Its log, parsed.
    pub parsed: &'a ParsedLog,
    /// Its log as bytes, in which signs of a broken machine are looked for. May be empty.
    pub log: &'a [u8],
    /// How the script ended, where that is known.
    pub exit: Option<ExitState>,
    /// What is odd about it.
    pub signals: &'a [TamperSignal],
}

/// Everything that is known of a prediction that is not resolved.
#[derive(Clone, Debug, Default)]
pub struct CauseInput<'a> {
    /// What went wrong in the grading itself: a parser that raises, an engine that died.
    pub harness_fault: Option<&'a str>,
    /// Whether the prediction is empty.
    pub empty: bool,
    /// What was said to the patch where it did not fit; absent where it did.
    pub not_applied: Option<&'a [String]>,
    /// What the gold patch did here.
    pub gold: GoldHere,
    /// Its run; absent where there was none.
    pub run: Option<RunFacts<'a>>,
    /// Tests that are known to be unstable, and how that shows.
    pub flaky: Option<&'a BTreeMap<String, String>>,
    /// Tests of `FAIL_TO_PASS` that pass without any patch.
    pub passing_without_patch: &'a [String],
}

/// The most tests and lines that are named.
const MAX_EVIDENCE: usize = 20;

/// Why a prediction is not resolved, with what shows it. The first that holds of: the grading failed;
/// the patch is empty or does not fit; the run was tampered with; the gold patch does no better here;
/// the machine broke; the log was not understood; the tests are unstable; they do not test the task;
/// and else the model.
///
/// Where nobody tried the gold patch here, a run that ended at a limit is the environment's: the
/// bounds of a score must hold the truth. Where the gold patch is known to be good, it is the model's.
pub fn attribute(input: &CauseInput<'_>) -> (Cause, Vec<Evidence>) {
    if let Some(fault) = input.harness_fault {
        return (Cause::Harness, vec![Evidence::of("grading", fault)]);
    }
    if input.empty {
        let said = "the prediction is empty";
        return (Cause::Model, vec![Evidence::of("model_patch", said)]);
    }
    if let Some(reasons) = input.not_applied {
        return not_applied(input, reasons);
    }
    let Some(run) = &input.run else {
        let said = "the prediction was not run, and nobody says why";
        return (Cause::Harness, vec![Evidence::of("grading", said)]);
    };
    let tampering: Vec<Evidence> = run
        .signals
        .iter()
        .filter(|signal| signal.is_tampering())
        .map(|signal| Evidence::of("log", &signal.message))
        .collect();
    if !tampering.is_empty() {
        return (Cause::Tampered, tampering);
    }
    let missed: Vec<&str> = [&run.grade.fail_to_pass, &run.grade.pass_to_pass]
        .into_iter()
        .flat_map(|list| &list.failure)
        .collect();
    let known = |id: &str| input.flaky.and_then(|flaky| flaky.get(id));
    let gold = as_with_gold(input, &missed, &|id| known(id).is_some());
    gold.or_else(|| broken_machine(input, run))
        .or_else(|| misread(run, &missed))
        .or_else(|| {
            let all = !missed.is_empty() && missed.iter().all(|id| known(id).is_some());
            let named = |id: &&str| {
                let how = known(id).map_or("", String::as_str);
                Evidence::of("unstable tests", format!("{id}: {how}"))
            };
            all.then(|| {
                let evidence = missed.iter().take(MAX_EVIDENCE).map(named).collect();
                (Cause::Flaky, evidence)
            })
        })
        .or_else(|| weak(input, &missed))
        .unwrap_or_else(|| (Cause::Model, named(run, &missed)))
}

fn not_applied(input: &CauseInput<'_>, reasons: &[String]) -> (Cause, Vec<Evidence>) {
    if let GoldHere::Broken(how) = &input.gold {
        let said = format!("the gold patch does no better: {how}");
        return (Cause::Environment, vec![Evidence::of("gold patch", said)]);
    }
    let said = reasons.iter().take(MAX_EVIDENCE);
    let evidence = said.map(|line| Evidence::of("git apply", line)).collect();
    (Cause::PatchFormat, evidence)
}

/// The gold patch fails here as well, in all that the prediction misses.
fn as_with_gold(
    input: &CauseInput<'_>,
    missed: &[&str],
    is_flaky: &dyn Fn(&str) -> bool,
) -> Option<(Cause, Vec<Evidence>)> {
    match &input.gold {
        GoldHere::Unknown | GoldHere::Good => None,
        GoldHere::Broken(how) => Some((Cause::Environment, vec![Evidence::of("gold patch", how)])),
        GoldHere::Misses(tests) => {
            let own = missed
                .iter()
                .any(|id| !tests.contains(*id) && !is_flaky(id));
            if own || missed.is_empty() {
                return None;
            }
            let shared: Vec<&&str> = missed.iter().filter(|id| tests.contains(**id)).collect();
            if shared.is_empty() {
                return None;
            }
            // Tests that are missed by the gold patch and known to be unstable say nothing of the place.
            let cause = if shared.iter().all(|id| is_flaky(id)) {
                Cause::Flaky
            } else {
                Cause::Environment
            };
            let named = |id: &&&str| Evidence::of("gold patch", format!("{id}: missed here, too"));
            Some((cause, shared.iter().take(MAX_EVIDENCE).map(named).collect()))
        }
    }
}

/// The run ended at a limit, or its log shows that the machine broke. A test that failed by name has
/// its reason in itself, unless nobody knows that it passes here with the gold patch.
fn broken_machine(input: &CauseInput<'_>, run: &RunFacts<'_>) -> Option<(Cause, Vec<Evidence>)> {
    let fits = input.gold == GoldHere::Good;
    let by_name = !run.grade.failed_by_name.is_empty();
    let limit = match run.exit {
        _ if by_name => None,
        Some(ExitState::TimedOut) => Some("the run was killed at its time limit"),
        Some(ExitState::OutOfMemory) => Some("the run was killed at its memory limit"),
        _ if run.parsed.outcome == RunOutcome::TimedOut => Some("the run reached a time limit"),
        _ => None,
    };
    if let Some(limit) = limit {
        let (cause, known) = if fits {
            (Cause::Model, "the gold patch stays within it here")
        } else {
            let said = "nobody knows whether the gold patch stays within it here";
            (Cause::Environment, said)
        };
        let evidence = vec![
            Evidence::of("run", limit),
            Evidence::of("gold patch", known),
        ];
        return Some((cause, evidence));
    }
    if by_name && fits {
        return None;
    }
    let found = classify_infra(&[run.log]).filter(|found| found.tier == InfraTier::Environment);
    if let Some(found) = found {
        let said = format!("a sign of a broken machine: {}", found.reason);
        return Some((Cause::Environment, vec![Evidence::of("log", said)]));
    }
    let nothing = run.parsed.is_empty() && run.parsed.outcome != RunOutcome::Completed;
    (nothing && input.gold == GoldHere::Unknown).then(|| {
        let said = "no test ran, and nobody knows whether any does with the gold patch";
        (Cause::Environment, vec![Evidence::of("log", said)])
    })
}

/// Nothing in the log says that a missed test failed, and its runner says that all is well.
fn misread(run: &RunFacts<'_>, missed: &[&str]) -> Option<(Cause, Vec<Evidence>)> {
    let tests = run.parsed.tests();
    if missed.is_empty() || missed.iter().any(|id| tests.contains_key(id)) {
        return None;
    }
    let totals = run.parsed.totals.unwrap_or_default();
    let failures = totals.failed.unwrap_or(0) + totals.errors.unwrap_or(0);
    let success = run.exit == Some(ExitState::Exited { code: 0 });
    let seen = run.parsed.results.iter();
    let passing: u64 = seen
        .filter(|test| test.status == TestStatus::Passed)
        .map(|test| u64::from(test.seen))
        .sum();
    let unread = totals.passed.is_some_and(|passed| passed > passing);
    if failures == 0 && unread {
        let said = format!(
            "the runner counts {} passing tests and the log names {passing} of them",
            totals.passed.unwrap_or(0)
        );
        return Some((Cause::Parser, vec![Evidence::of("log", said)]));
    }
    let silent = run.parsed.is_empty() && !run.log.trim_ascii().is_empty();
    (silent && success && run.parsed.modules_not_loaded.is_empty()).then(|| {
        let said = "the run ended well and printed something, and no test was read";
        (Cause::Parser, vec![Evidence::of("log", said)])
    })
}

fn weak(input: &CauseInput<'_>, missed: &[&str]) -> Option<(Cause, Vec<Evidence>)> {
    let weak = |id: &&str| {
        input
            .passing_without_patch
            .iter()
            .any(|passing| passing == id)
    };
    (!missed.is_empty() && missed.iter().all(weak)).then(|| {
        let said =
            |id: &&str| Evidence::of("FAIL_TO_PASS", format!("{id}: passes without any patch"));
        (
            Cause::WeakTest,
            missed.iter().take(MAX_EVIDENCE).map(said).collect(),
        )
    })
}

/// The missed tests with what the log says of them.
fn named(run: &RunFacts<'_>, missed: &[&str]) -> Vec<Evidence> {
    let tests = run.parsed.tests();
    let mut evidence: Vec<Evidence> = missed
        .iter()
        .take(MAX_EVIDENCE)
        .map(|id| {
            let status = tests
                .get(id)
                .map_or_else(|| "not in the log".to_owned(), ToString::to_string);
            Evidence::of("log", format!("{id}: {status}"))
        })
        .collect();
    let lost = run.parsed.modules_not_loaded.iter().take(5);
    evidence.extend(lost.map(|lost| Evidence::of("log", format!("{}: did not run", lost.module))));
    evidence
}
