//! Grading one run against the lists of an instance.

use atlas_core::{ParsedLog, TestIds, TestStatus, without_source_line};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The field's three words for how far a prediction solves an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Resolution {
    /// Every test of both lists passes.
    #[serde(rename = "RESOLVED_FULL")]
    Full,
    /// `PASS_TO_PASS` passes, and some of `FAIL_TO_PASS`.
    #[serde(rename = "RESOLVED_PARTIAL")]
    Partial,
    /// Neither.
    #[serde(rename = "RESOLVED_NO")]
    No,
}

impl Resolution {
    fn of(defining: &Graded, guarding: &Graded) -> Self {
        if !guarding.failure.is_empty() || defining.success.is_empty() {
            Self::No
        } else if defining.failure.is_empty() {
            Self::Full
        } else {
            Self::Partial
        }
    }
}

/// One list, as it came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graded {
    /// Tests that pass.
    pub success: TestIds,
    /// Tests that do not, those that are not in the log among them.
    pub failure: TestIds,
}

impl Graded {
    /// Counts every test as one that does not pass, in the order of their ids.
    pub fn disbelieve(&mut self) {
        let mut all: Vec<&str> = self.failure.iter().chain(&self.success).collect();
        all.sort_unstable();
        *self = Self {
            failure: all.into_iter().collect(),
            success: TestIds::default(),
        };
    }
}

/// How a run came out against both lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grade {
    /// The verdict.
    pub resolution: Resolution,
    /// The tests that define the task.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Graded,
    /// The tests that guard the rest.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Graded,
    /// Tests of either list that are in the log and failed: they fail by themselves, not because
    /// their module was lost.
    pub failed_by_name: Vec<String>,
}

/// Grades a run. Only a test that the log names as passing passes; the worst status of an id counts.
/// An id with a source line that the log does not have is looked for without it.
/// Without any `FAIL_TO_PASS` nothing can be resolved.
pub fn grade(
    log: &ParsedLog,
    fail_to_pass: impl Into<TestIds>,
    pass_to_pass: impl Into<TestIds>,
) -> Grade {
    let tests = log.tests();
    let mut failed_by_name = Vec::new();
    let mut one = |ids: &TestIds| {
        let (success, failure) = ids.split(|id| {
            let named = tests.get(id).or_else(|| tests.get(without_source_line(id)));
            let status = named.copied();
            if status.is_some_and(TestStatus::is_failing) {
                failed_by_name.push(id.to_owned());
            }
            Some(status.is_some_and(TestStatus::is_passing))
        });
        Graded { success, failure }
    };
    let (defining, guarding) = (one(&fail_to_pass.into()), one(&pass_to_pass.into()));
    Grade {
        resolution: Resolution::of(&defining, &guarding),
        fail_to_pass: defining,
        pass_to_pass: guarding,
        failed_by_name,
    }
}

impl Grade {
    /// The same where of the tests that pass only those count that this holds for; and the others.
    #[must_use]
    pub fn only(mut self, counts: impl Fn(&str) -> bool) -> (Self, Vec<String>) {
        let mut others = Vec::new();
        for list in [&mut self.fail_to_pass, &mut self.pass_to_pass] {
            let (success, denied) = list.success.split(|id| Some(counts(id)));
            others.extend(denied.iter().map(str::to_owned));
            let mut failure: Vec<&str> = list.failure.iter().chain(&denied).collect();
            failure.sort_unstable();
            let failure = failure.into_iter().collect();
            *list = Graded { success, failure };
        }
        self.resolution = Resolution::of(&self.fail_to_pass, &self.pass_to_pass);
        (self, others)
    }

    /// The grade of a run whose output is not to be believed: nothing passes.
    pub(crate) fn disbelieved(mut self) -> Self {
        for list in [&mut self.fail_to_pass, &mut self.pass_to_pass] {
            list.disbelieve();
        }
        self.resolution = Resolution::No;
        self
    }
}

/// The statuses of a log's tests that differ from expected ones, as `id: expected, got`.
pub(crate) fn differences(
    expected: &BTreeMap<&str, TestStatus>,
    log: &ParsedLog,
) -> Vec<(String, String)> {
    use crate::flake::Ending;
    let got = log.tests();
    let ids: std::collections::BTreeSet<&str> =
        expected.keys().chain(got.keys()).copied().collect();
    ids.into_iter()
        .filter_map(|id| {
            let (want, have) = (expected.get(id).copied(), got.get(id).copied());
            let word =
                |s: Option<TestStatus>| s.map_or_else(|| "absent".to_owned(), |s| s.to_string());
            (Ending::of(want) != Ending::of(have)).then(|| {
                (
                    id.to_owned(),
                    format!("{} became {}", word(want), word(have)),
                )
            })
        })
        .collect()
}
