//! AVA's TAP.

use super::line::{self, Said};
use super::run::does_not_load;
use crate::common::tap;
use crate::runner::{Mark, Place};
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, TestStatus, Totals};

/// How many lines below an error outside of the tests are kept.
const PROOF: usize = 12;

/// What a line of TAP says of its producer.
pub(super) fn mark(line: &[u8]) -> Option<Mark> {
    if !matches!(line.first()?, b'o' | b'n') {
        return None;
    }
    let point = tap::line::point(line)?;
    point.number?;
    let text = std::str::from_utf8(line).ok()?;
    let (_, title) = text.split_once(" - ")?;
    if !point.passed
        && let Some(Said::Lost(file, LostReason::Crashed)) = line::said(title)
        && file.contains('.')
    {
        return Place::Within.certain("a TAP point for a lost file");
    }
    // The file is a part of the title.
    title
        .contains(" › ")
        .then_some(Mark::hint(Place::Within, "a TAP point of `file › title`"))
}

/// What the TAP of a log told.
#[derive(Clone, Debug, Default)]
pub(super) struct Tap {
    begun: bool,
    last: u64,
    passed: Option<u64>,
    skipped: u64,
    tests: Vec<(String, TestStatus)>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    /// The error outside of the tests that was the last point, line by line: what AVA says of the
    /// file it comes from follows it.
    error: Vec<Evidence>,
    timed_out: bool,
    others: u64,
    pub(super) totals: Option<Totals>,
}

impl Tap {
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        if !self.begun {
            self.begun = line == b"TAP version 13";
            return;
        }
        if line.starts_with(b"# ") {
            self.count(line);
            return;
        }
        if line.first() == Some(&b' ') {
            self.explain(line, number);
            return;
        }
        if memchr::memmem::find(line, b"ok ").is_none() {
            self.explain(line, number);
            return;
        }
        let text = String::from_utf8_lossy(line);
        let Some((failed, title)) = self.point(&text) else {
            self.explain(line, number);
            return;
        };
        let error = std::mem::take(&mut self.error);
        let (title, status) = if let Some(title) = title.strip_suffix(" # SKIP") {
            (title, TestStatus::Skipped)
        } else if let Some(title) = title.strip_suffix(" # TODO") {
            (title, TestStatus::Skipped)
        } else if failed {
            (title, TestStatus::Failed)
        } else {
            (title, TestStatus::Passed)
        };
        if failed && let Some(said) = line::said(title) {
            self.others += 1;
            match said {
                Said::Lost(file, reason) => {
                    // An error before any test of the file: its code never ran.
                    let reason = if does_not_load(&error) {
                        LostReason::LoadFailed
                    } else {
                        reason
                    };
                    let mut proof = error;
                    proof.push(Evidence::at("log", number, text.clone().into_owned()));
                    self.lost.push((file.to_owned(), reason, proof));
                }
                Said::TimedOut => self.timed_out = true,
                Said::Broken | Said::Other => {}
            }
            return;
        }
        if status == TestStatus::Failed && !title.contains(" › ") {
            self.error
                .push(Evidence::at("log", number, text.clone().into_owned()));
        }
        self.tests.push((title.to_owned(), status));
    }

    /// Whether the next point in order stands here: whether it failed, and its title.
    fn point<'a>(&mut self, text: &'a str) -> Option<(bool, &'a str)> {
        let at = text.find("ok ")?;
        let failed = text.get(..at)?.ends_with("not ");
        let (n, title) = text.get(at + 3..)?.split_once(" - ")?;
        if n.parse::<u64>().ok() != self.last.checked_add(1) {
            return None;
        }
        self.last += 1;
        Some((failed, title))
    }

    /// Takes a line below an error outside of the tests.
    fn explain(&mut self, line: &[u8], number: usize) {
        if !self.error.is_empty() && self.error.len() < PROOF {
            let text = String::from_utf8_lossy(line).trim().to_owned();
            self.error.push(Evidence::at("log", number, text));
        }
    }

    fn count(&mut self, line: &[u8]) {
        let number = |word: &[u8]| -> Option<u64> {
            let number = line.strip_prefix(word)?;
            std::str::from_utf8(number).ok()?.parse().ok()
        };
        if let Some(passed) = number(b"# pass ") {
            self.passed = Some(passed);
            self.skipped = 0;
        } else if let Some(skipped) = number(b"# skip ") {
            self.skipped = skipped;
        } else if let (Some(failed), Some(passed)) = (number(b"# fail "), self.passed.take()) {
            self.last = 0;
            self.begun = false;
            let totals = self.totals.get_or_insert_with(Totals::default);
            totals.add(Totals {
                passed: Some(passed),
                failed: Some(failed),
                ..Totals::default()
            });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.lost.is_empty()
    }

    /// Records all; returns whether it agrees with the counts, and whether time ran out.
    pub(super) fn record(self, log: &mut ParsedLogBuilder) -> (bool, bool) {
        let several = self.tests.iter().filter(|(title, _)| title.contains(" › "));
        let several = several.count() * 2 > self.tests.len();
        let (mut passed, mut bad) = (0, self.others);
        for (title, status) in &self.tests {
            match status {
                TestStatus::Passed => passed += 1,
                _ => bad += 1,
            }
            // An error outside of the tests is printed as a test, without a file.
            let outside = several || line::is_error(title);
            if outside && *status == TestStatus::Failed && !title.contains(" › ") {
                log.warn(None, format!("an error outside of the tests: {title}"));
                continue;
            }
            log.record("", title, title, *status);
        }
        for (file, reason, proof) in self.lost {
            log.lose(&file, reason, proof);
        }
        // Tests that remained, and tests to do, are counted as failures in some versions.
        let fits = self.totals.is_none_or(|totals| {
            totals.passed == Some(passed) && totals.failed.is_some_and(|failed| failed <= bad)
        });
        (fits, self.timed_out)
    }
}
