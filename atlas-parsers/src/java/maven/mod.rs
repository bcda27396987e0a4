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

/// Where in a module's run a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Part {
    /// No tests are being run.
    #[default]
    Outside,
    Tests,
    /// From `Results:` to the module's totals.
    Summary,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    style: Style,
    /// The shape of the next line's style was seen: `Running` announces classes.
    announced: bool,
    banner: bool,
    part: Part,
    run: Run,
    /// The module's totals, until it is sure that no test has printed them.
    told: Option<(Counts, usize)>,
    tree: Tree,
    build: Build,
    /// Below `Flakes:` in the summary.
    flakes: bool,
    dashes: bool,
    parallel: bool,
    single: Option<Single>,
    began: bool,
    verdict: Option<bool>,
    ended: bool,
    open_left: Vec<String>,
    /// One of them is a class of the run, not a line that a test has printed.
    lost: bool,
    disagrees: bool,
    compared: bool,
    /// Modules with results.
    tested: HashSet<String>,
    /// The totals of all modules, where they are built in parallel.
    declared: Counts,
}

impl State {
    fn module(&self) -> &str {
        if self.parallel {
            ""
        } else {
            self.build.module()
        }
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
        if !self.banner {
            // A quiet run says nothing between one module's totals and the classes of the next.
            self.settle_told();
        }
        if (self.part == Part::Summary || self.told.is_some()) && !self.parallel {
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
        if !(self.announced || logged.level && found.class.is_some()) {
            return false;
        }
        let quiet = !self.banner && !logged.error;
        self.run
            .end(found.class, found.counts, self.announced, quiet)
    }

    /// The module's totals end its run.
    fn module_totals(&mut self, found: &TotalsLine<'_>) {
        if self.part == Part::Outside {
            self.settle_told();
        }
        let counts = found.counts;
        self.part = Part::Outside;
        self.ended = true;
        if self.single.is_some() || self.parallel {
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
        self.compared = true;
        if self.parallel {
            self.declared.add(counts);
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
        let named = self.banner && tree.is_empty();
        let (declared, line) = declared.unzip();
        let line = line.unwrap_or(self.line);
        let summary = run.finish(declared, named, self.parallel, &mut record);
        self.disagrees |= !summary.agrees && tree.is_empty();
        for (name, status) in tree.finish() {
            record(&name, &name, status);
        }
        if any && !module.is_empty() {
            self.tested.insert(module);
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
        self.open_left.extend(summary.open);
        self.lost |= summary.lost;
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
        self.announced = false;
    }

    fn end_single(&mut self) {
        if let Some(single) = self.single.take() {
            self.build.finish(&mut self.log, |_| false);
            single.finish(&mut self.log);
        }
    }

    /// Lines of Maven itself.
    fn maven_line(&mut self, logged: &Logged<'_>) {
        let text = logged.text;
        match text.first() {
            Some(b'-') => {
                if !text.starts_with(b"--- ")
                    && let Some(artifact) = line::header(text)
                {
                    self.settle_told();
                    if self.part != Part::Outside && !self.parallel && !self.run.has_open() {
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
            Some(b'B') if self.dashes => match text {
                b"BUILD SUCCESS" => self.verdict(true),
                b"BUILD FAILURE" | b"BUILD ERROR" => self.verdict(false),
                _ => {}
            },
            Some(b'S') if text == b"Scanning for projects..." => self.began = true,
            Some(b'U') if text.starts_with(b"Using the MultiThreadedBuilder") => {
                self.parallel = true;
            }
            _ => {}
        }
    }

    fn verdict(&mut self, success: bool) {
        self.verdict = Some(success);
        if let Some(single) = &mut self.single {
            single.verdict = Some(success);
        }
    }

    /// Lines of Surefire. Returns whether it was a class's totals.
    fn tests_line(&mut self, logged: &Logged<'_>) -> bool {
        let text = logged.text;
        match text.first() {
            Some(b'R') if self.fits(logged) => {
                if let Some(name) = text.strip_prefix(b"Running ") {
                    if let Ok(name) = std::str::from_utf8(name)
                        && !name.trim().is_empty()
                        && (logged.level || line::is_class(name))
                        && (self.banner || logged.level)
                    {
                        self.settle(logged);
                        self.announced = self.banner;
                        if self.banner {
                            // Another run of the module has its banner in front of its classes.
                            self.told = None;
                        }
                        self.settle_told();
                        self.part = Part::Tests;
                        self.run.begin(name.trim_end());
                    }
                } else if matches!(text, b"Results:" | b"Results :") && self.part == Part::Tests {
                    self.part = Part::Summary;
                    self.flakes = false;
                    self.run.close_list();
                }
            }
            Some(b' ') if text == b" T E S T S" && self.dashes => {
                self.settle_told();
                if self.part == Part::Tests && !self.run.has_open() && !self.parallel {
                    self.close_run(None);
                }
                self.settle(logged);
                self.banner = true;
                self.part = Part::Tests;
            }
            Some(b'T') => {
                if let Some(found) = line::totals(text) {
                    if found.timed {
                        return self.class_totals(&found, logged);
                    }
                    if self.fits(logged)
                        && (self.part == Part::Summary
                            || self.part == Part::Tests
                                && self.tree.is_empty()
                                && !self.run.has_open()
                            || self.parallel
                            || !self.banner && logged.level)
                    {
                        self.module_totals(&found);
                    }
                }
            }
            _ => {}
        }
        false
    }

    fn summary_line(&mut self, logged: &Logged<'_>) {
        let text = logged.text;
        if !self.fits(logged) && self.style == Style::Levels {
            return;
        }
        if !text.starts_with(b" ") {
            if text.starts_with(b"Flakes:") || text.starts_with(b"Flaked tests:") {
                self.flakes = true;
                return;
            }
            if matches!(
                text.trim_ascii_end(),
                b"Failures:" | b"Errors:" | b"Failed tests:" | b"Tests in error:"
            ) {
                self.flakes = false;
                return;
            }
        }
        self.run.summary(text, self.flakes);
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
            if finished || !(self.began || self.banner || self.announced) {
                return RunOutcome::NothingRan;
            }
            return RunOutcome::Truncated;
        }
        // The process died in a class that has not ended, whatever was printed last.
        let lost = self.lost && self.verdict != Some(false);
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
        let dashes = std::mem::take(&mut self.dashes);
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
        self.dashes = logged.text.first() == Some(&b'-')
            && logged
                .text
                .starts_with(b"------------------------------------------------------");
        if self.dashes {
            return;
        }
        self.dashes = dashes;
        if logged.level || self.style != Style::Levels {
            self.maven_line(&logged);
            if self.tests_line(&logged) {
                self.dashes = false;
                return;
            }
        }
        self.dashes = false;
        match self.part {
            Part::Summary => self.summary_line(&logged),
            _ if logged.level && self.banner => {
                let found = self.tree.line(logged.text, self.announced);
                if found {
                    self.part = Part::Tests;
                }
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
        let declared = (self.parallel && self.compared).then_some((self.declared, self.line));
        self.close_run(declared);
        self.end_single();
        let outcome = self.outcome();
        let tested = std::mem::take(&mut self.tested);
        self.build
            .finish(&mut self.log, |module| tested.contains(module));
        if outcome != RunOutcome::Completed {
            for class in std::mem::take(&mut self.open_left) {
                self.log.still_running(class);
            }
        }
        if self.compared {
            let agrees = !self.disagrees;
            self.log.set_consistent(agrees);
        }
        self.log.finish(outcome)
    }
}
