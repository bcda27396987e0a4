//! The XML reporter and the `JUnit` reporter.

use super::in_suite;
use crate::cpp::junit::{self, Case, Junit};
use crate::cpp::xml::{Kind, Tag, Tags};
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus, Totals};

/// One document after another.
#[derive(Debug, Default)]
pub(super) struct Reports {
    tags: Tags,
    root: Option<Root>,
    /// How the documents and runs ended; the worst counts.
    pub(super) outcome: Option<RunOutcome>,
    pub(super) disagrees: bool,
    pub(super) declared: bool,
}

/// An open document.
#[derive(Debug)]
struct Root {
    binary: String,
    suite: String,
    junit: Option<Junit>,
    open: Option<Open>,
    tests: u64,
    failed: u64,
    totals: Option<Totals>,
    crashed: bool,
}

/// A `<TestCase>`.
#[derive(Debug, Default)]
struct Open {
    name: String,
    may_fail: bool,
    should_fail: bool,
    threw: bool,
    status: Option<TestStatus>,
}

fn wanted(name: &[u8]) -> bool {
    matches!(
        name,
        b"doctest"
            | b"TestSuite"
            | b"TestCase"
            | b"Exception"
            | b"OverallResultsAsserts"
            | b"OverallResultsTestCases"
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
            b"doctest" | b"testsuite" if !tag.is_close() => {
                let junit = tag.name == b"testsuite";
                let (key, own) = if junit {
                    ("name", "doctest_version")
                } else {
                    ("binary", "binary")
                };
                if tag.raw(own).is_none() {
                    return;
                }
                self.cut(log);
                let binary = tag.text(key).unwrap_or_default();
                let file = binary.rsplit(['/', '\\']).next().unwrap_or_default();
                self.root = Some(Root {
                    binary: file.to_owned(),
                    suite: String::new(),
                    junit: junit.then(Junit::default),
                    open: None,
                    tests: 0,
                    failed: 0,
                    totals: None,
                    crashed: false,
                });
                if tag.kind == Kind::Empty {
                    self.end(log);
                }
            }
            b"doctest" | b"testsuite" => self.end(log),
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
            self.disagrees |=
                totals.total != Some(root.tests) || totals.failed != Some(root.failed);
        }
        self.outcome(if root.crashed {
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
        if let Some(case) = case {
            log.still_running(case.name.clone());
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
            if let Some(Case {
                name,
                class,
                status,
                ..
            }) = junit.take(tag)
            {
                self.tests += 1;
                log.record(&class, &in_suite(&class, &name), &name, status);
            }
            return;
        }
        match tag.name {
            b"TestSuite" if !tag.is_close() => {
                self.suite = tag.text("name").unwrap_or_default();
            }
            b"TestCase" if tag.is_close() => self.close(log),
            b"TestCase" => {
                // A list of tests names the suite of each.
                let listed = tag.raw("testsuite").is_some();
                self.open = Some(Open {
                    name: tag.text("name").unwrap_or_default(),
                    may_fail: tag.is_true("may_fail"),
                    should_fail: tag.is_true("should_fail"),
                    threw: false,
                    status: (tag.is_true("skipped") && !listed).then_some(TestStatus::Skipped),
                });
                if tag.kind == Kind::Empty {
                    self.close(log);
                }
            }
            _ if tag.is_close() => {}
            b"OverallResultsTestCases" => {
                if let (Some(passed), Some(failed)) =
                    (tag.number("successes"), tag.number("failures"))
                {
                    let skipped = tag.number("skipped");
                    let total = passed
                        .saturating_add(failed)
                        .saturating_add(skipped.unwrap_or(0));
                    self.totals = Some(Totals {
                        total: Some(total),
                        failed: Some(failed),
                        skipped,
                        ..Totals::default()
                    });
                }
            }
            b"Exception" => {
                // That of an assertion has no such attribute.
                if let Some(open) = self.open.as_mut().filter(|_| tag.raw("crash").is_some()) {
                    open.threw = true;
                    self.crashed |= tag.is_true("crash");
                }
            }
            b"OverallResultsAsserts" => {
                if let Some(open) = &mut self.open {
                    let status = open.verdict(tag);
                    open.status = Some(open.status.map_or(status, |known| known.worst(status)));
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, log: &mut ParsedLogBuilder) {
        let Some(open) = self.open.take() else {
            return;
        };
        let Some(status) = open.status else {
            return;
        };
        self.tests += 1;
        self.failed += u64::from(status == TestStatus::Failed);
        let qualified = in_suite(&self.binary, &in_suite(&self.suite, &open.name));
        log.record(&self.binary, &qualified, &open.name, status);
    }
}

impl Open {
    /// What the counts of a test's assertions make of it.
    fn verdict(&self, tag: Tag<'_>) -> TestStatus {
        let failures = tag.number("failures").unwrap_or(0);
        let failed = failures > 0 || self.threw;
        let success = match tag.raw("test_case_success") {
            Some(success) => success == b"true",
            // Before 2.4 the decorators decide.
            None => match tag.number("expected_failures") {
                Some(expected) => failures == expected,
                None => {
                    if self.should_fail {
                        failed
                    } else {
                        !failed || self.may_fail
                    }
                }
            },
        };
        match (success, failed) {
            (true, false) => TestStatus::Passed,
            (true, true) => TestStatus::Xfail,
            (false, _) => TestStatus::Failed,
        }
    }
}
