//! The trees of karma-mocha-reporter and karma-spec-reporter.
//!
//! Each has marks of its own, and a line with another's mark is printed by a test. Both print a suite's title together with its first result, so a line is a title only if a
//! result or a deeper title follows it at once.

use crate::edges::{is_decimal, without_note};

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Passed,
    Failed,
    Skipped,
}

/// The marks that a reporter puts in front of its results, and what they say.
pub(super) type Marks = &'static [(&'static str, Mark)];

/// Of karma-mocha-reporter; the last two where a terminal has no Unicode.
pub(super) const MOCHA: Marks = &[
    ("✔ ", Mark::Passed),
    ("✖ ", Mark::Failed),
    ("ℹ ", Mark::Skipped),
    ("√ ", Mark::Passed),
    ("× ", Mark::Failed),
];

/// Of karma-spec-reporter; `√` and `×` on Windows.
pub(super) const SPEC: Marks = &[
    ("✓ ", Mark::Passed),
    ("✗ ", Mark::Failed),
    ("- ", Mark::Skipped),
    ("√ ", Mark::Passed),
    ("× ", Mark::Failed),
];

/// Any of them: karma-mocha-reporter may be given marks of one's own.
pub(super) const ANY: Marks = &[
    ("✔ ", Mark::Passed),
    ("✓ ", Mark::Passed),
    ("√ ", Mark::Passed),
    ("✖ ", Mark::Failed),
    ("✗ ", Mark::Failed),
    ("× ", Mark::Failed),
    ("✘ ", Mark::Failed),
    ("ℹ ", Mark::Skipped),
    ("- ", Mark::Skipped),
];

/// One result in its place.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) path: Vec<String>,
    pub(super) title: String,
    pub(super) mark: Mark,
}

/// Deeper titles are not followed.
const DEEPEST: usize = 200;

/// The tree as far as it was read.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    marks: Marks,
    pub(super) specs: Vec<Spec>,
    open: Vec<String>,
    titles: Vec<(usize, String)>,
}

impl Tree {
    /// A tree whose results bear these marks.
    pub(super) fn new(marks: Marks) -> Self {
        Self {
            marks,
            specs: Vec::new(),
            open: Vec::new(),
            titles: Vec::new(),
        }
    }

    /// Whether each of `symbols` is one of its marks.
    pub(super) fn knows(&self, symbols: &[String]) -> bool {
        symbols.iter().all(|symbol| {
            let known = |mark: &(&str, Mark)| mark.0.trim_end() == symbol;
            self.marks.iter().any(known)
        })
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        if line.is_empty() {
            return;
        }
        let body = &line[blanks..];
        if blanks < 2 || !blanks.is_multiple_of(2) || blanks / 2 > DEEPEST {
            self.titles.clear();
            return;
        }
        let depth = blanks / 2;
        let text = String::from_utf8_lossy(body);
        if let Some((mark, title)) = marked(self.marks, &text) {
            self.result(depth - 1, mark, title);
            self.titles.clear();
        } else {
            self.titles.retain(|(above, _)| *above < depth);
            self.titles.push((depth, text.into_owned()));
        }
    }

    fn result(&mut self, depth: usize, mark: Mark, title: &str) {
        // The longest run of titles above, each one deeper than the one before.
        let mut from = self.titles.len();
        let mut expected = depth;
        while from > 0 && expected > 0 && self.titles[from - 1].0 == expected {
            from -= 1;
            expected -= 1;
        }
        let chain = &self.titles[from..];
        if !chain.is_empty() && expected <= self.open.len() {
            self.open.truncate(expected);
            self.open
                .extend(chain.iter().map(|(_, title)| title.clone()));
        } else if depth > self.open.len() {
            return;
        }
        self.specs.push(Spec {
            path: self.open[..depth].to_vec(),
            title: title.to_owned(),
            mark,
        });
    }

    /// Ends the tree.
    pub(super) fn close(&mut self) {
        self.open.clear();
        self.titles.clear();
    }
}

fn marked(marks: Marks, text: &str) -> Option<(Mark, &str)> {
    let (mark, title) = marks
        .iter()
        .find_map(|(mark, means)| Some((*means, text.strip_prefix(mark)?)))?;
    let title = match title.rsplit_once(" (slow: ") {
        Some((head, time)) if time.ends_with(')') => head,
        _ => title,
    };
    Some(match title.strip_suffix(" (skipped)") {
        Some(title) => (Mark::Skipped, title),
        None => (mark, title),
    })
}

/// Removes ` (12ms)`, which karma-spec-reporter appends if it is told to.
pub(super) fn without_time(title: &str) -> &str {
    without_note(title, " (", "ms)", |time| is_decimal(time)).unwrap_or(title)
}
