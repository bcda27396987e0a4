//! The words by which test runners of any kind tell outcomes, and their counts.
//!
//! Used only to doubt a parser, never to read a result.

use regex::Regex;
use std::sync::LazyLock;

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saying {
    Passed,
    Failed,
    Skipped,
}

/// The outcome that a word alone tells, for the words that hardly mean anything else.
pub(crate) fn saying(word: &str) -> Option<Saying> {
    let word = word
        .trim_matches(|c: char| c.is_ascii_punctuation() && !matches!(c, '_') || c.is_whitespace());
    Some(match word {
        "ok" | "OK" | "Ok" | "pass" | "PASS" | "Pass" | "passed" | "PASSED" | "Passed" | "✓"
        | "✔" | "√" | "success" | "SUCCESS" | "Success" | "succeeded" => Saying::Passed,
        "fail" | "FAIL" | "Fail" | "failed" | "FAILED" | "Failed" | "failure" | "FAILURE"
        | "ERROR" | "ERR" | "KO" | "✗" | "✘" | "✕" | "×" | "CRASH" | "CRASHED" | "TIMEOUT"
        | "BROKEN" | "XX" => Saying::Failed,
        "skip" | "SKIP" | "Skip" | "skipped" | "SKIPPED" | "Skipped" | "ignored" | "IGNORED"
        | "pending" | "PENDING" | "disabled" | "DISABLED" | "todo" | "TODO" => Saying::Skipped,
        _ => return None,
    })
}

/// Counts as a summary line of any runner tells them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All tests.
    pub(crate) total: Option<u64>,
    /// Passed.
    pub(crate) passed: Option<u64>,
    /// Failed, errors included where they stand beside.
    pub(crate) failed: Option<u64>,
    /// Skipped.
    pub(crate) skipped: Option<u64>,
}

static BEFORE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(\d{1,9})\s+([a-z]+)"));
static BEHIND: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b([a-z]+)\s*[:=]?\s*(\d{1,9})\b"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern that the tests compile")
}

/// The counts of a line that looks like a summary: at least two of passed, failed, skipped, total.
pub(crate) fn counts_of(line: &str) -> Option<Counts> {
    if line.len() > 400 || !line.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // `Passed 3 Failed 0` or `3 passed, 0 failed`: what stands first in the line tells which.
    let number_first = line
        .find(|c: char| c.is_alphanumeric())
        .is_some_and(|at| line.as_bytes()[at].is_ascii_digit());
    let read = |number_first: bool| {
        let (regex, number, word) = if number_first {
            (&*BEFORE, 1, 2)
        } else {
            (&*BEHIND, 2, 1)
        };
        let mut counts = Counts::default();
        for found in regex.captures_iter(line) {
            let Ok(number) = found[number].parse::<u64>() else {
                continue;
            };
            let place = match found[word].to_ascii_lowercase().as_str() {
                "passed" | "pass" | "passes" | "ok" | "succeeded" | "passing" => &mut counts.passed,
                "failed" | "fail" | "failures" | "failure" | "failing" | "errors" | "error" => {
                    &mut counts.failed
                }
                "skipped" | "skip" | "skips" | "ignored" | "pending" | "disabled" => {
                    &mut counts.skipped
                }
                "total" | "tests" | "test" | "ran" | "run" | "cases" | "checks" => {
                    &mut counts.total
                }
                _ => continue,
            };
            *place = Some(place.unwrap_or(0) + number);
        }
        counts
    };
    let known = |counts: &Counts| {
        [counts.total, counts.passed, counts.failed, counts.skipped]
            .iter()
            .flatten()
            .count()
    };
    let (first, second) = (read(number_first), read(!number_first));
    let counts = if known(&first) >= known(&second) {
        first
    } else {
        second
    };
    let outcome = counts.passed.or(counts.failed).is_some();
    (known(&counts) >= 2 && outcome).then_some(counts)
}

/// Whether a line looks like a runner's counts.
pub(crate) fn looks_like_counts(line: &str) -> bool {
    counts_of(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::{Counts, counts_of};

    #[test]
    fn summaries_of_any_runner_are_counted() {
        let all = |total, passed, failed, skipped| {
            Some(Counts {
                total,
                passed,
                failed,
                skipped,
            })
        };
        for (line, expected) in [
            ("5 passed, 2 failed", all(None, Some(5), Some(2), None)),
            (
                "a.test: Total    77   Passed    76  Skipped     1  Failed     0",
                all(Some(77), Some(76), Some(0), Some(1)),
            ),
            (
                "Tests run: 7, Failures: 1, Errors: 2",
                all(Some(7), None, Some(3), None),
            ),
            ("connected after 3 tests", None),
            ("12 tests", None),
        ] {
            assert_eq!(counts_of(line), expected, "{line}");
        }
    }
}
