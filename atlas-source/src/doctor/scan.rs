//! Reading text that may be no patch: what is there, whether or not it holds together.
//!
//! [`atlas_core::Patch::files`] believes hunk headers and stops at the first contradiction. Here the
//! lines themselves say where a hunk ends when its header cannot be right.

use std::ops::Range;

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Without its end.
    pub(super) text: &'a [u8],
    /// Whether `\r` stands before the end.
    pub(super) cr: bool,
    /// Whether it has an end at all; only the last line may lack it.
    pub(super) newline: bool,
}

impl Line<'_> {
    pub(super) fn starts(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix.as_bytes())
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.iter().all(u8::is_ascii_whitespace)
    }

    pub(super) fn lossy(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }
}

/// Cuts text into lines.
pub(super) fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    bytes
        .split_inclusive(|byte| *byte == b'\n')
        .map(|whole| {
            let ended = whole.strip_suffix(b"\n");
            let text = ended.unwrap_or(whole);
            let without = text.strip_suffix(b"\r");
            Line {
                text: without.unwrap_or(text),
                cr: without.is_some(),
                newline: ended.is_some(),
            }
        })
        .collect()
}

/// The numbers of a hunk header: start and count, old and new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) old: (u64, u64),
    pub(super) new: (u64, u64),
}

/// One `@@` block, in places of lines.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    pub(super) header: usize,
    /// Absent where the header cannot be read.
    pub(super) numbers: Option<Numbers>,
    pub(super) body: Range<usize>,
    /// Lines of the old and the new version that are there.
    pub(super) found: (u64, u64),
    /// Lines of the body without one of the columns ` `, `+`, `-`, `\`; blank ones are not counted.
    pub(super) bare: Vec<usize>,
}

impl Hunk {
    /// Whether the header says what is there.
    pub(super) fn counts_fit(&self) -> bool {
        self.numbers
            .is_some_and(|numbers| (numbers.old.1, numbers.new.1) == self.found)
    }
}

/// What belongs to one file, in places of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// The whole section.
    pub(super) span: Range<usize>,
    /// The `diff --git` line.
    pub(super) git: Option<usize>,
    /// The `---` line.
    pub(super) old: Option<usize>,
    /// The `+++` line.
    pub(super) new: Option<usize>,
    /// Lines between `diff --git` and the first hunk that are not `---` or `+++`.
    pub(super) extended: Vec<usize>,
    pub(super) hunks: Vec<Hunk>,
}

/// A text, taken apart.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    pub(super) lines: Vec<Line<'a>>,
    pub(super) sections: Vec<Section>,
    /// Places of lines that belong to no section.
    pub(super) outside: Vec<usize>,
}

impl<'a> Scan<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let lines = lines(bytes);
        let mut scan = Self {
            lines,
            sections: Vec::new(),
            outside: Vec::new(),
        };
        scan.run();
        scan
    }

    fn run(&mut self) {
        let mut at = 0;
        let mut open: Option<Section> = None;
        while at < self.lines.len() {
            let line = self.lines[at];
            if line.starts("diff --git ") {
                self.end(open.take(), at);
                open = Some(Section {
                    span: at..at,
                    git: Some(at),
                    ..Section::default()
                });
                at += 1;
            } else if let Some((old, new)) = self.names_at(at) {
                // A `diff --git` line is completed by the names; names of another file begin anew.
                let fresh = !open.as_ref().is_some_and(Section::wants_names);
                if fresh {
                    self.end(open.take(), at);
                }
                let section = open.get_or_insert_with(|| Section {
                    span: at..at,
                    ..Section::default()
                });
                section.old = old.then_some(at);
                section.new = new.then_some(at + usize::from(old));
                at += usize::from(old) + usize::from(new);
            } else if is_hunk_header(line.text) {
                let section = open.get_or_insert_with(|| Section {
                    span: at..at,
                    ..Section::default()
                });
                let hunk = hunk(&self.lines, at, section);
                at = hunk.body.end;
                section.hunks.push(hunk);
            } else if let Some(section) = open.as_mut().filter(|section| section.in_header()) {
                section.extended.push(at);
                at += 1;
            } else {
                self.end(open.take(), at);
                self.outside.push(at);
                at += 1;
            }
        }
        self.end(open, self.lines.len());
    }

    fn end(&mut self, section: Option<Section>, at: usize) {
        if let Some(mut section) = section {
            section.span.end = at;
            self.sections.push(section);
        }
    }

    /// Whether `---` and `+++` lines of a header stand here. One alone counts only before a hunk.
    fn names_at(&self, at: usize) -> Option<(bool, bool)> {
        let starts = |at: usize, prefix| self.lines.get(at).is_some_and(|line| line.starts(prefix));
        let hunk = |at: usize| {
            self.lines
                .get(at)
                .is_some_and(|line| is_hunk_header(line.text))
        };
        if starts(at, "--- ") && starts(at + 1, "+++ ") {
            Some((true, true))
        } else if starts(at, "--- ") && hunk(at + 1) {
            Some((true, false))
        } else if starts(at, "+++ ") && hunk(at + 1) {
            Some((false, true))
        } else {
            None
        }
    }

    /// The name on a `---` or `+++` line, as it is written but unquoted; `None` for `/dev/null`.
    pub(super) fn name(&self, at: usize) -> Option<String> {
        let rest = self.lines[at].text.get(4..).unwrap_or_default();
        let name = marked_name(rest);
        (name != "/dev/null").then_some(name)
    }

    /// For every line, whether it stands in a hunk's body.
    pub(super) fn bodies(&self) -> Vec<bool> {
        let mut inside = vec![false; self.lines.len()];
        for hunk in self.sections.iter().flat_map(|section| &section.hunks) {
            inside[hunk.body.clone()].fill(true);
        }
        inside
    }

    /// The path of the file, without its prefix, for messages.
    pub(super) fn path(&self, section: &Section) -> Option<String> {
        let marked = [section.new, section.old]
            .into_iter()
            .flatten()
            .find_map(|at| self.name(at));
        let named = marked.or_else(|| {
            let rest = self.lines[section.git?].lossy();
            let rest = rest.strip_prefix("diff --git ")?;
            let new = rest.rfind(" b/").map(|at| rest[at + 1..].to_owned());
            new.or_else(|| rest.rsplit(' ').next().map(str::to_owned))
        })?;
        Some(without_prefix(&named).to_owned())
    }
}

impl Section {
    fn in_header(&self) -> bool {
        self.git.is_some() && self.old.is_none() && self.new.is_none() && self.hunks.is_empty()
    }

    fn wants_names(&self) -> bool {
        self.in_header()
    }
}

/// `a/x` and `b/x` without the first two bytes; others as they are.
pub(super) fn without_prefix(name: &str) -> &str {
    name.strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name)
}

/// The name behind a marker: to the first TAB, or unquoted.
fn marked_name(rest: &[u8]) -> String {
    if rest.first() == Some(&b'"')
        && let Some(name) = unquoted(rest)
    {
        return String::from_utf8_lossy(&name).into_owned();
    }
    let end = rest.iter().position(|byte| *byte == b'\t');
    let name = &rest[..end.unwrap_or(rest.len())];
    String::from_utf8_lossy(name).trim_end().to_owned()
}

fn unquoted(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = text.strip_prefix(b"\"")?.iter().copied();
    let mut name = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return Some(name),
            b'\\' => match bytes.next()? {
                b't' => name.push(b'\t'),
                b'n' => name.push(b'\n'),
                first @ b'0'..=b'3' => {
                    let (second, third) = (bytes.next()?, bytes.next()?);
                    let digit = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
                    name.push((first - b'0') * 64 + digit(second)? * 8 + digit(third)?);
                }
                other => name.push(other),
            },
            other => name.push(other),
        }
    }
}

/// Whether the line opens a hunk or was meant to.
fn is_hunk_header(line: &[u8]) -> bool {
    line.starts_with(b"@@") && !line.starts_with(b"@@@")
}

/// Reads `@@ -a,b +c,d @@`.
pub(super) fn numbers(line: &[u8]) -> Option<Numbers> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (old, rest) = range(rest)?;
    let (new, rest) = range(rest.strip_prefix(b" +")?)?;
    rest.starts_with(b" @@").then_some(Numbers { old, new })
}

fn range(text: &[u8]) -> Option<((u64, u64), &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => number(rest).map(|(count, rest)| ((start, count), rest)),
        None => Some(((start, 1), rest)),
    }
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// The hunk whose header stands here.
fn hunk(lines: &[Line<'_>], header: usize, section: &Section) -> Hunk {
    let numbers = numbers(lines[header].text);
    let first = header + 1;
    if let Some(numbers) = numbers
        && let Some(end) = exact_end(lines, first, numbers, section)
    {
        return Hunk {
            header,
            numbers: Some(numbers),
            body: first..end,
            found: (numbers.old.1, numbers.new.1),
            bare: Vec::new(),
        };
    }
    let mut walk = Walk::default();
    let wanted = numbers.map(|numbers| (numbers.old.1, numbers.new.1));
    let mut at = first;
    while at < lines.len() && !is_boundary(lines, at) {
        let line = lines[at];
        match line.text.first() {
            None => walk.blank += 1,
            Some(b' ' | b'+' | b'-') => walk.step(line.text[0], at),
            Some(b'\\') => walk.end = at + 1,
            Some(_) => {
                // A context line whose column was lost, if lines are still missing.
                let missing = wanted.is_none_or(|(old, new)| {
                    let (found_old, found_new) = walk.with_blanks();
                    found_old < old && found_new < new
                });
                if !missing || is_closing(line) {
                    break;
                }
                walk.bare.push(at);
                walk.step(b' ', at);
            }
        }
        at += 1;
    }
    // Blank lines at the end belong to the hunk only as far as lines are missing.
    if let Some((old, new)) = wanted {
        let missing = old
            .saturating_sub(walk.found.0)
            .min(new.saturating_sub(walk.found.1))
            .min(walk.blank);
        walk.found.0 += missing;
        walk.found.1 += missing;
        walk.end += usize::try_from(missing).unwrap_or_default();
    }
    Hunk {
        header,
        numbers,
        body: first..walk.end.max(first).min(lines.len()),
        found: walk.found,
        bare: walk.bare,
    }
}

/// What a walk over a hunk's lines has seen.
#[derive(Default)]
struct Walk {
    found: (u64, u64),
    /// Blank lines since the last line that surely belongs to the hunk.
    blank: u64,
    /// Behind the last line that surely belongs to it.
    end: usize,
    bare: Vec<usize>,
}

impl Walk {
    fn with_blanks(&self) -> (u64, u64) {
        (self.found.0 + self.blank, self.found.1 + self.blank)
    }

    fn step(&mut self, column: u8, at: usize) {
        self.found = self.with_blanks();
        self.blank = 0;
        self.found.0 += u64::from(column != b'+');
        self.found.1 += u64::from(column != b'-');
        self.end = at + 1;
    }
}

/// The end of a hunk whose header is right: the counted lines are there and something else follows.
fn exact_end(
    lines: &[Line<'_>],
    first: usize,
    numbers: Numbers,
    section: &Section,
) -> Option<usize> {
    let (mut old, mut new) = (numbers.old.1, numbers.new.1);
    let mut at = first;
    while old > 0 || new > 0 {
        let (less_old, less_new) = match lines.get(at)?.text.first() {
            None | Some(b' ') => (1, 1),
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(_) => return None,
        };
        old = old.checked_sub(less_old)?;
        new = new.checked_sub(less_new)?;
        at += 1;
    }
    if lines.get(at).is_some_and(|line| line.starts("\\")) {
        at += 1;
    }
    // Header lines that were counted as lines of the hunk: a patch of a patch may hold them, but
    // then its file is the one that was opened by `diff --git`.
    let swallowed = at >= first + 2
        && lines[at - 2].starts("--- ")
        && lines[at - 1].starts("+++ ")
        && lines.get(at).is_some_and(|line| is_hunk_header(line.text));
    if swallowed && section.git.is_none() {
        return None;
    }
    let goes_on = lines.get(at).is_some_and(|line| {
        matches!(line.text.first(), Some(b' ' | b'+' | b'-'))
            && !is_boundary(lines, at)
            && !line.is_blank()
    });
    (!goes_on).then_some(at)
}

/// Whether a hunk surely ends before this line.
fn is_boundary(lines: &[Line<'_>], at: usize) -> bool {
    let line = lines[at];
    let next = lines.get(at + 1);
    line.starts("diff --git ")
        || line.starts("diff -")
        || is_hunk_header(line.text)
        || line.starts("*** End Patch")
        || (line.starts("Index: ") && next.is_some_and(|next| next.starts("=====")))
        || (line.starts("--- ") && next.is_some_and(|next| next.starts("+++ ")))
        || is_signature(lines, at)
}

/// Whether git's mail signature stands here: `-- ` and the version below.
pub(super) fn is_signature(lines: &[Line<'_>], at: usize) -> bool {
    matches!(lines[at].text, b"-- " | b"--")
        && lines.get(at + 1).is_some_and(|next| {
            let version = next.text;
            version.first().is_some_and(u8::is_ascii_digit)
                && version.contains(&b'.')
                && version.len() < 40
                && !version.contains(&b' ')
                || version.ends_with(b")") && version.contains(&b'.') && version.len() < 60
        })
        && lines[at + 1..]
            .iter()
            .skip(1)
            .take(1)
            .all(|line| line.is_blank() || line.starts("diff ") || line.starts("From "))
}

/// Whether the line closes what a model wrapped around its patch.
fn is_closing(line: Line<'_>) -> bool {
    line.starts("```") || line.starts("~~~") || line.starts("</")
}
