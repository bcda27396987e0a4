//! One run of one binary, as the line-wise reporters tell of it.

use super::console::{self, Assertion, Header};
use super::durations::{self, Durations};
use super::totals::End;
use crate::cpp::text::{lossy, number};
use crate::edges::begin_of;
use atlas_core::{Evidence, ParsedLogBuilder, TestStatus};
use std::collections::{HashMap, HashSet};

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// There was no sign of the runner.
    #[default]
    Unseen,
    Begun,
    /// It may end here: its reporter has no last line, or it was read.
    Closed,
}

/// What the last line wants of the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Below {
    #[default]
    Nothing,
    /// `file.cpp:12: ` stood alone: an assertion.
    Place,
    /// The reason of the last assertion is a signal: its name.
    Signal,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) binary: Option<String>,
    pub(super) phase: Phase,
    pub(super) seeded: bool,
    pub(super) compact: bool,
    /// What tells that the process died of a signal.
    pub(super) fatal: Vec<Evidence>,
    /// How many headers were read.
    pub(super) headers: u64,
    /// Test cases of the Automake reporter, which prints nothing else.
    automake: Vec<(String, TestStatus)>,
    /// Test cases that were named, in order.
    cases: Vec<(String, Option<TestStatus>)>,
    index: HashMap<String, usize>,
    sections: HashSet<String>,
    header: Header,
    current: Option<usize>,
    durations: Durations,
    below: Below,
    tap: Tap,
}

/// The TAP reporter: `# name`, then `ok 1 - expression`.
#[derive(Clone, Debug, Default)]
struct Tap {
    name: Option<Vec<u8>>,
    count: u64,
    /// It is another runner's.
    foreign: bool,
}

/// `nasty is a Catch2 v3.7.1 host application.`: the binary and what follows.
pub(super) fn host(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = line.strip_suffix(b" host application.")?;
    let at = memchr::memmem::rfind(text, b" is a Catch")?;
    let version = &text[at + b" is a Catch".len()..];
    let version = version.strip_prefix(b"2").unwrap_or(version);
    let version = version.strip_prefix(b" v")?;
    let numeric = version.first().is_some_and(u8::is_ascii_digit);
    (at > 0 && numeric).then_some((&text[..at], version))
}

/// `not ok 3 - v == 2 for: 1 == 2` below the name of a test.
pub(super) fn is_tap_assertion(line: &[u8], before: &[u8]) -> bool {
    before.starts_with(b"# ")
        && !before.starts_with(b"# Subtest")
        && tap_assertion(line).is_some()
        && memchr::memmem::find(line, b" for: ").is_some()
}

/// The number of a line of the TAP reporter, and its status if it is an assertion's.
fn tap_assertion(line: &[u8]) -> Option<(u64, Option<TestStatus>)> {
    const WORDS: [(&[u8], Option<TestStatus>); 4] = [
        (b"ok ", Some(TestStatus::Passed)),
        (b"not ok ", Some(TestStatus::Failed)),
        (b"info ", None),
        (b"warning ", None),
    ];
    let (rest, status) = begin_of(line, &WORDS)?;
    let (count, rest) = number(rest)?;
    let rest = rest.strip_prefix(b" -")?;
    let skipped = status == Some(TestStatus::Passed) && rest.starts_with(b"  # SKIP");
    Some((
        count,
        if skipped {
            Some(TestStatus::Skipped)
        } else {
            status
        },
    ))
}

impl Run {
    pub(super) fn has_results(&self) -> bool {
        !self.cases.is_empty() || !self.durations.is_empty() || !self.automake.is_empty()
    }

    /// There was a sign of the runner.
    pub(super) fn begin(&mut self) {
        self.phase = self.phase.max(Phase::Begun);
    }

    /// Takes a line. Returns whether it was the run's last: the plan of the TAP reporter.
    pub(super) fn line(&mut self, line: &[u8], number: u64) -> bool {
        let below = std::mem::take(&mut self.below);
        if below == Below::Signal {
            self.prove(line.trim_ascii(), number);
        }
        // In front of the first header of a run stands the binary's name.
        if let Some(heading) = self.header.line(line).filter(|_| self.binary.is_some()) {
            self.begin();
            self.headers += 1;
            self.current = Some(self.case(heading.test));
            self.sections.extend(heading.sections);
            return false;
        }
        let mut is_last = false;
        match line.last() {
            Some(b':' | b' ') => self.assertion(line, below, number),
            Some(b'\'') => {
                let missing = line.starts_with(b"No assertions in test case '")
                    || line.starts_with(b"No assertions in section '");
                if missing {
                    self.status(TestStatus::Failed);
                }
            }
            _ => {}
        }
        match line.first() {
            Some(b'#' | b'o' | b'n' | b'1' | b'i' | b'w') => is_last = self.tap(line),
            Some(b':') => {
                if let Some((status, name)) = automake(line) {
                    self.begin();
                    if self.binary.is_none() {
                        self.phase = Phase::Closed;
                    }
                    self.automake.push((lossy(name), status));
                }
            }
            _ => {}
        }
        if let Some(text) = line.strip_prefix(b"##teamcity[test") {
            self.teamcity(text);
        }
        if memchr::memchr(b':', line).is_none() {
            return is_last;
        }
        if let Some(name) = durations::read(line) {
            self.begin();
            let ended = self
                .current
                .is_some_and(|at| self.cases[at].0.as_bytes() == name.trim_ascii());
            if ended {
                self.current = None;
            }
            self.durations.push(name);
        } else if memchr::memmem::find(line, b": failed: ").is_some() {
            self.durations.tell(TestStatus::Failed);
        } else if memchr::memmem::find(line, b": skipped: ").is_some() {
            self.durations.tell(TestStatus::Skipped);
        }
        is_last
    }

    fn assertion(&mut self, line: &[u8], below: Below, number: u64) {
        match console::assertion(line) {
            Some(Assertion::PlaceOnly) => self.below = Below::Place,
            Some(Assertion::Status(status)) => self.status(status),
            // Catch 1 puts these on a line of their own.
            None if below == Below::Place
                && matches!(line, b"PASSED:" | b"FAILED - but was ok:") =>
            {
                self.status(TestStatus::Passed);
            }
            None if line == b"due to a fatal error condition:" => {
                if let Some(current) = self.current
                    && self.cases[current].1 == Some(TestStatus::Failed)
                {
                    self.prove(line, number);
                    self.below = Below::Signal;
                }
            }
            None => {}
        }
    }

    fn prove(&mut self, line: &[u8], number: u64) {
        const MAX: usize = 8;
        if self.fatal.len() < MAX {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.fatal.push(Evidence::at("log", number, lossy(line)));
        }
    }

    fn case(&mut self, name: String) -> usize {
        if let Some(at) = self.index.get(&name) {
            return *at;
        }
        let at = self.cases.len();
        self.index.insert(name.clone(), at);
        self.cases.push((name, None));
        at
    }

    fn set(&mut self, case: usize, status: TestStatus) {
        let known = &mut self.cases[case].1;
        *known = Some(known.map_or(status, |known| known.worst(status)));
    }

    /// An assertion of the test whose header was printed last.
    fn status(&mut self, status: TestStatus) {
        if let Some(current) = self.current {
            self.set(current, status);
        }
    }

    /// Takes a line of the TAP reporter. Returns whether it was the plan, which comes last.
    fn tap(&mut self, line: &[u8]) -> bool {
        if let Some(name) = line.strip_prefix(b"# ") {
            if name.starts_with(b"Subtest") {
                self.foreign_tap();
            } else if name.len() < 4096 {
                self.tap.name = Some(name.to_vec());
            }
            return false;
        }
        let name = self.tap.name.take();
        if let Some((count, status)) = tap_assertion(line) {
            // The runner counts what it tells; what a test prints is out of turn.
            if self.tap.foreign || count != self.tap.count + 1 {
                return false;
            }
            let Some(name) = name else {
                if !self.seeded {
                    self.foreign_tap();
                }
                return false;
            };
            self.tap.count = count;
            self.begin();
            if let Some(status) = status {
                let case = self.case(lossy(name.trim_ascii()));
                self.set(case, status);
            }
            return false;
        }
        let plan = line.strip_prefix(b"1..").and_then(number);
        self.tap.count > 0
            && plan.is_some_and(|(count, rest)| {
                // The plan may count fewer assertions than are printed: it leaves out warnings.
                count <= self.tap.count
                    && count.saturating_mul(2) > self.tap.count
                    && rest.is_empty()
            })
    }

    /// Another runner's TAP: this one has the test's name in front of every assertion.
    fn foreign_tap(&mut self) {
        if !self.tap.foreign {
            self.tap.foreign = true;
            if self.tap.count > 0 {
                self.cases.clear();
                self.index.clear();
                self.current = None;
            }
        }
    }

    fn teamcity(&mut self, text: &[u8]) {
        let Some((event, rest)) = split_once(text, b" name='") else {
            return;
        };
        if event == b"SuiteFinished" {
            if self.phase == Phase::Begun {
                self.phase = Phase::Closed;
            }
            return;
        }
        let mut name = Vec::new();
        let mut bytes = rest.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\'' => break,
                b'|' => name.push(match bytes.next() {
                    Some(b'n') => b'\n',
                    Some(b'r') => b'\r',
                    Some(other) => *other,
                    None => return,
                }),
                other => name.push(*other),
            }
        }
        let name = lossy(name.trim_ascii());
        match event {
            b"Started" => {
                self.begin();
                self.current = Some(self.case(name));
            }
            b"Failed" | b"Ignored" => {
                let ok_to_fail = memchr::memmem::find(text, b"test marked as |'ok to fail|'");
                let status = match (event, ok_to_fail) {
                    (b"Failed", _) => TestStatus::Failed,
                    (_, Some(_)) => TestStatus::Xfail,
                    _ => TestStatus::Skipped,
                };
                if let Some(current) = self.current
                    && self.cases[current].0 == name
                {
                    self.set(current, status);
                }
            }
            b"Finished" => {
                if let Some(current) = self.current.take()
                    && self.cases[current].0 == name
                {
                    self.set(current, TestStatus::Passed);
                }
            }
            _ => {}
        }
    }

    /// The run seems to have ended.
    pub(super) fn end(&mut self) {
        self.current = None;
        self.header = Header::default();
    }

    /// The process died or the log ends in the test whose header was printed last.
    pub(super) fn interrupted(&mut self, died: bool, log: &mut ParsedLogBuilder) {
        let Some(current) = self.current.take() else {
            return;
        };
        let (name, status) = &mut self.cases[current];
        // A failing test may well have ended: the next one has no header as long as it passes.
        if *status != Some(TestStatus::Failed) {
            log.still_running(name.clone());
            *status = died.then_some(TestStatus::Error);
        }
    }

    /// Records the tests. Returns whether they agree with the totals, where that can be told.
    pub(super) fn record(mut self, end: Option<&End>, log: &mut ParsedLogBuilder) -> Option<bool> {
        let totals = end.map(|end| end.totals).unwrap_or_default();
        if end.is_none() && self.binary.is_none() {
            for (name, status) in std::mem::take(&mut self.automake) {
                let case = self.case(name);
                self.set(case, status);
            }
        }
        let mut complete = false;
        let mut durations = std::mem::take(&mut self.durations);
        // With durations every test has its line: where no headed test has one, they were printed.
        let timed = |case: &(String, Option<TestStatus>)| durations.names(&case.0);
        let headed = self.cases.iter().any(|case| case.1.is_some());
        if !durations.is_empty() && (!headed || self.cases.iter().any(timed)) {
            let known = |name: &str| self.index.contains_key(name);
            let (tests, exact) = durations.tests(known, &self.sections, totals.total);
            complete = exact;
            if !exact {
                log.warn(
                    None,
                    "lines with durations do not tell which of them are sections; passing tests are left out",
                );
            }
            for (name, told) in tests {
                let case = self.case(name.to_owned());
                self.set(case, told.unwrap_or(TestStatus::Passed));
            }
        }
        let module = self.binary.unwrap_or_default();
        let count = |status: TestStatus| {
            self.cases
                .iter()
                .filter(|case| case.1 == Some(status))
                .count() as u64
        };
        let agrees = end.filter(|end| end.exact && !self.compact).map(|_| {
            let failed = count(TestStatus::Failed);
            let declared = totals.failed.unwrap_or(0);
            let expected = totals.xfailed.unwrap_or(0);
            // The console does not tell which failures were expected, and a test that should have
            // failed and did not is named as passing or not at all.
            let fits =
                failed <= declared.saturating_add(expected) && (expected > 0 || failed >= declared);
            let named = self.cases.iter().filter(|case| case.1.is_some()).count() as u64;
            let all = !complete || totals.total == Some(named);
            fits && all && totals.total.is_none_or(|total| named <= total)
        });
        for (name, status) in &self.cases {
            if let Some(status) = status {
                log.record(&module, name, name, *status);
            }
        }
        agrees
    }
}

fn automake(line: &[u8]) -> Option<(TestStatus, &[u8])> {
    let rest = line.strip_prefix(b":test-result: ")?;
    let (word, name) = split_once(rest, b" ")?;
    let status = match word {
        b"PASS" => TestStatus::Passed,
        b"XFAIL" => TestStatus::Xfail,
        b"SKIP" => TestStatus::Skipped,
        b"FAIL" => TestStatus::Failed,
        _ => return None,
    };
    Some((status, name.trim_ascii()))
}

fn split_once<'a>(text: &'a [u8], by: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let at = memchr::memmem::find(text, by)?;
    Some((&text[..at], &text[at + by.len()..]))
}
