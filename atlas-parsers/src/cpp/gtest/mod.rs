//! Google Test 1.8 and newer, and runners that print like it.
//!
//! `[ RUN      ] Suite.Test` announces a test and `[       OK ]`, `[  FAILED  ]` or `[  SKIPPED ]`
//! ends it. A result counts only for an announced test and an announcement only in its suite. What
//! a test prints between the two is its own, even if it looks like results: when the test's real
//! result comes, all that was read since its announcement is dropped. The lists at the end settle
//! what is left open. With `--gtest_brief=1` nothing is announced and only failures are named; the
//! runner's counts then tell them from what tests print.
//!
//! Disabled tests are no part of the run and not reported, as the runner's own counts have it.

mod line;
mod run;

use crate::cpp::compiler::Build;
use crate::cpp::death::Tail;
use crate::cpp::text::lossy;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus};
use line::Line;
use run::{Entry, Open, Run};

/// The parser.
pub(crate) static GTEST: Shipped = Shipped::new(
    "gtest",
    &About {
        languages: &["c++", "c"],
        aliases: &["googletest", "google_test", "gtest_main", "utest"],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "the console of GoogleTest 1.8 and newer, --gtest_brief=1 and utest.h included; several binaries in one log",
            "passing and skipped tests of --gtest_brief=1; which binary a test belongs to; a test that \
             prints the result of itself, where the lists at the end do not tell",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["[", "= -"], "", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    if line.first() != Some(&b'[') {
        return None;
    }
    let mut mark = None;
    line::find(line, |at, found| {
        let suites = || {
            memchr::memmem::find(line, b" from ").is_some()
                && memchr::memmem::find(line, b" test ").is_some()
        };
        mark = match found {
            _ if at > 0 => None,
            Line::Running if suites() => {
                Place::Start.certain("googletest's `Running N tests from N test suites`")
            }
            Line::Ran { .. } if suites() => {
                Place::End.certain("googletest's `N tests from N test suites ran`")
            }
            Line::Suite { .. } | Line::SuiteEnd => {
                Place::Within.certain("googletest's `N tests from` a suite")
            }
            Line::Run { .. } => Place::Within.hint("a `[ RUN      ]` line"),
            _ => None,
        };
        true
    });
    mark
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: u64,
    /// All results so far, in the order of the log.
    entries: Vec<Entry>,
    /// Announced tests without a result, outermost first.
    open: Vec<Open>,
    run: Option<Run>,
    /// `[  FAILED  ]` lines without an announcement, as `--gtest_brief=1` prints them.
    brief: Vec<run::Brief>,
    /// A failure's message stands since the last of them.
    failure: bool,
    tail: Tail,
    build: Build,
    runs: Ends,
}

/// What the runs of the log came to.
#[derive(Clone, Debug, Default)]
struct Ends {
    begun: u64,
    ended: u64,
    died: bool,
    cut: bool,
    disagree: bool,
    brief: bool,
}

/// Deeper than this, the outermost open test is given up; further back than this, no second result
/// is looked for.
const MAX_OPEN: usize = 32;

impl State {
    /// Takes a line of the runner. Returns whether it is one that can stand here.
    fn take(&mut self, found: Line<'_>) -> bool {
        match found {
            Line::Running => self.begin(),
            Line::Suite { name } => {
                self.save();
                self.running().suite = Some(name.to_vec());
            }
            Line::SuiteEnd => {}
            Line::Run { name } => return self.announce(name),
            Line::Result { status, text } => return self.result(status, text),
            Line::Ran { tests } => self.ran(tests),
            Line::Passed { tests } => {
                return self.summary(|run| run.passed = Some(tests));
            }
            Line::Skipped { tests } => {
                return self.summary(|run| {
                    run.skipped = tests;
                    run.listing = Some(TestStatus::Skipped);
                });
            }
            Line::Failed { tests } => {
                return self.summary(|run| {
                    run.failed = tests;
                    run.listing = Some(TestStatus::Failed);
                });
            }
        }
        true
    }

    /// The run that is being read; a log whose head is missing begins in the middle of one.
    fn running(&mut self) -> &mut Run {
        if self.run.as_ref().is_some_and(|run| run.ended.is_some()) {
            self.save();
            self.settle();
        }
        let (first, runs) = (self.entries.len(), &mut self.runs);
        self.run.get_or_insert_with(|| {
            runs.begun += 1;
            Run::new(first)
        })
    }

    /// Keeps the state of the run for the innermost open test, should the rest be its output.
    fn save(&mut self) {
        if let Some(open) = self.open.last_mut()
            && open.outer.is_none()
        {
            open.outer.clone_from(&self.run);
        }
    }

    fn begin(&mut self) {
        self.save();
        for open in &mut self.open {
            open.died |= !open.outlived;
        }
        if self.open.is_empty() {
            self.settle();
        } else if let Some(run) = self.run.take()
            && run.ended.is_none()
        {
            // What the process printed before it died is told by the lines in front of this one.
            let deaths = self.tail.deaths();
            if let Some(open) = self.open.last_mut()
                && open.deaths.is_empty()
            {
                open.deaths = deaths;
            }
        }
        self.tail.clear();
        self.runs.begun += 1;
        let mut run = Run::new(self.entries.len());
        run.explicit = true;
        self.run = Some(run);
    }

    fn announce(&mut self, name: &[u8]) -> bool {
        if let Some(run) = self.run.as_mut().filter(|run| run.ended.is_some()) {
            // After the end of a run, tests come only after the begin of another.
            if !run.explicit || !run.names_suite_of(name) {
                return false;
            }
            // A test had printed that end.
            run.reopen();
        }
        let suite = self.run.as_ref().and_then(|run| run.suite.as_deref());
        let dot = if let Some(suite) = suite {
            let test = name.strip_prefix(suite).and_then(|t| t.strip_prefix(b"."));
            if test.is_none_or(<[u8]>::is_empty) {
                return false;
            }
            suite.len()
        } else {
            let dot = memchr::memchr(b'.', name).unwrap_or(0);
            if dot == 0 || dot + 1 == name.len() || name.contains(&b' ') {
                return false;
            }
            dot
        };
        self.running();
        if self.open.len() == MAX_OPEN {
            let open = self.open.remove(0);
            self.give_up(open);
        }
        self.tail.clear();
        self.open.push(Open {
            name: name.to_vec(),
            suite: dot,
            line: self.line,
            entries: self.entries.len(),
            outer: None,
            outlived: false,
            died: false,
            deaths: Vec::new(),
        });
        true
    }

    fn result(&mut self, status: TestStatus, text: &[u8]) -> bool {
        let innermost = self
            .open
            .iter()
            .rposition(|open| line::names(text, &open.name));
        if let Some(found) = innermost {
            self.close(found, status);
            return true;
        }
        let Some(run) = self.run.as_mut() else {
            return self.unannounced(status, text);
        };
        let ended = run.ended.is_some();
        if ended && run.list(status, text) {
            return true;
        }
        // A second result of a test that ended: one of the two was printed by a test, and perhaps
        // all that stands between them.
        let (first, explicit) = (run.first.min(self.entries.len()), run.explicit);
        let near = self.entries.len().saturating_sub(MAX_OPEN).max(first);
        let again = self.entries[near..]
            .iter()
            .rposition(|entry| line::names(text, &entry.name));
        if let Some(at) = again {
            let entry = &mut self.entries[near + at];
            entry.disputed = true;
            entry.status = entry.status.max(Some(status));
            for later in &mut self.entries[near + at + 1..] {
                later.suspect = true;
            }
            return true;
        }
        // Without the line that begins a run, it may be a brief one.
        (ended || !explicit) && self.unannounced(status, text)
    }

    /// The result of an open test: what was read since its announcement is its own output.
    fn close(&mut self, found: usize, status: TestStatus) {
        let mut dropped = self.open.drain(found..);
        let Some(mut open) = dropped.next() else {
            return;
        };
        let outer = open
            .outer
            .take()
            .or_else(|| dropped.find_map(|inner| inner.outer));
        if open.entries < self.entries.len() || outer.is_some() {
            self.log.warn(
                Some(self.line),
                "lines that look like results and stand inside a test were dropped",
            );
        }
        self.entries.truncate(open.entries);
        if outer.is_some() {
            self.run = outer;
        }
        self.entries.push(open.entry(Some(status)));
    }

    /// A failure outside of any announced run.
    fn unannounced(&mut self, status: TestStatus, text: &[u8]) -> bool {
        const MAX: usize = 100_000;
        let Some(name) = line::unannounced(text).filter(|_| status == TestStatus::Failed) else {
            return false;
        };
        let told = std::mem::take(&mut self.failure);
        if self.brief.len() < MAX {
            self.brief.push(run::Brief {
                name: name.to_vec(),
                told,
            });
        }
        true
    }

    fn ran(&mut self, tests: u64) {
        self.save();
        for open in &mut self.open {
            open.outlived |= !open.died;
        }
        if self.run.as_ref().is_some_and(|run| run.ended.is_some()) {
            // The end of a brief run behind another run.
            self.settle();
        }
        let first = self.entries.len();
        let run = self.run.get_or_insert_with(|| Run::new(first));
        run.ended = Some(tests);
        run.brief = std::mem::take(&mut self.brief);
        self.failure = false;
    }

    /// A count behind the end of a run.
    fn summary(&mut self, take: impl FnOnce(&mut Run)) -> bool {
        match &mut self.run {
            Some(run) if run.ended.is_some() => {
                take(run);
                true
            }
            _ => false,
        }
    }

    /// Ends the run that was being read.
    fn settle(&mut self) {
        let Some(mut run) = self.run.take() else {
            return;
        };
        let Some(tests) = run.ended else {
            // Nothing is open, so the process died or the log was cut between two tests.
            self.runs.cut = true;
            let deaths = self.tail.deaths();
            if self.open.is_empty() && !deaths.is_empty() {
                self.runs.died = true;
                let suite = run.suite.as_deref().unwrap_or_default();
                self.log.lose(&lossy(suite), LostReason::Crashed, deaths);
            }
            return;
        };
        self.runs.ended += u64::from(tests > 0);
        let lost: Vec<Open> = {
            let (lost, open) = self.open.drain(..).partition(|open| open.outlived);
            self.open = open;
            lost
        };
        let brief = run.is_brief(&self.entries, &lost, tests);
        let agrees = if brief {
            self.runs.brief = true;
            run.settle_brief(tests, &mut self.entries)
        } else {
            run.settle(lost, tests, &mut self.entries)
        };
        if !agrees {
            self.runs.disagree = true;
            self.log.warn(
                Some(self.line),
                "the results of a run do not add up to its totals",
            );
        }
        self.log.add_totals(run.totals(tests, brief));
    }

    /// An announced test whose result never came.
    fn give_up(&mut self, mut open: Open) {
        let name = lossy(&open.name);
        if open.outlived {
            self.log.warn(
                Some(open.line),
                format!("`{name}` began, and its result cannot be read"),
            );
            return;
        }
        self.log.still_running(name);
        self.runs.cut = true;
        if open.died || !open.deaths.is_empty() {
            self.runs.died = true;
            let suite = lossy(&open.name[..open.suite]);
            self.log.lose(
                &suite,
                LostReason::Crashed,
                std::mem::take(&mut open.deaths),
            );
        }
        self.entries.push(open.entry(Some(TestStatus::Error)));
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if line::find(line, |_, found| self.take(found)) {
            return;
        }
        let running = self.run.as_ref().is_some_and(|run| run.ended.is_none());
        let explicit = self.run.as_ref().is_some_and(|run| run.explicit);
        // What is announced without the line that begins a run may be a test's output.
        self.failure = !explicit && (self.failure || line::is_failure(line));
        if running || !self.open.is_empty() {
            self.tail.push(self.line, line);
        } else {
            self.build.line(line, self.line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        let deaths = self.tail.deaths();
        let fallen = self.run.as_ref().is_some_and(|run| run.ended.is_none()) && !deaths.is_empty();
        if fallen && let Some(open) = self.open.last_mut() {
            open.deaths = deaths;
        }
        self.settle();
        // A brief run that did not come to its end.
        let brief = std::mem::take(&mut self.brief).into_iter();
        let before = self.entries.len();
        let told = brief.filter(|brief| brief.told).map(run::Brief::entry);
        self.entries.extend(told);
        self.runs.cut |= self.entries.len() > before;
        for open in std::mem::take(&mut self.open) {
            self.give_up(open);
        }
        self.runs.died |= fallen;
        for entry in &self.entries {
            let Some(status) = entry.status else {
                continue;
            };
            let name = String::from_utf8_lossy(&entry.name);
            let suite = String::from_utf8_lossy(&entry.name[..entry.suite]);
            self.log.record(&suite, &name, &name, status);
        }
        if self.runs.ended > 0 {
            self.log
                .set_consistent(!self.runs.disagree && !self.runs.cut && !self.runs.died);
        }
        // A brief run does not tell where its output begins.
        let unbuilt = !self.runs.brief && self.build.report(&mut self.log);
        let outcome = if self.runs.died {
            RunOutcome::Crashed
        } else if self.runs.cut {
            RunOutcome::Truncated
        } else if self.runs.ended > 0 {
            RunOutcome::Completed
        } else if unbuilt && self.runs.begun == 0 {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}
