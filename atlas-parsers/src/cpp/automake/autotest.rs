//! GNU Autotest, the other harness of `make check`: `  3: title              ok`.

use crate::cpp::build::number;
use atlas_core::{TestStatus, Totals};
use memchr::memmem;

/// The title and the status of a test group.
pub(super) fn group(line: &[u8]) -> Option<(&str, TestStatus)> {
    let (_, rest) = number(line.trim_ascii_start())?;
    let text = std::str::from_utf8(rest.strip_prefix(b": ")?)
        .ok()?
        .trim_end();
    let (head, status) = verdict(text)?;
    let title = head.trim();
    (head.ends_with(' ') && !title.is_empty()).then_some((title, status))
}

/// With `--verbose`, the start of a group: `2. suite.at:5: testing title ...`.
pub(super) fn announced(line: &[u8]) -> Option<(u64, &str)> {
    let (index, text) = verbose(line)?;
    let title = text.strip_prefix("testing ")?.strip_suffix(" ...")?;
    (!title.is_empty()).then_some((index, title))
}

/// With `--verbose`, the end of a group: `2. suite.at:5:  FAILED (suite.at:6)`.
pub(super) fn ended(line: &[u8]) -> Option<(u64, TestStatus)> {
    let (index, text) = verbose(line)?;
    let (head, status) = verdict(text.trim_end())?;
    head.trim().is_empty().then_some((index, status))
}

/// The number and the text of `2. suite.at:5: text`.
fn verbose(line: &[u8]) -> Option<(u64, &str)> {
    let (index, rest) = number(line.trim_ascii_start())?;
    let text = std::str::from_utf8(rest.strip_prefix(b". ")?).ok()?;
    let (file, rest) = text.split_once(".at:")?;
    let (_, rest) = number(rest.as_bytes())?;
    let text = std::str::from_utf8(rest.strip_prefix(b": ")?).ok()?;
    (!file.contains(' ')).then_some((index, text))
}

/// How many groups the end counts: those that ran, or those that were skipped.
pub(super) fn count(line: &[u8]) -> Option<Totals> {
    let text = line.strip_prefix(b"ERROR: ").unwrap_or(line);
    let text = text.strip_prefix(b"All ").unwrap_or(text);
    let (count, rest) = number(text)?;
    let ran = [
        &b" tests were run,"[..],
        b" test was run,",
        b" tests were successful.",
        b" test was successful.",
        b" tests behaved as expected.",
        b" test behaved as expected.",
    ];
    if ran.contains(&rest) {
        return Some(Totals {
            total: Some(count),
            ..Totals::default()
        });
    }
    let skipped = rest == b" tests were skipped." || rest == b" test was skipped.";
    skipped.then_some(Totals {
        total: Some(count),
        skipped: Some(count),
        ..Totals::default()
    })
}

fn verdict(text: &str) -> Option<(&str, TestStatus)> {
    const WORDS: &[(&str, TestStatus)] = &[
        ("expected failure", TestStatus::Xfail),
        ("UNEXPECTED PASS", TestStatus::Xpass),
        ("skipped", TestStatus::Skipped),
        ("FAILED", TestStatus::Failed),
    ];
    if let Some(head) = text.strip_suffix("ok") {
        return Some((head, TestStatus::Passed));
    }
    // A place follows a bad end, and times follow a good one: `ok (0m0.010s 0m0.002s)`.
    let (body, more) = match text.rfind(" (") {
        Some(at) if text.ends_with(')') => text.split_at_checked(at)?,
        _ => (text, ""),
    };
    let body = body.trim_end();
    if more.contains("m0.") || more.ends_with("s)") {
        return Some((body.strip_suffix("ok")?, TestStatus::Passed));
    }
    let (word, status) = WORDS.iter().find(|(word, _)| body.ends_with(word))?;
    let told = more.contains(".at:") || *status == TestStatus::Xpass;
    told.then_some((body.strip_suffix(word)?, *status))
}

/// The heading of the suite or of its end: the text between `## ` and ` ##`.
pub(super) fn heading(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_prefix(b"## ")?.strip_suffix(b" ##")?;
    (!text.starts_with(b"---")).then_some(text)
}

/// Whether a heading opens a suite: `GNU Bison 3.8.2 test suite.`
pub(super) fn opens(heading: &[u8]) -> bool {
    memmem::find(heading, b"test suite").is_some()
}
