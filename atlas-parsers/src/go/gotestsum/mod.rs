//! [gotestsum](https://github.com/gotestyourself/gotestsum), a runner in front of `go test`.
//!
//! `testname` and `github-actions` have a line for each test, `PASS pkg.TestA (0.00s)`. A failing
//! test's output stands before its line and begins with `=== RUN`, or between the lines of a group:
//! nothing in there is a result. All formats end in a summary that names the tests that failed or
//! were skipped, and the compact ones (`pkgname`, `dots`, `testdox`) name tests nowhere else.
//! `standard-quiet` and `standard-verbose` print what `go test` prints and are left to its parser.
//!
//! With `--rerun-fails` a test's last run counts. Package names are relative to the module, as
//! printed.

mod line;

use super::gotest;
use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::text::clean;
use atlas_core::{
    ByLine, Evidence, LineState, LogReader as _, LostReason, ParsedLog, ParsedLogBuilder,
    RunOutcome, TestStatus, Totals,
};
use line::{Done, Outcome, Package};
use std::collections::HashMap;

/// The parser.
pub(crate) static GOTESTSUM: Shipped = Shipped::new(
    "gotestsum",
    &About {
        languages: &["go"],
        commands: &[&["gotestsum"]],
        contains: &["gotest"],
        ..About::new(
            "gotestsum with any `--format`, reruns included",
            "passing tests of pkgname, dots, testdox and standard-quiet; with these, which \
             entry of the summary a failing test printed; in testname, a result that \
             `TestMain` prints",
        )
    },
    mark,
    || Box::new(ByLine::new(State::new())),
)
.looking(&[
    Look(["D", "O"], "", "*", ""),
    Look(["=", "="], "", "*", " FAIL: "),
    Look(["=", "="], "", "*", " SKIP: "),
    Look(["PFS:", "*"], "", ")", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'D' if line.starts_with(b"DONE ") => std::str::from_utf8(line)
            .ok()
            .and_then(line::done)
            .map(|_| Mark::certain(Place::End, "gotestsum's `DONE N tests in`")),
        b'=' if line.starts_with(b"=== FAIL: ") || line.starts_with(b"=== SKIP: ") => {
            std::str::from_utf8(line)
                .ok()
                .and_then(line::entry)
                .map(|_| Mark::certain(Place::Within, "an entry of gotestsum's summary"))
        }
        b'P' | b'F' | b'S' | b':' if line.ends_with(b"s)") => std::str::from_utf8(line)
            .ok()
            .and_then(line::result)
            .map(|_| Mark::certain(Place::Within, "gotestsum's `PASS package.Test` line")),
        _ => None,
    }
}

/// Where in a run a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Results,
    Skipped,
    Failed,
    Errors,
}

/// What was said of a test, once.
#[derive(Clone, Debug)]
struct Said {
    package: String,
    test: String,
    status: TestStatus,
    rerun: u64,
    ended: bool,
}

impl Said {
    fn new(said: &Outcome<'_>) -> Self {
        Self {
            package: said.package.to_owned(),
            test: said.test.to_owned(),
            status: said.status,
            rerun: said.rerun,
            ended: said.ended,
        }
    }
}

/// A package that failed though none of its tests did.
#[derive(Clone)]
struct Lost {
    package: String,
    reason: LostReason,
    proof: Vec<Evidence>,
}

/// The summary at the end of a run, as far as it was read.
#[derive(Clone)]
struct Summary {
    part: Part,
    entries: Vec<Said>,
    lost: Vec<Lost>,
    /// The last entry was that of a package.
    in_lost: bool,
    /// The last end that was printed, unless more came behind it: a failing test may print one, and
    /// each but the last of several runs does.
    done: Option<Done>,
}

impl Summary {
    fn new(part: Part) -> Self {
        Self {
            part,
            entries: Vec::new(),
            lost: Vec::new(),
            in_lost: false,
            done: None,
        }
    }

    fn head(&mut self, part: Part) {
        self.part = part;
        self.in_lost = false;
    }

    /// A line below a heading. What a test printed stands below its entry.
    fn line(&mut self, line: &str, evidence: impl Fn() -> Evidence) {
        let Some(said) = line::entry(line) else {
            if self.in_lost
                && let Some(lost) = self.lost.last_mut()
                && lost.proof.len() < 8
                && !line.is_empty()
            {
                lost.proof.push(evidence());
                if line.starts_with("FAIL\t") && line.ends_with(" failed]") {
                    lost.reason = LostReason::BuildFailed;
                } else if line.starts_with("panic: test timed out after ") {
                    lost.reason = LostReason::TimedOut;
                }
            }
            return;
        };
        let expected = match self.part {
            Part::Skipped => TestStatus::Skipped,
            Part::Failed => TestStatus::Failed,
            Part::Results | Part::Errors => return,
        };
        if said.status != expected {
            return;
        }
        self.done = None;
        self.in_lost = said.test.is_empty();
        if self.in_lost {
            self.lost.push(Lost {
                package: said.package.to_owned(),
                reason: LostReason::Crashed,
                proof: vec![evidence()],
            });
        } else {
            self.entries.push(Said::new(&said));
        }
    }
}

#[derive(Clone)]
struct State {
    /// Reads the log as one of `go test`.
    plain: ByLine<gotest::State>,
    line: usize,
    /// The failing test whose output is being printed.
    output_of: Option<String>,
    /// Within a group of `github-actions`.
    group: bool,
    /// The line before is empty, or ends a package: a heading may follow.
    may_head: bool,
    /// Packages' lines of `go test`, of the formats that name tests, and of the compact ones.
    packages: [usize; 3],
    results: Vec<Said>,
    summary: Summary,
    /// A summary within the output of a test. A test that its process's death cut off has no
    /// result behind its output, and the run's own summary stands there; in front of a result it
    /// is what the test printed.
    within: Option<Summary>,
}

impl State {
    fn new() -> Self {
        Self {
            plain: ByLine::new(gotest::State::default()),
            line: 0,
            output_of: None,
            group: false,
            may_head: true,
            packages: [0; 3],
            results: Vec::new(),
            summary: Summary::new(Part::Results),
            within: None,
        }
    }

    fn result_line(&mut self, line: &str) {
        if self.group {
            self.group = line != "::endgroup::";
            return;
        }
        let said = line::result(line);
        let package = line::package(line);
        if let Some(package) = package {
            self.summary.done = None;
            self.packages[package as usize] += 1;
        }
        if package == Some(Package::Compact) && self.results.is_empty() {
            // Here the output of failing tests ends with their package.
            self.output_of = None;
            self.within = None;
        }
        if let Some(test) = &self.output_of {
            if let Some(said) = said
                && said.status == TestStatus::Failed
                && said.test == test
            {
                self.summary.done = None;
                self.results.push(Said::new(&said));
                self.output_of = None;
                self.within = None;
            }
            return;
        }
        if let Some(said) = said {
            self.summary.done = None;
            self.group = line.starts_with("::group::");
            self.results.push(Said::new(&said));
        } else if let Some(test) = line.strip_prefix("=== RUN   ") {
            self.output_of = Some(test.to_owned());
        } else {
            self.may_head |= package == Some(Package::Compact);
        }
    }

    /// Whether the log is of a format in which each test has a line.
    fn names_tests(&self) -> bool {
        !self.results.is_empty() && self.packages[1] >= self.packages[0].max(self.packages[2])
    }

    /// Every test's last run. `runs` is how often gotestsum says that it ran tests.
    fn record(&self, named: bool, runs: u64, log: &mut ParsedLogBuilder) {
        let results = if named { &*self.results } else { &[] };
        // Beside results, the summary tells nothing new but tests that never ended.
        let entries = self
            .summary
            .entries
            .iter()
            .filter(|said| !named || !said.ended);
        let all = || results.iter().chain(entries.clone());
        let mut last: HashMap<(&str, &str), u64> = HashMap::new();
        for said in all() {
            let rerun = last.entry((&said.package, &said.test)).or_default();
            *rerun = said.rerun.max(*rerun);
        }
        for said in all() {
            let rerun = last[&(said.package.as_str(), said.test.as_str())];
            if said.rerun != rerun {
                continue;
            }
            // A test that failed is run again; the summary lists it again if it failed again.
            let passed_later =
                !named && said.status == TestStatus::Failed && rerun.saturating_add(1) < runs;
            let status = if passed_later {
                TestStatus::Passed
            } else {
                said.status
            };
            log.record_in(&said.package, "::", &said.test, status);
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        self.plain.feed(line);
        self.plain.feed(b"\n");
        let line = clean(line);
        let line = &*String::from_utf8_lossy(&line);
        let may_head = std::mem::replace(&mut self.may_head, line.is_empty());
        let heading = match line {
            "=== Skipped" => Some(Part::Skipped),
            "=== Failed" => Some(Part::Failed),
            "=== Errors" => Some(Part::Errors),
            _ => None,
        };
        let heading = heading.filter(|_| may_head && !self.group);
        if self.output_of.is_some() {
            match (heading, &mut self.within) {
                (Some(part), Some(within)) => within.head(part),
                (Some(part), within) => *within = Some(Summary::new(part)),
                (None, Some(within)) => match line::done(line) {
                    Some(done) => within.done = Some(done),
                    None => within.line(line, || Evidence::at("log", self.line, line)),
                },
                (None, None) => {}
            }
            self.result_line(line);
            return;
        }
        if let Some(part) = heading {
            self.summary.head(part);
            return;
        }
        if !self.group
            && let Some(done) = line::done(line)
        {
            self.summary.done = Some(done);
            return;
        }
        // Behind the summary there are results of tests that are run again.
        if self.summary.part == Part::Results {
            self.result_line(line);
        } else {
            self.summary
                .line(line, || Evidence::at("log", self.line, line));
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Some(within) = self.within.take() {
            self.summary = within;
        }
        let named = self.names_tests();
        let compact = self.packages[2] > self.packages[0];
        let mut log = ParsedLogBuilder::default();
        let done = self.summary.done;
        self.record(named, done.map_or(1, |done| done.runs), &mut log);
        if !named && !compact {
            let plain = Box::new(self.plain).finish();
            if !plain.results.is_empty() || log.recorded() == 0 && self.summary.lost.is_empty() {
                return ParsedLog {
                    parser: "gotestsum".to_owned(),
                    ..plain
                };
            }
        }
        if let Some(done) = done.filter(|done| done.runs == 1) {
            let failed = done.failures.saturating_sub(self.summary.lost.len() as u64);
            let totals = Totals {
                total: Some(done.tests),
                failed: Some(failed),
                skipped: Some(done.skipped),
                ..Totals::default()
            };
            // Without a summary no package is known that failed by itself.
            let summary = !self.summary.entries.is_empty() || !self.summary.lost.is_empty();
            let agrees = (named && !summary || log.count(TestStatus::Failed) == failed)
                && log.count(TestStatus::Skipped) == done.skipped
                && (!named || log.recorded() == done.tests);
            log.add_totals(totals);
            log.set_consistent(agrees);
        }
        let lost = |reason| self.summary.lost.iter().any(|lost| lost.reason == reason);
        let outcome = if lost(LostReason::TimedOut) {
            RunOutcome::TimedOut
        } else if lost(LostReason::Crashed) {
            RunOutcome::Crashed
        } else if done.is_none() && (log.recorded() > 0 || compact) {
            RunOutcome::Truncated
        } else if log.recorded() > 0 || done.is_some_and(|done| done.tests > 0) {
            RunOutcome::Completed
        } else if lost(LostReason::BuildFailed) {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        for lost in self.summary.lost {
            log.lose(&lost.package, lost.reason, lost.proof);
        }
        log.finish(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::LogParser as _;

    fn read(log: &str) -> ParsedLog {
        let mut reader = GOTESTSUM.start();
        reader.feed(log.as_bytes());
        reader.finish()
    }

    fn statuses(log: &str) -> Vec<(String, TestStatus)> {
        let read = read(log).results;
        read.iter()
            .map(|result| (result.qualified.to_owned(), result.status))
            .collect()
    }

    #[test]
    fn a_test_that_was_cut_off_hides_no_summary() {
        let log = "✖  . (8.6s)\n✓  it (1.5s)\n=== RUN   TestB\n=== PAUSE TestB\n\n=== Failed\n\
                   === FAIL: . TestA (0.67s)\n\n=== FAIL: . TestB (unknown)\n\n\
                   DONE 3 tests, 2 failures in 3.7s\n";
        let failed = |id: &str| (id.to_owned(), TestStatus::Failed);
        assert_eq!(statuses(log), [failed(".::TestA"), failed(".::TestB")]);
        assert_eq!(read(log).outcome, RunOutcome::Completed);
    }

    #[test]
    fn a_summary_that_a_failing_test_prints_is_output() {
        let log = "=== RUN   TestA\n\n=== Skipped\n=== SKIP: a TestB (0.00s)\n\n\
                   DONE 2 tests, 1 skipped in 0.1s\n    FAIL a.TestA (0.00s)\nFAIL a.TestB (0.00s)\n\
                   FAIL a (0.1s)\n\n=== Failed\n=== FAIL: a TestA (0.00s)\n\n\
                   === FAIL: a TestB (0.00s)\n\nDONE 2 tests, 2 failures in 0.1s\n";
        let failed = |id: &str| (id.to_owned(), TestStatus::Failed);
        assert_eq!(statuses(log), [failed("a::TestA"), failed("a::TestB")]);
        assert_eq!(read(log).outcome, RunOutcome::Completed);
    }
}
