//! `ctest`: default, `-V`, `-VV`, `--output-on-failure`, `--progress`, parallel and repeated.
//!
//! A test is announced by `Start  3: name` and its result names index and name again, so the name
//! is known exactly, dots and all, and a result line that a failing test's output holds counts
//! only for a test that was started. With `-V` output stands behind `3: ` and is never read; with
//! `--output-on-failure` it is raw, and the lists at the end of the run decide between a result
//! and a forged one.
//!
//! A test of `ctest` is one `add_test`; what its program reports of its own tests is not read here,
//! but by the parser named `ctest+unity`, which gives each program's lines to that program's parser.
//!
//! A test whose program is not there was not built: it counts as failed, as `ctest` counts it, and
//! as a module that was lost.

mod line;
mod run;

use crate::cpp::build::{Builds, number};
use crate::runner::{About, Inner, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use line::Head;
use memchr::memmem;
use run::{List, Run};
use std::collections::VecDeque;

/// `ctest`.
pub(crate) static CTEST: Shipped = Shipped::new(
    "ctest",
    &About {
        languages: &["c", "c++"],
        aliases: &["cmake"],
        commands: &[&["ctest"]],
        contains: &[
            "automake", "bats", "boost", "cargo", "catch2", "check", "cmocka", "cppunit", "cunit",
            "doctest", "gotest", "gtest", "junit", "prove", "pytest", "tap", "unittest", "unity",
        ],
        ..About::new(
            "`ctest` 2.8 and newer: default, -V, -VV, --output-on-failure, --progress, -j, \
             --repeat, -T memcheck",
            "the tests inside a test program, unless named together with its runner \
             (`ctest+unity`) and run with -V; with \
             --output-on-failure, a whole forged run in \
             the output of the last failing test",
        )
    },
    mark,
    by_line::<State>,
)
.with_programs(inner)
.looking(&[Look(["0-9ENT", "*"], "0-9TM", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b' ' | b'0'..=b'9' => {
            let result = memmem::find(line, b" #").is_some()
                && Head::read(line)
                    .is_some_and(|head| head.place.is_some() && head.split().is_some());
            if result {
                Place::Within.certain("a `Test #1: name` line")
            } else if line::summary(line).is_some() {
                Place::End.certain("a `% tests passed` line")
            } else {
                None
            }
        }
        b'E' if line == b"Errors while running CTest" => {
            Place::End.certain("`Errors while running CTest`")
        }
        b'N' if line == b"No tests were found!!!" => {
            Place::Within.certain("`No tests were found!!!`")
        }
        b'T' if line.starts_with(b"Test project /") => Place::Start.hint("a `Test project` line"),
        _ => None,
    }
}

fn inner(line: &[u8]) -> Inner<'_> {
    match line.first() {
        Some(b'0'..=b'9') => match number(line) {
            Some((number, rest)) if rest.starts_with(b":") => {
                let line = rest.get(1..).unwrap_or_default();
                // Behind an empty line's colon the blank may have been trimmed.
                let line = line.strip_prefix(b" ").unwrap_or(line);
                Inner::Prints { number, line }
            }
            _ => Inner::Nothing,
        },
        Some(b' ') => match line::start(line) {
            Some((number, name)) => Inner::Begins { number, name },
            None => Inner::Nothing,
        },
        Some(b'T') if line.starts_with(b"Test project /") => Inner::Run,
        _ => Inner::Nothing,
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    builds: Builds,
    runs: Vec<Run>,
    run: Run,
    list: Option<List>,
    /// What `ctest` said of programs that are not there, and no test's line has followed. It goes to
    /// standard error, so it may also stand behind the lines of the tests.
    missing: VecDeque<Evidence>,
    /// Tests that were not run, each with its own line and what was said before it.
    idle: Vec<(String, Option<Evidence>, Evidence)>,
}

impl State {
    fn project(&mut self, path: &[u8]) {
        // A run without an end goes on: a test may have printed this line.
        if self.run.summary.is_some() {
            let done = std::mem::take(&mut self.run);
            self.runs.push(done);
        }
        if !self.run.has_begun() {
            self.run.project = String::from_utf8_lossy(path.trim_ascii()).into_owned();
        }
    }

    fn text(&mut self, line: &[u8]) {
        let list = self.list.take();
        match line.first() {
            Some(b' ' | b'0'..=b'9') => {
                if let Some((index, name)) = line::start(line) {
                    self.run.start(index, name);
                } else if let Some(head) = Head::read(line) {
                    if let Some(name) = self.run.result(&head) {
                        let said = self.missing.pop_front();
                        self.idle.push((name, said, self.evidence(line)));
                    }
                } else if let Some(summary) = line::summary(line)
                    && self.run.has_begun()
                {
                    self.run.summary = Some(summary);
                }
            }
            Some(b'\t') => {
                self.list = list;
                if let Some(list) = list
                    && let Some((index, rest)) = line::listed(line)
                {
                    self.run.listed(list, index, rest);
                }
            }
            Some(b'T') => {
                if let Some(path) = line.strip_prefix(b"Test project ") {
                    self.project(path);
                } else if self.run.summary.is_some() {
                    self.list = match line {
                        b"The following tests FAILED:" => Some(List::Failed),
                        b"The following tests did not run:" => Some(List::NotRun),
                        _ => None,
                    };
                }
            }
            Some(b'*') if line.starts_with(b"***Exception:") => self.run.exception(),
            Some(b'U') if line.starts_with(b"Unable to find executable: ") => {
                self.missing.push_back(self.evidence(line));
            }
            _ => {}
        }
    }

    fn evidence(&self, line: &[u8]) -> Evidence {
        Evidence::at("log", self.line, String::from_utf8_lossy(line).trim())
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        if !self.run.has_begun() || self.run.summary.is_some() {
            self.builds.line(&clean(line), self.line);
        }
        if memchr::memchr(b'\r', line).is_none() {
            self.text(&clean(line));
            return;
        }
        // A progress display writes over its line; each text of it was a line once.
        for part in line.split(|byte| *byte == b'\r') {
            let mut rest = part;
            while let Some(erased) = memmem::find(rest, b"\x1b[K") {
                let (text, more) = rest.split_at(erased);
                let text = clean(text);
                match Head::read(&text) {
                    Some(head) if head.split().is_none() => self.run.show(&head),
                    _ => self.text(&text),
                }
                rest = more.get(3..).unwrap_or_default();
            }
            self.text(&clean(rest));
        }
    }

    fn finish(mut self) -> ParsedLog {
        let last = std::mem::take(&mut self.run);
        let unended = last.has_begun() && last.summary.is_none();
        if last.has_begun() {
            self.runs.push(last);
        }
        let modules = modules(&self.runs);
        let mut consistent: Option<bool> = None;
        for (run, module) in self.runs.iter_mut().zip(&modules) {
            if let Some(agrees) = run.record(module, &mut self.log) {
                consistent = Some(agrees && consistent.unwrap_or(true));
            }
        }
        if let Some(consistent) = consistent {
            self.log.set_consistent(consistent);
        }
        let unbuilt = self.builds.finish(&mut self.log);
        for (name, said, own) in self.idle {
            // A test can also be idle for want of another test or of a file.
            if let Some(said) = said.or_else(|| self.missing.pop_front()) {
                self.log
                    .lose(&name, LostReason::BuildFailed, vec![said, own]);
            }
        }
        let outcome = if unended {
            RunOutcome::Truncated
        } else if !self.runs.is_empty() {
            RunOutcome::Completed
        } else if unbuilt {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}

/// The names of several runs: their build folders without what all of these have in common. A log
/// with one build folder needs no names.
fn modules(runs: &[Run]) -> Vec<String> {
    let mut paths = runs.iter().map(|run| run.project.as_str());
    let first = paths.next().unwrap_or_default();
    if paths.all(|path| path == first) {
        return vec![String::new(); runs.len()];
    }
    let common = runs.iter().fold(first.len(), |common, run| {
        let same = run.project.bytes().zip(first.bytes());
        same.take_while(|(a, b)| a == b).count().min(common)
    });
    let folder = first
        .as_bytes()
        .get(..common)
        .and_then(|head| memchr::memrchr(b'/', head))
        .map_or(0, |slash| slash + 1);
    let name = |run: &Run| run.project.get(folder..).unwrap_or_default().to_owned();
    runs.iter().map(name).collect()
}
