//! Single lines of `bun test`.

use crate::edges::{begin_of, behind_any, is_decimal, is_number, without_note};
use atlas_core::TestStatus;
use std::path::Path;

/// What a result begins with: words where there are no colours, signs where there are.
const SIGNS: [(&str, TestStatus); 8] = [
    ("(pass) ", TestStatus::Passed),
    ("(fail) ", TestStatus::Failed),
    ("(skip) ", TestStatus::Skipped),
    ("(todo) ", TestStatus::Skipped),
    ("✓ ", TestStatus::Passed),
    ("✗ ", TestStatus::Failed),
    ("» ", TestStatus::Skipped),
    ("✎ ", TestStatus::Skipped),
];

/// A result: the suites and the title as they are printed, and what became of the test.
pub(super) fn result(line: &str) -> Option<(&str, TestStatus)> {
    let (rest, status) = begin_of(line, &SIGNS)?;
    let title = untried(untimed(rest));
    (!title.is_empty()).then_some((title, status))
}

/// Whether a result begins with a sign and not with a word. A run writes one of both.
pub(super) fn is_signed(line: &str) -> bool {
    !line.starts_with('(')
}

/// A result behind what a test printed without a line end: `no end(pass) title`.
pub(super) fn glued(line: &str) -> Option<&str> {
    let places = SIGNS.iter().filter_map(|(sign, _)| line.rfind(sign));
    let last = places.filter(|at| *at > 0).max()?;
    Some(&line[last..])
}

/// The title without the time behind it, which the quickest tests have not.
fn untimed(text: &str) -> &str {
    without_note(text, " [", "", is_time).unwrap_or(text)
}

/// `0.12ms]`
fn is_time(text: &str) -> bool {
    let Some(number) = text.strip_suffix("s]") else {
        return false;
    };
    let number = number.strip_suffix('m').unwrap_or(number);
    number.contains('.') && is_decimal(number)
}

/// The title without ` (attempt 3)`, which a test has that passed when it was tried again.
fn untried(text: &str) -> &str {
    let attempt = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" (attempt "));
    match attempt {
        Some((title, number)) if number.parse::<u32>().is_ok() => title,
        _ => text,
    }
}

/// The file whose tests follow: `a/b.test.ts:`, `a.test.ts: (run #2)` and `::group::a.test.ts:`.
pub(super) fn file(line: &str) -> Option<&str> {
    const ENDS: [&str; 8] = ["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts"];
    let line = line.strip_prefix("::group::").unwrap_or(line);
    let name = match line.rsplit_once(": (run #") {
        Some((name, run)) if run.ends_with(')') => name,
        _ => line.strip_suffix(':')?,
    };
    let end = Path::new(name).extension()?.to_str()?;
    let plain = !name.starts_with([' ', '(']) && !name.contains(": ");
    (plain && ENDS.contains(&end)).then_some(name)
}

/// `bun test v1.2.3 (0123abcd)`
pub(super) fn is_header(line: &[u8]) -> bool {
    let version = line.strip_prefix(b"bun test v");
    version.is_some_and(|version| {
        version.first().is_some_and(u8::is_ascii_digit) && version.trim_ascii_end().ends_with(b")")
    })
}

/// The tests of `Ran 13 tests across 2 files. [10.00ms]`.
pub(super) fn ran(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line.strip_prefix(b"Ran ")?).ok()?;
    let (tests, rest) = line.split_once(' ')?;
    let rest = behind_any(rest, &["tests across ", "test across "])?;
    let (files, rest) = rest.split_once(' ')?;
    files.parse::<u64>().ok()?;
    let time = behind_any(rest, &["files. [", "file. ["])?;
    is_time(time.trim_end()).then(|| tests.parse().ok())?
}

/// What the lines before `Ran` count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) passed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) skipped: u64,
    pub(super) errors: u64,
}

impl Counts {
    /// Reads ` 12 pass`, ` 1 fail`, ` 2 skip`, ` 1 todo`, ` 1 error`; says whether it is such a line.
    pub(super) fn read(&mut self, line: &str) -> bool {
        let line = line.strip_prefix(' ').unwrap_or(line);
        let Some((number, what)) = line.trim_end().split_once(' ') else {
            return false;
        };
        let Ok(number) = number.parse::<u64>() else {
            return false;
        };
        match what {
            "pass" => {
                *self = Self {
                    passed: Some(number),
                    ..Self::default()
                }
            }
            "fail" => self.failed = Some(number),
            "skip" | "todo" => self.skipped = self.skipped.saturating_add(number),
            "error" | "errors" => self.errors = number,
            "filtered out" | "expect() calls" | "snapshots" => {}
            _ => return false,
        }
        true
    }
}

/// The heading of a list that repeats results: `2 tests failed:`.
pub(super) fn is_list(line: &str) -> bool {
    let words = line.split_once(' ');
    words.is_some_and(|(number, rest)| {
        let kinds = ["tests skipped:", "tests todo:", "tests failed:"];
        number.parse::<u64>().is_ok() && kinds.contains(&rest)
    })
}

/// A line of the code that an error shows: ` 7 | code`.
pub(super) fn is_code(line: &str) -> bool {
    let number = line.split_once(" | ").map(|(number, _)| number.trim());
    number.is_some_and(is_number)
}

/// `error: message`, `TypeError: message`
pub(super) fn is_error(line: &str) -> bool {
    let word = line.split_once(": ").map(|(word, _)| word);
    word.is_some_and(|word| {
        word == "error"
            || word.ends_with("Error") && word.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}
