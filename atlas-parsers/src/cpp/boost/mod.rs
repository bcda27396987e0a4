//! Boost.Test: its log (human-readable, XML, `JUnit`) and its report (plain, XML).
//!
//! With `--log_level=test_suite` and the levels above, every test is entered and left by name; the
//! log of fewer words names only failing tests. `--report_level=detailed` lists every test, and
//! where it is there, it has the last word: a failure that was expected is known only from it.
//!
//! Ids are `suite/nested/case` without the name of the module. Disabled tests are no part of the
//! run and not reported.

mod line;
mod run;
mod xml;

use crate::cpp::compiler::Build;
use crate::cpp::death::Tail;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use line::Line;
use memchr::memmem;
use run::{Phase, Run};
use xml::Reports;

/// The parser.
pub(crate) static BOOST: Shipped = Shipped::new(
    "boost",
    &About {
        languages: &["c++"],
        aliases: &["boost_test", "boosttest", "boost.test"],
        contains: &["junit"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "Boost.Test's log (HRF, XML, JUNIT) and report (HRF, XML), alone or together; several modules in one log",
            "passing tests without --log_level=test_suite or --report_level=detailed; without the latter, \
             whether a failure was expected",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["*TR<", "*"], "<", "*", ""),
    Look(["*", "*"], "*", "*", "in \""),
    Look(["*", "*"], "*", "*", "r in \""),
    Look(["*", "*"], "*", "*", "Entering test "),
    Look(["*", "*"], "*", "*", "Leaving test "),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        // Laid out by another program.
        b' ' | b'\t' | b'<'
            if matches!(before, b"<TestLog>" | b"<TestResult>")
                && line.trim_ascii_start().starts_with(b"<TestSuite ") =>
        {
            Place::Start.certain("Boost.Test's XML root")
        }
        b'*' | b'T' if line::end(line).is_some() => Place::End.certain("Boost.Test's confirmation"),
        b'T' if matches!(line::report(line), Some(line::Report::Module { .. })) => {
            Place::End.certain("Boost.Test's report")
        }
        b'R' if line::running(line).is_some() => Place::Start.hint("`Running N test cases...`"),
        b'<' if line.starts_with(b"<TestLog><") || line.starts_with(b"<TestResult><TestSuite ") => {
            Place::Start.certain("Boost.Test's XML root")
        }
        b'<' if line.starts_with(b"<testsuite tests=\"")
            && memmem::find(line, b" id=\"0\" name=\"").is_some() =>
        {
            Place::Start.certain("a `<testsuite` as Boost.Test writes it")
        }
        _ => match line::read(line)? {
            Line::EnterModule(_) | Line::LeaveModule(_) => {
                Place::Within.certain("Boost.Test's `Entering test module`")
            }
            Line::LeaveCase(_) | Line::EnterCase(_) => {
                Place::Within.certain("Boost.Test's `Entering test case`")
            }
            Line::Error { .. } => Place::Within.hint("an `error: in \"` line"),
            _ => None,
        },
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: u64,
    reports: Reports,
    run: Run,
    tail: Tail,
    build: Build,
    runs: Runs,
    /// A second confirmation, of the next run if one follows, or else a test's output.
    next: Option<Vec<u8>>,
    /// `Running N test cases...` was the last line, while a test ran: printed by it, unless a module
    /// begins.
    announced: Option<u64>,
}

impl State {
    /// Records the run that was read.
    fn flush(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        if run.phase == Phase::Unseen {
            return;
        }
        let ended = run.phase == Phase::Ended;
        let mut deaths: Vec<Evidence> = std::mem::take(&mut run.fatal);
        let cut = run.settle();
        if cut.is_some() || !ended {
            deaths.extend(self.tail.deaths());
        }
        let died = !deaths.is_empty();
        let module = run.module.take().unwrap_or_default();
        if died {
            self.log.lose(&module, LostReason::Crashed, deaths);
        }
        if let Some(open) = cut {
            self.log.still_running(open.clone());
            if died {
                run.set(&open, TestStatus::Error);
            }
        }
        let agrees = run.record(&module, &mut self.log);
        if let Some((totals, agrees)) = agrees {
            self.log.add_totals(totals);
            self.runs.agree(agrees);
        }
        self.runs.worst(if died {
            RunOutcome::Crashed
        } else if !ended {
            RunOutcome::Truncated
        } else {
            RunOutcome::Completed
        });
        self.tail.clear();
    }

    /// Another run may begin here.
    fn begin(&mut self, fresh: bool) {
        if fresh {
            self.flush();
            if let Some(line) = self.next.take() {
                self.run.line(&line, self.line);
            }
        }
        self.run.begin();
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        let announced = self.announced.take();
        let mut begins = false;
        let run = &mut self.run;
        let log = &mut self.log;
        let inside = self.reports.line(line, |event| {
            begins |= event == xml::Event::Log && run.logged;
            if !begins {
                run.report(event, log);
            }
        });
        if begins {
            // A second log begins: the run before it is over. Its line is read again, from the
            // start of the document, which stands at the start of a line or behind the last one.
            self.flush();
            self.reports = Reports::default();
            let at = memmem::rfind(line, b"<TestLog>")
                .or_else(|| memmem::rfind(line, b"<testsuite "))
                .unwrap_or(0);
            let (run, log) = (&mut self.run, &mut self.log);
            self.reports
                .line(&line[at..], |event| run.report(event, log));
            return;
        }
        if inside {
            return;
        }
        if let Some(tests) = line::running(line) {
            if self.run.logged && self.run.is_inside() {
                self.announced = Some(tests);
                return;
            }
            self.begin(self.run.tests.is_some() || self.run.logged);
            self.run.tests = Some(tests);
            return;
        }
        if let Some(Line::EnterModule(_)) = line::read(line)
            && self.run.logged
        {
            self.flush();
            self.run.tests = announced;
        }
        if self.run.confirmed {
            if line::end(line).is_some() {
                if self.run.tests.is_some() {
                    self.next = Some(line.to_vec());
                    return;
                }
                self.flush();
            } else if matches!(line::report(line), Some(line::Report::Module { .. })) {
                self.flush();
            }
        }
        self.run.line(line, self.line);
        match self.run.phase {
            Phase::Unseen => self.build.line(line, self.line),
            Phase::Begun => self.tail.push(self.line, line),
            Phase::Ended => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        if self.reports.open() {
            self.run.phase = self.run.phase.min(Phase::Begun);
        }
        self.flush();
        let unbuilt = self.build.report(&mut self.log);
        self.runs.finish(self.log, unbuilt)
    }
}

/// Totals of which only the number of tests is known.
fn only(total: u64) -> Totals {
    Totals {
        total: Some(total),
        ..Totals::default()
    }
}
