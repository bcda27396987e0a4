//! The Spec and Progress reporters of `minitest-reporters`.

use super::line::result;
use crate::edges::{is_decimal, without_note};
use atlas_core::TestStatus;

#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    /// `Started with run options` was printed.
    pub(super) allowed: bool,
    suite: Option<String>,
    pub(super) tests: Vec<(String, TestStatus)>,
    /// The name that stands in front of what else was printed in the middle of its line.
    cut: Option<String>,
    /// Passing tests are named too.
    pub(super) whole: bool,
}

/// Width of the column of names, with its margin.
const NAMES: usize = 65;

impl Spec {
    /// Takes a line, which may stand below an empty one. Returns whether it was a result.
    pub(super) fn line(&mut self, line: &[u8], after_empty: bool) -> bool {
        if !self.allowed {
            return false;
        }
        let text = String::from_utf8_lossy(line);
        if let Some((id, status)) = bracketed(&text) {
            self.tests.push((id, status));
            return true;
        }
        if self.cut(&text) {
            return true;
        }
        let Some(head) = timed(&text) else {
            // What a test prints stands below its suite's name.
            if after_empty
                && result(line).is_none()
                && !line[0].is_ascii_whitespace()
                && line.len() < 1000
            {
                self.suite = Some(text.into_owned());
            }
            return false;
        };
        // ` FAIL Class#test_x (0.01s)` of the progress reporter, which names no passing tests, and none
        // of which stands among the spec reporter's.
        for (word, status) in WORDS.into_iter().filter(|(word, _)| *word != "PASS") {
            let short = head.trim_start().strip_prefix(word);
            if let Some(name) = short.and_then(|rest| rest.strip_prefix(' '))
                && name.contains('#')
                && !head.starts_with("  test")
                && !self.whole
            {
                self.tests.push((name.to_owned(), status));
                return true;
            }
        }
        let Some(suite) = &self.suite else {
            return false;
        };
        // Output without a line end may stand in front.
        let from = head.find("  test").unwrap_or(0);
        let head = &head[from..];
        let Some(body) = head
            .strip_prefix("  ")
            .filter(|body| !body.starts_with(' '))
        else {
            return false;
        };
        for (word, status) in WORDS {
            if let Some(name) = body.strip_suffix(word)
                && name.ends_with(' ')
                && head.chars().count() >= NAMES
            {
                let name = format!("{suite}#{}", name.trim_end());
                self.tests.push((name, status));
                self.whole = true;
                return true;
            }
        }
        false
    }
}

impl Spec {
    /// A name with other output in front of its result, which then begins a line: standard error
    /// comes between two pieces of standard output.
    fn cut(&mut self, text: &str) -> bool {
        let head = timed(text);
        if let Some(head) = head
            && let Some((_, status)) = WORDS.iter().find(|(word, _)| *word == head.trim_start())
        {
            let Some(name) = self.cut.take() else {
                return false;
            };
            self.tests.push((name, *status));
            self.whole = true;
            return true;
        }
        if head.is_none()
            && let Some(suite) = &self.suite
            && let Some((at, _)) = text.char_indices().nth(NAMES)
            && let Some(name) = text[..at].strip_suffix(' ')
            && name.starts_with("  test")
        {
            self.cut = Some(format!("{suite}#{}", name.trim()));
        }
        false
    }
}

/// `FAIL["test_x", CalcTest, 0.01]`, as version 1.0 of the progress reporter prints it, behind the
/// bar or behind what a test has printed.
fn bracketed(text: &str) -> Option<(String, TestStatus)> {
    let text = text.trim_end().strip_suffix(']')?;
    let (front, values) = text.rsplit_once("[\"")?;
    let (_, status) = WORDS
        .into_iter()
        .find(|(word, _)| *word != "PASS" && front.ends_with(word))?;
    let (name, rest) = values.split_once("\", ")?;
    let (class, time) = rest.split_once(", ")?;
    let is_time = time.starts_with(|c: char| c.is_ascii_digit());
    let class = class.trim_matches('"');
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase());
    let name = name.replace("\\\"", "\"").replace("\\\\", "\\");
    (is_time && is_class && name.starts_with("test")).then(|| (format!("{class}#{name}"), status))
}

const WORDS: [(&str, TestStatus); 4] = [
    ("PASS", TestStatus::Passed),
    ("FAIL", TestStatus::Failed),
    ("ERROR", TestStatus::Error),
    ("SKIP", TestStatus::Skipped),
];

/// The line without ` (0.01s)` at its end.
fn timed(text: &str) -> Option<&str> {
    without_note(text.trim_end(), " (", "s)", |time| is_decimal(time))
}
