//! Gradle's test tasks, 2 to 9: the events that `testLogging` prints, and the themes of the
//! gradle-test-logger plugin.
//!
//! An event is `path EVENT` at the line start behind a blank line; whatever a test prints is
//! captured and indented below its own event, so that a test cannot print one. Which results are
//! named is the build's choice: by default only failures.
//!
//! The id is the path as printed, without the run and the worker. The qualified id has the task in
//! front, where tasks are printed.

mod line;
mod logger;
#[cfg(test)]
mod tests;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use line::Event;
use logger::{Declared, Logger};
use memchr::memmem;
use std::collections::{BTreeMap, HashSet};

/// `gradle test`, `gradlew check`.
pub(crate) static GRADLE: Shipped = Shipped::new(
    "gradle",
    &About {
        languages: &["java", "kotlin", "groovy", "scala"],
        aliases: &["gradle_custom", "gradlew", "gradlew_v1"],
        commands: &[&["gradle"], &["gradlew"], &["gradlew.bat"]],
        ..About::new(
            "events of `testLogging` at any level, plain and rich console; the themes of the \
             gradle-test-logger plugin",
            "results whose events the build does not log: by default only failures are named",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[Look([">B:E0-9", "*"], "", "*", "")]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'>' if line.starts_with(b"> Task :") => Place::Within.certain("a `> Task :` line"),
        b'B' if line.starts_with(b"BUILD SUCCESSFUL in ")
            || line.starts_with(b"BUILD FAILED in ") =>
        {
            Place::End.certain("Gradle's `BUILD … in`")
        }
        b':' if std::str::from_utf8(line).is_ok_and(|line| line::task(line).is_some())
            && std::str::from_utf8(before).is_ok_and(|line| line::task(line).is_some()) =>
        {
            Place::Within.certain("a list of tasks")
        }
        b'E' if line.starts_with(b"Execution failed for task ':") => {
            Place::End.certain("a failed task")
        }
        b'0'..=b'9' if std::str::from_utf8(line).is_ok_and(|l| line::totals(l).is_some()) => {
            Place::End.hint("Gradle's count of tests")
        }
        _ => None,
    }
}

/// What is below `* What went wrong:`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
enum Wrong {
    #[default]
    No,
    /// The next line says what failed.
    Expected,
    /// A task failed; the next lines say why.
    Task(String),
}

/// Counts of one task, to compare.
#[derive(Clone, Debug, Default)]
struct Counted {
    all: u64,
    passed: u64,
    failed: u64,
    skipped: u64,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    task: String,
    project: String,
    tested: HashSet<String>,
    /// Projects with compilers' complaints.
    complaints: BTreeMap<String, Vec<Evidence>>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    wrong: Wrong,
    logger: Logger,
    /// Tests that began and have not ended.
    started: BTreeMap<String, u32>,
    counted: Counted,
    began: bool,
    ended: bool,
    unconfigured: bool,
    timed_out: bool,
    agrees: Option<bool>,
}

impl State {
    const MAX_LINES: usize = 20;

    fn evidence(&self, text: &str) -> Evidence {
        Evidence::at("log", self.line, text.to_owned())
    }

    fn record(&mut self, id: &str, status: TestStatus) {
        self.counted.all += 1;
        match status {
            TestStatus::Passed => self.counted.passed += 1,
            TestStatus::Skipped => self.counted.skipped += 1,
            _ => self.counted.failed += 1,
        }
        if self.task.is_empty() {
            self.log.record("", id, id, status);
        } else {
            let qualified = format!("{}::{id}", self.task);
            self.log.record(&self.project, &qualified, id, status);
            if !self.tested.contains(&self.task) {
                self.tested.insert(self.task.clone());
            }
        }
    }

    fn event(&mut self, path: &str, event: Event) -> bool {
        let Some(id) = line::id(line::test_path(path)) else {
            return false;
        };
        match event {
            Event::Output => {}
            Event::Started => *self.started.entry(id).or_default() += 1,
            Event::Ended(status) => {
                if let Some(times) = self.started.get_mut(&id) {
                    *times = times.saturating_sub(1);
                    if *times == 0 {
                        self.started.remove(&id);
                    }
                }
                self.record(&id, status);
            }
        }
        true
    }

    fn task(&mut self, task: &str, outcome: &str, line: &str) {
        self.began = true;
        if self.task != task {
            task.clone_into(&mut self.task);
            line::project(task).clone_into(&mut self.project);
        }
        if outcome == "FAILED" && line::builds(task) {
            let evidence = self.evidence(line);
            self.lose(task, LostReason::BuildFailed, evidence);
        }
    }

    fn lose(&mut self, task: &str, reason: LostReason, evidence: Evidence) {
        const MAX_MODULES: usize = 2000;
        let project = line::project(task);
        let mut lines = self.complaints.remove(project).unwrap_or_default();
        lines.push(evidence);
        if self.lost.len() < MAX_MODULES {
            self.lost.push((project.to_owned(), reason, lines));
        }
    }

    fn totals(&mut self, declared: Declared) {
        self.log.add_totals(Totals {
            total: Some(declared.total),
            failed: Some(declared.failed),
            skipped: Some(declared.skipped),
            ..Totals::default()
        });
        let counted = std::mem::take(&mut self.counted);
        let agrees = if counted.passed > 0 || counted.all >= declared.total {
            counted.all == declared.total && counted.failed == declared.failed
        } else {
            counted.failed == declared.failed
        };
        if counted.all > 0 || declared.failed > 0 {
            self.agrees = Some(self.agrees.unwrap_or(true) && agrees);
        }
    }

    fn went_wrong(&mut self, text: &str) {
        match &self.wrong {
            Wrong::No => {}
            Wrong::Expected => {
                self.wrong = Wrong::No;
                if let Some(rest) = text.strip_prefix("Execution failed for task '")
                    && let Some((task, _)) = rest.split_once('\'')
                {
                    self.wrong = Wrong::Task(task.to_owned());
                } else if text.starts_with("A problem occurred ")
                    || text.starts_with("Could not compile ")
                    || text.starts_with("Could not determine ")
                {
                    self.unconfigured = true;
                }
            }
            Wrong::Task(task) => {
                let Some(why) = text.strip_prefix("> ") else {
                    if text.is_empty() || text.starts_with('*') {
                        self.wrong = Wrong::No;
                    }
                    return;
                };
                let task = task.clone();
                self.wrong = Wrong::No;
                let reason = if line::builds(&task) {
                    LostReason::BuildFailed
                } else if why.starts_with("Process 'Gradle Test Executor") {
                    LostReason::Crashed
                } else if why.starts_with("Timeout has been exceeded") {
                    LostReason::TimedOut
                } else if why.starts_with("Could not resolve ")
                    || why.starts_with("Could not initialize ")
                    || why.starts_with("Could not start Gradle Test Executor")
                {
                    LostReason::LoadFailed
                } else {
                    return;
                };
                self.timed_out |= reason == LostReason::TimedOut;
                let evidence = self.evidence(text);
                self.lose(&task, reason, evidence);
            }
        }
    }

    fn text(&mut self, text: &str) {
        let first = text.as_bytes().first().copied().unwrap_or_default();
        if self.wrong != Wrong::No {
            self.went_wrong(text);
        }
        match first {
            b'>' | b':' => {
                if let Some((task, outcome)) = line::task(text) {
                    self.task(task, outcome, text);
                    return;
                }
            }
            b'B' if text.starts_with("BUILD SUCCESSFUL") || text.starts_with("BUILD FAILED") => {
                let rest = &text[text.len().min("BUILD FAILED".len())..];
                if rest.trim_end().is_empty()
                    || memmem::find(rest.as_bytes(), b" in ").is_some()
                    || text.trim_end() == "BUILD SUCCESSFUL"
                {
                    self.ended = true;
                    return;
                }
            }
            b'*' if text.starts_with("* What went wrong:") => {
                self.wrong = Wrong::Expected;
                return;
            }
            b'0'..=b'9' => {
                if let Some((total, failed, skipped)) = line::totals(text) {
                    self.totals(Declared {
                        total,
                        failed,
                        skipped,
                    });
                    return;
                }
            }
            _ => {}
        }
        if !matches!(first, b' ' | b'>' | b'\t' | 0)
            && let Some((path, event)) = line::event(text)
            && self.event(path, event)
        {
            return;
        }
        if let Some(declared) = self.logger.line(text) {
            for (id, status) in self.logger.take() {
                self.record(&id, status);
            }
            self.totals(declared);
        }
    }

    fn outcome(&self) -> RunOutcome {
        let has = |reason| self.lost.iter().any(|lost| lost.1 == reason);
        if self.timed_out {
            return RunOutcome::TimedOut;
        }
        if has(LostReason::Crashed) {
            return RunOutcome::Crashed;
        }
        if self.log.recorded() == 0 {
            if self.unconfigured || !self.lost.is_empty() {
                return RunOutcome::BuildFailed;
            }
            if self.ended || !self.began {
                return RunOutcome::NothingRan;
            }
            return RunOutcome::Truncated;
        }
        if self.ended {
            RunOutcome::Completed
        } else {
            RunOutcome::Truncated
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let mut line = line;
        if memchr::memchr(0x1b, line).is_some() {
            line = line::after_moves(line);
        }
        // Captured output is indented, whatever a carriage return in it seems to say.
        let captured = line.starts_with(b"    ");
        let cleaned = clean(line);
        let text = if captured && memchr::memchr(b'\r', line).is_some() {
            return;
        } else {
            String::from_utf8_lossy(&cleaned)
        };
        if line::is_complaint(text.as_bytes()) && !captured {
            let evidence = self.evidence(&text);
            let lines = self.complaints.entry(self.project.clone()).or_default();
            if lines.len() < Self::MAX_LINES {
                lines.push(evidence);
            }
            return;
        }
        self.text(&text);
    }

    fn finish(mut self) -> ParsedLog {
        let outcome = self.outcome();
        for (module, reason, lines) in std::mem::take(&mut self.lost) {
            self.log.lose(&module, reason, lines);
        }
        if outcome != RunOutcome::Completed {
            for name in self.started.into_keys() {
                self.log.still_running(name);
            }
        }
        if let Some(agrees) = self.agrees {
            self.log.set_consistent(agrees);
        }
        self.log.finish(outcome)
    }
}
