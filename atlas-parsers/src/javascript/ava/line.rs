//! Lines of AVA's reporters.

use crate::edges::{is_decimal, without_note};
use atlas_core::LostReason;

/// What the mark before a title says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pass,
    /// A test that should fail and did.
    KnownFailure,
    /// Behind the title stands the message of the failure.
    Fail,
    Skip,
}

/// A line that has the form of a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultLine<'a> {
    pub(super) kind: Kind,
    pub(super) title: &'a str,
    /// `[fail]:`, `[skip]`: since AVA 4 the word says what the mark means.
    pub(super) worded: bool,
}

const TICKS: [&str; 2] = ["✔ ", "√ "];
const CROSSES: [&str; 3] = ["✘ ", "✖ ", "× "];

/// Reads what follows the two blanks of a result line.
pub(super) fn result(body: &str) -> Option<ResultLine<'_>> {
    let known = |kind, title, worded| {
        Some(ResultLine {
            kind,
            title,
            worded,
        })
    };
    let after = |marks: &[&str]| marks.iter().find_map(|mark| body.strip_prefix(mark));
    if let Some(rest) = body.strip_prefix("- ") {
        for word in ["[skip] ", "[todo] "] {
            if let Some(title) = rest.strip_prefix(word) {
                return known(Kind::Skip, title, true);
            }
        }
        return known(Kind::Skip, rest, false);
    }
    if let Some(rest) = after(&TICKS) {
        return match rest.strip_prefix("[expected fail] ") {
            Some(title) => known(Kind::KnownFailure, title, true),
            None => known(Kind::Pass, rest, false),
        };
    }
    let rest = after(&CROSSES)?;
    for word in ["[fail]: ", "[unexpected pass]: "] {
        if let Some(title) = rest.strip_prefix(word) {
            return known(Kind::Fail, title, true);
        }
    }
    known(Kind::Fail, rest, false)
}

/// Removes ` (119ms)`, ` (1.2s)`, ` (1m 2.5s)`. AVA prints no time below a tenth of a second, so
/// that `(12ms)` is the title's own.
pub(super) fn without_duration(title: &str) -> &str {
    let is_part = |part: &str| {
        let unit = part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        unit.len() < part.len() && !part.starts_with('.') && matches!(unit, "s" | "m" | "h" | "d")
    };
    let is_time = |time: &str| match time.strip_suffix("ms") {
        Some(number) => is_decimal(number) && number.parse::<f64>().is_ok_and(|ms| ms >= 100.0),
        None => time.split(' ').all(is_part),
    };
    without_note(title, " (", ")", is_time).unwrap_or(title)
}

/// What the runner says of a test file.
pub(super) enum Said<'a> {
    /// Its tests, or some of them, did not run.
    Lost(&'a str, LostReason),
    TimedOut,
    /// AVA itself could not go on.
    Broken,
    /// It is no test's title either.
    Other,
}

/// Reads the text behind a cross where it is no test's.
pub(super) fn said(text: &str) -> Option<Said<'_>> {
    if let Some(rest) = text.strip_prefix("No tests found in ") {
        let file = rest.split(", make sure to import").next().unwrap_or(rest);
        return Some(Said::Lost(file, LostReason::LoadFailed));
    }
    for end in [" exited with a non-zero exit code: ", " exited due to "] {
        if let Some((file, _)) = text.split_once(end)
            && !file.contains(' ')
        {
            return Some(Said::Lost(file, LostReason::Crashed));
        }
    }
    for begin in [
        "Exiting due to process.exit() when running ",
        "Test results were not received from ",
    ] {
        if let Some(file) = text.strip_prefix(begin) {
            return Some(Said::Lost(file, LostReason::Crashed));
        }
    }
    if let Some(file) = text.strip_prefix("Internal error when running ") {
        return Some(Said::Lost(file, LostReason::LoadFailed));
    }
    if let Some((number, file)) = text
        .split_once(" tests remaining in ")
        .or_else(|| text.split_once(" test remaining in "))
        && number.bytes().all(|b| b.is_ascii_digit())
        && !file.contains(' ')
    {
        return Some(Said::Lost(file, LostReason::Crashed));
    }
    if text == "Timed out while running tests" || text.starts_with("Exited because no new tests") {
        return Some(Said::TimedOut);
    }
    if text == "Internal error" {
        return Some(Said::Broken);
    }
    let other = [
        "Exiting due to SIGINT",
        "Error in shared worker",
        "Couldn't find any ",
        "Couldn’t find any ",
        "Based on your configuration, ",
        "Line numbers for ",
    ];
    let other = other.iter().any(|begin| text.starts_with(begin));
    other.then_some(Said::Other)
}

/// `SyntaxError: …`, `Error: …`
pub(super) fn is_error(text: &str) -> bool {
    let class = text.split(':').next().unwrap_or_default();
    let named = class.ends_with("Error") && class.len() < text.len();
    named && class.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// One line of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Passed,
    Failed,
    Hooks,
    Known,
    Skipped,
    Pending,
    /// Rejections, exceptions, failures of an earlier run.
    Other,
}

/// `4 tests failed`, `1 known failure`; with `short`, the `4 failed` of the mini reporter.
pub(super) fn count(body: &str) -> Option<(Count, u64, bool)> {
    let (number, words) = body.split_once(' ')?;
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = number.parse().ok()?;
    // Old versions append the time: `[12:34:56]`.
    let words = match words.split_once(" [") {
        Some((words, time)) if time.ends_with(']') => words,
        _ => words,
    };
    let (count, short) = match words {
        "test passed" | "tests passed" => (Count::Passed, false),
        "test failed" | "tests failed" => (Count::Failed, false),
        "hook failed" | "hooks failed" => (Count::Hooks, false),
        "known failure" | "known failures" => (Count::Known, false),
        "test skipped" | "tests skipped" | "test todo" | "tests todo" => (Count::Skipped, false),
        "unhandled rejection"
        | "unhandled rejections"
        | "uncaught exception"
        | "uncaught exceptions" => (Count::Other, false),
        "passed" => (Count::Passed, true),
        "failed" => (Count::Failed, true),
        "skipped" | "todo" => (Count::Skipped, true),
        "rejection" | "rejections" | "exception" | "exceptions" => (Count::Other, true),
        _ if words.ends_with(" remained pending after a timeout") => (Count::Pending, false),
        _ if words.starts_with("previous failure") => (Count::Other, false),
        _ => return None,
    };
    Some((count, number, short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_that_are_printed() {
        assert_eq!(without_duration("a (119ms)"), "a");
        assert_eq!(without_duration("a (12ms)"), "a (12ms)");
        assert_eq!(without_duration("a (1m 2.5s)"), "a");
        assert_eq!(without_duration("a (s)"), "a (s)");
        assert_eq!(without_duration("a (b)"), "a (b)");
    }

    #[test]
    fn marks_and_words() {
        let read = |text| result(text).map(|r| (r.kind, r.title, r.worded));
        assert_eq!(
            read("✘ [fail]: a › b m"),
            Some((Kind::Fail, "a › b m", true))
        );
        assert_eq!(read("✖ a › b m"), Some((Kind::Fail, "a › b m", false)));
        assert_eq!(read("- [todo] a"), Some((Kind::Skip, "a", true)));
        assert_eq!(read("* a"), None);
    }
}
