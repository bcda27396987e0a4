//! One line of a tree.

use crate::edges::{before_any, behind_any, is_number, without_note};
use atlas_core::TestStatus;

/// A node: what stands behind `│  ├─ `.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) depth: usize,
    pub(super) text: &'a str,
    /// `└─`, which in the verbose listing closes a container.
    pub(super) last: bool,
}

const TILES: [(&str, bool); 4] = [("├─", false), ("└─", true), ("+--", false), ("'--", true)];

/// Reads a node's place. Nothing else is as deep as the blanks in front of it say.
pub(super) fn node(line: &str) -> Option<Node<'_>> {
    let unicode = matches!(line.as_bytes().first()?, 0xe2);
    if !unicode && !matches!(line.as_bytes().first()?, b'|' | b'+' | b'\'' | b' ') {
        return None;
    }
    for units in [["│  ", "   "], ["| ", "  "]] {
        let mut rest = line;
        let mut depth = 0;
        loop {
            if let Some((tile, last)) = TILES.iter().find(|tile| rest.starts_with(tile.0)) {
                let text = rest[tile.len()..].strip_prefix(' ')?;
                return Some(Node {
                    depth,
                    text,
                    last: *last,
                });
            }
            let Some(inner) = behind_any(rest, &units) else {
                break;
            };
            rest = inner;
            depth += 1;
        }
    }
    None
}

const FAILING: [(&str, TestStatus); 6] = [
    (" ✘ ", TestStatus::Failed),
    (" [X] ", TestStatus::Failed),
    (" ■ ", TestStatus::Skipped),
    (" [A] ", TestStatus::Skipped),
    (" ↷ ", TestStatus::Skipped),
    (" [S] ", TestStatus::Skipped),
];

/// Splits `name ✘ message`.
pub(super) fn caption(text: &str) -> Option<(&str, TestStatus)> {
    let found = FAILING
        .iter()
        .filter_map(|(mark, status)| Some((text.find(mark)?, *status)))
        .min_by_key(|found| found.0);
    let (name, status) = if let Some((at, status)) = found {
        (&text[..at], status)
    } else {
        let text = text.trim_end();
        let passed = before_any(text, &[" ✔", " [OK]"]);
        match passed {
            Some(name) => (name, TestStatus::Passed),
            None => FAILING
                .iter()
                .find_map(|(mark, status)| Some((text.strip_suffix(mark.trim_end())?, *status)))?,
        }
    };
    let name = without_duration(name);
    (!name.is_empty()).then_some((name, status))
}

/// The name without the ` 12345 ms` that a test of more than ten seconds bears.
fn without_duration(name: &str) -> &str {
    let slow = |number: &str| number.len() >= 5 && is_number(number);
    without_note(name, " ", " ms", slow).unwrap_or(name)
}
