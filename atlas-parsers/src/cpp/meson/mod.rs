//! `meson test` (and `ninja test`): default, `-v`, `--print-errorlogs`, `--repeat`.
//!
//! One line names place, project, suites and test: ` 3/13 project:suite / name   OK   0.24s`. With
//! `-v` each test is announced as RUNNING and only an announced test has a result. What tests print
//! stands in a frame, which is not read, and so are the lists of failures at the end. Subtests
//! (TAP, `GoogleTest`) are the test's own matter and no tests of meson.

mod line;

use crate::cpp::build::Builds;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use line::{Field, TestLine};
use std::collections::{BTreeMap, HashMap, HashSet};

/// `meson test`.
pub(crate) static MESON: Shipped = Shipped::new(
    "meson",
    &About {
        languages: &["c", "c++"],
        commands: &[&["meson", "test"], &["ninja", "test"]],
        contains: &[
            "automake", "boost", "cargo", "catch2", "check", "cmocka", "cppunit", "cunit",
            "doctest", "gtest", "junit", "prove", "pytest", "tap", "unittest", "unity",
        ],
        ..About::new(
            "`meson test` 0.45 and newer: default, -v, --print-errorlogs, --repeat",
            "passing tests under --quiet; a result that the output of an unframed test forges \
             for itself",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["FE0-9", "*"], "0-9", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b' ' | b'0'..=b'9' => TestLine::read(line)
            .filter(|test| test.status.is_some())
            .map(|_| Mark::certain(Place::Within, "a `1/2 name OK 0.01s` line")),
        b'F' if line.starts_with(b"Full log written to ")
            && memchr::memmem::find(line, b"meson-logs").is_some() =>
        {
            Place::End.certain("the place of `meson-logs`")
        }
        b'E' if line.starts_with(b"Expected Fail:  ") => {
            Place::End.hint("an `Expected Fail:` total")
        }
        _ => None,
    }
}

/// What stands behind the tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tail {
    #[default]
    None,
    /// The output of failed tests without a frame, as versions before 0.57 print it.
    Output,
    /// The failures once more; 0.55 and 0.56 name them here only.
    Summary,
}

/// The result of one test.
#[derive(Clone)]
struct Found {
    place: u64,
    name: String,
    status: TestStatus,
    column: usize,
}

/// One `meson test`.
#[derive(Clone, Default)]
struct Run {
    /// How many tests each line says there are.
    all: u64,
    running: BTreeMap<u64, String>,
    verbose: bool,
    results: Vec<Found>,
    by_place: HashMap<u64, usize>,
    totals: Option<Totals>,
    tail: Tail,
}

impl Run {
    /// What is known of the test in this line: the last result of its place, if it has the name.
    fn known(&mut self, test: &TestLine<'_>) -> Option<&mut Found> {
        let at = *self.by_place.get(&test.place)?;
        self.results
            .get_mut(at)
            .filter(|found| found.name == test.name)
    }

    /// Whether there is a result for each that the totals count.
    fn agrees(&self) -> bool {
        let same = |declared: Option<u64>, statuses: &[TestStatus]| {
            let counted = self.results.iter();
            let counted = counted.filter(|found| statuses.contains(&found.status));
            declared.unwrap_or(0) == counted.count() as u64
        };
        self.totals.is_some_and(|totals| {
            same(totals.passed, &[TestStatus::Passed])
                && same(totals.failed, &[TestStatus::Failed, TestStatus::Error])
                && same(totals.skipped, &[TestStatus::Skipped])
                && same(totals.xfailed, &[TestStatus::Xfail])
                && same(totals.xpassed, &[TestStatus::Xpass])
        })
    }

    /// A place has one test. Of several, one whose status stands where most statuses do is real,
    /// and of several such the last.
    fn drop_forged(&mut self) {
        let places: HashSet<u64> = self.results.iter().map(|found| found.place).collect();
        if places.len() == self.results.len() {
            return;
        }
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for found in &self.results {
            *columns.entry(found.column).or_default() += 1;
        }
        let usual = columns.iter().max_by_key(|(_, count)| **count);
        let usual = usual.map_or(0, |(column, _)| *column);
        let mut chosen: HashMap<u64, (bool, usize)> = HashMap::new();
        for (at, found) in self.results.iter().enumerate() {
            let rank = (found.column == usual, at);
            let best = chosen.entry(found.place).or_insert(rank);
            *best = rank.max(*best);
        }
        let mut at = 0;
        self.results.retain(|found| {
            let keep = chosen.get(&found.place).is_some_and(|best| best.1 == at);
            at += 1;
            keep
        });
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    builds: Builds,
    run: Run,
    framed: bool,
    runs: Runs,
}

impl State {
    fn test(&mut self, test: &TestLine<'_>) {
        if self.run.tail == Tail::Output {
            return;
        }
        if self.run.totals.is_some() {
            // More tests behind the totals: this is another run, or a test printed the totals.
            if test.place == 1 && self.run.agrees() {
                self.close();
            } else {
                self.run.totals = None;
            }
        }
        let run = &mut self.run;
        if run.all == 0 {
            run.all = test.all;
        }
        if test.all != run.all || test.place > test.all || test.place == 0 {
            return;
        }
        let Some(status) = test.status else {
            run.verbose = true;
            if run.known(test).is_none() {
                // Announced after its result: that was printed by another test.
                run.by_place.remove(&test.place);
            }
            run.running.insert(test.place, test.name.to_owned());
            return;
        };
        if let Some(known) = run.known(test) {
            // The list of failures, or a result that a test has printed of another.
            known.status = known.status.worst(status);
            return;
        }
        if run.verbose {
            if run
                .running
                .get(&test.place)
                .is_none_or(|name| name != test.name)
            {
                return;
            }
            run.running.remove(&test.place);
        }
        run.by_place.insert(test.place, run.results.len());
        run.results.push(Found {
            place: test.place,
            name: test.name.to_owned(),
            status,
            column: test.column,
        });
    }

    fn total(&mut self, field: Field, count: u64) {
        if field == Field::Passed {
            self.run.totals = Some(Totals::default());
        }
        let Some(totals) = &mut self.run.totals else {
            return;
        };
        let sum = match field {
            Field::Passed => &mut totals.passed,
            Field::Failed => &mut totals.failed,
            Field::Skipped => &mut totals.skipped,
            Field::Xfailed => &mut totals.xfailed,
            Field::Xpassed => &mut totals.xpassed,
        };
        *sum = Some(sum.unwrap_or(0).saturating_add(count));
    }

    /// Ends a run.
    fn close(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        run.drop_forged();
        let agrees = run.agrees();
        for Found { name, status, .. } in &run.results {
            let module = name.find(" / ").and_then(|at| name.get(..at));
            self.log
                .record(module.unwrap_or_default(), name, name, *status);
        }
        if let Some(totals) = run.totals {
            self.log.add_totals(totals);
            self.runs.agree(agrees);
            self.runs.worst(RunOutcome::Completed);
        } else if !run.results.is_empty() || !run.running.is_empty() {
            self.runs.worst(RunOutcome::Truncated);
            for name in run.running.into_values() {
                self.log.still_running(name);
            }
        }
    }

    fn text(&mut self, line: &[u8]) {
        if self.framed {
            self.framed = line::is_opening(line) || !line::is_bar(line);
            return;
        }
        match line.first() {
            Some(b' ' | b'0'..=b'9') => {
                if let Some(test) = TestLine::read(line) {
                    self.test(&test);
                }
            }
            Some(b'O' | b'E' | b'U' | b'I') => self.totals_line(line),
            Some(b'S' | b'F' | b'T') => match line {
                b"Summary of Failures:" if self.run.totals.is_none() => {
                    self.run.tail = Tail::Summary;
                }
                _ if line.starts_with(b"The output from ") && line.ends_with(b"failed tests:") => {
                    self.run.tail = Tail::Output;
                }
                _ if line.starts_with(b"Full log written to ") => self.close(),
                _ => self.totals_line(line),
            },
            Some(0xe2 | b'-') if self.run.all > 0 => self.framed = line::is_opening(line),
            _ => {}
        }
    }

    fn totals_line(&mut self, line: &[u8]) {
        if self.run.all > 0
            && self.run.tail != Tail::Output
            && let Some((field, count)) = line::total(line)
        {
            self.total(field, count);
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        if self.run.all == 0 {
            self.builds.line(&clean(line), self.line);
        }
        if memchr::memchr(b'\r', line).is_none() {
            self.text(&clean(line));
            return;
        }
        // A spinner writes over its line; each text of it was a line once.
        for part in line.split(|byte| *byte == b'\r') {
            self.text(&clean(part));
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        let unbuilt = self.builds.finish(&mut self.log);
        self.runs.finish(self.log, unbuilt)
    }
}
