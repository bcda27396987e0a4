//! uvu: a line of dots for each suite, the failures below it, and a page of totals at the end.
//!
//! Under its command a file begins with its path. A suite is its title and a mark for each test, and ends with
//! `  (passed / all)`. If fewer passed, an empty line and the failures follow at once, each with suite and title;
//! only they are named. An id joins file, suite and title by ` > `; without the command there is no file.
//!
//! What a test prints stands amid the marks, and what an error says below a failure. So a failure is read only
//! below a suite that has some, and until each has come no other suite begins; a path counts only before the
//! first suite of its file. Where one line of a run is coloured, those without colours that look like the run's are
//! text. Then the page decides: suites that do not add up to it, or have other than their number of
//! failures, make the run inconsistent.

mod line;

use crate::javascript::load::Load;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::text::{clean, lossy};
use atlas_core::{
    LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use line::Count;

/// uvu.
pub(crate) static UVU: Shipped = Shipped::new(
    "uvu",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["uvu"]],
        ..About::new(
            "the only output of uvu 0.5, of its command and of files that are run by themselves",
            "passing and skipped tests; tests that a failing hook prevents, which uvu counts and does not report; \
             whether a quote belongs to a title; which failure is real where an error's message holds another in the \
             colours of the run",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["", ""], "D", "s", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    line::duration(line)?;
    line::count(before, Count::Skipped)?;
    Place::End.certain("`Skipped:` and `Duration:` lines")
}

/// The code by which uvu loads test files. It is not in the trace of one that is required.
const LOADERS: &[&str] = &[
    "/uvu/run/index",
    "/uvu/bin.js",
    "node:internal/modules/esm/translators",
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Outside,
    /// Behind a suite with failures.
    Suite,
    /// Behind the empty line below it.
    Gap,
    Failures,
}

/// Tests of one or more suites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    passed: u64,
    all: u64,
}

/// The lines of a page so far.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    all: u64,
    passed: Option<u64>,
    skipped: Option<u64>,
}

#[derive(Clone)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    runs: Runs,
    load: Load,
    at: At,
    /// The last line was empty; so is what stands before the first.
    blank: bool,
    coloured: bool,
    file: String,
    /// No suite has ended since the file began.
    fresh: bool,
    sum: Sum,
    /// The last line with text ended a suite.
    ended_suite: bool,
    /// Failures of the last suite that have not come.
    missing: u64,
    /// The run was not read rightly, or a test printed one.
    doubted: bool,
    page: Option<Page>,
    /// A page that does not count what stands above it.
    foreign: Option<Totals>,
    begun: bool,
    /// The last run came to its end, and no file began since.
    closed: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            log: ParsedLogBuilder::default(),
            number: 0,
            runs: Runs::default(),
            load: Load::new("uvu", LOADERS),
            at: At::Outside,
            blank: true,
            coloured: false,
            file: String::new(),
            fresh: false,
            sum: Sum::default(),
            ended_suite: false,
            missing: 0,
            doubted: false,
            page: None,
            foreign: None,
            begun: false,
            closed: false,
        }
    }
}

impl State {
    /// A line of the run, if it is in the run's style.
    fn take(&mut self, line: &[u8], coloured: bool) {
        let own = coloured || !self.coloured;
        if !own {
            return;
        }
        if (self.at == At::Gap || self.at == At::Failures && self.blank)
            && let Some((suite, title)) = line::failure(line)
        {
            self.coloured |= coloured;
            self.at = At::Failures;
            self.failure(&lossy(suite), &lossy(title));
            return;
        }
        if self.at == At::Failures && self.missing > 0 {
            return;
        }
        if let Some((passed, all)) = line::suite(line) {
            self.coloured |= coloured;
            self.suite(Sum { passed, all });
        } else if let Some(all) = line::count(line, Count::Total) {
            self.coloured |= coloured;
            self.page = Some(Page {
                all,
                ..Page::default()
            });
        } else if !self.fresh && self.blank && line::is_file(line) {
            self.coloured |= coloured;
            self.settle();
            self.file = lossy(line).into_owned();
            self.fresh = true;
            self.closed = false;
        }
    }

    fn failure(&mut self, suite: &str, title: &str) {
        self.doubted |= self.missing == 0;
        self.missing = self.missing.saturating_sub(1);
        let name = match suite {
            "" => title.to_owned(),
            suite => format!("{suite} > {title}"),
        };
        self.log
            .record_in(&self.file, " > ", &name, TestStatus::Failed);
    }

    fn suite(&mut self, sum: Sum) {
        self.settle();
        if !self.begun {
            self.load.forget();
        }
        // The page above was printed by a test of this file.
        self.doubted |= self.closed && !self.file.is_empty();
        self.closed = false;
        self.begun = true;
        self.fresh = false;
        self.ended_suite = true;
        self.sum.passed = self.sum.passed.saturating_add(sum.passed);
        self.sum.all = self.sum.all.saturating_add(sum.all);
        self.missing = sum.all - sum.passed;
        self.at = match self.missing {
            0 => At::Outside,
            _ => At::Suite,
        };
    }

    /// Ends the last suite.
    fn settle(&mut self) {
        if self.missing > 0 {
            self.doubted = true;
            self.log.warn(
                Some(self.number as u64),
                format!("{} tests that did not pass are not named", self.missing),
            );
        }
        self.missing = 0;
        self.at = At::Outside;
    }

    /// The next line of a page.
    fn page(&mut self, line: &[u8]) {
        let Some(mut page) = self.page.take() else {
            return;
        };
        if page.passed.is_none() {
            page.passed = line::count(line, Count::Passed).filter(|passed| *passed <= page.all);
            self.page = page.passed.map(|_| page);
        } else if page.skipped.is_none() {
            page.skipped = line::count(line, Count::Skipped);
            self.page = page.skipped.map(|_| page);
        } else if line::duration(line).is_some() {
            self.end(page);
        }
    }

    fn end(&mut self, page: Page) {
        let passed = page.passed.unwrap_or(0);
        let totals = Totals {
            total: Some(page.all),
            passed: Some(passed),
            failed: Some(page.all - passed),
            skipped: page.skipped,
            ..Totals::default()
        };
        let same = Sum {
            passed,
            all: page.all,
        };
        if self.sum != same {
            self.foreign = Some(totals);
            return;
        }
        self.settle();
        self.runs.agree(!self.doubted);
        self.log.add_totals(totals);
        if page.all > 0 || self.runs.outcome.is_none() {
            self.runs.first_cut(match page.all {
                0 => RunOutcome::NothingRan,
                _ => RunOutcome::Completed,
            });
        }
        self.load.settle();
        self.foreign = None;
        self.doubted = false;
        self.coloured = false;
        self.fresh = false;
        self.begun = false;
        self.sum = Sum::default();
        self.closed = true;
    }

    fn read(&mut self, line: &[u8], coloured: bool) {
        self.number += 1;
        self.load.line(line, self.number);
        self.page(line);
        if line.is_empty() {
            if self.at == At::Suite {
                self.at = At::Gap;
            }
        } else {
            let before = std::mem::take(&mut self.ended_suite);
            self.take(line, coloured);
            if before && matches!(self.at, At::Suite | At::Gap) && !self.ended_suite {
                // The failures follow at once, or none does.
                self.settle();
            }
        }
        if line.ends_with(b"Exiting early before testing is finished.") {
            self.begun = true;
        }
        self.blank = line.is_empty();
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        let line = clean(raw);
        let coloured = memchr::memmem::find(raw, b"\x1b[").is_some();
        self.read(&line, coloured);
    }

    fn clean_line(&mut self, line: &[u8]) {
        self.read(line, false);
    }

    fn finish(mut self) -> ParsedLog {
        self.settle();
        if let Some(totals) = self.foreign.take() {
            self.log.add_totals(totals);
            self.runs.agree(false);
            self.runs.first_cut(RunOutcome::Completed);
        } else if self.begun {
            self.runs.first_cut(RunOutcome::Truncated);
        }
        let lost = self.load.finish();
        let unbuilt = !lost.is_empty();
        for (module, proof) in lost {
            self.log.lose(&module, LostReason::LoadFailed, proof);
        }
        self.runs.finish(self.log, unbuilt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::LogParserExt;

    #[test]
    fn colours_change_nothing() {
        let coloured = UVU.parse(include_bytes!("corpus/failures.log"));
        let plain = UVU.parse(include_bytes!("corpus/failures_without_colours.log"));
        assert_eq!(coloured.tests(), plain.tests());
        assert_eq!(coloured.tests().len(), 5);
        assert_eq!(coloured.totals, plain.totals);
        assert_eq!(plain.consistent, Some(true));
    }
}
