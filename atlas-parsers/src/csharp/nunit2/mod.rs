//! NUnit 2's console runner.
//!
//! With `-labels` each test that starts is named on a line of its own, `***** Name`; without it only
//! the tests in the two lists at the end are. A test that was started and stands in neither list has
//! passed, or was inconclusive, which the console does not tell apart. Once tests are named by
//! labels, an entry of a list that no label named is a fixture whose set-up failed: no test, but a
//! module whose tests failed with it (`Parent Failure`). Without those lists nothing is known to have
//! passed.
//!
//! A compiler's errors before the runner's first line are those of a project that lacks its tests.
//!
//! Totals and lists may be printed by a test, or stand in the message of a failure. Those are believed
//! whose lists are as long as they say, and that count as many tests as were named before them.

use super::compiler::build_error;
use super::nunit::{Entry, counts};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::{clean, lossy};
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestResults,
    TestStatus, Totals,
};

/// The parser.
pub(crate) static NUNIT2: Shipped = Shipped::new(
    "nunit2",
    &About {
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
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["NE", "*"], "N", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'N' if line.starts_with(b"NUnit-Console version 2.")
            || line.starts_with(b"NUnit version 2.") =>
        {
            Place::Start.certain("NUnit 2's first line")
        }
        b'E' if line.starts_with(b"Execution Runtime: ")
            && before.starts_with(b"ProcessModel: ") =>
        {
            Place::Start.certain("NUnit 2's `ProcessModel:` line")
        }
        b' ' if line.starts_with(b"  Not run: ") && before.starts_with(b"Tests run: ") => {
            Place::End.certain("NUnit 2's totals")
        }
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Totals were printed.
    Totals,
    /// `Errors and Failures:`
    Failures,
    /// `Tests Not Run:`
    NotRun,
}

/// What stands in one entry of a list.
#[derive(Clone, Debug)]
struct Listed {
    phase: Phase,
    kind: String,
    name: String,
    proof: Evidence,
}

/// Totals and the lists below them.
#[derive(Clone, Debug)]
struct Closing {
    phase: Phase,
    /// The number of the list's next entry.
    next: u64,
    /// The declared numbers: run, errors, failures, inconclusive, not run.
    run: [u64; 5],
    finished: bool,
    entries: Vec<Listed>,
    /// How many tests had been named by labels.
    labels: usize,
}

impl Closing {
    fn failing(&self) -> u64 {
        self.run[1].saturating_add(self.run[2])
    }

    fn all(&self) -> u64 {
        self.run[0].saturating_add(self.run[4])
    }

    /// Whether the lists are as long as the totals say. Fixtures are in no totals.
    fn agrees(&self) -> bool {
        let (mut failing, mut fixtures, mut not_run) = (0_u64, 0_u64, 0_u64);
        for entry in &self.entries {
            let fixture = entry.kind.starts_with("SetUp") || entry.kind.starts_with("TearDown");
            match entry.phase {
                Phase::NotRun => not_run += 1,
                _ => failing += 1,
            }
            fixtures += u64::from(entry.phase != Phase::NotRun && fixture);
        }
        let surplus = failing.checked_sub(self.failing());
        self.finished
            && surplus.is_some_and(|surplus| surplus <= fixtures)
            && not_run == self.run[4]
    }

    /// How many tests it counts more or fewer than were named.
    fn distance(&self) -> u64 {
        self.all().abs_diff(self.labels as u64)
    }

    fn line(&mut self, line: &[u8], number: usize) {
        match (self.phase, line.first()) {
            (Phase::Totals, Some(b' ')) if line.starts_with(b"  Not run: ") => {
                let text = lossy(line);
                let not_run = counts(&text).find(|(label, _)| *label == "Not run");
                self.run[4] = not_run.map_or(0, |(_, number)| number);
                self.finished = true;
            }
            (Phase::Totals | Phase::Failures, Some(b'E' | b'T'))
                if line == b"Errors and Failures:" || line == b"Tests Not Run:" =>
            {
                self.phase = if line[0] == b'E' {
                    Phase::Failures
                } else {
                    Phase::NotRun
                };
                self.next = 1;
            }
            (Phase::Failures | Phase::NotRun, Some(b'0'..=b'9')) => {
                if let Some(entry) = Entry::read(line)
                    && entry.number == self.next
                {
                    self.next += 1;
                    self.entries.push(Listed {
                        phase: self.phase,
                        kind: entry.kind.to_owned(),
                        name: entry.name.to_owned(),
                        proof: Evidence::at("log", number, lossy(line).into_owned()),
                    });
                }
            }
            _ => {}
        }
    }
}

/// Most totals that are kept in doubt at a time.
const MAX_CLOSINGS: usize = 16;

#[derive(Clone, Default)]
struct State {
    line: usize,
    began: bool,
    /// A project did not compile.
    broken: bool,
    labels: Vec<String>,
    closings: Vec<Closing>,
    started: TestResults,
    last: Option<usize>,
    builder: Option<ParsedLogBuilder>,
    /// Without labels, an entry that may be a fixture's.
    fixture: Option<(String, TestStatus, Evidence)>,
}

impl State {
    fn log(&mut self) -> &mut ParsedLogBuilder {
        self.builder.get_or_insert_default()
    }

    fn label(&mut self, name: &str) {
        let (at, new) = self.started.enter("", name, name, TestStatus::Passed);
        if !new {
            let seen = self.started.at(at).seen.saturating_add(1);
            self.started.set(at, TestStatus::Passed, seen);
        }
        self.last = Some(at);
    }

    fn entry(&mut self, entry: Listed) {
        let status = match (entry.phase, entry.kind.as_str()) {
            (Phase::NotRun, "Ignored" | "Skipped" | "Explicit") => TestStatus::Skipped,
            // `NotRunnable`: a signature that no runner can call.
            (Phase::NotRun, _) => TestStatus::Error,
            (_, kind) if kind.ends_with("Failure") => TestStatus::Failed,
            _ => TestStatus::Error,
        };
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
        if let Some(at) = self.started.find(&entry.name) {
            let known = self.started.at(at);
            let (status, seen) = (known.status.worst(status), known.seen);
            self.started.set(at, status, seen);
        } else if self.last.is_some() && status != TestStatus::Skipped {
            // Labels name every test that starts, so this is a fixture.
            if entry.kind.starts_with("TearDown") {
                let Evidence { line, text, .. } = entry.proof;
                self.log().warn(line.map(|line| line as u64), text);
            } else {
                self.log()
                    .lose(&entry.name, LostReason::LoadFailed, vec![entry.proof]);
            }
        } else if entry.kind.starts_with("SetUp") {
            // A test's, or a fixture's: then its tests come next.
            self.fixture = Some((entry.name, status, entry.proof));
        } else {
            self.started.add("", &entry.name, &entry.name, status);
        }
    }

    /// `Tests run: 24, Errors: 4, …`.
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
        if self.closings.len() == MAX_CLOSINGS {
            self.closings.remove(0);
        }
        self.closings.push(Closing {
            phase: Phase::Totals,
            next: 1,
            run,
            finished: false,
            entries: Vec::new(),
            labels: self.labels.len(),
        });
    }

    /// The test that a line's label names, behind output without a line end too.
    fn labelled(line: &[u8]) -> Option<&[u8]> {
        let at = memchr::memmem::find(line, b"***** ")?;
        // Ordinary sentences have blanks between words.
        let glued = at > 0 && line[at - 1] != b' ' && line[at - 1] != b'*';
        let name = &line[at + 6..];
        let class = &name[..memchr::memchr(b'.', name)?];
        let named = !class.is_empty() && !class.iter().any(u8::is_ascii_whitespace);
        (named && (at == 0 || glued)).then_some(name)
    }

    /// The totals and lists that are the runner's own.
    fn closing(&mut self) -> Option<Closing> {
        let labels = !self.labels.is_empty();
        let score = |closing: &Closing| {
            let near = u64::MAX - if labels { closing.distance() } else { 0 };
            (closing.agrees(), near, closing.entries.len())
        };
        let closing = std::mem::take(&mut self.closings)
            .into_iter()
            .max_by_key(score)?;
        // Tests began behind it: one of those before had printed it.
        let early = labels && closing.labels < self.labels.len() && closing.distance() > 0;
        (!early).then_some(closing)
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let Some(first) = line.first() else {
            return;
        };
        for closing in &mut self.closings {
            closing.line(&line, self.line);
        }
        if !self.began {
            self.began =
                line.starts_with(b"NUnit-Console version ") || line.starts_with(b"ProcessModel: ");
            if let Some(project) = build_error(&line) {
                self.broken = true;
                let proof = Evidence::at("log", self.line, lossy(&line).into_owned());
                self.log()
                    .lose(&project, LostReason::BuildFailed, vec![proof]);
            }
        } else if *first == b'T'
            && line.starts_with(b"Tests run: ")
            && memchr::memmem::find(&line, b", Errors: ").is_some()
        {
            self.totals(&lossy(&line));
        } else if let Some(name) = Self::labelled(&line) {
            self.labels.push(lossy(name).trim_end().to_owned());
        }
    }

    fn finish(mut self) -> ParsedLog {
        let closing = self.closing();
        if let Some(closing) = &closing
            && (self.labels.len() as u64).saturating_mul(2) < closing.all()
        {
            // Labels name every test, so a test printed these.
            self.labels.clear();
        }
        let named = match &closing {
            Some(closing) => closing.labels,
            None => self.labels.len(),
        };
        for name in std::mem::take(&mut self.labels).iter().take(named) {
            self.label(name);
        }
        let agrees = closing.as_ref().is_some_and(Closing::agrees);
        let finished = closing.as_ref().is_some_and(|closing| closing.finished);
        let listed = closing
            .as_ref()
            .is_some_and(|closing| !closing.entries.is_empty());
        let run = closing.as_ref().map(|closing| closing.run);
        for entry in closing.into_iter().flat_map(|closing| closing.entries) {
            self.entry(entry);
        }
        if let Some((name, status, _)) = self.fixture.take() {
            self.started.add("", &name, &name, status);
        }
        let labels = self.last.is_some();
        let began = self.began;
        let mut started = std::mem::take(&mut self.started);
        let last = self.last;
        let mut log = self.builder.take().unwrap_or_default();
        if let (None, Some(last)) = (run, last) {
            // The run stops here: the last test that started has no result.
            log.still_running(started.at(last).name.to_owned());
        }
        if !agrees {
            // Who failed is told by the lists, and they are not whole.
            let mut kept = TestResults::default();
            for result in started.iter().filter(|r| r.status != TestStatus::Passed) {
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
            None if self.broken => RunOutcome::BuildFailed,
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
