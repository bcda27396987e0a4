//! The verbose reporter's tree of one file.

use atlas_core::TestStatus;

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Suite,
    Test,
    /// No line of a tree.
    Foreign,
}

/// A line waits for the next one: only that tells a suite whose title begins with a mark from a
/// test.
#[derive(Debug)]
struct Waiting {
    depth: usize,
    /// The whole title, in case this is a suite.
    title: String,
    test: Option<(String, TestStatus)>,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    suites: Vec<String>,
    waiting: Option<Waiting>,
    results: Vec<(String, TestStatus)>,
}

impl Tree {
    pub(super) fn line(&mut self, line: &[u8]) -> Entry {
        let text = String::from_utf8_lossy(line);
        let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
        if blanks < 2 {
            return Entry::Foreign;
        }
        let room = self.suites.len() + usize::from(self.waiting.is_some());
        // A title may begin with blanks itself: never deeper than one level below the last line.
        let depth = (blanks / 2 - 1).min(room);
        let title = &text[2 * (depth + 1)..];
        let entry = test(title);
        self.settle(depth);
        if depth > self.suites.len() {
            return Entry::Foreign;
        }
        self.suites.truncate(depth);
        let kind = if entry.is_some() {
            Entry::Test
        } else {
            Entry::Suite
        };
        self.waiting = Some(Waiting {
            depth,
            title: title.to_owned(),
            test: entry,
        });
        kind
    }

    /// Decides what the last line was, now that the next one's depth is known.
    fn settle(&mut self, next: usize) {
        let Some(waiting) = self.waiting.take() else {
            return;
        };
        self.suites.truncate(waiting.depth);
        match waiting.test {
            Some((name, status)) if next <= waiting.depth => {
                let mut id = self.suites.join(" > ");
                if !id.is_empty() {
                    id.push_str(" > ");
                }
                id.push_str(&name);
                self.results.push((id, status));
            }
            _ => self.suites.push(waiting.title),
        }
    }

    /// Ends the tree.
    pub(super) fn finish(&mut self) -> Vec<(String, TestStatus)> {
        self.settle(0);
        self.suites.clear();
        std::mem::take(&mut self.results)
    }
}

/// Reads `✓ title (5 ms)`.
fn test(text: &str) -> Option<(String, TestStatus)> {
    let (mark, title) = text.split_once(' ')?;
    let (title, status) = match mark {
        "✓" | "√" => (without_time(title), TestStatus::Passed),
        "✕" | "×" => (without_time(title), TestStatus::Failed),
        "○" => {
            let title = title.strip_prefix("skipped ")?;
            // Jest before 23 counts instead of naming: `○ skipped 3 tests`.
            let mut words = title.split(' ');
            let number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
            if number && matches!(words.next(), Some("test" | "tests")) && words.next().is_none() {
                return None;
            }
            (title, TestStatus::Skipped)
        }
        "✎" => (title.strip_prefix("todo ")?, TestStatus::Skipped),
        _ => return None,
    };
    Some((title.to_owned(), status))
}

/// Drops ` (5 ms)`, `(28ms)`, ` (1.2 s)` from the end.
fn without_time(title: &str) -> &str {
    let Some((head, tail)) = title.rsplit_once(" (") else {
        return title;
    };
    let Some(time) = tail.strip_suffix("s)") else {
        return title;
    };
    let number = time.strip_suffix('m').unwrap_or(time).trim_end();
    let numeric = number.starts_with(|c: char| c.is_ascii_digit())
        && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if numeric { head } else { title }
}
