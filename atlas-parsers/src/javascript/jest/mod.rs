//! Jest: the verbose tree, the default failure list, and `--json` on standard output.
//!
//! A test file begins with `PASS path` or `FAIL path`. With `--verbose`, or when one file runs,
//! the tree of its suites and tests follows at once, indented by two blanks a level, up to the
//! first empty line; nothing else of a file's text is indented like that. Without a tree only the
//! `● suite › test` headings name tests, and only failing ones. An id joins suites and test by
//! ` > ` in both.
//!
//! Jest keeps what tests log apart from the tree, so only what a test writes to standard output itself can stand where a
//! heading does. A heading counts at the line's begin alone, or behind other text where the next line is indented by exactly
//! one level; a tree under it has no line that is deeper by more than one level than the one above. What still looks like
//! Jest's is read: a printed `PASS path` with a tree adds tests, a printed pair of totals replaces the real one. Both make the
//! log inconsistent, and a printed pass heals no failure, for the worst status of an id counts.
//!
//! With `-t` Jest lists each test that the filter left out as skipped, exactly as a test that
//! skips itself; a run that says so in its last line therefore yields no skipped tests. A time
//! behind a title is dropped, so a title that itself ends in `(12 ms)` loses that where Jest
//! measured less than half a millisecond and printed no time.
//!
//! A JSON document, on one line of any length or on many, beats the text around it unless that has
//! totals which contradict it. Of several documents the last one is read.

mod report;
mod root;
mod tree;

use crate::javascript::json::{Mixed, TakesDocuments, behind_text};
use crate::javascript::report::Report;

use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::text::{clean, lossy};
use atlas_core::{
    Evidence, LineState, LostReason, Names, ParsedLog, ParsedLogBuilder, RunOutcome, TestResults,
    TestStatus, Totals,
};
use memchr::memmem;
use root::Root;
use std::collections::BTreeSet;
use tree::{Counts, Entry, Tree};

/// Jest.
pub(crate) static JEST: Shipped = Shipped::new(
    "jest",
    &About {
        languages: &["javascript", "typescript"],
        aliases: &["jest_json", "react_scripts"],
        commands: &[&["jest"], &["react-scripts", "test"]],
        ..About::new(
            "default and --verbose output, --json and --outputFile documents on the console",
            "passing tests of a run over several files without --verbose",
        )
    },
    mark,
    || Box::new(Mixed::new(State::default())),
)
.looking(&[Look(["TPF{", "eA\""], "", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'T' if line.starts_with(b"Tests: ")
            && line.ends_with(b" total")
            && before.starts_with(b"Test Suites: ") =>
        {
            Place::End.certain("a `Test Suites:` and `Tests:` summary")
        }
        b'{' if line.starts_with(b"{\"numFailedTestSuites\":") => {
            Place::Within.hint("a Jest-shaped JSON report")
        }
        b'P' | b'F' if line.starts_with(b"PASS ") || line.starts_with(b"FAIL ") => {
            let path = line[5..].trim_ascii();
            SOURCES
                .iter()
                .any(|end| path.ends_with(end))
                .then_some(Mark::hint(
                    Place::Within,
                    "a `PASS file` or `FAIL file` line",
                ))
        }
        _ => None,
    }
}

/// How the names of test files end.
const SOURCES: [&[u8]; 6] = [b".js", b".ts", b".jsx", b".tsx", b".mjs", b".cjs"];

/// Where in a file's text the reader stands.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum At {
    /// Outside of any file, or in what a test printed.
    #[default]
    Outside,
    /// Right after the heading.
    Heading,
    Tree,
    /// Failure messages.
    Details,
    /// The repetition of all failures that ends a long run.
    Repetition,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    at: At,
    repeating: bool,
    file: String,
    failed: bool,
    tree: Tree,
    /// The file had a tree.
    told: bool,
    /// Headings of failures seen in a file without a tree.
    headings: BTreeSet<String>,
    /// Named from the working directory, as printed.
    results: TestResults,
    joined: String,
    /// All files, as printed.
    printed: Names,
    root: Root,
    /// Results that were named outside of trees.
    named: Counts,
    /// Files without a tree: their passing tests are not named.
    untold: u64,
    lost: Vec<(String, Vec<Evidence>)>,
    collecting: bool,
    suites_skipped: bool,
    after_suites: bool,
    totals: Option<Totals>,
    filtered: bool,
    report: Option<Report>,
    /// A heading behind other text: one if a file's lines follow.
    glued: Option<(String, bool)>,
}

impl State {
    fn evidence(&self, text: &[u8]) -> Evidence {
        Evidence::at(
            "log",
            self.line,
            String::from_utf8_lossy(text).trim_end().to_owned(),
        )
    }

    fn record(&mut self, name: &str, status: TestStatus) {
        self.named.count(status);
        self.joined.clear();
        self.joined.push_str(&self.file);
        self.joined.push_str(" > ");
        self.joined.push_str(name);
        self.results.add(&self.file, &self.joined, name, status);
    }

    fn begin_file(&mut self, file: String, failed: bool) {
        self.end_file();
        self.printed.add(&file);
        self.file = file;
        self.failed = failed;
        self.at = At::Heading;
    }

    fn end_file(&mut self) {
        self.end_tree();
        if self.at != At::Outside && !self.told {
            self.untold += 1;
        }
        self.headings.clear();
        self.told = false;
        self.collecting = false;
        self.at = At::Outside;
    }

    fn end_tree(&mut self) {
        self.tree.end();
        let mut results = self.tree.results().peekable();
        if results.peek().is_some() {
            self.told = true;
            self.results.add_all(&self.file, " > ", results);
            self.tree.empty();
        }
    }

    /// `  ● title` in a file's messages.
    fn heading(&mut self, title: &str, line: &[u8]) {
        self.collecting = false;
        let title = title.trim();
        if title == "Test suite failed to run" {
            let proof = vec![self.evidence(line)];
            self.lost.push((self.file.clone(), proof));
            self.collecting = true;
        } else if self.failed
            && !self.told
            && title != "Console"
            && !title.starts_with("process.exit called with \"")
            && self.headings.insert(title.to_owned())
        {
            let name = title.split(" › ").collect::<Vec<_>>().join(" > ");
            self.record(&name, TestStatus::Failed);
        }
    }

    fn summary_line(&mut self, line: &[u8]) -> bool {
        if line.starts_with(b"Test Suites: ") {
            self.end_file();
            self.after_suites = true;
            let text = String::from_utf8_lossy(line);
            self.suites_skipped = text.contains(" skipped");
            return true;
        }
        if self.after_suites && line.starts_with(b"Tests: ") {
            self.after_suites = false;
            if let Some(totals) = totals(&String::from_utf8_lossy(line)) {
                self.totals = Some(totals);
            }
            return true;
        }
        if self.totals.is_some() && line.starts_with(b"Ran all test suites") {
            let text = String::from_utf8_lossy(line);
            self.filtered = text.contains(" with tests matching ");
            return true;
        }
        false
    }

    /// Whether the named results bear out Jest's own count, as far as they can tell.
    fn agrees(&self, totals: Totals) -> bool {
        let (single, trees) = (self.named, self.tree.counts);
        let failed = totals.failed.unwrap_or(0) == single.failed + trees.failed;
        if self.untold > self.lost.len() as u64 {
            return failed;
        }
        let declared = totals.skipped.unwrap_or(0);
        // Not listed: files that are skipped as a whole, tests of a file whose last hook failed.
        let partly = self.suites_skipped || !self.lost.is_empty();
        let bears_out = |named: u64, declared: u64| named == declared || partly && named < declared;
        failed
            && bears_out(single.skipped + trees.skipped, declared)
            && bears_out(single.passed + trees.passed, totals.passed.unwrap_or(0))
    }
}

/// `Tests:       8 failed, 3 skipped, 1 todo, 24 passed, 36 total`
fn totals(line: &str) -> Option<Totals> {
    let mut totals = Totals::default();
    for part in line.strip_prefix("Tests:")?.split(',') {
        let (number, word) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match word {
            "passed" => totals.passed = Some(number),
            "failed" => totals.failed = Some(number),
            "skipped" | "todo" | "pending" => {
                totals.skipped = Some(totals.skipped.unwrap_or(0).saturating_add(number));
            }
            "total" => totals.total = Some(number),
            _ => return None,
        }
    }
    totals.total.map(|_| totals)
}

/// The file of a `PASS path` or `FAIL path` line, and whether it failed.
fn file_heading(line: &[u8]) -> Option<(String, bool)> {
    // In colour the badge has a blank on either side.
    let line = line.strip_prefix(b" ").unwrap_or(line);
    let (failed, rest) = match line.split_at_checked(5)? {
        (b"PASS ", rest) => (false, rest),
        (b"FAIL ", rest) => (true, rest),
        _ => return None,
    };
    let mut rest = std::str::from_utf8(rest).ok()?.trim();
    // `path (5.123 s, 40 MB heap size)`
    while let Some((head, tail)) = rest.rsplit_once(" (") {
        if !tail.ends_with(')') || !tail.starts_with(|c: char| c.is_ascii_digit()) {
            break;
        }
        rest = head.trim_end();
    }
    // `PASS project path`, where the configuration names projects.
    let file = match rest.split_once(' ') {
        Some((project, file)) if !project.contains(['/', '.', '\\']) => file.trim_start(),
        _ => rest,
    };
    let base = file.rsplit(['/', '\\']).next().unwrap_or(file);
    (base.contains('.') && !base.ends_with('.')).then(|| (file.to_owned(), failed))
}

/// A heading behind the beginning of a line that code under test was writing when the pipe was full.
fn glued_heading(line: &[u8]) -> Option<(String, bool)> {
    if !SOURCES.iter().any(|end| line.ends_with(end)) {
        return None;
    }
    let at = memmem::rfind(line, b"PASS ").max(memmem::rfind(line, b"FAIL "))?;
    file_heading(&line[at..]).filter(|(file, _)| at > 0 && !file.contains(char::is_whitespace))
}

/// Where the summary of a run begins, behind such text.
fn glued_summary(line: &[u8]) -> Option<&[u8]> {
    let at = memmem::rfind(line, b"Test Suites: ")?;
    let counts = line[at..].strip_prefix(b"Test Suites: ")?;
    (at > 0 && counts.first()?.is_ascii_digit() && line.ends_with(b" total")).then(|| &line[at..])
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.clean_line(&clean(line));
    }

    fn text_line(&mut self, line: &str) {
        if line.ends_with('}') {
            self.clean_line(line.as_bytes());
        } else if self.is_in_tree(line.as_bytes()) {
            self.line += 1;
            self.tree_line(line);
        } else {
            self.clean_line(line.as_bytes());
        }
    }

    fn clean_line(&mut self, line: &[u8]) {
        if let Some((at, report)) = behind_text(line) {
            self.clean_line(&line[..at]);
            self.document(report, 0);
            return;
        }
        self.line += 1;
        if self.is_in_tree(line) {
            self.tree_line(&lossy(line));
            return;
        }
        if let Some((file, failed)) = self.glued.take()
            && line.starts_with(b"  ")
            && line.get(2).is_some_and(|byte| *byte != b' ')
        {
            self.begin_file(file, failed);
        }
        if matches!(line.first(), Some(b'P' | b'F' | b' '))
            && let Some((file, failed)) = file_heading(line)
        {
            // Jest 24 loses files under load that the repetition has.
            if self.repeating && self.printed.contains(&file) {
                self.end_file();
                self.at = At::Repetition;
            } else {
                self.begin_file(file, failed);
            }
            return;
        }
        if matches!(line.first(), Some(b'T' | b'R')) && self.summary_line(line) {
            return;
        }
        if line.ends_with(b" total")
            && let Some(summary) = glued_summary(line)
        {
            self.summary_line(summary);
            return;
        }
        self.glued = glued_heading(line);
        if line.starts_with(b"Summary of all failing tests") {
            self.end_file();
            self.at = At::Repetition;
            self.repeating = true;
            return;
        }
        self.body(line);
    }

    fn finish(mut self) -> ParsedLog {
        self.end_file();
        if let Some(report) = self.report.take_if(|report| {
            let told = self.totals;
            let same = told.is_none_or(|told| {
                told.total == Some(report.total)
                    && told.passed.unwrap_or(0) == report.passed
                    && told.failed.unwrap_or(0) == report.failed
            });
            same && (report.complete || self.printed.is_empty())
        }) {
            return report::into_log(&report, &self.printed, self.log);
        }
        let printed = std::mem::take(&mut self.printed);
        let before = self.root.before(printed.iter());
        let cut = before.map_or(0, str::len);
        if cut == 0 && !self.filtered {
            self.log.append(std::mem::take(&mut self.results));
        } else {
            let mut results = TestResults::default();
            for mut result in &std::mem::take(&mut self.results) {
                if result.status != TestStatus::Skipped || !self.filtered {
                    result.qualified = result.qualified.get(cut..).unwrap_or(result.qualified);
                    results.merge(result);
                }
            }
            self.log.append(results);
        }
        let nothing = self.log.recorded() == 0;
        if let Some(totals) = self.totals {
            self.log.set_consistent(self.agrees(totals));
            self.log.add_totals(totals);
        }
        let lost = !self.lost.is_empty();
        for (file, proof) in std::mem::take(&mut self.lost) {
            self.log.lose(&file, LostReason::LoadFailed, proof);
        }
        let declared = self.totals.and_then(|totals| totals.total).unwrap_or(0);
        let outcome = if self.totals.is_none() && !printed.is_empty() {
            RunOutcome::Truncated
        } else if nothing && declared == 0 {
            if lost {
                RunOutcome::BuildFailed
            } else {
                RunOutcome::NothingRan
            }
        } else {
            RunOutcome::Completed
        };
        let mut log = self.log.finish(outcome);
        report_as(&mut log, |file| file.get(cut..).unwrap_or(file).to_owned());
        log
    }
}

impl State {
    /// Whether the line goes on with a tree, as most do: no heading and no summary begins or ends
    /// so.
    fn is_in_tree(&self, line: &[u8]) -> bool {
        self.at == At::Tree
            && self.glued.is_none()
            && line.starts_with(b"  ")
            && !matches!(line.last(), Some(b'l' | b's' | b'x'))
    }

    fn tree_line(&mut self, line: &str) {
        if self.tree.line(line) == Entry::Foreign {
            self.end_tree();
            self.at = At::Details;
        }
    }

    /// A line that is neither a heading of a file nor of the summary.
    fn body(&mut self, line: &[u8]) {
        match self.at {
            At::Outside | At::Repetition => {}
            At::Heading | At::Tree => {
                if line.is_empty() {
                    self.end_tree();
                    self.at = At::Details;
                } else if self.at == At::Heading
                    && let Some(title) = bullet(line)
                {
                    self.at = At::Details;
                    self.heading(&title, line);
                } else {
                    self.at = At::Tree;
                    self.tree_line(&lossy(line));
                }
            }
            At::Details => {
                if matches!(line.last(), Some(b')' | b'0'..=b'9')) {
                    self.root.look(&self.file, line);
                }
                if let Some(title) = bullet(line) {
                    self.heading(&title, line);
                } else if self.collecting && !line.trim_ascii().is_empty() {
                    let evidence = self.evidence(line);
                    match self.lost.last_mut() {
                        Some((_, proof)) if proof.len() < 12 => proof.push(evidence),
                        _ => self.collecting = false,
                    }
                }
            }
        }
    }
}

impl TakesDocuments for State {
    type Document = Report;

    fn document(&mut self, report: Report, lines: usize) {
        self.line += lines;
        if self.report.is_some() {
            let text = "several JSON reports; only the last one is read";
            self.log.warn(Some(self.line as u64), text);
        }
        self.report = Some(report);
    }
}

/// Jest reports a file that does not load as one failed entry of the run.
fn report_as(log: &mut ParsedLog, name: impl Fn(&str) -> String) {
    for lost in &mut log.modules_not_loaded {
        lost.reported_as = Some(name(&lost.module));
    }
}

/// The title of a `  ● title` line.
fn bullet(line: &[u8]) -> Option<String> {
    let title = line.strip_prefix("  ● ".as_bytes())?;
    Some(String::from_utf8_lossy(title).into_owned())
}
