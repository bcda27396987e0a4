//! `bun test`: its default reporter, dots, and the short form that shows failures only.
//!
//! A file's name stands on a line of its own, the results below it: `(fail) suite > title [0.12ms]`.
//! What tests print stands between them without a mark, and so does what a failure says, which comes
//! before its result. The counts at the end tell how many results there are; where a reading of the
//! lines without those that a message or a printed run holds agrees with them, that is taken.
//!
//! As in Jest, the id is suites and title, the qualified id has the file in front.

mod line;

use super::sum::Sum;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, TestStatus, Totals,
};

/// `bun test`.
pub(crate) static BUN: Shipped = Shipped::new(
    "bun",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["bun", "test"]],
        ..About::new(
            "the default and dots reporters of `bun test` 1",
            "passing tests of dots and of `--only-failures`; which of two lines is real where a \
             test prints a result; the lines of a title behind the first; whether a title that \
             ends like a time does",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["bR", "ua"], "", "*", "")]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'b' if line::is_header(line) => Place::Start.certain("a `bun test v…` line"),
        b'R' => line::ran(line)
            .map(|_| Mark::certain(Place::End, "a `Ran … tests across … files.` line")),
        _ => None,
    }
}

/// Why a line may not be a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    None,
    /// It stands behind something else in its line.
    Glued,
    /// It stands in the message of an error.
    Said,
    /// It stands below a heading that repeats results.
    Listed,
    /// It stands in a run that began and ended within the run.
    Nested,
    /// It begins with a sign where most of its run begin with words, or with a word among signs.
    Odd,
}

/// How many kinds of doubt there are besides none.
const DOUBTS: u32 = 5;

impl Doubt {
    /// Whether a set of doubts, one bit each, holds this.
    fn is_in(self, set: u32) -> bool {
        self == Self::None || set & (1 << (self as u32 - 1)) != 0
    }
}

/// A line that looks like a result.
#[derive(Clone, Debug)]
struct Found {
    /// The file's place among the files.
    file: Option<usize>,
    name: String,
    status: TestStatus,
    /// Whether it begins with a sign and not with a word.
    signed: bool,
    doubt: Doubt,
}

/// An error outside of the tests of a file.
#[derive(Clone, Debug)]
struct Loose {
    file: Option<usize>,
    lines: Vec<Evidence>,
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
struct End {
    tests: u64,
    counts: line::Counts,
}

/// One run, from its first line to its counts.
#[derive(Clone, Debug, Default)]
struct Run {
    files: Vec<String>,
    found: Vec<Found>,
    loose: Vec<Loose>,
    /// Where runs within this one begin that have no end yet.
    inner: Vec<usize>,
    counts: line::Counts,
    end: Option<End>,
    /// The first result that may be a part of an error's message.
    message: Option<usize>,
    /// Lines with a rule that an error outside of the tests has yet.
    rules: u8,
    listing: bool,
    dotted: bool,
}

impl Run {
    fn line(&mut self, text: &str, number: usize) {
        if let Some(tests) = line::ran(text.as_bytes()) {
            self.ran(tests);
        } else if self.rules > 0 {
            self.between(text, number);
        } else if text == "# Unhandled error between tests" {
            let file = self.files.len().checked_sub(1);
            let lines = vec![Evidence::at("log", number, text)];
            self.loose.push(Loose { file, lines });
            self.rules = 2;
        } else if self.found(text, Doubt::None) {
            // It is among the results.
        } else if let Some(file) = line::file(text) {
            self.files.push(file.to_owned());
            self.message = None;
            self.listing = false;
        } else if self.counts.read(text) {
            // The counts are taken with the line that ends them.
        } else if line::is_list(text) {
            self.listing = true;
        } else if text.starts_with("      at ") {
            let from = self.message.take().unwrap_or(self.found.len());
            for found in &mut self.found[from..] {
                found.doubt = Doubt::Said;
            }
        } else if line::is_error(text) {
            self.message = Some(self.found.len());
        } else if line::is_code(text) {
            self.message = None;
        } else if line::glued(text).is_some_and(|text| self.found(text, Doubt::Glued)) {
            // It is among the results.
        } else {
            self.dotted |= !text.is_empty() && text.bytes().all(|byte| byte == b'.');
        }
    }

    /// Takes a line as a result; says whether it looks like one.
    fn found(&mut self, text: &str, doubt: Doubt) -> bool {
        let Some((name, status)) = line::result(text) else {
            return false;
        };
        // What was taken for the end was printed by a test.
        self.end = None;
        self.found.push(Found {
            file: self.files.len().checked_sub(1),
            name: name.to_owned(),
            status,
            signed: line::is_signed(text),
            doubt: if self.listing { Doubt::Listed } else { doubt },
        });
        true
    }

    /// A line of an error outside of the tests, which stands between two rules.
    fn between(&mut self, text: &str, number: usize) {
        const KEPT: usize = 12;
        if text.len() > 8 && text.bytes().all(|byte| byte == b'-') {
            self.rules -= 1;
        } else if self.found(text, Doubt::Said) {
            // It is among the results.
        } else if let Some(loose) = self.loose.last_mut()
            && loose.lines.len() < KEPT
            && !text.is_empty()
        {
            loose.lines.push(Evidence::at("log", number, text));
        }
    }

    fn ran(&mut self, tests: u64) {
        let counts = std::mem::take(&mut self.counts);
        self.rules = 0;
        self.listing = false;
        self.message = None;
        match self.inner.pop() {
            Some(from) => {
                for found in &mut self.found[from..] {
                    found.doubt = Doubt::Nested;
                }
            }
            None => self.end = Some(End { tests, counts }),
        }
    }

    /// How many results have passed, failed and were skipped, with these doubtful ones.
    fn count(&self, doubts: u32) -> [u64; 3] {
        let mut count = [0; 3];
        for found in self.found.iter().filter(|found| found.doubt.is_in(doubts)) {
            count[match found.status {
                TestStatus::Passed => 0,
                TestStatus::Failed => 1,
                _ => 2,
            }] += 1;
        }
        count
    }

    /// The doubtful results with which the counts are right. Dots and the short form name failures only.
    fn doubts(&self, end: &End) -> Option<u32> {
        let counts = end.counts;
        let failed = counts.failed.map(|all| all.saturating_sub(counts.errors));
        (0..1 << DOUBTS).find(|doubts| {
            let [passed, failing, skipped] = self.count(*doubts);
            let short = self.dotted || passed == 0;
            let named = counts.passed.is_none_or(|declared| declared == passed)
                && (counts.passed.is_none() || counts.skipped == skipped);
            let all = (passed + failing + skipped).saturating_add(counts.errors);
            failed.is_none_or(|declared| declared == failing)
                && (named && all == end.tests || short && passed == 0 && skipped == 0)
        })
    }

    /// A run writes words or signs. Where both are found, a test printed those of one kind: the rarer ones.
    fn doubt_odd(&mut self) {
        let plain = |found: &&Found| found.doubt == Doubt::None;
        let (signs, words): (Vec<&Found>, Vec<&Found>) = self
            .found
            .iter()
            .filter(plain)
            .partition(|found| found.signed);
        let rarer = signs.len() <= words.len();
        if !signs.is_empty() && !words.is_empty() {
            for found in &mut self.found {
                if found.doubt == Doubt::None && found.signed == rarer {
                    found.doubt = Doubt::Odd;
                }
            }
        }
    }

    fn settle(mut self, log: &mut ParsedLogBuilder, sum: &mut Sum) {
        const ALL: u32 = u32::MAX;
        self.doubt_odd();
        let doubts = if let Some(end) = &self.end {
            sum.ended += 1;
            let doubts = self.doubts(end);
            let counts = end.counts;
            sum.passed |= counts.passed.is_some_and(|passed| passed > 0);
            // A run that stopped at a failure counts nothing but its tests.
            let failed = counts.failed.map(|all| all.saturating_sub(counts.errors));
            log.add_totals(Totals {
                total: Some(end.tests),
                passed: counts.passed,
                failed,
                errors: Some(counts.errors).filter(|errors| *errors > 0),
                skipped: counts.passed.map(|_| counts.skipped),
                ..Totals::default()
            });
            let loose = self.loose.len() as u64 == counts.errors || failed.is_none();
            sum.disagrees |= doubts.is_none() || !loose;
            doubts.unwrap_or(0)
        } else {
            sum.truncated = true;
            // What seemed to be a run within this one came after it was cut off.
            ALL & !(1 << (Doubt::Listed as u32 - 1) | 1 << (Doubt::Odd as u32 - 1))
        };
        let mut seen = vec![false; self.files.len()];
        for found in self.found.iter().filter(|found| found.doubt.is_in(doubts)) {
            let file = found.file.map_or("", |file| {
                seen[file] = true;
                self.files[file].as_str()
            });
            log.record_in(file, " > ", &found.name, found.status);
        }
        // An error outside of the tests that is not counted was printed by a test.
        if self
            .end
            .is_some_and(|end| end.counts.passed.is_some() && end.counts.errors == 0)
        {
            return;
        }
        for loose in self.loose {
            let file = loose.file.map_or("bun", |file| self.files[file].as_str());
            if loose.file.is_some_and(|file| seen[file]) {
                let text = format!("`{file}` has an error outside of its tests");
                log.warn(None, text);
            } else {
                sum.lost = true;
                log.lose(file, LostReason::LoadFailed, loose.lines);
            }
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    run: Option<Run>,
    sum: Sum,
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.number += 1;
        let line = clean(raw);
        if line::is_header(&line) {
            match &mut self.run {
                Some(run) if run.end.is_none() => run.inner.push(run.found.len()),
                run => {
                    if let Some(over) = run.replace(Run::default()) {
                        over.settle(&mut self.log, &mut self.sum);
                    }
                }
            }
        } else if line.starts_with(b"The following filters did not match any test files") {
            // Such a run has no counts.
            if self.run.as_ref().is_some_and(|run| run.found.is_empty()) {
                self.run = None;
            }
        } else if let Some(run) = &mut self.run {
            run.line(&String::from_utf8_lossy(&line), self.number);
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Some(run) = self.run.take() {
            run.settle(&mut self.log, &mut self.sum);
        }
        self.sum.finish(self.log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{LogParserExt, RunOutcome};

    #[test]
    fn what_an_error_says_is_no_result() {
        let log = "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n(pass) one\n\
            1 | code\nerror: x\n(pass) forged [0.10ms]\n      at <anonymous> (/testbed/a.test.ts:1:1)\n\
            (fail) two [0.12ms]\nno end(pass) three\n\n 2 pass\n 1 fail\n\
            Ran 3 tests across 1 file. [1.00ms]\n";
        let read = BUN.parse(log.as_bytes());
        let names: Vec<String> = read.tests().into_keys().map(Into::into).collect();
        assert_eq!(names, ["one", "three", "two"]);
        assert_eq!(read.consistent, Some(true));
        let plain = log.replace("no end(pass) three", "(pass) two");
        let read = BUN.parse(plain.as_bytes());
        assert_eq!(read.tests()["two"], TestStatus::Failed);
    }

    #[test]
    fn signs_among_words_were_printed() {
        let log = "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n\u{2713} forged\n(pass) one\n\n\
            \x201 pass\n 0 fail\nRan 1 test across 1 file. [1.00ms]\n";
        let names = |log: &str| -> Vec<String> {
            let read = BUN.parse(log.as_bytes());
            read.tests().into_keys().map(Into::into).collect()
        };
        assert_eq!(names(log), ["one"]);
        assert_eq!(BUN.parse(log.as_bytes()).consistent, Some(true));
        assert_eq!(names(&log[..log.find(" 1 pass").unwrap()]), ["one"]);
        let signs = log.replace("(pass)", "\u{2713}");
        assert_eq!(BUN.parse(signs.as_bytes()).consistent, Some(false));
    }

    #[test]
    fn a_printed_result_shows_in_the_counts() {
        let log = "bun test v1.4.5 (a7733435c)\n\na.test.ts:\n(pass) forged\n(pass) one\n\n\
            \x201 pass\n 0 fail\nRan 1 test across 1 file. [1.00ms]\n";
        let read = BUN.parse(log.as_bytes());
        assert_eq!(read.consistent, Some(false));
        let cut = &log[..log.find(" 1 pass").unwrap()];
        assert_eq!(BUN.parse(cut.as_bytes()).outcome, RunOutcome::Truncated);
    }
}
