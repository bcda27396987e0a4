//! What a log's beginning says of its form.

use super::frame::{Kind, has_level, untagged};
use crate::detect::looks::runners;
use crate::registry::BUILTIN;
use crate::text::clean;

/// What is done to a log before it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// What is taken off the front of the lines that have it.
    pub(super) kind: Option<Kind>,
    /// The cursor moves between lines, which were written on a terminal.
    pub(super) is_drawn: bool,
    /// Lines of runners stand in it with something in front and without, so that a test may have printed either.
    pub(super) is_mixed: bool,
}

impl Form {
    /// Of the beginning of a log, or of a whole one.
    pub(super) fn of(head: &[u8], is_whole: bool) -> Self {
        let lines = match memchr::memrchr(b'\n', head) {
            Some(end) if !is_whole => &head[..end],
            _ => head,
        };
        let (kind, is_mixed) = framed(lines);
        Self {
            kind,
            is_drawn: is_drawn(lines),
            is_mixed,
        }
    }
}

/// Fewer such lines prove nothing.
const FEWEST: usize = 3;

/// Whether somebody else than the tests puts something in front of the lines, and who.
///
/// The lines of the runner decide: they have it too, and none of them is without it, unless the log begins and
/// ends with such lines: then what stands between them without it was put there. As long as there are
/// none, only a log of which nearly every line has it from the first on is such a one, unless the lines read
/// as an application's own, with a level behind the time and nothing like a runner's.
///
/// Also returns whether lines of runners stand there with what only a CI system prints and without, and so no answer.
fn framed(head: &[u8]) -> (Option<Kind>, bool) {
    let kinds: Vec<(&[u8], Option<Kind>)> = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .map(|line| (line, Kind::of(line)))
        .collect();
    let all: Vec<Kind> = kinds.iter().filter_map(|line| line.1).collect();
    let times = |kind: &Kind| all.iter().filter(|other| *other == kind).count();
    let Some(kind) = all.iter().copied().max_by_key(|kind| times(kind)) else {
        return (None, false);
    };
    let begin = kinds.iter().position(|line| line.1 == Some(kind));
    let begin = begin.unwrap_or(kinds.len());
    let (times, since) = (times(&kind), kinds.len() - begin);
    let is_around = begin == 0 && kinds.last().is_some_and(|line| line.1 == Some(kind));
    let too_few = times * 2 < since && !is_around;
    if times < FEWEST || too_few && !kind.is_unmistakable() {
        return (None, false);
    }
    let (mut inside, mut outside, mut levels, mut tags) = (Side::default(), Side::default(), 0, 0);
    for (line, _) in &kinds {
        match kind.read(line) {
            Some(framed) => {
                levels += usize::from(has_level(framed.text));
                let text = untagged(framed.text);
                tags += usize::from(*text != *framed.text);
                inside.take(&text);
            }
            None => outside.take(line),
        }
    }
    let nearly_all = times * 10 >= since * 9;
    let is_so = if too_few {
        false
    } else if inside.marks > 0 {
        outside.marks == 0 || is_around || nearly_all && begin == 0 && inside.marks > outside.marks
    } else {
        let is_own = levels * 2 >= times && inside.hints == 0;
        let is_bare = nearly_all && begin == 0 && !is_own && kind != Kind::Service;
        outside.marks == 0 && (is_bare || tags > 0 || kind.is_unmistakable())
    };
    let is_mixed = !is_so && kind.is_unmistakable() && inside.marks > 0 && outside.marks > 0;
    (is_so.then_some(kind), is_mixed)
}

/// Marks of runners in some of the lines.
#[derive(Default)]
struct Side {
    /// Lines that only a runner prints, and such as others print too.
    marks: usize,
    hints: usize,
    before: Vec<u8>,
}

impl Side {
    fn take(&mut self, line: &[u8]) {
        let line = clean(line.strip_suffix(b"\r").unwrap_or(line));
        if line.is_empty() {
            return;
        }
        let marks = runners(&line).filter_map(|runner| BUILTIN[runner].mark(&line, &self.before));
        match marks.map(|mark| mark.certain).max() {
            Some(true) => self.marks += 1,
            Some(false) => self.hints += 1,
            None => {}
        }
        self.before.clear();
        self.before.extend_from_slice(&line);
    }
}

/// Whether the cursor goes up, in a log of lines that end as a terminal's do.
fn is_drawn(head: &[u8]) -> bool {
    memchr::memchr_iter(0x1b, head).any(|at| {
        let Some(rest) = head[at + 1..].strip_prefix(b"[") else {
            return head.get(at + 1) == Some(&b'M');
        };
        let end = rest.iter().position(|byte| !byte.is_ascii_digit());
        end.is_some_and(|end| matches!(rest[end], b'A' | b'F'))
    }) && memchr::memmem::find(head, b"\r\n").is_some()
}
