//! The lines that libcheck prints of itself.

use crate::cpp::build::number;
use atlas_core::{TestStatus, Totals};
use memchr::memmem;

/// `file.c:12:F:tcase:test:0: message`
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// `tcase:test:0`; versions before loop tests print no number.
    pub(super) name: &'a str,
    pub(super) status: TestStatus,
    /// `S`: its fixture failed, or ended in an error.
    pub(super) fixture: bool,
}

impl<'a> Line<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let (rest, status, fixture) = [
            (&b":P:"[..], TestStatus::Passed),
            (b":F:", TestStatus::Failed),
            (b":E:", TestStatus::Error),
            (b":S:", TestStatus::Failed),
        ]
        .iter()
        .filter_map(|(mark, status)| {
            let at = memmem::find(line, mark)?;
            let (file, rest) = line.split_at_checked(at)?;
            let colon = memchr::memrchr(b':', file)?;
            let (number, after) = number(file.get(colon + 1..)?)?;
            // A second line of a message may have a place behind its words.
            let file = memmem::find(&file[..colon], b": ").is_none();
            let placed = file && after.is_empty() && colon > 0 && number < u64::from(u32::MAX);
            let fixture = mark[1] == b'S';
            placed.then_some((at, rest.get(mark.len()..)?, *status, fixture))
        })
        .min_by_key(|(at, ..)| *at)
        .map(|(_, rest, status, fixture)| (rest, status, fixture))?;
        let rest = std::str::from_utf8(rest).ok()?;
        let name = id(rest)?;
        Some(Self {
            name,
            status,
            fixture,
        })
    }
}

/// The id at the start of `tcase:test:0: message`. A test is a C identifier; the name of its case
/// may hold anything.
fn id(text: &str) -> Option<&str> {
    let mut plain = None;
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(": ")) {
        let end = from + found;
        from = end + 2;
        let head = text.get(..end)?;
        let Some((front, last)) = head.rsplit_once(':') else {
            continue;
        };
        if last.bytes().all(|byte| byte.is_ascii_digit()) && !last.is_empty() {
            if let Some((case, test)) = front.rsplit_once(':')
                && is_identifier(test)
                && !case.is_empty()
            {
                return Some(head);
            }
        } else if plain.is_none() && is_identifier(last) && !front.is_empty() {
            plain = Some(head);
        }
    }
    plain
}

fn is_identifier(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `52%: Checks: 17, Failures: 5, Errors: 3`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) checks: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
}

impl Summary {
    pub(super) fn passed(self) -> u64 {
        let bad = self.failures.saturating_add(self.errors);
        self.checks.saturating_sub(bad)
    }

    pub(super) fn totals(self) -> Totals {
        Totals {
            total: Some(self.checks),
            passed: Some(self.passed()),
            failed: Some(self.failures),
            errors: Some(self.errors),
            ..Totals::default()
        }
    }

    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let (percent, rest) = number(line)?;
        let (checks, rest) = number(rest.strip_prefix(b"%: Checks: ")?)?;
        let (failures, rest) = number(rest.strip_prefix(b", Failures: ")?)?;
        let (errors, rest) = number(rest.strip_prefix(b", Errors: ")?)?;
        let bad = failures.saturating_add(errors);
        let good = checks.checked_sub(bad)?;
        let share = good.saturating_mul(100).checked_div(checks).unwrap_or(100);
        (rest.is_empty() && share == percent).then_some(Self {
            checks,
            failures,
            errors,
        })
    }
}

/// `ok 1 - file.c:tcase:test: message`, as libcheck writes TAP: the name, without the file.
pub(super) fn tap(line: &[u8]) -> Option<(u64, &str, TestStatus)> {
    let (rest, status) = match line.strip_prefix(b"ok ") {
        Some(rest) => (rest, TestStatus::Passed),
        None => (line.strip_prefix(b"not ok ")?, TestStatus::Failed),
    };
    let (place, rest) = number(rest)?;
    let text = std::str::from_utf8(rest.strip_prefix(b" - ")?).ok()?;
    // The file is up to the colon behind its ending.
    let file = text.find(':')?;
    let name = text.get(file + 1..)?;
    let mut from = 0;
    while let Some(found) = name.get(from..)?.find(": ") {
        let head = name.get(..from + found)?;
        if let Some((case, test)) = head.rsplit_once(':')
            && is_identifier(test)
            && !case.is_empty()
        {
            return Some((place, head, status));
        }
        from += found + 2;
    }
    None
}
