//! A log without what differs between two runs of the same tests.

use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

static VARYING: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = [
        // Durations, dates, times of day, addresses, folders that are made for a run.
        r"(?P<time>\b\d+(?:[.,]\d+)?)(?P<unit> ?(?:ns|µs|us|ms|msecs?|millis|s|secs?|seconds?|m|mins?|minutes?)\b)",
        r"(?P<key>\b(?:time|duration_ms|elapsed|seed|pid|port)[=: ]+)(?P<value>\d+(?:\.\d+)?)",
        r"(?P<date>\b\d{4}-\d\d-\d\d)",
        r"(?P<clock>\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?\b)",
        r"(?P<address>\b0x[0-9a-fA-F]{4,})",
        r"(?P<folder>/tmp/[\w.-]+)",
        // What fills a line around a text whose length varies; a line of nothing else is a rule.
        r"(?P<left>={3,} )",
        r"(?P<right> ={3,})",
    ];
    Regex::new(&pattern.join("|")).expect("a constant pattern that the tests compile")
});

/// A log in which what varies between two runs of the same tests has one form: durations, dates,
/// times of day, addresses, temporary folders, and the `=` that fill a line around a text. A duration that is
/// part of an id stays. The order of lines is not touched.
///
/// Whoever uses it for another log must see that it still reads the same.
///
/// ```
/// let log = atlas_parsers::stable_log(b"a ok (0.31s)\nwaits 5s ok (12 ms)\n", ["a", "waits 5s"]);
/// assert_eq!(log, b"a ok (0.00s)\nwaits 5s ok (0 ms)\n");
/// ```
pub fn stable_log<'a>(log: &[u8], ids: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut named = BTreeSet::new();
    for id in ids {
        named.extend(VARYING.find_iter(id).map(|found| found.as_str()));
    }
    let Ok(text) = std::str::from_utf8(log) else {
        return log.to_vec();
    };
    let one_form = |found: &Captures<'_>| {
        let whole = &found[0];
        let group = |name: &str| found.name(name).map(|group| group.as_str());
        if named.contains(whole) {
            return whole.to_owned();
        }
        if let (Some(time), Some(unit)) = (group("time"), group("unit")) {
            return format!("{}{unit}", zero(time));
        }
        if let (Some(key), Some(value)) = (group("key"), group("value")) {
            return format!("{key}{}", zero(value));
        }
        if group("date").is_some() {
            return "2000-01-01".to_owned();
        }
        if group("clock").is_some() {
            return "00:00:00".to_owned();
        }
        if group("address").is_some() {
            return "0x0000".to_owned();
        }
        if group("folder").is_some() {
            return "/tmp/folder".to_owned();
        }
        let fill = "=".repeat(20);
        if group("left").is_some() {
            format!("{fill} ")
        } else {
            format!(" {fill}")
        }
    };
    VARYING
        .replace_all(text, one_form)
        .into_owned()
        .into_bytes()
}

/// A number of the same form: with a fraction if it had one.
fn zero(number: &str) -> &'static str {
    match number.find(['.', ',']) {
        Some(at) if number[at..].starts_with(',') => "0,00",
        Some(_) => "0.00",
        None => "0",
    }
}

#[cfg(test)]
mod tests {
    use super::stable_log;

    #[test]
    fn two_runs_of_the_same_tests_become_one() {
        let first = "2026-01-02 10:11:12 start\n== a.py ==\na ok (0.31s)\n==== 1 passed in 0.31s ====\n\
                     at 0x7f001122 in /tmp/run-1/x\n# duration_ms 12.5\n";
        let second = "2026-03-04 9:01:02.5 start\n== a.py ==\na ok (10.2s)\n=== 1 passed in 10.2s ===\n\
                      at 0x7fffffff0000 in /tmp/run-22/x\n# duration_ms 9\n";
        let one = String::from_utf8(stable_log(first.as_bytes(), ["a"])).unwrap();
        assert!(
            one.starts_with("2000-01-01 00:00:00 start\n== a.py ==\na ok (0.00s)\n"),
            "{one}"
        );
        let two = String::from_utf8(stable_log(second.as_bytes(), ["a"])).unwrap();
        assert_eq!(
            one.lines().take(5).collect::<Vec<_>>(),
            two.lines().take(5).collect::<Vec<_>>()
        );
    }
}
