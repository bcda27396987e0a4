//! Whether what a run says of its tests may be believed.

use crate::{Disputes, StateRun};
use atlas_core::{
    ExitState, LostReason, ParsedLog, ReportAgreement, RunOutcome, StateSummary, TestIds,
    TestStatus, Totals,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is odd about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    /// Markers stand twice, or name another exit code than the sandbox.
    ForgedMarkers,
    /// The run ended before its runner's own end: died, was killed, or its log stops.
    Unfinished,
    /// The runner prints totals, and here it did not.
    TotalsMissing,
    /// The runner's totals are worse than the results that the log names.
    TotalsWorse,
    /// The runner's totals are others than the results that the log names, and not worse.
    TotalsDiffer,
    /// A failing exit code where no test failed and nothing was lost.
    UnexplainedExit,
    /// A successful exit code where tests failed.
    UnexplainedSuccess,
    /// Console and structured report differ.
    ReportDiffers,
    /// Tests that are graded are expected to fail, and are not so with the gold patch.
    ExpectedFailures,
}

/// One thing that is odd about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TamperSignal {
    /// What.
    pub kind: SignalKind,
    /// The same in words, with its numbers.
    pub message: String,
    /// Whether nothing that the run says counts because of it.
    pub decisive: bool,
}

impl TamperSignal {
    /// Whether it tells of meddling, and not only of a run that came to no end.
    pub fn is_tampering(&self) -> bool {
        self.decisive && self.kind != SignalKind::Unfinished
    }
}

/// What is known of a run.
#[derive(Clone, Copy, Debug)]
pub struct BeliefInput<'a> {
    /// The log, parsed.
    pub log: &'a ParsedLog,
    /// How the script ended, where that is known.
    pub exit: Option<ExitState>,
    /// Console against structured report, where there is one.
    pub report: Option<&'a ReportAgreement>,
    /// Where the two contradict each other about single tests.
    pub disputes: Option<&'a Disputes>,
    /// What the markers and the sandbox give away.
    pub tampering: &'a [String],
    /// A run of the same suite that is known to be honest: that with the gold patch. What it did as
    /// well is a habit of the suite and tells nothing.
    pub reference: Option<&'a StateSummary>,
    /// The tests that are graded: where the log names the modules whose processes died, only the tests
    /// of those are in doubt. Without any, all are.
    pub listed: [&'a TestIds; 2],
}

impl<'a> BeliefInput<'a> {
    /// The same for a run whose tests of these lists are graded, beside that with the gold patch.
    pub fn of(
        run: &'a StateRun,
        reference: Option<&'a StateSummary>,
        listed: [&'a TestIds; 2],
    ) -> Self {
        Self {
            log: &run.parsed,
            exit: Some(run.summary.exit),
            report: run.summary.report.as_ref(),
            disputes: Some(&run.disputes),
            tampering: &run.tampering,
            reference,
            listed,
        }
    }
}

/// What is odd about a run. Where one signal is decisive, nothing that the run says counts.
///
/// A run that did not come to its runner's end decides, and so do totals that are missing where the
/// runner prints them, and totals that are worse than what the log names: lines of the tests' own
/// making can only add. An exit code alone decides where there are no totals to ask: a suite that ends
/// with a failing code for a warning or for too little coverage says in its totals that nothing failed.
/// A structured report that says of a graded test that it did not pass decides against a console that says it did:
/// tests print to the console what they like, and the report is the runner's.
/// Nothing here decides that the same suite does with the gold patch.
///
/// It does not see what a program leaves out that controls its whole output, totals included.
pub fn believe(input: &BeliefInput<'_>) -> Vec<TamperSignal> {
    let mut signals: Vec<TamperSignal> = input
        .tampering
        .iter()
        .map(|said| TamperSignal {
            kind: SignalKind::ForgedMarkers,
            message: said.clone(),
            decisive: true,
        })
        .collect();
    signals.extend(unfinished(input));
    signals.extend(totals(input));
    signals.extend(exit(input));
    signals.extend(expected_failures(input));
    if let Some(report) = input.report.filter(|report| !report.agrees) {
        let habit = |summary: &StateSummary| summary.report.as_ref().is_some_and(|r| !r.agrees);
        if !input.reference.is_some_and(habit) {
            signals.extend(contradiction(input));
            let first = report.differences.first().map_or("", String::as_str);
            signals.push(TamperSignal {
                kind: SignalKind::ReportDiffers,
                message: format!("console and {} differ: {first}", report.file),
                decisive: false,
            });
        }
    }
    signals
}

/// A graded test that passes on the console alone.
fn contradiction(input: &BeliefInput<'_>) -> Option<TamperSignal> {
    let tests = input.log.tests();
    let disputed = &input.disputes?.tests;
    let listed = input.listed.iter().copied().flatten();
    let (id, said) = listed
        .filter(|id| tests.get(id).is_some_and(|status| status.is_passing()))
        .find_map(|id| disputed.get_key_value(id))?;
    Some(TamperSignal {
        kind: SignalKind::ReportDiffers,
        message: format!("of `{id}` {said}"),
        decisive: true,
    })
}

/// A test that fails and was expected to counts as passing. Whether it is expected to is the test's to say,
/// not that of the code under test; so there are no more of them than with the gold patch.
fn expected_failures(input: &BeliefInput<'_>) -> Option<TamperSignal> {
    let is_expected = |status: &TestStatus| *status == TestStatus::Xfail;
    let reference = input.reference?;
    let usual = reference
        .counts
        .get(&TestStatus::Xfail)
        .copied()
        .unwrap_or(0);
    let tests = input.log.tests();
    let listed: BTreeSet<&str> = input.listed.iter().copied().flatten().collect();
    let found = listed
        .iter()
        .filter(|id| tests.get(**id).is_some_and(is_expected))
        .count();
    (found > usual).then(|| TamperSignal {
        kind: SignalKind::ExpectedFailures,
        message: format!(
            "{found} of the graded tests are expected to fail, and {usual} tests are with the gold patch"
        ),
        decisive: true,
    })
}

fn is_unfinished(outcome: RunOutcome) -> bool {
    matches!(
        outcome,
        RunOutcome::Crashed | RunOutcome::TimedOut | RunOutcome::Truncated
    )
}

fn unfinished(input: &BeliefInput<'_>) -> Option<TamperSignal> {
    let outcome = match input.exit {
        Some(ExitState::TimedOut) => RunOutcome::TimedOut,
        Some(ExitState::OutOfMemory) => RunOutcome::Crashed,
        _ => input.log.outcome,
    };
    if !is_unfinished(outcome) {
        return None;
    }
    let habit = input
        .reference
        .is_some_and(|run| is_unfinished(run.outcome));
    let how = match (outcome, input.exit) {
        (_, Some(ExitState::OutOfMemory)) => "it was killed for its memory",
        (RunOutcome::TimedOut, _) => "its time was up",
        (RunOutcome::Crashed, _) => "its process died",
        _ => "its log stops",
    };
    Some(TamperSignal {
        kind: SignalKind::Unfinished,
        message: format!("the run did not come to its runner's end: {how}"),
        decisive: !habit && !elsewhere(input),
    })
}

/// Whether only modules died in which no listed test is: the runner of several processes came to its
/// end, and what it says of the others stands.
fn elsewhere(input: &BeliefInput<'_>) -> bool {
    /// 128 + 9: the exit code of a shell whose command was killed.
    const KILLED: i64 = 137;
    let whole = match input.exit {
        Some(ExitState::Exited { code }) => code == KILLED,
        Some(ExitState::TimedOut | ExitState::OutOfMemory) => true,
        None => false,
    };
    let died: BTreeSet<&str> = input
        .log
        .modules_not_loaded
        .iter()
        .filter(|lost| matches!(lost.reason, LostReason::Crashed | LostReason::TimedOut))
        .map(|lost| lost.module.as_str())
        .collect();
    if whole || died.is_empty() || input.log.outcome == RunOutcome::Truncated {
        return false;
    }
    let listed: BTreeSet<&str> = input.listed.iter().copied().flatten().collect();
    let alive = |module: &str| !module.is_empty() && !died.contains(module);
    let mut results = input.log.results.iter();
    !listed.is_empty() && results.all(|test| !listed.contains(test.name) || alive(test.module))
}

/// How many results a log names, each as often as it stands there.
#[derive(Debug, Default)]
struct Named {
    passing: u64,
    failing: u64,
    all: u64,
}

fn named(log: &ParsedLog) -> Named {
    let mut named = Named::default();
    for test in &log.results {
        let seen = u64::from(test.seen);
        named.all += seen;
        if test.status == TestStatus::Passed {
            named.passing += seen;
        } else if test.status.is_failing() {
            named.failing += seen;
        }
    }
    named
}

fn failures(totals: Totals) -> u64 {
    let count = |field: Option<u64>| field.unwrap_or(0);
    count(totals.failed).saturating_add(count(totals.errors))
}

fn totals(input: &BeliefInput<'_>) -> Option<TamperSignal> {
    let Some(totals) = input.log.totals else {
        let habit = input.reference.is_none_or(|run| run.totals.is_none());
        return (!habit && !input.log.is_empty()).then(|| TamperSignal {
            kind: SignalKind::TotalsMissing,
            message: "tests are named, and the totals are missing that the runner prints"
                .to_owned(),
            decisive: true,
        });
    };
    if input.log.consistent != Some(false) {
        return None;
    }
    if input
        .reference
        .is_some_and(|run| run.consistent == Some(false))
    {
        return None;
    }
    let named = named(input.log);
    let fewer = |declared: Option<u64>, found: u64| declared.is_some_and(|said| said < found);
    let hidden = failures(totals) > named.failing;
    let worse = if fewer(totals.passed, named.passing) {
        Some(format!(
            "the log names {} passing tests, the runner counts {}",
            named.passing,
            totals.passed.unwrap_or(0)
        ))
    } else if hidden {
        Some(format!(
            "the log names {} failing tests, the runner counts {}",
            named.failing,
            failures(totals)
        ))
    } else if fewer(totals.total, named.all) {
        Some(format!(
            "the log names {} tests, the runner counts {}",
            named.all,
            totals.total.unwrap_or(0)
        ))
    } else {
        None
    };
    // A module that was lost is counted by some runners as one failure that no test bears.
    let lost = input.log.modules_not_loaded.len() as u64;
    let by_loss = hidden
        && failures(totals).saturating_sub(named.failing) <= lost
        && !fewer(totals.passed, named.passing);
    Some(match worse {
        Some(message) if !by_loss => TamperSignal {
            kind: SignalKind::TotalsWorse,
            message,
            decisive: true,
        },
        _ => TamperSignal {
            kind: SignalKind::TotalsDiffer,
            message: "the log's results and the runner's totals differ".to_owned(),
            decisive: false,
        },
    })
}

fn exit(input: &BeliefInput<'_>) -> Option<TamperSignal> {
    let Some(ExitState::Exited { code }) = input.exit else {
        return None;
    };
    let log = input.log;
    let failing = named(log).failing > 0 || log.totals.is_some_and(|totals| failures(totals) > 0);
    let reference = input.reference.map(|run| match run.exit {
        ExitState::Exited { code } => code,
        ExitState::TimedOut | ExitState::OutOfMemory => -1,
    });
    if code == 0 {
        let failed = |run: &StateSummary| {
            let counts = [TestStatus::Failed, TestStatus::Error];
            counts.iter().any(|status| run.counts.contains_key(status))
        };
        let habit = reference == Some(0) && input.reference.is_some_and(failed);
        return (failing && !habit).then(|| TamperSignal {
            kind: SignalKind::UnexplainedSuccess,
            message: "tests failed and the exit code is 0".to_owned(),
            decisive: false,
        });
    }
    let explained = failing
        || log.is_empty()
        || !log.modules_not_loaded.is_empty()
        || !log.in_flight.is_empty()
        || is_unfinished(log.outcome)
        || reference == Some(code);
    (!explained).then(|| TamperSignal {
        kind: SignalKind::UnexplainedExit,
        message: format!("no test failed and the exit code is {code}"),
        decisive: log.totals.is_none(),
    })
}
