//! test-unit's own lines.

use atlas_core::TestStatus;

/// The last line but one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) tests: u64,
    pub(super) failures: u64,
    pub(super) errors: u64,
    pub(super) pendings: u64,
    pub(super) omissions: u64,
}

impl Counts {
    /// `14 tests, 11 assertions, 4 failures, 1 errors, 1 pendings, 1 omissions, 1 notifications`.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        if line.len() > 300 || !line.contains(&b',') {
            return None;
        }
        let text = std::str::from_utf8(line).ok()?.trim();
        let mut counts = [0_u64; 7];
        let mut parts = text.split(", ");
        for (at, word) in [
            "tests",
            "assertions",
            "failures",
            "errors",
            "pendings",
            "omissions",
            "notifications",
        ]
        .iter()
        .enumerate()
        {
            let (count, what) = parts.next()?.split_once(' ')?;
            if what != *word {
                return None;
            }
            counts[at] = count.parse().ok()?;
        }
        parts.next().is_none().then_some(Self {
            tests: counts[0],
            failures: counts[2],
            errors: counts[3],
            pendings: counts[4],
            omissions: counts[5],
        })
    }
}

/// `Failure: test_x(TestA): …`, `Omission: why [test_x(TestA)]`.
pub(super) struct Fault<'a> {
    /// Nothing for a notification, which says nothing of the result.
    pub(super) status: Option<TestStatus>,
    text: std::borrow::Cow<'a, str>,
}

impl<'a> Fault<'a> {
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        let at = memchr::memmem::find(&line[..line.len().min(20)], b": ")?;
        let status = match &line[..at] {
            b"Failure" => Some(TestStatus::Failed),
            b"Error" => Some(TestStatus::Error),
            b"Omission" | b"Pending" => Some(TestStatus::Skipped),
            b"Notification" => None,
            _ => return None,
        };
        Some(Self {
            status,
            text: String::from_utf8_lossy(&line[at + 2..]),
        })
    }

    /// Whether the fault is of this test.
    pub(super) fn names(&self, name: &str, class: &str) -> bool {
        let behind = |text: &str| {
            text.strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('('))
                .and_then(|rest| rest.strip_prefix(class))
                .is_some_and(|rest| rest.starts_with(')'))
        };
        if behind(&self.text) {
            return true;
        }
        // In short: the reason comes first, and may be of several lines.
        let tail = self.text.trim_end().strip_suffix(")]");
        tail.and_then(|text| text.strip_suffix(class))
            .and_then(|text| text.strip_suffix('('))
            .is_some_and(|text| text.ends_with(name))
            || !self.text.contains(class)
    }

    /// Class and name of the test, as the line has them.
    pub(super) fn test(&self) -> Option<(String, String)> {
        let text = self.text.trim_end();
        if let Some((_, test)) = text
            .strip_suffix(']')
            .and_then(|text| text.rsplit_once(" ["))
            && let Some((name, class)) = test
                .strip_suffix(')')
                .and_then(|test| test.rsplit_once('('))
            && is_class(class)
        {
            return Some((class.to_owned(), name.to_owned()));
        }
        for (at, _) in text.match_indices('(').take(32) {
            let Some(close) = text[at..].find(')').map(|close| at + close) else {
                break;
            };
            let behind = &text[close + 1..];
            let class = &text[at + 1..close];
            if (behind.is_empty() || behind.starts_with(':')) && is_class(class) && at > 0 {
                return Some((class.to_owned(), text[..at].to_owned()));
            }
        }
        None
    }
}

fn is_class(class: &str) -> bool {
    class.starts_with(|c: char| c.is_uppercase()) && class.len() < 1000
}

/// The width of a line of `=` only.
pub(super) fn rule(line: &[u8]) -> Option<usize> {
    (line.len() >= 4 && line.iter().all(|b| *b == b'=')).then_some(line.len())
}

/// A line that ends with the mark of a fault, which a block follows.
pub(super) fn ends_with_mark(line: &[u8]) -> bool {
    matches!(line.last(), Some(b'F' | b'E' | b'P' | b'O' | b'N'))
}

/// What the mark at the end of a line says: `test_x:<tabs>F`.
pub(super) fn mark(line: &[u8]) -> Option<TestStatus> {
    let (mark, before) = line.split_last()?;
    if !matches!(before.last(), Some(b'\t' | b':')) {
        return None;
    }
    Some(match mark {
        b'F' => TestStatus::Failed,
        b'E' => TestStatus::Error,
        b'P' | b'O' => TestStatus::Skipped,
        _ => return None,
    })
}

/// Whether a line that [ends a test](ends_test) has the dot of a pass: `.: (0.000217)`.
pub(super) fn dotted(line: &[u8]) -> bool {
    memchr::memmem::rfind(line, b": (").is_some_and(|at| line[..at].ends_with(b"."))
}

/// Whether the line ends with `: (0.000217)`.
pub(super) fn ends_test(line: &[u8]) -> bool {
    let Some(rest) = line.strip_suffix(b")") else {
        return false;
    };
    let digits = rest
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_digit() || **b == b'.')
        .count();
    digits > 2 && rest[..rest.len() - digits].ends_with(b": (")
}

/// The name in `test_x:<tabs>.: (0.1)`, and without tabs where it is long.
pub(super) fn started(body: &str) -> Option<&str> {
    if let Some((name, _)) = body.split_once('\t') {
        return name.strip_suffix(':').filter(|name| !name.is_empty());
    }
    let head = if ends_test(body.as_bytes()) {
        let (head, _) = body.rsplit_once(": (")?;
        head.strip_suffix('.')?
    } else {
        let head = body.trim_end_matches(['F', 'E', 'P', 'O', 'N']);
        if head.len() + 1 != body.len() {
            return None;
        }
        head
    };
    // Only names that leave no room for tabs have none.
    head.strip_suffix(':').filter(|name| name.len() >= 50)
}
