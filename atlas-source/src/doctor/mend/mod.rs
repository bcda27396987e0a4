//! Mechanical repairs. Each one changes how a patch is written down, never what it adds or removes;
//! whether the result fits is found out by applying it.

mod hunks;
mod sections;

use super::base::Base;
use super::scan::{Scan, lines};
use super::unwrap;
use atlas_core::Error;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A patch that applies, made from one that does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mended {
    /// The patch. In JSON it is text, or a list of bytes where it is no UTF-8.
    #[serde(serialize_with = "text_or_bytes")]
    pub patch: Vec<u8>,
    /// What was done, in order.
    pub how: Vec<String>,
}

fn text_or_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => bytes.serialize(serializer),
    }
}

/// A way to repair: gives the new text if it finds something to do.
type Repair = fn(&[u8], &Base) -> Option<Vec<u8>>;

/// A repair that needs no tree.
type Unwrap = fn(&[u8]) -> Option<Vec<u8>>;

/// All repairs in the order in which they build on each other: first the wrapping comes off, then
/// bytes and lines are put right, then the headers are counted.
const REPAIRS: &[(&str, Repair)] = &[
    ("decoded to UTF-8 without a byte order mark", |bytes, _| {
        unwrap::byte_order_mark(bytes)
    }),
    ("removed colour codes", |bytes, _| unwrap::colours(bytes)),
    ("decoded JSON escapes", |bytes, _| unwrap::json(bytes)),
    ("removed the margin", |bytes, _| unwrap::indented(bytes)),
    ("removed the quote marks", |bytes, _| unwrap::quoted(bytes)),
    ("removed the line numbers", |bytes, _| {
        unwrap::numbered(bytes)
    }),
    ("took the patch out of the text around it", |bytes, _| {
        unwrap::around(bytes)
    }),
    ("decoded HTML escapes", |bytes, _| unwrap::html(bytes)),
    (
        "gave lines the line ends of their files",
        sections::line_ends,
    ),
    ("ended the last line", |bytes, _| final_newline(bytes)),
    (
        "restored the blank line behind binary content",
        |bytes, _| sections::binary_end(bytes),
    ),
    ("removed spaces behind paths", |bytes, _| {
        sections::trimmed_names(bytes)
    }),
    ("added `a/` and `b/` to the paths", sections::prefixes),
    ("added `---` and `+++` lines", |bytes, _| {
        sections::name_lines(bytes)
    }),
    ("declared new and removed files", sections::declarations),
    ("left out hunks that change nothing", |bytes, _| {
        hunks::without_idle(bytes)
    }),
    ("restored the first column of context lines", hunks::columns),
    (
        "restored blank context lines at the end of hunks",
        hunks::blank_ends,
    ),
    ("counted the lines of hunks anew", hunks::recount),
];

/// The text as it is inside whatever is wrapped around it, for finding faults where the wrapping
/// hides everything. Nothing if it shows as it is.
pub(super) fn unwrapped(patch: &[u8]) -> Option<Vec<u8>> {
    let mut text = patch.to_vec();
    let mut changed = false;
    let unwraps: [Unwrap; 6] = [
        unwrap::byte_order_mark,
        unwrap::colours,
        unwrap::json,
        unwrap::indented,
        unwrap::quoted,
        unwrap::numbered,
    ];
    for unwrap in unwraps {
        if Scan::of(&text)
            .sections
            .iter()
            .any(|section| !section.hunks.is_empty())
        {
            break;
        }
        if let Some(inside) = unwrap(&text) {
            text = inside;
            changed = true;
        }
    }
    changed.then_some(text)
}

/// A patch that plain `git apply` takes, if repairs lead to one. Repairs that it does not need are
/// left out.
pub(super) async fn mend(patch: &[u8], base: &Base) -> Result<Option<Mended>, Error> {
    // Escapes of HTML may be what the files really have.
    let is_html = |name: &str| name.contains("HTML");
    let plans = [
        vec![true; REPAIRS.len()],
        REPAIRS.iter().map(|(name, _)| !is_html(name)).collect(),
    ];
    let mut found = None;
    for plan in plans {
        let (text, used) = run(patch, base, &plan);
        if used.contains(&true) && is_whole(&text) && base.fits(&text).await? {
            found = Some((text, used));
            break;
        }
    }
    let Some((mut text, mut used)) = found else {
        return Ok(None);
    };
    for place in 0..REPAIRS.len() {
        if !used[place] {
            continue;
        }
        let mut fewer = used.clone();
        fewer[place] = false;
        let (shorter, still) = run(patch, base, &fewer);
        if is_whole(&shorter) && base.fits(&shorter).await? && same_changes(&shorter, &text) {
            (text, used) = (shorter, still);
        }
    }
    let how: Vec<String> = REPAIRS
        .iter()
        .zip(&used)
        .filter(|(_, used)| **used)
        .map(|((name, _), _)| (*name).to_owned())
        .collect();
    Ok((!how.is_empty()).then_some(Mended { patch: text, how }))
}

/// Does the repairs that are allowed; gives the text and which of them did something.
fn run(patch: &[u8], base: &Base, allowed: &[bool]) -> (Vec<u8>, Vec<bool>) {
    let mut text = patch.to_vec();
    let mut used = vec![false; REPAIRS.len()];
    for (place, (_, repair)) in REPAIRS.iter().enumerate() {
        if !allowed[place] {
            continue;
        }
        if let Some(new) = repair(&text, base).filter(|new| *new != text) {
            text = new;
            used[place] = true;
        }
    }
    (text, used)
}

/// Whether git would read all of it: it passes in silence over a hunk with a broken header behind a
/// rename, and over lines beyond a hunk's counts.
fn is_whole(text: &[u8]) -> bool {
    let scan = Scan::of(text);
    scan.sections
        .iter()
        .flat_map(|section| &section.hunks)
        .all(|hunk| hunk.counts_fit() && hunk.bare.is_empty())
}

/// Whether git sees the same added and removed lines in both. It passes over what is beyond a
/// hunk's counts, so that a text fits says nothing of whether all of it does.
fn same_changes(one: &[u8], other: &[u8]) -> bool {
    let changes = |bytes: &[u8]| {
        let files = atlas_core::Patch::new(bytes).files().ok()?;
        let sections = files.into_iter().map(|file| {
            let hunks = file.hunks.into_iter().flat_map(|hunk| hunk.lines);
            let lines: Vec<_> = hunks
                .filter(|line| line.kind != atlas_core::HunkLineKind::Context)
                .map(|line| (line.kind, line.bytes, line.no_newline))
                .collect();
            (file.old_path, file.new_path, file.kind, lines)
        });
        Some(sections.collect::<Vec<_>>())
    };
    changes(one).is_some_and(|one| changes(other).is_some_and(|other| one == other))
}

fn final_newline(bytes: &[u8]) -> Option<Vec<u8>> {
    let last = *bytes.last()?;
    (last != b'\n').then(|| {
        let mut out = bytes.to_vec();
        out.push(b'\n');
        out
    })
}

/// Lines of a text that are written anew, by place; a line may become several, or none.
#[derive(Default)]
struct Edits(BTreeMap<usize, Vec<u8>>);

impl Edits {
    fn set(&mut self, at: usize, line: impl Into<Vec<u8>>) {
        self.0.insert(at, line.into());
    }

    /// The text with the edits, or nothing if there are none.
    fn apply(self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.0.is_empty() {
            return None;
        }
        let mut out = Vec::with_capacity(bytes.len() + 64);
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            out.extend_from_slice(self.0.get(&at).map_or(line, Vec::as_slice));
        }
        Some(out)
    }
}

/// All lines with their ends.
fn whole(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Whether all lines of a file end with CR LF, or none does.
fn has_crlf(content: &[u8]) -> Option<bool> {
    let lines = lines(content);
    let ended: Vec<bool> = lines
        .iter()
        .filter(|line| line.newline)
        .map(|line| line.cr)
        .collect();
    let first = *ended.first()?;
    ended.iter().all(|cr| *cr == first).then_some(first)
}
