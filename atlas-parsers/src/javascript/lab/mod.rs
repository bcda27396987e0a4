//! lab, the runner of hapi: its console reporter, verbose (`-v`) and in dots.
//!
//! lab numbers its tests from one in the order in which they run, so that the numbers rise; those that were
//! filtered leave gaps. The verbose form prints the titles of experiments that the last test did not have, two
//! blanks for each experiment around, and below them the result: `  ✔ 1) adds (2 ms and 1 assertions)`. Tests
//! print in between, as they like. The numbers, the counts at the end and the list of failures, which has whole
//! titles, tell which results are lab's: see `run.rs`.
//!
//! An id is the titles of the experiments and the test's, joined by ` > `. In dots only failures have names, and
//! a name is all titles in one text, as the list of failures has it.
//!
//! An end that is followed by a result with the next number was printed by a test. A failed `before` fails the
//! tests of its experiment; other errors outside of tests are warnings here, as lab names no test for them.

mod line;
mod run;

use crate::javascript::sum::Sum;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::{clean, lossy};
use atlas_core::{Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder};
use line::Counts;
use run::Run;

/// lab.
pub(crate) static LAB: Shipped = Shipped::new(
    "lab",
    &About {
        languages: &["javascript", "typescript"],
        aliases: &["hapi_lab"],
        commands: &[&["lab"]],
        contains: &["junit", "tap"],
        ..About::new(
            "the console reporter of lab 14 to 26, verbose and in dots",
            "passing and skipped tests in dots, and there the experiments of a failure apart from its title; \
             whether a line at the margin right before a result, or before the title of an inner experiment, is \
             the title of an experiment or was printed by a test, where no failure below tells; which of two \
             results is real where a test prints one with the number that is its own or the last; tests of -s",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["T~E", "*"], "~", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'T' if line.starts_with(b"Test duration: ") => {
            let counts = Counts::of(std::str::from_utf8(before).ok()?);
            let ends = counts.is_some() && line::is_duration(std::str::from_utf8(line).ok()?);
            ends.then_some(Mark::certain(
                Place::End,
                "`Test duration: N ms` below `N tests complete` or `N of M tests failed`",
            ))
        }
        b'E' if line.starts_with(LOAD.as_bytes()) => {
            Place::Within.hint("an `Error requiring file:` line")
        }
        b' ' | 0xe2 => {
            let body = line.trim_ascii_start();
            // Ticks and `-` only: crosses have neither time nor assertions.
            if !body.starts_with("✔".as_bytes()) && !body.starts_with("√".as_bytes()) {
                return None;
            }
            let result = line::result(std::str::from_utf8(line).ok()?)?;
            let what = "numbered results with time and assertions";
            Some(if result.counted {
                Mark::certain(Place::Within, what)
            } else {
                Mark::hint(Place::Within, "`✔ 1) title (N ms)` lines")
            })
        }
        _ => None,
    }
}

/// What lab says of a test file that does not load. It then stops.
const LOAD: &str = "Error requiring file: ";
/// The same of a file that forgets to export its tests.
const UNEXPORTED: (&str, &str) = (
    "The file: ",
    " includes a lab script that is not exported via exports.lab",
);
/// The lines behind it that tell why.
const PROOF: usize = 5;

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    run: Run,
    counts: Option<Counts>,
    /// The last line consists of two blanks: what dots begin with.
    blank: bool,
    lost: Option<(String, Vec<Evidence>)>,
    sum: Sum,
}

impl State {
    /// Ends the run that is open, if there is one.
    fn close(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.any() {
            return;
        }
        if run.end.is_some() {
            self.sum.ended += 1;
            // An end is enough to say that tests ran.
            self.sum.passed = true;
        } else {
            self.sum.truncated = true;
        }
        self.sum.disagrees |= run.finish(&mut self.log) == Some(false);
    }

    fn result(&mut self, line: &str) -> bool {
        if self.run.is_dotted() {
            return false;
        }
        let result = line::result(line).or_else(|| {
            // Behind output only the number that comes next counts.
            let at = line::glued(line)?;
            line::result(&line[at..]).filter(|result| result.number == self.run.next())
        });
        let Some(result) = result else {
            return false;
        };
        self.lost = None;
        if !self.run.goes_on(result.number) {
            self.close();
        }
        self.run.end = None;
        self.run.result(&result);
        true
    }

    fn dots(&mut self, line: &str, began: bool) {
        let Some(dots) = line::dots(line) else {
            if began
                && line.starts_with("  ")
                && line.as_bytes().get(2).is_some_and(|b| b".x-".contains(b))
            {
                self.begin_dots();
            }
            return;
        };
        if began {
            self.begin_dots();
        }
        if self.run.open == 1 {
            self.run.dots(dots);
        }
    }

    fn begin_dots(&mut self) {
        self.lost = None;
        if self.run.end.is_some() {
            self.close();
        }
        self.run.open += 1;
    }

    fn end(&mut self, counts: Counts) {
        // A test printed a whole run of lab: this end is that one's, and the run that is read goes on.
        if self.run.open > 1 {
            self.run.open -= 1;
            return;
        }
        self.lost = None;
        self.run.end = Some(counts);
    }

    fn other(&mut self, line: &str) {
        if let Some((_, proof)) = &mut self.lost
            && proof.len() < PROOF
            && !line.trim().is_empty()
        {
            proof.push(Evidence::at("log", self.number, line));
        }
        let unexported = || {
            let rest = line.strip_prefix(UNEXPORTED.0)?;
            rest.strip_suffix(UNEXPORTED.1)
        };
        if let Some(file) = line.strip_prefix(LOAD).or_else(unexported) {
            let proof = vec![Evidence::at("log", self.number, line)];
            self.lost = Some((file.to_owned(), proof));
        } else if line == "Failed tests:" || line == "Test script errors:" {
            self.run.listing();
        } else if let Some(count) = line.strip_prefix("There were ")
            && let Some(count) = count.strip_suffix(" test script error(s).")
        {
            let number = u64::try_from(self.number).ok();
            let text =
                format!("{count} errors outside of tests, in hooks or in what a test left behind");
            self.log.warn(number, text);
        } else if let Some(entry) = line.strip_prefix("  ")
            && let Some((number, title)) = line::entry(entry)
            && let Some(title) = title.strip_suffix(':')
        {
            self.run.listed(number, title);
        }
        self.run.other(line);
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.number += 1;
        let line = clean(raw);
        let line = lossy(&line);
        let blank = std::mem::replace(&mut self.blank, line == "  ");
        let counts = std::mem::replace(&mut self.counts, Counts::of(&line));
        if let Some(counts) = counts.filter(|_| line::is_duration(&line)) {
            self.end(counts);
        } else if !self.result(&line) {
            self.dots(&line, blank);
            self.other(&line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.close();
        if let Some((file, proof)) = self.lost {
            self.sum.lost = true;
            self.log.lose(&file, LostReason::LoadFailed, proof);
        }
        self.sum.finish(self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Hints, detect};
    use atlas_core::RunOutcome;
    use atlas_core::{LogParserExt, TestStatus};

    const VERBOSE: &[u8] = include_bytes!("corpus/traps_verbose.log");

    #[test]
    fn dots_name_the_same_failures() {
        let plain = |log: &[u8]| -> Vec<String> {
            let log = LAB.parse(log);
            assert_eq!(log.consistent, Some(log.warnings.is_empty()));
            let failed = log.results.iter().filter(|test| test.status.is_failing());
            failed.map(|test| test.name.replace(" > ", " ")).collect()
        };
        let verbose = plain(VERBOSE);
        assert_eq!(verbose.len(), 5);
        assert_eq!(plain(include_bytes!("corpus/traps_dots.log")), verbose);
    }

    #[test]
    fn each_form_is_known() {
        for log in [
            VERBOSE,
            include_bytes!("corpus/traps_dots.log"),
            include_bytes!("corpus/not_loaded.log"),
            include_bytes!("corpus/traps_verbose_14.log"),
        ] {
            let found = detect(log, &Hints::default());
            assert_eq!(found.parser.as_deref(), Some("lab"), "{found:?}");
        }
    }

    #[test]
    fn a_run_without_its_end_is_cut() {
        let log = "A\n  ✔ 1) one (0 ms)\n  ✖ 2) two\n";
        let read = LAB.parse(log.as_bytes());
        assert_eq!(read.outcome, RunOutcome::Truncated);
        assert_eq!(read.tests()["A > two"], TestStatus::Failed);
        assert_eq!(read.consistent, None);
    }

    #[test]
    fn a_printed_line_is_no_heading_where_a_failure_tells() {
        let log = "A\n  ✔ 1) one (0 ms)\nprinted\n  ✖ 2) two\n  ✔ 3) three (0 ms)\n\n\nFailed tests:\n\n  2) A two:\n\n      \
            x\n\n\n1 of 3 tests failed\nTest duration: 3 ms\nLeaks: No issues\n\n";
        let read = LAB.parse(log.as_bytes());
        let names: Vec<&str> = read.results.iter().map(|test| test.name).collect();
        assert_eq!(names, ["A > one", "A > two", "A > three"]);
        assert_eq!(read.consistent, Some(true));
    }

    #[test]
    fn counts_that_do_not_fit_are_said() {
        let log = "A\n  ✔ 1) one (0 ms)\n\n\n2 tests complete\nTest duration: 3 ms\n";
        assert_eq!(LAB.parse(log.as_bytes()).consistent, Some(false));
    }
}
