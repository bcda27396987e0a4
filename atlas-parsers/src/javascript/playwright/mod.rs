//! Playwright Test: the `list`, `line`, `dot` and `json` reporters.
//!
//! `list` prints a line for each attempt of a test, numbered in the order in which the attempts
//! began; a line whose number is not due was printed by a test. The closing lists name the tests
//! that failed, were interrupted or were flaky, and these lists decide: a test that was expected to
//! fail and does has a cross, one that passes unexpectedly has a tick. `line` and `dot` name no
//! other tests, except that `line` names each test as it begins: where none was skipped, all that
//! no list names passed.
//!
//! An id is what the console prints, without the row and the column in the file.

mod line;
mod reading;
mod report;

use crate::javascript::json::{Mixed, TakesDocuments};
use crate::runner::{About, Mark, Place, Runner};
use crate::text::clean;
use atlas_core::{Evidence, LineState, LogParser, LogReader, ParsedLog, ParsedLogBuilder};
use line::{Count, Listed, Title};
use report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Playwright Test.
#[derive(Debug)]
pub(crate) struct Playwright;

impl LogParser for Playwright {
    fn id(&self) -> &'static str {
        "playwright"
    }

    fn start(&self) -> Box<dyn LogReader> {
        Box::new(Mixed::new(State::default()))
    }
}

impl Runner for Playwright {
    fn about(&self) -> &'static About {
        const ABOUT: About = About {
            languages: &["javascript", "typescript"],
            commands: &[&["playwright", "test"]],
            ..About::new(
                "the reporters list, line, dot and json",
                "passing tests of the dot reporter, and of the line reporter where tests were skipped; tests that did not run",
            )
        };
        &ABOUT
    }

    fn mark(&self, line: &[u8], before: &[u8]) -> Option<Mark> {
        match line.first()? {
            b'R' if line.starts_with(b"Running ") && line.contains(&b'u') => {
                let text = std::str::from_utf8(line).ok()?;
                line::running(text).map(|_| {
                    Mark::certain(Place::Start, "a `Running … tests using … workers` line")
                })
            }
            b' ' if line.starts_with(b"  ") && line.ends_with(b")") => {
                let text = std::str::from_utf8(line).ok()?;
                let title = line::listed(text).and_then(|listed| line::title(listed.text));
                title.map(|_| Mark::hint(Place::Within, "a result with a file, a row and `›`"))
            }
            b' ' if before == b"{" && line.starts_with(b"  \"config\": {") => {
                Some(Mark::hint(Place::Start, "a Playwright-shaped JSON report"))
            }
            _ => None,
        }
    }
}

/// What was seen of one test.
#[derive(Clone, Debug, Default)]
struct Seen {
    file: String,
    passed: bool,
    failed: bool,
    skipped: bool,
    /// First attempts; more than one for tests of the same name.
    times: u32,
}

/// The closing part: counts and lists.
#[derive(Clone, Debug, Default)]
struct Closing {
    counts: BTreeMap<u8, u64>,
    listed: Option<Count>,
    due: u64,
    failed: BTreeMap<Title, u32>,
    interrupted: BTreeMap<Title, u32>,
    flaky: BTreeMap<Title, u32>,
    /// `passed` or the last count was seen.
    ended: bool,
}

#[derive(Clone, Default)]
struct State {
    lines: usize,
    declared: Option<u64>,
    workers: u64,
    printed: u64,
    indices: BTreeSet<u64>,
    /// On a terminal, attempts that began, by number.
    running: BTreeMap<u64, Title>,
    tests: BTreeMap<String, Seen>,
    /// Tests that the `line` reporter named as they began.
    begun: BTreeMap<String, String>,
    headings: Vec<Title>,
    closing: Closing,
    errors: Vec<Evidence>,
    report: Option<Report>,
    several: bool,
}

impl State {
    /// A line of the `list` reporter.
    fn listed(&mut self, listed: &Listed<'_>) -> bool {
        if listed.index.is_none() && line::title(listed.text).is_none() {
            return false;
        }
        if let Some(index) = listed.index {
            // As many attempts as there are workers may have begun and not ended.
            let due = self.printed.saturating_add(self.workers.max(1));
            if index > due || !self.indices.insert(index) {
                return false;
            }
            self.printed += 1;
        }
        // A narrow terminal gets the end of a long title, `…omium] › a.spec.ts:5:5 › test`.
        let begun = listed.index.and_then(|index| self.running.remove(&index));
        let own = line::title(listed.text).filter(|_| !listed.text.starts_with('…'));
        let Some(title) = own.or(begun) else {
            return true;
        };
        self.closing = Closing::default();
        let seen = self.tests.entry(title.id).or_insert_with(|| Seen {
            file: title.file,
            ..Seen::default()
        });
        if !listed.retry {
            seen.times = seen.times.saturating_add(1);
        }
        match listed.mark {
            line::Mark::Passed => {
                seen.passed = true;
                seen.failed &= !listed.retry;
            }
            line::Mark::Failed => seen.failed = true,
            line::Mark::Skipped => seen.skipped = true,
        }
        true
    }

    /// A line of the closing counts and lists.
    fn close(&mut self, line: &str) -> bool {
        if let Some((count, number)) = line::count(line) {
            let rank = count as u8;
            // They come in one order, each once: an earlier one begins anew.
            if self.closing.counts.keys().any(|known| *known >= rank) {
                self.closing = Closing::default();
            }
            self.closing.counts.insert(rank, number);
            self.closing.due = number;
            self.closing.listed = Some(count);
            self.closing.ended |= count == Count::Passed;
            return true;
        }
        if let Some(count) = self.closing.listed
            && self.closing.due > 0
            && let Some(title) = line
                .strip_prefix("    ")
                .and_then(|text| line::title(line::without_rule(text)))
        {
            self.closing.due -= 1;
            let list = match count {
                Count::Failed => &mut self.closing.failed,
                Count::Interrupted => &mut self.closing.interrupted,
                Count::Flaky => &mut self.closing.flaky,
                _ => return false,
            };
            *list.entry(title).or_default() += 1;
            return true;
        }
        false
    }

    fn read(&mut self, line: &str) {
        match line.as_bytes().first() {
            Some(b'R') => {
                if let Some((tests, workers)) = line::running(line) {
                    if self.declared.is_some() {
                        self.several = true;
                    }
                    self.declared = Some(self.declared.unwrap_or(0).saturating_add(tests));
                    self.workers = self.workers.max(workers);
                    self.printed = 0;
                    self.indices.clear();
                    self.headings.clear();
                }
            }
            Some(b'[') => {
                if let Some(title) = line::progress(line).and_then(line::title) {
                    self.begun.insert(title.id, title.file);
                    self.closing = Closing::default();
                }
            }
            Some(b' ') => {
                if self.close(line) {
                    return;
                }
                if let Some((index, text)) = line::begins(line) {
                    if self.running.len() as u64 <= self.workers
                        && let Some(title) = line::title(text)
                    {
                        self.running.insert(index, title);
                    }
                    return;
                }
                if let Some(listed) = line::listed(line)
                    && self.listed(&listed)
                {
                    return;
                }
                if let Some((number, text)) = line::heading(line)
                    && number == self.headings.len() as u64 + 1
                    && let Some(title) = line::title(text)
                {
                    self.headings.push(title);
                }
            }
            Some(b'E')
                if self.declared.is_none()
                    && self.errors.len() < 12
                    && line.starts_with("Error: ") =>
            {
                self.errors.push(Evidence::at("log", self.lines, line));
            }
            _ => {}
        }
    }
}

/// The parts of a line between sequences that move the cursor: on a terminal, one line of output
/// holds several of the screen.
fn parts(line: &[u8]) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(escape) = line
        .get(at..)
        .and_then(|rest| memchr::memmem::find(rest, b"\x1b["))
    {
        let start = at + escape;
        let mut end = start + 2;
        while line
            .get(end)
            .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b'?'))
        {
            end += 1;
        }
        if matches!(line.get(end), Some(b'A' | b'E' | b'G' | b'K' | b'F')) {
            parts.push(&line[from..start]);
            from = end + 1;
        }
        at = end;
    }
    parts.push(line.get(from..).unwrap_or_default());
    parts
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        let mut read = |part: &[u8]| {
            let part = clean(part);
            match std::str::from_utf8(&part) {
                Ok(text) => self.read(text),
                Err(_) => self.read(&String::from_utf8_lossy(&part)),
            }
        };
        if memchr::memchr(0x1b, line).is_none() {
            read(line);
        } else {
            for part in parts(line) {
                if !part.is_empty() {
                    read(part);
                }
            }
        }
    }

    fn finish(self) -> ParsedLog {
        self.into_log(ParsedLogBuilder::new("playwright"))
    }
}

impl TakesDocuments for State {
    type Document = Report;

    fn document(&mut self, report: Report, lines: usize) {
        self.lines += lines;
        // `{"config": …}` may be anybody's; this reporter's has tests or errors.
        if !report.tests.is_empty() || !report.errors.is_empty() {
            self.report = Some(report);
        }
    }
}
