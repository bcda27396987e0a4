//! The tree of jasmine-spec-reporter.
//!
//! A suite's title is printed right before its first result, behind an empty line; so a line is a
//! title only if a result or a deeper title follows it at once.

use crate::edges::{is_decimal, without_note};
use crate::text::clean;

/// One result of the tree, as it was printed.
#[derive(Clone, Debug)]
struct Line {
    depth: usize,
    /// The titles right above it, with their depths.
    titles: Vec<(usize, String)>,
    title: String,
    mark: Mark,
    coloured: bool,
}

/// One result in its place.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) path: Vec<String>,
    pub(super) mark: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Passed,
    Failed,
    Pending,
}

/// The tree as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    lines: Vec<Line>,
    /// Titles that stand right above the line, with their depths.
    titles: Vec<(usize, String)>,
    blank: bool,
}

/// Deeper titles are not followed.
const DEEPEST: usize = 200;

impl Tree {
    pub(super) fn line(&mut self, line: &[u8], raw: &[u8]) {
        if line.is_empty() {
            self.blank = true;
            return;
        }
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        let body = &line[blanks..];
        let even = blanks >= 2 && blanks.is_multiple_of(2);
        let depth = blanks / 2;
        if let Some((mark, title)) = marked(body).filter(|_| even) {
            self.result(depth - 1, mark, title, raw);
        } else if let Some((blanks, mark, title)) = behind(line) {
            // A test that printed no line end.
            self.titles.clear();
            if blanks.is_multiple_of(2) {
                self.result(blanks / 2 - 1, mark, title, raw);
            }
        } else if even && self.blank && depth <= DEEPEST && !body.starts_with(b"- ") {
            // A title above this one is its parent's, if there is one.
            self.titles.retain(|(above, _)| *above < depth);
            let title = String::from_utf8_lossy(body).into_owned();
            self.titles.push((depth, title));
        } else {
            self.titles.clear();
        }
        self.blank = false;
    }

    fn result(&mut self, depth: usize, mark: Mark, title: &[u8], raw: &[u8]) {
        self.lines.push(Line {
            depth,
            titles: std::mem::take(&mut self.titles),
            title: String::from_utf8_lossy(title).into_owned(),
            mark,
            coloured: is_coloured(raw),
        });
    }

    /// The results in their places. All are in colour or none, all with a duration or none.
    pub(super) fn specs(&self) -> Vec<Spec> {
        let coloured = self.lines.iter().filter(|line| line.coloured).count();
        let coloured = coloured * 2 > self.lines.len();
        let own: Vec<&Line> = self
            .lines
            .iter()
            .filter(|l| l.coloured == coloured)
            .collect();
        let is_timed = |line: &&Line| without_duration(&line.title).len() < line.title.len();
        let shown = own
            .iter()
            .copied()
            .filter(|line| line.mark != Mark::Pending);
        let timed = shown.clone().filter(is_timed).count() * 2 > shown.count();
        let mut open: Vec<&str> = Vec::new();
        let mut specs = Vec::new();
        for line in own {
            if timed && line.mark != Mark::Pending && !is_timed(&line) {
                continue;
            }
            let first = line.titles.first().map_or(0, |(depth, _)| *depth);
            let mut chain = line.titles.iter().enumerate();
            let straight = chain.all(|(at, (depth, _))| *depth == first + at)
                && line
                    .titles
                    .last()
                    .is_some_and(|(last, _)| *last == line.depth);
            if straight && first >= 1 && first <= open.len() + 1 {
                open.truncate(first - 1);
                open.extend(line.titles.iter().map(|(_, title)| title.as_str()));
            } else if line.depth > open.len() || line.depth == 0 {
                continue;
            }
            open.truncate(line.depth);
            let title = if timed {
                without_duration(&line.title)
            } else {
                &line.title
            };
            let path = open.iter().copied().chain([title]);
            specs.push(Spec {
                path: path.map(str::to_owned).collect(),
                mark: line.mark,
            });
        }
        specs
    }
}

/// The reporter colours the mark.
fn is_coloured(raw: &[u8]) -> bool {
    memchr::memchr(0x1b, raw).is_some_and(|at| clean(&raw[..at]).iter().all(|byte| *byte == b' '))
        || memchr::memmem::find(raw, b"  \x1b[").is_some()
}

fn marked(body: &[u8]) -> Option<(Mark, &[u8])> {
    const MARKS: [(&str, Mark); 5] = [
        ("✓ ", Mark::Passed),
        ("✗ ", Mark::Failed),
        ("√ ", Mark::Passed),
        ("× ", Mark::Failed),
        ("* ", Mark::Pending),
    ];
    if !matches!(body.first()?, 0xe2 | 0xc3 | b'*') {
        return None;
    }
    let title = |(text, mark): &(&str, Mark)| Some((*mark, body.strip_prefix(text.as_bytes())?));
    MARKS.iter().find_map(title)
}

/// `some text    ✓ title`: the blanks, the mark and the title.
fn behind(line: &[u8]) -> Option<(usize, Mark, &[u8])> {
    let mut from = 0;
    while let Some(at) = memchr::memmem::find(&line[from..], b"    ") {
        let gap = from + at;
        let wide = line[gap..].iter().take_while(|byte| **byte == b' ').count();
        let end = gap + wide;
        if gap > 0
            && let Some((mark, title)) = marked(&line[end..])
            && mark != Mark::Pending
        {
            return Some((wide, mark, title));
        }
        from = end;
    }
    None
}

/// Removes ` (0.5 secs)`, ` (2 mins 1 sec)`.
fn without_duration(title: &str) -> &str {
    let is_time = |time: &str| {
        let mut words = time.split(' ');
        while let Some(number) = words.next() {
            let unit = words.next().unwrap_or_default();
            let numeric = number.starts_with(|c: char| c.is_ascii_digit()) && is_decimal(number);
            if !numeric || !matches!(unit, "sec" | "secs" | "min" | "mins" | "hour" | "hours") {
                return false;
            }
        }
        true
    };
    without_note(title, " (", ")", is_time).unwrap_or(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_one_form() {
        assert_eq!(without_duration("a (0.5 secs)"), "a");
        assert_eq!(without_duration("a (1 hour 2 mins 3 secs)"), "a");
        assert_eq!(without_duration("a (secs)"), "a (secs)");
        assert_eq!(without_duration("a (5 apples)"), "a (5 apples)");
        assert_eq!(without_duration("a ()"), "a ()");
    }
}
