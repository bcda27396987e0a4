//! bats, the Bash test runner: its TAP, TAP 13, pretty and JUnit formatters.
//!
//! A test is its title, without what a formatter appends: a time, a reason to skip. A `setup_file`
//! that fails stands for the tests of its file, as bats itself counts it. Titles are printed as
//! they are. A test can write into bats' own stream; plan and numbers, and in the pretty form the
//! announced title, tell such lines from results.

mod pretty;
mod title;

use crate::common::junit;
use crate::common::tap::{Document, Run, Seen, line};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LogReader as _, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome,
};
use memchr::memmem;

/// `bats`.
pub(crate) static BATS: Shipped = Shipped::new(
    "bats",
    &About {
        languages: &["shell"],
        aliases: &["bats_core"],
        commands: &[&["bats"]],
        usual_for: &["shell"],
        contains: &["junit", "tap"],
        ..About::new(
            "bats 0.4 to 1.13: the tap, tap13, pretty and junit formatters, with times or without",
            "the file of a test in TAP; which of two lines is real where a test writes a point \
             with the very number that comes next to file descriptor 3",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["#no", "*"], "*", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'#' => {
            if line.starts_with(b"# bats warning: ") {
                return Place::End.certain("a `bats warning`");
            }
            let origin =
                line.starts_with(b"# (in test file ") || line.starts_with(b"# (from function `");
            (origin && memmem::find(line, b".bats, line ").is_some()).then_some(Mark::certain(
                Place::Within,
                "`# (in test file ….bats, line`",
            ))
        }
        b'n' if line.starts_with(b"not ok 1 bats-gather-tests") => {
            Place::Within.certain("`bats-gather-tests`")
        }
        b'o' | b'n' => {
            let point = line::point(line)?;
            point.number?;
            title::timed(point.rest)
                .then_some(Mark::certain(Place::Within, "points with `# in … ms`"))
        }
        b' ' => {
            if line == b"  ..." || line == b"  message: |" {
                let time = before.strip_prefix(b"  duration_ms: ")?;
                line::number(time)?;
                return Place::Within
                    .certain("a block with nothing but whole milliseconds and a message");
            }
            if line.starts_with(b"   ") && pretty::result(line).is_some() {
                return Place::Within.certain("titles with a count and a tick");
            }
            let case = line
                .trim_ascii_start()
                .strip_prefix(b"<testcase classname=\"")?;
            let class = &case[..memchr::memchr(b'"', case)?];
            class
                .ends_with(b".bats")
                .then_some(Mark::certain(Place::Within, "test cases of `.bats` files"))
        }
        _ => None,
    }
}

#[derive(Clone, Default)]
struct State {
    number: usize,
    run: Run,
    block: line::Block,
    pretty: pretty::Pretty,
    /// The JUnit formatter writes to the console.
    junit: Option<junit::Reader>,
    /// Whether titles end with a time, as their first one tells.
    timed: Option<bool>,
    /// `not ok 1 bats-gather-tests`: the proof lines, while they last.
    unloaded: Option<Vec<Evidence>>,
    /// The last complaint before the plan.
    complaint: Option<Evidence>,
    not_loaded: bool,
    specials: u64,
}

impl State {
    fn point(&mut self, line: &[u8]) {
        let Some(point) = line::point(line) else {
            return;
        };
        let Some(number) = point.number else {
            return;
        };
        if !point.passed && number == 1 && point.rest == b"bats-gather-tests" {
            // The plan counted nothing but this line.
            self.run.document = Document::default();
            self.unloaded = Some(
                self.complaint
                    .take()
                    .into_iter()
                    .chain([self.evidence(line)])
                    .collect(),
            );
            return;
        }
        let special = !point.passed && title::special(point.rest);
        let (name, skipped) = title::of_point(point.rest, point.passed, &mut self.timed);
        let directive = skipped.then_some(line::Directive::Skip);
        let name = String::from_utf8_lossy(name);
        if special && point.rest != b"setup_file failed" {
            // It bears the number of a test besides it.
            let failed = line::status(false, None);
            self.run.log.record("", &name, &name, failed);
            self.specials += 1;
        } else {
            self.run.point(Seen {
                number: Some(number),
                name: &name,
                group: "",
                status: line::status(point.passed, directive),
            });
        }
        self.block.point();
    }

    fn evidence(&self, line: &[u8]) -> Evidence {
        Evidence::at(
            "log",
            self.number,
            String::from_utf8_lossy(line).trim().to_owned(),
        )
    }

    /// Ends the proof of a file that could not be read.
    fn lose(&mut self) {
        let Some(lines) = self.unloaded.take() else {
            return;
        };
        let file = lines.iter().find_map(|line| title::file(&line.text));
        let file = file.unwrap_or("bats-gather-tests").to_owned();
        self.run.log.lose(&file, LostReason::LoadFailed, lines);
        self.not_loaded = true;
    }

    fn comment(&mut self, line: &[u8]) {
        if self.unloaded.is_some() {
            let proof = self.evidence(line);
            if let Some(lines) = &mut self.unloaded {
                lines.push(proof);
            }
        } else if line.starts_with(b"# bats warning: Executed ") {
            self.run.whole = true;
        } else if line.starts_with(b"# Received SIGINT, aborting") {
            self.run.died = true;
        }
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.number += 1;
        if let Some(junit) = &mut self.junit {
            junit.feed(raw);
            junit.feed(b"\n");
            return;
        }
        // What stands in the form that began later, a test printed.
        if !self.run.document.any() && self.pretty.line(raw, &mut self.run.log) {
            return;
        }
        let line = clean(raw);
        if self.pretty.any() || self.block.holds(&line) {
            return;
        }
        match line.first() {
            Some(b'#') => {
                self.comment(&line);
                return;
            }
            Some(b'<')
                if !self.run.document.any()
                    && (line.starts_with(b"<?xml ") || line.starts_with(b"<testsuites")) =>
            {
                self.lose();
                let mut junit = junit::Reader::default();
                junit.feed(raw);
                junit.feed(b"\n");
                self.junit = Some(junit);
                return;
            }
            None => return,
            _ => {}
        }
        self.lose();
        match line[0] {
            b'o' | b'n' => self.point(&line),
            b'1' => {
                if let Some(plan) = line::plan(&line) {
                    self.run.plan(plan);
                }
            }
            b'T' if line::version(&line) => self.run.begin(),
            b'E' if line.starts_with(b"ERROR: Test file ") => {
                self.complaint = Some(self.evidence(&line));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.lose();
        if self.not_loaded && self.run.log.recorded() == 0 && !self.run.document.any() {
            return self.run.log.finish(RunOutcome::BuildFailed);
        }
        if let Some(junit) = self.junit {
            return of_report(&Box::new(junit).finish());
        }
        if self.pretty.any() {
            return self.pretty.finish(self.run.log);
        }
        self.run.whole |= self.specials > 0 && self.run.document.complete();
        self.run.finish(None)
    }
}

/// A report in bats' own terms: titles without the file, and without blanks around them.
fn of_report(report: &ParsedLog) -> ParsedLog {
    let mut log = ParsedLogBuilder::default();
    for test in &report.results {
        let name = test
            .name
            .strip_prefix(test.module)
            .and_then(|rest| rest.strip_prefix("::"))
            .unwrap_or(test.name)
            .trim();
        let qualified = [test.module, name].join(" > ");
        for _ in 0..test.seen {
            log.record(test.module, &qualified, name, test.status);
        }
    }
    if let Some(totals) = report.totals {
        log.add_totals(totals);
    }
    if let Some(consistent) = report.consistent {
        log.set_consistent(consistent);
    }
    for warning in &report.warnings {
        log.warn(None, warning.text.clone());
    }
    for name in &report.in_flight {
        log.still_running(name.clone());
    }
    log.finish(report.outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::LogParserExt;

    #[test]
    fn every_formatter_says_the_same() {
        let tap = BATS.parse(include_bytes!("corpus/real_bats_support_tap.log"));
        for other in [
            &include_bytes!("corpus/real_bats_support_pretty.log")[..],
            include_bytes!("corpus/pretty_without_escapes.log"),
        ] {
            let other = BATS.parse(other);
            assert_eq!(other.tests(), tap.tests());
            assert_eq!(other.outcome, RunOutcome::Completed);
        }
    }

    #[test]
    fn every_version_says_the_same() {
        let newest = BATS.parse(include_bytes!("corpus/tap13_timing_1.13.0.log"));
        for older in [
            &include_bytes!("corpus/tap_timing_1.2.1.log")[..],
            include_bytes!("corpus/tap_timing_1.5.0.log"),
            include_bytes!("corpus/tap_timing_1.13.0.log"),
            include_bytes!("corpus/pretty_0.4.2.log"),
            include_bytes!("corpus/pretty_1.2.1.log"),
            include_bytes!("corpus/pretty_timing_1.13.0.log"),
        ] {
            assert_eq!(BATS.parse(older).tests(), newest.tests());
        }
    }

    #[test]
    fn a_point_with_the_next_number_cannot_be_told() {
        // A known limit: a test wrote the second line to file descriptor 3.
        let log = BATS.parse(b"1..2\nok 1 a\nok 2 forged\nnot ok 2 b\n");
        assert_eq!(log.results.len(), 3);
        assert_eq!(log.consistent, Some(false));
    }
}
