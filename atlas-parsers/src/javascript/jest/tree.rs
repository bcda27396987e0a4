//! The verbose reporter's tree of one file.

use atlas_core::{Names, TestStatus};

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
#[derive(Clone, Copy, Debug)]
struct Waiting {
    depth: usize,
    /// Where in the title a test's own title stands, and its status.
    test: Option<(usize, usize, TestStatus)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    /// The titles of the open suites, joined, and where each of them ends.
    path: String,
    ends: Vec<usize>,
    waiting: Option<Waiting>,
    /// The whole title of the line that waits, in case it is a suite.
    title: String,
    /// The id of the last result.
    id: String,
    /// The ids of the results, each once, and by their numbers what was reported and how often.
    ids: Names,
    results: Vec<(TestStatus, u32)>,
    /// All reports.
    pub(super) counts: Counts,
}

/// How many results of each kind were named.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
}

impl Counts {
    pub(super) fn count(&mut self, status: TestStatus) {
        *match status {
            TestStatus::Skipped => &mut self.skipped,
            TestStatus::Passed => &mut self.passed,
            _ => &mut self.failed,
        } += 1;
    }
}

const BETWEEN: &str = " > ";

impl Tree {
    pub(super) fn line(&mut self, text: &str) -> Entry {
        let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
        if blanks < 2 {
            return Entry::Foreign;
        }
        let room = self.ends.len() + usize::from(self.waiting.is_some());
        // A title may begin with blanks itself: never deeper than one level below the last line.
        let depth = (blanks / 2 - 1).min(room);
        let title = &text[2 * (depth + 1)..];
        self.settle(depth);
        if depth > self.ends.len() {
            return Entry::Foreign;
        }
        self.close(depth);
        let read = test(title).map(|(name, status)| {
            // The test's title is the end of the line, but for its time.
            let start = title.len() - name.0;
            (start, start + name.1, status)
        });
        self.title.clear();
        self.title.push_str(title);
        self.waiting = Some(Waiting { depth, test: read });
        if read.is_some() {
            Entry::Test
        } else {
            Entry::Suite
        }
    }

    /// Closes the suites from this depth on.
    fn close(&mut self, depth: usize) {
        self.ends.truncate(depth);
        self.path.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Decides what the last line was, now that the next one's depth is known.
    fn settle(&mut self, next: usize) {
        let Some(waiting) = self.waiting.take() else {
            return;
        };
        self.close(waiting.depth);
        match waiting.test {
            Some((start, end, status)) if next <= waiting.depth => {
                self.id.clear();
                if !self.path.is_empty() {
                    self.id.push_str(&self.path);
                    self.id.push_str(BETWEEN);
                }
                self.id
                    .push_str(self.title.get(start..end).unwrap_or_default());
                self.counts.count(status);
                match self.ids.add(&self.id) {
                    (_, true) => self.results.push((status, 1)),
                    (at, false) => {
                        let (known, seen) = &mut self.results[at];
                        *known = known.worst(status);
                        *seen = seen.saturating_add(1);
                    }
                }
            }
            _ => {
                if !self.path.is_empty() {
                    self.path.push_str(BETWEEN);
                }
                self.path.push_str(&self.title);
                self.ends.push(self.path.len());
            }
        }
    }

    /// Ends the tree. Its results are there until it is [emptied](Self::empty).
    pub(super) fn end(&mut self) {
        self.settle(0);
        self.close(0);
    }

    /// Each id with its worst status and how often it was reported.
    pub(super) fn results(&self) -> impl Iterator<Item = (&str, TestStatus, u32)> {
        let results = self.ids.iter().zip(&self.results);
        results.map(|(id, (status, seen))| (id, *status, *seen))
    }

    pub(super) fn empty(&mut self) {
        self.ids.clear();
        self.results.clear();
    }
}

/// Reads `✓ title (5 ms)`: how far from the end the title begins, how long it is, and the status.
fn test(text: &str) -> Option<((usize, usize), TestStatus)> {
    let blank = memchr::memchr(b' ', text.as_bytes())?;
    let (mark, title) = (&text[..blank], &text[blank + 1..]);
    let (title, name, status) = match mark {
        "✓" | "√" => (title, without_time(title), TestStatus::Passed),
        "✕" | "×" => (title, without_time(title), TestStatus::Failed),
        "○" => {
            let title = title.strip_prefix("skipped ")?;
            // Jest before 23 counts instead of naming: `○ skipped 3 tests`.
            let mut words = title.split(' ');
            let number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
            if number && matches!(words.next(), Some("test" | "tests")) && words.next().is_none() {
                return None;
            }
            (title, title, TestStatus::Skipped)
        }
        "✎" => {
            let title = title.strip_prefix("todo ")?;
            (title, title, TestStatus::Skipped)
        }
        _ => return None,
    };
    Some(((title.len(), name.len()), status))
}

/// Drops ` (5 ms)`, `(28ms)`, ` (1.2 s)` from the end.
fn without_time(title: &str) -> &str {
    if !title.ends_with("s)") {
        return title;
    }
    // A time has no parenthesis in it, so it begins at the last one.
    let Some((head, time)) = memchr::memrchr(b'(', title.as_bytes())
        .and_then(|at| Some((title[..at].strip_suffix(' ')?, &title[at + 1..])))
    else {
        return title;
    };
    let Some(time) = time.strip_suffix("s)") else {
        return title;
    };
    let mut number = time.strip_suffix('m').unwrap_or(time);
    number = number.strip_suffix(' ').unwrap_or(number);
    if !number.ends_with(|last: char| last.is_ascii_digit()) {
        number = number.trim_end();
    }
    let number = number.as_bytes();
    let numeric = number.first().is_some_and(u8::is_ascii_digit)
        && number.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    if numeric { head } else { title }
}
