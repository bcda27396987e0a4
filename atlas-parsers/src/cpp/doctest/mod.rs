//! doctest 1 and 2: the console, XML and `JUnit` reporters.
//!
//! The console names a test in the header of what it has to tell of it: failures and messages, and
//! with `-s` all assertions, with `-d` every test. Only with one of these a test without a failure
//! is known to have passed. Failures that a decorator allows are told by the line behind them.
//!
//! Ids are the names of test cases; the qualified id has the suite in front.

mod console;
mod xml;

use crate::cpp::compiler::Build;
use crate::cpp::death::Tail;
use crate::cpp::text::{lossy, number};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, Totals,
};
use console::Run;
use xml::Reports;

/// The parser.
pub(crate) static DOCTEST: Shipped = Shipped::new(
    "doctest",
    &About {
        languages: &["c++"],
        aliases: &["doctest_cpp"],
        contains: &["junit"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "the console, xml and junit reporters of doctest (C++) 1 and 2; several binaries in one log",
            "passing tests without -s or -d; skipped tests, but in xml; with junit, which failures were expected",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["[", "d"], "", "*", ""),
    Look(["<", "*"], "<", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'[' => {
            let text = line.strip_prefix(b"[doctest] ")?;
            if text.starts_with(b"doctest version is \"") {
                Place::Start.certain("`[doctest] doctest version is`")
            } else if totals(line).is_some() || text.starts_with(b"Status: ") {
                Place::End.certain("doctest's totals")
            } else {
                None
            }
        }
        b'<' | b' ' => {
            let text = line.trim_ascii_start();
            if text.starts_with(b"<doctest binary=\"") {
                Place::Start.certain("doctest's XML root")
            } else if text.starts_with(b"<testsuite ")
                && memchr::memmem::find(text, b" doctest_version=\"").is_some()
            {
                Place::Start.certain("a `doctest_version`")
            } else {
                None
            }
        }
        _ => None,
    }
}

/// `[doctest] test cases: 29 | 15 passed | 14 failed | 2 skipped`
fn totals(line: &[u8]) -> Option<Totals> {
    let text = line.strip_prefix(b"[doctest] test cases:")?;
    let mut columns = text.split(|byte| *byte == b'|');
    let (total, rest) = number(columns.next()?.trim_ascii())?;
    if !rest.is_empty() {
        return None;
    }
    let mut totals = Totals {
        total: Some(total),
        ..Totals::default()
    };
    for column in columns {
        let column = column.trim_ascii();
        if column.is_empty() {
            continue;
        }
        let (count, what) = number(column)?;
        match what {
            b" passed" => totals.passed = Some(count),
            b" failed" => totals.failed = Some(count),
            // Filtered out; not part of the total.
            b" skipped" => {}
            _ => return None,
        }
    }
    totals.failed.is_some().then_some(totals)
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: u64,
    reports: Reports,
    run: Run,
    tail: Tail,
    build: Build,
}

impl State {
    fn end(&mut self, totals: Totals) {
        let mut run = std::mem::take(&mut self.run);
        let crashed = !run.fatal.is_empty();
        if crashed {
            let proof = std::mem::take(&mut run.fatal);
            self.log.lose("", LostReason::Crashed, proof);
        }
        let agrees = run.record(Some(totals), &mut self.log);
        self.reports.runs.agree(agrees);
        self.log.add_totals(totals);
        self.reports.runs.worst(if crashed {
            RunOutcome::Crashed
        } else if totals.total == Some(0) {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        });
        self.tail.clear();
    }

    fn cut(&mut self, died: bool) {
        let mut run = std::mem::take(&mut self.run);
        if !run.began {
            return;
        }
        let mut deaths: Vec<Evidence> = std::mem::take(&mut run.fatal);
        deaths.extend(self.tail.deaths());
        let died = died || !deaths.is_empty();
        if died {
            self.log.lose("", LostReason::Crashed, deaths);
        }
        run.interrupted(died, &mut self.log);
        run.record(None, &mut self.log);
        self.reports.runs.worst(if died {
            RunOutcome::Crashed
        } else {
            RunOutcome::Truncated
        });
        self.tail.clear();
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if self.reports.line(line, &mut self.log) {
            return;
        }
        if line.starts_with(b"[doctest] ") {
            if let Some(totals) = totals(line).filter(|_| self.run.after_rule()) {
                self.end(totals);
            } else if line.starts_with(b"[doctest] doctest version is \"")
                || line.starts_with(b"[doctest] run with \"--")
            {
                let version = line.starts_with(b"[doctest] doctest version");
                if self.run.versioned && version || self.run.has_results() {
                    self.cut(true);
                }
                self.run.began = true;
                self.run.versioned |= version;
            }
            return;
        }
        self.run.line(line, self.line);
        if self.run.began {
            self.tail.push(self.line, line);
        } else {
            self.build.line(line, self.line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.reports.cut(&mut self.log);
        self.cut(false);
        let unbuilt = self.build.report(&mut self.log);
        self.reports.runs.finish(self.log, unbuilt)
    }
}

/// The qualified id of a test in a suite.
fn in_suite(suite: &str, name: &str) -> String {
    if suite.is_empty() {
        name.to_owned()
    } else {
        format!("{suite}::{name}")
    }
}

/// A line of a run's console as evidence.
fn evidence(number: u64, line: &[u8]) -> Evidence {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    Evidence::at("log", number, lossy(line))
}
