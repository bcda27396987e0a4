//! `CppUnit`: the text, compiler and XML outputters, and the brief progress listener.
//!
//! The brief listener prints a test's name, whatever the test prints, and ` : OK`, ` : assertion`
//! or ` : error`, all of it on one line if the test is silent. Output sticks to the name, so the
//! name of a test that prints is known only if a line ends behind it, or from a list of failures.
//! The outputters name every failure, and a failure that they do not name is a test's own output.

mod line;
mod run;

use crate::cpp::compiler::Build;
use crate::cpp::death::Tail;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use line::End;
use run::Run;

/// The parser.
pub(crate) static CPPUNIT: Shipped = Shipped::new(
    "cppunit",
    &About {
        languages: &["c++"],
        aliases: &["cpp_unit"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "CppUnit's brief progress, text, compiler and XML output; several binaries in one log",
            "passing tests without the brief listener or XML; the name of a passing test whose output \
             begins on the line of its name",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["!RO<", "*"], "", "*", ""),
    Look(["*", "*"], "*", "Knr", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'!' if line == b"!!!FAILURES!!!" => Place::End.certain("CppUnit's `!!!FAILURES!!!`"),
        b'R' if matches!(line::end(line), Some(End::Compiler { .. })) => {
            Place::End.certain("CppUnit's `Run: N   Failure total: N`")
        }
        b'O' if line::end(line).is_some() => match line::complete(before) {
            Some((name, _)) if line::is_path(name) => {
                Place::End.certain("CppUnit's `OK (N)` below a result")
            }
            _ => Place::End.hint("an `OK (N)` line"),
        },
        b'<' if line
            .starts_with(b"<?xml version=\"1.0\" encoding='ISO-8859-1' standalone='yes'") =>
        {
            Place::Start.certain("CppUnit's XML declaration")
        }
        _ => {
            let (name, _) = line::complete(line)?;
            let two = || line::complete(before).is_some_and(|(name, _)| line::is_path(name));
            if line::is_path(name) && two() {
                Place::Within.certain("`Class::test : OK` lines")
            } else {
                None
            }
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: u64,
    run: Run,
    tail: Tail,
    build: Build,
    runs: Runs,
}

impl State {
    /// The run that was read came to its end.
    fn end(&mut self) {
        let run = std::mem::take(&mut self.run);
        let Some(end) = run.end else {
            return;
        };
        let agrees = run.record(&mut self.log);
        self.log.add_totals(end);
        self.runs.agree(agrees);
        self.runs.worst(if end.total == Some(0) {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        });
        self.tail.clear();
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if self.run.line(line) {
            self.end();
        } else if self.run.began() {
            self.tail.push(self.line, line);
        } else {
            self.build.line(line, self.line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.run.last_end();
        if self.run.end.is_some() {
            self.end();
        } else if self.run.began() {
            let deaths = self.tail.deaths();
            let died = !deaths.is_empty();
            let run = std::mem::take(&mut self.run);
            if died {
                self.log.lose("", LostReason::Crashed, deaths);
            }
            if run.cut(died, &mut self.log) {
                self.runs.worst(if died {
                    RunOutcome::Crashed
                } else {
                    RunOutcome::Truncated
                });
            }
        }
        let unbuilt = self.build.report(&mut self.log);
        self.runs.finish(self.log, unbuilt)
    }
}
