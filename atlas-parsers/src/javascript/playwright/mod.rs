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
use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::text::clean;
use atlas_core::{Evidence, LineState, ParsedLog, ParsedLogBuilder};
use line::{Count, Listed, Title};
use report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Playwright Test.
pub(crate) static PLAYWRIGHT: Shipped = Shipped::new(
    "playwright",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["playwright", "test"]],
        ..About::new(
            "the reporters list, line, dot and json",
            "passing tests of the dot reporter, and of the line reporter where tests were skipped; tests that did not run",
        )
    },
    mark,
    || Box::new(Mixed::new(State::default())),
)
.looking(&[
    Look(["R", "u"], "\"", "*", ""),
    Look(["", ""], "*", ")", " › "),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'R' if line.starts_with(b"Running ") && line.contains(&b'u') => {
            let text = std::str::from_utf8(line).ok()?;
            line::running(text)
                .map(|_| Mark::certain(Place::Start, "a `Running … tests using … workers` line"))
        }
        b' ' if line.starts_with(b"  ") && line.ends_with(b")") => {
            let text = std::str::from_utf8(line).ok()?;
            let title = line::listed(text).and_then(|listed| line::title(listed.text));
            title.map(|_| Mark::hint(Place::Within, "a result with a file, a row and `›`"))
        }
        b' ' if before == b"{" && line.starts_with(b"  \"config\": {") => {
            Place::Start.hint("a Playwright-shaped JSON report")
        }
        _ => None,
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

/// The numbers that the lines of one run bear.
#[derive(Clone, Debug, Default)]
struct Numbers {
    tests: u64,
    workers: u64,
    printed: u64,
    indices: BTreeSet<u64>,
    /// The number of the test that the `line` reporter named last.
    begun: u64,
}

impl Numbers {
    /// Whether the next line may bear this number: as many attempts as there are workers may have
    /// begun and not ended.
    fn is_due(&self, index: u64) -> bool {
        let due = self.printed.saturating_add(self.workers.max(1));
        index <= due && !self.indices.contains(&index)
    }

    fn take(&mut self, index: u64) {
        self.indices.insert(index);
        self.printed += 1;
    }

    fn begins(&self, number: u64, of: u64) -> bool {
        self.workers == 0 || number == self.begun + 1 && of == self.tests
    }
}

impl Closing {
    fn list(&mut self, count: Count) -> Option<&mut BTreeMap<Title, u32>> {
        match count {
            Count::Failed => Some(&mut self.failed),
            Count::Interrupted => Some(&mut self.interrupted),
            Count::Flaky => Some(&mut self.flaky),
            _ => None,
        }
    }
}

#[derive(Clone, Default)]
struct State {
    lines: usize,
    declared: Option<u64>,
    run: Numbers,
    /// Of the run before it: this one may have been printed by a test of that.
    before: Option<Numbers>,
    /// Runs that began within it, as a test prints them, and did not end.
    printed: Vec<Numbers>,
    /// A result may be this run's or a printed one's.
    doubtful: bool,
    /// A result of `list` whose title goes on in the next line.
    open: Option<String>,
    /// The last line of a list or a heading, if its title may go on in the next line.
    ruleless: Option<(Option<Count>, String)>,
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

/// The most bytes of a title with line ends.
const LONGEST: usize = 2000;

impl State {
    /// `Running 24 tests using 1 worker`.
    fn begin(&mut self, tests: u64, workers: u64) {
        if self.declared.is_none() {
            self.declared = Some(tests);
        } else if self.closing.counts.is_empty() {
            // The run has not ended: a test printed this.
            self.printed.push(Numbers {
                tests,
                workers,
                ..Numbers::default()
            });
            return;
        } else {
            self.settle();
            self.before = Some(std::mem::take(&mut self.run));
        }
        self.run.tests = tests;
        self.run.workers = workers;
        self.headings.clear();
    }

    /// The run that began last was a run.
    fn settle(&mut self) {
        if self.before.take().is_some() {
            self.several = true;
            let sum = self.declared.unwrap_or(0).saturating_add(self.run.tests);
            self.declared = Some(sum);
        }
    }

    /// The run for a line that `fits` one of the two; the other is forgotten.
    fn run_of(&mut self, fits: impl Fn(&Numbers) -> bool) -> Option<&mut Numbers> {
        if fits(&self.run) {
            self.settle();
        } else {
            self.run = self.before.take_if(|run| fits(run))?;
        }
        Some(&mut self.run)
    }

    /// A line of the `list` reporter, whose title may go on in the next one.
    fn list(&mut self, line: &str) -> bool {
        if let Some(listed) = line::listed(line) {
            if self.listed(&listed) {
                self.open = None;
                return true;
            }
        } else if let Some(index) = line::opens(line)
            && [Some(&self.run), self.before.as_ref(), self.printed.last()]
                .into_iter()
                .flatten()
                .any(|run| run.is_due(index))
        {
            self.open = Some(line.to_owned());
            return true;
        }
        let Some(mut whole) = self.open.take() else {
            return false;
        };
        whole.push('\n');
        whole.push_str(line);
        if let Some(listed) = line::listed(&whole) {
            return self.listed(&listed);
        }
        if whole.len() < LONGEST {
            self.open = Some(whole);
        }
        false
    }

    /// A result of the `list` reporter.
    fn listed(&mut self, listed: &Listed<'_>) -> bool {
        if listed.index.is_none() && line::title(listed.text).is_none() {
            return false;
        }
        if let Some(index) = listed.index {
            let printed = self.printed.last_mut().filter(|run| run.is_due(index));
            let may_be_printed = printed.is_some();
            if let Some(run) = printed {
                run.take(index);
            }
            let Some(run) = self.run_of(|run| run.is_due(index)) else {
                return false;
            };
            run.take(index);
            self.doubtful |= may_be_printed;
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
            if self.closing.counts.is_empty() {
                self.printed.pop();
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
            let Some(list) = self.closing.list(count) else {
                return false;
            };
            *list.entry(title).or_default() += 1;
            self.closing.due -= 1;
            if !line::has_rule(line) {
                self.ruleless = Some((Some(count), line.trim_start().to_owned()));
            }
            return true;
        }
        false
    }

    /// Whether the line ends a title that the lines before it began: a rule stands behind it.
    fn goes_on(&mut self, line: &str) -> bool {
        let Some((list, begun)) = self.ruleless.take() else {
            return false;
        };
        let ends = line::count(line).is_some() || line::title(line.trim_start()).is_some();
        if line.is_empty() || ends || begun.len() > LONGEST {
            return false;
        }
        let whole = format!("{begun}\n{line}");
        if !line::has_rule(line) {
            self.ruleless = Some((list, whole));
            return false;
        }
        let first = begun.lines().next().and_then(line::title);
        let (Some(first), Some(title)) = (first, line::title(line::without_rule(&whole))) else {
            return false;
        };
        let Some(count) = list else {
            self.headings.pop();
            self.headings.push(title);
            return true;
        };
        if let Some(list) = self.closing.list(count) {
            if let Some(times) = list.get_mut(&first).filter(|times| **times > 1) {
                *times -= 1;
            } else {
                list.remove(&first);
            }
            *list.entry(title).or_default() += 1;
        }
        true
    }

    fn read(&mut self, line: &str) {
        if self.ruleless.is_some() && self.goes_on(line) {
            return;
        }
        if self.open.is_some() && !line.starts_with(' ') && self.list(line) {
            return;
        }
        match line.as_bytes().first() {
            Some(b'R') => {
                if let Some((tests, workers)) = line::running(line) {
                    self.begin(tests, workers);
                }
            }
            Some(b'[') => {
                if let Some((number, of, text)) = line::progress(line)
                    && let Some(title) = line::title(text)
                    && let Some(run) = self.run_of(|run| run.begins(number, of))
                {
                    run.begun = number;
                    self.begun.insert(title.id, title.file);
                    self.closing = Closing::default();
                }
            }
            Some(b' ') => {
                if self.close(line) {
                    return;
                }
                if let Some((index, text)) = line::begins(line) {
                    if self.running.len() as u64 <= self.run.workers
                        && let Some(title) = line::title(text)
                    {
                        self.running.insert(index, title);
                    }
                    return;
                }
                if self.list(line) {
                    return;
                }
                if let Some((number, text)) = line::heading(line)
                    && number == self.headings.len() as u64 + 1
                    && let Some(title) = line::title(line::without_rule(text))
                {
                    self.headings.push(title);
                    if !line::has_rule(text) {
                        self.ruleless = Some((None, text.to_owned()));
                    }
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
        self.into_log(ParsedLogBuilder::default())
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
