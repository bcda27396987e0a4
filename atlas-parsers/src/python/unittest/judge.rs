//! Which of the lines that look like results are the runner's, once the run's own count is known.

use super::grammar::{Heading, Name};
use atlas_core::{TestStatus, Totals};
use std::collections::{HashMap, HashSet};

/// One test of the run, in the order of the log.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) id: String,
    pub(super) name: Name,
    /// A status printed where the runner prints it.
    pub(super) words: Vec<TestStatus>,
    /// A status behind other text on its line, as output without a line end leaves it.
    pub(super) loose: Option<TestStatus>,
    pub(super) subs: Vec<TestStatus>,
    /// The test on whose line this one began.
    pub(super) glued_to: Option<usize>,
}

/// Undoes tests that began on another's line although that other one has no failing subtest: it
/// printed them, and what followed is its own.
pub(super) fn drop_glued(tests: &mut Vec<Test>, told: &HashMap<&str, TestStatus>) {
    for at in (0..tests.len()).rev() {
        let Some(outer) = tests[at].glued_to else {
            continue;
        };
        if told.contains_key(tests[outer].id.as_str()) {
            continue;
        }
        let words = std::mem::take(&mut tests[at].words);
        let loose = tests[at].loose;
        tests[at].id.clear();
        let outer = &mut tests[outer];
        match words.split_first() {
            Some((first, [])) => outer.loose = Some(*first),
            Some((_, own)) => outer.words.extend(own),
            None => outer.loose = loose,
        }
    }
    tests.retain(|test| !test.id.is_empty());
}

impl Test {
    pub(super) fn new(id: String, name: Name, status: TestStatus) -> Self {
        Self {
            id,
            name,
            words: vec![status],
            loose: None,
            subs: Vec::new(),
            glued_to: None,
        }
    }

    /// Whether no result of it was told.
    pub(super) fn is_open(&self) -> bool {
        self.words.is_empty() && self.loose.is_none() && self.subs.is_empty()
    }

    /// Whether a line of it bears this status.
    pub(super) fn says(&self, status: TestStatus) -> bool {
        self.loose == Some(status) || self.words.contains(&status) || self.subs.contains(&status)
    }

    fn skipped(&self) -> bool {
        self.words.contains(&TestStatus::Skipped)
    }

    /// The status, from what the line says and what a heading tells.
    pub(super) fn decide(&self, told: Option<TestStatus>, complete: bool) -> Option<TestStatus> {
        if let Some(told) = told {
            return Some(told);
        }
        if let Some(status) = self.subs.iter().copied().max() {
            if status.is_failing() && complete {
                // No heading tells of it: the line was output.
                return self.words.last().copied().or(Some(TestStatus::Passed));
            }
            return Some(self.words.iter().copied().fold(status, TestStatus::worst));
        }
        if complete {
            // Headings tell of every failure, so a failing word here was printed by the test.
            if let Some(status) = self.words.iter().rev().find(|status| !status.is_failing()) {
                return Some(*status);
            }
        }
        let worst = self.words.iter().copied().max();
        worst.or(self.loose)
    }
}

/// Drops headings that stood inside a message, where there are more than the verdict counts.
/// Returns whether there were any. `is_earlier` knows the tests in front of an end that was printed
/// before the headings, which cut the run in two.
pub(super) fn drop_forged(
    tests: &[Test],
    is_earlier: impl Fn(&Name) -> bool,
    headings: &mut Vec<(Heading, String, Option<Name>)>,
    verdict: Totals,
) -> bool {
    let declared = |totals: Option<u64>| usize::try_from(totals.unwrap_or(0)).ok();
    let before = headings.len();
    let named: HashSet<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    for (kind, totals) in [
        (Heading::Error, verdict.errors),
        (Heading::Fail, verdict.failed),
    ] {
        let more = |headings: &[(Heading, String, Option<Name>)]| {
            let count = headings.iter().filter(|(k, ..)| *k == kind).count();
            declared(totals).is_some_and(|declared| count > declared)
        };
        if !tests.is_empty() && more(headings) {
            // A verbose run names every test.
            headings.retain(|(k, id, name)| {
                *k != kind
                    || named.contains(id.as_str())
                    || name
                        .as_ref()
                        .is_some_and(|name| name.is_fixture() || is_earlier(name))
            });
        }
        if !tests.is_empty() && more(headings) {
            // Its line says that it failed, or says nothing where a subtest did.
            let passed: HashSet<&str> = tests
                .iter()
                .filter(|test| !test.is_open() && !test.says(kind.status()))
                .map(|test| test.id.as_str())
                .collect();
            headings.retain(|(k, id, _)| *k != kind || !passed.contains(id.as_str()));
        }
        if kind == Heading::Error && more(headings) {
            // Errors come before failures.
            if let Some(first) = headings.iter().position(|(k, ..)| *k == Heading::Fail) {
                let mut at = 0;
                headings.retain(|(k, ..)| {
                    at += 1;
                    *k != Heading::Error || at <= first
                });
            }
        }
    }
    headings.len() < before
}

/// Settles which tests there are by the number that ran.
///
/// A test may print lines of the runner's form. Such a line is told from the runner's by what it
/// does to the lines around it, and that is asked only where the count says that something is
/// wrong.
pub(super) fn reconcile(
    tests: &mut Vec<Test>,
    mut glued: Vec<Test>,
    told: &HashMap<&str, TestStatus>,
    ran: u64,
) {
    split_names(tests, &mut glued);
    let counted = |test: &Test| !test.name.is_fixture();
    let mut named = tests.iter().filter(|test| counted(test)).count() as u64;
    if named > ran {
        let mut surplus = named - ran;
        drop_nested(tests, told, &mut surplus);
        // Python 3.12.1 does not count what is skipped before it begins.
        let skipped = tests.iter().filter(|test| test.skipped()).count() as u64;
        drop_odd(tests, told, surplus.saturating_sub(skipped));
        named = tests.iter().filter(|test| counted(test)).count() as u64;
    }
    glued.retain(|test| counted(test) && !test.words.is_empty());
    if !glued.is_empty() && ran.saturating_sub(named) >= glued.len() as u64 {
        tests.append(&mut glued);
    }
}

/// Since Python 3.11 the parentheses end with the method. Where nearly all names have that form,
/// one that ends with only a part of the method has other text in front.
fn split_names(tests: &mut Vec<Test>, glued: &mut Vec<Test>) {
    let full = tests.iter().filter(|test| test.name.full).count();
    if full * 2 <= tests.len() {
        return;
    }
    let mut kept: Vec<Test> = Vec::with_capacity(tests.len());
    for mut test in tests.drain(..) {
        let Some(name) = test.name.without_text_before() else {
            kept.push(test);
            continue;
        };
        if let Some(outer) = kept.last_mut()
            && outer.words.is_empty()
            && test.words.len() > 1
        {
            outer.words.extend(test.words.drain(1..));
        }
        test.id = name.id();
        test.name = name;
        glued.push(test);
    }
    *tests = kept;
}

/// Tests that begin while the one before has no result, the last of them with two, were printed by
/// that one.
fn drop_nested(tests: &mut Vec<Test>, told: &HashMap<&str, TestStatus>, surplus: &mut u64) {
    let mut printed = vec![false; tests.len()];
    let mut outer = 0;
    while outer < tests.len() {
        let open = tests[outer].is_open() && !told.contains_key(tests[outer].id.as_str());
        // Where the search stops at a test without a result, the next one begins there.
        let mut last = outer + 1;
        while open
            && tests
                .get(last)
                .is_some_and(|test| test.words.len() == 1 && !told.contains_key(test.id.as_str()))
        {
            last += 1;
        }
        let ends = tests
            .get(last)
            .is_some_and(|test| test.words.len() > 1 && !told.contains_key(test.id.as_str()));
        let inner = (last - outer) as u64;
        if open && ends && inner <= *surplus {
            *surplus -= inner;
            let words = tests[last].words.split_off(1);
            tests[outer].words = words;
            printed[outer + 1..=last].fill(true);
        }
        outer = last;
    }
    let mut printed = printed.into_iter();
    tests.retain(|_| !printed.next().unwrap_or(false));
}

/// Drops the names that do not begin as all others do, where that is what is too much.
fn drop_odd(tests: &mut Vec<Test>, told: &HashMap<&str, TestStatus>, surplus: u64) {
    let odd = |test: &Test| {
        !test.name.is_fixture()
            && !test.name.is_load_failure()
            && !test.id.starts_with("test")
            && !told.contains_key(test.id.as_str())
    };
    let count = tests.iter().filter(|test| odd(test)).count() as u64;
    if count > 0 && count <= surplus && count * 4 < tests.len() as u64 {
        tests.retain(|test| !odd(test));
    }
}
