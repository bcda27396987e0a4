//! One line of Ant's `junit` and `junitlauncher` tasks, taken apart.

use crate::edges::behind_any;
use atlas_core::TestStatus;

/// The text behind `    [junit] `, if the line has that.
pub(super) fn adorned(line: &[u8]) -> Option<&[u8]> {
    let blanks = line.iter().take_while(|byte| **byte == b' ').count();
    let rest = &line[blanks..];
    let text = behind_any(rest, &[b"[junit]", b"[junitlauncher]"])?;
    match text.first() {
        None => Some(text),
        Some(b' ') => Some(&text[1..]),
        Some(_) => None,
    }
}

/// A suite's totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) run: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
    pub(super) skipped: u64,
}

/// Reads `Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 2.914 sec`, and the class
/// that stands behind it where several threads run tests.
pub(super) fn totals(text: &str) -> Option<(Counts, Option<&str>)> {
    let rest = text.strip_prefix("Tests run: ")?;
    let (head, time) = rest.split_once(", Time elapsed: ")?;
    let mut counts = Counts::default();
    let mut parts = head.split(", ");
    counts.run = parts.next()?.parse().ok()?;
    counts.failures = parts.next()?.strip_prefix("Failures: ")?.parse().ok()?;
    counts.errors = parts.next()?.strip_prefix("Errors: ")?.parse().ok()?;
    for part in parts {
        let (what, count) = part.split_once(": ")?;
        let count: u64 = count.parse().ok()?;
        if !matches!(what, "Skipped" | "Aborted") {
            return None;
        }
        counts.skipped = counts.skipped.saturating_add(count);
    }
    let end = time.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','))?;
    let rest = &time[end..];
    let rest = behind_any(rest, &[" sec(s)", " milli sec(s)", " sec"])?;
    let class = match rest.trim_end() {
        "" => None,
        rest => {
            let (thread, class) = rest.strip_prefix(", Thread: ")?.split_once(", Class: ")?;
            if !is_number(thread) {
                return None;
            }
            Some(class)
        }
    };
    Some((counts, class))
}

/// A line that names a test.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Case<'a> {
    /// The plain formatter: the verdict is the next line.
    Took(&'a str),
    /// The brief formatter, or `junitlauncher`.
    Verdict(&'a str, TestStatus),
    /// The class whose tests follow, of `junitlauncher`.
    Class(&'a str),
}

/// Reads a `Testcase:` or `Test:` line.
pub(super) fn case(text: &str) -> Option<Case<'_>> {
    if let Some(rest) = text.strip_prefix("Test: ") {
        return launched(rest);
    }
    let rest = text.strip_prefix("Testcase: ")?;
    if let Some((name, time)) = rest.rsplit_once(" took ")
        && let Some(number) = time.trim_end().strip_suffix(" sec")
        && is_number(number)
    {
        return (!name.is_empty()).then_some(Case::Took(name));
    }
    for (end, status) in [
        (":\tFAILED", TestStatus::Failed),
        (":\tCaused an ERROR", TestStatus::Error),
        (":SKIPPED", TestStatus::Skipped),
    ] {
        if let Some(name) = rest.trim_end().strip_suffix(end) {
            return (!name.is_empty()).then_some(Case::Verdict(name, status));
        }
    }
    if let Some((name, _)) = rest.split_once(":SKIPPED: ") {
        return (!name.is_empty()).then_some(Case::Verdict(name, TestStatus::Skipped));
    }
    is_class(rest.trim_end()).then_some(Case::Class(rest.trim_end()))
}

fn launched(rest: &str) -> Option<Case<'_>> {
    let (name, rest) = rest
        .rsplit_once(" took ")
        .or_else(|| rest.split_once(" took "))?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    let rest = &rest[end..];
    let verdict = behind_any(rest, &[" milli sec(s)", " sec(s)"])?;
    let status = match verdict.trim_start() {
        "" => TestStatus::Passed,
        text if text.starts_with("SKIPPED") || text.starts_with("ABORTED") => TestStatus::Skipped,
        text if text.starts_with("FAILED") => TestStatus::Failed,
        text if text.starts_with("Caused an ERROR") => TestStatus::Error,
        _ => return None,
    };
    (end > 0 && !name.is_empty()).then_some(Case::Verdict(name, status))
}

fn is_number(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b','))
}

/// The verdict below a `Testcase: … took` line.
pub(super) fn verdict(text: &str) -> Option<TestStatus> {
    match text.trim_end() {
        "\tFAILED" => Some(TestStatus::Failed),
        "\tCaused an ERROR" => Some(TestStatus::Error),
        "\tSKIPPED" => Some(TestStatus::Skipped),
        text if text.starts_with("\tSKIPPED: ") => Some(TestStatus::Skipped),
        _ => None,
    }
}

/// Whether this can be the name of a class.
pub(super) fn is_class(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '$' | '_'))
}

/// Splits `method(com.example.C)`.
pub(super) fn with_class(name: &str) -> Option<(&str, &str)> {
    let open = name.rfind('(')?;
    let class = name[open + 1..].strip_suffix(')')?;
    (open > 0 && is_class(class)).then_some((&name[..open], class))
}

/// The class and the reason in `TEST com.example.C FAILED (crashed)`.
pub(super) fn failed(text: &str) -> Option<(&str, &str)> {
    let rest = behind_any(text, &["TEST ", "Test "])?;
    let (class, rest) = rest.split_once(' ')?;
    let reason = rest.strip_prefix("FAILED")?.trim();
    (is_class(class) && matches!(reason, "" | "(crashed)" | "(timeout)")).then_some((class, reason))
}

/// A result of the formatter that one harness brings: `[PASS] name`.
pub(super) fn custom(text: &str) -> Option<(&str, TestStatus)> {
    let (word, name) = text.strip_prefix('[')?.split_once("] ")?;
    let status = match word {
        "PASS" => TestStatus::Passed,
        "FAIL" => TestStatus::Failed,
        "ERR" => TestStatus::Error,
        "SKIP" => TestStatus::Skipped,
        _ => return None,
    };
    let name = name.trim();
    (!name.is_empty()).then_some((name, status))
}
