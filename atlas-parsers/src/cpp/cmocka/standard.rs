//! The bracketed lines of cmocka's standard output.

use crate::cpp::build::number;
use crate::cpp::nest::Nest;
use atlas_core::{Evidence, TestStatus, Totals};
use memchr::memmem;

/// `[ RUN      ] name` opens a test, and only an open test has a result.
#[derive(Clone, Default)]
pub(super) struct Standard {
    pub(super) nest: Nest,
    /// Below `[==========] 3 test(s) run.`, where failures are listed again.
    ending: bool,
    /// Groups that have begun and not ended.
    pub(super) open: u64,
    pub(super) ended: bool,
    setup: Vec<Evidence>,
    /// Groups whose setup failed.
    pub(super) lost: Vec<(String, Vec<Evidence>)>,
}

impl Standard {
    /// Takes one clean line that has a bracket.
    pub(super) fn line(&mut self, line: &[u8], count: usize) {
        if let Some(name) = line.strip_prefix(b"[ RUN      ] ") {
            self.ending = false;
            self.nest.start(&String::from_utf8_lossy(name));
            return;
        }
        if let Some(text) = line.strip_prefix(b"[==========] ") {
            self.group(text);
            return;
        }
        if self.ending && !self.nest.is_open() {
            self.end_line(line);
            return;
        }
        self.result(line, count);
    }

    fn group(&mut self, text: &[u8]) {
        // Version 2 puts the group's name in front.
        let text = match (
            memmem::rfind(text, b": Running "),
            memmem::rfind(text, b": "),
        ) {
            (Some(at), _) | (None, Some(at)) => text.get(at + 2..).unwrap_or_default(),
            _ => text,
        };
        if text.starts_with(b"Running ") && text.ends_with(b" test(s).") {
            self.open += 1;
            self.ending = false;
        } else if let Some((count, rest)) = number(text)
            && rest == b" test(s) run."
            && !self.nest.is_open()
        {
            self.open = self.open.saturating_sub(1);
            self.ended = true;
            self.ending = true;
            self.nest.tally.add_totals(Totals {
                total: Some(count),
                ..Totals::default()
            });
        }
    }

    /// A line of the group's end: counts, and lists of tests already reported.
    fn end_line(&mut self, line: &[u8]) {
        if let Some(rest) = line.strip_prefix(b"[  PASSED  ] ")
            && let Some((passed, b" test(s).")) = number(rest)
        {
            self.nest.tally.add_totals(Totals {
                passed: Some(passed),
                ..Totals::default()
            });
        } else if let Some(rest) = line.strip_prefix(b"[  SKIPPED ] ")
            && rest.ends_with(b" test(s), listed below:")
        {
            let text = memmem::rfind(rest, b": ").and_then(|at| rest.get(at + 2..));
            if let Some((skipped, _)) = number(text.unwrap_or(rest)) {
                self.nest.tally.add_totals(Totals {
                    skipped: Some(skipped),
                    ..Totals::default()
                });
            }
        }
    }

    fn result(&mut self, line: &[u8], count: usize) {
        const WORDS: &[(&[u8], TestStatus)] = &[
            (b"[       OK ] ", TestStatus::Passed),
            (b"[  FAILED  ] ", TestStatus::Failed),
            (b"[  SKIPPED ] ", TestStatus::Skipped),
            (b"[  ERROR   ] ", TestStatus::Failed),
        ];
        for (word, status) in WORDS {
            // A test may print without a newline before its result.
            let Some(name) = memmem::rfind(line, word).and_then(|at| line.get(at + word.len()..))
            else {
                continue;
            };
            if *status == TestStatus::Failed && self.fixture(line, name, count) {
                return;
            }
            if self.nest.end(name, *status) {
                return;
            }
        }
    }

    /// `[  FAILED  ] GROUP SETUP`, then `[  ERROR   ] group`: no test of the group runs.
    fn fixture(&mut self, line: &[u8], name: &[u8], count: usize) -> bool {
        if self.nest.is_open() {
            return false;
        }
        let proof = || Evidence::at("log", count, String::from_utf8_lossy(line).into_owned());
        if line == b"[  FAILED  ] GROUP SETUP" {
            self.setup = vec![proof()];
            return true;
        }
        if self.setup.is_empty() || !line.starts_with(b"[  ERROR   ] ") {
            return false;
        }
        let mut lines = std::mem::take(&mut self.setup);
        lines.push(proof());
        self.lost
            .push((String::from_utf8_lossy(name).into_owned(), lines));
        true
    }
}
