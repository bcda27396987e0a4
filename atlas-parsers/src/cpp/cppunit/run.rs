//! One run of one binary.

use super::line::{self, End};
use crate::cpp::text::{lossy, number};
use atlas_core::{ParsedLogBuilder, TestStatus, Totals};
use quick_xml::escape;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// What the runner declares at its end.
    pub(super) end: Option<Totals>,
    /// An end that the results do not add up to, and how many there were: perhaps a test printed
    /// it.
    doubtful: Option<(Totals, u64)>,
    /// Results of the brief listener.
    results: Vec<(Vec<u8>, TestStatus)>,
    /// Tests that ended and whose names cannot be told.
    nameless: u64,
    /// A test that has begun and not ended.
    open: Option<Open>,
    /// Failures that an outputter names.
    failures: BTreeMap<String, TestStatus>,
    /// How many more of them the text outputter is to name.
    awaited: u64,
    /// How many it has named.
    listed: u64,
    /// The kind of failure that the last line told.
    kind: Option<TestStatus>,
    xml: Xml,
}

#[derive(Clone, Debug)]
struct Open {
    line: Vec<u8>,
    /// How many results there were before.
    results: usize,
    nameless: u64,
}

/// The XML outputter's document.
#[derive(Clone, Debug, Default)]
struct Xml {
    open: bool,
    ended: bool,
    section: Section,
    name: Option<String>,
    tests: Vec<(String, TestStatus)>,
    totals: Totals,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Failed,
    Passed,
}

impl Run {
    pub(super) fn began(&self) -> bool {
        self.open.is_some()
            || !self.results.is_empty()
            || !self.failures.is_empty()
            || self.nameless > 0
            || self.xml.open
    }

    /// Takes a line. Returns whether it ends the run.
    pub(super) fn line(&mut self, line: &[u8]) -> bool {
        if self.xml(line) {
            if self.xml.ended {
                self.end = Some(self.xml.totals);
            }
            return self.xml.ended;
        }
        let kind = self.kind.take();
        if self.awaited > 0 {
            if let Some((number, name, status)) = line::listed(line)
                && number == self.listed + 1
            {
                self.fail(name, status);
                self.listed = number;
                self.awaited -= 1;
            }
            return self.awaited == 0;
        }
        if let Some(status) = line::kind(line) {
            self.kind = Some(status);
            return false;
        }
        if let (Some(status), Some(name)) = (kind, line.strip_prefix(b"Test name: ")) {
            self.fail(name, status);
            return false;
        }
        if let Some(end) = line::end(line) {
            return self.ends(end);
        }
        self.progress(line);
        false
    }

    fn fail(&mut self, name: &[u8], status: TestStatus) {
        let known = self
            .failures
            .entry(lossy(name.trim_ascii()))
            .or_insert(status);
        *known = known.worst(status);
    }

    fn ends(&mut self, end: End) -> bool {
        match end {
            End::Compiler(totals) => {
                self.end = Some(totals);
                true
            }
            End::Text(totals) => {
                self.end = Some(totals);
                self.awaited = sum(totals);
                self.listed = 0;
                self.awaited == 0
            }
            End::Fine(totals) => {
                let seen = self.results.len() as u64 + self.nameless;
                let fits = self.open.is_none() && (seen == 0 || totals.total == Some(seen));
                if fits && self.failures.is_empty() {
                    self.end = Some(totals);
                    return true;
                }
                self.doubtful = Some((totals, seen));
                false
            }
        }
    }

    /// The log ends: an end that was doubted is all there is, if nothing has followed it.
    pub(super) fn last_end(&mut self) {
        let seen = self.results.len() as u64 + self.nameless;
        if self.end.is_none() && self.open.is_none() {
            let last = self.doubtful.filter(|(_, before)| *before == seen);
            self.end = last.map(|(totals, _)| totals);
        }
    }

    fn progress(&mut self, line: &[u8]) {
        const MAX: usize = 1 << 20;
        if let Some((name, status)) = line::complete(line) {
            if line::is_path(name) {
                // Inside an open test it may be that test's output; then the end of that test,
                // which has no name in front of it, drops it again.
                if self.results.len() < MAX {
                    self.results.push((name.to_vec(), status));
                }
            } else if glued(name) {
                self.name(name, status);
            } else if let Some(open) = self.open.take() {
                self.results.truncate(open.results);
                self.nameless = open.nameless;
                self.name(&open.line, status);
            }
        } else if glued(line) {
            // Results behind an open test show that it was none, or that it prints results; its
            // end would tell, and did not come yet.
            let stale = |open: &Open| self.results.len() > open.results;
            if self.open.as_ref().is_none_or(stale) {
                self.open(line);
            }
        }
    }

    fn open(&mut self, line: &[u8]) {
        const MAX: usize = 4096;
        self.open = Some(Open {
            line: line[..line.len().min(MAX)].to_vec(),
            results: self.results.len(),
            nameless: self.nameless,
        });
    }

    /// A result for a line that begins with the test's name and, perhaps, its output.
    fn name(&mut self, line: &[u8], status: TestStatus) {
        if line::is_path(line) {
            self.results.push((line.to_vec(), status));
        } else {
            self.nameless += 1;
        }
    }

    /// A line of the XML outputter. Returns whether it is one.
    fn xml(&mut self, line: &[u8]) -> bool {
        let text = line.trim_ascii();
        if text.first() != Some(&b'<') {
            return self.xml.open;
        }
        let xml = &mut self.xml;
        if text == b"<TestRun>" {
            *xml = Xml {
                open: true,
                ..Xml::default()
            };
            return true;
        }
        if !xml.open {
            return false;
        }
        match text {
            b"<FailedTests>" => xml.section = Section::Failed,
            b"<SuccessfulTests>" => xml.section = Section::Passed,
            b"</FailedTests>"
            | b"</SuccessfulTests>"
            | b"<FailedTests/>"
            | b"<SuccessfulTests/>" => xml.section = Section::None,
            b"</TestRun>" => xml.ended = true,
            _ => {
                if let Some(name) = line::element(text, b"Name") {
                    let name = String::from_utf8_lossy(name);
                    let name = escape::unescape(&name)
                        .map_or_else(|_| name.clone().into_owned(), std::borrow::Cow::into_owned);
                    match xml.section {
                        Section::Passed => xml.tests.push((name, TestStatus::Passed)),
                        Section::Failed => xml.name = Some(name),
                        Section::None => {}
                    }
                } else if let Some(kind) = line::element(text, b"FailureType") {
                    if let Some(name) = xml.name.take() {
                        let error = kind == b"Error";
                        let status = if error {
                            TestStatus::Error
                        } else {
                            TestStatus::Failed
                        };
                        xml.tests.push((name, status));
                    }
                } else {
                    for (name, field) in [
                        (&b"Tests"[..], &mut xml.totals.total),
                        (b"Errors", &mut xml.totals.errors),
                        (b"Failures", &mut xml.totals.failed),
                    ] {
                        let count = line::element(text, name).and_then(number);
                        *field = count.map(|(count, _)| count).or(*field);
                    }
                }
            }
        }
        true
    }

    /// Records the tests of a run that ended. Returns whether they agree with its totals.
    pub(super) fn record(mut self, log: &mut ParsedLogBuilder) -> bool {
        let totals = self.end.unwrap_or_default();
        if self.xml.ended {
            let mut failed = 0;
            for (name, status) in &self.xml.tests {
                failed += u64::from(status.is_failing());
                record(name, *status, log);
            }
            return totals.total == Some(self.xml.tests.len() as u64) && failed == sum(totals);
        }
        // The brief listener ends a line for every test. Fewer such lines are output of tests.
        let lines = self.results.len() as u64 + self.nameless;
        let brief = totals
            .total
            .is_some_and(|total| total > 0 && total <= lines);
        if !brief {
            self.results.clear();
            self.nameless = 0;
        }
        let mut counted = self.nameless;
        let failures = &mut self.failures;
        let listed = failures.len() as u64;
        for (name, status) in self.results {
            let name = lossy(&name);
            if let Some(status) = failures.remove(&name) {
                record(&name, status, log);
                counted += 1;
            } else if status == TestStatus::Passed {
                record(&name, status, log);
                counted += 1;
            }
        }
        for (name, status) in failures {
            // The name that the brief listener's line did not tell.
            counted += u64::from(self.nameless == 0);
            record(name, *status, log);
        }
        listed <= sum(totals)
            && (listed > 0) == (sum(totals) > 0)
            && (!brief || totals.total == Some(counted))
    }

    /// Records what there is of a run that did not end. Returns whether there was one.
    pub(super) fn cut(mut self, died: bool, log: &mut ParsedLogBuilder) -> bool {
        let open = self.open.take();
        let mut any = self.xml.open || !self.failures.is_empty();
        // One line in a log of unknown origin is no run.
        let few = self.results.len() + usize::from(open.is_some()) < 2;
        if few && !any {
            return false;
        }
        for (name, status) in std::mem::take(&mut self.xml.tests) {
            record(&name, status, log);
        }
        if let Some(open) = open
            && line::is_path(&open.line)
        {
            let name = lossy(&open.line);
            log.still_running(name.clone());
            if died {
                record(&name, TestStatus::Error, log);
            }
        }
        for (name, status) in self.results {
            any = true;
            record(&lossy(&name), status, log);
        }
        for (name, status) in self.failures {
            record(&name, status, log);
        }
        any
    }
}

fn sum(totals: Totals) -> u64 {
    totals
        .failed
        .unwrap_or(0)
        .saturating_add(totals.errors.unwrap_or(0))
}

/// Whether a line begins with a test's name, with its output behind.
fn glued(line: &[u8]) -> bool {
    let end = line
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'))
        .count();
    line::is_path(&line[..end])
}

fn record(name: &str, status: TestStatus, log: &mut ParsedLogBuilder) {
    let class = name.rfind("::").map_or("", |at| &name[..at]);
    log.record(class, name, name, status);
}
