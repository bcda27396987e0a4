//! Node's own test runner: its spec reporter, its TAP and its JUnit report.
//!
//! They are told apart line by line. TAP escapes names and states in a block under each result
//! whether it is a suite; what tests print is commented out there, and a result counts only where
//! `# Subtest: name` announced it. The spec reporter prints what tests print as it stands, and
//! its results at once or, for anything that has children, twice: `▶ name` before them and
//! `✔ name (1.5ms)` after them.
//!
//! Suites are no tests, a test with subtests is one. The spec reporter and the report print both
//! alike; where neither the totals nor a failing subtest's stack settle which they are, such parents
//! are left out and a warning says so. The dot reporter's list of failures names no parents: what
//! failed for its children alone is left out there.
//! A test file that cannot be loaded, or whose process ends early, is a module without results.
//!
//! One console may have several runs. Tests may print what looks like the totals between two; so
//! there are several only where all results are not what the last totals count, and each part is what
//! its own totals count.

mod report;
mod spec;
mod tap;

use crate::edges::behind_any;
use crate::javascript::junit::Reports;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use std::collections::BTreeSet;

/// `node --test`.
pub(crate) static NODETEST: Shipped = Shipped::new(
    "nodetest",
    &About {
        languages: &["javascript", "typescript"],
        aliases: &["node_test"],
        commands: &[&["node", "--test"]],
        contains: &["junit"],
        ..About::new(
            "node:test's spec, tap, dot and junit reporters",
            "passing tests of the dot reporter, and suites of its failing ones",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["#~", "*"], "<", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'#' if line.starts_with(b"# suites ") && before.starts_with(b"# tests ") => {
            Place::End.certain("`# tests`, `# suites`")
        }
        b'#' if line.starts_with(b"# cancelled ") && before.starts_with(b"# fail ") => {
            Place::End.certain("`# fail`, `# cancelled`")
        }
        b'\t' if line.starts_with(b"\t<!-- cancelled ") && before.starts_with(b"\t<!-- fail ") => {
            Place::End.certain("`fail` and `cancelled` in comments")
        }
        0xe2 if line.starts_with("ℹ cancelled ".as_bytes())
            && before.starts_with("ℹ fail ".as_bytes()) =>
        {
            Place::End.certain("`ℹ fail`, `ℹ cancelled`")
        }
        // The last line of its totals: what another runner prints begins behind it.
        b'#' if line.starts_with(b"# duration_ms ") => Some(CLOSE),
        0xe2 if line.starts_with("ℹ duration_ms ".as_bytes()) => Some(CLOSE),
        // Others print whole milliseconds.
        0xe2 if line.ends_with(b"ms)") => {
            let text = std::str::from_utf8(line).ok()?;
            spec::is_timed(text)
                .then_some(Mark::hint(Place::Within, "a `✔ title (1.234567ms)` line"))
        }
        _ => None,
    }
}
/// The end of what its totals began.
const CLOSE: Mark = Mark::close("`duration_ms` below its totals");

/// What one reporter found.
#[derive(Clone, Debug, Default)]
struct Found {
    results: Vec<TestFound>,
    files: Vec<FileLost>,
    warnings: Vec<String>,
    /// Something of the reporter was seen.
    any: bool,
}

#[derive(Clone, Debug)]
struct TestFound {
    file: String,
    name: String,
    status: TestStatus,
}

#[derive(Clone, Debug)]
struct FileLost {
    file: String,
    lines: Vec<Evidence>,
}

/// A block of totals, and how many results the readers had when it ended.
#[derive(Clone, Copy, Debug)]
struct Ended {
    declared: Declared,
    /// Whether the reporter of these totals is TAP's.
    is_tap: bool,
    spec: spec::Reached,
    tap: Option<(usize, usize)>,
}

/// The results of one run of `node --test` with the totals that it printed. Of a log with several runs whose
/// results cannot be assigned to their totals: all results, with the last totals.
struct Run {
    found: Found,
    declared: Option<Declared>,
}

impl Found {
    fn tests(&self) -> u64 {
        (self.results.len() + self.files.len()) as u64
    }

    /// Whether these results are what the totals count.
    fn agrees(&self, declared: Declared) -> bool {
        let of = |status| {
            let results = self.results.iter();
            results.filter(|test| test.status == status).count() as u64
        };
        self.tests() == declared.tests
            && of(TestStatus::Passed) == declared.pass
            && of(TestStatus::Skipped) + of(TestStatus::Xfail)
                == declared.skipped.saturating_add(declared.todo)
    }
}

#[derive(Clone, Debug, Default)]
struct State {
    line: usize,
    tap: tap::Tap,
    spec: spec::Spec,
    totals: TotalsBlock,
    ends: Vec<Ended>,
    xml: Reports,
    /// Elements of the report that are tests, for the stack of a failing child says so.
    parents: BTreeSet<Vec<String>>,
    /// Errors at the line start since the last result: why a file was lost.
    errors: Vec<Evidence>,
}

/// The block of counts that ends a run; the last whole one counts.
#[derive(Clone, Debug, Default)]
struct TotalsBlock {
    open: Option<Declared>,
    declared: Option<Declared>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Declared {
    tests: u64,
    suites: Option<u64>,
    pass: u64,
    fail: u64,
    cancelled: u64,
    skipped: u64,
    todo: u64,
}

impl TotalsBlock {
    /// Whether the line is one of a block, and the counts of one that it ends.
    fn line(&mut self, text: &str) -> (bool, Option<Declared>) {
        let Some((word, number)) = text.split_once(' ') else {
            self.open = None;
            return (false, None);
        };
        if word == "duration_ms" && number.parse::<f64>().is_ok() {
            let block = self.open.take();
            self.declared = block.or(self.declared);
            return (block.is_some(), block);
        }
        let Ok(number) = number.parse::<u64>() else {
            self.open = None;
            return (false, None);
        };
        if word == "tests" {
            self.open = Some(Declared {
                tests: number,
                ..Declared::default()
            });
            return (true, None);
        }
        let Some(open) = &mut self.open else {
            return (false, None);
        };
        match word {
            "suites" => open.suites = Some(number),
            "pass" => open.pass = number,
            "fail" => open.fail = number,
            "cancelled" => open.cancelled = number,
            "skipped" => open.skipped = number,
            "todo" => open.todo = number,
            _ => {
                self.open = None;
                return (false, None);
            }
        }
        (true, None)
    }
}

/// Whether a top-level result's name is a test file: the runner reports a file as a test when its
/// process failed, or when it has no tests.
pub(crate) fn is_file(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    matches!(
        extension,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx"
    ) && !stem.is_empty()
        && !name.contains(" (")
}

/// Whether a top-level parent is a test file, which Node 18 reports as a test around its tests: always by its
/// whole path. `describe('index.js')` is a suite.
fn is_file_around(name: &str) -> bool {
    let is_drive = name.as_bytes().get(1..3) == Some(b":\\");
    (name.starts_with('/') || is_drive) && is_file(name)
}

/// Whether a line of a stack is the frame in which a test begins a subtest.
fn is_subtest_frame(line: &[u8]) -> bool {
    line.starts_with(b"at TestContext.test (node:internal/")
}

/// `SyntaxError: …`, `Error [ERR_MODULE_NOT_FOUND]: …` at the line start.
fn is_error(text: &str) -> bool {
    let Some((head, _)) = text.split_once(':') else {
        return false;
    };
    let class = head.split(' ').next().unwrap_or_default();
    class.ends_with("Error")
        && class.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && (class == head || head[class.len()..].starts_with(" ["))
}

impl LineState for State {
    fn endings(&self) -> &'static [&'static str] {
        &[" # SKIP", " # TODO"]
    }

    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        if self.xml.line(line, b"<testsuites>") {
            if let Some(count) = report::count(line) {
                self.totals.line(count);
            } else if is_subtest_frame(line.trim_ascii_start())
                && let Some(parent) = self.xml.around()
                && !parent.is_empty()
            {
                self.parents.insert(parent.to_vec());
            }
            return;
        }
        let line = clean(line);
        let text = String::from_utf8_lossy(&line);
        let said = text.strip_prefix("# ").unwrap_or(&text);
        if self.errors.len() < 8 && is_error(said) {
            self.errors
                .push(Evidence::at("log", self.line, said.to_owned()));
        }
        let marked = behind_any(&*text, &["# ", "ℹ "]);
        if let Some(marked) = marked {
            let (is_total, ended) = self.totals.line(marked);
            if let Some(declared) = ended {
                self.ends.push(Ended {
                    declared,
                    is_tap: text.starts_with('#'),
                    spec: self.spec.reached(),
                    tap: self.tap.reached(),
                });
            }
            if is_total {
                return;
            }
        } else {
            self.totals.open = None;
        }
        let before = (self.tap.results(), self.spec.results());
        self.tap.line(&text, self.line, &mut self.errors);
        self.spec.line(&text, self.line, &mut self.errors);
        if before != (self.tap.results(), self.spec.results()) {
            self.errors.clear();
        }
    }

    fn finish(self) -> ParsedLog {
        let mut log = ParsedLogBuilder::default();
        let (runs, sure) = self.runs();
        let found = |run: &Run| run.found.any || run.declared.is_some();
        let nothing = !runs.iter().any(found);
        let mut tests = 0;
        let (mut crashed, mut agrees) = (false, sure);
        let unended = runs.iter().any(|run| run.declared.is_none());
        for Run { found, declared } in runs {
            tests += found.tests();
            for test in &found.results {
                let qualified = if test.file.is_empty() {
                    test.name.clone()
                } else {
                    format!("{} > {}", test.file, test.name)
                };
                log.record(&test.file, &qualified, &test.name, test.status);
            }
            for file in &found.files {
                // Without an error before it, the file's process ended on its own.
                let reason = if file.lines.len() < 2 {
                    crashed = true;
                    LostReason::Crashed
                } else {
                    LostReason::LoadFailed
                };
                log.lose(&file.file, reason, file.lines.clone());
            }
            for warning in &found.warnings {
                log.warn(None, warning.as_str());
            }
            let Some(declared) = declared else {
                continue;
            };
            log.add_totals(Totals {
                total: Some(declared.tests),
                passed: Some(declared.pass),
                failed: Some(declared.fail.saturating_add(declared.cancelled)),
                skipped: Some(declared.skipped.saturating_add(declared.todo)),
                ..Totals::default()
            });
            if !found.agrees(declared) {
                log.warn(
                    None,
                    "the results do not add up to the totals: of what has no children, or has \
                     them, some may be suites",
                );
                agrees = false;
            }
        }
        if !unended {
            log.set_consistent(agrees);
        }
        let outcome = if nothing {
            RunOutcome::NothingRan
        } else if crashed {
            RunOutcome::Crashed
        } else if unended {
            RunOutcome::Truncated
        } else if log.recorded() > 0 {
            RunOutcome::Completed
        } else if tests > 0 {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        log.finish(outcome)
    }
}

impl State {
    /// The runs, and whether the results are of the reporter that ended the log: where both reporters' totals stand, a test
    /// printed those of one.
    fn runs(self) -> (Vec<Run>, bool) {
        let declared = self.totals.declared;
        let tap = self.tap.finish();
        let is_tap = tap.any;
        let all = spec::Reached::default()..self.spec.reached();
        let found = match self.xml.finish() {
            _ if is_tap => tap,
            cases => match (self.spec.found(all, declared), cases) {
                (found, Some(cases)) if !found.any => report::read(cases, declared, &self.parents),
                (found, _) => found,
            },
        };
        let mut pairs = self.ends.windows(2);
        if !pairs.all(|pair| pair[0].is_tap == pair[1].is_tap) {
            let sure = self.ends.last().is_some_and(|end| end.is_tap == is_tap);
            return (vec![Run { found, declared }], sure);
        }
        let apart = (self.ends.len() > 1 && !declared.is_some_and(|last| found.agrees(last)))
            .then(|| apart(&self.ends, &found, &self.spec));
        let runs = apart.flatten();
        (runs.unwrap_or_else(|| vec![Run { found, declared }]), true)
    }
}

/// Divides the results of a log among several runs: each block of totals gets the results before it that it
/// counts exactly. `None` where results remain that no totals count.
fn apart(ends: &[Ended], all: &Found, spec: &spec::Spec) -> Option<Vec<Run>> {
    let mut runs = Vec::new();
    let (mut from, mut after) = (spec::Reached::default(), (0, 0));
    for end in ends {
        let to = end.tap?;
        let found = if to == after {
            spec.found(from..end.spec, Some(end.declared))
        } else {
            Found {
                results: all.results.get(after.0..to.0)?.to_vec(),
                files: all.files.get(after.1..to.1)?.to_vec(),
                warnings: Vec::new(),
                any: true,
            }
        };
        // These may be printed by a test of the run that goes on.
        if !found.agrees(end.declared) {
            continue;
        }
        (from, after) = (end.spec, to);
        runs.push(Run {
            found,
            declared: Some(end.declared),
        });
    }
    let found: u64 = runs.iter().map(|run| run.found.tests()).sum();
    (from == spec.reached() && found >= all.tests()).then_some(runs)
}
