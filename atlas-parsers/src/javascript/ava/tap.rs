//! AVA's TAP.

use super::line::{self, Said};
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, TestStatus, Totals};

/// What the TAP of a log told.
#[derive(Debug, Default)]
pub(super) struct Tap {
    begun: bool,
    last: u64,
    passed: Option<u64>,
    skipped: u64,
    tests: Vec<(String, TestStatus)>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
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
            return;
        }
        if memchr::memmem::find(line, b"ok ").is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let Some(at) = text.find("ok ") else {
            return;
        };
        let failed = text.get(..at).is_some_and(|head| head.ends_with("not "));
        let Some((n, title)) = text.get(at + 3..).and_then(|rest| rest.split_once(" - ")) else {
            return;
        };
        if n.parse::<u64>().ok() != self.last.checked_add(1) {
            return;
        }
        self.last += 1;
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
                    let proof = vec![Evidence::at("log", number, text.clone().into_owned())];
                    self.lost.push((file.to_owned(), reason, proof));
                }
                Said::TimedOut => self.timed_out = true,
                Said::Broken | Said::Other => {}
            }
            return;
        }
        self.tests.push((title.to_owned(), status));
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
