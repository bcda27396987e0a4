//! JavaScript runners that are read line by line.

use super::json::read;
use super::text::{
    after, after_last, before, before_last, lstrip, one_line, rstrip, skip_digits, skip_space,
    skip_spaces, split_lines, strip, without_escapes,
};
use super::{Answer, CompatFault, CompatHints, CompatStatuses, FAILED, PASSED, SKIPPED};
use regex::Regex;
use std::collections::BTreeMap;

pattern!(JEST = r"^(?:✓|✕|○)\s(.+?)(?:\s\((?:\d+\s*m?s)\))?$");
pattern!(JEST_PP = r"^(?:✓|✕|○)\s(.+?)(?:\s+\((?:\d+\s*m?s)\))?$");
pattern!(VITEST = r"^(?:✓|×|↓)\s(.+?)(?:\s(?:\d+\s*m?s?|\[skipped\]))?$");
pattern!(VITEST_PP = r"^(?:✓|×|↓)\s(.+?)(?:\s+(?:\d+\s*m?s?|\[skipped\]))?$");

/// One line, one test: a mark and a name, of which the pattern cuts the time.
fn marked_lines(
    log: &str,
    marks: [(char, &str); 3],
    pattern: &Regex,
    tidy: fn(&str) -> &str,
) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        let Some((_, status)) = marks.iter().find(|(mark, _)| line.starts_with(*mark)) else {
            continue;
        };
        if let Some(captures) = pattern.captures(line) {
            found.insert(tidy(&captures[1]).to_owned(), (*status).to_owned());
        }
    }
    found
}

const JEST_MARKS: [(char, &str); 3] = [('✓', PASSED), ('✕', FAILED), ('○', SKIPPED)];
const VITEST_MARKS: [(char, &str); 3] = [('✓', PASSED), ('×', FAILED), ('↓', SKIPPED)];

fn as_is(name: &str) -> &str {
    name
}

pub(super) fn jest5(log: &str) -> CompatStatuses {
    marked_lines(log, JEST_MARKS, &JEST, strip)
}

pub(super) fn jest4(log: &str) -> CompatStatuses {
    marked_lines(log, JEST_MARKS, &JEST, as_is)
}

pub(super) fn jest_pp(log: &str) -> CompatStatuses {
    marked_lines(log, JEST_MARKS, &JEST_PP, as_is)
}

pub(super) fn vitest5(log: &str) -> CompatStatuses {
    marked_lines(log, VITEST_MARKS, &VITEST, as_is)
}

pub(super) fn vitest_pp(log: &str) -> CompatStatuses {
    marked_lines(log, VITEST_MARKS, &VITEST_PP, as_is)
}

pub(super) fn jest_json(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        for (mark, status) in [("[PASSED]", PASSED), ("[FAILED]", FAILED)] {
            if let Some(name) = line.strip_prefix(mark).and_then(skip_space) {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

/// TAP without its directives: `ok 1 - name # SKIP` passed.
pub(super) fn tap(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        for (mark, status) in [("ok ", PASSED), ("not ok ", FAILED)] {
            let name = line
                .strip_prefix(mark)
                .and_then(skip_digits)
                .and_then(|rest| rest.strip_prefix(' '))
                .filter(|name| !name.is_empty());
            if let Some(name) = name {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

pub(super) fn immutable_js5(log: &str, hints: &CompatHints) -> Answer {
    immutable_js(log, hints, jest5)
}

pub(super) fn immutable_js4(log: &str, hints: &CompatHints) -> Answer {
    immutable_js(log, hints, jest4)
}

/// The chooser of one repository, by the number its instance ends with.
fn immutable_js(log: &str, hints: &CompatHints, jest: fn(&str) -> CompatStatuses) -> Answer {
    match after_last(&hints.instance_id, "-") {
        "2006" => Ok(jest(log)),
        "2005" => Ok(jest_json(log)),
        _ => Err(CompatFault::unknown_instance(&hints.instance_id)),
    }
}

pattern!(TIMED = r"^(.*)\s\([\d\.]+(?:ms)\)");
pattern!(TIMED_APART = r"^(.*)\s\([\d\.]+\ss\)");
pattern!(TIMED_SECONDS = r"^(.*)\s\([\d\.]+s\)");

/// Jest's line of a file. What follows a time is dropped; the first kind of time that is there counts.
pub(super) fn carbon(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n') {
        let Some((name, status)) = file_line(line) else {
            continue;
        };
        let timed = if name.contains('(') {
            [&TIMED, &TIMED_APART, &TIMED_SECONDS]
                .into_iter()
                .find_map(|pattern| pattern.captures(name))
                .and_then(|captures| captures.get(1))
        } else {
            None
        };
        let name = timed.map_or(name, |name| name.as_str());
        found.insert(name.to_owned(), status.to_owned());
    }
    found
}

fn file_line(line: &str) -> Option<(&str, &'static str)> {
    [("PASS", PASSED), ("FAIL", FAILED)]
        .into_iter()
        .find_map(|(mark, status)| Some((skip_space(line.strip_prefix(mark)?)?, status)))
}

pattern!(GROMMET_FAIL = r"(?m)^FAIL\s(.*)");
pattern!(GROMMET_PASS = r"(?m)^PASS\s(.*)");
pattern!(GROMMET_TIME = r"\s\([\d\.]+\s?(?:ms|s)\)$");

/// The blank after the word may be the line's end: the name is then the next line.
pub(super) fn grommet(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for (pattern, status) in [(&GROMMET_FAIL, FAILED), (&GROMMET_PASS, PASSED)] {
        for captures in pattern.captures_iter(log) {
            let name = GROMMET_TIME.replace(strip(captures.get(1).map_or("", |m| m.as_str())), "");
            found.insert(name.into_owned(), status.to_owned());
        }
    }
    found
}

/// `3) name` at a line's start.
pub(super) fn marked(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n') {
        if let Some(name) = skip_digits(line)
            .and_then(|rest| rest.strip_prefix(')'))
            .and_then(skip_space)
        {
            found.insert(strip(name).to_owned(), FAILED.to_owned());
        }
    }
    found
}

/// What each match of the patterns says failed.
fn failures(log: &str, patterns: &[&Regex], tidy: fn(&str) -> String) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for captures in patterns.iter().flat_map(|p| p.captures_iter(log)) {
        let name = captures.get(captures.len() - 1).map_or("", |m| m.as_str());
        found.insert(tidy(name), FAILED.to_owned());
    }
    found
}

pattern!(ESLINT = r"\s{2}\d+\)([\s\S]*?)\s+.*Error");
pattern!(PHANTOM = r"2KPhantomJS\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(.*)FAILED\n");
pattern!(PHANTOM_64 = r"2KPhantomJS\s[\d\.]+\s\(Linux\sx86_64\)\s(.*)FAILED\n");
pattern!(CHROME_64 = r"Chrome\sHeadless\s.*\s\(Linux\sx86_64\)\s(.*)FAILED\n");
pattern!(HEADLESS = r"HeadlessChrome\s[\d\.]+\s\(Linux\s[\d\.]+\)\s(.*)FAILED\n");
pattern!(OPENLAYERS_HEADLESS = r"Chrome\sHeadless\s[\d\.]+\s\(Linux\s\S+\)\s(.*)\sFAILED\n");
pattern!(OPENLAYERS_CHROME = r"Chrome\s[\d\.]+\s\(Linux\s\S+\)\s(.*)FAILED\n");
pattern!(OPENLAYERS_ERROR = r"(?m)^\s{2}\d+\)([\s\S]*?)Error:");
pattern!(OPENLAYERS_CASE = r"(?m)^case\s(.*):\smismatch");
pattern!(CHART = r"(?m)Chrome\s[\d\.]+[^\S\r\n]\(.+?\)[^\S\r\n](.*)FAILED$");
pattern!(CHART_PP = r"(?m)Chrome\s[\d\.]+\s\(.*?\)\s(.*)FAILED$");

pub(super) fn eslint(log: &str) -> CompatStatuses {
    failures(log, &[&ESLINT], one_line)
}

pub(super) fn bpmn_js(log: &str) -> CompatStatuses {
    let patterns: [&Regex; 4] = [&PHANTOM, &PHANTOM_64, &CHROME_64, &HEADLESS];
    failures(log, &patterns, str::to_owned)
}

pub(super) fn openlayers(log: &str) -> CompatStatuses {
    let patterns: [&Regex; 4] = [
        &OPENLAYERS_HEADLESS,
        &OPENLAYERS_CHROME,
        &OPENLAYERS_ERROR,
        &OPENLAYERS_CASE,
    ];
    failures(log, &patterns, one_line)
}

pub(super) fn chart_js(log: &str) -> CompatStatuses {
    failures(&without_escapes(log), &[&CHART], str::to_owned)
}

pub(super) fn chart_js_pp(log: &str) -> CompatStatuses {
    failures(log, &[&CHART_PP], str::to_owned)
}

/// Temporary files are numbered, so that their names are the same in every run.
pub(super) fn quarto_cli(log: &str) -> CompatStatuses {
    pattern!(DOCUMENT = r"/tmp/(?:\w+)\.qmd");
    pattern!(FOLDER = r"/tmp/(?:\w+)/");

    let mut found = CompatStatuses::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for line in log.split('\n') {
        if line.contains("ERRORS") || line.contains("failures:") {
            break;
        }
        if !line.contains("[smoke]") && !line.contains("[unit]") {
            continue;
        }
        let mut line = std::borrow::Cow::Borrowed(line);
        for pattern in [&DOCUMENT, &FOLDER] {
            let Some(first) = pattern.find(&line) else {
                continue;
            };
            let next = numbers.len();
            let number = *numbers.entry(first.as_str().to_owned()).or_insert(next);
            // Every file of the line gets the first one's number.
            let changed = pattern.replace_all(&line, format!("/tmp/{number}"));
            line = changed.into_owned().into();
        }
        let rejected = line.starts_with("test result:")
            || ["passed", "failed", "steps"]
                .iter()
                .all(|word| line.contains(word))
            || line.contains("34mINFO");
        if rejected {
            continue;
        }
        let name = strip(before(&line, "...")).to_owned();
        if line.contains("32mok") {
            found.insert(name, PASSED.to_owned());
        } else if line.contains("31mFAILED") {
            found.insert(name, FAILED.to_owned());
        } else {
            found.entry(name).or_insert_with(|| FAILED.to_owned());
        }
    }
    found
}

pattern!(FULL_TITLE = "\"fullTitle\":\\s\"(.*)\",\n");

/// Mocha's JSON, read as text after the command that printed it.
pub(super) fn mocha_json_text(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for run in log
        .split("./node_modules/.bin/mocha --reporter json")
        .skip(1)
    {
        let passes = before_last(after_last(run, "\"passes\": ["), "]");
        let failures = before_last(after_last(run, "\"failures\": ["), "],");
        for (part, status) in [(passes, PASSED), (failures, FAILED)] {
            for captures in FULL_TITLE.captures_iter(part) {
                found.insert(captures[1].to_owned(), status.to_owned());
            }
        }
    }
    found
}

/// Mocha's JSON after the command that printed it; anything else in its place raises.
pub(super) fn prismjs(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let command = "./node_modules/.bin/mocha tests/run.js --reporter json";
    for run in log.split(command).skip(1) {
        let inner = before_last(after(run, "{"), "}");
        let report = read(&format!("{{{inner}}}"))?;
        for (part, status) in [("failures", FAILED), ("passes", PASSED)] {
            let missing = |name: &str| CompatFault::new(&format!("KeyError: '{name}'"));
            let tests = report.item(part)?.ok_or_else(|| missing(part))?;
            for test in tests.items()? {
                let title = test.item("fullTitle")?;
                let title = title.ok_or_else(|| missing("fullTitle"))?;
                found.insert(title.key()?, status.to_owned());
            }
        }
    }
    Ok(found)
}

pattern!(EPILOGUE = r"\n[ \t]*\d+ passing");
pattern!(MILLISECONDS = r"\(\d+ms\)");

/// Mocha's tree, of which only the nearest line above stays in a name.
pub(super) fn highlightjs(log: &str) -> CompatStatuses {
    let log = EPILOGUE.find(log).map_or(log, |end| &log[..end.start()]);
    let mut found = CompatStatuses::new();
    let mut suite: Option<&str> = None;
    let mut set = |suite: Option<&str>, name: &str, status: &str| {
        let name = MILLISECONDS.replace_all(name, "");
        let name = strip(&name);
        let name = suite.map_or_else(|| name.to_owned(), |suite| format!("{suite}.{name}"));
        found.insert(name, status.to_owned());
    };
    for line in log.split('\n') {
        let text = strip(line);
        if let Some(mark) = ["✓", "✔"].into_iter().find(|mark| text.starts_with(mark)) {
            set(suite, after(line, mark), PASSED);
        } else if skip_digits(text).is_some_and(|rest| rest.starts_with(')')) {
            set(suite, after(line, ")"), FAILED);
        } else if line.starts_with("  ") {
            suite = Some(text);
        }
    }
    found
}

pattern!(MOCHA_COLOUR = r"\x1b\[[0-9;]*m");
pattern!(MOCHA_PASS = r"^\s*[✓√✔]\s+(.*?)(?:\s+\(\d+ms\))?\s*$");
pattern!(MOCHA_FAIL = r"^\s{4,}\d+\)\s+(.*)");
pattern!(MOCHA_CROSS = r"^\s*[×✕]\s+(.*)");
pattern!(MOCHA_PENDING = r"^\s*[-•]\s+(.*)");
pattern!(MOCHA_TIME = r"\s+\([\d\.]+ ?[a-zA-Z]+\)$");

/// Mocha's tree as SWE-Bench++ reads it.
pub(super) fn mocha_v2(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let mut suites: Vec<String> = Vec::new();
    let mut empty = 0;
    for raw in split_lines(log) {
        let line = MOCHA_COLOUR.replace_all(rstrip(raw), "");
        if line.is_empty() {
            empty += 1;
            if empty >= 2 {
                empty = 0;
                suites.clear();
            }
            continue;
        }
        if is_mocha_summary(&line) {
            suites.clear();
            continue;
        }
        let result = [
            (&MOCHA_PASS, PASSED),
            (&MOCHA_FAIL, FAILED),
            (&MOCHA_CROSS, FAILED),
            (&MOCHA_PENDING, "PENDING"),
        ]
        .into_iter()
        .find_map(|(pattern, status)| Some((pattern.captures(&line)?, status)));
        if let Some((captures, status)) = result {
            let name = MOCHA_TIME.replace(strip(&captures[1]), "");
            suites.push(name.into_owned());
            found.insert(suites.join(" - "), status.to_owned());
            suites.pop();
            continue;
        }
        let indent = super::text::indent(&line);
        if indent >= 2 {
            suites.truncate(indent / 2 - 1);
            suites.push(strip(&line).to_owned());
        }
    }
    found
}

fn is_mocha_summary(line: &str) -> bool {
    skip_digits(lstrip(line))
        .and_then(skip_spaces)
        .is_some_and(|rest| {
            ["passing", "failing", "pending"]
                .iter()
                .any(|word| rest.starts_with(word))
        })
}
