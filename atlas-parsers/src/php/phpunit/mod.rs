//! `PHPUnit` 7 to 13 and what prints like it: `ParaTest`, Pest, `artisan test`.
//!
//! A run prints its tests in one of several forms, and each is believed only where the runner
//! prints it. Progress and lists: the numbered lists behind the time line name the tests that did
//! not pass. `--testdox`: sentences below class headings, while the tests run (before `PHPUnit` 10)
//! or behind the time line. `--teamcity`, `--debug` and the event log name every test. Where a test
//! prints a whole report of its own, the real one behind it replaces it; where an end stands in a failure's
//! message, the run is read with it and without, and the lists tell which is right; sentences that tests
//! print between the runner's are dropped as far as the totals show that there are too many.

mod dox;
mod lists;
mod named;
mod pest;
mod session;
mod summary;
mod title;

use crate::nested::Nested;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use session::Session;
use std::path::Path;

/// `PHPUnit`'s console output.
pub(crate) static PHPUNIT: Shipped = Shipped::new(
    "phpunit",
    &About {
        languages: &["php"],
        aliases: &["pest", "paratest", "php_v1", "simple-phpunit", "artisan"],
        commands: &[
            &["phpunit"],
            &["paratest"],
            &["pest"],
            &["simple-phpunit"],
            &["artisan", "test"],
        ],
        usual_for: &["php"],
        ..About::new(
            "progress with its lists of errors, failures, skipped and incomplete tests; --testdox; \
             --teamcity; --debug; --log-events-text; PHPUnit 7 to 13, ParaTest, Pest",
            "passing tests of a plain run; skipped ones without --verbose or --display-skipped; \
             which tests of `--debug` before PHPUnit 10 were skipped; whether a testdox ✘ is an \
             error or a failure; a report that a test prints after the real one",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["PTO#", "*"], "A-Z", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'P' if is_header(line) => Place::Start.certain("a `PHPUnit … by Sebastian Bergmann` line"),
        b'P' if line.starts_with(b"PHPUnit Started (PHPUnit ") => {
            Place::Start.certain("a `PHPUnit Started` event")
        }
        b'T' if summary::is_time(line) => Place::Within.certain("a `Time: …, Memory: …` line"),
        b'T' if summary::counts(line).is_some() && summary::is_verdict(before) => {
            Place::End.certain("a `Tests: …, Assertions: …` line")
        }
        b'O' if summary::ok(line).is_some() => {
            Place::End.certain("an `OK (… tests, … assertions)` line")
        }
        b'#' if line.starts_with(b"##teamcity[testStarted ")
            && memchr::memmem::find(line, b" locationHint='php_qn://").is_some() =>
        {
            Place::Within.certain("a TeamCity message with a PHP test's place")
        }
        b' ' if line.starts_with(b"  Tests:  ")
            && line.ends_with(b" assertions)")
            && pest::totals(&line[8..]).is_some() =>
        {
            Place::End.certain("a `Tests: … passed (… assertions)` line")
        }
        b' ' if pest::heading(&line[line.len().min(2)..]).is_some() && line[..2] == *b"  " => {
            Place::Within.hint("a `PASS  Class` line")
        }
        _ => None,
    }
}

/// `PHPUnit 9.6.7 by Sebastian Bergmann and contributors.`, with whatever stands between.
fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"PHPUnit ")
        && line.len() < 200
        && memchr::memmem::find(line, b" by Sebastian Bergmann").is_some()
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    session: Session,
    nested: Nested<Session>,
    runs: Runs,
    began: bool,
    /// An error at load time, before or without a run.
    fatal: Option<(Evidence, Option<String>)>,
    trace_of_runner: bool,
}

impl State {
    /// Records the run, and those in which it began or which began in it, where it has no end.
    fn close(&mut self) {
        if self.session.ended() && !self.nested.is_inside() {
            self.nested.end(&mut self.session);
        }
        for session in self.nested.finish(&mut self.session) {
            self.close_one(session);
        }
    }

    fn close_one(&mut self, session: Session) {
        self.began |= session.began();
        let Some(closed) = session.close(&mut self.log) else {
            return;
        };
        self.runs.agree(closed.consistent);
        self.runs.first_cut(closed.outcome);
    }

    /// Fatal errors of PHP, and of the runner while it loads. Output of the progress may stand in
    /// front of them.
    fn death(&mut self, line: &[u8]) {
        let Some(at) = fatal(line) else {
            let own = line.starts_with(b"An error occurred inside PHPUnit.")
                || line.starts_with(b"Cannot open ")
                || line.starts_with(b"Test file \"") && line.ends_with(b"\" not found")
                || line.starts_with(b"Class ")
                    && memchr::memmem::find(line, b" could not be found in ").is_some()
                || line.starts_with(b"Error in bootstrap script: ");
            if own && !self.session.ran() && self.fatal.is_none() {
                self.fatal = Some((self.evidence(line), None));
                self.trace_of_runner = true;
            } else if self.fatal.is_some() {
                self.detail(line);
            }
            return;
        };
        let text = &line[at..line.len().min(at + 2000)];
        let evidence = self.evidence(text);
        self.session.died(self.line, &evidence.text);
        if !self.session.ran() && !self.session.has_header() {
            let file = file_of(&evidence.text);
            self.fatal = Some((evidence, file));
        }
    }

    /// Lines below an error: where it happened, and whether the runner was at work.
    fn detail(&mut self, line: &[u8]) {
        if memchr::memmem::find(line, b"PHPUnit\\").is_some() {
            self.trace_of_runner = true;
        }
        if let Some((_, file @ None)) = &mut self.fatal
            && let Some(place) = line.strip_prefix(b"Location: ")
        {
            let place = String::from_utf8_lossy(place);
            let path = place.rsplit_once(':').map_or(&*place, |(path, _)| path);
            *file = Some(path.to_owned());
        }
    }

    fn evidence(&self, line: &[u8]) -> Evidence {
        let line = &line[..line.len().min(2000)];
        Evidence::at("log", self.line, String::from_utf8_lossy(line).into_owned())
    }
}

/// Where `PHP Fatal error:  …` or its like begins.
fn fatal(line: &[u8]) -> Option<usize> {
    if line.starts_with(b"Fatal error: ") || line.starts_with(b"Parse error: ") {
        return Some(0);
    }
    let rest = line.iter().position(|b| !b".FEWIRSDN".contains(b))?;
    // `PHP` itself begins with none of the progress' letters.
    let text = &line[rest..];
    (text.starts_with(b"PHP Fatal error: ") || text.starts_with(b"PHP Parse error: "))
        .then_some(rest)
}

/// The file of `… in /a/b.php on line 3` and `… in /a/b.php:3`.
fn file_of(text: &str) -> Option<String> {
    let (_, place) = text.rsplit_once(" in ")?;
    let path = place
        .split_once(" on line ")
        .or_else(|| place.rsplit_once(':'))
        .map_or(place, |(path, _)| path);
    Path::new(path)
        .extension()
        .is_some_and(|end| end == "php")
        .then(|| path.to_owned())
}

impl State {
    /// `text` is the line where it is known to be text.
    fn cleaned(&mut self, line: &[u8], text: Option<&str>, coloured: bool) {
        self.line += 1;
        self.take(line, text, coloured);
    }

    fn take(&mut self, line: &[u8], text: Option<&str>, coloured: bool) {
        // The progress of the run may stand in front of one that a test prints.
        let is_open = self.session.has_header();
        let header = &line[if is_open { session::dots(line) } else { 0 }..];
        if header.first() == Some(&b'P') && is_header(header) {
            if self.session.has_header() && !self.session.ended() {
                self.nested.begin(&mut self.session);
            } else if self.session.has_header() || !self.session.only_events() {
                self.close();
            }
            self.session.header(header);
            return;
        }
        // A test may print no line end behind a run.
        let (line, rest) = if self.nested.is_inside() {
            summary::glued(line)
        } else {
            (line, &b""[..])
        };
        let text = text.filter(|_| rest.is_empty());
        if !self.session.line(line, text, coloured, self.line) {
            self.death(line);
        }
        if self.nested.is_inside() && self.session.ended() {
            self.nested.end(&mut self.session);
            if !rest.is_empty() {
                self.take(rest, None, coloured);
            }
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let coloured = memchr::memchr(0x1b, line).is_some();
        let told = coloured.then(|| title::in_plain_words(line)).flatten();
        self.cleaned(&clean(told.as_deref().unwrap_or(line)), None, coloured);
    }

    fn clean_line(&mut self, line: &[u8]) {
        self.cleaned(line, None, false);
    }

    fn text_line(&mut self, line: &str) {
        self.cleaned(line.as_bytes(), Some(line), false);
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        let loading = self
            .fatal
            .take()
            .filter(|_| self.began || self.trace_of_runner);
        let unloaded = loading.is_some();
        if let Some((evidence, file)) = loading {
            let file = file.unwrap_or_default();
            self.log.lose(&file, LostReason::LoadFailed, vec![evidence]);
        }
        self.runs.outcome = match self.runs.outcome {
            outcome @ Some(RunOutcome::Completed) => outcome,
            outcome @ Some(_) if self.log.recorded() > 0 => outcome,
            _ if unloaded => Some(RunOutcome::BuildFailed),
            None if self.began => Some(RunOutcome::Truncated),
            outcome => outcome,
        };
        self.runs.finish(self.log, false)
    }
}
