//! `CUnit`: the basic interface (verbose, normal, silent) and the automated one's XML.
//!
//! `  Test: name ...` comes before the test's output and `passed` or `FAILED` directly behind it,
//! so the verdict is the end of the last line before the next thing that `CUnit` prints.

mod line;
mod xml;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use xml::Xml;

/// `CUnit`.
pub(crate) static CUNIT: Shipped = Shipped::new(
    "cunit",
    &About {
        languages: &["c"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "CUnit 2.0 to 2.1-3: the basic interface in all modes, the automated one's XML",
            "passing tests in normal mode, all tests in silent mode and in the console \
             interface; where a name with ` ...` in it ends",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["R<", "*"], "CT", "*", ""),
    Look(["-", "-"], "", "*", "mary: Type "),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b' ' if line.starts_with(b"     CUnit - A unit testing framework for C") => {
            Place::Start.certain("the heading of CUnit")
        }
        b' ' if line.starts_with(b"  Test: ") && memchr::memmem::find(line, b" ...").is_some() => {
            Some(if before.starts_with(b"Suite: ") {
                Mark::certain(Place::Within, "`Suite:` and `Test:` lines")
            } else {
                Mark::hint(Place::Within, "a `Test: name ...` line")
            })
        }
        b'R' if line.starts_with(b"Run Summary:    Type  Total    Ran Passed Failed") => {
            Place::End.certain("a `Run Summary`")
        }
        b'-' if line.starts_with(b"--Run Summary: Type ") => Place::End.certain("a `Run Summary`"),
        b'<' if line.starts_with(b"<CUNIT_TEST_RUN_REPORT>") => {
            Place::Start.certain("a report of CUnit")
        }
        _ => None,
    }
}

/// A test whose end is not yet known.
#[derive(Clone)]
struct Open {
    name: String,
    verdict: Option<TestStatus>,
    /// Its failed assertions are listed: it has ended.
    ended: bool,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    suite: String,
    /// `Suite: name`, until a test follows.
    pending: Option<String>,
    test: Option<Open>,
    /// Below `Run Summary`.
    summary: bool,
    begun: bool,
    ended: bool,
    /// Whether passing tests are named.
    verbose: bool,
    xml: Xml,
    ran: u64,
    failed: u64,
    recorded: u64,
    failing: u64,
}

impl State {
    fn record(&mut self, suite: &str, name: &str, status: TestStatus) {
        let id = format!("{suite} > {name}");
        self.recorded += 1;
        self.failing += u64::from(status.is_failing());
        self.log.record(suite, &id, &id, status);
    }

    /// Something of `CUnit`'s own follows: the open test has ended.
    fn close(&mut self) {
        if let Some(test) = self.test.take() {
            let suite = std::mem::take(&mut self.suite);
            match test.verdict {
                Some(status) => self.record(&suite, &test.name, status),
                None => self.log.still_running(format!("{suite} > {}", test.name)),
            }
            self.suite = suite;
        }
    }

    fn text(&mut self, line: &[u8]) {
        if let Some((name, output)) = line::test(line) {
            if let Some(suite) = self.pending.take() {
                self.close();
                self.suite = suite;
            } else if self.suite.is_empty() {
                return;
            }
            self.close();
            self.begun = true;
            self.verbose = true;
            self.summary = false;
            self.test = Some(Open {
                name: String::from_utf8_lossy(name).into_owned(),
                verdict: line::verdict(output),
                ended: false,
            });
            return;
        }
        if let Some(suite) = self.pending.take() {
            // No test follows: this was a test's output, which may end in a verdict.
            self.output(suite.as_bytes());
        }
        if let Some(suite) = line.strip_prefix(b"Suite: ") {
            self.pending = Some(String::from_utf8_lossy(suite).into_owned());
        } else if let Some((suite, name)) = line::had_failures(line) {
            let suite = String::from_utf8_lossy(suite).into_owned();
            self.begun = true;
            self.record(&suite, &String::from_utf8_lossy(name), TestStatus::Failed);
        } else if let Some(suite) = line::uninitialised(line) {
            self.close();
            self.begun = true;
            let proof = Evidence::at("log", self.line, String::from_utf8_lossy(line).into_owned());
            let suite = String::from_utf8_lossy(suite).into_owned();
            self.log.lose(&suite, LostReason::LoadFailed, vec![proof]);
        } else if line.starts_with(b"Run Summary:") || line.starts_with(b"--Run Summary:") {
            self.summary = true;
        } else if self.summary
            && let Some([total, Some(ran), passed, failed]) = line::row(line, b"tests ")
        {
            self.close();
            self.summary = false;
            self.ended = true;
            self.begun = false;
            self.suite.clear();
            self.ran = self.ran.saturating_add(ran);
            self.failed = self.failed.saturating_add(failed.unwrap_or(0));
            self.log.add_totals(Totals {
                total,
                passed,
                failed,
                ..Totals::default()
            });
        } else if line.starts_with(b"     CUnit - A unit testing framework for C") {
            self.close();
            self.begun = true;
        } else {
            self.output(line);
        }
    }

    /// A line of the open test's output, or of its failed assertions.
    fn output(&mut self, line: &[u8]) {
        if self.summary {
            return;
        }
        let Some(test) = &mut self.test else {
            return;
        };
        if line::is_assertion(line) {
            test.ended |= test.verdict == Some(TestStatus::Failed);
        } else if !test.ended
            && let Some(verdict) = line::verdict(line)
        {
            test.verdict = Some(verdict);
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        if self.xml.open {
            if let Some((suite, name, status)) = self.xml.line(&line) {
                self.record(&suite, &name, status);
            }
        } else if line.starts_with(b"<CUNIT_TEST_RUN_REPORT>") {
            self.xml.open = true;
            self.verbose = true;
        } else {
            self.text(&line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        let open = self.test.is_some() || self.begun || self.xml.open;
        self.close();
        if self.ended {
            let agrees = if self.verbose {
                self.recorded == self.ran && self.failing == self.failed
            } else {
                self.failing == self.failed
            };
            if self.verbose || self.recorded > 0 {
                self.log.set_consistent(agrees);
            }
        }
        let outcome = if open {
            RunOutcome::Truncated
        } else if self.ended || self.xml.ended {
            RunOutcome::Completed
        } else {
            RunOutcome::NothingRan
        };
        let named = self.verbose || self.recorded > 0;
        let mut log = self.log.finish(outcome);
        if !named {
            log.consistent = None;
        }
        log
    }
}
