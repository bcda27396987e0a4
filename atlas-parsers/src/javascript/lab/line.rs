//! Lines of lab's console reporter.

use crate::edges::is_number;
use atlas_core::TestStatus;

/// A result: the mark, the number that lab counts its tests by, the title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultLine<'a> {
    /// Blanks in front of the mark, two for each experiment around the test.
    pub(super) indent: usize,
    pub(super) number: u64,
    pub(super) title: &'a str,
    pub(super) status: TestStatus,
    /// Whether the assertions were counted, which no other runner does.
    pub(super) counted: bool,
}

const TICKS: [&str; 2] = ["✔ ", "√ "];
const CROSSES: [&str; 2] = ["✖ ", "× "];

/// Reads `  ✔ 1) adds (2 ms and 1 assertions)`, `  ✖ 2) title`, `  - 3) title (0 ms)`.
pub(super) fn result(line: &str) -> Option<ResultLine<'_>> {
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    let after = |marks: &[&str]| marks.iter().find_map(|mark| body.strip_prefix(mark));
    let (status, rest) = if let Some(rest) = after(&TICKS) {
        (TestStatus::Passed, rest)
    } else if let Some(rest) = after(&CROSSES) {
        (TestStatus::Failed, rest)
    } else {
        (TestStatus::Skipped, body.strip_prefix("- ")?)
    };
    let (number, title) = entry(rest)?;
    let (title, counted) = if status == TestStatus::Failed {
        (title, false)
    } else {
        untimed(title)?
    };
    (indent.is_multiple_of(2) && !title.is_empty()).then_some(ResultLine {
        indent,
        number,
        title,
        status,
        counted,
    })
}

/// Where a result begins behind what a test printed without a line end.
pub(super) fn glued(line: &str) -> Option<usize> {
    let marks = TICKS.iter().chain(&CROSSES);
    let at = marks.filter_map(|mark| line.rfind(mark)).max()?;
    let blanks = line[..at].len() - line[..at].trim_end_matches(' ').len();
    (blanks < at).then_some(at - blanks)
}

/// `3) title`
pub(super) fn entry(text: &str) -> Option<(u64, &str)> {
    let (number, title) = text.split_once(") ")?;
    let digits = is_number(number);
    let number = digits.then(|| number.parse().ok())??;
    (number > 0).then_some((number, title))
}

/// Takes ` (2 ms)` or ` (2 ms and 1 assertions)` away, and tells which it was.
fn untimed(title: &str) -> Option<(&str, bool)> {
    let (title, time) = title.strip_suffix(')')?.rsplit_once(" (")?;
    let (time, counted) = match time.strip_suffix(" assertions") {
        Some(time) => (
            time.rsplit_once(" and ").filter(|(_, n)| is_number(n))?.0,
            true,
        ),
        None => (time, false),
    };
    is_number(time.strip_suffix(" ms")?).then_some((title, counted))
}

/// The counts at the end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// All that ran.
    pub(super) ran: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    /// Reads `3 of 243 tests failed (2 skipped)` and `243 tests complete`.
    pub(super) fn of(line: &str) -> Option<Self> {
        if !line.as_bytes().first()?.is_ascii_digit() {
            return None;
        }
        let (counts, skipped) = match line.split_once(" (") {
            Some((counts, rest)) => (counts, rest.strip_suffix(" skipped)")?.parse().ok()?),
            None => (line, 0),
        };
        let (failed, ran) = match counts.strip_suffix(" tests failed") {
            Some(counts) => counts.split_once(" of ")?,
            None => ("0", counts.strip_suffix(" tests complete")?),
        };
        Some(Self {
            ran: ran.parse().ok()?,
            failed: failed.parse().ok()?,
            skipped,
        })
    }

    pub(super) fn all(&self) -> u64 {
        self.ran.saturating_add(self.skipped)
    }
}

/// `Test duration: 40 ms`, the line behind the counts.
pub(super) fn is_duration(line: &str) -> bool {
    let time = line.strip_prefix("Test duration: ");
    time.and_then(|time| time.strip_suffix(" ms"))
        .is_some_and(is_number)
}

/// The results of a line of dots: `  ..x-.2!`.
pub(super) fn dots(line: &str) -> Option<&str> {
    let dots = line.strip_prefix("  ")?;
    let known = |byte| matches!(byte, b'.' | b'x' | b'-' | b'!' | b'2'..=b'9');
    (!dots.is_empty() && dots.bytes().all(known)).then_some(dots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_have_neither_numbers_nor_times() {
        let read = |text| result(text).map(|line| (line.number, line.title, line.status));
        assert_eq!(
            read("  ✔ 2) adds (2 ms) (7 ms and 1 assertions)"),
            Some((2, "adds (2 ms)", TestStatus::Passed))
        );
        assert_eq!(
            read("✖ 14) 3) has a number (1 ms)"),
            Some((14, "3) has a number (1 ms)", TestStatus::Failed))
        );
        assert_eq!(
            read("  - 3) not now (0 ms)"),
            Some((3, "not now", TestStatus::Skipped))
        );
        assert_eq!(read("  - 3) an item of a list"), None);
        assert_eq!(read("  ✔ adds (2 ms)"), None);
        assert_eq!(read("  ✔ 1) adds"), None);
        assert_eq!(glued("no end    ✔ 1) x (0 ms)"), Some(6));
        assert_eq!(glued("    ✔ 1) x (0 ms)"), None);
    }

    #[test]
    fn counts_have_one_form() {
        let read = |text| Counts::of(text).map(|c| (c.ran, c.failed, c.skipped));
        assert_eq!(read("3 of 243 tests failed"), Some((243, 3, 0)));
        assert_eq!(read("5 of 14 tests failed (2 skipped)"), Some((14, 5, 2)));
        assert_eq!(read("2 tests complete (1 skipped)"), Some((2, 0, 1)));
        assert_eq!(read("2 tests complete (1 todo)"), None);
        assert_eq!(read("2 tests passed"), None);
    }
}
