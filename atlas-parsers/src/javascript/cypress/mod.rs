//! Cypress: what `cypress run` prints with its default reporter.
//!
//! Each spec file has a `Running:` line, a tree of suites and tests, a tally with the failures in
//! full, and a `(Results)` box. Only the tree, that is the lines between `Running:` and the tally,
//! names tests. A failing hook is charged to the test it ran for, as Cypress does; the other tests
//! of its suite are counted as skipped and not named. Attempts do not count but the last.
//!
//! An id joins suites and title by ` > `; the spec file stands in front of it in the qualified id.

mod line;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use line::Entry;

/// Cypress.
pub(crate) static CYPRESS: Shipped = Shipped::new(
    "cypress",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["cypress", "run"]],
        contains: &["mocha"],
        without_report: "the runner writes a report only with a plugin, which the repository need not have",
        ..About::new(
            "`cypress run` with the default spec reporter",
            "tests that a failing hook kept from running",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["", ""], "(R", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let ruled = || before.len() >= 50 && before.iter().all(|byte| *byte == b'=');
    match line {
        b"  (Run Starting)" if ruled() => Place::Start.certain("a `(Run Starting)` heading"),
        b"  (Run Finished)" if ruled() => Place::End.certain("a `(Run Finished)` heading"),
        _ if line.starts_with(b"  Running:  ") => {
            let text = std::str::from_utf8(line).ok()?;
            line::running(text)
                .map(|_| Mark::hint(Place::Within, "a `Running: spec (1 of 2)` line"))
        }
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum At {
    /// Before the first spec, between two of them, and after the last.
    #[default]
    Outside,
    /// Right below the `Running:` line, where a long name goes on.
    Name,
    Tree,
    /// The tally and the failures.
    Failures,
    /// The box.
    Results,
}

/// What the box of one spec says.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: u64,
    passing: u64,
    failing: u64,
    pending: u64,
    skipped: u64,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    lines: usize,
    at: At,
    spec: String,
    suites: Vec<String>,
    /// Tests of the spec: suites and title, status.
    tests: Vec<(String, TestStatus)>,
    failures: u64,
    counts: Option<Counts>,
    broken: Option<(LostReason, Vec<Evidence>)>,
    specs: u64,
    started: bool,
    finished: bool,
    /// A spec has no box, or its box contradicts its tree.
    disagrees: bool,
    cut_off: bool,
    lost: Vec<String>,
}

impl State {
    fn end_spec(&mut self) {
        if self.spec.is_empty() {
            return;
        }
        let spec = std::mem::take(&mut self.spec);
        let tests = std::mem::take(&mut self.tests);
        let named = |status| tests.iter().filter(|test| test.1 == status).count() as u64;
        let lost = u64::from(self.broken.is_some());
        match self.counts.take() {
            Some(counts) => {
                // A spec that does not load has one failure and no test, or one made up for it.
                let failed = named(TestStatus::Failed);
                self.disagrees |= counts.passing != named(TestStatus::Passed)
                    || counts.pending != named(TestStatus::Skipped)
                    || counts.failing != failed && counts.failing != failed + lost;
                self.log.add_totals(Totals {
                    total: Some(counts.tests),
                    passed: Some(counts.passing),
                    failed: Some(counts.failing),
                    skipped: Some(counts.pending.saturating_add(counts.skipped)),
                    ..Totals::default()
                });
            }
            None => self.cut_off = true,
        }
        for (id, status) in &tests {
            let qualified = format!("{spec} > {id}");
            self.log.record(&spec, &qualified, id, *status);
        }
        if let Some((reason, proof)) = self.broken.take() {
            self.log.lose(&spec, reason, proof);
            self.lost.push(spec);
        }
    }

    fn test(&mut self, depth: usize, title: &str, status: TestStatus) {
        self.suites.truncate(depth);
        let mut id = String::new();
        for suite in &self.suites {
            id.push_str(suite);
            id.push_str(" > ");
        }
        if let Some(test) = line::test_of_hook(title).filter(|_| status == TestStatus::Failed) {
            id.push_str(test);
            // The hook after a test: the test's own line stands above.
            if let Some(last) = self.tests.last_mut().filter(|last| last.0 == id) {
                last.1 = status;
                return;
            }
        } else {
            id.push_str(title);
        }
        self.tests.push((id, status));
    }

    fn breaks(&mut self, reason: LostReason, line: &str) {
        let evidence = Evidence::at("log", self.lines, line.trim_end());
        self.broken
            .get_or_insert((reason, Vec::new()))
            .1
            .push(evidence);
    }

    fn tree(&mut self, line: &str) {
        if line::tally(line).is_some() {
            self.at = At::Failures;
            return;
        }
        if line.starts_with("Oops...we found an error preparing this test file") {
            self.breaks(LostReason::LoadFailed, line);
            return;
        }
        if line.starts_with("We detected that the ") && line.contains("crashed") {
            self.breaks(LostReason::Crashed, line);
            return;
        }
        let Some((depth, entry)) = line::entry(line) else {
            return;
        };
        if depth > self.suites.len() {
            return;
        }
        match entry {
            Entry::Passed(title) => self.test(depth, title, TestStatus::Passed),
            Entry::Pending(title) => self.test(depth, title, TestStatus::Skipped),
            Entry::Crossed(title) => {
                self.failures += 1;
                self.test(depth, title, TestStatus::Failed);
            }
            Entry::Failed(number, title) if number == self.failures + 1 => {
                self.failures += 1;
                if title == "An uncaught error was detected outside of a test" {
                    self.breaks(LostReason::LoadFailed, line);
                } else {
                    self.test(depth, title, TestStatus::Failed);
                }
            }
            Entry::Attempt => {}
            Entry::Failed(..) | Entry::Suite(_) => {
                self.suites.truncate(depth);
                self.suites.push(line.trim_start_matches(' ').to_owned());
            }
        }
    }

    fn counts(&mut self, line: &str) {
        let Some((name, value)) = line::boxed(line) else {
            return;
        };
        let Ok(value) = value.parse() else { return };
        let counts = self.counts.get_or_insert_with(Counts::default);
        match name {
            "Tests" => counts.tests = value,
            "Passing" => counts.passing = value,
            "Failing" => counts.failing = value,
            "Pending" => counts.pending = value,
            "Skipped" => counts.skipped = value,
            _ => {}
        }
    }

    fn read(&mut self, line: &str) {
        if line.starts_with("  (") {
            match line {
                "  (Run Starting)" => self.started = true,
                "  (Results)" if !self.spec.is_empty() => {
                    self.at = At::Results;
                    return;
                }
                "  (Run Finished)" => {
                    self.end_spec();
                    self.finished = true;
                    self.at = At::Outside;
                    return;
                }
                _ => {}
            }
        }
        if let Some(file) = line::running(line) {
            self.end_spec();
            file.clone_into(&mut self.spec);
            self.suites.clear();
            self.failures = 0;
            self.specs += 1;
            self.at = At::Name;
            return;
        }
        match self.at {
            At::Outside => {}
            At::Name if line.trim().is_empty() => self.at = At::Tree,
            At::Name => {
                if let Some(rest) = line.strip_prefix("            ") {
                    self.spec.push_str(rest.trim());
                }
                self.at = At::Tree;
            }
            At::Tree => self.tree(line),
            At::Failures => {
                if let Some((_, proof)) = &mut self.broken
                    && proof.len() < 12
                    && !line.trim().is_empty()
                {
                    proof.push(Evidence::at("log", self.lines, line.trim_end()));
                }
            }
            At::Results => self.counts(line),
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let line = clean(line);
        match std::str::from_utf8(&line) {
            Ok(line) => self.read(line),
            Err(_) => self.read(&String::from_utf8_lossy(&line)),
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.end_spec();
        let recorded = self.log.recorded();
        if self.specs > 0 {
            self.log.set_consistent(!self.disagrees && !self.cut_off);
        }
        let outcome = if self.specs == 0 {
            if self.started && !self.finished {
                RunOutcome::Truncated
            } else {
                RunOutcome::NothingRan
            }
        } else if !self.finished {
            RunOutcome::Truncated
        } else if recorded == 0 && !self.lost.is_empty() {
            RunOutcome::BuildFailed
        } else if recorded == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        let mut log = self.log.finish(outcome);
        for module in &mut log.modules_not_loaded {
            module.reported_as = Some(module.module.clone());
        }
        log
    }
}
