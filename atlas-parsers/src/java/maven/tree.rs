//! The JUnit 5 tree reporter of Surefire: a class, and below it each of its tests.
//!
//! ```text
//! [INFO] +--com.example.OuterTest - 0.03 s
//! [INFO] |  '-- [OK] adds - 0.01 s
//! [INFO] |  '--.--Nested - 0.01 s
//! [INFO] |     '-- [XX] breaks - 0.01 s
//! ```

use crate::edges::{begin_of, behind_any, is_decimal, without_note};
use atlas_core::TestStatus;

/// The trees of one module's run.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    classes: Vec<String>,
    found: Vec<(String, TestStatus)>,
}

const STATUSES: [(&str, TestStatus); 6] = [
    (" [OK] ", TestStatus::Passed),
    (" [XX] ", TestStatus::Failed),
    (" [??] ", TestStatus::Skipped),
    ("✔ ", TestStatus::Passed),
    ("✘ ", TestStatus::Failed),
    ("↷ ", TestStatus::Skipped),
];

impl Tree {
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.classes.clear();
        self.found.clear();
    }

    /// A line with a level. Returns whether it was the reporter's.
    pub(super) fn line(&mut self, text: &[u8]) -> bool {
        if !matches!(text.first(), Some(b'+' | b'|' | b'\'' | 0xe2)) {
            return false;
        }
        let Ok(text) = std::str::from_utf8(text) else {
            return false;
        };
        let mut depth = 0;
        let mut rest = text;
        loop {
            if let Some(inner) = behind_any(rest, &["|  ", "│  ", "   "]) {
                depth += 1;
                rest = inner;
                continue;
            }
            break;
        }
        let Some(body) = behind_any(rest, &["+--", "'--", "├─ ", "└─ "]) else {
            return false;
        };
        let Some(body) = without_time(body) else {
            return false;
        };
        if let Some((name, status)) = begin_of(body, &STATUSES) {
            if depth == 0 || self.classes.is_empty() || name.is_empty() {
                return false;
            }
            let path = self.classes.join(" > ");
            let name = if status == TestStatus::Skipped {
                without_reason(name)
            } else {
                name
            };
            // What failed before any test has no name.
            let id = if name == "null" {
                path
            } else {
                format!("{path}.{name}")
            };
            self.found.push((id, status));
            return true;
        }
        let class = behind_any(body, &[".--", ",--", "┬─ ", "---", "── "]).unwrap_or(body);
        if class.is_empty() || depth > self.classes.len() || depth >= Self::MAX_DEPTH {
            return false;
        }
        self.classes.truncate(depth);
        self.classes.push(class.to_owned());
        true
    }

    const MAX_DEPTH: usize = 64;

    pub(super) fn finish(self) -> Vec<(String, TestStatus)> {
        self.found
    }
}

/// The name in front of ` - 0.03 s` or ` - 0.03s`.
fn without_time(text: &str) -> Option<&str> {
    without_note(text, " - ", "s", |time| {
        is_decimal(time.trim_end().trim_end_matches(['s', ' ']))
    })
}

/// A skipped test's name without the reason behind it: `name (reason)`.
fn without_reason(name: &str) -> &str {
    if !name.ends_with(')') {
        return name;
    }
    let mut depth = 0_usize;
    for (at, byte) in name.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' if depth > 1 => depth -= 1,
            b'(' => return name[..at].strip_suffix(' ').unwrap_or(name),
            _ => {}
        }
    }
    name
}
