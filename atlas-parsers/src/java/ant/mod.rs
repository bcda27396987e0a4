//! Ant's `junit` and `junitlauncher` tasks with formatters that print to the console.
//!
//! Every line bears the task's name unless Ant is told not to (`-e`). A suite has its totals, what
//! its tests printed between two rules, and then its tests: all of them (`plain`), those that did
//! not pass (`brief`), or with `printsummary` none, so that the class stands for them. A rule that
//! ends nothing shows that a test had printed one before it, and what came after that is left out.
//!
//! An id is `Class.method`; a failure of the class as a whole has the class.

mod line;
mod suite;
#[cfg(test)]
mod tests;

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use suite::{Suite, Suites};

/// `ant test`.
pub(crate) static ANT: Shipped = Shipped::new(
    "ant",
    &About {
        languages: &["java"],
        aliases: &["ant_junit", "junitlauncher"],
        commands: &[&["ant"]],
        contains: &["junitconsole"],
        ..About::new(
            "the plain, brief and summary output of `junit` and `junitlauncher`, with and without \
             the task's name on each line; a formatter that prints `[PASS] name`",
            "passing tests of the brief formatter; with a summary alone, every test: the class \
             stands for them; formatters' lines that a test prints while its output is not captured",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["BT", "*"], "", "*", ""),
    Look(["[", "j"], "[", "*", "[junit"),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'B' if line.starts_with(b"Buildfile: ") => Place::Start.hint("Ant's `Buildfile:`"),
        b'T' if before.starts_with(b"Testsuite: ") && line.starts_with(b"Tests run: ") => {
            Place::Within.certain("a suite of Ant's formatters")
        }
        b' ' | b'[' => {
            line::adorned(line)?;
            Place::Within.certain("lines of Ant's `[junit]`")
        }
        _ => None,
    }
}

/// How far Ant's build has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Build {
    #[default]
    Unseen,
    Begun,
    Succeeded,
    Failed,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    adorned: bool,
    suites: Suites,
    target: String,
    complaints: Vec<Evidence>,
    lost: Vec<(String, LostReason, Vec<Evidence>)>,
    build: Build,
}

impl State {
    const MAX_LINES: usize = 20;

    fn evidence(&self, text: &str) -> Evidence {
        Evidence::at("log", self.line, text.trim().to_owned())
    }

    fn test_line(&mut self, text: &str) {
        if self.adorned
            && let Some((name, status)) = line::custom(text)
        {
            self.log.record("", name, name, status);
            return;
        }
        if self.suites.line(text) {
            return;
        }
        if let Some((class, reason)) = line::failed(text) {
            let reason = match reason {
                "(crashed)" => LostReason::Crashed,
                "(timeout)" => LostReason::TimedOut,
                _ => return,
            };
            self.suites.died(class);
            let evidence = self.evidence(text);
            self.lose(class.to_owned(), reason, evidence);
        } else if text.starts_with("Forked Java VM exited abnormally")
            || text.starts_with("Timeout occurred. Please note the time")
        {
            let reason = if text.starts_with('F') {
                LostReason::Crashed
            } else {
                LostReason::TimedOut
            };
            if let Some(class) = self.suites.class() {
                let class = class.to_owned();
                let evidence = self.evidence(text);
                self.lose(class, reason, evidence);
            }
        }
    }

    fn lose(&mut self, module: String, reason: LostReason, evidence: Evidence) {
        const MAX_MODULES: usize = 2000;
        if self.lost.iter().rev().take(4).all(|lost| lost.0 != module)
            && self.lost.len() < MAX_MODULES
        {
            self.lost.push((module, reason, vec![evidence]));
        }
    }

    /// A line of Ant itself.
    fn ant_line(&mut self, text: &str) {
        match text.as_bytes().first() {
            Some(b'B') => match text {
                "BUILD SUCCESSFUL" => self.build = Build::Succeeded,
                "BUILD FAILED" => self.build = Build::Failed,
                _ if self.build == Build::Unseen && text.starts_with("Buildfile: ") => {
                    self.build = Build::Begun;
                }
                _ => {}
            },
            Some(b' ' | b'[') => {
                let body = text.trim_start();
                if let Some(body) = body.strip_prefix("[javac] ")
                    && (body.contains(": error: ") || body.starts_with("error: "))
                    && self.complaints.len() < Self::MAX_LINES
                {
                    let evidence = self.evidence(text);
                    self.complaints.push(evidence);
                }
            }
            _ if self.build == Build::Failed
                && text.contains("Compile failed; see the compiler error output") =>
            {
                let mut lines = std::mem::take(&mut self.complaints);
                lines.push(self.evidence(text));
                let target = self.target.clone();
                self.lost.push((target, LostReason::BuildFailed, lines));
            }
            _ => {
                if let Some(target) = text.strip_suffix(':')
                    && !target.is_empty()
                    && !target.contains(char::is_whitespace)
                {
                    target.clone_into(&mut self.target);
                }
            }
        }
    }

    fn record(&mut self, suite: &Suite) -> bool {
        if let Some(counts) = suite.counts
            && !suite.summary
        {
            self.log.add_totals(Totals {
                total: Some(counts.run),
                failed: Some(counts.failures),
                errors: Some(counts.errors),
                skipped: Some(counts.skipped),
                ..Totals::default()
            });
        }
        for case in &suite.cases {
            self.log
                .record(&suite.class, &case.id, &case.id, case.status);
        }
        let Some(counts) = suite.counts else {
            return true;
        };
        if suite.summary {
            let status = if counts.failures > 0 || counts.errors > 0 {
                TestStatus::Failed
            } else if counts.run == 0 {
                return true;
            } else if counts.skipped >= counts.run {
                TestStatus::Skipped
            } else {
                TestStatus::Passed
            };
            self.log
                .record(&suite.class, &suite.class, &suite.class, status);
            return true;
        }
        let named = suite.cases.len() as u64;
        let failing = suite
            .cases
            .iter()
            .filter(|case| case.status.is_failing())
            .count() as u64;
        failing == counts.failures.saturating_add(counts.errors)
            && (!suite.plain || named >= counts.run)
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = &*clean(line);
        if line.is_empty() && self.adorned {
            return;
        }
        if let Some(text) = line::adorned(line) {
            self.adorned = true;
            let text = String::from_utf8_lossy(text);
            self.test_line(&text);
            return;
        }
        let text = String::from_utf8_lossy(line);
        self.ant_line(&text);
        if !self.adorned {
            self.test_line(&text);
        }
    }

    fn finish(mut self) -> ParsedLog {
        let mut suites = std::mem::take(&mut self.suites);
        let mut agrees = None;
        for suite in &mut suites.all {
            suite.believe();
            let fits = self.record(suite);
            if suite.counts.is_some() && !suite.summary {
                agrees = Some(agrees.unwrap_or(true) && fits);
            }
        }
        let ended = matches!(self.build, Build::Succeeded | Build::Failed);
        let has = |reason| self.lost.iter().any(|lost| lost.1 == reason);
        let outcome = if has(LostReason::Crashed) {
            RunOutcome::Crashed
        } else if has(LostReason::TimedOut) {
            RunOutcome::TimedOut
        } else if self.log.recorded() == 0 {
            if has(LostReason::BuildFailed) {
                RunOutcome::BuildFailed
            } else if self.build == Build::Begun || !ended && !suites.all.is_empty() {
                RunOutcome::Truncated
            } else {
                RunOutcome::NothingRan
            }
        } else if ended {
            RunOutcome::Completed
        } else {
            RunOutcome::Truncated
        };
        if outcome != RunOutcome::Completed
            && let Some(last) = suites.all.last()
            && last.counts.is_none()
        {
            self.log.still_running(last.class.clone());
        }
        for (module, reason, lines) in self.lost {
            self.log.lose(&module, reason, lines);
        }
        if let Some(agrees) = agrees {
            self.log.set_consistent(agrees);
        }
        self.log.finish(outcome)
    }
}
