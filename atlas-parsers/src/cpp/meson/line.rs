//! The lines that `meson test` prints of itself.

use crate::cpp::build::number;
use atlas_core::TestStatus;

/// ` 3/13 project:suite / name        OK              0.24s   details`
pub(super) struct TestLine<'a> {
    pub(super) place: u64,
    pub(super) all: u64,
    pub(super) name: &'a str,
    /// Where the status stands: the same in each line of a run.
    pub(super) column: usize,
    /// Absent where the test only starts.
    pub(super) status: Option<TestStatus>,
}

impl<'a> TestLine<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let (place, rest) = number(line.trim_ascii_start())?;
        let (all, rest) = number(rest.strip_prefix(b"/")?)?;
        let rest = std::str::from_utf8(rest.strip_prefix(b" ")?).ok()?;
        let mut from = 0;
        let mut found = None;
        while let Some(space) = rest.get(from..).and_then(|tail| tail.find(' ')) {
            let at = from + space + 1;
            from = at;
            let Some(status) = rest.get(at..).and_then(status) else {
                continue;
            };
            let name = rest.get(..at)?.trim();
            if !name.is_empty() {
                // The last one: a name may hold words that look like a verdict.
                found = Some(Self {
                    place,
                    all,
                    name,
                    column: line.len() - rest.len() + rest.get(..at)?.chars().count(),
                    status,
                });
            }
        }
        found
    }
}

/// The verdict at the start of this text, if a duration follows it.
#[expect(
    clippy::option_option,
    reason = "a test that starts has a line and no status"
)]
fn status(text: &str) -> Option<Option<TestStatus>> {
    if !text.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let end = text.find(' ')?;
    let (word, rest) = text.split_at_checked(end)?;
    let status = match word {
        "OK" => TestStatus::Passed,
        "FAIL" | "TIMEOUT" => TestStatus::Failed,
        "ERROR" | "INTERRUPT" => TestStatus::Error,
        "SKIP" | "IGNORED" => TestStatus::Skipped,
        "EXPECTEDFAIL" => TestStatus::Xfail,
        "UNEXPECTEDPASS" => TestStatus::Xpass,
        "RUNNING" => return rest.trim().is_empty().then_some(None),
        _ => return None,
    };
    is_duration(rest.trim_start()).then_some(Some(status))
}

/// Whether the text starts with `0.24s` or, in older versions, `0.24 s`.
fn is_duration(text: &str) -> bool {
    let number = text
        .bytes()
        .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
        .count();
    let Some((time, rest)) = text.split_at_checked(number) else {
        return false;
    };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    time.contains('.')
        && rest
            .strip_prefix('s')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A field of the totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Passed,
    Failed,
    Skipped,
    Xfailed,
    Xpassed,
}

/// `Expected Fail:      1   `
pub(super) fn total(line: &[u8]) -> Option<(Field, u64)> {
    const FIELDS: &[(&[u8], Field)] = &[
        (b"Ok:", Field::Passed),
        (b"OK:", Field::Passed),
        (b"Expected Fail:", Field::Xfailed),
        (b"Fail:", Field::Failed),
        (b"FAIL:", Field::Failed),
        (b"Unexpected Pass:", Field::Xpassed),
        (b"Skipped:", Field::Skipped),
        (b"SKIP:", Field::Skipped),
        (b"Ignored:", Field::Skipped),
        (b"Timeout:", Field::Failed),
        (b"TIMEOUT:", Field::Failed),
    ];
    let (label, field) = FIELDS.iter().find(|(label, _)| line.starts_with(label))?;
    let rest = line.get(label.len()..)?;
    let (count, rest) = number(rest.trim_ascii_start())?;
    rest.trim_ascii().is_empty().then_some((*field, count))
}

/// Whether a frame around a test's output ends with this line: bars fill its end.
pub(super) fn is_bar(line: &[u8]) -> bool {
    const BARS: &str = "\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}\u{2015}";
    let text = line.trim_ascii_end();
    text.ends_with(BARS.as_bytes()) || text.ends_with(b"----------------") && text.len() >= 60
}

/// Whether a frame opens here: bars with scissors between them.
pub(super) fn is_opening(line: &[u8]) -> bool {
    is_bar(line)
        && (memchr::memmem::find(line, " \u{2700} ".as_bytes()).is_some()
            || memchr::memmem::find(line, b" 8< ").is_some())
}
