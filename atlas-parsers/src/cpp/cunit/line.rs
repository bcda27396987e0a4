//! The lines that `CUnit`'s basic interface prints.

use crate::cpp::build::number;
use atlas_core::TestStatus;
use memchr::memmem;

/// What is behind `  Test: `: the name, and what the test printed up to the line's end.
///
/// The name ends at ` ...`, and everything behind that is output and, at its end, the verdict. A
/// verdict ends its line, so one that another ` ...` follows is a part of the name.
pub(super) fn test(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = line.strip_prefix(b"  Test: ")?;
    let mut end = memmem::find(text, b" ...")?;
    loop {
        let output = text.get(end + 4..)?;
        let titled = [&b"passed"[..], b"FAILED"].iter().any(|word| {
            output
                .strip_prefix(*word)
                .is_some_and(|rest| rest.starts_with(b" ..."))
        });
        if !titled {
            let name = text.get(..end)?;
            return (!name.is_empty()).then_some((name, output));
        }
        end += 10;
    }
}

/// The verdict at the end of what a test printed.
pub(super) fn verdict(output: &[u8]) -> Option<TestStatus> {
    if output.ends_with(b"passed") {
        Some(TestStatus::Passed)
    } else if output.ends_with(b"FAILED") {
        Some(TestStatus::Failed)
    } else {
        None
    }
}

/// A failed assertion below a verdict: `    1. file.c:6  - 1==2`.
pub(super) fn is_assertion(line: &[u8]) -> bool {
    let Some(text) = line.strip_prefix(b"    ") else {
        return false;
    };
    number(text)
        .is_some_and(|(_, rest)| rest.starts_with(b". ") && memmem::find(rest, b"  - ").is_some())
}

/// `Suite one, Test two had failures:`, as the normal mode names a failing test.
pub(super) fn had_failures(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = line
        .strip_prefix(b"Suite ")?
        .strip_suffix(b" had failures:")?;
    let at = memmem::find(text, b", Test ")?;
    Some((text.get(..at)?, text.get(at + 7..)?))
}

/// The suite of `WARNING - Suite initialization failed for 'name'.`
pub(super) fn uninitialised(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_prefix(b"WARNING - Suite initialization failed for ")?;
    text.strip_prefix(b"'")?.strip_suffix(b"'.").or(Some(text))
}

/// A row of the run's summary: total, ran, passed, failed. `n/a` is none.
pub(super) fn row(line: &[u8], label: &[u8]) -> Option<[Option<u64>; 4]> {
    let text = line.trim_ascii_start();
    if line.len() - text.len() < 4 {
        return None;
    }
    let mut words = text
        .strip_prefix(label)?
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty());
    let mut counts = [None; 4];
    for count in &mut counts {
        let word = words.next()?;
        *count = match number(word) {
            Some((value, b"")) => Some(value),
            _ if word == b"n/a" => None,
            _ => return None,
        };
    }
    Some(counts)
}
