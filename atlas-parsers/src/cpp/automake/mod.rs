//! `make check` of automake (parallel, serial and TAP harness), GNU Autotest, and harnesses by
//! hand that print the same `PASS: name` lines.
//!
//! Results are followed by a summary with counts, one for each folder. With VERBOSE the log of all
//! tests stands between them, which holds what the tests printed, forged results and summaries
//! included: it is skipped up to the summary whose counts are those of its own heading.

mod autotest;
mod line;
mod section;

use crate::cpp::build::Builds;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, Totals};
use line::Counts;
use section::Section;
use std::collections::HashMap;

/// `make check`.
pub(crate) static AUTOMAKE: Shipped = Shipped::new(
    "automake",
    &About {
        languages: &["c", "c++"],
        aliases: &["jq", "autotest"],
        commands: &[&["make", "check"]],
        contains: &[
            "boost", "catch2", "check", "cmocka", "cppunit", "cunit", "doctest", "gtest", "junit",
            "prove", "pytest", "tap", "unittest", "unity",
        ],
        without_report: crate::cpp::WITHOUT_REPORT,
        ..About::new(
            "`make check` of automake 1.4 and newer (parallel, serial, TAP), GNU Autotest, and \
             harnesses that print `PASS: name`",
            "with the serial harness, whether a `PASS: name` line is a test's own output; \
             without a summary, whether the log is complete",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["TmgA0-9#P", "*"], "", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'T' if line.starts_with(b"Testsuite summary for ") && line::is_bar(before) => {
            Place::End.certain("a `Testsuite summary`")
        }
        b'm' | b'g' if line.ends_with(b"  check-TESTS") => {
            Place::Start.certain("make's `check-TESTS`")
        }
        b'A' | b'0'..=b'9' if line::is_bar(before) && line::old_summary(line).is_some() => {
            Place::End.certain("an `All tests passed` banner")
        }
        b'#' if autotest::heading(line).is_some_and(autotest::opens)
            && before.starts_with(b"## ---") =>
        {
            Place::Start.certain("the heading of GNU Autotest")
        }
        b'P' if line.starts_with(b"PASS: ") => Place::Within.hint("a `PASS: name` line"),
        _ => None,
    }
}

/// What the lines belong to.
#[derive(Clone, Default)]
enum Mode {
    #[default]
    Results,
    /// Below `Testsuite summary`, with what is counted there.
    Summary(Counts),
    /// The log of all tests with the counts of its heading.
    Dump {
        heading: Counts,
        open: bool,
        summary: Option<Counts>,
    },
    /// A suite of GNU Autotest.
    Autotest,
    /// Its end, with what is counted there.
    Counts(Totals),
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    builds: Builds,
    mode: Mode,
    /// The line before this one is a bar.
    bar: bool,
    folders: Vec<String>,
    /// The folder of the last `Making check in lib`, for a make that does not tell where it is.
    making: String,
    /// What all folders have in common.
    root: Option<String>,
    /// Groups of GNU Autotest that run.
    groups: HashMap<u64, String>,
    section: Section,
    sections: Vec<Section>,
    /// A harness of automake has begun and not summed up.
    began: bool,
    ended: bool,
    /// A summary that its section contradicts: a test may have printed it.
    doubtful: Option<Totals>,
    /// The older summary has been read; the line below may tell of tests that did not run.
    banner: bool,
    consistent: Option<bool>,
}

impl State {
    fn close(&mut self) {
        if let Some(totals) = self.doubtful.take() {
            self.log.add_totals(totals);
            self.consistent = Some(false);
        }
        let section = std::mem::take(&mut self.section);
        if !section.results.is_empty() {
            self.sections.push(section);
        }
    }

    /// Ends the section with its summary. One that does not agree stands only if no other follows
    /// in the same folder: with the serial harness, a test may have printed it.
    fn sum_up(&mut self, totals: Totals, agrees: bool) {
        self.began = false;
        self.ended = true;
        self.doubtful = None;
        if agrees {
            self.log.add_totals(totals);
            self.consistent = Some(self.consistent.unwrap_or(true));
            self.close();
        } else {
            self.doubtful = Some(totals);
        }
    }

    fn count_up(&mut self, counts: Counts) {
        let agrees = self.section.counted(counts);
        self.sum_up(counts.totals(), agrees);
    }

    fn banner(&mut self, all: u64, bad: u64) {
        let agrees = self.section.banner(all, bad);
        let totals = Totals {
            total: Some(all),
            failed: Some(bad),
            ..Totals::default()
        };
        self.sum_up(totals, agrees);
        self.banner = true;
    }

    /// Follows make through the folders.
    fn make(&mut self, line: &[u8]) {
        const DEEPEST: usize = 1000;
        if let Some(folder) = line::entered(line) {
            if self.doubtful.is_some() {
                self.close();
            }
            let folder = String::from_utf8_lossy(folder).into_owned();
            self.root = Some(match self.root.take() {
                Some(root) => common_folder(&root, &folder).to_owned(),
                None => folder.clone(),
            });
            if self.folders.len() < DEEPEST {
                self.folders.push(folder);
            }
        } else if line::left(line).is_some() {
            self.folders.pop();
        } else if line.ends_with(b" check-TESTS") {
            if self.doubtful.is_some() {
                self.close();
            }
            self.began = true;
        }
    }

    fn result(&mut self, line: &[u8]) {
        if let Some((name, status)) = line::result(line) {
            if self.section.results.is_empty() {
                let folder = self.folders.last().unwrap_or(&self.making);
                self.section.folder.clone_from(folder);
            }
            self.section.push(name, status);
        }
    }

    fn results_line(&mut self, line: &[u8], bar: bool) {
        match line.first() {
            Some(b'P' | b'F' | b'S' | b'E' | b'X') => self.result(line),
            Some(b'm' | b'g') => self.make(line),
            Some(b'M') => {
                if let Some(folder) = line.strip_prefix(b"Making check in ") {
                    let folder = String::from_utf8_lossy(folder);
                    folder.trim_start_matches('.').clone_into(&mut self.making);
                }
            }
            Some(b'T') if bar && line.starts_with(b"Testsuite summary for ") => {
                self.mode = Mode::Summary(Counts::default());
            }
            Some(b' ') if bar && line::is_dump(line) => {
                self.mode = Mode::Dump {
                    heading: Counts::default(),
                    open: true,
                    summary: None,
                };
            }
            Some(b'A' | b'0'..=b'9') if bar => {
                if let Some((all, bad)) = line::old_summary(line) {
                    self.banner(all, bad);
                }
            }
            Some(b'(') if self.banner => {
                if let Some(skipped) = line::old_skipped(line) {
                    self.log.add_totals(Totals {
                        total: Some(skipped),
                        skipped: Some(skipped),
                        ..Totals::default()
                    });
                }
            }
            Some(b'#') if autotest::heading(line).is_some_and(autotest::opens) => {
                self.close();
                self.began = true;
                self.mode = Mode::Autotest;
            }
            _ => {}
        }
        self.banner &= !line.starts_with(b"=");
    }

    fn dump_line(&mut self, line: &[u8], bar: bool) {
        let Mode::Dump {
            heading,
            open,
            summary,
        } = &mut self.mode
        else {
            return;
        };
        if let Some(counts) = summary {
            if counts.take(line) {
                return;
            }
            let counts = *counts;
            if counts != Counts::default() {
                if counts == *heading {
                    self.mode = Mode::Results;
                    self.count_up(counts);
                } else {
                    *summary = None;
                }
            }
        } else if *open && heading.take(line) {
        } else if line.starts_with(b".. contents::") {
            *open = false;
        } else if bar && line.starts_with(b"Testsuite summary for ") {
            *summary = Some(Counts::default());
        } else if bar
            && *heading == Counts::default()
            && let Some((all, bad)) = line::old_summary(line)
        {
            self.mode = Mode::Results;
            self.banner(all, bad);
        }
    }

    fn autotest_line(&mut self, line: &[u8]) {
        if let Some((index, title)) = autotest::announced(line) {
            self.groups.insert(index, title.to_owned());
        } else if let Some((index, status)) = autotest::ended(line) {
            if let Some(title) = self.groups.remove(&index) {
                self.section.push(&title, status);
            }
        } else if self.groups.is_empty()
            && let Some((title, status)) = autotest::group(line)
        {
            // Between the two lines of a verbose group stands its output.
            self.section.push(title, status);
        } else if autotest::heading(line).is_some_and(|text| text.starts_with(b"Test results")) {
            self.mode = Mode::Counts(Totals::default());
        }
    }

    /// Below the results of GNU Autotest. Its counts end with a line that is none of them.
    fn autotest_counts(&mut self, line: &[u8]) {
        let Mode::Counts(totals) = &mut self.mode else {
            return;
        };
        if let Some(count) = autotest::count(line) {
            totals.add(count);
        } else if line.starts_with(b"## ") && !line.starts_with(b"## ---")
            || line.starts_with(b"make")
        {
            self.end_autotest();
            self.results_line(line, false);
        }
    }

    fn end_autotest(&mut self) {
        if let Mode::Counts(totals) = std::mem::replace(&mut self.mode, Mode::Results) {
            let agrees = totals.total == Some(self.section.results.len() as u64);
            self.sum_up(totals, agrees);
            self.close();
        }
    }

    fn record(&mut self) {
        let root = self.root.take().unwrap_or_default();
        for section in std::mem::take(&mut self.sections) {
            let module = section::module(&section.folder, &root);
            for (name, status) in &section.results {
                if module.is_empty() {
                    self.log.record("", name, name, *status);
                } else {
                    self.log
                        .record(module, &format!("{module}::{name}"), name, *status);
                }
            }
        }
    }
}

/// The folder that holds both.
fn common_folder<'a>(one: &'a str, other: &str) -> &'a str {
    if other == one
        || other
            .strip_prefix(one)
            .is_some_and(|rest| rest.starts_with('/'))
    {
        return one;
    }
    let same = one
        .bytes()
        .zip(other.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    if same == other.len() && one.as_bytes().get(same) == Some(&b'/') {
        return one.get(..same).unwrap_or_default();
    }
    let slash = one
        .as_bytes()
        .get(..same)
        .and_then(|head| memchr::memrchr(b'/', head));
    one.get(..slash.unwrap_or(0)).unwrap_or_default()
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let bar = std::mem::replace(&mut self.bar, line::is_bar(&line));
        match &mut self.mode {
            Mode::Results => {
                if self.section.results.is_empty() {
                    self.builds.line(&line, self.line);
                }
                self.results_line(&line, bar);
            }
            Mode::Summary(counts) => {
                if !counts.take(&line) && !line::is_bar(&line) {
                    // No counts: an older or a forged summary.
                    let counts = *counts;
                    self.mode = Mode::Results;
                    if counts != Counts::default() {
                        self.count_up(counts);
                    }
                    self.results_line(&line, bar);
                }
            }
            Mode::Dump { .. } => self.dump_line(&line, bar),
            Mode::Autotest => self.autotest_line(&line),
            Mode::Counts(_) => self.autotest_counts(&line),
        }
    }

    fn finish(mut self) -> ParsedLog {
        if let Mode::Summary(counts) = self.mode
            && counts != Counts::default()
        {
            self.count_up(counts);
        }
        self.end_autotest();
        if self.doubtful.is_none() {
            self.section.drop_messages();
        }
        let loose = !self.section.results.is_empty();
        self.close();
        self.record();
        if let Some(consistent) = self.consistent {
            self.log.set_consistent(consistent);
        }
        let unbuilt = self.builds.finish(&mut self.log);
        let outcome = if loose && self.began {
            RunOutcome::Truncated
        } else if self.log.recorded() > 0 || self.ended {
            RunOutcome::Completed
        } else if unbuilt {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}
