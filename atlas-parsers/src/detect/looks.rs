//! What the lines with a mark look like, so that a runner is not asked about the others: of a log of ten
//! megabytes nearly every line is asked about by one runner or none instead of fifty.
//!
//! A test asks every runner about every line of every corpus and holds the answers to this table.

use crate::registry::BUILTIN;
use crate::runner::Look;
use aho_corasick::{AhoCorasick, MatchKind};
use std::ops::Range;
use std::sync::LazyLock;

/// Which looks a line may have: one bit for each.
struct Tables {
    /// By the first byte, the second, the first byte behind blanks, the last.
    first: [u128; 256],
    second: [u128; 256],
    inner: [u128; 256],
    last: [u128; 256],
    /// The looks without a text.
    bare: u128,
    /// Of each look, the runner's place in the table of runners.
    runners: Vec<usize>,
    /// The texts of all looks, and which looks have each of them.
    texts: Option<AhoCorasick>,
    with_text: Vec<u128>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut texts: Vec<&str> = Vec::new();
    let mut tables = Tables {
        first: [0; 256],
        second: [0; 256],
        inner: [0; 256],
        last: [0; 256],
        bare: 0,
        runners: Vec::new(),
        texts: None,
        with_text: Vec::new(),
    };
    for (number, runner) in BUILTIN.iter().enumerate() {
        let looks = match runner.looks() {
            [] => &[Look(["*", "*"], "*", "*", "")],
            own => own,
        };
        for Look([first, second], inner, last, text) in looks {
            let bit = 1_u128 << tables.runners.len();
            tables.runners.push(number);
            set(&mut tables.first, first, bit);
            set(&mut tables.second, second, bit);
            set(&mut tables.inner, inner, bit);
            set(&mut tables.last, last, bit);
            if text.is_empty() {
                tables.bare |= bit;
            } else if let Some(at) = texts.iter().position(|known| known == text) {
                tables.with_text[at] |= bit;
            } else {
                texts.push(text);
                tables.with_text.push(bit);
            }
        }
    }
    tables.texts = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(texts)
        .ok();
    tables
});

fn set(table: &mut [u128; 256], bytes: &str, bit: u128) {
    if bytes == "*" {
        for looks in table.iter_mut() {
            *looks |= bit;
        }
        return;
    }
    let bytes = bytes.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let range = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (b'~', ..) => 128..=255,
            (from, Some(b'-'), Some(to)) => {
                at += 2;
                *from..=*to
            }
            (byte, ..) => *byte..=*byte,
        };
        for byte in range {
            table[usize::from(byte)] |= bit;
        }
        at += 1;
    }
}

/// Which looks the lines may have by the texts that they hold.
pub(super) struct Texts<'a> {
    lines: &'a [u8],
    /// Where the next text begins, and the looks that have it.
    next: usize,
    its: u128,
}

impl<'a> Texts<'a> {
    pub(super) fn of(lines: &'a [u8]) -> Self {
        let mut texts = Self {
            lines,
            next: 0,
            its: 0,
        };
        texts.look(0);
        texts
    }

    fn look(&mut self, from: usize) {
        let tables = &*TABLES;
        (self.next, self.its) = match &tables.texts {
            Some(texts) => texts
                .find(&self.lines[from..])
                .map_or((self.lines.len(), 0), |text| {
                    let its = tables.with_text[text.pattern().as_usize()];
                    (from + text.start(), its)
                }),
            None => (self.lines.len(), 0),
        };
    }

    /// The looks that a line at this place, not before the last that was asked about, may have by its texts.
    #[inline]
    fn looks_at(&mut self, line: &Range<usize>) -> u128 {
        let mut looks = TABLES.bare;
        if self.next < line.start {
            self.look(line.start);
        }
        while self.next < line.end {
            looks |= self.its;
            self.look(self.next + 1);
        }
        looks
    }

    /// The looks that a line may have; it stands at this place, or is what cleaning left of what stands there.
    #[inline]
    pub(super) fn looks_of(&mut self, line: &[u8], at: &Range<usize>) -> Found {
        let by_text = self.looks_at(at);
        let tables = &*TABLES;
        Found(match line {
            [first, rest @ ..] => {
                let begins = if first.is_ascii_whitespace() {
                    let inner = rest.iter().find(|byte| !byte.is_ascii_whitespace());
                    inner.map_or(0, |inner| tables.inner[usize::from(*inner)])
                } else {
                    let second = rest.first().unwrap_or(&b'\n');
                    tables.first[usize::from(*first)] & tables.second[usize::from(*second)]
                };
                let last = rest.last().unwrap_or(first);
                begins & tables.last[usize::from(*last)] & by_text
            }
            [] => 0,
        })
    }
}

/// The looks that a line has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found(u128);

impl Found {
    /// Those of a line that stands alone.
    pub(super) fn of(line: &[u8]) -> Self {
        Texts::of(line).looks_of(line, &(0..line.len()))
    }

    #[inline]
    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The runners that may have a mark in it, by their places in the table of runners and in its order.
    #[inline]
    pub(super) fn runners(self) -> impl Iterator<Item = usize> + use<> {
        let tables = &*TABLES;
        let mut before = None;
        Bits(self.0)
            .filter_map(|bit| tables.runners.get(bit).copied())
            // One may have several looks.
            .filter(move |runner| before.replace(*runner) != Some(*runner))
    }
}

/// The runners that may have a mark in this line, by their places in the table of runners and in its order.
pub(crate) fn runners(line: &[u8]) -> impl Iterator<Item = usize> + use<> {
    Found::of(line).runners()
}

/// The places of the bits that are set.
struct Bits(u128);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

#[cfg(test)]
mod tests {
    use super::runners;
    use crate::registry::BUILTIN;
    use crate::runner::Look;
    use crate::text::clean;
    use std::path::Path;

    #[test]
    fn the_table_admits_each_line_with_a_mark() {
        let mut marks = 0;
        for log in logs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
            let mut before = Vec::new();
            for line in log.split(|byte| *byte == b'\n') {
                let line = clean(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
                if line.is_empty() {
                    continue;
                }
                let admitted: Vec<usize> = runners(&line).collect();
                assert!(admitted.is_sorted());
                for (number, runner) in BUILTIN.iter().enumerate() {
                    if let Some(mark) = runner.mark(&line, &before) {
                        let text = String::from_utf8_lossy(&line);
                        assert!(
                            admitted.contains(&number),
                            "{}: {mark:?}: {text}",
                            runner.id()
                        );
                        marks += 1;
                    }
                }
                before = line;
            }
        }
        assert!(marks > 5_000, "{marks}");
        assert!(super::TABLES.texts.is_some());
        assert!(super::TABLES.runners.len() <= 128);
        // The search gives one text for each place.
        let looks: Vec<&Look> = BUILTIN.iter().flat_map(|runner| runner.looks()).collect();
        assert!(looks.len() > 50);
        let texts = looks.iter().map(|look| look.3);
        for text in texts.clone().filter(|text| !text.is_empty()) {
            let begun = texts
                .clone()
                .find(|other| *other != text && other.starts_with(text));
            assert!(begun.is_none(), "{text}");
        }
    }

    fn logs(folder: &Path) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(logs(&path));
            } else if path
                .parent()
                .is_some_and(|folder| folder.ends_with("corpus"))
            {
                found.push(std::fs::read(&path).unwrap());
            }
        }
        found
    }
}
