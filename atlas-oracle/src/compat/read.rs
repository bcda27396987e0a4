//! From a stored log to statuses, or to the reason why there are none.

use super::{CompatLines, CompatRead};
use atlas_core::Harness;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use regex::Regex;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::sync::LazyLock;

const START: &str = ">>>>> Start Test Output";
const END: &str = ">>>>> End Test Output";

/// What all markers begin with.
const ARROWS: &str = ">>>>> ";

/// Lines after which nothing in a log counts, wherever they stand.
const BAD: [&str; 4] = [
    ">>>>> Patch Apply Failed",
    ">>>>> Reset Failed",
    ">>>>> Tests Errored",
    ">>>>> Tests Timed Out",
];

/// Signs that a runner ran at all. What they match is part of the harness's verdicts.
static SUITE_RAN: LazyLock<Regex> = LazyLock::new(|| {
    const PARTS: [&str; 8] = [
        r"Executed [1-9]\d* of \d+",
        r"TOTAL: [1-9]\d* (?:SUCCESS|FAILED)",
        r"[1-9]\d* passing",
        r"Tests:[\s\x1c-\x1f]+[1-9]\d*",
        r"Test Suites:[\s\x1c-\x1f]+(?:\d+ \w+, )*[1-9]\d* total",
        r"^# tests [1-9]\d*",
        r"[1-9]\d* specs?, \d+ failures?",
        r"': ok$",
    ];
    let pattern = format!("(?m){}", PARTS.join("|"));
    Regex::new(&pattern).expect("the pattern is a constant")
});

/// What an exit code stands behind.
const CODE: &str = ">>>>> Test Exit Code:";

static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!(r"{CODE}[\s\x1c-\x1f]*(-?\d+)")).expect("the pattern is a constant")
});

/// The longest number that Python turns into an integer; a longer one raises.
const MAX_DIGITS: usize = 4300;

/// Names and status texts, as the harness's own parser gave them. A name is known by the first of its
/// lines.
#[derive(Debug, Default)]
pub(super) struct Statuses {
    lines: CompatLines,
    /// The names, by their hash.
    known: HashTable<usize>,
    hasher: DefaultHashBuilder,
    /// The last line of a name that has several: it has the status.
    last: BTreeMap<usize, usize>,
    /// Whether the lines stand in the parser's order.
    is_ordered: bool,
    /// The line behind the one that was asked for last: lists mostly have the order of the log.
    next: Cell<usize>,
    /// The names in their order, once somebody asks for it.
    sorted: OnceCell<Vec<usize>>,
}

impl Statuses {
    fn of(lines: CompatLines, is_ordered: bool) -> Self {
        let hasher = DefaultHashBuilder::default();
        let names = &lines.names;
        let mut known = HashTable::with_capacity(names.len());
        let mut last = BTreeMap::new();
        for (line, name) in names.iter().enumerate() {
            let entry = known.entry(
                hasher.hash_one(name),
                |first| &names[*first] == name,
                |first| hasher.hash_one(&names[*first]),
            );
            match entry {
                Entry::Vacant(entry) => {
                    entry.insert(line);
                }
                Entry::Occupied(entry) => {
                    last.insert(*entry.get(), line);
                }
            }
        }
        Self {
            lines,
            known,
            hasher,
            last,
            is_ordered,
            ..Self::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.lines.names.is_empty()
    }

    fn status(&self, first: usize) -> &str {
        let last = self.last.get(&first).copied();
        &self.lines.statuses[last.unwrap_or(first)]
    }

    fn name(&self, first: usize) -> &str {
        &self.lines.names[first]
    }

    /// The status of a name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let next = self.next.get();
        let is_next = self.last.is_empty() && self.lines.names.get(next) == Some(name);
        let first = if is_next {
            next
        } else {
            let is_it = |first: &usize| self.name(*first) == name;
            *self.known.find(self.hasher.hash_one(name), is_it)?
        };
        self.next.set(first + 1);
        Some(self.status(first))
    }

    fn sorted(&self) -> &[usize] {
        self.sorted.get_or_init(|| {
            let mut all: Vec<usize> = self.known.iter().copied().collect();
            all.sort_unstable_by(|one, other| self.name(*one).cmp(self.name(*other)));
            all
        })
    }

    /// The status of a name that was cut off in the middle of a parameter: of the names that begin
    /// with it, where they agree on passing or not, the first that the log names. The second value
    /// says whether that choice is certain.
    pub(super) fn of_truncated(&self, name: &str) -> Option<(&str, bool)> {
        let sorted = self.sorted();
        let from = sorted.partition_point(|first| self.name(*first) < name);
        let length = sorted[from..].partition_point(|first| self.name(*first).starts_with(name));
        let matches = &sorted[from..from + length];
        let place = |first: &&usize| self.is_ordered.then_some(**first);
        let first = self.status(*matches.iter().min_by_key(place)?);
        let passes = |status: &str| matches!(status, "PASSED" | "XFAIL");
        let mut statuses = matches.iter().map(|first| self.status(*first));
        if statuses
            .clone()
            .any(|status| passes(status) != passes(first))
        {
            return None;
        }
        let certain = self.is_ordered || statuses.all(|status| status == first);
        Some((first, certain))
    }

    fn names_a_failure(&self) -> bool {
        let mut statuses = self.known.iter().map(|first| self.status(*first));
        statuses.any(|status| matches!(status, "FAILED" | "ERROR"))
    }

    /// Names and statuses, for whoever compares.
    pub(super) fn to_map(&self) -> BTreeMap<String, String> {
        let all = self.known.iter().copied();
        all.map(|first| (self.name(first).to_owned(), self.status(first).to_owned()))
            .collect()
    }
}

/// Where markers may stand in a log: each begins with the same arrows, so one search finds all.
#[derive(Debug)]
struct Arrows<'a> {
    text: &'a str,
    places: Vec<usize>,
}

impl<'a> Arrows<'a> {
    fn of(text: &'a str) -> Self {
        let places = memchr::memmem::find_iter(text.as_bytes(), ARROWS.as_bytes());
        Self {
            text,
            places: places.collect(),
        }
    }

    /// The first place of a marker at or behind `from`.
    fn first(&self, marker: &str, from: usize) -> Option<usize> {
        let fits =
            |at: &usize| *at >= from && self.text.as_bytes()[*at..].starts_with(marker.as_bytes());
        self.places.iter().copied().find(fits)
    }
}

/// What became of a log.
#[derive(Debug)]
pub(super) enum Read {
    /// It is graded.
    Gradable(Statuses),
    /// The harness takes nothing from it, for this reason.
    Ungradable(String),
    /// The harness's grading ends with an exception.
    Raised(String),
}

/// Reads a log as the harness does.
pub(super) fn read(
    harness: Harness,
    log: &[u8],
    parse: &dyn Fn(&str) -> CompatRead,
    why: &mut Vec<String>,
) -> Read {
    let text = match strict_text(log) {
        Ok(text) => text,
        Err(said) => return Read::Raised(said),
    };
    let arrows = Arrows::of(&text);
    if let Some(bad) = BAD.iter().find(|bad| arrows.first(bad, 0).is_some()) {
        return Read::Ungradable(format!("`{bad}` stands in the log"));
    }
    let (Some(start), Some(_)) = (arrows.first(START, 0), arrows.first(END, 0)) else {
        let missing = [START, END].map(|marker| (marker, arrows.first(marker, 0)));
        let missing = missing.iter().find(|(_, at)| at.is_none());
        let marker = missing.map_or(START, |(marker, _)| marker);
        return Read::Ungradable(format!("`{marker}` does not stand in the log"));
    };
    // What the harnesses split at the begin marker ends at the next one, too.
    let from = start + START.len();
    let ends = [START, END].map(|marker| arrows.first(marker, from));
    let to = ends.into_iter().flatten().min().unwrap_or(text.len());
    let marked = &text[from..to];
    let mut statuses = match statuses(parse(marked)) {
        Ok(statuses) => statuses,
        Err(said) => return Read::Raised(said),
    };
    if harness == Harness::SweBenchPp {
        return Read::Gradable(statuses);
    }
    if statuses.is_empty() {
        statuses = match self::statuses(parse(&text)) {
            Ok(statuses) => statuses,
            Err(said) => return Read::Raised(said),
        };
        if !statuses.is_empty() {
            why.push("no test between the markers, so the whole log was read".to_owned());
        }
    }
    if harness == Harness::SweBench4 {
        return Read::Gradable(statuses);
    }
    if statuses.is_empty() && !SUITE_RAN.is_match(&text) {
        return Read::Ungradable("no test in the log and no sign that a suite ran".to_owned());
    }
    let code = match exit_code(&arrows) {
        Ok(code) => code,
        Err(said) => return Read::Raised(said),
    };
    if let Some(code) = code
        && !statuses.is_empty()
        && !statuses.names_a_failure()
    {
        return Read::Ungradable(format!(
            "the first exit code in the log is {code} and no test failed"
        ));
    }
    Read::Gradable(statuses)
}

fn statuses(read: CompatRead) -> Result<Statuses, String> {
    let lines = |found: Vec<(String, String)>| {
        let names = found.iter().map(|(name, _)| name).collect();
        let statuses = found.into_iter().map(|(_, status)| status.into()).collect();
        CompatLines { names, statuses }
    };
    match read {
        CompatRead::Statuses(found) => Ok(Statuses::of(lines(found.into_iter().collect()), false)),
        // A name that comes again keeps its place and takes the later status.
        CompatRead::Ordered(found) => Ok(Statuses::of(lines(found), true)),
        CompatRead::Lines(found) => Ok(Statuses::of(found, false)),
        CompatRead::Raised(said) => Err(said),
    }
}

/// The first recorded exit code of the log, as text, if it is not zero.
fn exit_code<'a>(arrows: &Arrows<'a>) -> Result<Option<&'a str>, String> {
    let Some(from) = arrows.first(CODE, 0) else {
        return Ok(None);
    };
    let from = &arrows.text[from..];
    let found = plain_code(from).or_else(|| EXIT_CODE.captures(from)?.get(1).map(|it| it.as_str()));
    let Some(found) = found else {
        return Ok(None);
    };
    let digits = found.trim_start_matches('-');
    if digits.chars().count() > MAX_DIGITS {
        return Err("ValueError: the exit code in the log has too many digits".to_owned());
    }
    let zero = digits.chars().all(|digit| digit == '0');
    Ok((!zero).then_some(found))
}

/// The code behind a [`CODE`] as scripts print it: blanks, digits, and no further character that could be
/// a digit of some script.
fn plain_code(text: &str) -> Option<&str> {
    let rest = text[CODE.len()..].trim_start_matches(' ');
    let unsigned = rest.strip_prefix('-').unwrap_or(rest);
    let length = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let is_whole = unsigned.as_bytes().get(length).is_none_or(u8::is_ascii);
    (length > 0 && is_whole).then(|| &rest[..rest.len() - unsigned.len() + length])
}

/// A file's text as Python's `open` reads it: UTF-8 or an exception, every line end a `\n`.
fn strict_text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return Ok(newlines(Cow::Borrowed(text)));
    }
    let at = bytes
        .utf8_chunks()
        .next()
        .map_or(0, |chunk| chunk.valid().len());
    Err(format!(
        "UnicodeDecodeError: byte {at} of the log is no UTF-8"
    ))
}

/// The same with bytes that are no text replaced.
pub(super) fn lenient_text(bytes: &[u8]) -> Cow<'_, str> {
    let text = simdutf8::basic::from_utf8(bytes).map(Cow::Borrowed);
    newlines(text.unwrap_or_else(|_| String::from_utf8_lossy(bytes)))
}

fn newlines(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_some() {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{CompatLines, Statuses};
    use std::collections::BTreeMap;

    /// Every question in this order gets the answer of a map that the lines were put into.
    #[track_caller]
    fn check(lines: &[(&str, &'static str)], questions: &[&str]) {
        let statuses = Statuses::of(
            CompatLines {
                names: lines.iter().map(|(name, _)| name).collect(),
                statuses: lines.iter().map(|(_, status)| (*status).into()).collect(),
            },
            false,
        );
        let known: BTreeMap<&str, &str> = lines.iter().copied().collect();
        for name in questions {
            assert_eq!(statuses.get(name), known.get(name).copied(), "{name}");
        }
        let map = statuses.to_map();
        let map = map.iter().map(|(name, status)| (&**name, &**status));
        assert_eq!(map.collect::<BTreeMap<_, _>>(), known);
    }

    #[test]
    fn a_name_has_the_status_of_its_last_line_in_whatever_order_it_is_asked_for() {
        let questions = ["a", "b", "c", "d", "d", "a", "c", "b", "e", "a", "b"];
        check(
            &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")],
            &questions,
        );
        check(&[("d", "1"), ("c", "2"), ("a", "3")], &questions);
        check(
            &[
                ("a", "1"),
                ("b", "2"),
                ("a", "3"),
                ("c", "4"),
                ("b", "5"),
                ("a", "6"),
            ],
            &questions,
        );
        check(&[], &questions);
    }
}
