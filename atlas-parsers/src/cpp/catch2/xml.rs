//! The XML reporter and the `JUnit` reporter.

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
    junit: Option<Junit>,
    open: Option<Open>,
    tests: u64,
    failed: u64,
    totals: Option<Totals>,
    fatal: bool,
}

/// A `<TestCase>`.
#[derive(Clone, Debug, Default)]
struct Open {
    name: String,
    may_fail: bool,
    failed: bool,
    status: Option<TestStatus>,
}

impl Document for Root {
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

    fn is_root(name: &[u8]) -> bool {
        matches!(name, b"Catch" | b"Catch2TestRun" | b"testsuite")
    }

    fn begin(tag: &Tag<'_>) -> Option<Self> {
        // The runner's own; another runner's `<testsuite>` is not read.
        let junit = tag.name == b"testsuite";
        (!junit || tag.raw("hostname") == Some(b"tbd")).then(|| Self {
            binary: tag.text("name").unwrap_or_default(),
            junit: junit.then(Junit::default),
            open: None,
            tests: 0,
            failed: 0,
            totals: None,
            fatal: false,
        })
    }

    fn take(&mut self, tag: Tag<'_>, log: &mut ParsedLogBuilder) {
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
            let failed = totals.failed.unwrap_or(0);
            totals.total == Some(self.tests) && failed == self.failed
        });
        let outcome = if self.fatal {
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
        if let Some(open) = self.open.take()
            && let Some(status) = open.status
        {
            self.record(&open.name, status, log);
        }
    }

    fn record(&mut self, name: &str, status: TestStatus, log: &mut ParsedLogBuilder) {
        self.tests += 1;
        self.failed += u64::from(status == TestStatus::Failed);
        log.record_in(&self.binary, "::", name, status);
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
