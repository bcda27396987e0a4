//! Where the lines of a hunk are in a file.

use super::scan::{Hunk, Line, Scan, lines};

/// How much two lines may differ and still count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// Not at all.
    Same,
    /// In their ends: CR LF and LF.
    Ends,
    /// A tab for spaces, too.
    Tabs,
    /// In all white space.
    Space,
}

impl Likeness {
    fn alike(self, one: Line<'_>, other: Line<'_>) -> bool {
        match self {
            Self::Same => one.text == other.text && one.cr == other.cr,
            Self::Ends => one.text == other.text,
            Self::Tabs => same_indentation(one.text, other.text),
            Self::Space => one.text == other.text || visible(one.text).eq(visible(other.text)),
        }
    }
}

/// Whether the lines differ only in how their indentation is written, with a tab worth 2, 4 or 8
/// columns.
fn same_indentation(one: &[u8], other: &[u8]) -> bool {
    let split = |text: &[u8]| {
        let end = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
        end.unwrap_or(text.len())
    };
    let (one_end, other_end) = (split(one), split(other));
    let width = |indentation: &[u8], tab: usize| {
        indentation.iter().fold(0, |width, byte| match byte {
            b'\t' => (width / tab + 1) * tab,
            _ => width + 1,
        })
    };
    one[one_end..] == other[other_end..]
        && [2, 4, 8]
            .iter()
            .any(|tab| width(&one[..one_end], *tab) == width(&other[..other_end], *tab))
}

fn visible(text: &[u8]) -> impl Iterator<Item = &u8> {
    text.iter().filter(|byte| !byte.is_ascii_whitespace())
}

/// One version of a hunk's lines, with their places in the patch.
pub(super) struct Side<'a> {
    pub(super) lines: Vec<(usize, Line<'a>)>,
}

impl<'a> Side<'a> {
    /// The lines that the file must have, or those that it will have.
    pub(super) fn of(scan: &Scan<'a>, hunk: &Hunk, old: bool) -> Self {
        let other = if old { b'+' } else { b'-' };
        let mut found = Vec::new();
        for at in hunk.body.clone() {
            let line = scan.lines[at];
            let text = match line.text.first() {
                Some(b'\\') => continue,
                Some(first) if *first == other => continue,
                Some(b' ' | b'+' | b'-') => &line.text[1..],
                _ => line.text,
            };
            found.push((at, Line { text, ..line }));
        }
        Self { lines: found }
    }
}

/// A file's lines.
pub(super) struct Content<'a> {
    pub(super) lines: Vec<Line<'a>>,
}

impl<'a> Content<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self {
            lines: lines(bytes),
        }
    }

    /// The places, from 0, at which all lines of the hunk stand one after another.
    pub(super) fn places(&self, side: &Side<'_>, likeness: Likeness) -> Vec<usize> {
        let length = side.lines.len();
        if length == 0 || length > self.lines.len() {
            return Vec::new();
        }
        (0..=self.lines.len() - length)
            .filter(|start| {
                side.lines
                    .iter()
                    .zip(&self.lines[*start..])
                    .all(|((_, one), other)| likeness.alike(*one, *other))
            })
            .collect()
    }

    /// The place where most lines of the hunk stand; of several the nearest to `near`.
    pub(super) fn best(&self, side: &Side<'_>, near: usize) -> Option<usize> {
        // A hunk and a file that are both long would take too long; then the header is believed.
        const MOST_COMPARISONS: usize = 20_000_000;
        if side.lines.is_empty() || self.lines.is_empty() {
            return None;
        }
        let last = self.lines.len() - 1;
        if side.lines.len().saturating_mul(self.lines.len()) > MOST_COMPARISONS {
            return Some(near.min(last));
        }
        let score = |start: usize| {
            side.lines
                .iter()
                .zip(&self.lines[start..])
                .filter(|((_, one), other)| !one.is_blank() && Likeness::Ends.alike(*one, **other))
                .count()
        };
        (0..=last)
            .map(|start| (score(start), std::cmp::Reverse(start.abs_diff(near)), start))
            .max()
            .map(|(_, _, start)| start)
    }
}
