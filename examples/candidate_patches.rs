//! Candidate patches made by rule from the gold patches of a dataset: what judges, critics and
//! policies are measured on where no agent's patches are at hand.
//!
//! ```text
//! cargo run -p atlas-examples --bin candidate_patches -- dataset.jsonl > candidates.jsonl
//! atlas eval --dataset dataset.jsonl --predictions candidates.jsonl --run-id candidates
//! ```
//!
//! One line of predictions a candidate, its kind as the model's name:
//!
//! - `gold`: the gold patch;
//! - `nothing`: a file beside the code;
//! - `without-hunk-N`: gold without one of its hunks, at most three such;
//! - `near-miss-N`: gold with one operator, number or truth value changed, at most three such;
//! - `breaks`: gold with two brackets that nothing closes, in its first hunk;
//! - `wrong-place`: gold's first hunk alone, its lines added behind the hunk, nothing removed.

use atlas_core::{FilePatch, Patch};
use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};

/// Most candidates of one numbered kind.
const MOST: usize = 3;

/// What a near miss puts in the place of what.
const CHANGES: [(&str, &str); 14] = [
    (" == ", " != "),
    (" != ", " == "),
    (" <= ", " < "),
    (" >= ", " > "),
    (" < ", " <= "),
    (" > ", " >= "),
    (" && ", " || "),
    (" || ", " && "),
    (" and ", " or "),
    (" not ", " "),
    (" + ", " - "),
    (" - ", " + "),
    ("true", "false"),
    ("True", "False"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("usage: candidate_patches DATASET.jsonl")?;
    let file = std::fs::File::open(&path).map_err(|why| format!("{path}: {why}"))?;
    let mut out = std::io::stdout().lock();
    for (at, line) in std::io::BufReader::new(file).lines().enumerate() {
        let row: Value =
            serde_json::from_str(&line?).map_err(|why| format!("{path}:{}: {why}", at + 1))?;
        let field = |name: &str| {
            row[name]
                .as_str()
                .ok_or_else(|| format!("{path}:{}: no text in `{name}`", at + 1))
        };
        let id = field("instance_id")?;
        for (kind, patch) in candidates(&Patch::new(field("patch")?))? {
            let prediction = json!({
                "instance_id": id,
                "model_name_or_path": kind,
                "model_patch": String::from_utf8_lossy(&patch),
            });
            writeln!(out, "{prediction}")?;
        }
    }
    Ok(())
}

/// The candidates of one gold patch, by kind.
fn candidates(gold: &Patch) -> Result<Vec<(String, Vec<u8>)>, atlas_core::PatchError> {
    let files = gold.files()?;
    let mut made = vec![
        ("gold".to_owned(), gold.as_bytes().to_vec()),
        ("nothing".to_owned(), NOTHING.as_bytes().to_vec()),
    ];
    let hunks: Vec<(usize, usize)> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| !file.binary)
        .flat_map(|(at, file)| (0..file.hunks.len()).map(move |hunk| (at, hunk)))
        .collect();
    if hunks.len() > 1 {
        for (number, left_out) in hunks.iter().take(MOST).enumerate() {
            made.push((
                format!("without-hunk-{}", number + 1),
                patch(&files, |at, hunk, raw| {
                    ((at, hunk) != *left_out).then(|| raw.to_vec())
                }),
            ));
        }
    }
    for (number, (place, line, changed)) in near_misses(&files).into_iter().take(MOST).enumerate() {
        made.push((
            format!("near-miss-{}", number + 1),
            patch(&files, |at, hunk, raw| {
                if (at, hunk) != place {
                    return Some(raw.to_vec());
                }
                let mut lines: Vec<&[u8]> = raw.split_inclusive(|byte| *byte == b'\n').collect();
                lines[line] = &changed;
                Some(lines.concat())
            }),
        ));
    }
    if let Some(place) = hunks.first() {
        made.push((
            "breaks".to_owned(),
            patch(&files, |at, hunk, raw| {
                Some(if (at, hunk) == *place {
                    with_line(raw, b"+((\n")
                } else {
                    raw.to_vec()
                })
            }),
        ));
        let moved = patch(&files, |at, hunk, raw| {
            ((at, hunk) == *place).then(|| moved_down(raw)).flatten()
        });
        if !moved.is_empty() {
            made.push(("wrong-place".to_owned(), moved));
        }
    }
    Ok(made)
}

const NOTHING: &str = "diff --git a/CANDIDATE.txt b/CANDIDATE.txt\nnew file mode 100644\n\
                       --- /dev/null\n+++ b/CANDIDATE.txt\n@@ -0,0 +1 @@\n+nothing\n";

/// The patch with each hunk as `choose` gives it; files without any hunk left go.
fn patch(files: &[FilePatch], choose: impl Fn(usize, usize, &[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let kept: Vec<Vec<u8>> = file
            .hunks
            .iter()
            .enumerate()
            .filter_map(|(number, hunk)| choose(at, number, &hunk.raw))
            .collect();
        if kept.is_empty() && !file.hunks.is_empty() {
            continue;
        }
        let head = file
            .hunks
            .first()
            .and_then(|first| position(&file.raw, &first.raw))
            .unwrap_or(file.raw.len());
        out.extend_from_slice(&file.raw[..head]);
        out.extend(kept.concat());
    }
    out
}

fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// Every change of one added line: the hunk's place, the line of its raw text, the new line.
fn near_misses(files: &[FilePatch]) -> Vec<((usize, usize), usize, Vec<u8>)> {
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        for (number, hunk) in file.hunks.iter().enumerate() {
            let raw: Vec<&[u8]> = hunk.raw.split_inclusive(|byte| *byte == b'\n').collect();
            for (line, text) in raw.iter().enumerate().skip(1) {
                let Ok(text) = std::str::from_utf8(text) else {
                    continue;
                };
                let code = text.trim_start_matches('+').trim_start();
                if !text.starts_with('+') || code.starts_with(['#', '*', '/']) {
                    continue;
                }
                let change = CHANGES.iter().find(|(from, _)| text.contains(from));
                if let Some((from, to)) = change {
                    let changed = text.replacen(from, to, 1).into_bytes();
                    found.push(((at, number), line, changed));
                }
            }
        }
    }
    found
}

/// The hunk with one more added line behind its last added one.
fn with_line(raw: &[u8], line: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = raw.split_inclusive(|byte| *byte == b'\n').collect();
    let last = lines.iter().rposition(|line| line.starts_with(b"+"));
    lines.insert(last.map_or(lines.len(), |at| at + 1), line);
    counted(&lines)
}

/// The hunk with its added lines behind its context instead of where they belong, and nothing removed.
fn moved_down(raw: &[u8]) -> Option<Vec<u8>> {
    let lines: Vec<&[u8]> = raw.split_inclusive(|byte| *byte == b'\n').collect();
    let (added, kept): (Vec<&[u8]>, Vec<&[u8]>) =
        lines[1..].iter().partition(|line| line.starts_with(b"+"));
    let kept: Vec<Vec<u8>> = kept
        .into_iter()
        .filter(|line| !line.starts_with(b"\\"))
        .map(|line| [b" ", &line[1..]].concat())
        .collect();
    if added.is_empty() || kept.is_empty() {
        return None;
    }
    let mut all = vec![lines[0]];
    all.extend(kept.iter().map(Vec::as_slice));
    all.extend(added);
    Some(counted(&all))
}

/// The hunk with a header that counts its lines.
fn counted(lines: &[&[u8]]) -> Vec<u8> {
    let header = String::from_utf8_lossy(lines[0]);
    let start = |sign: char| {
        let (_, rest) = header.split_once(sign)?;
        rest.split([',', ' ']).next()
    };
    let count = |signs: [u8; 2]| {
        let of = lines[1..].iter().filter(|line| signs.contains(&line[0]));
        of.count()
    };
    let mut out = format!(
        "@@ -{},{} +{},{} @@\n",
        start('-').unwrap_or("1"),
        count([b' ', b'-']),
        start('+').unwrap_or("1"),
        count([b' ', b'+']),
    )
    .into_bytes();
    out.extend(lines[1..].concat());
    out
}
