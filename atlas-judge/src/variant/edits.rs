//! What a section's hunks do to the lines of a file.

use atlas_core::{FilePatch, Hunk, HunkLine, HunkLineKind};

/// A run of changed lines: `deleted` lines of the old file from `at` (from 0) give way to the
/// inserted ones among `lines`.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) deleted: usize,
    pub(super) inserted: usize,
    /// First of the inserted lines in the new file, from 0; where they would stand if there are none.
    pub(super) new_at: usize,
    pub(super) lines: Vec<HunkLine>,
    /// The hunk that it comes from.
    pub(super) hunk: usize,
}

impl Edit {
    pub(super) fn old_end(&self) -> usize {
        self.at + self.deleted
    }

    pub(super) fn new_end(&self) -> usize {
        self.new_at + self.inserted
    }
}

/// Where a hunk stands in the old file, context included: lines from 0, end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The hunks of a section, placed in the old file.
#[derive(Clone, Debug)]
pub(super) struct PlacedHunks {
    pub(super) edits: Vec<Edit>,
    pub(super) windows: Vec<Window>,
}

/// The lines of a file, line ends included.
pub(super) fn split(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Places the hunks in the old file, moved where their text stands elsewhere, as git does. None if
/// one of them does not fit.
pub(super) fn place(file: &FilePatch, old: &[&[u8]]) -> Option<PlacedHunks> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut windows = Vec::new();
    let mut from = 0;
    let mut shift: i128 = 0;
    for (number, hunk) in file.hunks.iter().enumerate() {
        let before: Vec<&HunkLine> = hunk
            .lines
            .iter()
            .filter(|line| line.kind != HunkLineKind::Insert)
            .collect();
        let start = position(hunk, &before, old, from)?;
        let mut at = start;
        let mut open: Option<Edit> = None;
        for line in &hunk.lines {
            if line.kind == HunkLineKind::Context {
                edits.extend(open.take());
                at += 1;
                continue;
            }
            let edit = open.get_or_insert_with(|| Edit {
                at,
                deleted: 0,
                inserted: 0,
                new_at: 0,
                lines: Vec::new(),
                hunk: number,
            });
            if line.kind == HunkLineKind::Delete {
                edit.deleted += 1;
                at += 1;
            } else {
                edit.inserted += 1;
            }
            edit.lines.push(line.clone());
        }
        edits.extend(open.take());
        windows.push(Window { start, end: at });
        from = at;
    }
    for edit in &mut edits {
        edit.new_at = usize::try_from(edit.at as i128 + shift).ok()?;
        shift += edit.inserted as i128 - edit.deleted as i128;
    }
    Some(PlacedHunks { edits, windows })
}

/// Where the old lines of a hunk stand: at the place that its header names, else at the nearest one
/// behind the hunk before.
fn position(hunk: &Hunk, before: &[&HunkLine], old: &[&[u8]], from: usize) -> Option<usize> {
    let start = usize::try_from(hunk.old_start).ok()?;
    let named = if before.is_empty() {
        start
    } else {
        start.checked_sub(1)?
    };
    let last = old.len().checked_sub(before.len())?;
    if last < from {
        return None;
    }
    let fits = |at: usize| {
        before
            .iter()
            .zip(&old[at..])
            .all(|(line, there)| line.bytes == *there)
    };
    let named = named.clamp(from, last);
    let most = (named - from).max(last - named);
    for distance in 0..=most {
        let behind = named + distance;
        if behind <= last && fits(behind) {
            return Some(behind);
        }
        let ahead = named.checked_sub(distance).filter(|at| *at >= from);
        if let Some(ahead) = ahead.filter(|at| fits(*at)) {
            return Some(ahead);
        }
    }
    None
}

/// The file after the edits.
pub(super) fn apply(old: &[&[u8]], edits: &[Edit]) -> Vec<u8> {
    let mut new = Vec::new();
    let mut at = 0;
    for edit in edits {
        new.extend(old[at..edit.at].concat());
        for line in edit
            .lines
            .iter()
            .filter(|line| line.kind == HunkLineKind::Insert)
        {
            new.extend(&line.bytes);
        }
        at = edit.old_end();
    }
    new.extend(old[at..].concat());
    new
}

/// Windows in order, those that overlap or touch made one.
pub(super) fn joined(mut windows: Vec<Window>) -> Vec<Window> {
    windows.sort_by_key(|window| (window.start, window.end));
    let mut joined: Vec<Window> = Vec::new();
    for window in windows {
        match joined.last_mut() {
            Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
            _ => joined.push(window),
        }
    }
    joined
}

/// Writes one hunk over a window of the old file. Every edit must lie in the window or outside it
/// as a whole.
pub(super) fn write_hunk(
    old: &[&[u8]],
    edits: &[Edit],
    window: Window,
    section: &[u8],
    out: &mut Vec<u8>,
) {
    let first = edits.partition_point(|edit| edit.at < window.start);
    let inside = edits[first..]
        .iter()
        .take_while(|edit| edit.old_end() <= window.end);
    let shift: i128 = edits[..first]
        .iter()
        .map(|edit| edit.inserted as i128 - edit.deleted as i128)
        .sum();
    let mut body = Vec::new();
    let (mut old_lines, mut new_lines) = (0, 0);
    let mut at = window.start;
    let context = |body: &mut Vec<u8>, lines: &[&[u8]]| {
        for line in lines {
            write_line(b' ', line, body);
        }
        lines.len()
    };
    for edit in inside {
        let count = context(&mut body, &old[at..edit.at]);
        old_lines += count + edit.deleted;
        new_lines += count + edit.inserted;
        for line in &edit.lines {
            let sign = if line.kind == HunkLineKind::Insert {
                b'+'
            } else {
                b'-'
            };
            write_line(sign, &line.bytes, &mut body);
        }
        at = edit.old_end();
    }
    let count = context(&mut body, &old[at..window.end.max(at)]);
    old_lines += count;
    new_lines += count;
    // A side without lines is named by the line before it.
    let number = |start: i128, lines: usize| if lines == 0 { start } else { start + 1 };
    let old_start = number(window.start as i128, old_lines);
    let new_start = number(window.start as i128 + shift, new_lines);
    let header = format!("@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
    out.extend(header.as_bytes());
    if !section.is_empty() {
        out.push(b' ');
        out.extend(section);
    }
    out.push(b'\n');
    out.extend(body);
}

fn write_line(sign: u8, line: &[u8], out: &mut Vec<u8>) {
    out.push(sign);
    out.extend(line);
    if !line.ends_with(b"\n") {
        out.extend(b"\n\\ No newline at end of file\n");
    }
}

/// The bytes of a section before its first hunk, and those behind its last one.
pub(super) fn frame(file: &FilePatch) -> (&[u8], &[u8]) {
    let mut header = 0;
    for line in file.raw.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"@@ -") {
            break;
        }
        header += line.len();
    }
    let hunks: usize = file.hunks.iter().map(|hunk| hunk.raw.len()).sum();
    let between = file.raw.get(header..header + hunks);
    let whole: Vec<u8> = file
        .hunks
        .iter()
        .flat_map(|hunk| hunk.raw.clone())
        .collect();
    let tail = if between == Some(&whole[..]) {
        &file.raw[header + hunks..]
    } else {
        &[]
    };
    (&file.raw[..header], tail)
}
