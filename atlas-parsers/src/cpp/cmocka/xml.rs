//! The XML that cmocka prints: names and messages as they are, not escaped, one element a line.

use crate::cpp::build::number;
use atlas_core::{TestStatus, Totals};
use memchr::memmem;

#[derive(Clone, Default)]
pub(super) struct Xml {
    pub(super) group: Option<String>,
    pub(super) ended: bool,
    case: Option<(String, TestStatus)>,
    /// Inside a message of several lines.
    message: bool,
}

impl Xml {
    /// `  <testsuite name="group" time="0.000" tests="10" failures="4" errors="2" skipped="1" >`
    pub(super) fn suite(line: &[u8]) -> Option<(String, Totals)> {
        let rest = line.strip_prefix(b"  <testsuite name=\"")?;
        let end = memmem::rfind(rest, b"\" time=\"")?;
        let (name, rest) = rest.split_at_checked(end)?;
        let count = |field: &[u8]| {
            let at = memmem::find(rest, field)?;
            let (count, rest) = number(rest.get(at + field.len()..)?)?;
            rest.starts_with(b"\"").then_some(count)
        };
        let total = count(b" tests=\"")?;
        let failed = count(b" failures=\"")?;
        let failed = failed.saturating_add(count(b" errors=\"")?);
        let skipped = count(b" skipped=\"")?;
        rest.ends_with(b"\" >").then(|| {
            let totals = Totals {
                total: Some(total),
                failed: Some(failed),
                skipped: Some(skipped),
                ..Totals::default()
            };
            (String::from_utf8_lossy(name).into_owned(), totals)
        })
    }

    /// Takes a line inside a suite; the end of a case gives its name and status.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<(String, TestStatus)> {
        if self.message {
            self.message = !line.ends_with(b"]]></failure>");
            return None;
        }
        let text = line.trim_ascii_start();
        if let Some(rest) = text.strip_prefix(b"<testcase name=\"") {
            let name = rest.get(..memmem::rfind(rest, b"\" time=\"")?)?;
            let name = String::from_utf8_lossy(name).into_owned();
            self.case = Some((name, TestStatus::Passed));
        } else if text.starts_with(b"<failure") {
            self.message =
                text.starts_with(b"<failure><![CDATA[") && !text.ends_with(b"]]></failure>");
            if let Some(case) = &mut self.case {
                case.1 = TestStatus::Failed;
            }
        } else if text.starts_with(b"<skipped") {
            if let Some(case) = &mut self.case {
                case.1 = TestStatus::Skipped;
            }
        } else if text.starts_with(b"</testcase>") {
            return self.case.take();
        } else if text.starts_with(b"</testsuite>") {
            self.group = None;
            self.ended = true;
        }
        None
    }
}
