//! The XML reporter and the `JUnit` reporter.

use super::in_suite;
use crate::cpp::junit::{self, Case, Junit};
use crate::cpp::reports::Document;
use crate::xml::{Kind, Tag};
use atlas_core::{ParsedLogBuilder, RunOutcome, TestStatus, Totals};

/// One document after another.
pub(super) type Reports = crate::cpp::reports::Reports<Root>;

/// An open document.
#[derive(Clone, Debug)]
pub(super) struct Root {
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
#[derive(Clone, Debug, Default)]
struct Open {
    name: String,
    may_fail: bool,
    should_fail: bool,
    threw: bool,
    status: Option<TestStatus>,
}

impl Document for Root {
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

    fn is_root(name: &[u8]) -> bool {
        matches!(name, b"doctest" | b"testsuite")
    }

    fn begin(tag: &Tag<'_>) -> Option<Self> {
        let junit = tag.name == b"testsuite";
        let (key, own) = if junit {
            ("name", "doctest_version")
        } else {
            ("binary", "binary")
        };
        tag.raw(own)?;
        let binary = tag.text(key).unwrap_or_default();
        let file = binary.rsplit(['/', '\\']).next().unwrap_or_default();
        Some(Self {
            binary: file.to_owned(),
            suite: String::new(),
            junit: junit.then(Junit::default),
            open: None,
            tests: 0,
            failed: 0,
            totals: None,
            crashed: false,
        })
    }

    fn take(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder) {
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

    fn running(&self) -> Option<&str> {
        if let Some(case) = self.junit.as_ref().and_then(Junit::open) {
            return Some(&case.name);
        }
        let open = self.open.as_ref().filter(|open| open.status.is_none());
        open.map(|open| open.name.as_str())
    }

    fn end(self, log: &mut ParsedLogBuilder) -> (RunOutcome, Option<bool>) {
        let agrees = self.totals.map(|totals| {
            log.add_totals(totals);
            totals.total == Some(self.tests) && totals.failed == Some(self.failed)
        });
        let outcome = if self.crashed {
            RunOutcome::Crashed
        } else if self.tests == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        (outcome, agrees)
    }
}

impl Root {
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
