//! Changes that say nothing of any test: text of others, colours, line ends.

use super::certificate::CheckKind;
use super::lines::{Exemplar, Lines, indent_len};
use super::mutate::{Expect, Mutation};
use super::words::saying;
use std::collections::{BTreeMap, BTreeSet};

/// At how many places text is put between the lines.
const PLACES: usize = 8;

/// Sentences that stand in logs and are no results of any runner.
const PROSE: [&str; 9] = [
    "All checks look good and nothing went wrong today.",
    "Error: could not open the file, will try again",
    "the job was fine and passed its review, or so they say",
    "   at run (/srv/app/main.js:10:5)",
    "https://example.org/ok?status=PASS&n=3",
    "[debug] the connection PASSED through worker 7 and FAILED to return",
    "{\"event\": \"note\", \"ok\": true}",
    "we skipped lunch, then 3 pears failed to ripen",
    "note: it is ok. done.",
];

/// Puts sentences between the lines, the runner's own words in some of them.
pub(super) fn prose(lines: &Lines<'_>, telling: &[Exemplar], all: &mut Vec<Mutation>) {
    let mut sentences: Vec<String> = PROSE.map(str::to_owned).to_vec();
    let tree = is_tree(lines, telling);
    // The runner's own words, amid sentences.
    let mut words = BTreeSet::new();
    for own in telling {
        let text = format!("{} {}", own.way.0, own.way.1);
        words.extend(
            text.split_whitespace()
                .filter(|word| saying(word).is_some())
                .map(|word| word.trim_end_matches([':', ',', '.']).to_owned()),
        );
    }
    for word in words.iter().take(6) {
        sentences.push(format!(
            "somebody said that {word} was all they saw, and left"
        ));
        sentences.push(format!("    it printed <{word}> and went on with its work"));
    }
    if tree {
        // In a tree whatever is indented is a title.
        for sentence in &mut sentences {
            sentence.drain(..indent_len(sentence));
        }
    }
    let count = lines.raw.len();
    let open: Vec<usize> = (0..count).filter(|at| is_open(lines, *at)).collect();
    let mut places: BTreeSet<usize> = (1..=PLACES)
        .filter_map(|n| open.get(n * open.len() / (PLACES + 1)).copied())
        .collect();
    places.insert(count - 1);
    let mut changes = BTreeMap::new();
    let mut next = 0;
    for place in places {
        let mut text = vec![String::from_utf8_lossy(lines.raw[place]).into_owned()];
        for _ in 0..=sentences.len().div_ceil(PLACES) {
            text.push(sentences[next % sentences.len()].clone());
            next += 1;
        }
        changes.insert(place, text);
    }
    all.push(Mutation {
        log: lines.with(&changes),
        what: format!("{next} lines of ordinary text between the lines"),
        line: None,
        expect: vec![
            (CheckKind::Prose, Expect::NothingInvented),
            (CheckKind::Interleave, Expect::NothingLost),
        ],
    });
}

/// Whether results stand indented below their suites' titles.
fn is_tree(lines: &Lines<'_>, telling: &[Exemplar]) -> bool {
    let indented = |line: &&Exemplar| indent_len(&lines.shown[line.line]) >= 2;
    telling.iter().filter(indented).count() * 2 > telling.len()
}

/// Whether text of others can stand behind a line. What a runner prints at once is not torn: an
/// empty line and the line that it sets off, a heading between rules, a line and what is indented
/// below it.
fn is_open(lines: &Lines<'_>, at: usize) -> bool {
    let (Some(line), Some(next)) = (lines.shown.get(at), lines.shown.get(at + 1)) else {
        return true;
    };
    if line.trim().is_empty() {
        return false;
    }
    let heading = |at: usize| lines.shown.get(at).is_some_and(|line| is_rule(line));
    if heading(at) || heading(at + 1) || heading(at.wrapping_sub(1)) && heading(at + 2) {
        return false;
    }
    next.trim().is_empty() || indent_len(next) <= indent_len(line)
}

/// A line drawn with one character, a title in it or not.
fn is_rule(line: &str) -> bool {
    const WIDTH: usize = 4;
    let line = line.trim();
    let Some(first) = line.chars().next().filter(|c| !c.is_alphanumeric()) else {
        return false;
    };
    let run = line.chars().take_while(|c| *c == first).count();
    let last = line.chars().rev().take_while(|c| *c == first).count();
    run >= WIDTH && (last >= WIDTH || run == line.chars().count())
}

/// Colours that mean nothing, and line ends of another system.
pub(super) fn dressed(lines: &Lines<'_>, all: &mut Vec<Mutation>) {
    let each = |before: &[u8], behind: &[u8]| -> Vec<u8> {
        let mut log = Vec::new();
        for line in &lines.raw {
            log.extend([before, line, behind].into_iter().flatten());
        }
        log
    };
    let has = |byte: u8| lines.raw.iter().any(|line| line.contains(&byte));
    // A colour that no runner means anything by; those that are there may mean something.
    if !has(0x1b) {
        all.push(Mutation {
            log: each(b"\x1b[38;2;180;190;200m", b"\x1b[0m\n"),
            what: "every line in colour".to_owned(),
            line: None,
            expect: vec![(CheckKind::Colours, Expect::Same)],
        });
    }
    if !has(b'\r') {
        all.push(Mutation {
            log: each(b"", b"\r\n"),
            what: "every line ends in CR LF".to_owned(),
            line: None,
            expect: vec![(CheckKind::LineEnds, Expect::Same)],
        });
    }
}
