//! The `test-unit` gem: progress and `--verbose=verbose`, versions 2 and 3.
//!
//! A verbose run prints a test's name when it starts and its time when it ends, with what the test
//! printed and the blocks of its faults between. A block names its test, and a result counts for
//! the test that runs; what a test prints in the form of results belongs to itself.

mod fault;

use crate::ruby::loading::Loading;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use fault::Counts;

/// test-unit's console output.
pub(crate) static TESTUNIT: Shipped = Shipped::new(
    "testunit",
    &About {
        languages: &["ruby"],
        aliases: &["test-unit", "ruby_unit", "ruby_v1"],
        commands: &[&["test-unit"], &["testrb"]],
        ..About::new(
            "--verbose=verbose, and the failures, errors, omissions and pending tests of other runs",
            "--runner=xml; passing tests without --verbose=verbose",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["S0-9", "*"], "", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'S' if line == b"Started" && before.starts_with(b"Loaded suite ") => {
            Place::Start.certain("a `Loaded suite` line before `Started`")
        }
        b'0'..=b'9' if Counts::read(line).is_some() => {
            Place::End.certain("a `… tests, …, … pendings, … omissions, … notifications` line")
        }
        _ => None,
    }
}

/// A test of a verbose run.
#[derive(Clone, Default)]
struct Test {
    id: String,
    class: String,
    name: String,
    status: Option<TestStatus>,
    ended: bool,
    /// Its line ended in the dot of a pass, or else in the mark of a fault whose block is missing.
    dotted: bool,
    mark: Option<TestStatus>,
}

#[derive(Clone, Default)]
struct Session {
    began: bool,
    verbose: bool,
    suites: Vec<String>,
    test: Option<Test>,
    /// The width of the rule that opened the block, and whether its first line has been read.
    block: Option<(usize, bool)>,
    before: Vec<u8>,
    faults: Vec<(String, String, TestStatus)>,
    counts: Option<Counts>,
    finished: bool,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    session: Session,
    runs: Runs,
    told: u64,
    line: usize,
    loading: Loading,
}

impl State {
    fn close(&mut self) {
        self.close_test();
        let session = std::mem::take(&mut self.session);
        let told = std::mem::take(&mut self.told);
        if !session.began && session.counts.is_none() {
            return;
        }
        if !session.verbose {
            for (class, name, status) in &session.faults {
                let id = format!("{class}::{name}");
                self.log.record(class, &id, &id, *status);
            }
        }
        let outcome = match session.counts {
            Some(counts) if counts.tests == 0 => RunOutcome::NothingRan,
            Some(_) => RunOutcome::Completed,
            None => RunOutcome::Truncated,
        };
        if let Some(counts) = session.counts {
            self.log.add_totals(Totals {
                total: Some(counts.tests),
                failed: Some(counts.failures),
                errors: Some(counts.errors),
                skipped: Some(counts.pendings.saturating_add(counts.omissions)),
                ..Totals::default()
            });
            let of = |status| session.faults.iter().filter(|f| f.2 == status).count() as u64;
            let agrees = if session.verbose {
                told == counts.tests
            } else {
                of(TestStatus::Failed) == counts.failures && of(TestStatus::Error) == counts.errors
            };
            self.runs.agree(agrees);
        }
        self.runs.first_cut(outcome);
    }

    fn close_test(&mut self) {
        let Some(test) = self.session.test.take() else {
            return;
        };
        if !test.ended {
            self.log.still_running(test.id.as_str());
        }
        let status = match test.status {
            Some(status) => status,
            None if test.dotted => TestStatus::Passed,
            // Only a pass has a dot in front of its time.
            None => match test.mark.filter(|_| test.ended) {
                Some(status) => status,
                None => return,
            },
        };
        self.told += 1;
        self.log.record(&test.class, &test.id, &test.id, status);
    }

    /// A line of a verbose run outside of blocks.
    fn verbose_line(&mut self, line: &[u8]) {
        let ends = fault::ends_test(line);
        let running = self.session.test.as_ref().is_some_and(|test| !test.ended);
        if !running {
            let text = String::from_utf8_lossy(line);
            let depth = self.session.suites.len();
            let body = text.trim_start_matches(' ');
            let indent = text.len() - body.len();
            if let Some(suite) = body.strip_suffix(": ")
                && indent.is_multiple_of(2)
                && indent / 2 <= depth
                && !suite.is_empty()
                && !suite.contains('\t')
            {
                let suite = suite.to_owned();
                self.close_test();
                self.session.suites.truncate(indent / 2);
                self.session.suites.push(suite);
                self.session.verbose = true;
                return;
            }
            // A test stands below its suite, and behind an inner one that ended.
            if indent >= 2
                && indent.is_multiple_of(2)
                && indent / 2 <= depth
                && let Some(name) = fault::started(body)
            {
                let name = name.to_owned();
                self.close_test();
                self.session.suites.truncate(indent / 2);
                let class = self.session.suites.join("::");
                self.session.verbose = true;
                self.session.test = Some(Test {
                    id: format!("{class}::{name}"),
                    class,
                    name,
                    status: None,
                    ended: ends,
                    dotted: ends && fault::dotted(line),
                    mark: fault::mark(line),
                });
                return;
            }
        }
        if ends && let Some(test) = &mut self.session.test {
            test.ended = true;
            test.dotted = fault::dotted(line);
        }
    }

    /// The first line of a block, or the one of a numbered list.
    fn fault(&mut self, line: &[u8]) {
        let Some(fault) = fault::Fault::read(line) else {
            return;
        };
        let Some(status) = fault.status else {
            return;
        };
        // What follows an end shows that a test has printed it.
        self.session.finished = false;
        self.session.counts = None;
        if let Some(test) = &mut self.session.test {
            let ours = fault.names(&test.name, &test.class);
            if ours {
                test.status = Some(test.status.map_or(status, |known| known.worst(status)));
            }
        } else if !self.session.verbose
            && let Some((class, name)) = fault.test()
        {
            self.session.faults.push((class, name, status));
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if line.starts_with(b"Loaded suite ") {
            self.loading.close(&mut self.log);
        } else if !self.session.began && self.loading.line(self.line, line, &mut self.log) {
            return;
        }
        if line == b"Started" && self.session.before.starts_with(b"Loaded suite ") {
            if self.session.began {
                self.close();
            }
            self.session.began = true;
            return;
        }
        if let Some((width, fresh)) = self.session.block {
            if fault::rule(line) == Some(width) {
                self.session.block = None;
            } else if !fresh {
                self.session.block = Some((width, true));
                self.fault(line);
            }
            return;
        }
        let width = fault::rule(line).filter(|_| fault::ends_with_mark(&self.session.before));
        if let Some(width) = width.filter(|_| self.session.began) {
            self.session.block = Some((width, false));
            return;
        }
        let running = self.session.test.as_ref().is_some_and(|test| !test.ended);
        if line.starts_with(b"Finished in ") && line.ends_with(b" seconds.") {
            // A test that runs has printed it.
            self.session.finished = !running;
            self.session.counts = None;
        } else if self.session.finished
            && self.session.counts.is_none()
            && let Some(counts) = Counts::read(line)
        {
            self.session.counts = Some(counts);
        } else if self.session.began && !line.is_empty() {
            self.numbered(line);
            self.verbose_line(line);
        }
        self.session.before.clear();
        self.session
            .before
            .extend_from_slice(&line[..line.len().min(4096)]);
        if line.len() > 4096 {
            self.session
                .before
                .extend_from_slice(&line[line.len() - 1..]);
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        self.loading.close(&mut self.log);
        if self.loading.any && matches!(self.runs.outcome, None | Some(RunOutcome::NothingRan)) {
            self.runs.outcome = Some(RunOutcome::BuildFailed);
        }
        self.runs.finish(self.log, false)
    }
}

impl State {
    /// `  1) Failure: test_x(TestA)`, where faults are told at the end.
    fn numbered(&mut self, line: &[u8]) {
        let text = line.trim_ascii_start();
        let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0
            && !self.session.verbose
            && let Some(rest) = text[digits..].strip_prefix(b") ")
        {
            self.fault(rest);
        }
    }
}
