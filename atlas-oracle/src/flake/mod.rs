//! What repeated runs say of each test, and how much they can say.

mod rate;
mod sequential;

pub use rate::{Interval, PassRate, detectable_fail_rate, miss_probability, runs_to_find};
pub use sequential::{SequentialTest, Stability};

use atlas_core::{ParsedLog, RunOutcome, State, TestStatus};
use std::collections::BTreeMap;

/// How a test ended, as far as a grader tells results apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Passed,
    Failed,
    Skipped,
    Absent,
    /// The run was cut short before the log named the test.
    Unknown,
}

impl Ending {
    pub(crate) fn of(status: Option<TestStatus>) -> Self {
        match status {
            None => Self::Absent,
            Some(TestStatus::Skipped) => Self::Skipped,
            Some(status) if status.is_passing() => Self::Passed,
            Some(_) => Self::Failed,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passing",
            Self::Failed => "failing",
            Self::Skipped => "skipped",
            Self::Absent => "absent",
            Self::Unknown => "unknown",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passes",
            Self::Failed => "fails",
            Self::Skipped => "is skipped",
            Self::Absent => "is not in the log",
            Self::Unknown => "is not known",
        }
    }
}

/// Every test of several runs of the same files: how it ended in each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    /// Per run, how a test ended that its log does not name.
    unnamed: Vec<Ending>,
    endings: BTreeMap<String, Vec<Ending>>,
}

impl Repeats {
    /// One more run. Where it is `unfinished`, what its log does not name is not known.
    pub(crate) fn add(&mut self, log: &ParsedLog, unfinished: bool) {
        let unnamed = if unfinished {
            Ending::Unknown
        } else {
            Ending::Absent
        };
        let tests = log.tests();
        for (id, endings) in &mut self.endings {
            let status = tests.get(id.as_str()).copied();
            endings.push(status.map_or(unnamed, |status| Ending::of(Some(status))));
        }
        for (id, status) in tests {
            if !self.endings.contains_key(id) {
                let mut endings = self.unnamed.clone();
                endings.push(Ending::of(Some(status)));
                self.endings.insert(id.to_owned(), endings);
            }
        }
        self.unnamed.push(unnamed);
    }

    pub(crate) fn runs(&self) -> u32 {
        u32::try_from(self.unnamed.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn tests(&self) -> usize {
        self.endings.len()
    }

    /// The tests that did not end in the same way each time, as far as that is known.
    pub(crate) fn differing(&self) -> impl Iterator<Item = (&str, Vec<Ending>)> {
        self.endings.keys().filter_map(|id| {
            let endings = self.of(id);
            let differs = endings.iter().any(|ending| *ending != endings[0]);
            differs.then_some((id.as_str(), endings))
        })
    }

    /// The tests that did, each with how.
    pub(crate) fn alike(&self) -> impl Iterator<Item = (&str, Ending)> {
        self.endings.keys().filter_map(|id| {
            let endings = self.of(id);
            let first = *endings.first()?;
            let same = endings.iter().all(|ending| *ending == first);
            same.then_some((id.as_str(), first))
        })
    }

    /// How a test ended in the runs about which that is known; empty for one that was never seen.
    pub(crate) fn of(&self, id: &str) -> Vec<Ending> {
        let all = self.endings.get(id).into_iter().flatten();
        all.copied()
            .filter(|ending| *ending != Ending::Unknown)
            .collect()
    }
}

/// `passes in 37, fails in 3 of 40`.
pub(crate) fn tally(endings: &[Ending]) -> String {
    let mut counts: BTreeMap<Ending, usize> = BTreeMap::new();
    for ending in endings {
        *counts.entry(*ending).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(ending, count)| format!("{} in {count}", ending.word()))
        .collect();
    format!("{} of {}", parts.join(", "), endings.len())
}

pub(crate) fn pass_rate(endings: &[Ending]) -> PassRate {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    PassRate {
        passes: count(endings.iter().filter(|e| **e == Ending::Passed).count()),
        runs: count(endings.len()),
    }
}

/// The tests whose result or presence differs between runs of one state, each with the reason.
///
/// What a run lost that was cut short (it timed out, its output ended) is not known and no difference,
/// and a log without any test takes no part.
pub fn between_repeats(state: State, logs: &[&ParsedLog]) -> BTreeMap<String, String> {
    let mut repeats = Repeats::default();
    for log in logs.iter().filter(|log| !log.is_empty()) {
        let unfinished = matches!(log.outcome, RunOutcome::TimedOut | RunOutcome::Truncated);
        repeats.add(log, unfinished);
    }
    repeats
        .differing()
        .map(|(id, endings)| {
            let reason = format!("flaky: {} runs of {state}", tally(&endings));
            (id.to_owned(), reason)
        })
        .collect()
}
