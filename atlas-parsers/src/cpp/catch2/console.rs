//! Headers and assertions of the console reporter.

use crate::cpp::text::{lossy, rule};
use crate::edges::{before_any, end_of, is_number};
use atlas_core::TestStatus;

/// Reads the header in front of a test's output: a rule, the name and the sections, a rule, the
/// place, a line of dots.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    step: Step,
    width: usize,
    lines: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Outside,
    Names,
    Place,
    Dots,
}

/// What a header names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) test: String,
    /// The names of the sections, trimmed, outermost first.
    pub(super) sections: Vec<String>,
}

impl Header {
    const MAX_LINES: usize = 200;

    /// Takes a line. Returns the heading that it completes.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<Heading> {
        let width = rule(line, b'-');
        let dashes = width.is_some();
        let width = width.unwrap_or(0);
        match self.step {
            Step::Outside | Step::Place if dashes => self.open(width),
            Step::Outside => {}
            Step::Names if width == self.width && !self.lines.is_empty() => {
                self.step = Step::Place;
            }
            Step::Names if dashes => self.open(width),
            Step::Names => self.name(line),
            Step::Place if is_place(line) => self.step = Step::Dots,
            Step::Place => {
                // The rule opened a header instead of closing what was no header.
                self.open(self.width);
                self.name(line);
            }
            Step::Dots => {
                self.step = Step::Outside;
                let dots = rule(line, b'.') == Some(self.width);
                let lines = std::mem::take(&mut self.lines);
                if dots {
                    return heading(&lines, self.width);
                }
                if dashes {
                    self.open(width);
                }
            }
        }
        None
    }

    fn open(&mut self, width: usize) {
        self.step = Step::Names;
        self.width = width;
        self.lines.clear();
    }

    fn name(&mut self, line: &[u8]) {
        // A name is never wider than the rule, counted in bytes or, at most, in characters.
        if line.is_empty() || line.len() > 4 * self.width || self.lines.len() >= Self::MAX_LINES {
            self.reset();
        } else {
            self.lines.push(line.to_vec());
        }
    }

    pub(super) fn reset(&mut self) {
        self.step = Step::Outside;
        self.lines.clear();
    }
}

/// `file.cpp:12` or `file.cpp(12)`.
fn is_place(line: &[u8]) -> bool {
    let (end, mark) = match line.strip_suffix(b")") {
        Some(rest) => (rest, b'('),
        None => (line, b':'),
    };
    memchr::memrchr(mark, end).is_some_and(|at| {
        let number = &end[at + 1..];
        at > 0 && is_number(number)
    })
}

/// Puts wrapped lines together.
fn heading(lines: &[Vec<u8>], width: usize) -> Option<Heading> {
    let first = lines.first()?;
    let mut test = first.clone();
    let mut rest = &lines[1..];
    let mut before: &[u8] = first;
    let indent = hanging(first, 0);
    while let Some((line, more)) = rest.split_first()
        && let Some(text) = continued(before, line, indent, width)
    {
        join(&mut test, text);
        before = line;
        rest = more;
    }
    let mut sections: Vec<String> = Vec::new();
    while let Some((line, more)) = rest.split_first() {
        let mut name = line.clone();
        let indent = hanging(line, 2);
        let mut before: &[u8] = line;
        rest = more;
        while let Some((next, more)) = rest.split_first()
            && let Some(text) = continued(before, next, indent, width)
        {
            join(&mut name, text);
            before = next;
            rest = more;
        }
        sections.push(lossy(name.trim_ascii()));
    }
    let test = lossy(test.trim_ascii());
    (!test.is_empty()).then_some(Heading { test, sections })
}

/// How far the continuation of a wrapped name is indented: behind `Scenario: `, if it has such.
fn hanging(line: &[u8], indent: usize) -> usize {
    let name = line.get(indent..).unwrap_or_default();
    let colon = memchr::memmem::find(name, b": ").map(|at| at + 2);
    indent + colon.unwrap_or(0)
}

/// The text of a line, if it can only be the continuation of the one before: it is indented as
/// such, and its first word did not fit there.
fn continued<'a>(before: &[u8], line: &'a [u8], indent: usize, width: usize) -> Option<&'a [u8]> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    if blanks != indent {
        // A colon far to the right is not taken for the indentation by newer versions.
        if blanks != 0 || indent <= width / 4 {
            return None;
        }
    }
    let text = &line[blanks..];
    let word = text
        .iter()
        .enumerate()
        .position(|(at, byte)| *byte == b' ' || at > 0 && b"[({<|".contains(byte))
        .unwrap_or(text.len());
    (before.len() + 1 + word > width && !text.is_empty()).then_some(text)
}

/// Joins a wrapped name: at a blank, or at a sign behind which the runner may break a word.
fn join(name: &mut Vec<u8>, text: &[u8]) {
    let last = name.last().copied().unwrap_or(b' ');
    let second = name.len().checked_sub(2).and_then(|at| name.get(at));
    let tight = match last {
        b'-' | b'/' | b'\\' | b'=' | b'&' | b'*' | b'+' => second.is_some_and(|b| *b != b' '),
        b':' => second == Some(&b':'),
        _ => text.first().is_some_and(|b| matches!(b, b'<' | b'{')),
    };
    if !tight {
        name.push(b' ');
    }
    name.extend_from_slice(text);
}

/// A line that begins an assertion's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Status(TestStatus),
    /// `file.cpp:12: ` alone, as Catch 1 has it in front of `PASSED:`.
    PlaceOnly,
}

/// Reads `file.cpp:12: FAILED:`, also behind output without a newline.
pub(super) fn assertion(line: &[u8]) -> Option<Assertion> {
    const WORDS: [(&[u8], TestStatus); 4] = [
        (b": FAILED", TestStatus::Failed),
        (b": PASSED", TestStatus::Passed),
        (b": SKIPPED", TestStatus::Skipped),
        (b": FAILED - but was ok", TestStatus::Passed),
    ];
    let text = before_any(line, &[b":", b": "])?;
    if line.ends_with(b" ") {
        return is_place(text).then_some(Assertion::PlaceOnly);
    }
    let (place, status) = end_of(text, &WORDS)?;
    is_place(place).then_some(Assertion::Status(status))
}
