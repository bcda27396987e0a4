//! Runners of C and C++.

use super::text::{skip_space, skip_spaces, strip};
use super::xml::{Element, read};
use super::{Answer, CompatFault, CompatStatuses, FAILED, PASSED, SKIPPED};

pattern!(REDIS = r"^\[(ok|err|skip|ignore)\]:\s(.+?)(?:\s\((?:\d+\s*m?s)\))?$");
pattern!(REDIS_FILE = r"\s+in\s+\S+$");

pub(super) fn redis(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        if !line.starts_with('[') {
            continue;
        }
        let Some(captures) = REDIS.captures(line) else {
            continue;
        };
        let name = &captures[2];
        match &captures[1] {
            "ok" => found.insert(name.to_owned(), PASSED.to_owned()),
            "err" => found.insert(REDIS_FILE.replace(name, "").into_owned(), FAILED.to_owned()),
            _ => found.insert(name.to_owned(), SKIPPED.to_owned()),
        };
    }
    found
}

/// Automake's lines.
pub(super) fn jq(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        for (mark, status) in [("PASS:", PASSED), ("FAIL:", FAILED)] {
            if let Some(name) = line.strip_prefix(mark).and_then(skip_space) {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

pub(super) fn micropython(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        for (mark, status) in [("pass", PASSED), ("FAIL", FAILED), ("skip", SKIPPED)] {
            if let Some(name) = line.strip_prefix(mark).and_then(skip_spaces) {
                found.insert(name.to_owned(), status.to_owned());
            }
        }
    }
    found
}

pattern!(GOOGLETEST = r"^.*\[\s*(OK|FAILED)\s*\]\s(.*)\s\(.*\)$");

pub(super) fn googletest(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        if !line.ends_with(')') || !line.contains('[') {
            continue;
        }
        if let Some(captures) = GOOGLETEST.captures(line) {
            let status = if &captures[1] == "OK" { PASSED } else { FAILED };
            found.insert(captures[2].to_owned(), status.to_owned());
        }
    }
    found
}

pattern!(CTEST = r"^.*Test\s+#\d+:\s+(.*\.+)\s*(.*)\s+\d+\.\d+\s+sec$");

pub(super) fn ctest(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        if !line.ends_with("sec") || !line.contains("Test") {
            continue;
        }
        let Some(captures) = CTEST.captures(line) else {
            continue;
        };
        let name = strip(captures[1].trim_matches('.')).to_owned();
        let status = strip(&captures[2]).to_lowercase();
        if status == "passed" {
            found.insert(name, PASSED.to_owned());
        } else if status == "failed" || status.starts_with("***") {
            found.insert(name, FAILED.to_owned());
        }
    }
    found
}

/// TAP, or `CTest` where there is none.
pub(super) fn tap_or_ctest(log: &str) -> CompatStatuses {
    let found = super::ruby::tap(log);
    if found.is_empty() { ctest(log) } else { found }
}

/// The first report in the log. One without its end is no text at all: the harnesses then cut it
/// where no document can end.
fn report<'a>(log: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let from = log.find(start)?;
    let length = log[from..].find(end).map_or(0, |at| at + end.len());
    Some(&log[from..from + length])
}

fn malformed(what: &str) -> CompatFault {
    CompatFault::new(&format!("ParseError: {what}"))
}

fn succeeded(expression: &Element) -> bool {
    expression.attribute("success") == Some("true")
}

fn set(found: &mut CompatStatuses, name: String, passed: bool) {
    let status = if passed { PASSED } else { FAILED };
    found.insert(name, status.to_owned());
}

/// Every subcase at any depth, by its own name; a case without subcases is not seen.
pub(super) fn doctest(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let Some(text) = report(log, "<doctest", "</doctest>") else {
        return Ok(found);
    };
    let document = read(text).map_err(|fault| malformed(&fault))?;
    for case in document.root().below("TestCase") {
        for subcase in case.below("SubCase") {
            let name = format!("{} > {}", printed(&case), printed(&subcase));
            let passed = subcase.below("Expression").all(|it| succeeded(&it));
            set(&mut found, name, passed);
        }
    }
    Ok(found)
}

fn printed<'a>(element: &Element<'a>) -> &'a str {
    element.attribute("name").unwrap_or("None")
}

/// How SWE-Bench++ reads the two XML reports.
struct Sections {
    start: &'static str,
    end: &'static str,
    /// Element and attribute of a case's result.
    result: (&'static str, &'static str),
    section: &'static str,
    is_skipped: fn(&Element<'_>) -> bool,
    section_is_skipped: fn(&Element<'_>) -> bool,
}

const DOCTEST: Sections = Sections {
    start: "<doctest",
    end: "</doctest>",
    result: ("OverallResultsAsserts", "test_case_success"),
    section: "SubCase",
    is_skipped: |case| case.attribute("skipped") == Some("true"),
    section_is_skipped: |_| false,
};

const CATCH2: Sections = Sections {
    start: "<Catch2TestRun",
    end: "</Catch2TestRun>",
    result: ("OverallResult", "success"),
    section: "Section",
    is_skipped: |case| {
        case.child("OverallResult")
            .is_some_and(|result| result.attribute("status") == Some("skipped"))
    },
    section_is_skipped: |section| {
        section
            .child("OverallResults")
            .is_some_and(|result| result.attribute("skipped") == Some("true"))
    },
};

pub(super) fn doctest_pp(log: &str) -> Answer {
    DOCTEST.read(log)
}

pub(super) fn catch2(log: &str) -> Answer {
    CATCH2.read(log)
}

impl Sections {
    fn read(&self, log: &str) -> Answer {
        let Some(text) = report(log, self.start, self.end) else {
            return Ok(ctest(log));
        };
        let document = read(text).map_err(|fault| malformed(&fault))?;
        let mut found = CompatStatuses::new();
        for case in document.root().below("TestCase") {
            let Some(result) = case.child(self.result.0) else {
                continue;
            };
            if (self.is_skipped)(&case) {
                continue;
            }
            let name = case.attribute("name").unwrap_or("<testcase>");
            let passed = result.attribute(self.result.1) == Some("true");
            set(&mut found, name.to_owned(), passed);
            for section in case.children(self.section) {
                if !(self.section_is_skipped)(&section) {
                    let (path, passed) = self.first_path(section);
                    set(&mut found, format!("{name} > {path}"), passed);
                }
            }
        }
        Ok(found)
    }

    /// A section and the first one inside it, and so on; the others are not seen.
    fn first_path(&self, section: Element<'_>) -> (String, bool) {
        let mut path = String::new();
        let mut passed = true;
        let mut next = Some(section);
        while let Some(section) = next {
            if !path.is_empty() {
                path.push_str(" > ");
            }
            path.push_str(section.attribute("name").unwrap_or("<section>"));
            passed &= section.children("Expression").all(|it| succeeded(&it));
            next = section.child(self.section);
        }
        (path, passed)
    }
}

/// What one of five readers says, or several of them alike; nothing where they differ.
pub(super) fn common(log: &str) -> Answer {
    let answers = [
        googletest(log),
        doctest_pp(log)?,
        catch2(log)?,
        tap_or_ctest(log),
        ctest(log),
    ];
    let mut answers = answers.into_iter().filter(|answer| !answer.is_empty());
    let first = answers.next().unwrap_or_default();
    Ok(if answers.all(|other| other == first) {
        first
    } else {
        CompatStatuses::new()
    })
}
