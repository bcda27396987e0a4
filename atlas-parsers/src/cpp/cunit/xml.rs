//! The results that `CUnit`'s automated interface writes: one element a line.

use atlas_core::TestStatus;

#[derive(Clone, Default)]
pub(super) struct Xml {
    pub(super) open: bool,
    pub(super) ended: bool,
    suite: String,
    status: Option<TestStatus>,
    /// A test that fails is named once for each assertion.
    last: Option<(String, TestStatus)>,
}

impl Xml {
    /// Takes a line of the report: the suite, name and status of a test that is complete.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<(String, String, TestStatus)> {
        let text = line.trim_ascii();
        match text {
            b"<CUNIT_RUN_TEST_SUCCESS>" => self.status = Some(TestStatus::Passed),
            b"<CUNIT_RUN_TEST_FAILURE>" => self.status = Some(TestStatus::Failed),
            b"</CUNIT_TEST_RUN_REPORT>" => {
                self.open = false;
                self.ended = true;
            }
            _ => {
                if let Some(name) = element(text, b"<SUITE_NAME>", b"</SUITE_NAME>") {
                    self.suite = name;
                    self.last = None;
                } else if let Some(name) = element(text, b"<TEST_NAME>", b"</TEST_NAME>") {
                    let status = self.status.take()?;
                    let found = Some((name.clone(), status));
                    if self.last != found || status == TestStatus::Passed {
                        self.last = found;
                        return Some((self.suite.clone(), name, status));
                    }
                }
            }
        }
        None
    }
}

fn element(text: &[u8], open: &[u8], close: &[u8]) -> Option<String> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    let name = String::from_utf8_lossy(inner.trim_ascii());
    let plain = name
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    (!plain.is_empty()).then_some(plain)
}
