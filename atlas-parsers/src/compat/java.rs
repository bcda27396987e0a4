//! Maven, Ant and Gradle on the console.

use super::text::{is_space, skip_spaces, split_lines, strip, words};
use super::{CompatStatuses, FAILED, PASSED};
use std::collections::VecDeque;

/// The test that a traced command asks for: the last `-Dtest=` of the line that has a value.
fn asked_test(line: &str) -> Option<&str> {
    line.rmatch_indices("-Dtest=").find_map(|(at, mark)| {
        line[at + mark.len()..]
            .split(is_space)
            .next()
            .filter(|name| !name.is_empty())
    })
}

fn build_result(line: &str) -> Option<&'static str> {
    if line.ends_with("BUILD SUCCESS") {
        Some(PASSED)
    } else if line.ends_with("BUILD FAILURE") {
        Some(FAILED)
    } else {
        None
    }
}

/// The first test asked for gets the first result that follows it; what is left over is paired
/// in order.
pub(super) fn maven5(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let mut tests = VecDeque::new();
    let mut results = VecDeque::new();
    for line in log.split('\n').map(strip) {
        if let Some(test) = asked_test(line) {
            tests.push_back(test);
        }
        if let Some(status) = build_result(line) {
            match tests.pop_front() {
                Some(test) => _ = found.insert(test.to_owned(), status.to_owned()),
                None => results.push_back(status),
            }
        }
    }
    for (test, status) in tests.into_iter().zip(results) {
        found.insert(test.to_owned(), status.to_owned());
    }
    found
}

/// A result belongs to the last test asked for.
pub(super) fn maven4(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let mut test = "---NO TEST NAME FOUND YET---";
    for line in log.split('\n').map(strip) {
        if let Some(asked) = asked_test(line) {
            test = asked;
        }
        if let Some(status) = build_result(line) {
            found.insert(test.to_owned(), status.to_owned());
        }
    }
    found
}

pattern!(
    ELAPSED = r"^(?:\[[^\]]+\]\s+)?\[(?:INFO|ERROR|WARN(?:ING)?)\]\s+(.+?)\s+(?:--\s+)?Time elapsed:\s*[\d.]+\s*s(?:\s*<<<\s+(ERROR|FAILURE)!)?"
);
pattern!(PACKAGE = r"^[a-zA-Z_][a-zA-Z0-9_]*\.");

/// Surefire's lines with a time, of methods.
pub(super) fn maven_v2(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in split_lines(log).filter(|line| line.contains("Time elapsed:")) {
        let Some(captures) = ELAPSED.captures(strip(line)) else {
            continue;
        };
        let name = strip(&captures[1]);
        if name.starts_with("Tests run:") || !PACKAGE.is_match(name) {
            continue;
        }
        let status = if captures.get(2).is_some() {
            FAILED
        } else {
            PASSED
        };
        found.insert(name.to_owned(), status.to_owned());
    }
    found
}

pub(super) fn ant(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        let Some(rest) = line.strip_prefix("[junit]").and_then(skip_spaces) else {
            continue;
        };
        for (mark, status) in [("[PASS]", PASSED), ("[FAIL]", FAILED), ("[ERR]", FAILED)] {
            if let Some(name) = rest.strip_prefix(mark).and_then(skip_spaces) {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

/// `Class > method PASSED`, or any other text of two characters that a blank and the word end.
fn gradle_line(line: &str) -> Option<(&str, &'static str)> {
    let (head, status) = if let Some(head) = line.strip_suffix("PASSED") {
        (head, PASSED)
    } else {
        (line.strip_suffix("FAILED")?, FAILED)
    };
    let name = head.strip_suffix(is_space)?;
    let mut chars = name.chars();
    let fine = chars.next().is_some_and(|c| c != '>') && chars.next().is_some();
    fine.then_some((name, status))
}

pub(super) fn gradle4(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for (name, status) in log.split('\n').filter_map(|line| gradle_line(strip(line))) {
        found.insert(name.to_owned(), status.to_owned());
    }
    found
}

/// As [`gradle4`]; a name that stands alone on a line waits for a status that does.
pub(super) fn gradle5(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let mut pending: Option<&str> = None;
    for line in log.split('\n').map(strip) {
        if let Some((name, status)) = gradle_line(line) {
            found.insert(name.to_owned(), status.to_owned());
            pending = None;
        } else if is_gradle_name(line) {
            pending = Some(line);
        } else if let "PASSED" | "FAILED" = line
            && let Some(name) = pending.take()
        {
            found.insert(name.to_owned(), line.to_owned());
        }
    }
    found
}

/// `Class > method`.
fn is_gradle_name(line: &str) -> bool {
    if line.starts_with('>') || !line.contains('>') {
        return false;
    }
    let mut words = words(line);
    words.next().is_some()
        && words.next() == Some(">")
        && words.next().is_some()
        && words.next().is_none()
}
