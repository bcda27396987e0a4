//! What repeated runs say of each test, and how much they can say.

mod rate;
mod sequential;

pub use rate::{Interval, PassRate, detectable_fail_rate, miss_probability, runs_to_find};
pub use sequential::{SequentialTest, Stability};

use atlas_core::{ParsedLog, State, TestStatus};
use std::collections::BTreeMap;

/// How a test ended, as far as a grader tells results apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ending {
    Passed,
    Failed,
    Skipped,
    Absent,
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
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Passed => "passes",
            Self::Failed => "fails",
            Self::Skipped => "is skipped",
            Self::Absent => "is not in the log",
        }
    }
}

/// Every test of several runs of the same files: how it ended in each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    runs: u32,
    endings: BTreeMap<String, Vec<Ending>>,
}

impl Repeats {
    /// One more run.
    pub(crate) fn add(&mut self, log: &ParsedLog) {
        let before = self.runs as usize;
        self.runs += 1;
        let tests = log.tests();
        for (id, endings) in &mut self.endings {
            endings.push(Ending::of(tests.get(id.as_str()).copied()));
        }
        for (id, status) in tests {
            if !self.endings.contains_key(id) {
                let mut endings = vec![Ending::Absent; before];
                endings.push(Ending::of(Some(status)));
                self.endings.insert(id.to_owned(), endings);
            }
        }
    }

    pub(crate) fn runs(&self) -> u32 {
        self.runs
    }

    pub(crate) fn tests(&self) -> usize {
        self.endings.len()
    }

    /// The tests that did not end in the same way each time.
    pub(crate) fn differing(&self) -> impl Iterator<Item = (&str, &[Ending])> {
        self.endings
            .iter()
            .filter(|(_, endings)| endings.iter().any(|ending| *ending != endings[0]))
            .map(|(id, endings)| (id.as_str(), endings.as_slice()))
    }

    /// The tests that did, each with how.
    pub(crate) fn alike(&self) -> impl Iterator<Item = (&str, Ending)> {
        self.endings
            .iter()
            .filter(|(_, endings)| endings.iter().all(|ending| *ending == endings[0]))
            .map(|(id, endings)| (id.as_str(), endings[0]))
    }

    /// How a test ended, run by run; empty for one that was never seen.
    pub(crate) fn of(&self, id: &str) -> &[Ending] {
        self.endings.get(id).map_or(&[], Vec::as_slice)
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
/// A run that says nothing (it timed out, its sandbox died) takes no part: what it lost did not
/// change by itself.
pub fn between_repeats(state: State, logs: &[&ParsedLog]) -> BTreeMap<String, String> {
    let mut repeats = Repeats::default();
    for log in logs.iter().filter(|log| !log.is_empty()) {
        repeats.add(log);
    }
    repeats
        .differing()
        .map(|(id, endings)| {
            let reason = format!("flaky: {} runs of {state}", tally(endings));
            (id.to_owned(), reason)
        })
        .collect()
}
