//! One line of Gradle, taken apart.

use crate::edges::{before_any, end_of, is_decimal, without_note};
use atlas_core::TestStatus;
use memchr::memmem;

/// A test event: `Class > method FAILED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Started,
    Ended(TestStatus),
    Output,
}

const EVENTS: [(&str, Event); 6] = [
    (" PASSED", Event::Ended(TestStatus::Passed)),
    (" FAILED", Event::Ended(TestStatus::Failed)),
    (" SKIPPED", Event::Ended(TestStatus::Skipped)),
    (" STARTED", Event::Started),
    (" STANDARD_OUT", Event::Output),
    (" STANDARD_ERROR", Event::Output),
];

/// Splits the event off the end of a line, and a duration behind it.
pub(super) fn event(line: &str) -> Option<(&str, Event)> {
    let line = without_duration(line.trim_end());
    match line.as_bytes().last()? {
        b'D' | b'T' | b'R' => {}
        _ => return None,
    }
    let (head, event) = end_of(line, &EVENTS)?;
    (!head.is_empty()).then_some((head, event))
}

/// The text without ` (1.2s)` or ` (1m 3s)` at its end.
pub(super) fn without_duration(text: &str) -> &str {
    let is_unit = |unit: &str| {
        let number = unit.trim_end_matches(['m', 's', 'h']);
        number.len() < unit.len() && is_decimal(number)
    };
    without_note(text, " (", ")", |time| time.split(' ').all(is_unit)).unwrap_or(text)
}

/// The path of a test without what names the run and the worker.
pub(super) fn test_path(path: &str) -> &str {
    let mut path = path;
    for prefix in [
        "Gradle Test Run :",
        "Gradle Test Executor ",
        "Gradle Test Run",
    ] {
        if path.starts_with(prefix) {
            match path.split_once(" > ") {
                Some((_, rest)) => path = rest,
                None => return "",
            }
        }
    }
    path
}

/// The id of a test, as printed; a class within the first one stands for itself.
///
/// A runner that runs a nested class below the outer one makes Gradle print
/// `Outer > Outer$Inner.method` for what is `Outer$Inner > method` elsewhere.
pub(super) fn id(path: &str) -> Option<String> {
    let (class, rest) = path.split_once(" > ")?;
    // A task behind what somebody put in front of each line, as the time.
    let is_task = path
        .rfind("> Task :")
        .is_some_and(|at| task(&path[at..]).is_some());
    if class.is_empty() || rest.is_empty() || is_task {
        return None;
    }
    if let Some(inner) = rest.strip_prefix(class)
        && inner.starts_with('$')
        && !rest.contains(" > ")
        && let Some((nested, method)) = inner.split_once('.')
    {
        return Some(format!("{class}{nested} > {method}"));
    }
    Some(path.to_owned())
}

/// A task: `> Task :lib:test FAILED`, or `:lib:test` before Gradle 4.
pub(super) fn task(line: &str) -> Option<(&str, &str)> {
    let path = line.strip_prefix("> Task ").unwrap_or(line);
    if !path.starts_with(':') {
        return None;
    }
    let (path, outcome) = path
        .trim_end()
        .split_once(' ')
        .unwrap_or((path.trim_end(), ""));
    let plain = path.len() > 1
        && path
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ':' | '-' | '_' | '.'));
    let known = matches!(
        outcome,
        "" | "FAILED" | "UP-TO-DATE" | "NO-SOURCE" | "SKIPPED" | "FROM-CACHE"
    );
    (plain && known).then_some((path, outcome))
}

/// The project of a task: `:lib` of `:lib:test`, `:` of `:test`.
pub(super) fn project(task: &str) -> &str {
    match task.rfind(':') {
        Some(0) | None => ":",
        Some(at) => &task[..at],
    }
}

/// Whether the task makes what tests need.
pub(super) fn builds(task: &str) -> bool {
    let name = task.rsplit(':').next().unwrap_or_default();
    [
        "compile", "kapt", "ksp", "generate", "process", "classes", "jar",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Reads `23 tests completed, 8 failed, 4 skipped`.
pub(super) fn totals(line: &str) -> Option<(u64, u64, u64)> {
    let mut parts = line.trim_end().split(", ");
    let first = parts.next()?;
    let total = before_any(first, &[" tests completed", " test completed"])?;
    let total = total.parse().ok()?;
    let (mut failed, mut skipped) = (0, 0);
    for part in parts {
        if let Some(count) = part.strip_suffix(" failed") {
            failed = count.parse().ok()?;
        } else {
            skipped = part.strip_suffix(" skipped")?.parse().ok()?;
        }
    }
    Some((total, failed, skipped))
}

/// Whether a compiler complains here: `/x/A.java:3: error: …`, `e: file:///x/A.kt:3:5 …`.
pub(super) fn is_complaint(line: &[u8]) -> bool {
    memmem::find(line, b": error: ").is_some()
        || line.starts_with(b"e: ")
        || memmem::find(line, b".scala:").is_some() && memmem::find(line, b"error").is_some()
        || memmem::find(line, b".groovy: ").is_some() && memmem::find(line, b" @ line ").is_some()
        || line.starts_with(b"error: ")
}

/// What is left of a line after cursor movements: what a rich console drew over is not kept.
pub(super) fn after_moves(line: &[u8]) -> &[u8] {
    let mut start = 0;
    let mut from = 0;
    while let Some(at) = memmem::find(&line[from..], b"\x1b[") {
        let begin = from + at + 2;
        let digits = line[begin..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
            .count();
        from = begin + digits;
        match line.get(from) {
            Some(b'A'..=b'H') => start = from + 1,
            Some(_) => {}
            None => break,
        }
    }
    line.get(start..).unwrap_or_default()
}
