//! From a stored log to statuses, or to the reason why there are none.

use super::CompatRead;
use atlas_core::Harness;
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const START: &str = ">>>>> Start Test Output";
const END: &str = ">>>>> End Test Output";

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
    found: BTreeMap<String, (usize, String)>,
    ordered: bool,
}

impl Statuses {
    fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The status of exactly this name.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.found.get(name).map(|(_, status)| status.as_str())
    }

    /// The status of a name that was cut off in the middle of a parameter: of the names that begin
    /// with it, where they agree on passing or not, the first that the log names. The second value
    /// says whether that choice is certain.
    pub(super) fn of_truncated(&self, name: &str) -> Option<(&str, bool)> {
        let matches: Vec<&(usize, String)> = self
            .found
            .range(name.to_owned()..)
            .take_while(|(key, _)| key.starts_with(name))
            .map(|(_, entry)| entry)
            .collect();
        let first = matches.iter().min_by_key(|(at, _)| *at)?;
        let passes = |status: &str| matches!(status, "PASSED" | "XFAIL");
        if matches.iter().any(|(_, s)| passes(s) != passes(&first.1)) {
            return None;
        }
        let certain = self.ordered || matches.iter().all(|(_, s)| *s == first.1);
        Some((&first.1, certain))
    }

    fn names_a_failure(&self) -> bool {
        let mut statuses = self.found.values();
        statuses.any(|(_, status)| matches!(status.as_str(), "FAILED" | "ERROR"))
    }

    /// Names and statuses, for whoever compares.
    pub(super) fn into_map(self) -> BTreeMap<String, String> {
        let entries = self.found.into_iter();
        entries.map(|(name, (_, status))| (name, status)).collect()
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
    if let Some(bad) = BAD.iter().find(|bad| text.contains(**bad)) {
        return Read::Ungradable(format!("`{bad}` stands in the log"));
    }
    for marker in [START, END] {
        if !text.contains(marker) {
            return Read::Ungradable(format!("`{marker}` does not stand in the log"));
        }
    }
    // What the harnesses split at the begin marker ends at the next one, too.
    let rest = text.split(START).nth(1).unwrap_or_default();
    let marked = rest.split(END).next().unwrap_or_default();
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
    let (entries, ordered): (Vec<(String, String)>, bool) = match read {
        CompatRead::Statuses(map) => (map.into_iter().collect(), false),
        CompatRead::Ordered(entries) => (entries, true),
        CompatRead::Raised(said) => return Err(said),
    };
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for (at, (name, status)) in entries.into_iter().enumerate() {
        // A name that comes again keeps its place and takes the later status.
        found
            .entry(name)
            .and_modify(|entry| entry.1.clone_from(&status))
            .or_insert((at, status));
    }
    Ok(Statuses { found, ordered })
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
