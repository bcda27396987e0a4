//! `cargo nextest run`, every version since 0.9.0.
//!
//! nextest runs each test in a process of its own and prints a line when it ends:
//! `        PASS [   0.024s] ( 1/15) lib_a tests::works`. A failing test's output follows, since
//! 2025 indented by four blanks, before that as it is; with `--no-capture` it comes between the
//! test's `START` line and its result. Below `Summary` failures are told again.
//!
//! A line in a test's output may look like a result. It is believed only where nextest goes on
//! behind it, and where neither nextest's running count nor its summary contradicts it.
//!
//! Ids are `binary-id test`, as printed. A test that passes when it is tried again has passed,
//! unless the profile has flaky tests fail. Results of `--message-format libtest-json` are taken
//! where the console names fewer.

mod json;
mod line;
mod run;

use super::cargo::build::Build;
use crate::runner::{self, About, Look, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome};
use json::Json;
use line::Mark;
use memchr::memmem;
use run::{Run, Settled};
use std::collections::BTreeSet;

/// `cargo nextest run`.
pub(crate) static NEXTEST: Shipped = Shipped::new(
    "nextest",
    &About {
        languages: &["rust"],
        aliases: &["cargo_nextest", "rust_nextest"],
        commands: &[&["cargo", "nextest"], &["cargo-nextest"]],
        contains: &["cargo"],
        without_report: "nextest writes a report only where the repository's own configuration asks for it",
        ..About::new(
            "`cargo nextest run` and `bench`: every status level, retries, stress runs, \
             captured output or not, and `--message-format libtest-json`",
            "results below the chosen `--status-level`; documentation tests, which nextest \
             does not run; in a log that stops early, which lines tests printed where their output \
             is not indented",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["e", "*"], "A-Z(", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<runner::Mark> {
    match line.first()? {
        b' ' => {
            if line::status_line(line).is_some() {
                return Place::Within.certain("nextest's result lines");
            }
            match line::mark(line)? {
                Mark::RunId => Place::Start.certain("a `Nextest run ID`"),
                Mark::Starting(_) => Place::Start.certain("nextest's `Starting`"),
                Mark::Summary(_) => Place::End.certain("nextest's `Summary`"),
                _ => None,
            }
        }
        b'e' if line.starts_with(b"error: command `") && is_build_command(line) => {
            Place::End.certain("the command that nextest builds with")
        }
        b'e' if line == b"error: creating test list failed" => {
            Place::End.certain("nextest's `creating test list failed`")
        }
        _ => None,
    }
}

/// ``error: command `…/cargo test --no-run --message-format json-render-diagnostics` exited …``
fn is_build_command(line: &[u8]) -> bool {
    memmem::find(line, b" --message-format json-render-diagnostics` ").is_some()
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    run: Option<Run>,
    settled: Vec<Settled>,
    json: Json,
    build: Build,
    build_stopped: bool,
    /// `creating test list failed` was seen; the binary follows.
    listing: bool,
    unlisted: bool,
}

impl State {
    fn settle(&mut self) {
        if let Some(run) = self.run.take() {
            let settled = run.settle(&mut self.log);
            self.settled.push(settled);
        }
    }

    /// A line before any run.
    fn outside(&mut self, line: &[u8]) {
        if line.starts_with(b"error") {
            self.build_stopped |= is_build_command(line);
            self.listing = line == b"error: creating test list failed";
        } else if self.listing
            && let Some(binary) = unlisted(line)
        {
            self.unlisted = true;
            let proof = Evidence::at(
                "log",
                self.line,
                String::from_utf8_lossy(line).trim().to_owned(),
            );
            self.log.lose(&binary, LostReason::LoadFailed, vec![proof]);
        }
        self.build.line(line, self.line);
    }
}

/// ``  for `lib_a`, command `…` exited with code 1``
fn unlisted(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let (_, rest) = text.split_once("for `")?;
    let (binary, rest) = rest.split_once('`')?;
    let fits = rest.starts_with(", command `") || rest.starts_with(", ");
    (fits && !binary.is_empty() && !binary.contains(' ')).then(|| binary.to_owned())
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        if self.json.line(&line) {
            return;
        }
        let mark = line::mark(&line);
        match &mut self.run {
            Some(run) if !run.ends_before(mark.as_ref()) => run.line(&line, mark),
            _ => {
                if let Some(Mark::Starting(tests)) = mark {
                    self.settle();
                    self.run = Some(Run::new(tests));
                } else {
                    self.outside(&line);
                }
            }
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.settle();
        let mut runs = Runs::default();
        let mut modules = BTreeSet::new();
        for run in &self.settled {
            runs.first_cut(run.outcome);
            runs.agree(run.consistent);
            if let Some(totals) = run.totals {
                self.log.add_totals(totals);
            }
            for result in &run.results {
                result.record(&mut self.log);
                modules.insert(result.module());
            }
        }
        self.json.record(&mut self.log, &modules);
        if self.settled.is_empty() && !self.json.is_empty() {
            if let Some(totals) = self.json.totals() {
                self.log.add_totals(totals);
            }
            runs.first_cut(if self.json.complete() {
                RunOutcome::Completed
            } else {
                RunOutcome::Truncated
            });
        }
        let failed = self.build.failed();
        let stopped = self.build_stopped || self.unlisted || self.build.stopped();
        for (module, proof) in failed {
            self.log.lose(&module, LostReason::BuildFailed, proof);
        }
        if runs.consistent.is_none() {
            runs.agree(self.json.agrees());
        }
        runs.finish(self.log, stopped)
    }
}
