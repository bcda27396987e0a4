//! The lines of `cypress run`.

use crate::edges::{is_number, without_note};

/// A line of a spec's tree.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry<'a> {
    Passed(&'a str),
    /// `1) title`: the number and the title.
    Failed(u64, &'a str),
    /// `✖ title`, where attempts are counted by a strategy.
    Crossed(&'a str),
    Pending(&'a str),
    /// One of several attempts, whose outcome does not count.
    Attempt,
    Suite(&'a str),
}

/// Reads a line of the tree: its depth, from 0, and what it says.
pub(super) fn entry(line: &str) -> Option<(usize, Entry<'_>)> {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    if blanks < 2 || !blanks.is_multiple_of(2) || text.is_empty() {
        return None;
    }
    let depth = blanks / 2 - 1;
    let mark = |marks: [&str; 2]| marks.iter().find_map(|mark| text.strip_prefix(*mark));
    let entry = if let Some(rest) = mark(["✓", "√"]) {
        if is_attempt(rest) {
            Entry::Attempt
        } else {
            Entry::Passed(without_time(rest.strip_prefix(' ')?))
        }
    } else if let Some(rest) = mark(["✖", "×"]) {
        if is_attempt(rest) {
            Entry::Attempt
        } else {
            Entry::Crossed(rest.strip_prefix(' ')?)
        }
    } else if let Some(rest) = text.strip_prefix("- ") {
        Entry::Pending(rest)
    } else if is_attempt(text) {
        Entry::Attempt
    } else if let Some((number, title)) = numbered(text) {
        Entry::Failed(number, title)
    } else {
        Entry::Suite(text)
    };
    Some((depth, entry))
}

/// `(Attempt 1 of 3) title`
fn is_attempt(text: &str) -> bool {
    let attempt = || {
        let (count, _) = text.strip_prefix("(Attempt ")?.split_once(") ")?;
        let (one, all) = count.split_once(" of ")?;
        Some(is_number(one) && is_number(all))
    };
    attempt().unwrap_or(false)
}

/// `3) title`
fn numbered(text: &str) -> Option<(u64, &str)> {
    let (number, title) = text.split_once(") ")?;
    Some((number.parse().ok()?, title))
}

/// Drops ` (438ms)`.
fn without_time(title: &str) -> &str {
    without_note(title, " (", "ms)", |time| is_number(time)).unwrap_or(title)
}

/// The test that a failing hook is charged to: `"before each" hook for "title"`.
pub(super) fn test_of_hook(title: &str) -> Option<&str> {
    let rest = title.strip_prefix('"')?;
    let (hook, rest) = rest.split_once("\" hook")?;
    if !matches!(
        hook,
        "before each" | "before all" | "after each" | "after all"
    ) {
        return None;
    }
    // A hook may have a name: `"before each" hook: sign in for "title"`.
    let (_, test) = rest.split_once(" for \"")?;
    test.strip_suffix('"').filter(|test| !test.is_empty())
}

/// `  Running:  a.cy.js      (1 of 2)`: the file.
pub(super) fn running(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  Running:  ")?;
    let (file, count) = rest.rsplit_once('(')?;
    let (one, all) = count.trim_end().strip_suffix(')')?.split_once(" of ")?;
    (is_number(one) && is_number(all) && file.ends_with(' ')).then(|| file.trim())
}

/// `  3 passing (2s)`: the word.
pub(super) fn tally(line: &str) -> Option<&str> {
    let (number, word) = line.strip_prefix("  ")?.split_once(' ')?;
    let word = word.split(" (").next().unwrap_or(word);
    let known = matches!(word, "passing" | "pending" | "failing");
    (known && number.parse::<u64>().is_ok()).then_some(word)
}

/// `  │ Passing:      1      │`: the name and the value.
pub(super) fn boxed(line: &str) -> Option<(&str, &str)> {
    let text = line.strip_prefix("  │ ")?.strip_suffix('│')?;
    let (name, value) = text.split_once(':')?;
    Some((name, value.trim()))
}
