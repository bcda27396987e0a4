//! The subtests of node-tap's files.
//!
//! node-tap runs each file as one test point of the document. A line `# Subtest: test/a.js` at the margin
//! begins it, the subtests of the file follow indented, each begun by such a line of its own, and a test point
//! with the same title ends each of them. A test point without such a line is an assertion. Assertions mostly
//! have the same default title (`should be equal`), so they are no tests: the subtest that makes them is one.

use super::line::{self, Block};
use crate::javascript::nodetest::is_file;
use atlas_core::{Evidence, LostReason, ParsedLogBuilder, TestStatus};
use std::collections::HashMap;

/// How a subtest is announced.
pub(super) const ANNOUNCED: &[u8] = b"# Subtest: ";

/// What a file came to.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// Names, each behind its parents', and states.
    pub(super) tests: Vec<(String, TestStatus)>,
    /// Nothing of it ran, or something besides its tests failed.
    pub(super) lost: Option<Vec<Evidence>>,
}

impl File {
    pub(super) fn record(self, log: &mut ParsedLogBuilder, file: &str) {
        if let Some(lines) = self.lost {
            let reason = if self.tests.is_empty() {
                LostReason::LoadFailed
            } else {
                LostReason::Crashed
            };
            log.lose(file, reason, lines);
        }
        for (name, status) in self.tests {
            log.record(file, &name, &name, status);
        }
    }
}

/// A file or a subtest that runs.
#[derive(Clone, Debug)]
struct Running {
    /// As it was announced.
    title: Vec<u8>,
    /// Whether its own assertions passed, where it has any.
    own: Option<bool>,
    /// Whether it has subtests.
    parent: bool,
    /// Whether an assertion or a subtest of it failed, which explains its own failure.
    explained: bool,
    /// The number of its next point. An assertion with another is output.
    next: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Subtests {
    running: Vec<Running>,
    block: Block,
    file: File,
    /// What was printed since the last file ended; a file's errors may come before its announcement.
    said: Vec<Evidence>,
    files: HashMap<String, File>,
}

impl Subtests {
    /// Whether a file runs.
    pub(super) fn open(&self) -> bool {
        !self.running.is_empty()
    }

    /// What the file came to whose point has this title.
    pub(super) fn take(&mut self, file: &str) -> Option<File> {
        self.files.remove(file)
    }

    /// An announcement at the line start.
    pub(super) fn begin(&mut self, title: &[u8]) {
        self.running.clear();
        self.file = File::default();
        if is_file(&line::name(title)) {
            self.running.push(Running::new(title));
        }
    }

    /// A line that is no test point, plan or version at the margin.
    pub(super) fn line(&mut self, line: &[u8], number: usize) {
        if line.first().is_some_and(|c| !c.is_ascii_whitespace()) {
            self.say(line, number);
            return;
        }
        if self.running.is_empty() || self.block.holds(line) {
            return;
        }
        let body = line.trim_ascii_start();
        let indent = line.len() - body.len();
        let depth = indent / 4;
        if !indent.is_multiple_of(4) || depth == 0 || depth > self.running.len() {
            return;
        }
        if let Some(title) = body.strip_prefix(ANNOUNCED) {
            self.running.truncate(depth);
            self.running[depth - 1].parent = true;
            self.running.push(Running::new(title));
        } else if let Some(point) = line::point(body).filter(|point| point.number.is_some()) {
            self.block.point();
            self.point(depth, point);
        }
    }

    fn point(&mut self, depth: usize, point: line::Point<'_>) {
        let (title, directive) = line::title(point.rest);
        let status = line::status(point.passed, directive);
        let is_announced = |running: &Running| is_same(&running.title, title);
        let is_announced = self.running.get(depth).is_some_and(is_announced);
        let around = &mut self.running[depth - 1];
        // The result of what runs counts whatever was printed before it.
        if point.number != Some(around.next) && !is_announced {
            return;
        }
        around.next = point.number.unwrap_or(around.next).saturating_add(1);
        if is_announced {
            self.running.truncate(depth + 1);
            self.end(status);
            return;
        }
        if self.running.len() > depth {
            // It never came to its end.
            self.running.truncate(depth + 1);
            self.end(TestStatus::Failed);
            self.file.lost.get_or_insert_default();
        }
        if directive.is_some() {
            // One that is skipped or still to do is not announced, and did not run.
            self.running[depth - 1].parent = true;
            let name = self.name(title);
            let status = if status == TestStatus::Xpass {
                TestStatus::Skipped
            } else {
                status
            };
            self.file.tests.push((name, status));
        } else {
            let inner = &mut self.running[depth - 1];
            inner.own = Some(point.passed && inner.own.unwrap_or(true));
            inner.explained |= !point.passed;
        }
    }

    /// The innermost subtest ends: a test, unless it but holds others.
    fn end(&mut self, status: TestStatus) {
        let Some(ended) = self.running.pop() else {
            return;
        };
        let failed = status.is_failing();
        if let Some(around) = self.running.last_mut() {
            around.explained |= failed;
        }
        let status = match ended.own {
            // Its others failed, not its own assertions.
            Some(true) if ended.parent && ended.explained => TestStatus::Passed,
            None if ended.parent && (ended.explained || !failed) => return,
            _ => status,
        };
        let name = self.name(&ended.title);
        self.file.tests.push((name, status));
    }

    /// The result of a file. It is kept only for the file that was announced last.
    pub(super) fn close(&mut self, title: &[u8], name: &str, status: TestStatus, at: Evidence) {
        if self.running.len() > 1 {
            self.running.truncate(2);
            self.end(TestStatus::Failed);
            self.file.lost.get_or_insert_default();
        }
        let mut said = std::mem::take(&mut self.said);
        let mut file = std::mem::take(&mut self.file);
        let ended = self.running.pop();
        let Some(ended) = ended.filter(|ended| is_same(&ended.title, title)) else {
            return;
        };
        let failed = status.is_failing();
        if file.lost.is_some() || failed && !ended.explained {
            said.push(at);
            file.lost = Some(said);
        } else if let Some(passed) = ended.own {
            let own = if passed {
                TestStatus::Passed
            } else {
                TestStatus::Failed
            };
            file.tests.push((name.to_owned(), own));
        } else if file.tests.is_empty() {
            return;
        }
        self.files.insert(name.to_owned(), file);
    }

    /// A title behind those that it stands below.
    fn name(&self, title: &[u8]) -> String {
        let mut names = String::new();
        for running in &self.running {
            names.push_str(&line::name(&running.title));
            names.push_str(" > ");
        }
        names.push_str(&line::name(title));
        names
    }

    fn say(&mut self, line: &[u8], number: usize) {
        const MOST: usize = 40;
        if self.said.len() < MOST {
            let text = String::from_utf8_lossy(line);
            self.said
                .push(Evidence::at("log", number, text.trim().to_owned()));
        }
    }
}

impl Running {
    fn new(title: &[u8]) -> Self {
        Self {
            title: title.trim_ascii().to_owned(),
            own: None,
            parent: false,
            explained: false,
            next: 1,
        }
    }
}

/// Whether a point's title is the one announced, whose blanks and escapes it may not have.
fn is_same(announced: &[u8], title: &[u8]) -> bool {
    let bare = title.strip_prefix(b"- ").unwrap_or(title);
    let plain = |title: &[u8]| -> String {
        let name = line::name(title);
        name.split_whitespace().flat_map(str::chars).collect()
    };
    announced == bare || plain(announced) == plain(title)
}

#[cfg(test)]
mod tests {
    use super::super::TAP;
    use atlas_core::{LogParserExt, TestStatus};

    /// node-tap reads a file's output as it stands: the file's own results count beside those that it prints.
    #[test]
    fn a_printed_result_does_not_hide_the_real_one() {
        let log = "TAP version 14\n# Subtest: test/a.js\n    # Subtest: adds\n        ok 1 - x\n        1..1\n    \
                   ok 1 - adds\n    # Subtest: adds\n        not ok 1 - x\n        1..1\n    not ok 1 - adds # time=1ms\n    \
                   1..1\nnot ok 1 - test/a.js # time=9ms\n1..1\n";
        let parsed = TAP.parse(log.as_bytes());
        assert_eq!(parsed.tests()["test/a.js > adds"], TestStatus::Failed);
        assert_eq!(parsed.tests().len(), 1);
    }
}
