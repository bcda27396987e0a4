//! The lines of the progress listener and the outputters.

use crate::cpp::text::number;
use crate::edges::end_of;
use atlas_core::{TestStatus, Totals};

/// `Class::test : OK`: the text in front and the status. A test may fail twice, in its body and in
/// its tear-down.
pub(super) fn complete(line: &[u8]) -> Option<(&[u8], TestStatus)> {
    let (mut name, mut status) = status(line)?;
    while let Some((rest, more)) = self::status(name) {
        name = rest;
        status = status.worst(more);
    }
    Some((name, status))
}

fn status(line: &[u8]) -> Option<(&[u8], TestStatus)> {
    const WORDS: [(&[u8], TestStatus); 3] = [
        (b" : OK", TestStatus::Passed),
        (b" : assertion", TestStatus::Failed),
        (b" : error", TestStatus::Error),
    ];
    if !matches!(line.last()?, b'K' | b'n' | b'r') {
        return None;
    }
    end_of(line, &WORDS)
}

/// Whether this can be the name of a test as the macros make it: `ns::Class<T>::test`.
pub(super) fn is_path(name: &[u8]) -> bool {
    let Some(at) = memchr::memmem::rfind(name, b"::") else {
        return false;
    };
    let (class, test) = (&name[..at], &name[at + 2..]);
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let class = class
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'(' | b'<'))
        && class
            .iter()
            .all(|byte| word(byte) || b":<>,*& ()[].+-".contains(byte));
    class && !test.is_empty() && test.iter().all(word) && name.len() < 1024
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `OK (3)`, `OK (3 tests)`
    Fine(Totals),
    /// `Run: 7   Failure total: 3   Failures: 2   Errors: 1`; the failures stand above.
    Compiler(Totals),
    /// `Run:  10   Failures: 2   Errors: 2`; the failures follow.
    Text(Totals),
}

pub(super) fn end(line: &[u8]) -> Option<End> {
    if let Some(rest) = line.strip_prefix(b"OK (") {
        let (tests, rest) = number(rest)?;
        return matches!(rest, b")" | b" tests)").then(|| End::Fine(totals(tests, 0, 0)));
    }
    let rest = line.strip_prefix(b"Run: ")?;
    let (tests, rest) = number(rest.trim_ascii_start())?;
    let (total, rest) = match field(rest, b"Failure total: ") {
        Some((_, rest)) => (true, rest),
        None => (false, rest),
    };
    let (failures, rest) = field(rest, b"Failures: ")?;
    let (errors, rest) = field(rest, b"Errors: ")?;
    let totals = totals(tests, failures, errors);
    rest.trim_ascii().is_empty().then_some(if total {
        End::Compiler(totals)
    } else {
        End::Text(totals)
    })
}

fn totals(tests: u64, failures: u64, errors: u64) -> Totals {
    Totals {
        total: Some(tests),
        failed: Some(failures),
        errors: Some(errors),
        ..Totals::default()
    }
}

fn field<'a>(text: &'a [u8], name: &[u8]) -> Option<(u64, &'a [u8])> {
    number(text.trim_ascii_start().strip_prefix(name)?)
}

/// `1) test: Class::test (F) line: 21 file.cpp`: its number, the name and the status.
pub(super) fn listed(line: &[u8]) -> Option<(u64, &[u8], TestStatus)> {
    let (count, rest) = number(line)?;
    let rest = rest.strip_prefix(b") test: ")?;
    let kind = |mark: &[u8]| memchr::memmem::rfind(rest, mark);
    let (at, status) = match (kind(b" (F)"), kind(b" (E)")) {
        (Some(at), other) if other.is_none_or(|other| other < at) => (at, TestStatus::Failed),
        (_, Some(at)) => (at, TestStatus::Error),
        _ => return None,
    };
    let tail = rest[at + 4..].trim_ascii();
    (at > 0 && (tail.is_empty() || tail.starts_with(b"line: "))).then_some((
        count,
        &rest[..at],
        status,
    ))
}

/// The kind of failure at the end of `file.cpp:21:Assertion` or `##…## : Error`.
pub(super) fn kind(line: &[u8]) -> Option<TestStatus> {
    if line.ends_with(b":Assertion") || line.ends_with(b": Assertion") {
        Some(TestStatus::Failed)
    } else if line.ends_with(b":Error") || line.ends_with(b": Error") {
        Some(TestStatus::Error)
    } else {
        None
    }
}

/// The text of an XML element that stands on a line of its own.
pub(super) fn element<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(b"<")?.strip_prefix(name)?;
    let rest = rest.strip_prefix(b">")?.strip_suffix(b">")?;
    rest.strip_suffix(name)?.strip_suffix(b"</")
}
