//! The themes of the gradle-test-logger plugin.
//!
//! ```text
//! com.example.CalcTest            the suite, and a blank line
//!
//!   Test adds PASSED (2.1s)       standard and plain, two blanks a level
//!   Test breaks FAILED
//!
//!   java.lang.AssertionError …    a blank line, the failure, a blank line
//!
//!     ✔ adds                      mocha
//!
//! FAILURE: Executed 23 tests in 1.2s (8 failed, 4 skipped)
//! ```
//!
//! Nothing of this is sure before the summary has come, so results wait for it.

use super::line;
use crate::edges::{begin_of, behind_any};
use atlas_core::TestStatus;

/// The results of a task, waiting for the plugin's summary.
#[derive(Clone, Debug, Default)]
pub(super) struct Logger {
    suites: Vec<String>,
    /// Suites by indentation, of the `mocha` theme: it indents everything by two more.
    found: Vec<(String, TestStatus)>,
    /// The last line, if it may be a suite.
    candidate: Option<(usize, String)>,
    /// Within the text of a failure: blank lines seen.
    failure: Option<u8>,
    mocha: Declared,
}

/// The plugin's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) total: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

const MARKS: [(&str, TestStatus); 5] = [
    ("✔ ", TestStatus::Passed),
    ("√ ", TestStatus::Passed),
    ("✘ ", TestStatus::Failed),
    ("X ", TestStatus::Failed),
    ("- ", TestStatus::Skipped),
];

impl Logger {
    const MAX_DEPTH: usize = 32;

    /// A line of a task. Returns the totals when the plugin's summary is complete.
    pub(super) fn line(&mut self, text: &str) -> Option<Declared> {
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        if body.is_empty() {
            if let Some((indent, name)) = self.candidate.take() {
                self.suite(indent, name);
            }
            match &mut self.failure {
                Some(blanks) if *blanks == 0 => *blanks = 1,
                _ => self.failure = None,
            }
            return self.mocha_end();
        }
        if self.failure == Some(1) {
            return None;
        }
        self.failure = None;
        self.candidate = None;
        if indent == 0
            && let Some(declared) = executed(body)
        {
            return Some(declared);
        }
        if indent == 2 && self.mocha_count(body) {
            return None;
        }
        if let Some(end) = self.mocha_end() {
            return Some(end);
        }
        if !indent.is_multiple_of(2) {
            return None;
        }
        if let Some(name) = body.strip_prefix("Test ")
            && let Some((name, line::Event::Ended(status))) = line::event(name)
        {
            self.test(indent / 2, name, status);
            return None;
        }
        if indent >= 4
            && let Some((name, status)) = begin_of(body, &MARKS)
        {
            self.test(indent / 2 - 1, line::without_duration(name), status);
            return None;
        }
        if indent == 2 {
            // `mocha-parallel`: the suites, the mark, the test.
            if let Some((suites, name, status)) = MARKS.iter().take(4).find_map(|(mark, status)| {
                let at = body.find(mark)?;
                let suites = body[..at].strip_suffix(' ')?;
                Some((suites, &body[at + mark.len()..], *status))
            }) {
                let name = line::without_duration(name);
                self.push(format!("{suites} > {name}"), status);
                return None;
            }
        }
        if indent == 0
            && let Some((head, line::Event::Ended(status))) = line::event(body)
            && let Some((class, name)) = head.split_once(' ')
            && class.contains('.')
            && class
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'))
        {
            // `standard-parallel` and `plain-parallel`.
            self.push(format!("{class} > {name}"), status);
            return None;
        }
        if body.len() < 512 {
            self.candidate = Some((indent, body.to_owned()));
        }
        None
    }

    fn suite(&mut self, indent: usize, name: String) {
        let depth = indent / 2;
        if depth <= self.suites.len() + 1 && depth < Self::MAX_DEPTH {
            self.suites.truncate(depth);
            while self.suites.len() < depth {
                self.suites.push(String::new());
            }
            self.suites.push(name);
        }
    }

    fn test(&mut self, depth: usize, name: &str, status: TestStatus) {
        // `mocha` leaves the outermost level empty.
        let suites = self
            .suites
            .get(..=depth.min(self.suites.len().saturating_sub(1)));
        let path: Vec<&str> = suites
            .unwrap_or_default()
            .iter()
            .map(String::as_str)
            .filter(|suite| !suite.is_empty())
            .collect();
        if path.is_empty() || name.is_empty() {
            return;
        }
        self.push(format!("{} > {name}", path.join(" > ")), status);
    }

    fn push(&mut self, id: String, status: TestStatus) {
        if status == TestStatus::Failed {
            self.failure = Some(0);
        }
        self.found.push((id, status));
    }

    /// `14 passing (1.2s)`, `4 pending`, `8 failing`.
    fn mocha_count(&mut self, body: &str) -> bool {
        let body = line::without_duration(body);
        let Some((count, word)) = body.split_once(' ') else {
            return false;
        };
        let Ok(count) = count.parse::<u64>() else {
            return false;
        };
        match word {
            "passing" => {}
            "pending" => self.mocha.skipped = count,
            "failing" => self.mocha.failed = count,
            _ => return false,
        }
        self.mocha.total = self.mocha.total.saturating_add(count);
        true
    }

    fn mocha_end(&mut self) -> Option<Declared> {
        (self.mocha != Declared::default()).then(|| std::mem::take(&mut self.mocha))
    }

    /// The results, when the summary has come.
    pub(super) fn take(&mut self) -> Vec<(String, TestStatus)> {
        std::mem::take(self).found
    }
}

/// Reads `FAILURE: Executed 23 tests in 1.2s (8 failed, 4 skipped)`.
fn executed(body: &str) -> Option<Declared> {
    let rest = behind_any(body, &["SUCCESS: ", "FAILURE: ", "SKIPPED: "])?;
    let rest = rest.strip_prefix("Executed ")?;
    let (total, rest) = rest.split_once(" tests in ")?;
    let mut declared = Declared {
        total: total.parse().ok()?,
        ..Declared::default()
    };
    if let Some((_, counts)) = rest.trim_end().split_once(" (") {
        for part in counts.trim_end_matches(')').split(", ") {
            if let Some(count) = part.strip_suffix(" failed") {
                declared.failed = count.parse().ok()?;
            } else if let Some(count) = part.strip_suffix(" skipped") {
                declared.skipped = count.parse().ok()?;
            }
        }
    }
    Some(declared)
}
