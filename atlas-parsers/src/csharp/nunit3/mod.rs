//! NUnit 3's console runner.
//!
//! The lists at the end name the tests that did not pass. With `--labels=After` or `BeforeAndAfter`
//! each test that ends is named with its result (`Passed => Name`); with `Before`, `On` or `All` it
//! is named before what it prints (`=> Name`), which names only those that print for `On`, and says
//! nothing of the result: such a test has passed if the lists do not have it and the run came to
//! its end.

use super::nunit::{Entry, counts};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::{clean, lossy};
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestResults,
    TestStatus, Totals,
};

/// The parser.
pub(crate) static NUNIT3: Shipped = Shipped::new(
    "nunit3",
    &About {
        languages: &["c#", "csharp"],
        aliases: &["nunit", "nunitlite"],
        commands: &[
            &["nunit3-console"],
            &["nunit3-console.exe"],
            &["nunit3-console.dll"],
        ],
        ..About::new(
            "the console of NUnit 3 and 4 and of NUnitLite, with every --labels",
            "passing tests without --labels; inconclusive tests, which no list names",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["N", "*"], "OD", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'N' if line.starts_with(b"NUnit Console Runner ")
            || line.starts_with(b"NUnit Console 3.")
            || line.starts_with(b"NUnitLite 3")
            || line.starts_with(b"NUnitLite 4") =>
        {
            Place::Start.certain("NUnit's first line")
        }
        b' ' if line.starts_with(b"  Overall result: ")
            && before.starts_with(b"Test Run Summary") =>
        {
            Place::Within.certain("NUnit's `Test Run Summary`")
        }
        b' ' if line.starts_with(b"    Duration: ") && before.starts_with(b"    End time: ")
            || line.starts_with(b"    Duration: ") && before.starts_with(b"  End time: ") =>
        {
            Place::End.certain("NUnit's last line")
        }
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Outside,
    Running,
    /// `Errors, Failures and Warnings`
    Failures,
    /// `Tests Not Run`
    NotRun,
    Settings,
    Summary,
}

/// What the summary declares.
#[derive(Clone, Copy, Debug, Default)]
struct Declared {
    count: u64,
    passed: u64,
    failed: u64,
    warnings: u64,
    inconclusive: u64,
    skipped: u64,
    errors: Option<u64>,
    invalid: u64,
}

#[derive(Clone, Default)]
struct State {
    line: usize,
    phase: Phase,
    /// Tests with a result.
    results: TestResults,
    /// Tests that only a label in front of their output names, in their order.
    labelled: Vec<String>,
    next: u64,
    lost: Vec<(String, Evidence)>,
    /// Fixtures whose tear-down failed.
    after: Vec<Evidence>,
    declared: Option<Declared>,
}

impl State {
    fn label(&mut self, line: &[u8]) -> bool {
        let Some(at) = memchr::memmem::find(&line[..line.len().min(16)], b"=> ") else {
            return false;
        };
        let name = lossy(&line[at + 3..]);
        let name = name.trim_end();
        let status = match &line[..at] {
            b"" => {
                if self.labelled.last().is_none_or(|last| last != name) {
                    self.labelled.push(name.to_owned());
                }
                return true;
            }
            b"Passed " | b"Warning " => TestStatus::Passed,
            b"Failed " | b"Invalid " => TestStatus::Failed,
            b"Error " => TestStatus::Error,
            b"Ignored " | b"Skipped " | b"Explicit " | b"Inconclusive " => TestStatus::Skipped,
            _ => return false,
        };
        if !name.is_empty() {
            self.results.add("", name, name, status);
        }
        true
    }

    fn entry(&mut self, entry: &Entry<'_>, line: &[u8]) {
        if entry.number != self.next {
            return;
        }
        self.next += 1;
        let status = match (self.phase, entry.kind) {
            (Phase::NotRun, _) => TestStatus::Skipped,
            (_, "Failed" | "Invalid" | "SetUp Failed" | "TearDown Failed") => TestStatus::Failed,
            (_, "Warning") => TestStatus::Passed,
            _ => TestStatus::Error,
        };
        let fixture = entry.kind.starts_with("SetUp") || entry.kind.starts_with("TearDown");
        let known = self.results.find(entry.name);
        if fixture && known.is_none() && !self.labelled.iter().any(|name| name == entry.name) {
            // A fixture's, or a test's whose name is said nowhere else: counted as no test.
            let proof = Evidence::at("log", self.line, lossy(line).into_owned());
            if entry.kind.starts_with("SetUp") {
                self.lost.push((entry.name.to_owned(), proof));
            } else {
                self.after.push(proof);
            }
        } else if let Some(at) = known {
            // Its label said so before.
            let test = self.results.at(at);
            let (status, seen) = (test.status.worst(status), test.seen);
            self.results.set(at, status, seen);
        } else {
            self.results.add("", entry.name, entry.name, status);
        }
    }

    fn summary(&mut self, text: &str) {
        if text.trim_start().starts_with("Test Count: ") {
            let mut declared = Declared::default();
            for (label, number) in counts(text) {
                match label {
                    "Test Count" => declared.count = number,
                    "Passed" => declared.passed = number,
                    "Failed" => declared.failed = number,
                    "Warnings" => declared.warnings = number,
                    "Inconclusive" => declared.inconclusive = number,
                    "Skipped" => declared.skipped = number,
                    _ => {}
                }
            }
            self.declared = Some(declared);
        } else if let Some(parts) = text.trim_start().strip_prefix("Failed Tests - ")
            && let Some(declared) = &mut self.declared
        {
            for (label, number) in counts(parts) {
                match label {
                    "Errors" => declared.errors = Some(number),
                    "Invalid" => declared.invalid = number,
                    _ => {}
                }
            }
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let Some(first) = line.first() else {
            return;
        };
        let title = match first {
            b'N' if line.starts_with(b"NUnit Console ") || line.starts_with(b"NUnitLite ") => {
                Some(Phase::Running)
            }
            b'E' if line.starts_with(b"Errors, Failures and Warnings")
                || line.starts_with(b"Errors and Failures") =>
            {
                Some(Phase::Failures)
            }
            b'T' if line.starts_with(b"Tests Not Run") => Some(Phase::NotRun),
            b'T' if line.starts_with(b"Test Run Summary") => Some(Phase::Summary),
            b'R' if line.starts_with(b"Run Settings") => Some(Phase::Settings),
            _ => None,
        };
        if let Some(phase) = title {
            if phase == Phase::Running || self.phase != Phase::Outside {
                self.phase = phase;
                self.next = 1;
            }
            return;
        }
        match self.phase {
            Phase::Running => {
                self.label(&line);
            }
            Phase::Failures | Phase::NotRun => {
                if let Some(entry) = Entry::read(&line) {
                    self.entry(&entry, &line);
                }
            }
            Phase::Summary if *first == b' ' => self.summary(&lossy(&line)),
            _ => {}
        }
    }

    fn finish(self) -> ParsedLog {
        let mut log = ParsedLogBuilder::default();
        let mut results = self.results;
        let named = !results.is_empty() || !self.labelled.is_empty();
        match self.declared {
            Some(_) => {
                for name in &self.labelled {
                    results.enter("", name, name, TestStatus::Passed);
                }
            }
            None => {
                if let Some(last) = self.labelled.last()
                    && results.find(last).is_none()
                {
                    log.still_running(last);
                }
            }
        }
        for (fixture, proof) in self.lost {
            log.lose(&fixture, LostReason::LoadFailed, vec![proof]);
        }
        for proof in self.after {
            log.warn(proof.line.map(|line| line as u64), proof.text);
        }
        let mut consistent = None;
        if let Some(d) = self.declared {
            let skipped = d.skipped.saturating_add(d.inconclusive);
            log.add_totals(Totals {
                total: Some(d.count),
                passed: Some(d.passed.saturating_add(d.warnings)),
                failed: Some(d.failed),
                skipped: Some(skipped),
                ..Totals::default()
            });
            let count = |status| results.iter().filter(|r| r.status == status).count() as u64;
            let failed = count(TestStatus::Failed) + count(TestStatus::Error);
            let whole = results.len() as u64 == d.count;
            if whole {
                consistent = Some(failed == d.failed);
            } else if failed > d.failed || results.len() as u64 > d.count {
                consistent = Some(false);
            } else if named && failed == d.failed {
                consistent = Some(true);
            }
        }
        let outcome = match self.declared {
            Some(d) if d.count == 0 && d.invalid == 0 => RunOutcome::NothingRan,
            Some(_) => RunOutcome::Completed,
            None if self.phase == Phase::Outside => RunOutcome::NothingRan,
            None => RunOutcome::Truncated,
        };
        log.append(results);
        let mut log = log.finish(outcome);
        log.consistent = consistent;
        log
    }
}
