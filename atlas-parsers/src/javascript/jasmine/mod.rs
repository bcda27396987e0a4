//! Jasmine: the default reporter's dots and jasmine-spec-reporter's tree.
//!
//! The default reporter names failing and pending specs in numbered lists, whose messages are
//! indented line by line, so that nothing a test prints can stand there. The last list and the
//! last counts of a run are the runner's. The tree names passing specs, too; its lists decide
//! which failed. An id is Jasmine's full name: suites and spec joined by one blank.
//!
//! An error in a suite's own hooks is no spec; it is counted as a failure and warned of.

mod list;
mod tree;

use crate::javascript::load::Load;
use crate::nested::Nested;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use list::{Follows, List};
use std::collections::BTreeMap;
use tree::Tree;

/// Jasmine.
pub(crate) static JASMINE: Shipped = Shipped::new(
    "jasmine",
    &About {
        languages: &["javascript", "typescript"],
        aliases: &["jasmine_spec_reporter", "marked"],
        commands: &[&["jasmine"]],
        ..About::new(
            "the default reporter of Jasmine 2 to 5 and jasmine-spec-reporter",
            "passing specs of the default reporter; pending specs where alwaysListPendingSpecs \
             is off; where suites end and a spec's own title begins",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["FJES", "*"], "", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'F' if line.starts_with(b"Finished in ") && Counts::read(before).is_some() => {
            Place::End.certain("`N specs, N failures` and `Finished in`")
        }
        b'J' if line == b"Jasmine started" => Place::Start.certain("`Jasmine started`"),
        b'E' if Counts::executed(line).is_some() => {
            Place::End.certain("an `Executed N of N specs` line")
        }
        b'S' if line == b"Started" => Place::Start.hint("`Started`"),
        _ => None,
    }
}

/// The counts that end a run.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    specs: u64,
    failures: u64,
    pending: u64,
    errors: u64,
}

impl Counts {
    /// `27 specs, 6 failures, 2 pending specs`
    fn read(line: &[u8]) -> Option<Self> {
        if !line.first()?.is_ascii_digit() {
            return None;
        }
        let text = std::str::from_utf8(line).ok()?;
        let mut counts = Self::default();
        for (at, part) in text.split(", ").enumerate() {
            let (number, what) = part.split_once(' ')?;
            let number = number.parse().ok()?;
            match (at, what) {
                (0, "spec" | "specs") => counts.specs = number,
                (1, "failure" | "failures") => counts.failures = number,
                (2, "pending spec" | "pending specs") => counts.pending = number,
                _ => return None,
            }
        }
        text.contains(", ").then_some(counts)
    }

    /// `Executed 16 of 20 specs (1 ERROR) (6 FAILED) (4 PENDING) in 0.18 sec.`
    fn executed(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"Executed ")?;
        let text = std::str::from_utf8(rest).ok()?;
        let (ran, rest) = text.split_once(" of ")?;
        let (_, rest) = rest.split_once(" spec")?;
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let rest = rest.strip_suffix('.')?;
        let mut counts = Self {
            specs: ran.parse().ok()?,
            ..Self::default()
        };
        for part in rest.split(" (").skip(1) {
            let (part, _) = part.split_once(')')?;
            let (number, what) = part.split_once(' ')?;
            let number = number.parse().ok()?;
            match what {
                "FAILED" => counts.failures = number,
                "PENDING" => counts.pending = number,
                "ERROR" | "ERRORS" => counts.errors = number,
                "SKIPPED" => {}
                _ => return None,
            }
        }
        Some(counts)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    None,
    Failures,
    Errors,
    Pending,
    Successes,
}

/// One run.
#[derive(Clone, Default)]
struct Run {
    started: bool,
    /// jasmine-spec-reporter's.
    told: bool,
    section: Section,
    failures: List,
    errors: List,
    pending: List,
    successes: List,
    suite_errors: Vec<(usize, String)>,
    /// Messages below `Suite error: top suite`, each of which counts.
    top_messages: u64,
    tree: Tree,
    counts: Option<Counts>,
    nothing: bool,
}

#[derive(Clone)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    run: Run,
    nested: Nested<Run>,
    totals: Totals,
    /// Whether the counts of all runs so far were borne out; absent before the first.
    agrees: Option<bool>,
    runs: u64,
    truncated: bool,
    load: Load,
}

impl Default for State {
    fn default() -> Self {
        const LOADERS: &[&str] = &[
            "jasmine/lib/jasmine.js",
            "jasmine/lib/loader.js",
            "jasmine/bin/",
        ];
        Self {
            log: ParsedLogBuilder::default(),
            line: 0,
            run: Run::default(),
            nested: Nested::default(),
            totals: Totals::default(),
            agrees: None,
            runs: 0,
            truncated: false,
            load: Load::new("jasmine", LOADERS),
        }
    }
}

/// `Started` behind the progress of the run, which may stand behind the last line of another run
/// that a spec printed; any other line as it is.
fn behind_progress(line: &[u8]) -> &[u8] {
    const STARTED: &[u8] = b"Started";
    let front = line.strip_suffix(STARTED).unwrap_or(b"");
    let front = front.trim_ascii_end();
    let dots = front.iter().rev().take_while(|byte| b".F*".contains(byte));
    let before = front.len() - dots.count();
    if !front.is_empty() && (before == 0 || front.starts_with(b"Finished in ")) {
        return STARTED;
    }
    line
}

/// `*                    Failures                    *`
fn banner(line: &[u8]) -> Option<Section> {
    let inside = line.strip_prefix(b"*  ")?.strip_suffix(b"  *")?;
    match inside.trim_ascii() {
        b"Failures" => Some(Section::Failures),
        b"Errors" => Some(Section::Errors),
        b"Pending" => Some(Section::Pending),
        b"Successes" => Some(Section::Successes),
        _ => None,
    }
}

impl Run {
    /// Takes a line; returns whether the run's end was in it.
    fn line(&mut self, line: &[u8], raw: &[u8], number: usize) {
        match line.first() {
            Some(b'F') if line == b"Failures:" && !self.told => {
                self.section = Section::Failures;
                self.failures = List::default();
                self.suite_errors.clear();
                self.top_messages = 0;
                return;
            }
            Some(b'P') if line == b"Pending:" && !self.told => {
                self.section = Section::Pending;
                self.pending = List::default();
                return;
            }
            Some(b'S') if !self.told => {
                if let Some(name) = line.strip_prefix(b"Suite error: ") {
                    let name = String::from_utf8_lossy(name).into_owned();
                    self.suite_errors.push((number, name));
                }
            }
            Some(b'A') if line == b"An error was thrown in an afterAll" => {
                self.suite_errors.push((number, "afterAll".to_owned()));
            }
            Some(b'*') if self.told => {
                if let Some(section) = banner(line) {
                    self.section = section;
                    *self.list(section) = List::default();
                }
                return;
            }
            Some(b'N') if line == b"No specs found" => self.nothing = true,
            Some(b'E') if self.told => {
                if let Some(counts) = Counts::executed(line) {
                    self.counts = Some(counts);
                    self.section = Section::None;
                    return;
                }
            }
            Some(b'0'..=b'9') if !self.told => {
                if let Some(counts) = Counts::read(line) {
                    self.counts = Some(counts);
                    self.section = Section::None;
                    return;
                }
            }
            _ => {}
        }
        let top = self
            .suite_errors
            .last()
            .is_some_and(|(_, name)| name == "top suite");
        self.top_messages += u64::from(top && line == b"  Message:");
        match (self.section, self.told) {
            (Section::None, true) => self.tree.line(line, raw),
            (Section::None, false) => {}
            (Section::Failures, false) => self.failures.line(line, Follows::Message),
            (Section::Successes, _) => self.successes.line(line, Follows::Anything),
            (section, _) => self.list(section).line(line, Follows::Indented),
        }
    }

    fn list(&mut self, section: Section) -> &mut List {
        match section {
            Section::Errors => &mut self.errors,
            Section::Pending => &mut self.pending,
            Section::Successes => &mut self.successes,
            Section::None | Section::Failures => &mut self.failures,
        }
    }

    /// The specs of the run, with their statuses.
    fn specs(&mut self) -> Vec<(String, TestStatus)> {
        let mut specs = Vec::new();
        // An error in a suite's hook stands among the failures, too.
        let mut failures = std::mem::take(&mut self.failures.names);
        let mut errors: BTreeMap<&str, u64> = BTreeMap::new();
        for error in &self.errors.names {
            *errors.entry(error).or_default() += 1;
        }
        failures.retain(|name| match errors.get_mut(name.as_str()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        });
        let listed = self.counts.is_some();
        let pending = std::mem::take(&mut self.pending.names);
        for spec in self.tree.specs() {
            let path = &spec.path[..];
            let path = match path {
                // What stands outside of all suites is put into one of this name.
                [top, rest @ ..] if top == "Top level suite" && !rest.is_empty() => rest,
                path => path,
            };
            let status = match spec.mark {
                tree::Mark::Passed => TestStatus::Passed,
                tree::Mark::Failed if !listed => TestStatus::Failed,
                tree::Mark::Pending if !listed || pending.is_empty() => TestStatus::Skipped,
                _ => continue,
            };
            specs.push((path.join(" "), status));
        }
        if specs.is_empty() && self.told {
            let successes = std::mem::take(&mut self.successes.names);
            specs.extend(successes.into_iter().map(|name| (name, TestStatus::Passed)));
        }
        specs.extend(failures.into_iter().map(|name| (name, TestStatus::Failed)));
        specs.extend(pending.into_iter().map(|name| (name, TestStatus::Skipped)));
        specs
    }
}

impl State {
    /// Ends the run, and those in which it began or which began in it, where it has no end.
    fn end_run(&mut self) {
        if self.run.counts.is_some() && !self.nested.is_inside() {
            self.nested.end(&mut self.run);
        }
        for run in self.nested.finish(&mut self.run) {
            self.end_one(run);
        }
    }

    fn end_one(&mut self, mut run: Run) {
        let specs = run.specs();
        let mut seen: BTreeMap<TestStatus, u64> = BTreeMap::new();
        for (name, status) in &specs {
            *seen.entry(*status).or_default() += 1;
            self.log.record("", name, name, *status);
        }
        let seen = |status| seen.get(&status).copied().unwrap_or(0);
        for (line, name) in &run.suite_errors {
            let text = format!("an error outside of the specs, in `{name}`");
            self.log.warn(Some(*line as u64), text);
        }
        for name in &run.errors.names {
            let text = format!("an error outside of the specs, in `{name}`");
            self.log.warn(None, text);
        }
        let Some(counts) = run.counts else {
            self.truncated |= run.started && !run.nothing;
            return;
        };
        self.runs += 1;
        let failed = seen(TestStatus::Failed);
        let pending = seen(TestStatus::Skipped) == counts.pending;
        let mut totals = Totals {
            failed: Some(counts.failures),
            skipped: Some(counts.pending),
            ..Totals::default()
        };
        let agrees = if run.told {
            let passed = counts.specs.saturating_sub(counts.failures);
            totals.passed = Some(passed);
            pending && failed == counts.failures && seen(TestStatus::Passed) == passed
        } else {
            totals.total = Some(counts.specs);
            let suites = run
                .suite_errors
                .iter()
                .filter(|(_, name)| name != "top suite");
            let others = suites.count() as u64 + run.top_messages;
            // Where pending specs are not listed beside failures, there is nothing to compare.
            let pending = pending || seen(TestStatus::Skipped) == 0;
            pending && failed <= counts.failures && counts.failures <= failed + others
        };
        self.totals.add(totals);
        self.agrees = Some(self.agrees.unwrap_or(true) && agrees);
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.line += 1;
        let line = clean(raw);
        let open = self.run.started && self.run.counts.is_none();
        let head = if open { behind_progress(&line) } else { &line };
        let told = match head.first() {
            Some(b'S') if *head == *b"Started" => Some(false),
            Some(b'S') if *line == *b"Spec started" => Some(true),
            Some(b'J') if *line == *b"Jasmine started" => Some(true),
            _ => None,
        };
        if let Some(told) = told
            && (!open || !told && !self.run.told)
        {
            if open {
                self.nested.begin(&mut self.run);
            } else {
                self.end_run();
            }
            self.run.started = true;
            self.run.told = told;
            self.load.forget();
            return;
        }
        if self.run.started {
            self.run.line(&line, raw, self.line);
            if self.run.counts.is_some() && self.nested.is_inside() {
                self.nested.end(&mut self.run);
            }
        } else {
            self.load.line(&line, self.line);
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.end_run();
        let lost = self.load.finish();
        let unloaded = !lost.is_empty();
        for (module, proof) in lost {
            self.log.lose(&module, LostReason::LoadFailed, proof);
        }
        let specs = self
            .totals
            .total
            .unwrap_or(0)
            .saturating_add(self.totals.passed.unwrap_or(0));
        let some = specs > 0 || self.log.recorded() > 0;
        if let Some(agrees) = self.agrees
            && !self.truncated
        {
            self.log.add_totals(self.totals);
            self.log.set_consistent(agrees);
        }
        let outcome = if self.truncated {
            RunOutcome::Truncated
        } else if some {
            RunOutcome::Completed
        } else if unloaded {
            RunOutcome::BuildFailed
        } else {
            RunOutcome::NothingRan
        };
        self.log.finish(outcome)
    }
}
