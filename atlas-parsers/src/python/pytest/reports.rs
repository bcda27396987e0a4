//! What follows the tests: reports, and the short summary.

use super::grammar::{self, Summary};
use crate::text::lossy;
use crate::texts::{Place, Texts};
use atlas_core::{Evidence, TestStatus};
use std::collections::{BTreeMap, BTreeSet};

/// A section of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Errors,
    Failures,
    /// pytest-rerunfailures' list of tests that ran again, and of those among them that failed. It
    /// stands in front of the summary, or in its place (`-rR`).
    Reruns,
    Summary,
    Other,
}

impl Section {
    /// The section with this title, if pytest has one.
    pub(super) fn of(title: &[u8]) -> Option<Self> {
        Some(match title {
            b"ERRORS" => Self::Errors,
            b"FAILURES" => Self::Failures,
            b"short test summary info" => Self::Summary,
            b"rerun test summary info" => Self::Reruns,
            b"PASSES"
            | b"XPASSES"
            | b"XFAILURES"
            | b"RERUNS"
            | b"warnings summary"
            | b"warnings summary (final)"
            | b"tests coverage" => Self::Other,
            _ if title.starts_with(b"slowest ") && title.ends_with(b"durations") => Self::Other,
            _ => return None,
        })
    }
}

/// A module that could not be collected, and what its report says of it.
#[derive(Clone, Debug, Default)]
struct Module {
    exception: Vec<Evidence>,
    body: Vec<Evidence>,
    captured: bool,
}

/// The reports read so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    section: Option<Section>,
    collecting: Option<String>,
    modules: BTreeMap<String, Module>,
    /// Titles of failures: `TestClass.test_x[1]`.
    headings: BTreeSet<Vec<u8>>,
    pub(super) summary: SummaryLines,
}

/// The short test summary: the last one, as far as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct SummaryLines {
    pub(super) seen: bool,
    ids: Texts,
    /// Lines of the same word stand together.
    groups: Vec<(TestStatus, Vec<Entry>)>,
    pub(super) sub_failed: Vec<String>,
    /// Lines that stood inside another group, as lines of a message do.
    pub(super) dropped: Vec<u64>,
}

/// A line of the summary.
#[derive(Clone, Debug)]
struct Entry {
    id: Place,
    /// How long the file is that begins the id.
    module: u32,
    line: u64,
}

impl SummaryLines {
    /// The file and the id of all, with their status.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&str, &str, TestStatus)> {
        self.groups.iter().flat_map(|(status, entries)| {
            entries.iter().map(|entry| {
                let id = self.ids.text(entry.id);
                (&id[..entry.module as usize], id, *status)
            })
        })
    }

    /// How many lines bear this word; none where the word was not listed at all.
    pub(super) fn count(&self, status: TestStatus) -> Option<u64> {
        self.groups
            .iter()
            .find(|(word, _)| *word == status)
            .map(|(_, entries)| entries.len() as u64)
    }

    /// A test that passed, and how long the file is that begins its id.
    #[inline]
    pub(super) fn passed(&mut self, id: &str, module: usize, line: u64) {
        self.add(TestStatus::Passed, id, module, line);
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a line that is read has at most 4 MiB"
    )]
    fn add(&mut self, status: TestStatus, id: &str, module: usize, line: u64) {
        let entry = Entry {
            id: self.ids.push(id),
            module: module as u32,
            line,
        };
        match self.groups.last_mut() {
            Some((last, entries)) if *last == status => entries.push(entry),
            _ => self.add_apart(status, entry),
        }
    }

    /// A line whose word is not that of the line before.
    fn add_apart(&mut self, status: TestStatus, entry: Entry) {
        match self.groups.iter().position(|(word, _)| *word == status) {
            None => self.groups.push((status, vec![entry])),
            // Lines of one word stand together, and only failures have messages of several lines:
            // a pass behind another group is a line of a message,
            Some(_) if status == TestStatus::Passed => self.dropped.push(entry.line),
            Some(at) => {
                // and so is one between two failures. Failures are kept in any case.
                while let Some(group) = self.groups[at + 1..]
                    .iter()
                    .position(|(word, _)| *word == TestStatus::Passed)
                {
                    let (_, entries) = self.groups.remove(at + 1 + group);
                    self.dropped.extend(entries.iter().map(|entry| entry.line));
                }
                self.groups[at].1.push(entry);
            }
        }
    }

    /// Keeps only the entries for which this holds; the others are dropped.
    pub(super) fn retain(&mut self, holds: impl Fn(&str, TestStatus) -> bool) {
        for (status, entries) in &mut self.groups {
            entries.retain(|entry| {
                let holds = holds(self.ids.text(entry.id), *status);
                if !holds {
                    self.dropped.push(entry.line);
                }
                holds
            });
        }
        self.groups.retain(|(_, entries)| !entries.is_empty());
    }
}

impl Reports {
    pub(super) fn enter(&mut self, section: Section) {
        self.section = Some(section);
        self.collecting = None;
        if matches!(section, Section::Summary | Section::Reruns) {
            // An earlier one was printed by a test: pytest prints one, and last. A list of reruns
            // leaves out what failed without one, so that its counts prove nothing.
            self.summary = SummaryLines {
                seen: section == Section::Summary,
                ..SummaryLines::default()
            };
        }
    }

    /// Whether lines of the summary are read.
    pub(super) fn is_in_summary(&self) -> bool {
        self.section == Some(Section::Summary)
    }

    pub(super) fn line(&mut self, line: &[u8], number: u64, known: impl Fn(&[u8]) -> bool) {
        match self.section {
            Some(Section::Summary | Section::Reruns) => self.summary_line(line, number, known),
            Some(Section::Errors | Section::Failures) => self.report_line(line, number),
            _ => {}
        }
    }

    fn report_line(&mut self, line: &[u8], number: u64) {
        if let Some(title) = grammar::titled(line, b'_') {
            self.collecting = None;
            let title_text = title.strip_prefix(b"ERROR collecting ");
            match title_text {
                Some(module) if self.section == Some(Section::Errors) => {
                    let module = String::from_utf8_lossy(module).into_owned();
                    self.modules.entry(module.clone()).or_default();
                    self.collecting = Some(module);
                }
                _ => {
                    self.headings.insert(title.to_vec());
                }
            }
            return;
        }
        let Some(module) = self
            .collecting
            .as_ref()
            .and_then(|module| self.modules.get_mut(module))
        else {
            return;
        };
        module.line(line, number);
    }

    fn summary_line(&mut self, line: &[u8], number: u64, known: impl Fn(&[u8]) -> bool) {
        if line.first() == Some(&b'_') && grammar::titled(line, b'_').is_some()
            || grammar::titled(line, b'-').is_some_and(|title| title.starts_with(b"Captured "))
        {
            // Reports go on, so this summary was part of one.
            self.summary = SummaryLines::default();
            self.section = Some(Section::Failures);
            self.report_line(line, number);
            return;
        }
        let known = |id: &[u8]| known(id) || self.is_heading(id);
        match grammar::summary(line) {
            Some(Summary::Test(status, rest)) => {
                if self.section == Some(Section::Reruns) && !status.is_failing() {
                    return;
                }
                let id = grammar::split_message(rest, known);
                if grammar::is_id(id, status) {
                    let id = &*lossy(id);
                    if status == TestStatus::Error {
                        if !self.modules.contains_key(id) && !id.contains("::") {
                            self.modules.entry(id.to_owned()).or_default();
                        }
                        self.note_line(id, line, number);
                    }
                    let module = grammar::module_of(id).len();
                    self.summary.add(status, id, module, number);
                }
            }
            Some(Summary::Sub(TestStatus::Failed | TestStatus::Error, rest)) => {
                let id = grammar::split_message(rest, known);
                self.summary
                    .sub_failed
                    .push(String::from_utf8_lossy(id).into_owned());
            }
            Some(Summary::Sub(..) | Summary::Group(_)) | None => {}
        }
    }

    /// Keeps a summary line as the proof of a module whose report was not printed.
    fn note_line(&mut self, module: &str, line: &[u8], number: u64) {
        if let Some(module) = self.modules.get_mut(module)
            && module.exception.is_empty()
            && module.body.is_empty()
        {
            module.body.push(proof(line, number));
        }
    }

    fn is_heading(&self, id: &[u8]) -> bool {
        let Some(file) = grammar::file_len(id) else {
            return false;
        };
        let name = String::from_utf8_lossy(&id[file + 2..]);
        // The path to a test is joined with dots; its parameters stay as they are.
        let (path, params) = name
            .find('[')
            .map_or((&*name, ""), |open| name.split_at(open));
        let title = path.replace("::", ".") + params;
        self.headings.contains(title.as_bytes())
    }

    /// How many modules could not be collected.
    pub(super) fn collect_errors(&self) -> u64 {
        self.modules.len() as u64
    }

    /// The modules that could not be collected, with the lines that say why.
    pub(super) fn lost(self) -> impl Iterator<Item = (String, Vec<Evidence>)> {
        let listed: Option<BTreeSet<String>> =
            self.summary.count(TestStatus::Error).is_some().then(|| {
                self.summary
                    .entries()
                    .filter(|(.., status)| *status == TestStatus::Error)
                    .map(|(_, id, _)| id.to_owned())
                    .collect()
            });
        self.modules
            .into_iter()
            // A test may print such a title; where the summary lists errors it must list this one.
            .filter(move |(id, _)| listed.as_ref().is_none_or(|listed| listed.contains(id)))
            .map(|(id, module)| (id, module.decisive()))
    }
}

fn proof(line: &[u8], number: u64) -> Evidence {
    Evidence::at(
        "log",
        usize::try_from(number).unwrap_or(usize::MAX),
        String::from_utf8_lossy(line).trim_end(),
    )
}

impl Module {
    const MAX_BODY: usize = 400;

    fn line(&mut self, line: &[u8], number: u64) {
        if grammar::titled(line, b'-').is_some_and(|title| title.starts_with(b"Captured ")) {
            self.captured = true;
        }
        if self.captured {
            return;
        }
        if line.starts_with(b"E  ") {
            self.exception.push(proof(line, number));
        } else if line.starts_with(b"During handling of the above")
            || line.starts_with(b"The above exception was the direct cause")
        {
            // The last exception of a chain is the one that ended the import.
            self.exception.clear();
            self.body.clear();
        } else if self.body.len() < Self::MAX_BODY && !line.trim_ascii().is_empty() {
            self.body.push(proof(line, number));
        }
    }

    /// The exception; without one, the last line of a traceback, or else the first lines.
    fn decisive(mut self) -> Vec<Evidence> {
        if !self.exception.is_empty() {
            return self.exception;
        }
        let native = self
            .body
            .iter()
            .any(|line| line.text.starts_with("Traceback (most recent call last)"));
        if native {
            let last = self.body.len().saturating_sub(1);
            return self.body.split_off(last);
        }
        self.body.truncate(6);
        self.body
    }
}
