//! Near misses: one operator, number or truth value of an added line is another.

use atlas_core::FilePatch;

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

/// One changed line: the place of its file and hunk, its number among the lines of the raw hunk, the new line.
pub(super) type NearMiss = ((usize, usize), usize, Vec<u8>);

/// Every change of one added line, in the order of the patch. Lines that begin as comments do are left.
pub(super) fn near_misses(files: &[FilePatch]) -> Vec<NearMiss> {
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
