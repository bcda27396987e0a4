//! Catch 1, Catch2 v2 and v3: the console, compact, XML, `JUnit`, TAP, Automake and `TeamCity`
//! reporters.
//!
//! The console reporter names a test only in the header of what it has to tell of it: failures,
//! and with `-s` all assertions. With `--durations yes` every test and section is named. The
//! compact reporter names no test at all. Ids are the names of test cases, without sections.
//!
//! The name of the binary stands in front of a run's first header. So a header that follows totals
//! without it shows that a test printed those.
//!
//! In XML, and only there, a failure of a test that may or should fail can be told from others.

mod console;
mod durations;
mod run;
mod totals;
mod xml;

use crate::cpp::compiler::Build;
use crate::cpp::death::Tail;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use memchr::memmem;
use run::{Phase, Run};
use totals::End;
use xml::Reports;

/// The parser.
pub(crate) static CATCH2: Shipped = Shipped::new(
    "catch2",
    &About {
        languages: &["c++"],
        aliases: &["catch", "catch_org"],
        contains: &["junit", "tap"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "the console, compact, xml, junit, tap, automake and teamcity reporters of Catch 1, Catch2 v2 and v3",
            "passing tests without -s or --durations; any test of the compact reporter; whether a failure was \
             expected, but in xml; with --durations, a passing test that may as well be a section",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["A", "l"], "", "*", ""),
    Look(["t", "e"], "", "*", "ses: "),
    Look(["<#on:", "*"], "<", "*", ""),
    Look(["*", "*"], "*", ".", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'A' if line.starts_with(b"All tests passed (") && End::read(line).is_some() => {
            Place::End.certain("Catch's `All tests passed (N assertions in`")
        }
        b't' if line.starts_with(b"test cases: ") && End::read(line).is_some() => {
            Place::End.certain("Catch's `test cases: N | `")
        }
        b'<' | b' ' => {
            let text = line.trim_ascii_start();
            if text.starts_with(b"<Catch name=\"") || text.starts_with(b"<Catch2TestRun ") {
                Place::Start.certain("Catch's XML root")
            } else if text.starts_with(b"<testsuite name=\"")
                && memmem::find(text, b" hostname=\"tbd\" ").is_some()
            {
                Place::Start.certain("Catch's `hostname=\"tbd\"`")
            } else {
                None
            }
        }
        b'#' if line.starts_with(b"# rng-seed: ") => Place::Start.certain("Catch's `# rng-seed:`"),
        b'o' | b'n' if run::is_tap_assertion(line, before) => {
            Place::Within.certain("assertions as Catch's TAP reporter prints them")
        }
        b':' if line.starts_with(b":test-result: ") => Place::Within.hint("a `:test-result:` line"),
        _ if line.ends_with(b" host application.") && run::host(line).is_some() => {
            Place::Start.certain("`is a Catch host application`")
        }
        _ if End::compact(line).is_some_and(|end| !end.nothing) => {
            Place::End.certain("the last line of Catch's compact reporter")
        }
        _ => None,
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: u64,
    reports: Reports,
    run: Run,
    rule: bool,
    /// The compact reporter's totals, which the next line must confirm.
    pending: Option<End>,
    /// The console reporter's totals were read, unless the run goes on.
    ended: Option<End>,
    tail: Tail,
    build: Build,
}

impl State {
    /// The run that was read came to its end, as it seems.
    fn end(&mut self, end: End) {
        self.flush();
        if self.run.binary.is_some() {
            self.run.end();
            self.ended = Some(end);
        } else {
            self.record(&end);
        }
    }

    /// Records a run that has ended.
    fn flush(&mut self) {
        if let Some(end) = self.ended.take() {
            self.record(&end);
        }
    }

    fn record(&mut self, end: &End) {
        let run = std::mem::take(&mut self.run);
        let fatal = !run.fatal.is_empty();
        if fatal {
            let binary = run.binary.clone().unwrap_or_default();
            self.log
                .lose(&binary, LostReason::Crashed, run.fatal.clone());
        }
        let agrees = run.record(Some(end), &mut self.log);
        if end.exact && agrees.is_some() {
            self.log.add_totals(end.totals);
            self.reports.runs.agree(agrees);
        }
        self.reports.runs.worst(if fatal {
            RunOutcome::Crashed
        } else if end.nothing {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        });
        self.tail.clear();
    }

    /// The run that was read stops without its end.
    fn cut(&mut self, died: bool) {
        self.flush();
        let mut run = std::mem::take(&mut self.run);
        if run.phase == Phase::Unseen {
            return;
        }
        let mut deaths: Vec<Evidence> = std::mem::take(&mut run.fatal);
        deaths.extend(self.tail.deaths());
        let died = died || !deaths.is_empty();
        if !died && run.phase == Phase::Closed {
            run.record(None, &mut self.log);
            self.reports.runs.worst(RunOutcome::Completed);
            return;
        }
        if died {
            let binary = run.binary.clone().unwrap_or_default();
            self.log.lose(&binary, LostReason::Crashed, deaths);
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
        let rule = std::mem::replace(&mut self.rule, crate::cpp::text::rule(line, b'=').is_some());
        if let Some(end) = self.pending.take()
            && line.starts_with(b"assertions: ")
        {
            self.run.compact = true;
            self.end(end);
            return;
        }
        if line.len() < 200 {
            if let Some(end) = End::read(line) {
                if rule || line.starts_with(b"All tests passed (") {
                    self.run.compact |= !rule;
                    self.end(end);
                } else {
                    self.pending = Some(end);
                }
                return;
            }
            if let Some((name, _)) = run::host(line) {
                self.flush();
                if self.run.binary.is_some() {
                    self.cut(true);
                }
                self.run.begin();
                self.run.binary = Some(crate::cpp::text::lossy(name));
                return;
            }
        }
        if let Some(end) = End::compact(line) {
            self.run.compact = true;
            self.end(end);
            return;
        }
        let seed = line.starts_with(b"Randomness seeded to: ")
            || line.starts_with(b"RNG seed: ")
            || line.starts_with(b"# rng-seed: ");
        if seed {
            self.flush();
        }
        if seed && (self.run.binary.is_none() || self.run.seeded) {
            // Catch2 v2 prints it behind the name of the binary, v3 first of all.
            if self.run.has_results() {
                self.cut(true);
            }
            self.run.begin();
            self.run.seeded = true;
            return;
        }
        let headers = self.run.headers;
        let is_last = self.run.line(line, self.line);
        if self.run.headers > headers && self.ended.take().is_some() {
            self.run.compact = false;
        }
        if is_last {
            self.end(End::default());
            return;
        }
        if self.run.phase == Phase::Unseen {
            self.build.line(line, self.line);
        } else {
            self.tail.push(self.line, line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Some(end) = self.pending.take() {
            self.end(end);
        }
        self.reports.cut(&mut self.log);
        self.cut(false);
        let unbuilt = self.build.report(&mut self.log);
        self.reports.runs.finish(self.log, unbuilt)
    }
}
