//! What a run came to, in the words of the console and the compact reporter.

use crate::cpp::text::number;
use crate::edges::behind_any;
use atlas_core::Totals;

/// The end of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    pub(super) totals: Totals,
    /// The counts of failing and passing tests are both told.
    pub(super) exact: bool,
    pub(super) nothing: bool,
}

impl End {
    /// Reads the line that tells of test cases.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        match line.first()? {
            b'A' => {
                let rest = line.strip_prefix(b"All tests passed (")?;
                let (_, rest) = number(rest)?;
                let rest = rest.strip_prefix(b" assertion")?;
                let rest = rest.strip_prefix(b"s").unwrap_or(rest);
                let (cases, rest) = number(rest.strip_prefix(b" in ")?)?;
                matches!(rest, b" test case)" | b" test cases)").then(|| Self::exact(cases, 0))
            }
            b't' => Self::row(line.strip_prefix(b"test cases: ")?),
            b'N' => (line == b"No tests ran" || line == b"No tests ran.").then_some(Self {
                nothing: true,
                ..Self::default()
            }),
            _ => None,
        }
    }

    fn exact(passed: u64, failed: u64) -> Self {
        Self {
            totals: Totals {
                total: Some(passed.saturating_add(failed)),
                passed: Some(passed),
                failed: Some(failed),
                ..Totals::default()
            },
            exact: true,
            nothing: false,
        }
    }

    /// `26 | 13 passed | 11 failed | 2 failed as expected`
    fn row(text: &[u8]) -> Option<Self> {
        let mut columns = text.split(|byte| *byte == b'|');
        let (total, rest) = number(columns.next()?.trim_ascii())?;
        if !rest.is_empty() {
            return None;
        }
        let mut end = Self::exact(0, 0);
        let totals = &mut end.totals;
        totals.total = Some(total);
        for column in columns {
            let (count, what) = number(column.trim_ascii())?;
            let field = match what {
                b" passed" => &mut totals.passed,
                b" failed" => &mut totals.failed,
                b" skipped" => &mut totals.skipped,
                b" failed as expected" => &mut totals.xfailed,
                _ => return None,
            };
            *field = Some(count);
        }
        Some(end)
    }

    /// The compact reporter's last line, also behind output without a newline:
    /// `Failed 11 test cases, failed 11 assertions.`
    pub(super) fn compact(line: &[u8]) -> Option<Self> {
        if line.last() != Some(&b'.') {
            return None;
        }
        if line.ends_with(b"No tests ran.") {
            return Some(Self {
                nothing: true,
                ..Self::default()
            });
        }
        if !(line.ends_with(b" assertion.")
            || line.ends_with(b" assertions.")
            || line.ends_with(b" (no assertions)."))
        {
            return None;
        }
        let from = line.len().saturating_sub(160);
        let text = &line[from..];
        let failed = memchr::memmem::rfind(text, b"Failed ");
        let passed = memchr::memmem::rfind(text, b"Passed ");
        let at = failed.max(passed)?;
        let rest = &text[at + b"Failed ".len()..];
        let all = |text| count_of(text, b" test case");
        let (cases, rest) = all(rest)?;
        let end = if failed > passed {
            let (_, rest) = count_of(rest.strip_prefix(b", failed ")?, b" assertion")?;
            (rest == b".").then_some(Self {
                totals: Totals {
                    failed: Some(cases),
                    ..Totals::default()
                },
                ..Self::default()
            })?
        } else {
            let rest = match rest.strip_prefix(b" with ") {
                Some(rest) => count_of(rest, b" assertion")?.1,
                None => rest.strip_prefix(b" (no assertions)")?,
            };
            (rest == b".").then(|| Self::exact(cases, 0))?
        };
        Some(end)
    }
}

/// `both 2 test cases`, `all 3 test cases`, `1 test case`.
fn count_of<'a>(text: &'a [u8], what: &[u8]) -> Option<(u64, &'a [u8])> {
    let text = behind_any(text, &[b"all ", b"both "]).unwrap_or(text);
    let (count, rest) = number(text)?;
    let rest = rest.strip_prefix(what)?;
    Some((count, rest.strip_prefix(b"s").unwrap_or(rest)))
}
