//! Which lines of a log tell of which test, and how this runner writes an outcome.

use crate::text::{clean, lossy};
use atlas_core::TestStatus;
use std::collections::{BTreeMap, BTreeSet};

/// The most lines of a log and tests of it that are looked at.
const MAX_LINES: usize = 20_000;
const MAX_NAMES: usize = 4_000;
/// The most tests of one status whose lines are sought.
const SAMPLE: usize = 24;

/// A log cut into lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    /// As they stand there, without `\n`.
    pub(super) raw: Vec<&'a [u8]>,
    /// As a person sees them.
    pub(super) shown: Vec<String>,
}

/// A line without its escape sequences, and with what carriage returns overwrite: a reader may
/// need it.
pub(super) fn plain(raw: &[u8]) -> String {
    let plain = anstream::adapter::strip_bytes(raw).into_vec();
    lossy(&plain).trim_end_matches('\r').to_owned()
}

impl<'a> Lines<'a> {
    pub(super) fn of(log: &'a [u8]) -> Self {
        let mut raw: Vec<&[u8]> = log.split(|byte| *byte == b'\n').collect();
        if raw.last().is_some_and(|line| line.is_empty()) {
            raw.pop();
        }
        let shown = raw
            .iter()
            .map(|line| {
                let line = clean(line);
                lossy(&line).trim_end_matches('\r').to_owned()
            })
            .collect();
        Self { raw, shown }
    }

    /// The log with some lines replaced; no text takes a line out.
    pub(super) fn with(&self, changes: &BTreeMap<usize, Vec<String>>) -> Vec<u8> {
        let mut log = Vec::new();
        for (at, raw) in self.raw.iter().enumerate() {
            if let Some(lines) = changes.get(&at) {
                for line in lines {
                    log.extend_from_slice(line.as_bytes());
                    log.push(b'\n');
                }
            } else {
                log.extend_from_slice(raw);
                log.push(b'\n');
            }
        }
        log
    }
}

/// A test with the lines that hold its name.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) id: String,
    /// The part of the id that the lines hold.
    pub(super) name: String,
    pub(super) status: TestStatus,
    pub(super) lines: Vec<usize>,
}

/// What stands around a name, numbers made equal: one way of writing.
pub(super) type Way = (String, String);

/// How a runner writes outcomes.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// Each way with the statuses of the tests in whose lines it stands.
    pub(super) of: BTreeMap<Way, BTreeSet<TestStatus>>,
    /// In how many lines each stands.
    pub(super) seen: BTreeMap<Way, usize>,
}

/// A line that tells one outcome only.
#[derive(Clone, Debug)]
pub(super) struct Exemplar {
    pub(super) test: usize,
    pub(super) line: usize,
    pub(super) way: Way,
}

/// The place of a name in a line where it is no part of a longer word.
pub(super) fn find_word(line: &str, name: &str) -> Option<usize> {
    let plain = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    while let Some(at) = line[from..].find(name) {
        let at = from + at;
        let before = line[..at].chars().next_back();
        let behind = line[at + name.len()..].chars().next();
        let first = name.chars().next().is_some_and(plain);
        let last = name.chars().next_back().is_some_and(plain);
        if !(first && before.is_some_and(plain) || last && behind.is_some_and(plain)) {
            return Some(at);
        }
        from = at + name.chars().next().map_or(1, char::len_utf8);
    }
    None
}

/// What stands in an id before its last part.
pub(super) fn parent(id: &str) -> &str {
    let ends = [" > ", "::", "/", ".", " "].iter();
    ends.filter_map(|separator| id.rfind(separator))
        .max()
        .map_or("", |at| &id[..at])
}

/// The last part of an id, where it has parts.
fn leaf(id: &str) -> Option<&str> {
    [" > ", "::", " / ", "/"]
        .iter()
        .filter_map(|separator| id.rsplit_once(separator))
        .map(|(_, leaf)| leaf)
        .filter(|leaf| leaf.len() >= 3)
        .min_by_key(|leaf| leaf.len())
}

/// The tests of a log whose lines can be told from all others, evenly taken from each status.
pub(super) fn told(lines: &Lines<'_>, tests: &BTreeMap<&str, TestStatus>) -> Vec<Told> {
    let names: Vec<&str> = tests.keys().copied().take(MAX_NAMES).collect();
    let mut found = Vec::new();
    for status in TestStatus::ALL {
        let of: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| tests[name] == status)
            .collect();
        let step = of.len().div_ceil(SAMPLE).max(1);
        for id in of.into_iter().step_by(step) {
            found.extend(lines_of(lines, id, status, &names));
        }
    }
    found
}

fn lines_of(lines: &Lines<'_>, id: &str, status: TestStatus, names: &[&str]) -> Option<Told> {
    for name in [Some(id), leaf(id)].into_iter().flatten() {
        if name.len() < 2 || name.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        // Lines of a test whose name holds this one are not its lines.
        let others: Vec<&&str> = names
            .iter()
            .filter(|other| **other != id && other.contains(name))
            .collect();
        if others.len() > 20
            || others
                .iter()
                .any(|other| leaf(other) == Some(name) || **other == name)
        {
            continue;
        }
        let mut at: Vec<usize> = Vec::new();
        for (number, line) in lines.shown.iter().enumerate().take(MAX_LINES) {
            if line.len() >= name.len()
                && find_word(line, name).is_some()
                && !others.iter().any(|other| line.contains(**other))
            {
                at.push(number);
                if at.len() > 12 {
                    break;
                }
            }
        }
        if (1..=12).contains(&at.len()) {
            return Some(Told {
                id: id.to_owned(),
                name: name.to_owned(),
                status,
                lines: at,
            });
        }
    }
    None
}

/// Numbers made equal.
pub(super) fn level(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if c.is_ascii_digit() {
            if !out.ends_with('#') {
                out.push('#');
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// How a line writes the outcome of a name in it: all that stands before, and the first word behind.
pub(super) fn way(line: &str, name: &str) -> Option<Way> {
    let at = find_word(line, name)?;
    let behind = line[at + name.len()..].trim_start();
    // `... ok`: dots lead to the word.
    let behind = behind.trim_start_matches(['.', ' ', '\t']);
    let word: String = behind.split_whitespace().take(1).collect();
    Some((level(&line[..at]), level(&word)))
}

impl Ways {
    pub(super) fn learn(lines: &Lines<'_>, tests: &[Told]) -> Self {
        let mut ways = Self::default();
        for test in tests {
            for line in &test.lines {
                if let Some(way) = way(&lines.shown[*line], &test.name) {
                    *ways.seen.entry(way.clone()).or_default() += 1;
                    ways.of.entry(way).or_default().insert(test.status);
                }
            }
        }
        ways
    }

    /// The lines of a test that tell nothing but its outcome.
    pub(super) fn telling(&self, lines: &Lines<'_>, tests: &[Told], test: usize) -> Vec<Exemplar> {
        let told = &tests[test];
        let only = BTreeSet::from([told.status]);
        let mut found = Vec::new();
        for line in &told.lines {
            let Some(way) = way(&lines.shown[*line], &told.name) else {
                continue;
            };
            let empty = way.0.is_empty() && way.1.is_empty();
            if !empty && self.of.get(&way) == Some(&only) {
                found.push(Exemplar {
                    test,
                    line: *line,
                    way,
                });
            }
        }
        found
    }
}

/// How much two ways have in common at their ends.
pub(super) fn likeness(a: &Way, b: &Way) -> usize {
    let common = |a: &str, b: &str| {
        let ahead = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        let back = a
            .chars()
            .rev()
            .zip(b.chars().rev())
            .take_while(|(a, b)| a == b)
            .count();
        ahead.max(back)
    };
    let same_side = usize::from(a.0.is_empty() == b.0.is_empty())
        + usize::from(a.1.is_empty() == b.1.is_empty());
    common(&a.0, &b.0) + common(&a.1, &b.1) + 4 * same_side
}

/// A test's line, written as another test's line is: its words, this one's name, indentation and
/// numbers.
pub(super) fn rewritten(own: &str, name: &str, model: &str, model_name: &str) -> Option<String> {
    let at = find_word(model, model_name)?;
    let own_at = find_word(own, name)?;
    let (before, behind) = (&model[..at], &model[at + model_name.len()..]);
    let (own_before, own_behind) = (&own[..own_at], &own[own_at + name.len()..]);
    let indent = &own_before[..indent_len(own_before)];
    let before = with_numbers(&before[indent_len(before)..], &own_before[indent.len()..]);
    Some(format!(
        "{indent}{before}{name}{}",
        with_numbers(behind, own_behind)
    ))
}

/// How long the blanks and the lines of a drawn tree are that a line begins with: a result keeps
/// its place in the tree. A dash alone is a word of many runners.
pub(super) fn indent_len(line: &str) -> usize {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let joint = ["+--", "'--", "`--", "\\--"];
        if let Some(joint) = joint.iter().find(|joint| rest.starts_with(**joint)) {
            at += joint.len();
        } else if c.is_whitespace() || c == '|' || ('\u{2500}'..='\u{257f}').contains(&c) {
            at += c.len_utf8();
        } else {
            break;
        }
    }
    at
}

/// A text with the numbers of another, where they have equally many.
fn with_numbers(text: &str, of: &str) -> String {
    let runs = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|run| !run.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let numbers = runs(of);
    if runs(text).len() != numbers.len() {
        return text.to_owned();
    }
    let mut numbers = numbers.into_iter();
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if c.is_ascii_digit() {
            if !inside && let Some(number) = numbers.next() {
                out.push_str(&number);
            }
            inside = true;
        } else {
            inside = false;
            out.push(c);
        }
    }
    out
}
