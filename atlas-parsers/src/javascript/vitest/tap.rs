//! The `tap` and `tap-flat` reporters.
//!
//! A suite is `ok 1 - name {` with its tests indented by four blanks up to `}`; the flat reporter
//! joins the names itself. Numbers follow each other on every level, and that is held to: a line
//! that a failure's text holds has a number that is not due.

use crate::edges::{before_any, without_note};
use atlas_core::TestStatus;

/// One level of the document.
#[derive(Clone, Debug, Default)]
struct Level {
    name: String,
    planned: u64,
    last: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Tap {
    levels: Vec<Level>,
    /// The indentation at which a block of details ends.
    details: Option<usize>,
}

/// What a line was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Test {
        name: String,
        status: TestStatus,
    },
    /// A file that did not load.
    File(String),
    Other,
}

const DEEPEST: usize = 200;

impl Tap {
    pub(super) fn new() -> Self {
        Self {
            levels: vec![Level::default()],
            details: None,
        }
    }

    /// All that was planned came.
    pub(super) fn complete(&self) -> bool {
        matches!(&self.levels[..], [top] if top.last == top.planned)
    }

    /// In the details of a failure, which hold what a test says.
    pub(super) fn in_details(&self) -> bool {
        self.details.is_some()
    }

    pub(super) fn line(&mut self, line: &str) -> Line {
        let text = line.trim_start_matches(' ');
        let blanks = line.len() - text.len();
        if let Some(end) = self.details {
            if blanks == end && text == "..." {
                self.details = None;
            }
            return Line::Other;
        }
        let depth = self.levels.len() - 1;
        if text == "---" && blanks == 4 * (depth + 1) {
            self.details = Some(blanks);
            return Line::Other;
        }
        if blanks + 4 == 4 * depth.max(1) && depth > 0 && text == "}" {
            self.levels.pop();
            return Line::Other;
        }
        if blanks != 4 * depth {
            return Line::Other;
        }
        let Some(level) = self.levels.last_mut() else {
            return Line::Other;
        };
        if let Some(plan) = text.strip_prefix("1..") {
            if level.planned == 0 {
                level.planned = plan.parse().unwrap_or(0);
            }
            return Line::Other;
        }
        let (ok, rest) = match (text.strip_prefix("ok "), text.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => return Line::Other,
        };
        let Some((number, rest)) = rest.split_once(" - ") else {
            return Line::Other;
        };
        if number.parse() != Ok(level.last + 1) || level.last >= level.planned {
            return Line::Other;
        }
        level.last += 1;
        let (rest, suite) = match rest.strip_suffix(" {") {
            Some(rest) => (rest, true),
            None => (rest, false),
        };
        let (name, skipped) = without_comment(rest);
        let name = unescaped(name);
        if suite && depth < DEEPEST {
            self.levels.push(Level {
                name,
                ..Level::default()
            });
            return Line::Other;
        }
        let status = match (ok, skipped) {
            (_, true) => TestStatus::Skipped,
            (true, false) => TestStatus::Passed,
            (false, false) => TestStatus::Failed,
        };
        if depth == 0 && !name.contains(" > ") {
            return if ok { Line::Other } else { Line::File(name) };
        }
        let mut full = String::new();
        for level in &self.levels[1..] {
            full.push_str(&level.name);
            full.push_str(" > ");
        }
        full.push_str(&name);
        Line::Test { name: full, status }
    }
}

/// `ok 1 - test/a.test.ts # time=1.23ms {`: the suites of the file stand below its plan. node-tap plans last,
/// or has other digits in its times.
pub(super) fn opens_file(line: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    let file = || {
        let (head, time) = text.strip_suffix("ms {")?.rsplit_once(" # time=")?;
        let (number, name) = head.split_once(" - ")?;
        let number = number.strip_prefix("not ").unwrap_or(number);
        let number = number.strip_prefix("ok ")?;
        let numbered = number.bytes().all(|b| b.is_ascii_digit());
        let two_digits = time
            .split_once('.')
            .is_some_and(|(_, part)| part.len() == 2);
        (numbered && two_digits).then_some(name)
    };
    file().is_some_and(|name| [".test.", ".spec."].iter().any(|part| name.contains(part)))
}

/// Drops ` # SKIP`, ` # TODO` or ` # time=1.23ms`; says whether the test did not run.
fn without_comment(text: &str) -> (&str, bool) {
    if let Some(name) = before_any(text, &[" # SKIP", " # TODO"]) {
        return (name, true);
    }
    let is_time = |time: &str| {
        let number = |b: u8| b.is_ascii_digit() || b == b'.' || b == b'-';
        time.bytes().all(number)
    };
    let name = without_note(text, " # time=", "ms", is_time).unwrap_or(text);
    (name, false)
}

/// `\#` is `#`, `\\` is `\`.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(chars.next().unwrap_or('\\')),
            c => plain.push(c),
        }
    }
    plain
}
