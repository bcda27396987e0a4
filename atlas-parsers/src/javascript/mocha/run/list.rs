//! The list reporter: `    title:` when a test begins, and its result over it or behind it.

use super::super::line::{self, Kind, ResultLine};
use super::super::tree::Found;
use super::Run;

impl Run {
    /// Whether the list reporter may have printed this run: before the first test that passes, a failure may be one
    /// that the first test prints.
    pub(super) fn may_be_list(&self) -> bool {
        self.list || !self.proper || self.passes == [0; 4]
    }

    /// Keeps what may be the beginning of a line of the list reporter.
    pub(super) fn begin(&mut self, line: &[u8]) {
        const LONGEST: usize = 8 << 10;
        const MOST: usize = 24;
        if line.starts_with(b"    ") && line.len() <= LONGEST && line.contains(&b':') {
            if self.begun.len() == MOST {
                self.begun.remove(MOST / 2);
            }
            self.begun.push(line[4..].to_vec());
        }
    }

    /// `    title: \r  ✔ title: 0ms`: the title, if it is the one that was announced, and which of
    /// the lines that may be beginnings does so.
    pub(super) fn listed(
        &mut self,
        result: &ResultLine<'_>,
        line: &[u8],
        raw: &[u8],
    ) -> Option<(Vec<u8>, usize)> {
        if result.indent != 2 && !(result.behind && line.starts_with(b"    ")) {
            return None;
        }
        let title = match result.kind {
            Kind::Pass(_) => line::listed(result.title)?,
            _ => result.title,
        };
        let announces = |text: &[u8]| {
            text.strip_prefix(title)
                .is_some_and(|rest| rest.starts_with(b": "))
        };
        if let Some(at) = self.begun.iter().position(|begun| announces(begun)) {
            return Some((title.to_vec(), at));
        }
        // In one line with the result, which overwrote it.
        let shown = anstream::adapter::strip_bytes(raw).into_vec();
        let same = shown.strip_prefix(b"    ").is_some_and(announces);
        same.then(|| (title.to_vec(), self.begun.len()))
    }

    /// `    title:   - title`, of a test that skipped itself in the list reporter.
    pub(super) fn skipped_itself(&mut self, line: &[u8]) -> bool {
        const BETWEEN: &[u8] = b":   - ";
        let Some(body) = line.strip_prefix(b"    ") else {
            return false;
        };
        let Some(length) = body.len().checked_sub(BETWEEN.len()).map(|both| both / 2) else {
            return false;
        };
        let (title, rest) = body.split_at(length);
        if rest.strip_prefix(BETWEEN) != Some(title) {
            return false;
        }
        let candidates = std::mem::take(&mut self.candidates);
        let found = Found::new(Kind::Pending, 0, title, false, true, candidates);
        self.found.push(found);
        true
    }
}
