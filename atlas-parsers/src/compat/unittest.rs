//! The runners of Django and `SymPy`.

use super::text::{before, lstrip, strip, words};
use super::{Answer, CompatFault, CompatStatuses, ERROR, FAILED, PASSED, SKIPPED};

/// Three texts that Django printed between a test's dots and its `ok`, and where to look for them.
const INTERRUPTED: [(&str, &std::sync::LazyLock<regex::Regex>); 3] = [
    ("Testing against Django installed in ", &AGAINST),
    ("Internal Server Error: /", &SERVER_ERROR),
    (
        "System check identified no issues (0 silenced)\nok",
        &SYSTEM_CHECK,
    ),
];
pattern!(
    AGAINST = r"(?m)^(.*?)\s\.\.\.\sTesting against Django installed in (?s:.*?) silenced\)\.\nok$"
);
pattern!(SERVER_ERROR = r"(?m)^(.*?)\s\.\.\.\sInternal Server Error: /(?:.*)/\nok$");
pattern!(
    SYSTEM_CHECK = r"(?m)^(.*?)\s\.\.\.\sSystem check identified no issues \(0 silenced\)\nok$"
);

/// A line of one Django pull request, of which only the part after the dots names the test.
const APPLYING: &str = "Applying sites.0002_alter_domain_unique...test_no_migrations";
const VERSION: &str = "--version is equivalent to version";

pub(super) fn django(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let mut set = |name: &str, status: &str| {
        found.insert(name.to_owned(), status.to_owned());
    };
    let mut previous = None;
    for line in log.split('\n') {
        let mut line = strip(line);
        if line.contains(VERSION) {
            set(VERSION, PASSED);
        }
        if line.contains(" ... ") {
            previous = Some(before(line, " ... "));
        }
        let passed = [" ... ok", " ... OK", " ...  OK"];
        if let Some(end) = passed.into_iter().find(|end| line.ends_with(end)) {
            if line.starts_with(APPLYING) {
                line = strip(super::text::after(line, "..."));
            }
            set(super::text::before_last(line, end), PASSED);
        }
        if line.contains(" ... skipped") {
            set(before(line, " ... skipped"), SKIPPED);
        }
        for (end, start, status) in [
            (" ... FAIL", "FAIL:", FAILED),
            (" ... ERROR", "ERROR:", ERROR),
        ] {
            if line.ends_with(end) {
                set(before(line, end), status);
            }
            if line.starts_with(start) {
                set(words(line).nth(1).ok_or_else(CompatFault::index)?, status);
            }
        }
        if let Some(name) = previous
            && lstrip(line).starts_with("ok")
        {
            set(name, PASSED);
        }
    }
    for (mark, pattern) in INTERRUPTED {
        if !log.contains(mark) {
            continue;
        }
        for captures in pattern.captures_iter(log) {
            set(&captures[1], PASSED);
        }
    }
    Ok(found)
}

/// `____ sympy/core/tests/test_a.py:test_b ____` as `sympy/core/tests/test_a.py:test_b`: what stands
/// between the first and the last blank of a line, if `.py:` does too.
fn banner(line: &str) -> Option<String> {
    let (first, last) = (line.find(' ')?, line.rfind(' ')?);
    let inner = line.get(first + 1..last)?;
    inner.contains(".py:").then(|| inner.to_owned())
}

pub(super) fn sympy(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for name in log
        .split('\n')
        .filter(|line| line.contains(".py:"))
        .filter_map(banner)
    {
        found.insert(name, FAILED.to_owned());
    }
    for line in log.split('\n').map(strip) {
        if !line.starts_with("test_") {
            continue;
        }
        for (end, status) in [(" E", ERROR), (" F", FAILED), (" ok", PASSED)] {
            if line.ends_with(end) {
                let name = words(line).next().unwrap_or_default();
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}
