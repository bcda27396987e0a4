//! The XML that libcheck writes, which is its own: one element a line.

use atlas_core::TestStatus;

/// A `<test>` that is open.
#[derive(Clone, Default)]
pub(super) struct Xml {
    /// Between `<testsuites xmlns="…check…">` and its end.
    pub(super) open: bool,
    pub(super) ended: bool,
    pub(super) title: String,
    /// How far the report's first element stands in: 2, or what a program that laid it out anew gave.
    indent: usize,
    status: Option<TestStatus>,
    id: String,
    iteration: String,
    case: String,
}

/// A result: the suite's title, the id and the status.
pub(super) type Found = (String, String, TestStatus);

impl Xml {
    /// Whether this line opens a report.
    pub(super) fn opens(line: &[u8]) -> bool {
        line.starts_with(b"<testsuites xmlns=\"http://check.sourceforge.net/")
    }

    /// Takes a line inside the report; the end of a test gives its result.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<Found> {
        let text = line.trim_ascii();
        // Tests may print elements, too: those stand elsewhere.
        let depth = line.len() - line.trim_ascii_start().len();
        let is_at = |level: usize| depth == self.indent * level;
        if self.indent == 0 && text.starts_with(b"<datetime>") {
            self.indent = depth;
            return None;
        }
        if text == b"</testsuites>" {
            self.open = false;
            self.ended = true;
            self.indent = 0;
        } else if let Some(title) = element(text, b"<title>", b"</title>").filter(|_| is_at(2)) {
            self.title = title;
        } else if let Some(result) = text.strip_prefix(b"<test result=\"")
            && is_at(2)
        {
            self.id.clear();
            self.case.clear();
            self.iteration.clear();
            self.status = match result {
                b"success\">" => Some(TestStatus::Passed),
                b"failure\">" => Some(TestStatus::Failed),
                b"error\">" => Some(TestStatus::Error),
                _ => None,
            };
        } else if let Some(id) = element(text, b"<id>", b"</id>").filter(|_| is_at(3)) {
            self.id = id;
        } else if let Some(iteration) =
            element(text, b"<iteration>", b"</iteration>").filter(|_| is_at(3))
        {
            self.iteration = iteration;
        } else if let Some(case) =
            element(text, b"<description>", b"</description>").filter(|_| is_at(3))
        {
            self.case = case;
        } else if text == b"</test>" && is_at(2) && !self.id.is_empty() {
            let mut name = format!("{}:{}", self.case, self.id);
            if !self.iteration.is_empty() {
                name.push(':');
                name.push_str(&self.iteration);
            }
            self.id.clear();
            return Some((self.title.clone(), name, self.status.take()?));
        }
        None
    }
}

fn element(line: &[u8], open: &[u8], close: &[u8]) -> Option<String> {
    let inner = line.strip_prefix(open)?.strip_suffix(close)?;
    let text = String::from_utf8_lossy(inner);
    if !text.contains('&') {
        return Some(text.into_owned());
    }
    let plain = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'")
        .replace("&amp;", "&");
    Some(plain)
}
