//! The XML reporter and the `JUnit` reporter.

use crate::cpp::junit::{self, Case, Junit};
use crate::cpp::xml::{Kind, Tag, Tags};
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus, Totals};

/// One document after another.
#[derive(Debug, Default)]
pub(super) struct Reports {
    tags: Tags,
    root: Option<Root>,
    pub(super) documents: u64,
    /// How the documents ended; the worst counts.
    pub(super) outcome: Option<RunOutcome>,
    pub(super) disagrees: bool,
    pub(super) declared: bool,
}

/// An open document.
#[derive(Debug)]
struct Root {
    binary: String,
    junit: Option<Junit>,
    open: Option<Open>,
    tests: u64,
    failed: u64,
    totals: Option<Totals>,
    fatal: bool,
}

/// A `<TestCase>`.
#[derive(Debug, Default)]
struct Open {
    name: String,
    may_fail: bool,
    failed: bool,
    status: Option<TestStatus>,
}

fn wanted(name: &[u8]) -> bool {
    matches!(
        name,
        b"Catch"
            | b"Catch2TestRun"
            | b"TestCase"
            | b"OverallResult"
            | b"OverallResultsCases"
            | b"Expression"
            | b"Exception"
            | b"Failure"
            | b"FatalErrorCondition"
    ) || junit::wanted(name)
}

impl Reports {
    /// Takes a line. Returns whether a document is open before or behind it.
    pub(super) fn line(&mut self, line: &[u8], log: &mut ParsedLogBuilder) -> bool {
        let inside = self.root.is_some();
        if !inside && !self.tags.inside() && memchr::memchr(b'<', line).is_none() {
            return false;
        }
        let mut tags = std::mem::take(&mut self.tags);
        tags.line(line, wanted, |tag| self.tag(tag, log));
        self.tags = tags;
        inside || self.root.is_some()
    }

    fn tag(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder) {
        match tag.name {
            b"Catch" | b"Catch2TestRun" | b"testsuite" if !tag.is_close() => {
                // The runner's own; another runner's `<testsuite>` is not read.
                if tag.name == b"testsuite" && tag.raw("hostname") != Some(b"tbd") {
                    return;
                }
                self.cut(log);
                self.documents += 1;
                let root = Root {
                    binary: tag.text("name").unwrap_or_default(),
                    junit: (tag.name == b"testsuite").then(Junit::default),
                    open: None,
                    tests: 0,
                    failed: 0,
                    totals: None,
                    fatal: false,
                };
                self.root = Some(root);
                if tag.kind == Kind::Empty {
                    self.end(log);
                }
            }
            b"Catch" | b"Catch2TestRun" | b"testsuite" => self.end(log),
            _ => {
                if let Some(root) = &mut self.root {
                    root.tag(tag, log);
                }
            }
        }
    }

    fn end(&mut self, log: &mut ParsedLogBuilder) {
        let Some(root) = self.root.take() else {
            return;
        };
        if let Some(totals) = root.totals {
            log.add_totals(totals);
            self.declared = true;
            let failed = totals.failed.unwrap_or(0);
            self.disagrees |= totals.total != Some(root.tests) || failed != root.failed;
        }
        self.outcome(if root.fatal {
            RunOutcome::Crashed
        } else if root.tests == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        });
    }

    /// The document stops here, without its end.
    pub(super) fn cut(&mut self, log: &mut ParsedLogBuilder) {
        let Some(root) = self.root.take() else {
            return;
        };
        let case = root.junit.as_ref().and_then(Junit::open);
        if let Some(name) = case.map(|case| &case.name) {
            log.still_running(name.clone());
        } else if let Some(open) = root.open.filter(|open| open.status.is_none()) {
            log.still_running(open.name);
        }
        self.outcome(RunOutcome::Truncated);
    }

    pub(super) fn outcome(&mut self, outcome: RunOutcome) {
        let rank = |outcome| match outcome {
            RunOutcome::Crashed => 3,
            RunOutcome::Truncated => 2,
            RunOutcome::Completed => 1,
            _ => 0,
        };
        if self.outcome.is_none_or(|known| rank(outcome) > rank(known)) {
            self.outcome = Some(outcome);
        }
    }
}

impl Root {
    fn tag(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder) {
        if let Some(junit) = &mut self.junit {
            if let Some(case) = junit.take(tag) {
                let status = status_of(&case);
                self.record(&case.name, status, log);
            }
            return;
        }
        match tag.name {
            b"TestCase" if tag.is_close() => self.close(log),
            b"TestCase" => {
                let tags = tag.text("tags").unwrap_or_default();
                self.open = Some(Open {
                    name: tag.text("name").unwrap_or_default(),
                    may_fail: tags.contains("[!mayfail]") || tags.contains("[!shouldfail]"),
                    ..Open::default()
                });
                if tag.kind == Kind::Empty {
                    self.close(log);
                }
            }
            _ if tag.is_close() => {}
            b"OverallResultsCases" => {
                let count = |name| tag.number(name).unwrap_or(0);
                let (passed, failed) = (count("successes"), count("failures"));
                let (expected, skipped) = (count("expectedFailures"), count("skips"));
                let total = [failed, expected, skipped]
                    .into_iter()
                    .fold(passed, u64::saturating_add);
                self.totals = Some(Totals {
                    total: Some(total),
                    passed: Some(passed),
                    failed: Some(failed),
                    skipped: tag.raw("skips").and(Some(skipped)),
                    xfailed: Some(expected),
                    ..Totals::default()
                });
            }
            name => {
                self.fatal |= name == b"FatalErrorCondition";
                let Some(open) = &mut self.open else {
                    return;
                };
                match name {
                    b"OverallResult" => {
                        let status = if !tag.is_true("success") {
                            TestStatus::Failed
                        } else if open.may_fail && open.failed {
                            TestStatus::Xfail
                        } else if tag.number("skips").unwrap_or(0) > 0 {
                            TestStatus::Skipped
                        } else {
                            TestStatus::Passed
                        };
                        let known = open.status.unwrap_or(status);
                        open.status = Some(known.worst(status));
                    }
                    b"Expression" => open.failed |= !tag.is_true("success"),
                    _ => open.failed = true,
                }
            }
        }
    }

    fn close(&mut self, log: &mut ParsedLogBuilder) {
        if let Some(open) = self.open.take()
            && let Some(status) = open.status
        {
            self.record(&open.name, status, log);
        }
    }

    fn record(&mut self, name: &str, status: TestStatus, log: &mut ParsedLogBuilder) {
        self.tests += 1;
        self.failed += u64::from(status == TestStatus::Failed);
        if self.binary.is_empty() {
            log.record("", name, name, status);
        } else {
            log.record(
                &self.binary,
                &format!("{}::{name}", self.binary),
                name,
                status,
            );
        }
    }
}

fn status_of(case: &Case) -> TestStatus {
    match &case.skipped {
        // Failures of a test that may fail are told all the same.
        Some(why) if why.starts_with("TEST_CASE tagged with !mayfail") => {
            if case.status.is_failing() {
                TestStatus::Xfail
            } else {
                TestStatus::Passed
            }
        }
        _ => case.status,
    }
}
