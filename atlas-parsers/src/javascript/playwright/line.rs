//! The lines of Playwright's reporters.

use crate::edges::{behind_any, is_decimal, is_number, without_note};

/// A test as a line names it, without its place in the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Title {
    pub(super) file: String,
    pub(super) id: String,
}

/// Reads `[project] › dir/a.spec.ts:5:5 › suite › test`; the row and the column are dropped.
pub(super) fn title(text: &str) -> Option<Title> {
    let (project, rest) = match text.strip_prefix('[') {
        // A project's name may hold brackets itself.
        Some(_) => {
            let end = text.find("] › ")? + "] › ".len();
            text.split_at(end)
        }
        None => ("", text),
    };
    let (place, name) = rest.split_once(" › ")?;
    let mut parts = place.rsplitn(3, ':');
    let (column, row, file) = (parts.next()?, parts.next()?, parts.next()?);
    let known = is_number(column) && is_number(row) && file.contains('.') && !file.starts_with(' ');
    (known && !name.is_empty()).then(|| Title {
        file: file.to_owned(),
        id: format!("{project}{file} › {name}"),
    })
}

/// A result of the `list` reporter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Listed<'a> {
    pub(super) mark: Mark,
    pub(super) index: Option<u64>,
    pub(super) text: &'a str,
    pub(super) retry: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Passed,
    Failed,
    Skipped,
}

/// Reads `  ✓  12 [project] › a.spec.ts:5:5 › test (retry #1) (12ms)`.
pub(super) fn listed(line: &str) -> Option<Listed<'_>> {
    let line = line.strip_prefix("  ")?;
    let (mark, rest) = line.split_once(' ')?;
    let mark = match mark {
        "✓" | "ok" => Mark::Passed,
        "✘" | "x" => Mark::Failed,
        "-" => Mark::Skipped,
        _ => return None,
    };
    let rest = rest.trim_start_matches(' ');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (index, text) = rest.split_at(digits);
    // Steps have an index such as `12.1`.
    let text = if digits == 0 {
        text
    } else {
        text.strip_prefix(' ')?
    };
    let (text, timed) = match mark {
        Mark::Skipped => (text, true),
        _ => without_time(text).map_or((text, false), |text| (text, true)),
    };
    let (text, retry) = without_retry(text);
    timed.then(|| Listed {
        mark,
        index: index.parse().ok(),
        text,
        retry,
    })
}

/// The number in `  ✓  12 a.spec.ts:5:5 › first line of a title`, whose time comes in another line.
pub(super) fn opens(line: &str) -> Option<u64> {
    let rest = behind_any(line, &["  ✓ ", "  ✘ ", "  ok ", "  x "])?;
    let (index, text) = rest.trim_start_matches(' ').split_once(' ')?;
    title(text)?;
    index.parse().ok()
}

/// Reads `     12 title`, which a terminal gets when an attempt begins.
pub(super) fn begins(line: &str) -> Option<(u64, &str)> {
    let rest = line.strip_prefix("    ")?.trim_start_matches(' ');
    let (index, text) = rest.split_once(' ')?;
    let index = index.parse().ok()?;
    let text = without_retry(text).0;
    text.contains(" › ").then_some((index, text))
}

/// Drops ` (12ms)`, ` (3.0s)`, ` (1.5m)`, `(2.1h)`.
fn without_time(text: &str) -> Option<&str> {
    without_note(text, " (", ")", |time| {
        let number = time.trim_end_matches(['m', 's', 'h', 'd']);
        number.len() < time.len()
            && number.starts_with(|c: char| c.is_ascii_digit())
            && is_decimal(number)
    })
}

/// Drops ` (retry #1)`.
pub(super) fn without_retry(text: &str) -> (&str, bool) {
    let retry = without_note(text, " (retry #", ")", |number| is_number(number));
    (retry.unwrap_or(text), retry.is_some())
}

/// Reads `[12/24] (retries) title` of the `line` reporter: the two numbers and the title.
pub(super) fn progress(line: &str) -> Option<(u64, u64, &str)> {
    let (count, rest) = line.strip_prefix('[')?.split_once("] ")?;
    let (done, all) = count.split_once('/')?;
    let number = |text: &str| {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        text.parse().ok().filter(|_| digits)
    };
    let (done, all) = (number(done)?, number(all)?);
    let rest = rest.strip_prefix("(retries) ").unwrap_or(rest);
    Some((done, all, without_retry(rest).0))
}

/// Reads the heading of a failure, `  3) title ────`: its number, its title and the rule.
pub(super) fn heading(line: &str) -> Option<(u64, &str)> {
    let (number, rest) = line.strip_prefix("  ")?.split_once(") ")?;
    let number = number.parse().ok()?;
    rest.contains(" › ").then_some((number, rest))
}

/// Whether a rule fills the line, as it does behind every title that is not too long.
pub(super) fn has_rule(text: &str) -> bool {
    text.ends_with('─')
}

/// Drops the rule that fills a heading's line.
pub(super) fn without_rule(text: &str) -> &str {
    text.trim_end_matches('─').trim_end_matches(' ')
}

/// `Running 24 tests using 1 worker`: tests and workers.
pub(super) fn running(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("Running ")?;
    let (tests, rest) = rest.split_once(" test")?;
    let (_, rest) = rest.split_once("using ")?;
    let (workers, rest) = rest.split_once(" worker")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    // `, shard 1 of 2`
    (rest.is_empty() || rest.starts_with(", shard "))
        .then(|| Some((tests.parse().ok()?, workers.parse().ok()?)))
        .flatten()
}

/// A line of the closing counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Failed,
    Interrupted,
    Flaky,
    Skipped,
    DidNotRun,
    Passed,
    Errors,
}

/// Reads `  5 failed`, `  13 passed (60.0s)`.
pub(super) fn count(line: &str) -> Option<(Count, u64)> {
    let text = line.strip_prefix("  ")?;
    let (number, words) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    let words = without_time(words).unwrap_or(words);
    let count = match words {
        "failed" => Count::Failed,
        "interrupted" => Count::Interrupted,
        "flaky" => Count::Flaky,
        "skipped" => Count::Skipped,
        "did not run" => Count::DidNotRun,
        "passed" => Count::Passed,
        _ if words.contains("not a part of any test") => Count::Errors,
        _ => return None,
    };
    Some((count, number))
}
