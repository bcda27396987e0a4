//! From a stored log to statuses, or to the reason why there are none.

use super::CompatRead;
use atlas_core::Harness;
use regex::Regex;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
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

static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r">>>>> Test Exit Code:[\s\x1c-\x1f]*(-?\d+)").expect("the pattern is a constant")
});

/// The longest number that Python turns into an integer; a longer one raises.
const MAX_DIGITS: usize = 4300;

/// Names and status texts, as the harness's own parser gave them.
#[derive(Debug, Default)]
pub(super) struct Statuses {
    found: BTreeMap<String, String>,
    /// Where each name stood first, where the parser told.
    places: Option<HashMap<String, usize>>,
}

impl Statuses {
    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The statuses by name, for many questions.
    pub(super) fn by_name(&self) -> HashMap<&str, &str> {
        let entries = self.found.iter();
        entries
            .map(|(name, status)| (name.as_str(), status.as_str()))
            .collect()
    }

    /// The status of a name that was cut off in the middle of a parameter: of the names that begin
    /// with it, where they agree on passing or not, the first that the log names. The second value
    /// says whether that choice is certain.
    pub(super) fn of_truncated(&self, name: &str) -> Option<(&str, bool)> {
        let place = |name: &String| self.places.as_ref().and_then(|all| all.get(name));
        let matches: Vec<(&String, &String)> = self
            .found
            .range(name.to_owned()..)
            .take_while(|(key, _)| key.starts_with(name))
            .collect();
        let (_, first) = matches.iter().min_by_key(|(name, _)| place(name))?;
        let passes = |status: &str| matches!(status, "PASSED" | "XFAIL");
        if matches.iter().any(|(_, s)| passes(s) != passes(first)) {
            return None;
        }
        let certain = self.places.is_some() || matches.iter().all(|(_, s)| s == first);
        Some((first, certain))
    }

    fn names_a_failure(&self) -> bool {
        let mut statuses = self.found.values();
        statuses.any(|status| matches!(status.as_str(), "FAILED" | "ERROR"))
    }

    /// Names and statuses, for whoever compares.
    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        self.found
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
    let code = match exit_code(&text) {
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
    let entries = match read {
        CompatRead::Statuses(found) => {
            return Ok(Statuses {
                found,
                places: None,
            });
        }
        CompatRead::Ordered(entries) => entries,
        CompatRead::Raised(said) => return Err(said),
    };
    let (mut found, mut places) = (BTreeMap::new(), HashMap::new());
    for (at, (name, status)) in entries.into_iter().enumerate() {
        // A name that comes again keeps its place and takes the later status.
        places.entry(name.clone()).or_insert(at);
        found.insert(name, status);
    }
    Ok(Statuses {
        found,
        places: Some(places),
    })
}

/// The first recorded exit code of the log, as text, if it is not zero.
fn exit_code(text: &str) -> Result<Option<&str>, String> {
    let Some(found) = EXIT_CODE.captures(text).and_then(|found| found.get(1)) else {
        return Ok(None);
    };
    let digits = found.as_str().trim_start_matches('-');
    if digits.chars().count() > MAX_DIGITS {
        return Err("ValueError: the exit code in the log has too many digits".to_owned());
    }
    let zero = digits.chars().all(|digit| digit == '0');
    Ok((!zero).then_some(found.as_str()))
}

/// A file's text as Python's `open` reads it: UTF-8 or an exception, every line end a `\n`.
fn strict_text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let text = std::str::from_utf8(bytes).map_err(|why| {
        let at = why.valid_up_to();
        format!("UnicodeDecodeError: byte {at} of the log is no UTF-8")
    })?;
    Ok(newlines(Cow::Borrowed(text)))
}

/// The same with bytes that are no text replaced.
pub(super) fn lenient_text(bytes: &[u8]) -> Cow<'_, str> {
    newlines(String::from_utf8_lossy(bytes))
}

fn newlines(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        text
    }
}
