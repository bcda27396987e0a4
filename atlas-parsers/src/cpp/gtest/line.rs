//! The lines that googletest prints of itself.

use crate::cpp::text::number;
use atlas_core::TestStatus;

/// A line of the runner, or its part behind output that ended without a newline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `[==========] Running 3 tests from 2 test suites.`
    Running,
    /// `[----------] 2 tests from Suite, where TypeParam = int`
    Suite { name: &'a [u8] },
    /// `[----------] 2 tests from Suite (3 ms total)`
    SuiteEnd,
    /// `[ RUN      ] Suite.Test`
    Run { name: &'a [u8] },
    /// `[       OK ] Suite.Test (0 ms)`; the text behind the brackets, not yet read.
    Result { status: TestStatus, text: &'a [u8] },
    /// `[==========] 3 tests from 2 test suites ran. (5 ms total)`
    Ran { tests: u64 },
    /// `[  PASSED  ] 26 tests.`
    Passed { tests: u64 },
    /// `[  SKIPPED ] 6 tests, listed below:` or `[  SKIPPED ] 6 tests.`
    Skipped { tests: u64 },
    /// `[  FAILED  ] 19 tests, listed below:`
    Failed { tests: u64 },
}

/// The first line of the runner in this line, and where it begins. `accept` may refuse it; then
/// one further behind is looked for, a few times.
pub(super) fn find<'a>(line: &'a [u8], mut accept: impl FnMut(usize, Line<'a>) -> bool) -> bool {
    const MAX_TRIES: u32 = 16;
    let mut tries = 0;
    for at in memchr::memchr_iter(b'[', line) {
        let Some(head) = line.get(at..at + 13) else {
            return false;
        };
        if head[11] == b']'
            && head[12] == b' '
            && let Some(found) = read(&line[at + 1..at + 11], &line[at + 13..])
        {
            if accept(at, found) {
                return true;
            }
            tries += 1;
            if tries == MAX_TRIES {
                return false;
            }
        }
    }
    false
}

fn read<'a>(tag: &[u8], text: &'a [u8]) -> Option<Line<'a>> {
    match tag {
        b" RUN      " => {
            let name = text.trim_ascii_end();
            (!name.is_empty() && name.contains(&b'.')).then_some(Line::Run { name })
        }
        b"       OK " => Some(Line::Result {
            status: TestStatus::Passed,
            text,
        }),
        b"  FAILED  " => Some(match listed(text) {
            Some(tests) => Line::Failed { tests },
            None => Line::Result {
                status: TestStatus::Failed,
                text,
            },
        }),
        b"  SKIPPED " => Some(match listed(text) {
            Some(tests) => Line::Skipped { tests },
            None => Line::Result {
                status: TestStatus::Skipped,
                text,
            },
        }),
        b"  PASSED  " => Some(Line::Passed {
            tests: listed(text)?,
        }),
        b"==========" => {
            if let Some(rest) = text.strip_prefix(b"Running ") {
                tests(rest)?;
                return Some(Line::Running);
            }
            let (tests, rest) = tests(text)?;
            (memchr::memmem::find(rest, b" ran.").is_some()).then_some(Line::Ran { tests })
        }
        b"----------" => {
            let (_, rest) = tests(text)?;
            let name = rest.strip_prefix(b" from ")?;
            if name.ends_with(b" ms total)") {
                return Some(Line::SuiteEnd);
            }
            let end = memchr::memmem::find(name, b", where ").unwrap_or(name.len());
            let name = name[..end].trim_ascii_end();
            (!name.is_empty()).then_some(Line::Suite { name })
        }
        _ => None,
    }
}

/// `3 tests`, `1 test`, and what follows.
fn tests(text: &[u8]) -> Option<(u64, &[u8])> {
    let (count, rest) = number(text)?;
    let rest = rest.strip_prefix(b" test")?;
    Some((count, rest.strip_prefix(b"s").unwrap_or(rest)))
}

/// `3 tests.` or `3 tests, listed below:`
fn listed(text: &[u8]) -> Option<u64> {
    let (count, rest) = tests(text)?;
    matches!(rest.trim_ascii_end(), b"." | b", listed below:").then_some(count)
}

/// Whether the text of a result names this test: the name, then nothing but what the runner adds.
pub(super) fn names(text: &[u8], name: &[u8]) -> bool {
    text.strip_prefix(name).is_some_and(|tail| {
        let tail = tail.trim_ascii_end();
        tail.is_empty() || tail.starts_with(b", where ") || is_time(tail)
    })
}

/// The test that a result names which no line announced.
pub(super) fn unannounced(text: &[u8]) -> Option<&[u8]> {
    let text = text.trim_ascii_end();
    let name = if let Some(at) = memchr::memmem::find(text, b", where ") {
        &text[..at]
    } else {
        let open = memchr::memmem::rfind(text, b" (").filter(|at| is_time(&text[*at..]));
        &text[..open.unwrap_or(text.len())]
    };
    let dot = memchr::memchr(b'.', name)?;
    let word = !name.iter().any(|b| b.is_ascii_whitespace() || *b == b':');
    (dot > 0 && dot + 1 < name.len() && word).then_some(name)
}

/// ` (12 ms)`, and ` (631ns)` of utest.h.
fn is_time(tail: &[u8]) -> bool {
    let Some(inner) = tail.strip_prefix(b" (").and_then(|t| t.strip_suffix(b")")) else {
        return false;
    };
    let Some((_, unit)) = number(inner) else {
        return false;
    };
    matches!(
        unit,
        b" ms" | b"ns" | b"us" | b"ms" | b" ns" | b" us" | b" s"
    )
}

/// Whether a line begins a failure's message: `a.cc:3: Failure`, `a.cc(3): error: `.
pub(super) fn is_failure(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b": Failure")
        || memchr::memmem::find(line, b"): error: ").is_some()
}
