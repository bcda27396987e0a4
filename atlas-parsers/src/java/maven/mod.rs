//! Maven: Surefire and Failsafe, 2.x and 3.x.
//!
//! Every class is announced by `Running C` and ended by its totals, below which its failing tests
//! are listed, or with `reportFormat=plain` all of them. A test may print any of these lines, so
//! totals count only for a class that was announced, the last ones before the list win, tests are
//! named only in that list, and where a class began inside another one the module's totals tell
//! whether it did. The lines bear a level (`[INFO]`) since Surefire 2.20; where the runner's own do,
//! those without one are not its.
//!
//! An id is `Class.method`. A class without failures whose tests are not named is one id itself.
//! Where a shell traces one `mvn … -Dtest=C#m` after another, each is one test, and Maven's verdict
//! its result.

mod build;
mod line;
mod run;
mod single;
#[cfg(test)]
mod tests;
mod tree;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{Evidence, LineState, ParsedLog, ParsedLogBuilder, RunOutcome, Totals};
use build::Build;
use line::{Counts, Logged, TotalsLine};
use memchr::memmem;
use run::Run;
use single::Single;
use std::collections::HashSet;
use tree::Tree;

/// `mvn test`, `mvn verify`.
pub(crate) static MAVEN: Shipped = Shipped::new(
    "maven",
    &About {
        languages: &["java", "kotlin", "scala", "groovy"],
        aliases: &[
            "surefire",
            "failsafe",
            "maven_surefire3",
            "maven_v2",
            "java_mvn",
            "java_mvn_v2",
            "mvn",
        ],
        commands: &[&["mvn"], &["mvnw"], &["mvnd"]],
        ..About::new(
            "Surefire and Failsafe 2.x and 3.x, brief and plain, with and without levels; reruns; \
             the JUnit 5 tree reporter; one traced `mvn -Dtest=…` a test",
            "passing tests of the brief format: the class stands for them; the nested class of a \
             passing test in Surefire 2; the names of skipped tests in Surefire 3; which module a \
             class belongs to when modules are built in parallel",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look(["[TR0-9", "*"], "T[", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    if !matches!(line.first()?, b'[' | b' ' | b'T' | b'R' | b'0'..=b'9') {
        return None;
    }
    let logged = line::logged(line);
    let text = logged.text;
    if text == b" T E S T S" && line::logged(before).text.starts_with(b"-----") {
        return Place::Start.certain("Surefire's ` T E S T S`");
    }
    if !logged.level {
        return None;
    }
    if text.starts_with(b"Tests run: ") && line::totals(text).is_some_and(|t| t.class.is_some()) {
        // No proof: Maven has ` T E S T S` before it, unless the log is a part of one.
        return Place::Within.hint("Surefire's totals of a class");
    }
    if text == b"Scanning for projects..." {
        return Place::Start.hint("Maven's first line");
    }
    if matches!(text, b"BUILD SUCCESS" | b"BUILD FAILURE") {
        return Place::End.hint("Maven's verdict");
    }
    None
}

/// Whether the runner's lines bear a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Style {
    #[default]
    Unknown,
    Levels,
    Bare,
}

/// How much of Surefire's frame was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Frame {
    /// Nothing: a quiet run has none.
    #[default]
    Unseen,
    /// ` T E S T S`.
    Banner,
    /// `Running C` too: every class is announced.
    Classes,
}

/// Where in a module's run a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Part {
    /// No tests are being run.
    #[default]
    Outside,
    Tests,
    /// From `Results:` to the module's totals; in the list of flaky tests, or in another one.
    Summary {
        flakes: bool,
    },
}

/// What the runs of all modules came to.
#[derive(Clone, Default)]
struct Account {
    /// Modules with results.
    tested: HashSet<String>,
    /// Classes that began and have no totals.
    open: Vec<String>,
    /// One of them is a class of the run, not a line that a test has printed.
    lost: bool,
    /// There were totals of a module.
    declared: bool,
    /// Some results and totals differ.
    disagrees: bool,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    style: Style,
    frame: Frame,
    part: Part,
    run: Run,
    /// The module's totals, until it is sure that no test has printed them.
    told: Option<(Counts, usize)>,
    tree: Tree,
    build: Build,
    /// The last line was a rule.
    rule: bool,
    /// The totals of all modules, where they are built in parallel.
    parallel: Option<Counts>,
    single: Option<Single>,
    /// Maven itself speaks: the run is not quiet.
    began: bool,
    /// Whether Maven says that it succeeded, once it does.
    verdict: Option<bool>,
    /// A module's totals were seen, if only as a test's output.
    ended: bool,
    account: Account,
}

impl State {
    fn module(&self) -> &str {
        if self.parallel.is_some() {
            ""
        } else {
            self.build.module()
        }
    }

    fn has_banner(&self) -> bool {
        self.frame != Frame::Unseen
    }

    fn fits(&self, logged: &Logged<'_>) -> bool {
        match self.style {
            Style::Unknown => true,
            Style::Levels => logged.level,
            Style::Bare => !logged.level,
        }
    }

    /// A line of Surefire that shows whether its lines bear a level.
    fn settle(&mut self, logged: &Logged<'_>) {
        if self.style == Style::Unknown {
            self.style = if logged.level {
                Style::Levels
            } else {
                Style::Bare
            };
        }
    }

    fn class_totals(&mut self, found: &TotalsLine<'_>, logged: &Logged<'_>) -> bool {
        if !self.fits(logged) {
            return false;
        }
        if !self.has_banner() {
            // A quiet run says nothing between one module's totals and the classes of the next.
            self.settle_told();
        }
        let is_summed_up = matches!(self.part, Part::Summary { .. }) || self.told.is_some();
        if is_summed_up && self.parallel.is_none() {
            // A class goes on: one of its tests had printed the end of the module's run.
            let told = self.told.is_some();
            let goes_on = |class| self.run.is_open(class) || told && self.run.knows(class);
            if !found.class.map_or(told || self.run.has_open(), goes_on) {
                return false;
            }
            self.told = None;
            self.part = Part::Tests;
        }
        // Without an announcement only a line with a level and a class is believed.
        let announced = self.frame == Frame::Classes;
        if !(announced || logged.level && found.class.is_some()) {
            return false;
        }
        let quiet = !self.has_banner() && !logged.error;
        self.run.end(found.class, found.counts, announced, quiet)
    }

    /// The module's totals end its run.
    fn module_totals(&mut self, found: &TotalsLine<'_>) {
        if self.part == Part::Outside {
            self.settle_told();
        }
        let counts = found.counts;
        self.part = Part::Outside;
        self.ended = true;
        if self.single.is_some() || self.parallel.is_some() {
            self.declare(counts, self.line);
        } else {
            self.told = Some((counts, self.line));
        }
    }

    /// Nothing can come any more that belongs in front of the module's totals.
    fn settle_told(&mut self) {
        if let Some((counts, line)) = self.told.take() {
            self.declare(counts, line);
        }
    }

    fn declare(&mut self, counts: Counts, line: usize) {
        if let Some(single) = &mut self.single {
            single.add(counts);
            self.run.clear();
            self.tree.clear();
            return;
        }
        self.log.add_totals(Totals {
            total: Some(counts.run),
            failed: Some(counts.failures),
            errors: Some(counts.errors),
            skipped: Some(counts.skipped),
            ..Totals::default()
        });
        self.account.declared = true;
        if let Some(all) = &mut self.parallel {
            all.add(counts);
        } else {
            self.close_run(Some((counts, line)));
        }
    }

    /// Ends the run, with the module's totals and their line if there are any.
    fn close_run(&mut self, declared: Option<(Counts, usize)>) {
        let nothing = declared.is_none() && self.run.is_empty() && self.tree.is_empty();
        if self.single.is_some() || nothing {
            self.run.clear();
            self.tree.clear();
            return;
        }
        let run = std::mem::take(&mut self.run);
        let tree = std::mem::take(&mut self.tree);
        let module = self.module().to_owned();
        let (log, mut qualified, mut any) = (&mut self.log, format!("{module}::"), false);
        let front = qualified.len();
        let mut record = |name: &str, stable: &str, status| {
            any = true;
            if module.is_empty() {
                log.record("", stable, name, status);
            } else {
                qualified.truncate(front);
                qualified.push_str(stable);
                log.record(&module, &qualified, name, status);
            }
        };
        let named = self.frame != Frame::Unseen && tree.is_empty();
        let (declared, line) = declared.unzip();
        let line = line.unwrap_or(self.line);
        let summary = run.finish(declared, named, self.parallel.is_some(), &mut record);
        let account = &mut self.account;
        account.disagrees |= !summary.agrees && tree.is_empty();
        for (name, status) in tree.finish() {
            record(&name, &name, status);
        }
        if any && !module.is_empty() {
            account.tested.insert(module);
        }
        for class in summary.dropped {
            self.log.warn(
                Some(line as u64),
                format!("`{class}` ran inside another class and is in no totals; it is left out"),
            );
        }
        for name in summary.flaky {
            self.log.warn(
                None,
                format!("`{name}` failed and passed when it was run again"),
            );
        }
        account.open.extend(summary.open);
        account.lost |= summary.lost;
    }

    fn begin_single(&mut self, test: &str) {
        self.settle_told();
        self.end_single();
        self.close_run(None);
        self.single = Some(Single::new(test));
        self.verdict = None;
        self.part = Part::Outside;
        self.build = Build::default();
        self.style = Style::Unknown;
        if self.frame == Frame::Classes {
            self.frame = Frame::Banner;
        }
    }

    fn end_single(&mut self) {
        if let Some(single) = self.single.take() {
            self.build.finish(&mut self.log, |_| false);
            single.finish(self.verdict, &mut self.log);
        }
    }

    /// Lines of Maven itself, perhaps below a rule.
    fn maven_line(&mut self, logged: &Logged<'_>, below_rule: bool) {
        let text = logged.text;
        match text.first() {
            Some(b'-') => {
                if !text.starts_with(b"--- ")
                    && let Some(artifact) = line::header(text)
                {
                    self.settle_told();
                    if self.part != Part::Outside && self.parallel.is_none() && !self.run.has_open()
                    {
                        self.close_run(None);
                        self.part = Part::Outside;
                    }
                    self.build.enter(artifact);
                } else if let Some((_, artifact)) = line::goal(text)
                    && self.part == Part::Outside
                {
                    self.settle_told();
                    self.began = true;
                    self.build.enter(artifact);
                }
            }
            Some(b'B') if below_rule => match text {
                b"BUILD SUCCESS" => self.verdict = Some(true),
                b"BUILD FAILURE" | b"BUILD ERROR" => self.verdict = Some(false),
                _ => {}
            },
            Some(b'S') if text == b"Scanning for projects..." => self.began = true,
            Some(b'U') if text.starts_with(b"Using the MultiThreadedBuilder") => {
                self.parallel.get_or_insert_default();
            }
            _ => {}
        }
    }

    /// Lines of Surefire. Returns whether it was a class's totals.
    fn tests_line(&mut self, logged: &Logged<'_>, below_rule: bool) -> bool {
        let text = logged.text;
        match text.first() {
            Some(b'R') if self.fits(logged) => {
                if let Some(name) = text.strip_prefix(b"Running ") {
                    if let Ok(name) = std::str::from_utf8(name)
                        && !name.trim().is_empty()
                        && (logged.level || line::is_class(name))
                        && (self.has_banner() || logged.level)
                    {
                        self.settle(logged);
                        if self.has_banner() {
                            self.frame = Frame::Classes;
                            // Another run of the module has its banner in front of its classes.
                            self.told = None;
                        }
                        self.settle_told();
                        self.part = Part::Tests;
                        self.run.begin(name.trim_end());
                    }
                } else if matches!(text, b"Results:" | b"Results :") && self.part == Part::Tests {
                    self.part = Part::Summary { flakes: false };
                    self.run.close_list();
                }
            }
            Some(b' ') if text == b" T E S T S" && below_rule => {
                self.settle_told();
                if self.part == Part::Tests && !self.run.has_open() && self.parallel.is_none() {
                    self.close_run(None);
                }
                self.settle(logged);
                if !self.has_banner() {
                    self.frame = Frame::Banner;
                }
                self.part = Part::Tests;
            }
            Some(b'T') => {
                if let Some(found) = line::totals(text) {
                    if found.timed {
                        return self.class_totals(&found, logged);
                    }
                    if self.fits(logged)
                        && (matches!(self.part, Part::Summary { .. })
                            || self.part == Part::Tests
                                && self.tree.is_empty()
                                && !self.run.has_open()
                            || self.parallel.is_some()
                            || !self.has_banner() && logged.level)
                    {
                        self.module_totals(&found);
                    }
                }
            }
            _ => {}
        }
        false
    }

    fn summary_line(&mut self, logged: &Logged<'_>, flakes: bool) {
        let text = logged.text;
        if !self.fits(logged) && self.style == Style::Levels {
            return;
        }
        if !text.starts_with(b" ") {
            if text.starts_with(b"Flakes:") || text.starts_with(b"Flaked tests:") {
                self.part = Part::Summary { flakes: true };
                return;
            }
            if matches!(
                text.trim_ascii_end(),
                b"Failures:" | b"Errors:" | b"Failed tests:" | b"Tests in error:"
            ) {
                self.part = Part::Summary { flakes: false };
                return;
            }
        }
        self.run.summary(text, flakes);
    }

    fn outcome(&self) -> RunOutcome {
        let recorded = self.log.recorded();
        if self.build.timed_out() {
            return RunOutcome::TimedOut;
        }
        if self.build.crashed() {
            return RunOutcome::Crashed;
        }
        let finished = self.verdict.is_some() || self.build.refused();
        if recorded == 0 {
            if self.build.lost() || self.build.unreadable() {
                return RunOutcome::BuildFailed;
            }
            if finished || !(self.began || self.has_banner()) {
                return RunOutcome::NothingRan;
            }
            return RunOutcome::Truncated;
        }
        // The process died in a class that has not ended, whatever was printed last.
        let lost = self.account.lost && self.verdict != Some(false);
        if !lost && (finished || !self.began && self.ended) {
            RunOutcome::Completed
        } else {
            RunOutcome::Truncated
        }
    }
}

impl LineState for State {
    fn endings(&self) -> &'static [&'static str] {
        &[
            "  <<< FAILURE!",
            " <<< FAILURE!",
            "<<< FAILURE!",
            "ec  <<< FAILURE!",
        ]
    }

    fn line(&mut self, line: &[u8]) {
        self.clean_line(&clean(line));
    }

    fn clean_line(&mut self, line: &[u8]) {
        self.line += 1;
        let below_rule = std::mem::take(&mut self.rule);
        if let [b'+', ..] = line {
            if let Some(test) = line::traced(line)
                && (self.verdict.is_some() || !self.began)
                && !self.run.has_open()
            {
                self.begin_single(test);
            }
            return;
        }
        let mut logged = line::logged(line);
        if !logged.level && memmem::find(line, b"] ").is_some() {
            // Output without a newline in front of one of Surefire's lines.
            if let Some(at) =
                memmem::rfind(line, b"] Tests run: ").or_else(|| memmem::rfind(line, b"] Running "))
                && let Some(open) = memchr::memrchr(b'[', &line[..at])
            {
                let tail = line::logged(&line[open..]);
                if tail.level {
                    logged = tail;
                }
            }
        } else if !logged.level
            && self.style == Style::Bare
            && let Some(at) = memmem::rfind(line, b"Tests run: ")
            && line::totals(&line[at..]).is_some_and(|found| found.timed)
        {
            logged = line::logged(&line[at..]);
        }
        self.rule = logged.text.first() == Some(&b'-')
            && logged
                .text
                .starts_with(b"------------------------------------------------------");
        if self.rule {
            return;
        }
        if logged.level || self.style != Style::Levels {
            self.maven_line(&logged, below_rule);
            if self.tests_line(&logged, below_rule) {
                return;
            }
        }
        match self.part {
            Part::Summary { flakes } => self.summary_line(&logged, flakes),
            // The reporter of trees announces no class.
            _ if logged.level && self.frame == Frame::Banner && self.tree.line(logged.text) => {
                self.part = Part::Tests;
            }
            _ => {}
        }
        let may_name = self.fits(&logged);
        self.run.listed(logged.text, may_name);
        if logged.error || logged.text.starts_with(b"Failed to execute goal") {
            self.build.error(logged.text, || {
                Evidence::at("log", self.line, String::from_utf8_lossy(line).into_owned())
            });
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.settle_told();
        let declared = self.parallel.filter(|_| self.account.declared);
        self.close_run(declared.map(|counts| (counts, self.line)));
        self.end_single();
        let outcome = self.outcome();
        let account = self.account;
        self.build
            .finish(&mut self.log, |module| account.tested.contains(module));
        if outcome != RunOutcome::Completed {
            for class in account.open {
                self.log.still_running(class);
            }
        }
        if account.declared {
            self.log.set_consistent(!account.disagrees);
        }
        self.log.finish(outcome)
    }
}
