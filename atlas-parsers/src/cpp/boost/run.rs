//! One run of one module.

use super::line::{self, End, Line, Report};
use super::only;
use super::xml::Event;
use crate::cpp::text::lossy;
use atlas_core::{Evidence, ParsedLogBuilder, TestStatus, Totals};
use std::collections::HashMap;

/// How far a run has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    #[default]
    Unseen,
    Begun,
    Ended,
}

/// Of what the plain report tells in the lines that follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Telling {
    /// No report is being read.
    #[default]
    Nothing,
    /// The totals are those of the module.
    Module,
    /// Of its suites and tests.
    Parts,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) phase: Phase,
    /// `Running N test cases...`
    pub(super) tests: Option<u64>,
    /// A log that names every test has begun. Qualified ids have the module in front then.
    pub(super) logged: bool,
    /// The confirmation or the report was read. It may come before the log: it has a stream of its
    /// own.
    pub(super) confirmed: bool,
    pub(super) module: Option<String>,
    pub(super) fatal: Vec<Evidence>,
    cases: Vec<Case>,
    index: HashMap<String, usize>,
    suites: Vec<Vec<u8>>,
    open: Option<Open>,
    telling: Telling,
    totals: Option<Totals>,
}

#[derive(Clone, Debug)]
struct Case {
    path: String,
    status: Option<TestStatus>,
    verdict: Option<TestStatus>,
}

#[derive(Clone, Debug)]
struct Open {
    path: String,
    name: Vec<u8>,
    failed: bool,
}

impl Run {
    const MAX_DEPTH: usize = 200;
    const MAX_PROOF: usize = 8;

    /// Whether a test was entered and not left.
    pub(super) fn is_inside(&self) -> bool {
        self.open.is_some()
    }

    /// There was a sign of the run.
    pub(super) fn begin(&mut self) {
        self.phase = self.phase.max(Phase::Begun);
    }

    pub(super) fn line(&mut self, line: &[u8], number: u64) {
        if let Some(end) = line::end(line) {
            self.begin();
            if self.open.is_none() {
                self.phase = Phase::Ended;
                self.confirmed = true;
                self.telling = Telling::Nothing;
                if let End::Failed { module } = end {
                    self.module.get_or_insert_with(|| lossy(module));
                }
            }
            return;
        }
        let telling = self.telling != Telling::Nothing;
        if telling || line.starts_with(b"Test module \"") {
            match line::report(line) {
                Some(report) if telling || matches!(report, Report::Module { .. }) => {
                    self.told(report);
                    return;
                }
                _ => self.telling = Telling::Nothing,
            }
        }
        let Some(found) = line::read(line) else {
            return;
        };
        match found {
            Line::EnterModule(name) => {
                if self.open.is_none() {
                    self.logged = true;
                    // The confirmation may have come first.
                    self.phase = Phase::Begun;
                    self.module = Some(lossy(name));
                    self.suites.clear();
                }
            }
            Line::EnterSuite(name) => {
                if self.open.is_none() && self.suites.len() < Self::MAX_DEPTH {
                    self.suites.push(name.to_vec());
                }
            }
            Line::LeaveSuite(text) => {
                let innermost = self.suites.last();
                if innermost.is_some_and(|name| line::leaves(text, name)) {
                    // A test that did not say that it is left has ended all the same.
                    self.close();
                    self.suites.pop();
                }
            }
            Line::LeaveModule(text) => {
                let name = self.module.as_deref().unwrap_or_default();
                if line::leaves(text, name.as_bytes()) {
                    self.close();
                    self.phase = Phase::Ended;
                }
            }
            Line::EnterCase(name) => {
                if self.open.is_none() && self.logged && self.phase == Phase::Begun {
                    let mut path = Vec::new();
                    for suite in &self.suites {
                        path.extend_from_slice(suite);
                        path.push(b'/');
                    }
                    path.extend_from_slice(name);
                    self.open = Some(Open {
                        path: lossy(&path),
                        name: name.to_vec(),
                        failed: false,
                    });
                }
            }
            Line::LeaveCase(text) => {
                let open = self.open.as_ref();
                if open.is_some_and(|open| line::leaves(text, &open.name)) {
                    self.close();
                }
            }
            Line::Error { path, why } => self.error(path, why, line, number),
            Line::Skipped { path, why } => {
                if self.open.is_none() && why != b"disabled" {
                    self.begin();
                    self.set(&lossy(path), TestStatus::Skipped);
                }
            }
        }
    }

    fn error(&mut self, path: &[u8], why: &[u8], line: &[u8], number: u64) {
        if self.logged {
            // Where every test is named, an error belongs to the one that is open.
            match &mut self.open {
                Some(open) if open.path.as_bytes() == path || open.name == path => {
                    open.failed = true;
                }
                _ => return,
            }
        } else if self.tests.is_none() || path == b"Test setup" {
            // The log begins with the number of tests; what comes without is a test's output.
            return;
        } else {
            self.begin();
            self.set(&lossy(path), TestStatus::Failed);
        }
        let died = why.starts_with(b"signal: ") || why.starts_with(b"memory access violation");
        if died && self.fatal.len() < Self::MAX_PROOF {
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.fatal.push(Evidence::at("log", number, lossy(line)));
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let status = if open.failed {
                TestStatus::Failed
            } else {
                TestStatus::Passed
            };
            self.set(&open.path, status);
        }
    }

    fn case(&mut self, path: &str) -> &mut Case {
        let at = if let Some(at) = self.index.get(path) {
            *at
        } else {
            self.index.insert(path.to_owned(), self.cases.len());
            self.cases.push(Case {
                path: path.to_owned(),
                status: None,
                verdict: None,
            });
            self.cases.len() - 1
        };
        &mut self.cases[at]
    }

    pub(super) fn set(&mut self, path: &str, status: TestStatus) {
        let case = self.case(path);
        case.status = Some(case.status.map_or(status, |known| known.worst(status)));
    }

    /// A line of the plain report.
    fn told(&mut self, report: Report<'_>) {
        match report {
            Report::Module { name } => {
                if self.open.is_some() {
                    return;
                }
                self.phase = Phase::Ended;
                self.confirmed = true;
                self.telling = Telling::Module;
                self.module.get_or_insert_with(|| lossy(name));
                self.totals = Some(Totals::default());
            }
            Report::Suite => self.telling = Telling::Parts,
            Report::Case { path, status } => {
                self.telling = Telling::Parts;
                self.case(&lossy(path)).verdict = Some(status);
            }
            Report::Cases { count, total, what } if self.telling == Telling::Module => {
                if let Some(totals) = &mut self.totals {
                    totals.total = Some(total);
                    let field = match what {
                        b"passed" | b"passed with warnings" => &mut totals.passed,
                        b"failed" | b"timed-out" => &mut totals.failed,
                        b"skipped" => &mut totals.skipped,
                        _ => return,
                    };
                    *field = Some(field.unwrap_or(0).saturating_add(count));
                }
            }
            Report::Cases { .. } | Report::Other => {}
        }
    }

    /// What an XML document tells.
    pub(super) fn report(&mut self, event: Event, log: &mut ParsedLogBuilder) {
        self.begin();
        match event {
            Event::Log => {
                self.logged = true;
                self.phase = Phase::Begun;
            }
            Event::Module(name) => {
                self.module.get_or_insert(name);
            }
            Event::Case { path, status } => self.set(&path, status),
            Event::Verdict { path, status } => self.case(&path).verdict = Some(status),
            Event::Open(path) => log.still_running(path),
            Event::End => self.phase = Phase::Ended,
            Event::Totals { passed, failed } => {
                let totals = self.totals.get_or_insert_default();
                totals.passed = Some(passed);
                totals.failed = Some(failed);
            }
        }
    }

    /// Ends the run. Returns the test that was entered and not left.
    pub(super) fn settle(&mut self) -> Option<String> {
        let open = self.open.take()?;
        if open.failed {
            self.set(&open.path, TestStatus::Failed);
        }
        Some(open.path)
    }

    /// Records the tests. Returns the totals and whether the tests agree with them.
    pub(super) fn record(self, module: &str, log: &mut ParsedLogBuilder) -> Option<(Totals, bool)> {
        let (mut passed, mut failed, mut named) = (0_u64, 0_u64, 0_u64);
        let verdicts = self.cases.iter().any(|case| case.verdict.is_some());
        for case in &self.cases {
            let status = match (case.verdict, case.status) {
                // The report knows which failures were expected.
                (Some(TestStatus::Passed), Some(status)) if status != TestStatus::Passed => {
                    TestStatus::Xfail
                }
                (Some(verdict), _) => verdict,
                (None, Some(status)) => status,
                (None, None) => continue,
            };
            named += 1;
            if status.is_failing() {
                failed += 1;
            } else if status.is_passing() {
                passed += 1;
            }
            let qualified = if self.logged && !module.is_empty() {
                format!("{module}::{}", case.path)
            } else {
                case.path.clone()
            };
            log.record(module, &qualified, &case.path, status);
        }
        if let Some(totals) = self.totals {
            // Disabled tests are skipped in the report's counts, and expected failures pass.
            let fits = |declared: Option<u64>, counted: u64| declared.unwrap_or(0) == counted;
            let agrees = if verdicts {
                fits(totals.passed, passed) && fits(totals.failed, failed)
            } else {
                totals.failed.unwrap_or(0) <= failed
                    && (!self.logged || totals.passed.unwrap_or(0) >= passed)
            };
            return Some((totals, agrees));
        }
        let tests = self.tests.filter(|_| self.logged || verdicts)?;
        Some((only(tests), tests == named))
    }
}
