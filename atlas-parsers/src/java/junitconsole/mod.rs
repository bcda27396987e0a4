//! `ConsoleLauncher` of the JUnit Platform, 1.0 to 1.14 and 6.
//!
//! `tree` prints its tree when all tests have run, so that the last one before the summary counts;
//! `verbose`, `flat` and `testfeed` print while tests run; `summary` and `none` name failures only.
//! Messages in the tree are indented deeper than a child could be.
//!
//! An id is the path of display names below the engine, joined by ` > `; only leaves are tests, and
//! a container that failed or was disabled before it had any is a leaf. The qualified id has the
//! engine in front, or is the unique id where that is printed.
//!
//! The launcher compiles nothing, so that a command often has the compiler in front of it: where no
//! test ran, what that complained of are files that were not built.

mod found;
mod node;

use crate::java::compiler::Compiler;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use found::{Feed, Flat, Found, Tree, Verbose};

/// `java -jar junit-platform-console-standalone.jar`.
pub(crate) static JUNITCONSOLE: Shipped = Shipped::new(
    "junitconsole",
    &About {
        languages: &["java", "kotlin", "groovy"],
        aliases: &["junit_console", "consolelauncher", "junit5"],
        commands: &[&["org.junit.platform.console.ConsoleLauncher"]],
        ..About::new(
            "`ConsoleLauncher` with any `--details` and theme",
            "passing tests with `--details=summary` or `none`; classes of the same simple name \
             in a tree; where a name ends that holds ` ✘ ` itself",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["[", "*"], "", "]", " containers found "),
    Look(["T~", "*"], "", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'[' if line.ends_with(b" containers found      ]") => {
            Place::End.certain("the summary of the JUnit Platform")
        }
        b'T' if line.starts_with(b"Thanks for using JUnit!") => {
            Place::Start.certain("the banner of the JUnit Platform's launcher")
        }
        b'T' if line.starts_with(b"Test plan execution started. Number of static tests: ")
            || line.starts_with(b"Test execution started. Number of static tests: ") =>
        {
            Place::Start.certain("the launcher's count of tests")
        }
        0xe2 if line == "╷".as_bytes() => Place::Start.hint("a tree's root"),
        _ => None,
    }
}

/// What is being listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Part {
    #[default]
    Outside,
    Tree,
    Verbose,
    Flat,
    /// `Failures (9):`
    Failures,
    /// The lines of counts.
    Counts,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    any: bool,
    failed_containers: u64,
    found: u64,
    skipped: u64,
    aborted: u64,
    successful: u64,
    failed: u64,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    compiler: Compiler,
    part: Part,
    tree: Option<Tree>,
    verbose: Option<Verbose>,
    flat: Option<Flat>,
    feed: Feed,
    /// The failures that are listed at the end, and whether the last line may be one.
    failures: Vec<String>,
    candidate: Option<String>,
    counts: Counts,
    began: bool,
    finished: u32,
    disagrees: bool,
}

impl State {
    fn is_root(text: &str) -> bool {
        text.ends_with('╷') || text == "."
    }

    fn text(&mut self, text: &str) {
        if Self::is_root(text) && self.verbose.is_none() {
            // A tree before this one was a test's.
            self.tree = Some(Tree::default());
            self.part = Part::Tree;
            return;
        }
        if let Some(rest) =
            text.strip_prefix("Test plan execution started. Number of static tests: ")
            && number(rest)
        {
            self.verbose = Some(Verbose::default());
            self.part = Part::Verbose;
            self.began = true;
            return;
        }
        if let Some(rest) = text.strip_prefix("Test execution started. Number of static tests: ")
            && number(rest)
        {
            self.flat = Some(Flat::default());
            self.part = Part::Flat;
            self.began = true;
            return;
        }
        if let Some(rest) = text.strip_prefix("Test run finished after ")
            && rest.strip_suffix(" ms").is_some_and(number)
        {
            self.end_run();
            self.counts = Counts::default();
            self.part = Part::Counts;
            self.finished = self.finished.saturating_add(1);
            return;
        }
        if let Some(rest) = text.strip_prefix("Failures (")
            && rest.strip_suffix("):").is_some_and(number)
        {
            self.failures.clear();
            self.part = Part::Failures;
            return;
        }
        match self.part {
            Part::Tree => {
                if let Some(tree) = &mut self.tree
                    && let Some(node) = node::node(text)
                {
                    tree.node(&node);
                }
            }
            Part::Verbose => {
                if let Some(verbose) = &mut self.verbose {
                    verbose.line(text);
                }
            }
            Part::Flat => {
                if let Some(flat) = &mut self.flat {
                    flat.line(text);
                }
            }
            Part::Failures => self.failure(text),
            Part::Counts => self.count(text),
            Part::Outside => {
                // The root may stand behind unfinished output: `partial.`
                if text.starts_with("+-- ") || text.starts_with("'-- ") {
                    self.tree = Some(Tree::default());
                    self.part = Part::Tree;
                    self.text(text);
                } else if text.contains(" :: ") && self.feed.line(text) {
                    self.began = true;
                }
            }
        }
    }

    /// An entry is a name, the source below it and `=>`.
    fn failure(&mut self, text: &str) {
        if text.starts_with("    => ") {
            if let Some(name) = self.candidate.take() {
                self.failures.push(name);
            }
        } else if text.starts_with("    ") {
            if !text.contains("Source [") {
                self.candidate = None;
            }
        } else if let Some(name) = text.strip_prefix("  ")
            && !name.starts_with(' ')
        {
            self.candidate = Some(name.to_owned());
        }
    }

    fn count(&mut self, text: &str) {
        let Some(inner) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        else {
            if !text.is_empty() {
                self.part = Part::Outside;
            }
            return;
        };
        let Some((count, what)) = inner.trim().split_once(' ') else {
            return;
        };
        let Ok(count) = count.parse::<u64>() else {
            return;
        };
        let counts = &mut self.counts;
        match what {
            "containers failed" => counts.failed_containers = count,
            "tests found" => counts.found = count,
            "tests skipped" => counts.skipped = count,
            "tests aborted" => counts.aborted = count,
            "tests successful" => counts.successful = count,
            "tests failed" => {
                counts.failed = count;
                counts.any = true;
                self.totals();
                self.part = Part::Outside;
            }
            _ => {}
        }
    }

    fn totals(&mut self) {
        let counts = &self.counts;
        self.log.add_totals(Totals {
            total: Some(counts.found),
            passed: Some(counts.successful),
            failed: Some(counts.failed),
            skipped: Some(counts.skipped.saturating_add(counts.aborted)),
            ..Totals::default()
        });
        let totals = |status| self.log.count(status);
        if self.finished == 1 {
            let passed = totals(TestStatus::Passed);
            // Equal names are one test; so are those of the same class name.
            let twice = self
                .log
                .recorded()
                .saturating_sub(TestStatus::ALL.into_iter().map(totals).sum::<u64>());
            let failed = totals(TestStatus::Failed);
            let all_named = passed > 0 || counts.successful == 0;
            self.disagrees = all_named && passed.abs_diff(counts.successful) > twice
                || failed < counts.failed.saturating_sub(twice)
                || failed > counts.failed.saturating_add(counts.failed_containers);
        }
    }

    /// The listings of a run are complete. Returns what was running.
    fn end_run(&mut self) -> Vec<String> {
        let mut open = Vec::new();
        let mut any = false;
        if let Some(mut tree) = self.tree.take() {
            tree.finish();
            for name in std::mem::take(&mut tree.failed_containers) {
                self.log
                    .warn(None, format!("`{name}` failed besides its tests"));
            }
            any |= !tree.found.is_empty();
            self.record(tree.found);
        }
        if let Some(mut verbose) = self.verbose.take() {
            open = verbose.finish();
            any |= !verbose.found.is_empty();
            self.record(verbose.found);
        }
        if let Some(flat) = self.flat.take() {
            let (found, running) = flat.finish();
            open.extend(running);
            any |= !found.is_empty();
            self.record(found);
        }
        let mut feed = std::mem::take(&mut self.feed);
        open.extend(feed.finish());
        any |= !feed.found.is_empty();
        self.record(feed.found);
        let failures = std::mem::take(&mut self.failures);
        if !any {
            let listed = failures.into_iter().map(|name| Found {
                path: split_listed(&name),
                status: TestStatus::Failed,
                unique: None,
            });
            self.record(listed.collect());
        }
        self.part = Part::Outside;
        open
    }

    fn record(&mut self, found: Vec<Found>) {
        for result in found {
            let Some((engine, path)) = result.path.split_first() else {
                continue;
            };
            let name = path.join(" > ");
            let module = path.first().map_or("", String::as_str);
            let qualified = result
                .unique
                .unwrap_or_else(|| format!("{engine} > {name}"));
            self.log.record(module, &qualified, &name, result.status);
        }
    }
}

fn number(text: &str) -> bool {
    !text.is_empty() && text.trim_end().bytes().all(|byte| byte.is_ascii_digit())
}

/// The path of `JUnit Jupiter:JupTest:adds()`; a colon before a blank belongs to a name.
fn split_listed(name: &str) -> Vec<String> {
    let mut path = Vec::new();
    let mut rest = name;
    let mut from = 0;
    while let Some(at) = rest[from..].find(':').map(|at| at + from) {
        if rest[at + 1..].starts_with(' ') || rest[at + 1..].is_empty() {
            from = at + 1;
            continue;
        }
        path.push(rest[..at].to_owned());
        rest = &rest[at + 1..];
        from = 0;
    }
    path.push(rest.to_owned());
    path
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        if !self.began && self.finished == 0 && self.tree.is_none() {
            self.compiler.line(&line, self.line);
        }
        self.text(&String::from_utf8_lossy(&line));
    }

    fn finish(mut self) -> ParsedLog {
        let unfinished = self.tree.is_some() || self.verbose.is_some() || self.flat.is_some();
        let open = self.end_run();
        for name in open {
            self.log.still_running(name);
        }
        let silent = !unfinished && !self.began && self.finished == 0 && self.log.recorded() == 0;
        let unbuilt = silent && std::mem::take(&mut self.compiler).report(&mut self.log);
        let outcome = if unbuilt {
            RunOutcome::BuildFailed
        } else if self.log.recorded() == 0 && self.finished > 0 {
            RunOutcome::NothingRan
        } else if unfinished || self.finished == 0 && (self.began || self.log.recorded() > 0) {
            RunOutcome::Truncated
        } else if self.finished == 0 {
            RunOutcome::NothingRan
        } else {
            RunOutcome::Completed
        };
        if self.counts.any {
            self.log.set_consistent(!self.disagrees);
        }
        self.log.finish(outcome)
    }
}
