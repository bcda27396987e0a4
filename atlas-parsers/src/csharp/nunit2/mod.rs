//! NUnit 2's console runner.
//!
//! With `-labels` each test that starts is named on a line of its own, `***** Name`; without it only
//! the tests in the two lists at the end are. A test that was started and stands in neither list has
//! passed, or was inconclusive, which the console does not tell apart. Once tests are named by
//! labels, an entry of a list that no label named is a fixture whose set-up failed: no test, but a
//! module whose tests failed with it (`Parent Failure`).

use super::nunit::{Entry, counts};
use crate::runner::{About, Mark, Place, Runner};
use crate::text::{clean, lossy};
use atlas_core::{
    ByLine, Evidence, LineState, LogParser, LogReader, LostReason, ParsedLog, ParsedLogBuilder,
    RunOutcome, TestResults, TestStatus, Totals,
};

/// The parser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NUnit2;

impl LogParser for NUnit2 {
    fn id(&self) -> &'static str {
        "nunit2"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(ByLine::new(State::default()))
    }
}

impl Runner for NUnit2 {
    fn about(&self) -> &'static About {
        const ABOUT: About = About {
            languages: &["c#", "csharp"],
            aliases: &["nunit_console"],
            commands: &[
                &["nunit-console"],
                &["nunit-console4"],
                &["nunit-console.exe"],
            ],
            ..About::new(
                "the console of NUnit 2.4 to 2.7, with and without -labels",
                "passing tests without -labels; inconclusive tests, which look like passed ones",
            )
        };
        &ABOUT
    }

    fn mark(&self, line: &[u8], before: &[u8]) -> Option<Mark> {
        match line.first()? {
            b'N' if line.starts_with(b"NUnit-Console version 2.")
                || line.starts_with(b"NUnit version 2.") =>
            {
                Some(Mark::certain(Place::Start, "NUnit 2's first line"))
            }
            b'E' if line.starts_with(b"Execution Runtime: ")
                && before.starts_with(b"ProcessModel: ") =>
            {
                Some(Mark::certain(
                    Place::Start,
                    "NUnit 2's `ProcessModel:` line",
                ))
            }
            b' ' if line.starts_with(b"  Not run: ") && before.starts_with(b"Tests run: ") => {
                Some(Mark::certain(Place::End, "NUnit 2's totals"))
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Outside,
    /// The runner has begun.
    Running,
    /// Totals were printed.
    Totals,
    /// `Errors and Failures:`
    Failures,
    /// `Tests Not Run:`
    NotRun,
}

#[derive(Clone, Default)]
struct State {
    line: usize,
    phase: Phase,
    started: TestResults,
    last: Option<usize>,
    /// The number of the list's next entry.
    next: u64,
    builder: Option<ParsedLogBuilder>,
    /// The declared numbers: run, errors, failures, inconclusive, not run.
    run: Option<[u64; 5]>,
    finished: bool,
    listed: bool,
    /// Without labels, an entry that may be a fixture's.
    fixture: Option<(String, TestStatus, Evidence)>,
}

impl State {
    fn log(&mut self) -> &mut ParsedLogBuilder {
        self.builder
            .get_or_insert_with(|| ParsedLogBuilder::new("nunit2"))
    }

    fn label(&mut self, name: &str) {
        let (at, new) = self.started.enter("", name, name, TestStatus::Passed);
        if !new {
            let seen = self.started.at(at).seen.saturating_add(1);
            self.started.set(at, TestStatus::Passed, seen);
        }
        self.last = Some(at);
    }

    fn entry(&mut self, entry: &Entry<'_>, line: &[u8]) {
        if entry.number != self.next {
            return;
        }
        let status = match (self.phase, entry.kind) {
            (Phase::Failures, kind) if kind.ends_with("Error") => TestStatus::Error,
            (Phase::Failures, kind) if kind.ends_with("Failure") => TestStatus::Failed,
            (Phase::Failures, _) => TestStatus::Error,
            (_, "Ignored" | "Skipped" | "Explicit") => TestStatus::Skipped,
            // `NotRunnable`: a signature that no runner can call.
            _ => TestStatus::Error,
        };
        self.next += 1;
        self.listed = true;
        if let Some((fixture, failed, proof)) = self.fixture.take() {
            let inside = entry.name.strip_prefix(fixture.as_str());
            if entry.kind.starts_with("Parent") && inside.is_some_and(|rest| rest.starts_with('.'))
            {
                self.log()
                    .lose(&fixture, LostReason::LoadFailed, vec![proof]);
            } else {
                self.started.add("", &fixture, &fixture, failed);
            }
        }
        if let Some(at) = self.started.find(entry.name) {
            let known = self.started.at(at);
            let (status, seen) = (known.status.worst(status), known.seen);
            self.started.set(at, status, seen);
        } else if self.last.is_some() && status != TestStatus::Skipped {
            // Labels name every test that starts, so this is a fixture.
            let text = lossy(line).into_owned();
            if entry.kind.starts_with("TearDown") {
                let number = self.line as u64;
                self.log().warn(Some(number), text);
            } else {
                let proof = Evidence::at("log", self.line, text);
                let name = entry.name.to_owned();
                self.log().lose(&name, LostReason::LoadFailed, vec![proof]);
            }
        } else if entry.kind.starts_with("SetUp") {
            // A test's, or a fixture's: then its tests come next.
            let proof = Evidence::at("log", self.line, lossy(line).into_owned());
            self.fixture = Some((entry.name.to_owned(), status, proof));
        } else {
            self.started.add("", entry.name, entry.name, status);
        }
    }

    fn totals(&mut self, text: &str) {
        let mut run = [0; 5];
        for (label, number) in counts(text) {
            match label {
                "Tests run" => run[0] = number,
                "Errors" => run[1] = number,
                "Failures" => run[2] = number,
                "Inconclusive" => run[3] = number,
                _ => {}
            }
        }
        self.run = Some(run);
        self.phase = Phase::Totals;
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let Some(first) = line.first() else {
            return;
        };
        match (self.phase, first) {
            (_, b'N') if line.starts_with(b"NUnit-Console version ") => self.phase = Phase::Running,
            (Phase::Outside, b'P') if line.starts_with(b"ProcessModel: ") => {
                self.phase = Phase::Running;
            }
            (Phase::Running, b'*') => {
                if let Some(name) = line.strip_prefix(b"***** ") {
                    let name = lossy(name);
                    self.label(name.trim_end());
                }
            }
            (Phase::Running, b'T')
                if line.starts_with(b"Tests run: ")
                    && memchr::memmem::find(&line, b", Errors: ").is_some() =>
            {
                self.totals(&lossy(&line));
            }
            (Phase::Totals, b' ') => {
                if line.starts_with(b"  Not run: ")
                    && let Some(run) = &mut self.run
                {
                    let text = lossy(&line);
                    let not_run = counts(&text).find(|(label, _)| *label == "Not run");
                    run[4] = not_run.map_or(0, |(_, number)| number);
                    self.finished = true;
                }
            }
            (Phase::Totals | Phase::Failures, b'E' | b'T')
                if *line == *b"Errors and Failures:" || *line == *b"Tests Not Run:" =>
            {
                self.phase = if *first == b'E' {
                    Phase::Failures
                } else {
                    Phase::NotRun
                };
                self.next = 1;
            }
            (Phase::Failures | Phase::NotRun, b'0'..=b'9') => {
                if let Some(entry) = Entry::read(&line) {
                    self.entry(&entry, &line);
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Some((name, status, _)) = self.fixture.take() {
            self.started.add("", &name, &name, status);
        }
        let labels = self.last.is_some();
        let began = self.phase != Phase::Outside;
        let mut started = std::mem::take(&mut self.started);
        let last = self.last;
        let run = self.run;
        let (finished, listed) = (self.finished, self.listed);
        let mut log = self
            .builder
            .take()
            .unwrap_or_else(|| ParsedLogBuilder::new("nunit2"));
        if let (None, Some(last)) = (run, last) {
            // The run stops here: the last test that started has no result.
            let name = started.at(last).name.to_owned();
            log.still_running(&name);
            let mut kept = TestResults::default();
            for result in started.iter().filter(|result| result.name != name) {
                kept.add("", result.qualified, result.name, result.status);
            }
            started = kept;
        }
        if let Some([all, errors, failures, inconclusive, not_run]) = run {
            let failing = errors.saturating_add(failures);
            log.add_totals(Totals {
                total: Some(all.saturating_add(not_run)),
                passed: Some(all.saturating_sub(failing).saturating_sub(inconclusive)),
                failed: Some(failing),
                skipped: Some(not_run.saturating_add(inconclusive)),
                ..Totals::default()
            });
            let count = |status| started.iter().filter(|r| r.status == status).count() as u64;
            let failed = count(TestStatus::Failed) + count(TestStatus::Error);
            if labels {
                let reports = started.reports();
                log.set_consistent(failed == failing && reports == all.saturating_add(not_run));
            } else if listed {
                // A fixture's own entry counts among the errors of some versions.
                log.set_consistent(failed >= failing);
            }
        }
        log.append(started);
        let outcome = match run {
            Some([0, ..]) if !listed => RunOutcome::NothingRan,
            Some(_) if finished => RunOutcome::Completed,
            Some(_) => RunOutcome::Truncated,
            None if began => RunOutcome::Truncated,
            None => RunOutcome::NothingRan,
        };
        let incomparable = run.is_some() && !labels && !listed;
        let mut log = log.finish(outcome);
        if incomparable {
            log.consistent = None;
        }
        log
    }
}
