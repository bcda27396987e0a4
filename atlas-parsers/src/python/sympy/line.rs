//! The lines of sympy's runner.

use crate::edges::behind_any;
use atlas_core::{TestStatus, Totals};
use memchr::{memchr, memmem};

/// `sympy/core/tests/test_basic.py[23] .......`
#[derive(Clone, Copy, Debug)]
pub(super) struct FileLine<'a> {
    pub(super) path: &'a str,
    /// How many tests it has; absent where it could not be imported.
    pub(super) tests: Option<u64>,
    /// What follows on the line.
    pub(super) rest: &'a [u8],
}

/// Reads the beginning of a file's results.
pub(super) fn file(line: &[u8]) -> Option<FileLine<'_>> {
    let open = memmem::find(line, b".py[")? + 3;
    let close = open + memchr(b']', &line[open..])?;
    let path = std::str::from_utf8(&line[..open]).ok()?;
    if path.contains(|c: char| c.is_whitespace() || matches!(c, ':' | '"' | '\'' | '(' | '[')) {
        return None;
    }
    let rest = &line[close + 1..];
    let number = &line[open + 1..close];
    let tests = if number == b"?" {
        rest.starts_with(b"   Failed to import").then_some(())?;
        None
    } else {
        (rest.is_empty() || rest.starts_with(b" ")).then_some(())?;
        Some(std::str::from_utf8(number).ok()?.parse().ok()?)
    };
    Some(FileLine { path, tests, rest })
}

/// A line without the `[OK]` or `[FAIL]` that ends a file's results, and whether it failed.
pub(super) fn end(line: &[u8]) -> Option<(&[u8], bool)> {
    let line = line.trim_ascii_end();
    let (rest, failed) = match line.strip_suffix(b"[OK]") {
        Some(rest) => (rest, false),
        None => (line.strip_suffix(b"[FAIL]")?, true),
    };
    (rest.is_empty() || rest.ends_with(b" ")).then_some((rest.trim_ascii_end(), failed))
}

/// The test at the start of a verbose line, and what follows: `test_x ok`.
pub(super) fn test(line: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr(b' ', line)?;
    let name = std::str::from_utf8(&line[..end]).ok()?;
    let part = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    // A function, a doctest's dotted path, or what a generator made.
    let dotted = name.contains('.') && name.split('.').all(part);
    let named = name.starts_with("test_") && part(name);
    (named || dotted || name == "<lambda>").then_some((name, &line[end + 1..]))
}

/// The word that ends a test's text.
pub(super) fn word(text: &[u8]) -> Option<TestStatus> {
    let text = text.trim_ascii_end();
    if text.ends_with(b"ok") {
        return Some(TestStatus::Passed);
    }
    let (last, before) = text.split_last()?;
    let apart = before.is_empty() || before.ends_with(b" ");
    Some(match last {
        b'F' => TestStatus::Failed,
        b'f' => TestStatus::Xfail,
        b'X' => TestStatus::Xpass,
        // A time limit that fails has no message.
        b'T' if before.trim_ascii_end().ends_with(b"Timeout") => TestStatus::Skipped,
        b'E' | b'T' => TestStatus::Error,
        b's' | b'w' | b'K' if apart => TestStatus::Skipped,
        _ => return None,
    })
}

/// A line of nothing but underscores, as it stands above a failure's name.
pub(super) fn is_rule(line: &[u8]) -> bool {
    line.len() >= 20 && line.iter().all(|byte| *byte == b'_')
}

/// A text between delimiters: `____ xpassed tests ____`.
pub(super) fn centred(line: &[u8], delimiter: u8) -> Option<&str> {
    let start = line.iter().position(|byte| *byte != delimiter)?;
    let stop = line.iter().rposition(|byte| *byte != delimiter)?;
    let text = std::str::from_utf8(line.get(start..=stop)?).ok()?;
    // A text as wide as the console has no delimiters left.
    text.strip_prefix(' ')?.strip_suffix(' ')
}

/// `sympy/core/tests/test_basic.py:test_x`, with two colons since 1.13: the file and the test.
pub(super) fn failure(text: &str) -> Option<(&str, &str)> {
    let at = text.find(".py:")? + 3;
    let (file, rest) = text.split_at_checked(at)?;
    let name = behind_any(rest, &["::", ":"])?;
    let fits = |c: char| c == '_' || c.is_alphanumeric() || matches!(c, '<' | '>');
    (!name.is_empty() && name.chars().all(fits) && !file.contains(char::is_whitespace))
        .then_some((file, name))
}

/// The name of a failed doctest: `sympy.core.basic.Basic.args`.
pub(super) fn doctest(text: &str) -> Option<&str> {
    let part = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    // A file that could not be imported stands there too, without a folder if it is in none.
    let file = text.rsplit_once('.').is_some_and(|(_, end)| end == "py");
    (!file && text.contains('.') && text.split('.').all(part)).then_some(text)
}

/// The counts behind `tests finished: `.
pub(super) fn summary(text: &str) -> Option<Totals> {
    let mut totals = Totals {
        failed: Some(0),
        errors: Some(0),
        skipped: Some(0),
        xfailed: Some(0),
        xpassed: Some(0),
        ..Totals::default()
    };
    for part in text.split(',') {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        if part.starts_with("in ") {
            break;
        }
        let (number, what) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        let add = |known: Option<u64>| Some(known.unwrap_or(0).saturating_add(number));
        match what {
            "passed" => totals.passed = Some(number),
            // Tests and doctests are counted apart.
            "failed" => totals.failed = add(totals.failed),
            "skipped" => totals.skipped = Some(number),
            "expected to fail" => totals.xfailed = Some(number),
            "expected to fail but passed" => totals.xpassed = Some(number),
            "exceptions" => totals.errors = Some(number),
            _ => return None,
        }
    }
    totals.passed?;
    Some(totals)
}
