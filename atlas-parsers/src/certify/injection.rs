//! Failures put into a repository, and whether a parser saw exactly them.

use super::certificate::{Check, CheckKind};
use super::lines::find_word;
use atlas_core::{Evidence, ParsedLog, TestStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A test into which a failure was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Injected {
    /// The file, relative to the repository.
    pub file: String,
    /// The name that the test has in its source: a function's name, a title.
    pub name: String,
}

/// A test with two outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turned {
    /// Its id.
    pub id: String,
    /// Before the failures were written; absent: it was not there.
    pub before: Option<TestStatus>,
    /// Behind them.
    pub after: Option<TestStatus>,
}

/// What a parser saw of failures that were written into a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InjectionJudgement {
    /// Injected tests that passed before and fail now, as they must.
    pub seen: Vec<String>,
    /// Injected tests that still pass: the parser (or the injection) misses them.
    pub missed: Vec<Turned>,
    /// Injected tests that passed before and have no outcome now.
    pub vanished: Vec<Turned>,
    /// Tests without an injected failure whose outcome is another one.
    pub extra: Vec<Turned>,
    /// Injected tests that are in no log under a name that can be recognised, or did not pass before.
    pub unmatched: Vec<Injected>,
}

impl InjectionJudgement {
    /// Whether some failure was seen, and exactly the injected ones were.
    pub fn is_exact(&self) -> bool {
        !self.seen.is_empty()
            && self.missed.is_empty()
            && self.vanished.is_empty()
            && self.extra.is_empty()
    }

    /// The judgement as checks of a [`Certificate`](super::Certificate).
    pub fn checks(&self, log: &str) -> Vec<Check> {
        let check = |passed, text: String| Check {
            kind: CheckKind::Injection,
            passed,
            proof: Evidence::of(log, text),
        };
        let told = |status: Option<TestStatus>| status.map_or("absent", TestStatus::as_str);
        let turned = |what: &str, test: &Turned| {
            let (before, after) = (told(test.before), told(test.after));
            check(
                false,
                format!("{what} `{}`: {before}, then {after}", test.id),
            )
        };
        let seen = self
            .seen
            .iter()
            .map(|id| check(true, format!("`{id}` failed")));
        seen.chain(self.missed.iter().map(|test| turned("injected", test)))
            .chain(self.vanished.iter().map(|test| turned("injected", test)))
            .chain(self.extra.iter().map(|test| turned("untouched", test)))
            .collect()
    }
}

/// An injected test, and how its own ids are told from those of its namesakes.
struct Owner<'a> {
    test: &'a Injected,
    /// What stands in its own ids beside its name; nothing where no id names its file.
    place: Option<&'a str>,
}

impl<'a> Owner<'a> {
    fn of(test: &'a Injected, ids: &BTreeSet<&str>) -> Self {
        let name = test.file.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let named = |id: &&&str| find_word(id, &test.name).is_some();
        let place = [test.file.as_str(), stem].into_iter().find(|place| {
            let is_there = |id: &&str| find_word(id, place).is_some();
            !place.is_empty() && ids.iter().filter(named).any(is_there)
        });
        Self { test, place }
    }

    fn is_named_by(&self, id: &str) -> bool {
        find_word(id, &self.test.name).is_some()
    }

    fn owns(&self, id: &str) -> bool {
        self.place
            .is_none_or(|place| find_word(id, place).is_some())
    }
}

/// Compares the runs before and behind an injection: exactly the injected tests must have turned
/// from passing to failing.
///
/// An id is an injected test's when it holds its name as a whole word: `pkg::TestSum` and
/// `tests/test_a.py::test_sum[3]` hold `TestSum` and `test_sum`. `unstable` ids are not looked at.
/// An injected test that is the parent or a parameter of others counts with all of them. Where some
/// ids with its name also name its file, by path or by stem, only those are its own; tests of the same
/// name elsewhere are not looked at, for they may inherit its body or have one of their own.
pub fn judge_injection(
    before: &ParsedLog,
    after: &ParsedLog,
    injected: &[Injected],
    unstable: &BTreeSet<String>,
) -> InjectionJudgement {
    let (before, after) = (before.qualified(), after.qualified());
    let mut judgement = InjectionJudgement::default();
    let mut matched: BTreeSet<&Injected> = BTreeSet::new();
    let ids: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let owners: Vec<Owner<'_>> = injected.iter().map(|test| Owner::of(test, &ids)).collect();
    let mut seen: BTreeSet<&Injected> = BTreeSet::new();
    let mut vanished: Vec<(Turned, Vec<&Injected>)> = Vec::new();
    for id in ids {
        if unstable.contains(id) {
            continue;
        }
        let (was, is) = (before.get(id).copied(), after.get(id).copied());
        let turned = || Turned {
            id: id.to_owned(),
            before: was,
            after: is,
        };
        let named: Vec<&Owner<'_>> = owners
            .iter()
            .filter(|owner| owner.is_named_by(id))
            .collect();
        let of: Vec<&Injected> = named
            .iter()
            .filter(|owner| owner.owns(id))
            .map(|owner| owner.test)
            .collect();
        if of.is_empty() {
            if was != is && named.is_empty() {
                judgement.extra.push(turned());
            }
            continue;
        }
        if !was.is_some_and(TestStatus::is_passing) {
            continue;
        }
        matched.extend(&of);
        match is {
            Some(status) if status.is_failing() => {
                judgement.seen.push(id.to_owned());
                seen.extend(&of);
            }
            Some(_) => judgement.missed.push(turned()),
            None => vanished.push((turned(), of)),
        }
    }
    // A test that fails at its beginning never comes to its subtests.
    judgement.vanished = vanished
        .into_iter()
        .filter(|(_, of)| !of.iter().any(|test| seen.contains(test)))
        .map(|(turned, _)| turned)
        .collect();
    judgement.unmatched = injected
        .iter()
        .filter(|test| !matched.contains(test))
        .cloned()
        .collect();
    judgement
}
