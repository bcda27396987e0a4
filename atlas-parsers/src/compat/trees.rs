//! JavaScript runners whose suites are read from the indents of their lines.

use super::javascript::{carbon, mocha_json_text};
use super::text::{after_last, indent, lstrip, skip_digits, skip_space, strip, without_escapes};
use super::{Answer, CompatFault, CompatHints, CompatStatuses, FAILED, PASSED};

/// The suites around a line, each with its indent in characters.
#[derive(Default)]
struct Suites<'a>(Vec<(&'a str, usize)>);

impl<'a> Suites<'a> {
    /// Takes an indented line for a suite.
    fn enter(&mut self, line: &'a str) {
        let indent = indent(line);
        if indent == 0 {
            return;
        }
        while self.0.last().is_some_and(|&(_, outer)| outer >= indent) {
            self.0.pop();
        }
        self.0.push((strip(line), indent));
    }

    /// The suites and the test with ` - ` between them.
    fn name(&self, test: &str) -> String {
        let mut name = String::new();
        for (suite, _) in &self.0 {
            name.push_str(suite);
            name.push_str(" - ");
        }
        name + test
    }
}

pattern!(CALYPSO_TIMED = r"\(\d+ms\)");

/// A test's name in Jest's tree: what follows the mark, up to a time that ends the line. A mark
/// without an indent, or a time that does not end the line, makes the reader raise.
fn calypso_name(line: &str, mark: char) -> Result<&str, CompatFault> {
    let rest = lstrip(line);
    let name = (rest.len() < line.len())
        .then(|| rest.strip_prefix(mark).and_then(skip_space))
        .flatten();
    let name = if CALYPSO_TIMED.is_match(line) {
        name.and_then(until_time)
    } else {
        name
    };
    name.ok_or_else(|| CompatFault::attribute("NoneType", "group"))
}

/// `name (3ms)` as `name `.
fn until_time(name: &str) -> Option<&str> {
    let (head, time) = name.rsplit_once('(')?;
    let rest = skip_digits(time)?;
    (rest == "ms)").then_some(head)
}

pub(super) fn calypso(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let mut suites = Suites::default();
    for run in log.split(" ./node_modules/.bin/jest ").skip(1) {
        for line in run.split('\n') {
            if line.starts_with("Test Suites") || line.starts_with("  ● ") {
                break;
            }
            let text = strip(line);
            if let Some((mark, status)) = [('✓', PASSED), ('✕', FAILED)]
                .into_iter()
                .find(|(mark, _)| text.starts_with(*mark))
            {
                let name = calypso_name(line, mark)?;
                // The empty list of suites is a name too, before the dash.
                let name = if suites.0.is_empty() {
                    format!(" - {name}")
                } else {
                    suites.name(name)
                };
                found.insert(strip(&name).to_owned(), status.to_owned());
            } else {
                suites.enter(line);
            }
        }
    }
    Ok(found)
}

pattern!(ASSERTION = r"AssertionError:\s+#(?:[\s\S]*?)\n\n");

fn karma_after_command(log: &str) -> CompatStatuses {
    let log = without_escapes(log);
    let log = ASSERTION.replace_all(&log, "");
    let mut found = CompatStatuses::new();
    let mut suites = Suites::default();
    for run in log.split(" xvfb-run ").skip(1) {
        for line in after_last(run, "Starting browser Chrome").split('\n') {
            if line.starts_with("TOTAL") {
                break;
            }
            let text = strip(line);
            if ["ERROR", "LOG", "WARN", "Check", "in"]
                .iter()
                .any(|word| text.starts_with(word))
            {
                continue;
            }
            let result = [('✗', FAILED), ('✓', PASSED)]
                .into_iter()
                .find_map(|(mark, status)| Some((line.split_once(mark)?.1, status)));
            if let Some((name, status)) = result {
                found.insert(suites.name(lstrip(name)), status.to_owned());
            } else {
                suites.enter(line);
            }
        }
    }
    found
}

pattern!(RUNNING = r"Running:(?:.*)\)\n{3}\s{2}(.*)\n");
pattern!(CYPRESS_FAIL = r"(?m)^\s{4}\d+\)\s(.*)");
pattern!(CYPRESS_PASS = r"(?m)^\s{4}✓\s(.*)\(");

fn cypress_runs(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let runs: Vec<_> = RUNNING.captures_iter(log).collect();
    for (at, run) in runs.iter().enumerate() {
        let start = run.get(0).map_or(0, |whole| whole.end());
        let end = runs
            .get(at + 1)
            .and_then(|next| next.get(0))
            .map_or(log.len(), |whole| whole.start());
        for (pattern, status) in [(&CYPRESS_FAIL, FAILED), (&CYPRESS_PASS, PASSED)] {
            for test in pattern.captures_iter(&log[start..end]) {
                let name = format!("{}: {}", &run[1], strip(&test[1]));
                found.insert(name, status.to_owned());
            }
        }
    }
    found
}

pub(super) fn next(log: &str, hints: &CompatHints) -> CompatStatuses {
    if hints.version == "1.27" {
        cypress_runs(log)
    } else {
        karma_after_command(log)
    }
}

pattern!(TEST_FILES = r"running\s\d+\stest\sfiles");
pattern!(PASSING = r"\d+\spassing");
pattern!(UNTIL_TIME = r"^(.*)\s\(\d+m+s\)");

fn lighthouse_mocha(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for run in TEST_FILES.split(log).skip(1) {
        let run = PASSING.find(run).map_or(run, |end| &run[..end.start()]);
        let mut suites = Suites::default();
        for line in strip(run).split('\n') {
            let text = strip(line);
            let passed = text.strip_prefix('✔').and_then(skip_space);
            let failed = || {
                skip_digits(text)
                    .and_then(|rest| rest.strip_prefix(')'))
                    .and_then(skip_space)
            };
            let result = passed
                .map(|name| (name, PASSED))
                .or_else(|| failed().map(|name| (name, FAILED)));
            if let Some((name, status)) = result {
                let timed = UNTIL_TIME.captures(name).and_then(|found| found.get(1));
                let name = timed.map_or(name, |timed| timed.as_str());
                found.insert(suites.name(name), status.to_owned());
            } else {
                suites.enter(line);
            }
        }
    }
    found
}

/// `float(text)`, as far as its errors go.
fn number(text: &str) -> Option<f64> {
    let text = strip(text);
    let bytes = text.as_bytes();
    // An underscore is fine between two digits only.
    let grouped = bytes.iter().enumerate().all(|(at, &byte)| {
        let digit = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_digit)
        };
        byte != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1)))
    });
    grouped.then(|| text.replace('_', "").parse().ok())?
}

pub(super) fn lighthouse(log: &str, hints: &CompatHints) -> Answer {
    if matches!(hints.version.as_str(), "9.5" | "10.0" | "10.2") {
        return Ok(lighthouse_mocha(log));
    }
    let version = number(&hints.version).ok_or_else(|| {
        CompatFault::value(&format!(
            "could not convert string to float: '{}'",
            hints.version
        ))
    })?;
    Ok(if version >= 3.0 {
        carbon(log)
    } else {
        mocha_json_text(log)
    })
}

/// What a line of Karma's tree is made of: its indent, its mark and its name.
fn karma_line(line: &str) -> Option<(usize, Option<char>, &str)> {
    let text = lstrip(line);
    let blank = &line[..line.len() - text.len()];
    if let Some(mark) = text.chars().next().filter(|c| matches!(c, '✔' | '✖'))
        && let Some(name) = skip_space(&text[mark.len_utf8()..])
    {
        return Some((blank.chars().count(), Some(mark), name));
    }
    // The last blank is the one before the name.
    Some((blank.chars().count().checked_sub(1)?, None, text))
}

/// A dedent leaves one suite only, however far it goes; one more than there are suites raises.
pub(super) fn karma(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let mut suites: Vec<&str> = Vec::new();
    let mut current: Option<usize> = None;
    let mut started = false;
    for line in log.split('\n') {
        if line.starts_with("SUMMARY:") {
            break;
        }
        if line.contains("Starting browser") {
            started = true;
            continue;
        }
        if !started {
            continue;
        }
        let Some((indent, mark, name)) = karma_line(line) else {
            continue;
        };
        let Some(mark) = mark else {
            if indent == 0 {
                continue;
            }
            if current.is_none_or(|current| indent > current) {
                suites.push(name);
            } else if current.is_some_and(|current| indent < current) {
                suites
                    .pop()
                    .ok_or_else(|| CompatFault::new("IndexError: pop from empty list"))?;
            }
            current = Some(indent);
            continue;
        };
        let status = if mark == '✔' { PASSED } else { FAILED };
        suites.push(name);
        found.insert(suites.join(" > "), status.to_owned());
        suites.pop();
    }
    Ok(found)
}
