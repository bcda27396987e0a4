//! Vitest, versions 0.x to 4: `verbose`, `default`, `basic`, `dot`, `tree`, `tap`, `tap-flat`,
//! `json`, `junit`.
//!
//! `verbose` prints ` ✓ file > suite > test` for each test. The other text reporters print a
//! summary line a file with its failing, its slow or all of its tests below it, and all of them
//! end with ` FAIL  file > suite > test` headings. An id is the file, the suites and the title,
//! joined by ` > `; where projects have names, the project stands in front: `|name| file > …`, as the
//! console has it without colour.
//!
//! What tests print stands below `stdout | file > test` up to an empty line. The message of a
//! failure is printed below its line and again below its heading; a line of it that looks like a
//! result is known by that and is not counted.
//!
//! The list of failures is on standard error, all else on standard output: results that stand in the list,
//! since somebody read the two apart, count if all of them together make up the runner's totals.

mod frames;
mod late;
mod line;
mod listing;
mod reading;
mod tap;

use crate::edges::behind_any;
use crate::javascript::json::{Mixed, TakesDocuments, behind_text};
use crate::javascript::junit::Reports;
use crate::javascript::report::Report;
use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::text::clean;
use atlas_core::{Evidence, LineState, ParsedLog, ParsedLogBuilder, TestStatus};
use frames::Frames;
use line::{Counts, Marked, Symbol};
use listing::Listing;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use tap::Tap;

/// Vitest.
pub(crate) static VITEST: Shipped = Shipped::new(
    "vitest",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["vitest"]],
        contains: &["junit"],
        ..About::new(
            "the reporters verbose, default, basic, dot, tree, tap, tap-flat, json and junit, versions 0.x to 4",
            "passing tests of the default, basic and dot reporters; the folder that the names of a json report are relative to, which is guessed from the names; benchmarks",
        )
    },
    mark,
    || Box::new(Mixed::new(State::default())),
)
.looking(&[
    Look(["on", "*"], "", "s{", ""),
    Look(["<{", "*"], "TR1", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b' ' if line.starts_with(b"      Tests  ") && before.starts_with(b" Test Files  ") => {
            Place::End.certain("a ` Test Files ` and `Tests` summary")
        }
        b' ' if line.starts_with(b" RUN  v") => {
            let text = std::str::from_utf8(line).ok()?;
            line::banner(text)
                .map(|_| Mark::certain(Place::Start, "a ` RUN  v` banner with a folder"))
        }
        b'o' | b'n' if line.ends_with(b"ms") || line.ends_with(b"{") => {
            let text = std::str::from_utf8(line).ok()?;
            let rest = behind_any(text, &["ok ", "not ok "])?;
            let (_, name) = rest.split_once(" - ")?;
            let file = name.split([' ', '>']).next()?;
            let named = [".test.", ".spec."].iter().any(|part| file.contains(part));
            let (title, _) = name.rsplit_once(" # time=").filter(|_| named)?;
            // node-tap has a point for each file, too, but no path of titles behind its name.
            Some(if title[file.len()..].starts_with(" > ") {
                Mark::certain(Place::Within, "a TAP result `file > title` with a time")
            } else {
                Mark::hint(
                    Place::Within,
                    "a TAP result that names a test file and a time",
                )
            })
        }
        b' ' if line.starts_with(b"    1..") && tap::opens_file(before) => {
            Place::Within.certain("a TAP plan below the result of a test file with a time")
        }
        b'<' if line.starts_with(XML) => Place::Start.certain("a report named `vitest tests`"),
        b'{' if line.starts_with(b"{\"numTotalTestSuites\":") => {
            Place::Within.hint("a Vitest-shaped JSON report")
        }
        _ => None,
    }
}

/// How a report of the junit reporter begins.
const XML: &[u8] = b"<testsuites name=\"vitest tests\"";

/// Where the reader stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Progress,
    /// What a test printed, up to an empty line.
    Printed,
    /// The closing list of failures.
    Failures(Part),
}

/// A part of the closing list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Suites,
    Tests,
    Other,
}

/// A test named somewhere.
#[derive(Clone, Debug)]
struct Found {
    run: usize,
    file: String,
    project: String,
    name: String,
    status: TestStatus,
    hash: u64,
    /// It stood below its file's summary line.
    listed: bool,
    /// It is named in full behind such a line, or behind output without a line end: by a message or
    /// a test, unless all such names make up the total.
    held: bool,
}

/// A test whose line ends without a time, which the runner appends to each: its title goes on below.
#[derive(Clone, Debug)]
struct Unended {
    /// Its place among the results.
    at: usize,
    symbol: Symbol,
    /// What was read of the title below its first line, each line behind a line end.
    rest: String,
    lines: u32,
}

/// The most lines that a title may have.
const MOST_TITLE_LINES: u32 = 20;

/// Run, project and id of a failing test.
type Failing = (usize, String, String);

/// One start of the runner; a log may hold several.
#[derive(Clone, Debug, Default)]
struct Run {
    folder: String,
    tests: Option<Counts>,
}

/// A file or suite that failed as a whole.
#[derive(Clone, Debug)]
struct Broken {
    run: usize,
    file: String,
    proof: Vec<Evidence>,
}

#[derive(Clone, Default)]
struct State {
    lines: usize,
    at: At,
    version: u32,
    runs: Vec<Run>,
    after_files: bool,
    /// What is being read, by the file's name with its badges.
    listing: Option<(String, Listing)>,
    listings: BTreeMap<(usize, String), Listing>,
    results: Vec<Found>,
    unended: Option<Unended>,
    /// Failing tests that have a heading, with their files.
    failing: BTreeMap<Failing, String>,
    /// How many more tests or suites the part of the list may have.
    due: u64,
    /// A heading may come: after a divider and below another heading.
    heading: bool,
    /// The headings above the message that is read.
    headings: u64,
    echoes: HashMap<u64, u64, BuildHasherDefault<DefaultHasher>>,
    /// Lines of the closing list that look like results, each with its run.
    late: Vec<(usize, String)>,
    frames: Frames,
    broken: Vec<Broken>,
    collecting: bool,
    failed_suites: Vec<String>,
    /// Messages of failures were printed below their lines.
    messages: bool,
    verbose: bool,
    /// Files with tests that no line names.
    untold: bool,
    nothing_found: bool,
    unhandled: bool,
    tap: Option<Tap>,
    report: Option<Report>,
    xml: Reports,
    warnings: Vec<(usize, String)>,
}

/// The most lines of messages that are remembered for looking like results.
const MOST_ECHOES: usize = 100_000;

impl State {
    fn run(&self) -> usize {
        self.runs.len().saturating_sub(1)
    }

    fn hash(&self, line: &str) -> u64 {
        self.echoes.hasher().hash_one(line)
    }

    /// On a terminal a file is listed again and again while it runs; the last time counts.
    fn end_listing(&mut self) {
        if let Some((key, listing)) = self.listing.take() {
            self.listings.insert((self.run(), key), listing);
        }
    }

    /// Some reporters name tests in full, the others list files: where one of the two makes up the
    /// run's total and the other does not, the other was printed by tests.
    fn choose(&mut self) {
        let mut sums = vec![(0_u64, 0_u64); self.runs.len().max(1)];
        for found in self.results.iter().filter(|found| !found.listed) {
            sums[found.run].0 += 1;
        }
        for ((run, _), listing) in &self.listings {
            sums[*run].1 = sums[*run].1.saturating_add(listing.declared());
        }
        let runs = self.runs.iter().map(|run| run.tests).chain([None]);
        let whole: Vec<(bool, bool)> = sums
            .into_iter()
            .zip(runs)
            .map(|((named, declared), counts)| {
                let counts = counts.unwrap_or_default();
                let unnamed = counts.total.saturating_sub(named);
                let all = named > 0 && named <= counts.total && [0, counts.todo].contains(&unnamed);
                (all, declared > 0 && declared == counts.total)
            })
            .collect();
        self.listings
            .retain(|(run, _), _| !matches!(whole[*run], (true, false)));
        self.results.retain(|found| match whole[found.run] {
            (true, false) => true,
            (false, true) => found.listed,
            _ => !found.held,
        });
        self.verbose = self.results.iter().any(|found| !found.listed);
    }

    /// Takes the listings' tests to the other results.
    fn take_listings(&mut self) {
        self.end_listing();
        self.choose();
        for ((run, _), listing) in std::mem::take(&mut self.listings) {
            let (tests, complete) = listing.tests(self.version());
            self.untold |= !complete && listing.declared() > 0;
            for test in tests {
                self.results.push(Found {
                    run,
                    file: listing.file.clone(),
                    project: listing.project.clone(),
                    name: format!("{} > {}", listing.file, test.name),
                    status: test.status,
                    hash: test.hash,
                    listed: true,
                    held: false,
                });
            }
        }
    }

    /// The major version; a log without a banner is read as a recent one's.
    fn version(&self) -> u32 {
        if self.runs.iter().all(|run| run.folder.is_empty()) {
            3
        } else {
            self.version
        }
    }

    /// A line with a symbol in front, among the results.
    fn marked(&mut self, line: &str, marked: Marked<'_>) {
        if marked.depth > 0 {
            if self.listing.is_some() {
                let hash = self.hash(line);
                if let Some((_, listing)) = &mut self.listing {
                    listing.push(&marked, hash);
                }
            }
            return;
        }
        let (project, text) = line::badges(marked.text);
        let project = project.unwrap_or_default();
        if let Some((file, name)) = line::full_name(text) {
            let status = match marked.symbol {
                Symbol::Passed => TestStatus::Passed,
                Symbol::Failed => TestStatus::Failed,
                Symbol::Skipped => TestStatus::Skipped,
                Symbol::Pointer | Symbol::Waiting => return,
            };
            let held = self.listing.is_some() && !self.verbose;
            if !held {
                self.end_listing();
                self.verbose = true;
            }
            let title = line::title(name, marked.symbol, self.version(), false);
            // A skipped test has no time, so that nothing tells where its title ends.
            let timed = self.version() >= 3 && status != TestStatus::Skipped;
            self.unended = (timed && title.len() == name.len()).then(|| Unended {
                at: self.results.len(),
                symbol: marked.symbol,
                rest: String::new(),
                lines: 0,
            });
            let name = title;
            let hash = self.hash(line);
            self.results.push(Found {
                run: self.run(),
                file: file.to_owned(),
                project: project.to_owned(),
                name: format!("{file} > {name}"),
                status,
                hash,
                listed: false,
                held,
            });
        } else if let Some((file, tests)) = line::file_summary(text) {
            self.end_listing();
            // Its badges tell a file from the same file in another project.
            let badges = &marked.text[..marked.text.len() - text.len()];
            let listing = Listing::new(project, file, tests);
            self.listing = Some((format!("{badges}{file}"), listing));
        }
    }

    /// A line below a test's first one: its title goes on up to a time.
    fn continues(&mut self, line: &str) {
        let version = self.version();
        let Some(unended) = &mut self.unended else {
            return;
        };
        let is_result = line::marked(line).is_some_and(|marked| {
            let (_, text) = line::badges(marked.text);
            marked.depth == 0 && line::full_name(text).is_some()
        });
        if is_result || unended.lines == MOST_TITLE_LINES {
            self.unended = None;
            return;
        }
        let title = line::title(line, unended.symbol, version, false);
        unended.lines += 1;
        unended.rest.push('\n');
        unended.rest.push_str(title);
        if title.len() < line.len()
            && let Some(Unended { at, rest, .. }) = self.unended.take()
            && let Some(found) = self.results.get_mut(at)
        {
            found.name.push_str(&rest);
        }
    }

    /// ` Test Files  1 failed (1)` and `      Tests  3 passed (3)`.
    fn summary(&mut self, line: &str) -> bool {
        if let Some(text) = line.strip_prefix(" Test Files  ") {
            self.end_listing();
            self.end_message();
            self.after_files = true;
            // The list of failures goes to standard error and this line to standard output. Where a log holds both
            // streams, the list may go on behind this line.
            if self.at != At::Failures(Part::Tests) || self.due == 0 {
                self.at = At::Progress;
            }
            self.nothing_found = text.trim() == "no tests";
            return true;
        }
        if self.after_files
            && let Some(counts) = line.strip_prefix("      Tests  ").and_then(line::counts)
        {
            self.after_files = false;
            if self.runs.is_empty() {
                self.runs.push(Run::default());
            }
            if let Some(run) = self.runs.last_mut() {
                run.tests = Some(counts);
            }
            return true;
        }
        false
    }

    /// `⎯⎯⎯ Failed Tests 8 ⎯⎯⎯`, `⎯⎯⎯[1/9]⎯`
    fn divider(&mut self, line: &str) {
        self.end_listing();
        let text = line.trim_matches('⎯').trim();
        self.end_message();
        let part = |words: &str| -> Option<u64> { text.strip_prefix(words)?.trim().parse().ok() };
        if let Some(count) = part("Failed Suites ") {
            self.at = At::Failures(Part::Suites);
            self.due = count;
        } else if let Some(count) = part("Failed Tests ") {
            self.at = At::Failures(Part::Tests);
            self.due = count;
        } else if !text.is_empty() && !text.starts_with('[') {
            self.unhandled |= text.starts_with("Unhandled ") || text == "Startup Error";
            self.at = At::Failures(Part::Other);
        }
        self.heading = matches!(self.at, At::Failures(_));
    }

    fn end_message(&mut self) {
        self.headings = 0;
        self.collecting = false;
        self.frames.end();
    }

    /// ` FAIL  file > suite > test`, ` FAIL  file [ file ]`
    fn fail(&mut self, text: &str, part: Part, line: &str) {
        let (project, text) = line::badges(text);
        let run = self.run();
        match (part, line::full_name(text)) {
            (Part::Tests, Some((file, name))) => {
                self.headings += 1;
                let project = project.unwrap_or_default().to_owned();
                let key = (run, project, format!("{file} > {name}"));
                // A test has as many headings as it has errors.
                if self.due > 0 && !self.failing.contains_key(&key) {
                    self.due -= 1;
                    self.failing.insert(key, file.to_owned());
                }
            }
            (Part::Suites, Some((file, name))) if self.due > 0 => {
                let suite = format!("{file} > {name}");
                if self.failed_suites.last() != Some(&suite) {
                    self.due -= 1;
                    self.failed_suites.push(suite);
                }
            }
            (Part::Suites, None) if self.due > 0 => {
                let file = text.rsplit_once(" [ ").map_or(text, |(file, _)| file);
                let proof = vec![self.evidence(line)];
                self.due -= 1;
                self.broken.push(Broken {
                    run,
                    file: file.to_owned(),
                    proof,
                });
                self.collecting = true;
            }
            _ => {}
        }
    }

    fn evidence(&self, line: &str) -> Evidence {
        Evidence::at("log", self.lines, line.trim_end())
    }

    /// A line of the closing list.
    fn failure(&mut self, line: &str, part: Part) {
        if self.heading {
            if line.is_empty() {
                return;
            }
            if let Some(text) = line.strip_prefix(" FAIL  ") {
                self.fail(text, part, line);
                return;
            }
            // Behind the line that divides two failures comes the next heading, or a line of standard output.
            self.heading = part == Part::Tests && self.headings == 0 && self.due > 0;
        }
        self.keep_late(line);
        if part == Part::Tests {
            self.frames.look(line);
            if self.headings > 0
                && self.echoes.len() < MOST_ECHOES
                && line::marked(line)
                    .is_some_and(|marked| marked.depth <= 1 && marked.symbol != Symbol::Pointer)
            {
                let hash = self.hash(line);
                let seen = self.echoes.entry(hash).or_default();
                *seen = seen.saturating_add(self.headings);
            }
        } else if self.collecting {
            let evidence = self.evidence(line);
            match self.broken.last_mut() {
                Some(broken) if broken.proof.len() < 12 => {
                    if !line.trim().is_empty() {
                        broken.proof.push(evidence);
                    }
                }
                _ => self.collecting = false,
            }
        }
    }

    /// A line of TAP; `false` when the document is over.
    fn tap_line(&mut self, line: &str) -> bool {
        let Some(tap) = &mut self.tap else {
            return false;
        };
        match tap.line(line) {
            tap::Line::Test { name, status } => {
                let file = name.split(" > ").next().unwrap_or_default().to_owned();
                self.results.push(Found {
                    run: self.runs.len().saturating_sub(1),
                    file,
                    project: String::new(),
                    name,
                    status,
                    hash: 0,
                    listed: false,
                    held: false,
                });
            }
            tap::Line::File(file) => {
                let proof = vec![self.evidence(line)];
                let run = self.run();
                self.broken.push(Broken { run, file, proof });
            }
            tap::Line::Other => {}
        }
        true
    }

    fn read(&mut self, line: &str) {
        // A test may have printed no line end behind a document.
        if let Some(front) = line.strip_suffix("TAP version 13")
            && !front.is_empty()
            && self.tap.as_ref().is_some_and(|tap| !tap.in_details())
        {
            self.tap_line(front);
        }
        // Its reporters print no banner, and a test may have printed no line end. A document behind a
        // whole one is another run's, or a test had printed the first: both count.
        let whole = self.tap.as_ref().is_none_or(Tap::complete);
        let glued = whole && self.runs.is_empty() && line.ends_with("TAP version 13");
        let cut = self.tap.as_ref().is_none_or(|tap| !tap.in_details());
        let begins = glued || cut && line == "TAP version 13";
        if begins && self.runs.is_empty() {
            self.end_listing();
            self.tap = Some(Tap::new());
            return;
        }
        if let Some((version, folder)) = line::banner(line) {
            self.end_listing();
            self.end_message();
            self.version = version;
            self.at = At::Progress;
            self.runs.push(Run {
                folder: folder.to_owned(),
                tests: None,
            });
            return;
        }
        if self.tap_line(line) {
            return;
        }
        if line.starts_with(' ') && self.summary(line) {
            return;
        }
        if line.starts_with('⎯') {
            self.divider(line);
            return;
        }
        match self.at {
            At::Failures(part) => self.failure(line, part),
            At::Printed if line.is_empty() => self.at = At::Progress,
            At::Printed => {}
            At::Progress => {
                self.continues(line);
                if let Some(marked) = line::marked(line) {
                    self.marked(line, marked);
                } else if line.starts_with("   → ") || line.starts_with("     → ") {
                    self.messages = true;
                } else if printed(line) {
                    self.at = At::Printed;
                } else if line.starts_with("No test files found") {
                    self.nothing_found = true;
                } else if let Some(behind) = line::glued(line)
                    && let Some(marked) = line::marked(behind)
                {
                    let named = self.results.len();
                    self.marked(behind, marked);
                    for found in self.results.iter_mut().skip(named) {
                        found.held = true;
                    }
                }
            }
        }
    }
}

/// Whether the line announces what a test printed: `stdout | a.test.ts > test`. The dots of the
/// `dot` reporter may stand before it.
fn printed(line: &str) -> bool {
    let text = line.trim_start_matches(['·', 'x', '-', '*']);
    text.starts_with("stdout | ") || text.starts_with("stderr | ")
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        if let Some((at, report)) = behind_text(line) {
            self.line(&line[..at]);
            self.document(report, 0);
            return;
        }
        self.lines += 1;
        if self.xml.line(line, XML) {
            return;
        }
        let line = clean(line);
        match std::str::from_utf8(&line) {
            Ok(line) => self.read(line),
            Err(_) => self.read(&String::from_utf8_lossy(&line)),
        }
    }

    fn finish(self) -> ParsedLog {
        self.with_late().into_log(ParsedLogBuilder::default())
    }
}

impl TakesDocuments for State {
    type Document = Report;

    fn document(&mut self, report: Report, lines: usize) {
        self.lines += lines;
        if self.report.is_some() {
            let text = "several JSON reports; only the last one is read";
            self.warnings.push((self.lines, text.to_owned()));
        }
        self.report = Some(report);
    }
}
