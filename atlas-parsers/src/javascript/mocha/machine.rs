//! Mocha's line-wise machine formats: json-stream, TAP and Markdown.

use crate::javascript::junit::Cases;
use atlas_core::{ParsedLogBuilder, TestStatus, Totals};
use memchr::memmem;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};

/// A test that one of the formats named.
#[derive(Clone, Debug)]
pub(super) struct Named {
    file: String,
    /// The titles of the suites in one text, where the format tells them from the test's title.
    suites: Option<String>,
    title: String,
    pub(super) status: TestStatus,
}

/// What one of the formats told.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) tests: Vec<Named>,
    pub(super) totals: Totals,
    /// It began.
    pub(super) begun: bool,
    /// It came to its end.
    pub(super) ended: bool,
}

impl Told {
    /// A test whose suites and title are one text.
    pub(super) fn push(&mut self, file: &str, name: &str, status: TestStatus) {
        self.push_titled(file, name, None, status);
    }

    /// A test whose own title may be known besides the text of suites and title.
    pub(super) fn push_titled(
        &mut self,
        file: &str,
        full: &str,
        title: Option<&str>,
        status: TestStatus,
    ) {
        // Before Mocha 4 the blank behind the root suite's empty title stands there.
        let full = full.strip_prefix(' ').unwrap_or(full);
        let suites = title.and_then(|title| full.strip_suffix(title)?.strip_suffix(' '));
        self.tests.push(Named {
            file: file.to_owned(),
            suites: suites.map(str::to_owned),
            title: title
                .filter(|_| suites.is_some())
                .unwrap_or(full)
                .to_owned(),
            status,
        });
    }

    /// The xunit reporter's document: a case's class is the text of its suites.
    pub(super) fn of_cases(cases: &Cases) -> Self {
        let mut told = Self {
            begun: true,
            ended: !cases.cut,
            totals: Totals {
                failed: cases.failing,
                ..Totals::default()
            },
            ..Self::default()
        };
        for case in &cases.found {
            // Its totals count failures and what is skipped, and hooks only as failures.
            told.tests.push(Named {
                file: case.file.clone(),
                suites: (!case.class.is_empty()).then(|| case.class.clone()),
                title: case.name.clone(),
                status: case.status,
            });
        }
        told
    }

    /// The tests with their ids.
    ///
    /// A suite's text that goes on behind that of another suite of the same file is taken for a
    /// suite in it. So a suite that holds nothing but suites is one with each of them, and `A b` beside
    /// `A` looks like `b` in it.
    pub(super) fn named(&self) -> impl Iterator<Item = (&Named, String)> {
        let known: HashSet<(&str, &str)> = self
            .tests
            .iter()
            .filter_map(|test| Some((test.file.as_str(), test.suites.as_deref()?)))
            .collect();
        let mut paths: HashMap<(&str, &str), String> = HashMap::new();
        self.tests.iter().map(move |test| {
            let Some(suites) = test.suites.as_deref() else {
                return (test, test.title.clone());
            };
            let path = paths
                .entry((&test.file, suites))
                .or_insert_with(|| path(suites, |outer| known.contains(&(&test.file, outer))));
            (test, format!("{path} > {}", test.title))
        })
    }

    /// Whether the results bear the declared counts out.
    pub(super) fn agrees(&self) -> bool {
        let declared = [
            (self.totals.passed, TestStatus::Passed),
            (self.totals.failed, TestStatus::Failed),
            (self.totals.skipped, TestStatus::Skipped),
        ];
        declared.into_iter().all(|(declared, status)| {
            let counted = self
                .tests
                .iter()
                .filter(|test| test.status == status)
                .count();
            declared.is_none_or(|declared| declared == counted as u64)
        })
    }

    pub(super) fn record(&self, log: &mut ParsedLogBuilder) {
        for (test, name) in self.named() {
            if test.file.is_empty() {
                log.record("", &name, &name, test.status);
            } else {
                let qualified = format!("{} > {name}", test.file);
                log.record(&test.file, &qualified, &name, test.status);
            }
        }
    }
}

/// The suites of a text, joined by ` > `: it is cut behind each suite that is known.
fn path(suites: &str, known: impl Fn(&str) -> bool) -> String {
    let mut path = String::with_capacity(suites.len());
    let mut start = 0;
    for (blank, _) in suites.match_indices(' ') {
        if known(&suites[..blank]) {
            path.push_str(&suites[start..blank]);
            path.push_str(" > ");
            start = blank + 1;
        }
    }
    path.push_str(&suites[start..]);
    path
}

/// `["pass",{"title":…}]`
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    pub(super) told: Told,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    full_title: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    passes: Option<u64>,
    #[serde(default)]
    failures: Option<u64>,
    #[serde(default)]
    total: Option<u64>,
}

impl Stream {
    pub(super) fn line(&mut self, line: &[u8]) {
        if line.last() != Some(&b']') {
            return;
        }
        // What a test printed without a line end stands before an event.
        let begins: &[&[u8]] = if self.told.begun && !self.told.ended {
            &[b"[\"pass\",{", b"[\"fail\",{", b"[\"end\",{"]
        } else {
            &[b"[\"start\",{"]
        };
        let Some(at) = begins.iter().find_map(|begin| memmem::find(line, begin)) else {
            return;
        };
        let Ok((word, event)) = serde_json::from_slice::<(String, Event)>(&line[at..]) else {
            return;
        };
        match (word.as_str(), event) {
            ("start", Event { total: Some(_), .. }) => {
                self.told.begun = true;
                self.told.ended = false;
            }
            ("pass" | "fail", event) => {
                let status = if word == "pass" {
                    TestStatus::Passed
                } else {
                    TestStatus::Failed
                };
                let file = event.file.unwrap_or_default();
                if let Some(name) = event.full_title {
                    let title = event.title.as_deref();
                    self.told.push_titled(&file, &name, title, status);
                }
            }
            ("end", event) if event.passes.is_some() => {
                self.told.ended = true;
                // Pending tests are counted, but there is no event of them.
                self.told.totals.add(Totals {
                    passed: event.passes,
                    failed: event.failures,
                    ..Totals::default()
                });
            }
            _ => {}
        }
    }
}

/// `ok 3 Suite title`
#[derive(Clone, Debug, Default)]
pub(super) struct Tap {
    pub(super) told: Told,
    last: u64,
    passed: Option<u64>,
}

impl Tap {
    pub(super) fn line(&mut self, line: &[u8]) {
        match line.first() {
            None | Some(b' ') => return,
            Some(b'#') if self.told.begun => {
                self.count(line);
                return;
            }
            _ => {}
        }
        let Some(at) = memmem::find(line, b"ok ") else {
            return;
        };
        let Some((number, rest)) = super::line::number(&line[at + 3..]) else {
            return;
        };
        let Some(title) = rest.strip_prefix(b" ") else {
            return;
        };
        let failed = at >= 4 && &line[at - 4..at] == b"not ";
        let start = if failed { at - 4 } else { at };
        // A hook's failure takes the number of the test that does not run for it.
        let again = number == self.last && self.last > 0;
        if number != self.last + 1 && !again && number != 1 || start > 0 && !self.told.begun {
            return;
        }
        if number == 1 && self.last > 1 {
            self.told.ended = false;
        }
        let title = String::from_utf8_lossy(title);
        let (title, status) = match (title.strip_suffix(" # SKIP -"), failed) {
            (Some(title), false) => (title, TestStatus::Skipped),
            (_, false) => (&*title, TestStatus::Passed),
            (_, true) => (&*title, TestStatus::Failed),
        };
        self.told.begun = true;
        self.last = number;
        self.told.push("", title, status);
    }

    fn count(&mut self, line: &[u8]) {
        let number = |word: &[u8]| {
            let (number, rest) = super::line::number(line.strip_prefix(word)?)?;
            rest.is_empty().then_some(number)
        };
        if let Some(passed) = number(b"# pass ") {
            self.passed = Some(passed);
        } else if let (Some(failed), Some(passed)) = (number(b"# fail "), self.passed.take()) {
            self.told.ended = true;
            self.last = 0;
            self.told.totals.add(Totals {
                passed: Some(passed),
                failed: Some(failed),
                ..Totals::default()
            });
        }
    }
}

/// The markdown reporter names passing tests, each before its code.
#[derive(Clone, Debug, Default)]
pub(super) struct Markdown {
    pub(super) told: Told,
    open: Vec<String>,
    anchor: bool,
    code: bool,
    title: Option<String>,
    blank: bool,
}

impl Markdown {
    pub(super) fn line(&mut self, line: &[u8]) {
        if !self.told.begun {
            // What a test prints without a line end stands in front.
            if line.ends_with(b"# TOC") {
                self.told.begun = true;
            }
            return;
        }
        if self.code {
            self.code = line != b"```";
            return;
        }
        if line.starts_with(b"<a name=\"") && line.ends_with(b"\"></a>") {
            self.anchor = true;
            self.told.ended = true;
            return;
        }
        if std::mem::take(&mut self.anchor) {
            let level = line.iter().take_while(|byte| **byte == b'#').count();
            if let Some(title) = line[level..].strip_prefix(b" ") {
                self.open.truncate(level.saturating_sub(1));
                if level > 0 {
                    self.open.push(String::from_utf8_lossy(title).into_owned());
                }
            }
            return;
        }
        if line == b"```js" && self.blank {
            self.code = true;
            if let Some(title) = self.title.take() {
                let mut path = self.open.clone();
                path.push(title);
                self.told.push("", &path.join(" > "), TestStatus::Passed);
            }
            return;
        }
        self.blank = line.is_empty();
        if !line.is_empty() {
            let title = line.strip_suffix(b".").filter(|_| self.told.ended);
            self.title = title.map(|title| String::from_utf8_lossy(title).into_owned());
        }
    }
}
