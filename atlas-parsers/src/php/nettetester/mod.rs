//! Nette Tester 2.3 to 2.6: its console in dots and in lines, TAP and JUnit XML.
//!
//! Each test file is a process of its own, and what it prints is kept until it has ended. Of a test
//! that fails, and of one that is skipped, it is shown as a message: in the console's list behind three
//! blanks, below a line of the console behind two, in TAP behind a `#`. So a line that begins
//! with anything else is the runner's, and only the text in front of a carriage return counts: what follows
//! one belongs to a message. The totals and the dots say how many tests there should be.
//!
//! An id is the runner's signature, which is the file with the arguments that the runner gives it:
//! `a.phpt dataprovider=one|a.ini`, `ATest.php method=testOne`. The console prints the file from the
//! folder that all tests have in common, TAP and JUnit XML print its whole path. Lines of the console
//! have the title in place of the arguments, so there the id is `a.phpt [title]`.

mod console;

use crate::common::{junit, tap};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use atlas_core::{
    Evidence, LineState, LogReader as _, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome,
    TestStatus, Totals,
};
use console::Signature;

/// Nette Tester.
pub(crate) static NETTETESTER: Shipped = Shipped::new(
    "nettetester",
    &About {
        languages: &["php"],
        aliases: &["nette_tester"],
        commands: &[&["tester"]],
        contains: &["junit", "tap"],
        ..About::new(
            "-o console, console-lines, tap and junit of Nette Tester 2.3 to 2.6",
            "passing tests of the console in dots, and skipped ones without -s; the arguments of a test in \
             console-lines; the folder in front of the console's files, which depends on the tests that run, \
             and is longer for tests that end before all are found; which of two lines is real where a test \
             writes into the runner's own output",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["P|OFon<", "H_KAkot"], "<", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'P' if console::is_header(line) => Place::Start.certain("a `PHP … | … threads` line"),
        b'|' if line == BANNER => Place::Start.certain("Nette Tester's banner"),
        b'O' | b'F' => console::Counts::of(line)
            .map(|_| Mark::certain(Place::End, "counts of tests and seconds in parentheses")),
        b'o' | b'n' => {
            let (signature, _) = point(line)?;
            signature
                .is_whole_path()
                .then_some(Mark::certain(Place::Within, "points named by PHP files"))
        }
        b'\t' | b' ' | b'<' => {
            let case = line.trim_ascii_start().strip_prefix(CASE)?;
            let class = &case[..memchr::memchr(b'"', case)?];
            let name = case[class.len()..].strip_prefix(b"\" name=\"")?;
            let same = name.strip_prefix(class)?.starts_with(b"\"");
            (same && Signature::of(&String::from_utf8_lossy(class)).is_whole_path())
                .then_some(Mark::certain(Place::Within, "test cases of PHP files"))
        }
        _ => None,
    }
}

/// The second line of the banner.
const BANNER: &[u8] = b"|_   _/ __)( __/_   _/ __)| _ )";
/// How a case of the report begins.
const CASE: &[u8] = b"<testcase classname=\"";

/// `ok /a/b.phpt`, `not ok /a/b.phpt multiple=1`, `ok /a/c.phpt #skip reason`.
fn point(line: &[u8]) -> Option<(Signature, TestStatus)> {
    let point = tap::line::point(line).filter(|point| point.number.is_none())?;
    let whole = Signature::of(&String::from_utf8_lossy(point.rest));
    let (title, directive) = tap::line::title(point.rest);
    let signature = Signature::of(&String::from_utf8_lossy(title));
    if whole.is_php() && !signature.is_php() {
        // `a #skip b.phpt` is a file.
        return Some((whole, tap::line::status(point.passed, None)));
    }
    Some((signature, tap::line::status(point.passed, directive)))
}

/// The forms that are read line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Dots,
    Lines,
    Tap,
}

impl Form {
    /// Whether a line is shown of what a test said.
    fn shows(self, raw: &[u8]) -> bool {
        match self {
            Self::Dots | Self::Lines => raw.starts_with(b"  "),
            Self::Tap => raw.starts_with(b"#"),
        }
    }
}

/// One run, from its first line to its totals.
#[derive(Clone, Debug)]
struct Run {
    form: Form,
    /// Tests that were named, by what became of them.
    passed: u64,
    failed: u64,
    skipped: u64,
    /// Entries of the list of failures.
    listed: u64,
    letters: console::Letters,
    /// The last failure that was named, while its message lasts.
    open: Option<Signature>,
}

impl Run {
    fn new(form: Form) -> Self {
        Self {
            form,
            passed: 0,
            failed: 0,
            skipped: 0,
            listed: 0,
            letters: console::Letters::default(),
            open: None,
        }
    }

    fn count(&mut self, status: TestStatus) {
        *match status {
            TestStatus::Skipped => &mut self.skipped,
            TestStatus::Passed => &mut self.passed,
            _ => &mut self.failed,
        } += 1;
    }

    /// Whether the counts agree with the tests that were read. Dots name only those that failed or were skipped.
    fn agrees(&self, counts: &console::Counts) -> bool {
        match self.form {
            Form::Dots => {
                let unnamed = self.skipped == 0;
                self.failed == counts.failed
                    && (unnamed || self.skipped == counts.skipped)
                    && self.letters.agree(counts)
            }
            Form::Lines | Form::Tap => {
                self.failed == counts.failed
                    && self.skipped == counts.skipped
                    && self.passed + self.failed + self.skipped == counts.ran()
                    && (self.form == Form::Tap || self.listed == counts.failed)
            }
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    run: Option<Run>,
    /// The report is written to the console.
    junit: Option<junit::Reader>,
    runs: Runs,
}

impl State {
    /// The run that is open, if there is one, has no end.
    fn leave(&mut self) {
        if self.run.is_some() {
            self.runs.worst(RunOutcome::Truncated);
        }
    }

    fn begin(&mut self, form: Form) {
        self.leave();
        self.run = Some(Run::new(form));
    }

    fn end(&mut self, counts: &console::Counts) {
        let Some(run) = self.run.take() else {
            return;
        };
        self.runs.agree(run.agrees(counts));
        self.runs.worst(RunOutcome::Completed);
        self.log.add_totals(Totals {
            total: Some(counts.ran()),
            passed: Some(counts.passed()),
            failed: Some(counts.failed),
            skipped: Some(counts.skipped),
            ..Totals::default()
        });
    }
}

impl State {
    /// Reads a line of the console or of TAP that the runner itself wrote: it begins at the margin.
    fn own(&mut self, line: &str) {
        match line.as_bytes().first() {
            Some(b'P') if console::is_header(line.as_bytes()) => self.begin(Form::Dots),
            Some(b'T') if tap::line::version(line.as_bytes()) => self.begin(Form::Tap),
            _ => {}
        }
        let Some(run) = &mut self.run else {
            return;
        };
        if run.form == Form::Tap {
            self.tap(line);
            return;
        }
        if let Some(counts) = console::Counts::of(line.as_bytes()) {
            self.end(&counts);
        } else if line == "No tests found" {
            self.run = None;
        } else if let Some(result) = console::Line::of(line) {
            run.form = Form::Lines;
            run.count(result.status);
            self.log
                .record(&result.file, &result.id, &result.id, result.status);
        } else if let Some(titled) = line.strip_prefix("-- FAILED: ") {
            self.listed(titled, TestStatus::Failed);
        } else if let Some(titled) = line.strip_prefix("-- Skipped: ") {
            self.listed(titled, TestStatus::Skipped);
        } else {
            run.letters.read(line.as_bytes());
        }
    }

    /// A test of the list behind the dots or lines.
    fn listed(&mut self, titled: &str, status: TestStatus) {
        let Some(run) = &mut self.run else {
            return;
        };
        let signature = Signature::titled(titled);
        if run.form == Form::Dots {
            run.count(status);
            self.log
                .record(signature.file(), &signature.id, &signature.id, status);
        }
        let failed = status == TestStatus::Failed;
        run.listed += u64::from(failed);
        run.open = Some(signature).filter(|_| failed);
    }

    fn tap(&mut self, line: &str) {
        let Some(run) = &mut self.run else {
            return;
        };
        if let Some(tests) = tap::line::plan(line.as_bytes()) {
            self.runs
                .agree(run.passed + run.failed + run.skipped == tests);
            self.runs.worst(RunOutcome::Completed);
            self.log.add_totals(Totals {
                total: Some(tests),
                ..Totals::default()
            });
            self.run = None;
        } else if let Some((signature, status)) = point(line.as_bytes()) {
            run.count(status);
            self.log
                .record(signature.file(), &signature.id, &signature.id, status);
            run.open = Some(signature).filter(|_| status == TestStatus::Failed);
        }
    }

    /// A line of a message. Where it says that the test's own file does not parse, the tests in it are missing.
    fn message(&mut self, line: &str) {
        let Some(open) = self.run.as_ref().and_then(|run| run.open.as_ref()) else {
            return;
        };
        let own = |path: &str| {
            let before = path.strip_suffix(open.file());
            before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
        };
        if console::unparsed(line).is_some_and(own) {
            let proof = vec![Evidence::at("log", self.number, line)];
            self.log.lose(open.file(), LostReason::LoadFailed, proof);
        }
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.number += 1;
        if let Some(junit) = &mut self.junit {
            junit.feed(raw);
            junit.feed(b"\n");
            return;
        }
        let line = console::printed(raw);
        let line = String::from_utf8_lossy(&line);
        if self.run.as_ref().is_some_and(|run| run.form.shows(raw)) {
            self.message(line.trim_start_matches(['#', ' ']).trim_end());
            return;
        }
        let report = line.starts_with("<?xml ") || line.starts_with("<testsuites");
        if report && self.run.is_none() && self.runs.outcome.is_none() {
            let mut junit = junit::Reader::default();
            junit.feed(raw);
            junit.feed(b"\n");
            self.junit = Some(junit);
            return;
        }
        self.own(&line);
    }

    fn finish(mut self) -> ParsedLog {
        if let Some(junit) = self.junit {
            return of_report(&Box::new(junit).finish());
        }
        self.leave();
        self.runs.finish(self.log, false)
    }
}

/// The report with the file of each test as its module. Its tests have their signatures twice, as class
/// and as name, and its failures are declared as errors.
fn of_report(report: &ParsedLog) -> ParsedLog {
    let mut log = ParsedLogBuilder::default();
    for test in &report.results {
        let signature = Signature::of(test.name);
        for _ in 0..test.seen {
            log.record(signature.file(), &signature.id, &signature.id, test.status);
        }
    }
    if let Some(totals) = report.totals {
        log.add_totals(totals);
    }
    if let Some(consistent) = report.consistent {
        log.set_consistent(consistent);
    }
    for warning in &report.warnings {
        log.warn(warning.line, warning.text.clone());
    }
    log.finish(report.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Hints, detect};
    use atlas_core::LogParserExt;
    use std::collections::BTreeSet;

    const TAP: &[u8] = include_bytes!("corpus/traps_tap.log");

    #[test]
    fn the_report_says_what_tap_says() {
        let report = NETTETESTER.parse(include_bytes!("corpus/traps_junit.xml"));
        let tap = NETTETESTER.parse(TAP);
        assert_eq!(report.tests(), tap.tests());
        assert_eq!(tap.results.len(), 32);
    }

    #[test]
    fn the_console_names_the_same_failures() {
        let failing = |log: &[u8]| -> BTreeSet<String> {
            let log = NETTETESTER.parse(log);
            let tests = log.tests();
            let failing = tests.iter().filter(|(_, status)| status.is_failing());
            // Tests that end before all are found are named from another folder.
            failing
                .map(|(name, _)| name.trim_start_matches("/testbed/tests/"))
                .map(|name| name.trim_start_matches("Cart/").to_owned())
                .collect()
        };
        let tap = failing(TAP);
        assert_eq!(failing(include_bytes!("corpus/traps_dots.log")), tap);
        assert_eq!(
            failing(include_bytes!("corpus/traps_dots_skipped.log")),
            tap
        );
        let files = |names: BTreeSet<String>| -> BTreeSet<String> {
            let file = |name: &String| Signature::of(name).file().to_owned();
            let titled = |name: String| name.split(" [").next().unwrap_or_default().to_owned();
            names.iter().map(file).map(titled).collect()
        };
        let lines = failing(include_bytes!("corpus/traps_lines.log"));
        assert_eq!(files(lines), files(tap));
    }

    #[test]
    fn every_form_is_known() {
        for log in [
            TAP,
            include_bytes!("corpus/traps_dots.log"),
            include_bytes!("corpus/traps_lines.log"),
            include_bytes!("corpus/traps_junit.xml"),
            include_bytes!("corpus/traps_2.3_dots_colours.log"),
            include_bytes!("corpus/all_passed.log"),
        ] {
            let found = detect(log, &Hints::default());
            assert_eq!(found.parser.as_deref(), Some("nettetester"), "{found:?}");
        }
    }

    #[test]
    fn a_run_without_its_totals_is_cut() {
        let log = include_str!("corpus/traps_lines.log");
        let cut = &log[..log.find("· 22/").unwrap()];
        let read = NETTETESTER.parse(cut.as_bytes());
        assert_eq!(read.outcome, RunOutcome::Truncated);
        assert!(!read.is_empty());
        assert_eq!(read.consistent, None);
    }

    #[test]
    fn what_a_test_writes_into_the_runners_own_stream_shows_in_the_counts() {
        // A known limit: `/proc/PPID/fd/1` is the runner's standard output.
        let log = "PHP 8.2.36 (cli) | php | 1 thread\n\n· 1/2 a.phpt OK in 0.01 s \n\
            · 2/2 forged.phpt OK in 0.01 s \n· 2/2 b.phpt FAIL in 0.01 s \n\n\n\
            -- FAILED: b.phpt\n   x\n\n\nFAILURES! (2 tests, 1 failure, 0.1 seconds)\n";
        let read = NETTETESTER.parse(log.as_bytes());
        assert_eq!(read.results.len(), 3);
        assert_eq!(read.consistent, Some(false));
        let honest = log.replace("· 2/2 forged.phpt OK in 0.01 s \n", "");
        let read = NETTETESTER.parse(honest.as_bytes());
        assert_eq!(read.consistent, Some(true));
    }
}
