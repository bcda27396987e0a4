//! Pest, and `artisan test`: the printer of nunomaduro/collision.

use super::title::{is_class, number};
use atlas_core::{TestStatus, Totals};

#[derive(Clone, Debug)]
pub(super) struct PestTest {
    pub(super) class: String,
    pub(super) title: String,
    pub(super) status: TestStatus,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pest {
    class: Option<String>,
    pub(super) tests: Vec<PestTest>,
    pub(super) totals: Option<Totals>,
    /// The details of failures follow; they are no results.
    details: bool,
}

impl Pest {
    pub(super) fn seen(&self) -> bool {
        self.class.is_some() || !self.tests.is_empty()
    }

    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        let Some(text) = line.strip_prefix(b"  ") else {
            if !line.is_empty() {
                self.class = None;
            }
            return false;
        };
        if let Some(class) = heading(text) {
            if !self.details {
                self.class = Some(class.to_owned());
            }
            return true;
        }
        if text.starts_with("───".as_bytes()) || text.starts_with(b"---") {
            self.details = true;
            self.class = None;
            return false;
        }
        if self.totals.is_none()
            && self.seen_any()
            && let Some(rest) = text.strip_prefix(b"Tests:")
            && let Some(totals) = totals(rest)
        {
            self.totals = Some(totals);
            self.class = None;
            return true;
        }
        let Some(class) = &self.class else {
            return false;
        };
        let Some((status, title)) = result(text) else {
            return false;
        };
        self.tests.push(PestTest {
            class: class.clone(),
            title,
            status,
        });
        true
    }

    fn seen_any(&self) -> bool {
        self.details || !self.tests.is_empty()
    }
}

/// ` PASS  Tests\Unit\ExampleTest`, behind the margin; todos are counted behind the class.
pub(super) fn heading(text: &[u8]) -> Option<&str> {
    let rest = text.strip_prefix(b" ")?;
    let word = rest.get(..4)?;
    if !matches!(
        word,
        b"PASS" | b"FAIL" | b"WARN" | b"TODO" | b"RUNS" | b"NOTI" | b"DEPR" | b"RISK" | b"INCO"
    ) {
        return None;
    }
    let class = std::str::from_utf8(rest.get(4..)?.strip_prefix(b"  ")?).ok()?;
    let class = class.trim_end();
    let class = match class.split_once(" - ") {
        Some((class, todos)) if todos.ends_with("todo") || todos.ends_with("todos") => class,
        _ => class,
    };
    is_class(class).then_some(class)
}

/// `✓ it works   0.01s`.
fn result(text: &[u8]) -> Option<(TestStatus, String)> {
    let space = memchr::memchr(b' ', text.get(..4.min(text.len()))?)?;
    let status = match &text[..space] {
        // ✓, and ! for what is risky, deprecated or warned of and yet passed.
        b"\xe2\x9c\x93" | b"!" => TestStatus::Passed,
        // ⨯ and ✕
        b"\xe2\xa8\xaf" | b"\xe2\x9c\x95" => TestStatus::Failed,
        // … incomplete, ↓ todo
        b"-" | b"\xe2\x80\xa6" | b"\xe2\x86\x93" => TestStatus::Skipped,
        _ => return None,
    };
    let title = String::from_utf8_lossy(&text[space + 1..]);
    let name = without_time(&title).trim();
    (!name.is_empty()).then(|| (status, name.to_owned()))
}

/// The time stands at the right margin, two blanks before the line's end or more behind the title.
fn without_time(title: &str) -> &str {
    let head = title.trim_end();
    let Some((name, time)) = head.rsplit_once(' ') else {
        return title;
    };
    let is_time = time.strip_suffix('s').is_some_and(|time| {
        time.split_once('.').is_some_and(|(whole, part)| {
            part.len() == 2
                && !whole.is_empty()
                && (whole.bytes().chain(part.bytes())).all(|b| b.is_ascii_digit() || b == b',')
        })
    });
    if is_time && (name.ends_with(' ') || title.len() > head.len()) {
        name
    } else {
        title
    }
}

/// `    1 failed, 2 skipped, 1 passed (3 assertions)`.
pub(super) fn totals(text: &[u8]) -> Option<Totals> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let text = text
        .rsplit_once(" (")
        .filter(|(_, tail)| tail.ends_with("assertions)"))
        .map_or(text, |(head, _)| head);
    let mut totals = Totals::default();
    let (mut total, mut passed, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64, 0_u64);
    for part in text.split(", ") {
        let (count, what) = part.split_once(' ')?;
        let count = number(count.as_bytes())?;
        let field = match what {
            "passed" | "risky" | "deprecated" | "warning" | "warnings" | "notice" | "notices" => {
                &mut passed
            }
            "failed" => &mut failed,
            "skipped" | "incomplete" | "todo" | "todos" => &mut skipped,
            // Not begun, as a run that stops at the first failure leaves them.
            "pending" => continue,
            _ => return None,
        };
        *field = field.saturating_add(count);
        total = total.saturating_add(count);
    }
    totals.total = Some(total);
    totals.passed = Some(passed);
    totals.failed = Some(failed);
    totals.skipped = Some(skipped);
    Some(totals)
}
