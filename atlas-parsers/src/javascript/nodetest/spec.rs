//! The spec reporter.

use super::{Declared, FileLost, Found, TestFound, is_file, is_file_around, is_subtest_frame};
use crate::edges::is_number;
use atlas_core::{Evidence, TestStatus};
use std::collections::BTreeSet;
use std::ops::Range;

/// Reads the reporter's lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    /// Parents whose children are being printed.
    stack: Vec<String>,
    /// `▶ name` lines that no child has confirmed yet, with their depths.
    opening: Vec<(usize, String)>,
    results: Vec<Seen>,
    files: Vec<FileLost>,
    /// The depth of the failure whose message is being printed.
    details: Option<usize>,
    /// A failed file, whose message must be `'test failed'`.
    failed_file: Option<FileLost>,
    /// A name with a newline in it: its first line.
    unfinished: Option<(usize, Mark, String)>,
    /// Parents that are tests, for the stack of a failing child says so.
    tests: BTreeSet<Vec<String>>,
    /// The dot reporter's list of failures is being read, and its last entry may be a parent's.
    dots: bool,
    entry: bool,
    /// What failed is being printed once more, below the totals.
    again: Option<Again>,
    any: bool,
}

/// The list of what failed.
#[derive(Clone, Copy, Debug, Default)]
struct Again {
    /// `test at file:1:2` stands above an entry, as it does since Node 20.
    places: bool,
    /// It stands above the next one.
    placed: bool,
}

impl Again {
    /// Whether a line is of the list, and not of a run behind it. What failed is there with its own
    /// sign: a test that is skipped or to be done as well.
    fn has(&mut self, text: &str) -> bool {
        if text.starts_with("test at ") {
            (self.places, self.placed) = (true, true);
            return true;
        }
        match MARKS.iter().find(|(sign, _)| text.starts_with(sign)) {
            None => true,
            Some((_, Mark::Fail | Mark::Skip | Mark::Warn)) => {
                !self.places || std::mem::take(&mut self.placed)
            }
            Some(_) => false,
        }
    }
}

/// How far the reader has come: numbers of results and of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached {
    results: usize,
    files: usize,
}

#[derive(Clone, Debug)]
struct Seen {
    names: Vec<String>,
    status: TestStatus,
    parent: bool,
    /// The time has no fraction, as hardly any real one has.
    doubtful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Open,
    Pass,
    Fail,
    Skip,
    Warn,
}

const MARKS: [(&str, Mark); 5] = [
    ("▶ ", Mark::Open),
    ("✔ ", Mark::Pass),
    ("✖ ", Mark::Fail),
    ("﹣ ", Mark::Skip),
    ("⚠ ", Mark::Warn),
];

/// Whether this is a result of the top level with a time as Node prints it: `✔ title (1.234567ms)`.
pub(super) fn is_timed(text: &str) -> bool {
    let time = |text: &str| {
        let (_, time) = text.strip_suffix("ms)")?.rsplit_once(" (")?;
        let (whole, part) = time.split_once('.')?;
        Some(is_number(whole) && is_number(part) && part.len() >= 3)
    };
    (text.starts_with("✔ ") || text.starts_with("✖ ")) && time(text) == Some(true)
}

/// What is said of a test whose suite failed before it.
const CANCELLED: &str = "'test did not finish before its parent and was cancelled'";

/// A title with what stands behind it.
struct Title<'a> {
    name: &'a str,
    whole: bool,
    remark: bool,
}

impl Spec {
    pub(super) fn results(&self) -> usize {
        self.results.len() + self.files.len() + usize::from(self.failed_file.is_some())
    }

    pub(super) fn line(&mut self, text: &str, number: usize, errors: &mut Vec<Evidence>) {
        if let Some(again) = &mut self.again {
            if again.has(text) {
                return;
            }
            self.again = None;
        }
        if text == "✖ failing tests:" {
            self.again = Some(Again::default());
            self.details = None;
            return;
        }
        if text == "Failed tests:" && !self.any {
            self.dots = true;
            return;
        }
        let blanks = text.bytes().take_while(|byte| *byte == b' ').count();
        if let Some(depth) = self.details {
            let message = !text.is_empty() && blanks >= 2 * depth + 2;
            if let Some(mut file) = self.failed_file.take()
                && message
                && text.trim() == "'test failed'"
            {
                file.lines
                    .push(Evidence::at("log", number, text.trim().to_owned()));
                file.lines.swap_remove(file.lines.len() - 2);
                self.files.push(file);
            }
            if message {
                if is_subtest_frame(text.trim_start().as_bytes())
                    && depth > 0
                    && depth <= self.stack.len()
                {
                    self.tests.insert(self.stack[..depth].to_vec());
                }
                if std::mem::take(&mut self.entry) && only_children(text.trim()) {
                    self.results.pop();
                }
                return;
            }
            self.details = None;
            if text.is_empty() {
                return;
            }
        }
        if text.is_ascii() && self.unfinished.is_none() {
            return;
        }
        if let Some((depth, Mark::Fail, name)) = &self.unfinished
            && text.trim() == CANCELLED
        {
            // It never ran, so that no time was printed.
            let (depth, name) = (*depth, name.clone());
            self.unfinished = None;
            let never = Title {
                name: &name,
                whole: false,
                remark: false,
            };
            self.result(depth, Mark::Fail, &name, &never, number, text, errors);
            return;
        }
        if let Some((depth, mark, first)) = self.unfinished.take()
            && let Some(title) = title(text)
            && marked(text).is_none()
        {
            let name = format!("{first}\n{}", title.name);
            self.result(depth, mark, &name, &title, number, text, errors);
            return;
        }
        let Some((indent, mark, rest)) = marked(text) else {
            return;
        };
        if !indent.is_multiple_of(2) {
            return;
        }
        let depth = indent / 2;
        match title(rest) {
            Some(title) => self.result(depth, mark, title.name, &title, number, text, errors),
            None if mark == Mark::Open => self.open(depth, rest),
            None => self.unfinished = Some((depth, mark, rest.to_owned())),
        }
    }

    fn open(&mut self, depth: usize, name: &str) {
        let next = match self.opening.last() {
            Some((last, _)) => last + 1,
            None => self.stack.len(),
        };
        if depth == next || self.opening.is_empty() && depth < next {
            self.opening.push((depth, name.to_owned()));
        } else if depth <= self.stack.len() {
            self.opening = vec![(depth, name.to_owned())];
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one line taken apart; a struct for it would only be taken apart again"
    )]
    fn result(
        &mut self,
        depth: usize,
        mark: Mark,
        name: &str,
        title: &Title<'_>,
        number: usize,
        text: &str,
        errors: &mut Vec<Evidence>,
    ) {
        let status = match (mark, title.remark) {
            (Mark::Pass, false) | (Mark::Open, _) => TestStatus::Passed,
            (Mark::Fail, false) => TestStatus::Failed,
            (Mark::Pass, true) | (Mark::Skip, _) => TestStatus::Skipped,
            (Mark::Fail, true) | (Mark::Warn, _) => TestStatus::Xfail,
        };
        if title.whole {
            if depth == self.stack.len() && mark != Mark::Open && self.opening.is_empty() {
                self.seen(name, status, false, true);
            }
            return;
        }
        // A child right below confirms the parents that were opened.
        if self.opening.last().is_some_and(|last| last.0 + 1 == depth) {
            self.stack.truncate(self.opening[0].0);
            let opened = self.opening.drain(..).map(|(_, name)| name);
            self.stack.extend(opened);
        }
        self.opening.clear();
        if depth > self.stack.len() {
            return;
        }
        self.any = true;
        if mark == Mark::Fail {
            self.details = Some(depth);
        }
        if self.stack.get(depth).is_some_and(|parent| parent == name) {
            self.stack.truncate(depth);
            // Node 18 and 19 close a parent with its opening mark, whatever its result.
            if mark != Mark::Open {
                self.seen(name, status, true, false);
            }
            return;
        }
        self.stack.truncate(depth);
        if mark == Mark::Open {
            return;
        }
        if depth == 0 && mark == Mark::Fail && is_file(name) {
            let mut lines = std::mem::take(errors);
            lines.push(Evidence::at("log", number, text.trim().to_owned()));
            self.failed_file = Some(FileLost {
                file: name.to_owned(),
                lines,
            });
            return;
        }
        self.seen(name, status, false, false);
        self.entry = self.dots && mark == Mark::Fail;
    }

    fn seen(&mut self, name: &str, status: TestStatus, parent: bool, doubtful: bool) {
        let mut names = self.stack.clone();
        names.push(name.to_owned());
        self.results.push(Seen {
            names,
            status,
            parent,
            doubtful,
        });
    }

    pub(super) fn reached(&self) -> Reached {
        Reached {
            results: self.results.len(),
            files: self.files.len(),
        }
    }

    /// What stands between two places.
    pub(super) fn found(&self, part: Range<Reached>, declared: Option<Declared>) -> Found {
        let seen = &self.results[part.start.results..part.end.results];
        let files = &self.files[part.start.files..part.end.files];
        let count =
            |which: fn(&Seen) -> bool| seen.iter().filter(|seen| which(seen)).count() as u64;
        let parents = count(|seen| seen.parent);
        let doubtful = count(|seen| seen.doubtful);
        let leaves = count(|seen| !seen.parent && !seen.doubtful) + files.len() as u64;
        let proven = |seen: &Seen| seen.parent && self.tests.contains(&seen.names);
        let mut all_proven = false;
        let mut warnings = Vec::new();
        let mut parents_are_tests = false;
        let mut doubtful_counts = false;
        if let Some(declared) = declared {
            let suites = declared.suites.unwrap_or(0);
            let all = declared.tests.saturating_add(suites);
            doubtful_counts = doubtful > 0 && parents + leaves + doubtful == all;
            let leaves = leaves + if doubtful_counts { doubtful } else { 0 };
            if declared.tests == leaves + parents {
                parents_are_tests = true;
            } else if declared.tests != leaves {
                let proven = seen.iter().filter(|seen| proven(seen)).count();
                all_proven = declared.tests == leaves + proven as u64;
            }
            if !parents_are_tests && !all_proven && declared.tests != leaves {
                warnings.push(format!(
                    "{parents} results have children and the totals ({} tests, {suites} suites) \
                     do not tell which of them are tests; they are left out",
                    declared.tests
                ));
            }
        }
        let mut results = Vec::new();
        for seen in seen {
            let test = parents_are_tests || all_proven && self.tests.contains(&seen.names);
            if seen.doubtful && !doubtful_counts || seen.parent && !test {
                continue;
            }
            let (file, names) = match seen.names.split_first() {
                Some((first, rest)) if !rest.is_empty() && is_file_around(first) => {
                    (first.clone(), rest)
                }
                _ => (String::new(), &seen.names[..]),
            };
            results.push(TestFound {
                file,
                name: names.join(" > "),
                status: seen.status,
            });
        }
        Found {
            results,
            files: files.to_vec(),
            warnings,
            any: self.any,
        }
    }
}

/// Whether a failure's message says no more than that something in it failed.
fn only_children(message: &str) -> bool {
    let number = message
        .strip_prefix('\'')
        .and_then(|text| text.split_once(' '));
    number.is_some_and(|(number, rest)| {
        number.parse::<u64>().is_ok() && matches!(rest, "subtest failed'" | "subtests failed'")
    })
}

/// The mark of a line and where it stands: at the start, or else the last one behind other text.
fn marked(text: &str) -> Option<(usize, Mark, &str)> {
    let body = text.trim_start_matches(' ');
    for (sign, mark) in MARKS {
        if let Some(rest) = body.strip_prefix(sign) {
            return Some((text.len() - body.len(), mark, rest));
        }
    }
    // Output without a newline in front: only where a time ends the line, or a parent begins.
    let (at, sign, mark) = MARKS
        .iter()
        .filter_map(|(sign, mark)| text.rfind(sign).map(|at| (at, *sign, *mark)))
        .max_by_key(|found| found.0)?;
    let rest = &text[at + sign.len()..];
    let believed = mark == Mark::Open || title(rest).is_some_and(|title| !title.whole);
    let before = &text[..at];
    let indent = before.len() - before.trim_end_matches(' ').len();
    believed.then_some((indent, mark, rest))
}

/// Reads `name (1.354638ms) # remark`.
fn title(text: &str) -> Option<Title<'_>> {
    let (head, remark) = match text.rfind("ms) # ") {
        Some(at) if !text.ends_with("ms)") => (&text[..at + 3], true),
        _ => (text, false),
    };
    let (name, time) = head.rsplit_once(" (")?;
    let time = time.strip_suffix("ms)")?;
    let numeric = time.starts_with(|c: char| c.is_ascii_digit())
        && time.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    numeric.then(|| Title {
        name,
        whole: !time.contains('.'),
        remark,
    })
}
