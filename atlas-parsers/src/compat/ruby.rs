//! Ruby's runners.

use super::json::{Value, read_or_none};
use super::text::{is_word, skip_spaces, strip};
use super::{Answer, CompatFault, CompatHints, CompatStatuses, FAILED, PASSED, SKIPPED};

/// `name. … = …F`: the last result of the line, an `=` before it, and before that the last dot that
/// ends a name.
fn minitest_line(line: &str) -> Option<(&str, &'static str)> {
    let outcome = line.rfind(['.', 'F', 'E'])?;
    let equals = line[..outcome].rfind('=')?;
    let name = &line[..line[..equals].rfind(". ")?];
    let status = if line[outcome..].starts_with('.') {
        PASSED
    } else {
        FAILED
    };
    (!name.is_empty()).then_some((name, status))
}

pub(super) fn minitest(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for (name, status) in log
        .split('\n')
        .filter_map(|line| minitest_line(strip(line)))
    {
        found.insert(name.to_owned(), status.to_owned());
    }
    found
}

pattern!(VERBOSE = r"^(.*?#.*?) = [\d.]+ s = (\.|F|E)$");

pub(super) fn minitest_pp(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        if let Some((name, status)) = minitest_line(line) {
            found.insert(name.to_owned(), status.to_owned());
        } else if line.contains(" s = ")
            && let Some(captures) = VERBOSE.captures(line)
        {
            let status = if &captures[2] == "." { PASSED } else { FAILED };
            found.insert(captures[1].to_owned(), status.to_owned());
        }
    }
    found
}

pattern!(DOTS = r"^(.*) \.+(\.|F)");

pub(super) fn cucumber(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').filter(|line| line.contains(" .")) {
        if let Some(captures) = DOTS.captures(strip(line)) {
            let status = if &captures[2] == "." { PASSED } else { FAILED };
            found.insert(captures[1].to_owned(), status.to_owned());
        }
    }
    found
}

/// The name before the last colon that a result follows.
fn unit_line(line: &str) -> Option<(&str, &'static str)> {
    line.rmatch_indices(':').find_map(|(at, _)| {
        let result = skip_spaces(&line[at + 1..])?;
        let mut chars = result.chars();
        let status = match chars.next()? {
            '.' => PASSED,
            'E' | 'F' if !chars.next().is_some_and(is_word) => FAILED,
            'O' if !chars.next().is_some_and(is_word) => SKIPPED,
            _ => return None,
        };
        (at > 0).then(|| (&line[..at], status))
    })
}

pub(super) fn ruby_unit(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        let result = line
            .strip_prefix("test: ")
            .and_then(unit_line)
            .or_else(|| unit_line(line));
        if let Some((name, status)) = result {
            found.insert(name.to_owned(), status.to_owned());
        }
    }
    found
}

/// `name - passed`, the last of the line.
pub(super) fn rspec_lines(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for line in log.split('\n').map(strip) {
        let last = [(" - passed", PASSED), (" - failed", FAILED)]
            .into_iter()
            .filter_map(|(mark, status)| Some((line.rfind(mark)?, status)))
            .max_by_key(|&(at, _)| at);
        if let Some((at, status)) = last.filter(|&(at, _)| at > 0) {
            found.insert(line[..at].to_owned(), status.to_owned());
        }
    }
    found
}

/// The chooser of one repository, by the number in its instance.
pub(super) fn jekyll(log: &str, hints: &CompatHints) -> Answer {
    match hints.instance_id.split('-').nth(1) {
        Some("9141" | "8047" | "8167") => Ok(minitest(log)),
        Some("8761" | "8771") => Ok(cucumber(log)),
        Some(_) => Err(CompatFault::unknown_instance(&hints.instance_id)),
        None => Err(CompatFault::index()),
    }
}

pattern!(FEATURES = r"(?s)\[\s*\{.*\}\s*\]");

/// Cucumber's JSON. A background raises; a step that is neither passed nor failed counts as passed.
pub(super) fn cucumber_json(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    let Some(text) = FEATURES.find(log) else {
        return Ok(found);
    };
    let Some(features) = read_or_none(text.as_str())? else {
        return Ok(found);
    };
    for feature in features.items()? {
        if !feature.is_object() {
            continue;
        }
        let feature_name = feature.text("name", "<feature>");
        let Some(elements) = feature.get("elements") else {
            continue;
        };
        for element in elements.items()? {
            if !element.is_object() {
                continue;
            }
            let kind = element.lower("type")?;
            let keyword = element.lower("keyword")?;
            if kind == "background" || keyword == "background" {
                // The reader asks the names of the background's fields for their results.
                return Err(CompatFault::attribute("str", "get"));
            }
            if kind != "scenario" && kind != "scenario_outline" && keyword != "scenario" {
                continue;
            }
            let scenario = element.text("name", "<scenario>");
            let mut failed = false;
            for part in ["before", "steps", "after"] {
                failed = failed || any_failed(element.get(part))?;
            }
            let status = if failed { FAILED } else { PASSED };
            found.insert(format!("{feature_name} > {scenario}"), status.to_owned());
        }
    }
    Ok(found)
}

fn any_failed(steps: Option<&Value>) -> Result<bool, CompatFault> {
    let Some(steps) = steps else {
        return Ok(false);
    };
    for step in steps.items()? {
        let failed = match step.field("result")? {
            Some(result) => result.lower("status")? == "failed",
            None => false,
        };
        if failed {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `RSpec`'s JSON, on one line. An example without a name or a status makes all of it unread.
pub(super) fn rspec_json(log: &str) -> Answer {
    let text = log
        .split('\n')
        .find(|line| line.contains("\"examples\":[{"))
        .and_then(report_in);
    let Some(text) = text else {
        return Ok(CompatStatuses::new());
    };
    let Some(report) = read_or_none(text)? else {
        return Ok(CompatStatuses::new());
    };
    let mut found = CompatStatuses::new();
    let Some(examples) = report.get("examples") else {
        return Ok(found);
    };
    for example in examples.items()? {
        let (Some(name), Some(status)) =
            (example.item("full_description")?, example.item("status")?)
        else {
            return Ok(CompatStatuses::new());
        };
        let status = match status {
            Value::Text(text) if text == "passed" => PASSED,
            Value::Text(text) if text == "failed" => FAILED,
            _ => continue,
        };
        found.insert(name.key()?, status.to_owned());
    }
    Ok(found)
}

/// From the first brace to the last, if the examples are between.
fn report_in(line: &str) -> Option<&str> {
    let text = line.get(line.find('{')?..=line.rfind('}')?)?;
    text.contains("\"examples\"").then_some(text)
}

/// TAP, without the tests that have a directive. The number may be missing.
pub(super) fn tap(log: &str) -> CompatStatuses {
    pattern!(
        LINE = r"(?i)^(?:\d+:\s*)*(not[ \t]+ok|ok)(?:\s+\d+)?\s+-\s+([^#\n]*?)(\s*#\s*(?:SKIP|TODO)(?:\s+.*)?)?\s*$"
    );
    let mut found = CompatStatuses::new();
    for line in log.split('\n').filter(|line| line.contains('-')) {
        let Some(captures) = LINE.captures(strip(line)) else {
            continue;
        };
        if captures.get(3).is_some() {
            continue;
        }
        let status = match captures[1].to_lowercase().as_str() {
            "ok" => PASSED,
            "not ok" => FAILED,
            _ => continue,
        };
        found.insert(strip(&captures[2]).to_owned(), status.to_owned());
    }
    found
}
