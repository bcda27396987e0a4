//! pytest's summary lines, in the five ways the harnesses read them.

use super::text::{is_digit, lines, printed_end, words};
use super::{
    Answer, CompatFault, CompatFound, CompatStatuses, ERROR, FAILED, PASSED, SKIPPED, STATUSES,
    XFAIL,
};
use std::borrow::Cow;

pattern!(COUNT = r"^\[\d+\]$");
pattern!(PROGRESS = r"^\[\s*\d+%]$");

/// What an unparsed `SKIPPED [2] a.py:3: why` line is: 5.0 drops it, the others take `[2]` for a test.
#[derive(Clone, Copy, PartialEq)]
enum Counts {
    Kept,
    Dropped,
}

impl Counts {
    fn drops(self, status: &str, name: &str) -> bool {
        self == Self::Dropped && status == SKIPPED && COUNT.is_match(name)
    }
}

/// The status that a text begins with.
fn status_of(text: &[u8]) -> Option<&'static str> {
    // They differ in their first letters, and to compare with a text that is known is quicker.
    match text.first()? {
        b'P' => text.starts_with(b"PASSED").then_some(PASSED),
        b'F' => text.starts_with(b"FAILED").then_some(FAILED),
        b'S' => text.starts_with(b"SKIPPED").then_some(SKIPPED),
        b'E' => text.starts_with(b"ERROR").then_some(ERROR),
        b'X' => text.starts_with(b"XFAIL").then_some(XFAIL),
        _ => None,
    }
}

fn begins_with_status(line: &str) -> bool {
    status_of(line.as_bytes()).is_some()
}

fn ends_with_status(line: &str) -> bool {
    matches!(line.as_bytes().last(), Some(b'D' | b'R' | b'L'))
        && STATUSES.iter().any(|status| line.ends_with(status))
}

/// A failure's line with its first dashes taken for a blank.
fn without_dashes(line: &str) -> Cow<'_, str> {
    if line.starts_with(FAILED) && line.contains(" - ") {
        Cow::Owned(line.replace(" - ", " "))
    } else {
        Cow::Borrowed(line)
    }
}

/// Status and name of a summary line: its first two words.
fn two_words(line: &str) -> Option<(&str, &str)> {
    // Mostly there are no blanks but ` ` and only one of it.
    let bytes = line.as_bytes();
    let blank = printed_end(bytes, 0);
    if blank > 0 && bytes.get(blank) == Some(&b' ') {
        let end = printed_end(bytes, blank + 1);
        if end > blank + 1 && matches!(bytes.get(end), None | Some(b' ')) {
            return Some((&line[..blank], &line[blank + 1..end]));
        }
    }
    let mut words = words(line);
    Some((words.next()?, words.next()?))
}

/// What counts of a name.
enum Part {
    /// So many of its first bytes.
    First(usize),
    /// Another text.
    Other(String),
}

impl Part {
    fn all(name: &str) -> Self {
        Self::First(name.len())
    }
}

/// Status, the name's place and the end of the line that begins at `at`, where it is a status, a blank and an id of
/// nothing but what ASCII prints, as most lines of a summary are.
#[inline]
fn plain_line(log: &str, at: usize) -> Option<(&'static str, usize, usize)> {
    let bytes = log.as_bytes();
    let status = status_of(&bytes[at..])?;
    let blank = at + status.len();
    if bytes.get(blank) != Some(&b' ') {
        return None;
    }
    let name = blank + 1;
    let end = printed_end(bytes, name);
    let is_line = matches!(bytes.get(end), None | Some(b'\n'));
    (is_line && end > name).then_some((status, name, end))
}

fn summary(log: &str, counts: Counts, rename: impl Fn(&str) -> Part) -> CompatFound {
    let mut found = CompatFound::of(log);
    let mut at = 0;
    while at <= log.len() {
        let end = if let Some((status, name, end)) = plain_line(log, at) {
            let place = name..end;
            let name = &log[place.clone()];
            if !counts.drops(status, name) {
                match rename(name) {
                    Part::First(length) => {
                        found.push_place(log, place.start..place.start + length, status);
                    }
                    Part::Other(name) => found.push(&name, status),
                }
            }
            end
        } else {
            let rest = &log[at..];
            let length = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            read_summary(&rest[..length], counts, &rename, &mut found);
            at + length
        };
        at = end + 1;
    }
    found
}

fn read_summary(
    line: &str,
    counts: Counts,
    rename: &impl Fn(&str) -> Part,
    found: &mut CompatFound,
) {
    if !begins_with_status(line) {
        return;
    }
    let line = without_dashes(line);
    if let Some((status, name)) = two_words(&line)
        && !counts.drops(status, name)
    {
        match rename(name) {
            Part::First(length) => found.push(&name[..length], status),
            Part::Other(name) => found.push(&name, status),
        }
    }
}

pub(super) fn pytest5(log: &str) -> CompatFound {
    summary(log, Counts::Dropped, Part::all)
}

pub(super) fn pytest4(log: &str) -> CompatFound {
    summary(log, Counts::Kept, Part::all)
}

/// SWE-Bench++ cuts a failure at its last dash, and so loses one that has none.
pub(super) fn pytest_pp(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in lines(log).filter(|line| begins_with_status(line)) {
        let line = if line.starts_with(FAILED) {
            until_last_dash(line).unwrap_or_default()
        } else {
            line
        };
        if let Some((status, name)) = two_words(line) {
            found.push(name, status);
        }
    }
    found
}

/// The dashes are counted from the left: of `a - - b` the first two characters around one are gone
/// before the second is looked for.
fn until_last_dash(line: &str) -> Option<&str> {
    line.match_indices(" - ").last().map(|(at, _)| &line[..at])
}

/// `t[/tmp/x/b.py]` as `t[/b.py]`; what follows the last bracket is dropped.
fn short_option(name: &str) -> Part {
    let (Some(open), Some(close)) = (name.find('['), name.rfind(']')) else {
        return Part::all(name);
    };
    if close < open {
        return Part::all(name);
    }
    let (main, option) = (&name[..open], &name[open + 1..close]);
    if option.starts_with('/') && !option.starts_with("//") && !option.contains('*') {
        let last = option.rsplit('/').next().unwrap_or_default();
        return Part::Other(format!("{main}[/{last}]"));
    }
    Part::First(close + 1)
}

pub(super) fn options5(log: &str) -> CompatFound {
    summary(log, Counts::Dropped, short_option)
}

pub(super) fn options4(log: &str) -> CompatFound {
    summary(log, Counts::Kept, short_option)
}

fn matplotlib(log: &str, counts: Counts) -> CompatFound {
    let mut found = CompatFound::default();
    for line in lines(log) {
        let line = if line.contains("MouseButton.") {
            Cow::Owned(
                line.replace("MouseButton.LEFT", "1")
                    .replace("MouseButton.RIGHT", "3"),
            )
        } else {
            Cow::Borrowed(line)
        };
        read_summary(&line, counts, &Part::all, &mut found);
    }
    found
}

pub(super) fn matplotlib5(log: &str) -> CompatFound {
    matplotlib(log, Counts::Dropped)
}

pub(super) fn matplotlib4(log: &str) -> CompatFound {
    matplotlib(log, Counts::Kept)
}

/// The line without `[32m` (the escape byte before it is a control character, and so gone too) and
/// without control characters, tabs among them.
fn plain(line: &str) -> Cow<'_, str> {
    let coloured =
        memchr::memchr_iter(b'[', line.as_bytes()).any(|at| colour_end(&line[at + 1..]).is_some());
    let controlled = line.bytes().any(is_control);
    if !coloured && !controlled {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('[') {
        text.push_str(&rest[..at]);
        if let Some(after) = colour_end(&rest[at + 1..]) {
            rest = after;
        } else {
            text.push('[');
            rest = &rest[at + 1..];
        }
    }
    text.push_str(rest);
    text.retain(|c| !u8::try_from(c).is_ok_and(is_control));
    Cow::Owned(text)
}

fn is_control(byte: u8) -> bool {
    (1..32).contains(&byte)
}

/// The text after `32m`.
fn colour_end(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(is_digit);
    (rest.len() < text.len())
        .then(|| rest.strip_prefix('m'))
        .flatten()
}

/// The words with one blank between them.
fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut name = String::new();
    for word in words {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    name
}

pub(super) fn v2_5(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in lines(log) {
        let line = plain(line);
        if begins_with_status(&line) {
            let line = if line.starts_with(FAILED) {
                super::text::before(&line, " - ")
            } else {
                &line
            };
            if let Some((status, name)) = two_words(line)
                && !Counts::Dropped.drops(status, name)
            {
                found.push(&joined(words(line).skip(1)), status);
            }
        } else if ends_with_status(&line) {
            let mut all: Vec<&str> = words(&line).collect();
            if let Some(status) = all.pop()
                && !all.is_empty()
            {
                found.push(&joined(all.into_iter()), status);
            }
        }
    }
    found
}

pub(super) fn v2_4(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in lines(log) {
        let line = plain(line);
        if begins_with_status(&line) {
            if let Some((status, name)) = two_words(&without_dashes(&line)) {
                found.push(name, status);
            }
        } else if ends_with_status(&line)
            && let Some((name, status)) = two_words(&line)
        {
            found.push(name, status);
        }
    }
    found
}

pub(super) fn v2_pp(log: &str) -> CompatFound {
    let mut found = CompatFound::default();
    for line in lines(log) {
        let line = plain(line);
        if begins_with_status(&line) {
            let line = if line.starts_with(FAILED) {
                until_last_dash(&line).unwrap_or(&line)
            } else {
                &line
            };
            if let Some((status, _)) = two_words(line) {
                let name = joined(words(line).skip(1));
                if !PROGRESS.is_match(&name) {
                    found.push(&name, status);
                }
            }
        } else if ends_with_status(&line)
            && let Some((name, status)) = two_words(&line)
            && !PROGRESS.is_match(name)
        {
            found.push(name, status);
        }
    }
    found
}

/// Passes and failures only; a line of one word is passed over.
pub(super) fn seaborn5(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in lines(log) {
        if two_words(line).is_some() {
            // Two words are all that the reading can miss.
            let _ = read_seaborn(line, &mut found);
        }
    }
    found
}

/// As [`seaborn5`], but a line of one word raises.
pub(super) fn seaborn4(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    for line in lines(log) {
        read_seaborn(line, &mut found)?;
    }
    Ok(found)
}

fn read_seaborn(line: &str, found: &mut CompatStatuses) -> Result<(), CompatFault> {
    let second = || words(line).nth(1).ok_or_else(CompatFault::index);
    if line.starts_with(FAILED) {
        found.insert(second()?.to_owned(), FAILED.to_owned());
    } else if line.contains(" PASSED ") {
        if second()? == PASSED {
            let name = words(line).next().unwrap_or_default();
            found.insert(name.to_owned(), PASSED.to_owned());
        }
    } else if line.starts_with(PASSED) {
        found.insert(second()?.to_owned(), PASSED.to_owned());
    }
    Ok(())
}
