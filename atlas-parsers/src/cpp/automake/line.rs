//! The lines of automake's test harnesses.

use crate::cpp::build::number;
use crate::edges::behind_any;
use atlas_core::{TestStatus, Totals};
use memchr::memmem;

/// `PASS: name`: the name, without a directive of TAP, and the status.
pub(super) fn result(line: &[u8]) -> Option<(&str, TestStatus)> {
    let (status, name) = match line.first()? {
        b'P' => (TestStatus::Passed, line.strip_prefix(b"PASS: ")?),
        b'F' => (TestStatus::Failed, line.strip_prefix(b"FAIL: ")?),
        b'S' => (TestStatus::Skipped, line.strip_prefix(b"SKIP: ")?),
        b'E' => (TestStatus::Error, line.strip_prefix(b"ERROR: ")?),
        b'X' => match line.strip_prefix(b"XFAIL: ") {
            Some(name) => (TestStatus::Xfail, name),
            None => (TestStatus::Xpass, line.strip_prefix(b"XPASS: ")?),
        },
        _ => return None,
    };
    let name = std::str::from_utf8(name).ok()?.trim();
    let directed = matches!(
        status,
        TestStatus::Skipped | TestStatus::Xfail | TestStatus::Xpass
    );
    let name = if directed { undirected(name) } else { name };
    (!name.is_empty()).then_some((name, status))
}

/// The name without ` # SKIP why` or ` # TODO why`.
fn undirected(name: &str) -> &str {
    let mut from = 0;
    while let Some(found) = name.get(from..).and_then(|rest| rest.find('#')) {
        let at = from + found;
        let word = name.get(at + 1..).unwrap_or_default().trim_start();
        let directive = word.get(..4).is_some_and(|word| {
            word.eq_ignore_ascii_case("skip") || word.eq_ignore_ascii_case("todo")
        });
        if directive && name.get(..at).is_some_and(|head| head.ends_with(' ')) {
            return name.get(..at).unwrap_or_default().trim_end();
        }
        from = at + 1;
    }
    name
}

/// The counts of `Testsuite summary`, or of the log of all tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) total: Option<u64>,
    pub(super) passed: Option<u64>,
    pub(super) skipped: Option<u64>,
    pub(super) xfailed: Option<u64>,
    pub(super) failed: Option<u64>,
    pub(super) xpassed: Option<u64>,
    pub(super) errors: Option<u64>,
}

impl Counts {
    pub(super) fn totals(self) -> Totals {
        Totals {
            total: self.total,
            passed: self.passed,
            failed: self.failed,
            errors: self.errors,
            skipped: self.skipped,
            xfailed: self.xfailed,
            xpassed: self.xpassed,
        }
    }

    /// Takes `# PASS:  7`. Returns whether the line is one of these.
    pub(super) fn take(&mut self, line: &[u8]) -> bool {
        let Some(text) = line.strip_prefix(b"# ") else {
            return false;
        };
        let Some(colon) = memchr::memchr(b':', text) else {
            return false;
        };
        let (Some(label), Some(rest)) = (text.get(..colon), text.get(colon + 1..)) else {
            return false;
        };
        let field = match label {
            b"TOTAL" => &mut self.total,
            b"PASS" => &mut self.passed,
            b"SKIP" => &mut self.skipped,
            b"XFAIL" => &mut self.xfailed,
            b"FAIL" => &mut self.failed,
            b"XPASS" => &mut self.xpassed,
            b"ERROR" => &mut self.errors,
            _ => return false,
        };
        match number(rest.trim_ascii_start()) {
            Some((count, rest)) if rest.trim_ascii().is_empty() => {
                *field = Some(count);
                true
            }
            _ => false,
        }
    }
}

/// A line of nothing but `=`.
pub(super) fn is_bar(line: &[u8]) -> bool {
    line.len() >= 10 && line.iter().all(|byte| *byte == b'=')
}

/// The heading of the log of all tests: `   amdemo 1.0: ./test-suite.log`.
pub(super) fn is_dump(line: &[u8]) -> bool {
    line.starts_with(b"   ")
        && line.trim_ascii_end().ends_with(b".log")
        && memmem::find(line, b": ").is_some()
}

/// The summary of older harnesses: how many tests ran and how many of them did as they should not.
///
/// `All 3 tests passed`, `1 of 3 tests failed`, `All 3 tests behaved as expected (1 expected
/// failure)`, `1 of 3 tests did not behave as expected (1 unexpected pass)`.
pub(super) fn old_summary(line: &[u8]) -> Option<(u64, u64)> {
    let text = line.strip_prefix(b"All ").unwrap_or(line);
    let (first, rest) = number(text)?;
    let (bad, all, rest) = match rest.strip_prefix(b" of ") {
        Some(rest) => {
            let (all, rest) = number(rest)?;
            (first, all, rest)
        }
        None => (0, first, rest),
    };
    let rest = behind_any(rest, &[b" tests", b" test"])?;
    let good = rest == b" passed" || rest.starts_with(b" behaved as expected (");
    let failed = rest == b" failed" || rest.starts_with(b" did not behave as expected (");
    let told = if text.len() < line.len() || all == first && bad == 0 {
        good
    } else {
        failed
    };
    told.then_some((all, bad))
}

/// `(1 test was not run)` below the older summary.
pub(super) fn old_skipped(line: &[u8]) -> Option<u64> {
    let (count, rest) = number(line.strip_prefix(b"(")?)?;
    let told = rest.starts_with(b" test was not run") || rest.starts_with(b" tests were not run");
    told.then_some(count)
}

/// The folder of `make[1]: Entering directory '/x'`, in any of make's quotes.
pub(super) fn entered(line: &[u8]) -> Option<&[u8]> {
    folder(line, b": Entering directory ")
}

/// The folder of `make[1]: Leaving directory '/x'`.
pub(super) fn left(line: &[u8]) -> Option<&[u8]> {
    folder(line, b": Leaving directory ")
}

fn folder<'a>(line: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = memmem::find(line, mark)?;
    let quoted = line.get(at + mark.len()..)?;
    let inner = quoted.get(1..quoted.len().checked_sub(1)?)?;
    (inner.first() == Some(&b'/')).then_some(inner)
}
