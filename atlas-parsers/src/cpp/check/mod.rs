//! libcheck: silent to verbose, its log, TAP, XML and subunit on the console.
//!
//! The results stand below the summary, which comes when all tests of a program have ended, so
//! nothing that a test prints stands among them; as many lines are read as the summary counts. A
//! summary is announced by `Running suite(s):`; one that is not shows that an earlier one was
//! printed by a test.

mod line;
mod xml;

use crate::cpp::build::number;
use crate::cpp::subunit::Subunit;
use crate::nested::Nested;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::tally::Tally;
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use line::{Line, Summary};
use std::collections::BTreeSet;
use xml::Xml;

/// libcheck.
pub(crate) static CHECK: Shipped = Shipped::new(
    "check",
    &About {
        languages: &["c", "c++"],
        aliases: &["libcheck"],
        // Its variables name it where the program's name does not.
        commands: &[
            &["CK_VERBOSITY=silent"],
            &["CK_VERBOSITY=minimal"],
            &["CK_VERBOSITY=normal"],
            &["CK_VERBOSITY=verbose"],
            &["CK_VERBOSITY=subunit"],
        ],
        contains: &["junit", "tap"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "libcheck 0.9 and newer: CK_SILENT to CK_VERBOSE, its log, TAP, XML and subunit",
            "tests that pass, below CK_VERBOSE; all tests, below CK_NORMAL; which turn of a \
             loop failed, in TAP and subunit",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["R0-9<on", "*"], "", "*", ""),
    Look(["t", "e"], "", "*", "st: "),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'R' if line.starts_with(b"Running suite(s): ") => {
            Place::Start.certain("a `Running suite(s):` line")
        }
        b'0'..=b'9' if Summary::read(line).is_some() => Place::End.certain("a `%: Checks:` line"),
        b'<' if Xml::opens(line) => Place::Start.certain("a report of libcheck's own XML"),
        b'o' | b'n' if line::tap(line).is_some() => {
            Place::Within.hint("TAP that names file, case and test")
        }
        b't' if line.starts_with(b"test: ") && line.get(6..)?.contains(&b':') => {
            Place::Within.hint("a `test: case:test` line")
        }
        _ => None,
    }
}

/// The lines that may still follow a summary.
#[derive(Clone, Default)]
struct Expected {
    passed: u64,
    failures: u64,
    errors: u64,
}

impl Expected {
    fn any(&self) -> bool {
        self.passed > 0 || self.failures > 0 || self.errors > 0
    }
}

/// One program on the console.
#[derive(Clone, Default)]
struct Program {
    begun: bool,
    ended: bool,
    suite: String,
    tally: Tally,
    expected: Expected,
    /// Tests that failed below an earlier summary.
    dropped: Vec<String>,
}

/// What stands on the console.
#[derive(Clone, Default)]
struct Console {
    program: Program,
    nested: Nested<Program>,
    /// Of the programs that are over.
    tally: Tally,
    begun: bool,
    /// A program has no summary.
    cut: bool,
    /// A test failed below one summary and not below the one that counts.
    doubted: bool,
}

impl Console {
    fn begin(&mut self, suite: &[u8]) {
        if self.program.begun && !self.program.ended {
            self.nested.begin(&mut self.program);
        } else {
            self.commit();
        }
        self.begun = true;
        self.program.begun = true;
        self.program.suite = String::from_utf8_lossy(suite.trim_ascii()).into_owned();
    }

    fn commit(&mut self) {
        if self.program.ended {
            self.nested.end(&mut self.program);
        }
        for program in self.nested.finish(&mut self.program) {
            self.cut |= program.begun && !program.ended;
            let failing: BTreeSet<&str> = program.tally.failing().collect();
            let is_gone = |name: &String| !failing.contains(name.as_str());
            self.doubted |= program.dropped.iter().any(is_gone);
            self.tally.append(program.tally);
        }
    }

    fn summary(&mut self, summary: Summary) {
        let program = &mut self.program;
        if !program.begun {
            return;
        }
        // Behind another one of this program: that was printed by a test, this is the end.
        program.ended = true;
        let before = std::mem::take(&mut program.tally);
        program.dropped.extend(before.failing().map(str::to_owned));
        program.tally.add_totals(summary.totals());
        program.expected = Expected {
            passed: summary.passed(),
            failures: summary.failures,
            errors: summary.errors,
        };
        if self.nested.is_inside() {
            self.nested.end(&mut self.program);
        }
    }

    /// The program whose results may follow: the one that ended last.
    fn last(&mut self) -> &mut Program {
        match self.nested.last_inside() {
            Some(inside) if !self.program.ended => inside,
            _ => &mut self.program,
        }
    }

    fn expects(&mut self) -> bool {
        self.begun && self.last().expected.any()
    }

    fn result(&mut self, line: &Line<'_>) {
        let program = self.last();
        let status = if line.fixture && program.expected.failures == 0 {
            TestStatus::Error
        } else {
            line.status
        };
        let left = match status {
            TestStatus::Failed => &mut program.expected.failures,
            TestStatus::Error => &mut program.expected.errors,
            _ => &mut program.expected.passed,
        };
        if *left > 0 {
            *left -= 1;
            program.tally.add(&program.suite, line.name, status);
        }
    }
}

/// libcheck's log, where results stand as they come and the summary below a heading.
#[derive(Clone, Default)]
struct Logged {
    open: bool,
    ending: bool,
    suite: String,
    tally: Tally,
}

impl Logged {
    fn line(&mut self, line: &[u8]) {
        if let Some(suite) = line.strip_prefix(b"Running suite ") {
            self.open = true;
            self.suite = String::from_utf8_lossy(suite).into_owned();
        } else if self.open {
            if line == b"Results for all suites run:" {
                self.ending = true;
            } else if let Some(result) = Line::read(line) {
                self.tally.add(&self.suite, result.name, result.status);
            }
        }
    }

    /// The summary directly below the heading. Returns whether it is the log's.
    fn summary(&mut self, summary: Summary) -> bool {
        let own = std::mem::take(&mut self.ending);
        if own {
            self.open = false;
            self.tally.add_totals(summary.totals());
        }
        own
    }
}

/// TAP, whose plan comes last.
#[derive(Clone, Default)]
struct Tap {
    results: Vec<(String, TestStatus)>,
    nested: Nested<Vec<(String, TestStatus)>>,
    tally: Tally,
}

impl Tap {
    fn result(&mut self, line: &[u8]) {
        let Some((place, name, status)) = line::tap(line) else {
            return;
        };
        let next_of = |results: &Vec<_>| results.len() as u64 + 1;
        // A printed line that goes no further.
        while place != next_of(&self.results) && self.nested.around().map(next_of) == Some(place) {
            self.nested.abandon(&mut self.results);
        }
        let next = next_of(&self.results);
        if place == 1 && next > 2 {
            self.nested.begin(&mut self.results);
        } else if place.checked_add(1) == Some(next) {
            // The same number again: the first of the two was printed by the test.
            self.results.pop();
        } else if place != next {
            return;
        }
        self.results.push((name.to_owned(), status));
    }

    fn plan(&mut self, line: &[u8]) {
        if let Some((count, b"")) = line.strip_prefix(b"1..").and_then(number)
            && count == self.results.len() as u64
        {
            let inside = self.nested.is_inside();
            self.nested.end(&mut self.results);
            if !inside {
                self.end();
            }
        }
    }

    fn unplanned(&self) -> bool {
        !self.results.is_empty() || self.nested.is_inside()
    }

    fn end(&mut self) {
        for (name, status) in self.nested.finish(&mut self.results).concat() {
            self.tally.add("", &name, status);
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    console: Console,
    logged: Logged,
    tap: Tap,
    subunit: Subunit,
    xml: Xml,
    xml_tally: Tally,
}

impl State {
    /// The form of output that says most, and whether it is cut off.
    fn choose(&mut self) -> (Tally, bool) {
        self.console.commit();
        let unplanned = self.tap.unplanned();
        let planned = std::mem::take(&mut self.tap.tally);
        let stopped = self.subunit.nest.stop();
        let forms = [
            (
                std::mem::take(&mut self.xml_tally),
                self.xml.open || self.xml.ended,
                self.xml.open,
            ),
            (
                std::mem::take(&mut self.console.tally),
                self.console.begun,
                self.console.cut,
            ),
        ];
        for (tally, used, cut) in forms {
            if used {
                return (tally, cut);
            }
        }
        if !self.logged.tally.is_empty() {
            return (std::mem::take(&mut self.logged.tally), self.logged.open);
        }
        if !planned.is_empty() {
            return (planned, unplanned);
        }
        if !self.subunit.nest.tally.is_empty() {
            return (std::mem::take(&mut self.subunit.nest.tally), stopped);
        }
        self.tap.end();
        (std::mem::take(&mut self.tap.tally), unplanned)
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let line = clean(line);
        let line = &*line;
        if self.xml.open {
            if let Some((suite, name, status)) = self.xml.line(line) {
                self.xml_tally.add(&suite, &name, status);
            }
            return;
        }
        match line.first() {
            Some(b'R') => {
                if let Some(suites) = line.strip_prefix(b"Running suite(s):") {
                    self.console.begin(suites);
                    return;
                }
            }
            Some(b'0'..=b'9') => {
                if let Some(summary) = Summary::read(line) {
                    if !self.logged.summary(summary) {
                        self.console.summary(summary);
                    }
                    return;
                }
                self.tap.plan(line);
            }
            Some(b'<') if Xml::opens(line) => {
                self.xml.open = true;
                return;
            }
            Some(b'o' | b'n') => self.tap.result(line),
            _ => {}
        }
        if self.console.expects()
            && let Some(result) = Line::read(line)
        {
            self.console.result(&result);
            return;
        }
        self.logged.line(line);
        self.subunit.line(line, TestStatus::Error);
    }

    fn finish(mut self) -> ParsedLog {
        let (tally, cut) = self.choose();
        let doubted = self.console.doubted;
        let outcome = if cut {
            RunOutcome::Truncated
        } else if tally.has_total() || !tally.is_empty() {
            RunOutcome::Completed
        } else {
            RunOutcome::NothingRan
        };
        // Below CK_VERBOSE the tests that pass are not named: nothing to compare.
        let quiet = !tally.names_passed();
        tally.record(&mut self.log);
        let mut log = self.log.finish(outcome);
        let passed = log.totals.and_then(|totals| totals.passed).unwrap_or(0);
        if quiet && passed > 0 {
            log.consistent = None;
        }
        if doubted {
            log.consistent = Some(false);
        }
        log
    }
}
