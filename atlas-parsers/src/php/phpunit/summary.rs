//! The lines that end a run.

use super::title::number;
use crate::edges::behind_any;

/// The counts of the last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) tests: u64,
    pub(super) errors: u64,
    pub(super) failures: u64,
    pub(super) warnings: u64,
    pub(super) skipped: u64,
    pub(super) incomplete: u64,
    pub(super) risky: u64,
    /// `OK (…)`: every test passed.
    pub(super) ok: bool,
}

impl Counts {
    pub(super) fn not_run(&self) -> u64 {
        self.skipped.saturating_add(self.incomplete)
    }

    pub(super) fn failing(&self) -> u64 {
        self.errors.saturating_add(self.failures)
    }
}

/// `OK (2 tests, 2 assertions)`.
pub(super) fn ok(line: &[u8]) -> Option<Counts> {
    let rest = line.trim_ascii_end().strip_prefix(b"OK (")?;
    let (tests, rest) = leading(rest)?;
    let rest = behind_any(rest, &[b" tests, ", b" test, "])?;
    let (_, rest) = leading(rest)?;
    matches!(rest, b" assertions)" | b" assertion)").then_some(Counts {
        tests,
        ok: true,
        ..Counts::default()
    })
}

/// `Tests: 28, Assertions: 20, Errors: 4, Failures: 6.`
pub(super) fn counts(line: &[u8]) -> Option<Counts> {
    let line = line.trim_ascii_end().strip_suffix(b".")?;
    if !line.starts_with(b"Tests: ") || line.len() > 400 {
        return None;
    }
    let text = std::str::from_utf8(line).ok()?;
    let mut counts = Counts::default();
    let mut assertions = false;
    for part in text.split(", ") {
        let (what, count) = part.split_once(": ")?;
        let count = number(count.trim().as_bytes())?;
        match what {
            "Tests" => counts.tests = count,
            "Assertions" => assertions = true,
            "Errors" => counts.errors = count,
            "Failures" => counts.failures = count,
            "Warnings" => counts.warnings = count,
            "Skipped" => counts.skipped = count,
            "Incomplete" => counts.incomplete = count,
            "Risky" => counts.risky = count,
            // Deprecations, notices and PHPUnit's own remarks say nothing of results.
            _ => {}
        }
    }
    assertions.then_some(counts)
}

/// A line's counts and what stands behind them without a line end; of any other line all.
pub(super) fn glued(line: &[u8]) -> (&[u8], &[u8]) {
    let last = match line.first() {
        Some(b'O') => b')',
        Some(b'T') => b'.',
        _ => return (line, b""),
    };
    memchr::memchr(last, line)
        .and_then(|at| line.split_at_checked(at + 1))
        .filter(|(front, _)| ok(front).or_else(|| counts(front)).is_some())
        .unwrap_or((line, b""))
}

/// The line in front of the counts.
pub(super) fn is_verdict(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    matches!(line, b"ERRORS!" | b"FAILURES!" | b"WARNINGS!") || line.starts_with(b"OK, but ")
}

/// `Time: 00:00.367, Memory: 8.00 MB`, `Time: 1.2 seconds, Memory: 6.00MB`.
pub(super) fn is_time(line: &[u8]) -> bool {
    line.starts_with(b"Time: ")
        && line.len() < 100
        && line.ends_with(b"B")
        && memchr::memmem::find(line, b", Memory: ").is_some()
}

/// The number of tests in the progress' ` 61 / 5200 (  1%)` at the end of a line.
pub(super) fn progress(line: &[u8]) -> Option<u64> {
    let rest = line.trim_ascii_end().strip_suffix(b"%)")?;
    let at = memchr::memrchr(b'(', rest)?;
    let done = rest[..at].strip_suffix(b" ")?;
    let known = rest[at + 1..].trim_ascii().iter().all(u8::is_ascii_digit)
        && done.last().is_some_and(u8::is_ascii_digit);
    let slash = memchr::memrchr(b'/', done).filter(|_| known)?;
    number(done[slash + 1..].trim_ascii())
}

fn leading(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    Some((number(&text[..digits])?, &text[digits..]))
}
