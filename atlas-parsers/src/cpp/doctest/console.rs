//! The console reporter.

use super::{evidence, in_suite};
use crate::cpp::text::{lossy, rule};
use crate::edges::is_number;
use atlas_core::{Evidence, ParsedLogBuilder, TestStatus, Totals};
use std::collections::HashMap;

/// One run of one binary.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) began: bool,
    pub(super) versioned: bool,
    pub(super) fatal: Vec<Evidence>,
    step: Step,
    place: Vec<u8>,
    suite: Vec<u8>,
    cases: Vec<Case>,
    index: HashMap<Vec<u8>, usize>,
    current: Option<usize>,
    /// Successful assertions are printed, so a test without a failure has passed.
    verbose: bool,
}

#[derive(Clone, Debug)]
struct Case {
    suite: String,
    name: String,
    status: Option<TestStatus>,
    /// Its duration was printed: it has ended.
    ended: bool,
    /// What a decorator made of its failures.
    verdict: Option<TestStatus>,
}

/// Where in a header the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Outside,
    /// After a line of `=`.
    Rule,
    /// After the place of the test.
    Names,
}

impl Run {
    pub(super) fn after_rule(&self) -> bool {
        self.step == Step::Rule
    }

    pub(super) fn has_results(&self) -> bool {
        !self.cases.is_empty()
    }

    pub(super) fn line(&mut self, line: &[u8], number: u64) {
        if rule(line, b'=').is_some() {
            self.step = Step::Rule;
            return;
        }
        match self.step {
            Step::Outside => {}
            Step::Rule => {
                self.step = Step::Outside;
                if let Some(place) = place(line) {
                    self.step = Step::Names;
                    self.place.clear();
                    self.place.extend_from_slice(place);
                    self.suite.clear();
                    return;
                }
            }
            Step::Names => {
                if self.names(line) {
                    return;
                }
                self.step = Step::Outside;
            }
        }
        if let Some(current) = self.current {
            self.told(current, line, number);
        }
    }

    /// A line of the header below the place. Returns whether it is one.
    fn names(&mut self, line: &[u8]) -> bool {
        if let Some(suite) = line.strip_prefix(b"TEST SUITE: ") {
            self.suite = suite.to_vec();
            return true;
        }
        if line.starts_with(b"DESCRIPTION: ") {
            return true;
        }
        let name = line
            .strip_prefix(b"TEST CASE:  ")
            .or_else(|| line.starts_with(b"  Scenario:").then_some(line));
        let Some(name) = name.map(<[u8]>::trim_ascii).filter(|name| !name.is_empty()) else {
            return false;
        };
        self.began = true;
        self.step = Step::Outside;
        let mut key = std::mem::take(&mut self.place);
        key.push(b'\n');
        key.extend_from_slice(name);
        let at = *self.index.entry(key).or_insert(self.cases.len());
        if at == self.cases.len() {
            self.cases.push(Case {
                suite: lossy(&self.suite),
                name: lossy(name),
                status: None,
                ended: false,
                verdict: None,
            });
        }
        self.current = Some(at);
        true
    }

    /// What is told of the test whose header was printed last.
    fn told(&mut self, current: usize, line: &[u8], number: u64) {
        let case = &mut self.cases[current];
        let mut add = |status| {
            case.status = Some(
                case.status
                    .map_or(status, |known: TestStatus| known.worst(status)),
            );
        };
        if let Some((failed, rest)) = assertion(line) {
            if failed {
                add(TestStatus::Failed);
                if rest.starts_with(b"test case CRASHED: ") {
                    const MAX: usize = 8;
                    if self.fatal.len() < MAX {
                        self.fatal.push(evidence(number, line));
                    }
                }
            } else {
                self.verbose = true;
                add(TestStatus::Passed);
            }
            return;
        }
        if matches!(line.first(), Some(b'F' | b'A' | b'S' | b'D' | b'T'))
            && let Some(verdict) = verdict(line)
        {
            case.verdict = Some(verdict);
        }
        if let Some(name) = duration(line)
            && name.trim_ascii() == case.name.as_bytes()
        {
            case.ended = true;
        }
    }

    /// The process died or the log ends, perhaps in the test whose header was printed last.
    pub(super) fn interrupted(&mut self, died: bool, log: &mut ParsedLogBuilder) {
        let Some(current) = self.current.take() else {
            return;
        };
        let case = &mut self.cases[current];
        if !case.ended && case.status != Some(TestStatus::Failed) {
            log.still_running(case.name.clone());
            case.status = died.then_some(TestStatus::Error);
            case.ended = true;
            case.verdict = None;
        }
    }

    /// Records the tests. Returns whether they agree with the totals.
    pub(super) fn record(&self, totals: Option<Totals>, log: &mut ParsedLogBuilder) -> bool {
        let (mut failed, mut passed) = (0_u64, 0_u64);
        for case in &self.cases {
            let known = case.ended || self.verbose;
            let passing = (known && totals.is_some() || case.ended).then_some(TestStatus::Passed);
            let Some(status) = case.verdict.or(case.status).or(passing) else {
                continue;
            };
            if status.is_failing() {
                failed += 1;
            } else {
                passed += 1;
            }
            let qualified = in_suite(&case.suite, &case.name);
            log.record(&case.suite, &qualified, &case.name, status);
        }
        totals.is_none_or(|totals| {
            totals.failed == Some(failed) && totals.passed.is_none_or(|all| passed <= all)
        })
    }
}

/// `file.cpp:12:`, `file.cpp(12):`, and without the last colon as of old.
fn place(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_suffix(b":").unwrap_or(line);
    let (end, mark) = match text.strip_suffix(b")") {
        Some(rest) => (rest, b'('),
        None => (text, b':'),
    };
    let at = memchr::memrchr(mark, end)?;
    let number = &end[at + 1..];
    let numeric = is_number(number);
    (at > 0 && numeric).then_some(text)
}

/// `file.cpp:12: ERROR: text`, whether it failed, and the text.
fn assertion(line: &[u8]) -> Option<(bool, &[u8])> {
    memchr::memchr(b':', line)?;
    let at = memchr::memmem::find(line, b"ERROR: ")
        .map(|at| (at, b"ERROR: ".len(), true))
        .or_else(|| {
            memchr::memmem::find(line, b"SUCCESS: ").map(|at| (at, b"SUCCESS: ".len(), false))
        });
    let (at, length, failed) = at?;
    let before = &line[..at];
    let before = before.strip_suffix(b"FATAL ").unwrap_or(before);
    let before = before.strip_suffix(b" ")?;
    place(before)?;
    Some((failed, &line[at + length..]))
}

/// The lines that decorators add behind a test.
fn verdict(line: &[u8]) -> Option<TestStatus> {
    match line {
        b"Failed as expected so marking it as not failed"
        | b"Allowed to fail so marking it as not failed" => Some(TestStatus::Xfail),
        b"Should have failed but didn't! Marking it as failed!" => Some(TestStatus::Failed),
        _ => {
            let between = |start: &[u8], end: &[u8]| line.starts_with(start) && line.ends_with(end);
            if between(
                b"Failed exactly ",
                b" times as expected so marking it as not failed!",
            ) {
                Some(TestStatus::Xfail)
            } else if between(b"Didn't fail exactly ", b" times so marking it as failed!")
                || between(b"Test case exceeded time limit of ", b"!")
            {
                Some(TestStatus::Failed)
            } else {
                None
            }
        }
    }
}

/// `0.000139 s: name`
fn duration(line: &[u8]) -> Option<&[u8]> {
    memchr::memchr(b':', line)?;
    let at = memchr::memmem::find(line, b" s: ")?;
    let number = &line[..at];
    let (whole, decimals) = number.split_at_checked(number.len().checked_sub(6)?)?;
    let numeric = decimals.iter().all(u8::is_ascii_digit)
        && whole
            .strip_suffix(b".")
            .is_some_and(|whole| whole.last().is_some_and(u8::is_ascii_digit));
    numeric.then(|| &line[at + b" s: ".len()..])
}
