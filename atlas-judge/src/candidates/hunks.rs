//! Patches whose hunks are changed, left out or moved, with headers that still count.

use atlas_core::FilePatch;

/// The patch with each hunk as `choose` gives it; files without any hunk left go.
pub(super) fn patch(
    files: &[FilePatch],
    choose: impl Fn(usize, usize, &[u8]) -> Option<Vec<u8>>,
) -> Vec<u8> {
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

/// The hunk with one more added line behind its last added one.
pub(super) fn with_line(raw: &[u8], line: &[u8]) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = raw.split_inclusive(|byte| *byte == b'\n').collect();
    let last = lines.iter().rposition(|line| line.starts_with(b"+"));
    lines.insert(last.map_or(lines.len(), |at| at + 1), line);
    counted(&lines)
}

/// The hunk with its added lines before the last line of its context instead of where they belong, and nothing removed.
/// (Behind the last line git would apply it at the end of a file alone.)
pub(super) fn moved_down(raw: &[u8]) -> Option<Vec<u8>> {
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
    let last = kept.len() - 1;
    let mut all = vec![lines[0]];
    all.extend(kept[..last].iter().map(Vec::as_slice));
    all.extend(added);
    all.push(&kept[last]);
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
