//! Output that names every test by class and method: `--teamcity`, `--debug` and the event log.

use super::title;
use crate::edges::behind_any;
use atlas_core::TestStatus;
use std::collections::HashMap;

/// A test and what was said of it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) id: String,
    /// `None` where only its end was reported, as `--debug` did before `PHPUnit` 10.
    pub(super) status: Option<TestStatus>,
    pub(super) seen: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct NamedTests {
    pub(super) tests: Vec<Named>,
    by_id: HashMap<String, usize>,
    /// The test that runs.
    open: Option<Open>,
    /// Suites that run, with the class of each where it is one.
    suites: Vec<(String, Option<String>)>,
    /// How many suites were opened beyond the depth that is kept.
    deeper: usize,
    /// Classes whose fixture failed before or after all their tests.
    pub(super) fixtures: Vec<(String, usize)>,
    /// The event log's own number of tests.
    pub(super) announced: Option<u64>,
    pub(super) form: Option<Form>,
    pub(super) ended: bool,
    /// How many times a test began, ended, or had something said of it.
    pub(super) steps: u64,
}

/// Which of the forms was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Teamcity,
    Debug,
    Events,
}

#[derive(Clone, Debug)]
struct Open {
    id: String,
    name: String,
    status: Option<TestStatus>,
}

const MAX_SUITES: usize = 64;

impl NamedTests {
    pub(super) fn get(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The last test's result, where its end was not told.
    pub(super) fn settle(&mut self) {
        if self.ended {
            self.end(None);
        }
    }

    /// The test that was running when the log stopped.
    pub(super) fn running(&self) -> Option<(&str, bool)> {
        self.open
            .as_ref()
            .map(|open| (open.id.as_str(), open.status.is_none()))
    }

    pub(super) fn add(&mut self, id: &str, status: Option<TestStatus>) {
        self.steps += 1;
        if let Some(at) = self.by_id.get(id) {
            let known = &mut self.tests[*at];
            known.seen = known.seen.saturating_add(1);
            known.status = known.status.max(status);
            return;
        }
        self.by_id.insert(id.to_owned(), self.tests.len());
        self.tests.push(Named {
            id: id.to_owned(),
            status,
            seen: 1,
        });
    }

    fn start(&mut self, id: String, name: &str) {
        self.steps += 1;
        // A test whose fixture failed has a result and no end.
        if self.form == Some(Form::Events) && self.open.as_ref().is_some_and(|o| o.status.is_some())
        {
            self.end(None);
        }
        self.open = Some(Open {
            id,
            name: name.to_owned(),
            status: None,
        });
    }

    /// Takes the running test out and records it.
    fn end(&mut self, silent: Option<TestStatus>) {
        if let Some(open) = self.open.take() {
            self.add(&open.id, open.status.or(silent));
        }
    }

    fn say(&mut self, status: TestStatus) {
        if let Some(open) = &mut self.open {
            open.status = open.status.max(Some(status));
        }
    }

    /// `Test 'X::y' started` and `… ended`, `PHPUnit` 9 and before.
    pub(super) fn debug(&mut self, line: &[u8]) -> bool {
        let Some((text, started)) = line
            .strip_suffix(b"' started")
            .map(|text| (text, true))
            .or_else(|| line.strip_suffix(b"' ended").map(|text| (text, false)))
        else {
            return false;
        };
        let Some(at) = memchr::memmem::find(text, b"Test '") else {
            return false;
        };
        let text = String::from_utf8_lossy(&text[at + 6..]);
        if !started {
            let ours = self.open.as_ref().is_some_and(|open| open.name == text);
            if ours {
                self.end(None);
            }
            return ours;
        }
        let Some(id) = title::id(&text) else {
            return false;
        };
        self.form.get_or_insert(Form::Debug);
        // A test that started and never ended, although another one starts, was not the runner's.
        self.start(id.to_owned(), &text);
        true
    }

    /// A line of the event log, `PHPUnit` 10 and later.
    pub(super) fn event(&mut self, line: &[u8], number: usize) -> bool {
        let Ok(text) = std::str::from_utf8(line) else {
            return false;
        };
        // Dots of the progress may stand in front.
        let text = text.trim_start_matches(['.', 'F', 'E', 'W', 'I', 'R', 'S', 'D', 'N']);
        let text = telemetry(text);
        // Output without a newline may stand in front of the end.
        if let Some(open) = &self.open
            && text
                .strip_suffix(')')
                .and_then(|text| text.strip_suffix(open.name.as_str()))
                .is_some_and(|text| text.ends_with("Test Finished ("))
        {
            self.steps += 1;
            self.end(None);
            return true;
        }
        if let Some(rest) = text.strip_prefix("Test ") {
            return self.test_event(rest);
        }
        if let Some(rest) = fixture(text) {
            if let Some((class, _)) = rest.split_once("::")
                && title::is_class(class)
                && self.form == Some(Form::Events)
                && self.open.is_none()
            {
                self.fixtures.push((class.to_owned(), number));
            }
            return true;
        }
        if text.starts_with("PHPUnit Finished (") && self.form == Some(Form::Events) {
            self.ended = true;
            return true;
        }
        false
    }

    fn test_event(&mut self, rest: &str) -> bool {
        let Some((event, what)) = rest.split_once(" (") else {
            return false;
        };
        let Some(what) = what.strip_suffix(')') else {
            return false;
        };
        let status = match event {
            "Runner Execution Started" => {
                let count = what.split(' ').next().unwrap_or_default();
                self.announced = title::number(count.as_bytes());
                self.form.get_or_insert(Form::Events);
                return true;
            }
            _ if self.form != Some(Form::Events) => return false,
            "Preparation Started" => {
                let Some(id) = title::of_event(what) else {
                    return false;
                };
                self.start(id, what);
                return true;
            }
            "Suite Started" => {
                let name = what.rsplit_once(", ").map_or(what, |(name, _)| name);
                self.push(
                    name,
                    Some(title::class(name))
                        .filter(|c| !c.is_empty())
                        .unwrap_or(name),
                );
                return true;
            }
            "Suite Finished" => {
                let name = what.rsplit_once(", ").map_or(what, |(name, _)| name);
                self.pop(name);
                return true;
            }
            "Passed" => TestStatus::Passed,
            "Failed" | "Preparation Failed" => TestStatus::Failed,
            "Errored" | "Preparation Errored" => TestStatus::Error,
            "Skipped" | "Marked Incomplete" => TestStatus::Skipped,
            _ => return false,
        };
        let open = self.open.as_ref().map(|open| open.name == what);
        match open {
            Some(true) => self.say(status),
            Some(false) => return false,
            None => {
                // Skipped for a dependency, or died in its own process: never prepared.
                let inside = self.form == Some(Form::Events)
                    && self
                        .suites
                        .last()
                        .is_some_and(|(_, class)| class.as_deref() == Some(title::class(what)));
                let Some(id) = title::of_event(what).filter(|_| inside) else {
                    return false;
                };
                if status != TestStatus::Passed {
                    self.add(&id, Some(status));
                }
            }
        }
        true
    }

    fn push(&mut self, name: &str, class: &str) {
        if self.suites.len() < MAX_SUITES {
            let class = title::is_class(class).then(|| class.to_owned());
            self.suites.push((name.to_owned(), class));
        } else {
            self.deeper = self.deeper.saturating_add(1);
        }
    }

    fn pop(&mut self, name: &str) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if self.suites.last().is_some_and(|(suite, _)| suite == name) {
            self.suites.pop();
        }
    }

    /// A `##teamcity[…]` message.
    pub(super) fn teamcity(&mut self, message: &[u8], number: usize) -> bool {
        let Some(message) = message.strip_suffix(b"]") else {
            return false;
        };
        let text = String::from_utf8_lossy(message);
        let (event, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let Some(name) = attribute(rest, "name") else {
            return event == "testCount";
        };
        let place = attribute(rest, "locationHint");
        let named = place
            .as_deref()
            .filter(|place| place.starts_with("php_qn://"))
            .and_then(|place| place.split_once("::\\"))
            .map(|(_, named)| named);
        match event {
            "testSuiteStarted" => {
                self.form.get_or_insert(Form::Teamcity);
                let class = named.map_or("", |named| named.split("::").next().unwrap_or(named));
                self.push(&name, class);
            }
            "testSuiteFinished" => self.pop(&name),
            "testStarted" => {
                let id = match named {
                    Some(named) => title::bare_id(named),
                    None => Some(&*name).filter(|id| title::is_phpt(id)),
                };
                let Some(id) = id.filter(|_| self.form == Some(Form::Teamcity)) else {
                    return false;
                };
                self.start(id.to_owned(), &name);
            }
            "testFailed" | "testIgnored" => {
                let message = attribute(rest, "message").unwrap_or_default();
                let details = attribute(rest, "details").unwrap_or_default();
                if event == "testFailed" && details.trim().is_empty() && is_risk(&message) {
                    return true;
                }
                let status = match event {
                    "testIgnored" => TestStatus::Skipped,
                    _ if is_error(&message) => TestStatus::Error,
                    _ => TestStatus::Failed,
                };
                if self.open.as_ref().is_some_and(|open| open.name == name) {
                    self.say(status);
                } else if self.open.is_none() && self.form == Some(Form::Teamcity) {
                    self.unprepared(&name, status, number);
                }
            }
            "testFinished" => {
                if self.open.as_ref().is_some_and(|open| open.name == name) {
                    self.end(Some(TestStatus::Passed));
                }
            }
            _ => return event == "testCount",
        }
        true
    }

    /// A result of a test whose fixture failed before it began, or of a class.
    fn unprepared(&mut self, name: &str, status: TestStatus, number: usize) {
        let Some((suite, Some(class))) = self.suites.last() else {
            return;
        };
        if suite == name {
            self.fixtures.push((class.clone(), number));
            return;
        }
        let id = format!("{class}::{name}");
        if title::bare_id(&id).is_some() {
            self.add(&id, Some(status));
        }
    }
}

fn fixture(text: &str) -> Option<&str> {
    behind_any(
        text,
        &[
            "Before First Test Method Errored (",
            "Before First Test Method Failed (",
            "After Last Test Method Errored (",
            "After Last Test Method Failed (",
        ],
    )
}

/// The line without `[00:00:00.012 / 00:00:00.001] [4194304 bytes] ` of the verbose event log.
fn telemetry(text: &str) -> &str {
    if !text.starts_with('[') {
        return text;
    }
    text.split_once(" bytes] ")
        .filter(|(head, _)| head.len() < 80)
        .map_or(text, |(_, rest)| rest)
}

/// Why a test is risky, which does not fail it: `TeamCity`'s messages have no other sign of it.
fn is_risk(message: &str) -> bool {
    message.starts_with("This test ")
        || message.starts_with("Test code or tested code ")
        || message.starts_with("Execution aborted after ")
}

/// `RuntimeException: boom`, `RuntimeException : boom`: an exception that is no failed assertion.
fn is_error(message: &str) -> bool {
    let class = message.split([':', ' ', '\n']).next().unwrap_or_default();
    let rest = &message[class.len()..];
    title::is_class(class)
        && (class.ends_with("Exception") || class.ends_with("Error"))
        && (rest.is_empty() || rest.starts_with(": ") || rest.starts_with(" : "))
}

/// The value of ` key='…'`, unescaped.
fn attribute(text: &str, key: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (found, value) = rest.split_once("='")?;
        let found = found.trim_start();
        let mut plain = String::new();
        let mut characters = value.char_indices();
        let end = loop {
            let (at, character) = characters.next()?;
            match character {
                '\'' => break at,
                '|' => match characters.next()?.1 {
                    'n' => plain.push('\n'),
                    'r' => plain.push('\r'),
                    other => plain.push(other),
                },
                other => plain.push(other),
            }
        };
        if found == key {
            return Some(plain);
        }
        rest = &value[end + 1..];
    }
}
