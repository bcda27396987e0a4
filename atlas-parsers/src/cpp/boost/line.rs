//! The lines of the human-readable log and report.

use crate::cpp::text::number;
use crate::edges::{behind_any, end_of, is_number};
use atlas_core::TestStatus;
use memchr::memmem;

/// A line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    EnterModule(&'a [u8]),
    LeaveModule(&'a [u8]),
    EnterSuite(&'a [u8]),
    LeaveSuite(&'a [u8]),
    EnterCase(&'a [u8]),
    /// The text from the name on; what the runner adds follows it.
    LeaveCase(&'a [u8]),
    /// `file(3): error: in "suite/case": why`
    Error {
        path: &'a [u8],
        why: &'a [u8],
    },
    /// `Test case "suite/case" is skipped because why`
    Skipped {
        path: &'a [u8],
        why: &'a [u8],
    },
}

/// Reads a line of the log, also behind output without a newline.
pub(super) fn read(line: &[u8]) -> Option<Line<'_>> {
    // Every one of them has a quoted name.
    memchr::memchr(b'"', line)?;
    if let Some(at) = memmem::find(line, b"error") {
        let rest = &line[at + b"error".len()..];
        let rest = behind_any(rest, &[b": in \"", b" in \""]);
        if let Some(rest) = rest
            && is_place(&line[..at])
            && let Some(end) = memmem::find(rest, b"\": ")
        {
            let (path, why) = (&rest[..end], &rest[end + 3..]);
            return (!path.is_empty()).then_some(Line::Error { path, why });
        }
    }
    if let Some(at) = memmem::find(line, b"Entering test ") {
        let rest = &line[at + b"Entering test ".len()..];
        let named = |what: &[u8]| rest.strip_prefix(what)?.strip_suffix(b"\"");
        return named(b"case \"")
            .map(Line::EnterCase)
            .or_else(|| named(b"suite \"").map(Line::EnterSuite))
            .or_else(|| named(b"module \"").map(Line::EnterModule));
    }
    if let Some(at) = memmem::find(line, b"Leaving test ") {
        let rest = &line[at + b"Leaving test ".len()..];
        return rest
            .strip_prefix(b"case \"")
            .map(Line::LeaveCase)
            .or_else(|| rest.strip_prefix(b"suite \"").map(Line::LeaveSuite))
            .or_else(|| rest.strip_prefix(b"module \"").map(Line::LeaveModule));
    }
    if let Some(at) = memmem::find(line, b"Test case \"") {
        let rest = &line[at + b"Test case \"".len()..];
        let split = memmem::rfind(rest, b"\" is skipped because ");
        if let Some(end) = split {
            let why = &rest[end + b"\" is skipped because ".len()..];
            return Some(Line::Skipped {
                path: &rest[..end],
                why,
            });
        }
    }
    None
}

/// Whether the text of a line that leaves a test names this one.
pub(super) fn leaves(text: &[u8], name: &[u8]) -> bool {
    text.strip_prefix(name)
        .and_then(|tail| tail.strip_prefix(b"\""))
        .is_some_and(|tail| {
            tail.is_empty()
                || tail.starts_with(b"; testing time: ")
                // Before 1.59.
                || tail.starts_with(b". Testing time: ")
        })
}

/// Whether a text ends with `file(3): ` or `file:3: `, and perhaps `fatal `.
fn is_place(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"fatal ").unwrap_or(text);
    let Some(text) = text.strip_suffix(b": ") else {
        return false;
    };
    let (end, mark) = match text.strip_suffix(b")") {
        Some(rest) => (rest, b'('),
        None => (text, b':'),
    };
    memchr::memrchr(mark, end).is_some_and(|at| {
        let number = &end[at + 1..];
        is_number(number)
    })
}

/// `Running 18 test cases...`
pub(super) fn running(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(b"Running ")?;
    let (count, rest) = number(rest)?;
    matches!(rest, b" test case..." | b" test cases...").then_some(count)
}

/// The last word on a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End<'a> {
    /// `*** No errors detected`
    Fine,
    /// `*** 2 failures are detected in the test module "name"` and the like.
    Failed { module: &'a [u8] },
    /// `Test setup error: ` before anything ran.
    Setup,
}

pub(super) fn end(line: &[u8]) -> Option<End<'_>> {
    if line.starts_with(b"Test setup error: ")
        || line.starts_with(b"Boost.Test framework internal error: ")
    {
        return Some(End::Setup);
    }
    let text = line.strip_prefix(b"*** ")?;
    if text == b"No errors detected" {
        return Some(End::Fine);
    }
    let at = memmem::find(text, b"test module \"")
        .map(|at| at + b"test module \"".len())
        .or_else(|| memmem::find(text, b"test suite \"").map(|at| at + b"test suite \"".len()))?;
    let known = number(text).is_some_and(|(_, rest)| rest.starts_with(b" failure"))
        || text.starts_with(b"Errors were detected in the ")
        || text.starts_with(b"Errors where detected in the ")
        || text.starts_with(b"The test module \"");
    let name = &text[at..];
    let end = memchr::memrchr(b'"', name)?;
    known.then_some(End::Failed {
        module: &name[..end],
    })
}

/// A line of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report<'a> {
    /// `Test module "name" has failed with:`
    Module {
        name: &'a [u8],
    },
    Suite,
    Case {
        path: &'a [u8],
        status: TestStatus,
    },
    /// `  7 test cases out of 18 passed`
    Cases {
        count: u64,
        total: u64,
        what: &'a [u8],
    },
    /// Assertions and warnings, and empty lines.
    Other,
}

/// Reads a line of the plain report; `None` ends it.
pub(super) fn report(line: &[u8]) -> Option<Report<'_>> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Some(Report::Other);
    }
    if let Some(rest) = text.strip_prefix(b"Test ") {
        let verdicts: [(&[u8], TestStatus); 5] = [
            (b"\" has passed", TestStatus::Passed),
            (b"\" has failed", TestStatus::Failed),
            (b"\" was aborted", TestStatus::Failed),
            (b"\" has timed out", TestStatus::Failed),
            (b"\" was skipped", TestStatus::Skipped),
        ];
        let rest = rest.strip_suffix(b" with:").unwrap_or(rest);
        let (named, status) = end_of(rest, &verdicts)?;
        return if let Some(path) = named.strip_prefix(b"case \"") {
            Some(Report::Case { path, status })
        } else if let Some(name) = named.strip_prefix(b"module \"") {
            (text.len() == line.len()).then_some(Report::Module { name })
        } else {
            named.strip_prefix(b"suite \"").map(|_| Report::Suite)
        };
    }
    let (count, rest) = number(text)?;
    let rest = rest.strip_prefix(b" ")?;
    if let Some(rest) = rest.strip_prefix(b"test case") {
        let rest = rest.strip_prefix(b"s").unwrap_or(rest);
        let (total, rest) = number(rest.strip_prefix(b" out of ")?)?;
        let what = rest.trim_ascii_start();
        return Some(Report::Cases { count, total, what });
    }
    [
        "assertion",
        "warning",
        "failure",
        "failed warning",
        "expected failure",
        "test suite",
    ]
    .iter()
    .any(|word| rest.starts_with(word.as_bytes()))
    .then_some(Report::Other)
}
