//! Repairs of hunks.

use super::sections::old_path;
use super::{Edits, whole};
use crate::doctor::base::Base;
use crate::doctor::lines::{Content, Likeness, Side};
use crate::doctor::scan::{Hunk, Line, Scan, Section, lines};

/// The first column of context lines that were trimmed, where the file shows what they were: every
/// removed line must stand in the file as it is, every context line with or without its column, and
/// only one place may do.
pub(super) fn columns(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let mut edits = Edits::default();
    for section in &scan.sections {
        let Some(content) = old_path(&scan, section).and_then(|path| base.content(&path)) else {
            continue;
        };
        let content = Content::of(content);
        for hunk in &section.hunks {
            let old = Side::of(&scan, hunk, true);
            if old.lines.is_empty() || !content.places(&old, Likeness::Same).is_empty() {
                continue;
            }
            let fits = |at: usize, line: Line<'_>, found: Line<'_>| {
                line.text == found.text
                    || (!scan.lines[at].starts("-") && trimmed(scan.lines[at], found))
            };
            let last = content.lines.len().saturating_sub(old.lines.len());
            let places: Vec<usize> = (0..=last)
                .filter(|start| {
                    content.lines.len() >= old.lines.len()
                        && old
                            .lines
                            .iter()
                            .zip(&content.lines[*start..])
                            .all(|((at, line), found)| fits(*at, *line, *found))
                })
                .collect();
            let [place] = places.as_slice() else { continue };
            for (offset, (at, line)) in old.lines.iter().enumerate() {
                let found = content.lines[place + offset];
                let has_column = matches!(scan.lines[*at].text.first(), Some(b' ' | b'-'));
                if has_column && line.text == found.text {
                    continue;
                }
                edits.set(*at, [b" ", found.text, end_of(found)].concat());
            }
        }
    }
    edits.apply(bytes)
}

/// Whether the line is the file's line with its column missing, or both trimmed to nothing.
fn trimmed(line: Line<'_>, found: Line<'_>) -> bool {
    line.text == found.text || (line.is_blank() && found.is_blank())
}

fn end_of(line: Line<'_>) -> &'static [u8] {
    if line.cr { b"\r\n" } else { b"\n" }
}

/// Blank context lines that a strip of the whole patch took from its end: the header of the last
/// hunk counts as many old lines more as new ones, at most three, and the file has them there.
pub(super) fn blank_ends(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let hunk = scan.sections.last()?.hunks.last()?;
    let numbers = hunk.numbers?;
    let old = numbers.old.1.checked_sub(hunk.found.0)?;
    let new = numbers.new.1.checked_sub(hunk.found.1)?;
    let behind = &scan.lines[hunk.body.end..];
    let context_left = (1..=3).contains(&old);
    if old != new || !context_left || !hunk.bare.is_empty() || !behind.iter().all(Line::is_blank) {
        return None;
    }
    let path = scan.path(scan.sections.last()?)?;
    let content = Content::of(base.content(&path)?);
    let side = Side::of(&scan, hunk, true);
    let count = usize::try_from(old).ok()?;
    let there = content.places(&side, Likeness::Same).iter().any(|place| {
        let start = place + side.lines.len();
        let lines = content.lines.get(start..start + count);
        lines.is_some_and(|lines| lines.iter().all(|line| line.text.is_empty() && !line.cr))
    });
    if !there {
        return None;
    }
    let mut out = whole(bytes)[..hunk.body.end].concat();
    if out.last() != Some(&b'\n') {
        out.push(b'\n');
    }
    for _ in 0..old {
        out.extend_from_slice(b" \n");
    }
    Some(out)
}

/// Hunk headers with the counts of the lines that are there; where a header has no numbers, the
/// place too, if the lines stand only once in the file.
///
/// The last hunk of a patch is left as it is if lines seem to be missing and it does not end with
/// context: it may have been cut off, and nobody knows what is missing.
pub(super) fn recount(bytes: &[u8], base: &Base) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let mut edits = Edits::default();
    let sections = scan.sections.len();
    for (place, section) in scan.sections.iter().enumerate() {
        let hunks = section.hunks.len();
        let mut shift: i128 = 0;
        for (number, hunk) in section.hunks.iter().enumerate() {
            let last = place + 1 == sections && number + 1 == hunks;
            let added = i128::from(hunk.found.1) - i128::from(hunk.found.0);
            let may = hunk.bare.is_empty() && !(last && maybe_cut(&scan, hunk));
            if !hunk.counts_fit() && may {
                let start = match hunk.numbers {
                    Some(numbers) => Some((numbers.old.0, numbers.new.0)),
                    None => located(&scan, section, hunk, base, shift),
                };
                if let Some((old, new)) = start {
                    let section_text = trailing(scan.lines[hunk.header].text);
                    let header = format!("@@ -{old},{} +{new},{} @@", hunk.found.0, hunk.found.1);
                    let mut line = header.into_bytes();
                    line.extend_from_slice(section_text);
                    line.push(b'\n');
                    edits.set(hunk.header, line);
                }
            }
            shift += added;
        }
    }
    edits.apply(bytes)
}

/// What stands behind the second `@@` of a header.
fn trailing(header: &[u8]) -> &[u8] {
    if !header.starts_with(b"@@ -") {
        return b"";
    }
    memchr::memmem::find(&header[2..], b" @@").map_or(b"", |at| &header[at + 5..])
}

fn maybe_cut(scan: &Scan<'_>, hunk: &Hunk) -> bool {
    let Some(numbers) = hunk.numbers else {
        return false;
    };
    let short = hunk.found.0 < numbers.old.1 || hunk.found.1 < numbers.new.1;
    let end = hunk.body.clone().rev().map(|at| scan.lines[at].text);
    let last = end.into_iter().find(|line| !line.starts_with(b"\\"));
    short && !matches!(last.and_then(<[u8]>::first), None | Some(b' '))
}

/// The numbers of the first old and the first new line of a hunk whose header has none.
fn located(
    scan: &Scan<'_>,
    section: &Section,
    hunk: &Hunk,
    base: &Base,
    shift: i128,
) -> Option<(u64, u64)> {
    let old = Side::of(scan, hunk, true);
    if old.lines.is_empty() {
        let creates = section.old.is_some_and(|at| scan.name(at).is_none());
        return creates.then_some((0, 1));
    }
    let bytes = base.content(&old_path(scan, section)?)?;
    let content = Content {
        lines: lines(bytes),
    };
    let places = content.places(&old, Likeness::Same);
    let [place] = places.as_slice() else {
        return None;
    };
    let start = u64::try_from(*place).ok()? + 1;
    let new = u64::try_from(i128::from(start) + shift).ok()?;
    // A side without lines is named by the line before it.
    Some((start, if hunk.found.1 == 0 { new - 1 } else { new }))
}

/// Hunks with context lines only, which git calls corrupt; with them the section of a file that has
/// no others and says nothing else.
pub(super) fn without_idle(bytes: &[u8]) -> Option<Vec<u8>> {
    let scan = Scan::of(bytes);
    let idle = |hunk: &Hunk| {
        hunk.bare.is_empty()
            && hunk
                .body
                .clone()
                .all(|at| !scan.lines[at].starts("+") && !scan.lines[at].starts("-"))
    };
    let mut edits = Edits::default();
    for section in &scan.sections {
        let silent = section
            .extended
            .iter()
            .all(|at| scan.lines[*at].starts("index "));
        if silent && section.hunks.iter().all(idle) {
            section.span.clone().for_each(|at| edits.set(at, ""));
            continue;
        }
        for hunk in section.hunks.iter().filter(|hunk| idle(hunk)) {
            (hunk.header..hunk.body.end).for_each(|at| edits.set(at, ""));
        }
    }
    edits.apply(bytes)
}
