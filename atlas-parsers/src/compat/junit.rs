//! The reports that SWE-Bench++'s Java runs print on their console: JSON lines, then `JUnit`'s XML
//! between marks, then the console itself. The first of the three that has a test is the answer.

use super::java::{gradle4, maven_v2};
use super::json::{Value, read_or_none};
use super::text::{lstrip, split_lines, strip, without_escapes};
use super::xml;
use super::{Answer, CompatFault, CompatStatuses, FAILED, PASSED, SKIPPED};

pub(super) fn ci_log(log: &str) -> Answer {
    let found = json_lines(log)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let found = xml_blocks(log);
    if !found.is_empty() {
        return Ok(found);
    }
    let mut found = maven_v2(log);
    found.extend(gradle4(log));
    Ok(found)
}

/// The worse of two statuses stays.
fn merge(found: &mut CompatStatuses, name: String, status: &str) {
    let weight = |status: &str| match status {
        FAILED => 3,
        SKIPPED => 2,
        _ => 1,
    };
    let held = found.entry(name).or_insert_with(|| status.to_owned());
    if weight(status) > weight(held) {
        status.clone_into(held);
    }
}

fn identifier(class: &str, name: &str) -> String {
    strip(&format!("{class}.{name}")).to_owned()
}

const JSON_MARK: &str = "__TEST_JSON__ ";

fn json_lines(log: &str) -> Answer {
    let mut found = CompatStatuses::new();
    if !log.contains(JSON_MARK) {
        return Ok(found);
    }
    for line in split_lines(log) {
        let Some((_, payload)) = strip(line).split_once(JSON_MARK) else {
            continue;
        };
        let Some(test) = read_or_none(strip(payload))? else {
            continue;
        };
        let class = first_truthy(&test, &["class", "classname"])?;
        let name = first_truthy(&test, &["name"])?;
        let status = match first_truthy(&test, &["status"])? {
            None => String::new(),
            Some(Value::Text(status)) => status.to_uppercase(),
            Some(_) => return Err(CompatFault::attribute("object", "upper")),
        };
        let (Some(class), Some(name)) = (class, name) else {
            continue;
        };
        let status = match status.as_str() {
            "SUCCESS" | "PASSED" => PASSED,
            "SKIPPED" | "IGNORE" | "IGNORED" => SKIPPED,
            _ => FAILED,
        };
        let name = identifier(&class.print(), &name.print());
        merge(&mut found, name, status);
    }
    Ok(found)
}

fn first_truthy<'a>(test: &'a Value, fields: &[&str]) -> Result<Option<&'a Value>, CompatFault> {
    for field in fields {
        if let Some(value) = test.field(field)?
            && value.is_truthy()
        {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

pattern!(BEGIN = r"__JUNIT_XML_FILE_BEGIN__\s+([^\r\n]+)");
pattern!(END = r"__JUNIT_XML_FILE_END__\s+([^\r\n]+)");

fn xml_blocks(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    let log = without_escapes(log);
    if !log.contains("__JUNIT_XML_FILE_BEGIN__") {
        return found;
    }
    let rounds = log.chars().count() / 100 + 1000;
    let traces = Traces::of(&log);
    // Behind the last of them there is none to look for.
    let last_end = log.rfind("__JUNIT_XML_FILE_END__").unwrap_or_default();
    let mut position = 0;
    for _ in 0..rounds {
        let Some(begin) = BEGIN.captures_at(&log, position) else {
            break;
        };
        let (Some(whole), Some(path)) = (begin.get(0), begin.get(1)) else {
            break;
        };
        if traces.is_command(whole.start()) || is_command(without_quotes(path.as_str())) {
            position = whole.end();
            continue;
        }
        let Some(start) = content_start(&log, whole.end()) else {
            break;
        };
        let end = (start <= last_end)
            .then(|| END.find_at(&log, start))
            .flatten();
        if let Some(end) = end {
            read_report(&clean(&log[start..end.start()]), &mut found);
            position = end.end();
            continue;
        }
        let until = BEGIN
            .find_at(&log, start)
            .map_or(log.len(), |next| next.start());
        let text = &log[start..until];
        let closing = text.rfind("</testsuite>").or(text.rfind("</testsuites>"));
        if let Some(at) = closing {
            // The shorter tag's length is taken for both.
            read_report(&clean(&text[..at + "</testsuite>".len()]), &mut found);
        } else {
            let text = clean(text);
            if text.contains("<testcase") {
                read_report(&text, &mut found);
            }
        }
        position = start;
    }
    found
}

/// Where the lines of a traced command are: what they print of the marks is not the marks.
struct Traces<'a> {
    log: &'a str,
    /// Where each of the texts first ends.
    first: [usize; 6],
}

impl<'a> Traces<'a> {
    const TEXTS: [&'static str; 6] = ["; cat", "; echo", "done <", "$", "file", "abs"];

    fn of(log: &'a str) -> Self {
        let first = Self::TEXTS.map(|text| log.find(text).map_or(usize::MAX, |at| at + text.len()));
        Self { log, first }
    }

    /// Looks at what stands before the mark on its line; at all of the log before it, if the line is
    /// longer than 500 characters.
    fn is_command(&self, mark: usize) -> bool {
        let window = back(self.log, mark, 500);
        let line = self.log[window..mark].rfind('\n').map(|at| window + at);
        let has = Self::TEXTS.map(|text| line.is_some_and(|at| self.log[at..mark].contains(text)));
        let early = self.first.map(|end| line.is_none() && end <= mark);
        let [cat, echo, done, dollar, file, abs] = std::array::from_fn(|at| has[at] || early[at]);
        cat || echo || done || (dollar && (file || abs))
    }
}

/// The place that many characters before another.
fn back(text: &str, from: usize, characters: usize) -> usize {
    text[..from]
        .char_indices()
        .rev()
        .take(characters)
        .last()
        .map_or(from, |(at, _)| at)
}

/// The place that many characters after another.
fn forth(text: &str, from: usize, characters: usize) -> usize {
    text[from..]
        .char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| from + at)
}

fn without_quotes(path: &str) -> &str {
    let path = strip(path);
    ['\'', '"']
        .into_iter()
        .filter(|&quote| path.starts_with(quote) && path.ends_with(quote))
        .map(|quote| {
            path.strip_prefix(quote)
                .and_then(|path| path.strip_suffix(quote))
                .unwrap_or_default()
        })
        .next()
        .unwrap_or(path)
}

fn is_command(path: &str) -> bool {
    [
        ";", "\"", "'", "`", "&&", "||", " -D", " done", " echo", " cat ", " exit ",
    ]
    .iter()
    .any(|part| path.contains(part))
}

/// The line after the mark's; one more on, if the mark is printed there again.
fn content_start(log: &str, mark: usize) -> Option<usize> {
    let start = mark + log[mark..].find('\n')? + 1;
    let end = log[start..].find('\n').map(|at| start + at);
    let line = &log[start..end.unwrap_or_else(|| forth(log, start, 200))];
    if line.contains("__JUNIT_XML_FILE_BEGIN__") {
        return Some(end.map_or(start, |end| end + 1));
    }
    Some(start)
}

/// The text without traced commands, from its first bracket to its last.
fn clean(text: &str) -> String {
    let lines: Vec<&str> = split_lines(text)
        .filter(|line| {
            let line = lstrip(line);
            !(line.starts_with("+ ") && (line.contains(" echo ") || line.contains(" printf ")))
        })
        .collect();
    let text = lines.join("\n");
    let bounds = text.find('<').zip(text.rfind('>'));
    let inner = bounds.and_then(|(start, end)| text.get(start..=end));
    strip(inner.unwrap_or(&text)).to_owned()
}

/// One report: as XML if it is well-formed, and what a pattern finds in it besides.
fn read_report(text: &str, found: &mut CompatStatuses) {
    let text = strip(text);
    if text.is_empty() {
        return;
    }
    let cleaned = clean(text);
    let (text, document) = match xml::read(text) {
        Ok(document) => (text, Some(document)),
        Err(_) => match xml::read(&cleaned) {
            Ok(document) => (cleaned.as_str(), Some(document)),
            Err(_) => (text, None),
        },
    };
    let mut report = CompatStatuses::new();
    if let Some(document) = &document {
        for case in document.root().below("testcase") {
            let attribute = |name| strip(case.attribute(name).unwrap_or_default());
            let (class, name) = (attribute("classname"), attribute("name"));
            if class.is_empty() || name.is_empty() {
                continue;
            }
            let status = if case.child("failure").is_some() || case.child("error").is_some() {
                FAILED
            } else if case.child("skipped").is_some() {
                SKIPPED
            } else {
                PASSED
            };
            merge(&mut report, identifier(class, name), status);
        }
    }
    for (name, status) in by_pattern(text) {
        report.entry(name).or_insert(status);
    }
    for (name, status) in report {
        merge(found, name, &status);
    }
}

pattern!(
    CLASS_FIRST =
        r#"<testcase[^>]*classname\s*=\s*["']([^"']+)["'][^>]*name\s*=\s*["']([^"']+)["']"#
);
pattern!(
    NAME_FIRST =
        r#"<testcase[^>]*name\s*=\s*["']([^"']+)["'][^>]*classname\s*=\s*["']([^"']+)["']"#
);
pattern!(SKIPPED_TAG = r"(?i)<skipped\s*/?>");
pattern!(FAILED_TAG = r"(?i)<(?:failure|error)\s*/?>");

/// Start tags of tests, each with the status of the text around it.
fn by_pattern(text: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    for (pattern, class, name) in [(&CLASS_FIRST, 1, 2), (&NAME_FIRST, 2, 1)] {
        for captures in pattern.captures_iter(text) {
            let (class, name) = (&captures[class], &captures[name]);
            if !class.contains('.') {
                continue;
            }
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let end = text[start..]
                .find('>')
                .map_or_else(|| forth(text, start, 500), |at| start + at);
            let around = &text[back(text, start, 100)..forth(text, end, 500)];
            let status = if SKIPPED_TAG.is_match(around) {
                SKIPPED
            } else if FAILED_TAG.is_match(around) {
                FAILED
            } else {
                PASSED
            };
            let name = identifier(strip(&decoded(class)), strip(&decoded(name)));
            merge(&mut found, name, status);
        }
    }
    found
}

fn decoded(text: &str) -> String {
    text.replace("&apos;", "'")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
}
