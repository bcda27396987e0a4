//! `deno test`: its pretty reporter, one test after the other and in parallel, and its dots.
//!
//! A line says which file's tests follow; steps stand two blanks deeper than their test, whose line is
//! printed again when it ends. What tests print stands between rules. Dots name only what failed, in the
//! list at the end. The id is the test and its steps, joined by ` > `; the qualified id has the file in front.

use super::sum::Sum;
use crate::edges::{behind_any, without_note};
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::clean;
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, TestStatus, Totals,
};

/// `deno test`.
pub(crate) static DENO: Shipped = Shipped::new(
    "deno",
    &About {
        languages: &["javascript", "typescript"],
        commands: &[&["deno", "test"]],
        ..About::new(
            "the pretty and dot reporters of `deno test` 2",
            "passing and ignored tests of dots; in dots and parallel runs, whether ` ... ` in a name \
             parts a test and its step",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["roF", "ukA"], "", "*", ""),
]);

fn mark(line: &[u8], _: &[u8]) -> Option<Mark> {
    let text = std::str::from_utf8(line).ok()?;
    match line.first()? {
        b'r' => {
            running(text).map(|_| Mark::certain(Place::Within, "a `running … tests from ./…` line"))
        }
        b'o' | b'F' => {
            End::of(text).map(|_| Mark::certain(Place::End, "`ok | … passed | … failed`"))
        }
        _ => None,
    }
}

/// The file of `running 5 tests from ./a/b_test.ts`.
fn running(line: &str) -> Option<&str> {
    let (number, rest) = line.strip_prefix("running ")?.split_once(' ')?;
    number.parse::<u64>().ok()?;
    let file = behind_any(rest, &["tests from ", "test from "])?;
    (!file.is_empty()).then_some(file)
}

/// The text without the time in brackets behind it.
fn untimed(text: &str) -> &str {
    let is_time = |time: &str| {
        time.starts_with(|c: char| c.is_ascii_digit())
            && time
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, 'm' | 'µ' | 'h' | 's'))
    };
    without_note(text, " (", "s)", is_time).unwrap_or(text)
}

/// Parts `name ... ok (1ms)`, `name ... FAILED (due to 1 failed step) (1ms)`.
fn result(line: &str) -> Option<(&str, TestStatus)> {
    let (name, said) = untimed(line).rsplit_once(" ... ")?;
    let status = match said {
        "ok" => TestStatus::Passed,
        "ignored" => TestStatus::Skipped,
        "FAILED" | "INCOMPLETE" | "cancelled" => TestStatus::Failed,
        _ => {
            let due = said.strip_prefix("FAILED (due to ")?.strip_suffix(')')?;
            if due.contains('(') {
                return None;
            }
            TestStatus::Failed
        }
    };
    (!name.trim().is_empty()).then_some((name, status))
}

/// The name of `one ... two => ./a_test.ts:6:79`, and its file.
fn listed(line: &str) -> Option<(&str, &str)> {
    let (name, place) = line.rsplit_once(" => ")?;
    let (rest, column) = place.rsplit_once(':')?;
    let (file, row) = rest.rsplit_once(':')?;
    let numbers = column.parse::<u32>().is_ok() && row.parse::<u32>().is_ok();
    (numbers && !name.is_empty()).then_some((name, file))
}

/// What the last line declares: tests and steps.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    tests: [u64; 3],
    steps: [u64; 3],
}

impl End {
    /// Reads `FAILED | 12 passed (5 steps) | 8 failed (3 steps) | 1 ignored (1 step) (664ms)`.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_end();
        let rest = behind_any(line, &["ok | ", "FAILED | "])?;
        let rest = untimed(rest);
        if !line.ends_with("s)") {
            return None;
        }
        let mut end = Self::default();
        for (nth, part) in rest.split(" | ").enumerate() {
            let (number, words) = part.split_once(' ')?;
            let number: u64 = number.parse().ok()?;
            let (what, steps) = words.split_once(" (").unwrap_or((words, ""));
            let kind = match what {
                "passed" if nth == 0 => 0,
                "failed" if nth == 1 => 1,
                "ignored" => 2,
                "measured" | "filtered out" => continue,
                _ => return None,
            };
            end.tests[kind] = number;
            if let Some((steps, _)) = steps.split_once(' ') {
                end.steps[kind] = steps.parse().ok()?;
            }
        }
        Some(end)
    }
}

/// A line that is a result.
#[derive(Clone, Debug)]
struct Found {
    file: String,
    name: String,
    status: TestStatus,
    step: bool,
    /// It stands between two ends of output, of which the first was printed.
    printed: bool,
}

/// Which part of a run is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Tests,
    Errors,
    Failures,
    Over,
}

#[derive(Clone, Debug, Default)]
struct Run {
    part: Part,
    file: String,
    /// Tests and steps that have begun.
    open: Vec<String>,
    found: Vec<Found>,
    /// The list of failures.
    failures: Vec<Found>,
    /// What a test printed is read; how many results there were when that ended.
    printing: bool,
    ended: Option<usize>,
    uncaught: Vec<(String, Evidence)>,
    dotted: bool,
    end: Option<End>,
}

impl Run {
    fn line(&mut self, text: &str, number: usize) {
        if self.part == Part::Tests && self.output(text) {
            return;
        }
        match text {
            " ERRORS " => {
                self.part = Part::Errors;
                return;
            }
            " FAILURES " => {
                self.part = Part::Failures;
                self.failures.clear();
                self.end = None;
                return;
            }
            _ => {}
        }
        match self.part {
            Part::Tests => {
                if let Some(end) = End::of(text) {
                    self.end = Some(end);
                    self.part = Part::Over;
                } else {
                    self.test(text, number);
                }
            }
            Part::Failures => {
                if let Some(end) = End::of(text) {
                    self.end = Some(end);
                    self.part = Part::Over;
                } else if let Some((name, file)) = listed(text) {
                    self.failures.push(Found {
                        file: file.to_owned(),
                        step: name.contains(" ... "),
                        name: name.replace(" ... ", " > "),
                        status: TestStatus::Failed,
                        printed: false,
                    });
                }
            }
            Part::Errors | Part::Over => {}
        }
    }

    /// Whether a line is output of a test, or the rule before or behind it.
    fn output(&mut self, text: &str) -> bool {
        const BEGINS: [&str; 2] = ["------- output -------", "------- post-test output -------"];
        const ENDS: [&str; 2] = ["----- output end -----", "----- post-test output end -----"];
        if ENDS.iter().any(|end| text.ends_with(end)) {
            if !self.printing
                && let Some(from) = self.ended
            {
                // The end that was seen before was printed too.
                for found in &mut self.found[from..] {
                    found.printed = true;
                }
            }
            self.printing = false;
            self.ended = Some(self.found.len());
            return true;
        }
        if self.printing {
            return true;
        }
        self.printing = BEGINS.contains(&text);
        self.printing
    }

    fn test(&mut self, text: &str, number: usize) {
        if let Some(file) = running(text) {
            file.clone_into(&mut self.file);
            self.open.clear();
        } else if let Some(file) = text
            .strip_prefix("Uncaught error from ")
            .and_then(|rest| rest.strip_suffix(" FAILED"))
        {
            self.uncaught
                .push((file.to_owned(), Evidence::at("log", number, text)));
        } else if let Some((name, status)) = result(text) {
            if let Some((file, name)) = name.split_once(" => ").filter(|_| name.starts_with("./")) {
                self.found.push(Found {
                    file: file.to_owned(),
                    step: name.contains(" ... "),
                    name: name.replace(" ... ", " > "),
                    status,
                    printed: false,
                });
                return;
            }
            // Before the first file's line there is no test.
            if self.file.is_empty() {
                return;
            }
            let (depth, name) = self.place(name);
            self.open.truncate(depth);
            self.open.push(name);
            self.found.push(Found {
                file: self.file.clone(),
                name: self.open.join(" > "),
                status,
                step: depth > 0,
                printed: false,
            });
            self.open.pop();
        } else if let Some(name) = text.strip_suffix(" ...").filter(|_| !self.file.is_empty()) {
            let (depth, name) = self.place(name);
            self.open.truncate(depth);
            self.open.push(name);
        } else {
            self.dotted |= !text.is_empty() && text.bytes().all(|b| b".!,".contains(&b));
        }
    }

    /// How deep a name stands below what is open, and the name: it may begin with blanks of its own.
    fn place(&self, text: &str) -> (usize, String) {
        let blanks = text.len() - text.trim_start_matches(' ').len();
        let depth = (blanks / 2).min(self.open.len());
        (depth, text[2 * depth..].to_owned())
    }

    fn settle(self, log: &mut ParsedLogBuilder, sum: &mut Sum) {
        let dots = self.found.is_empty() && (self.dotted || self.end.is_some());
        let found = if dots { &self.failures } else { &self.found };
        let count = |printed: bool| {
            let mut counts = End::default();
            for found in found.iter().filter(|found| printed || !found.printed) {
                let kind = match found.status {
                    TestStatus::Passed => 0,
                    TestStatus::Skipped => 2,
                    _ => 1,
                };
                let all = if found.step {
                    &mut counts.steps
                } else {
                    &mut counts.tests
                };
                all[kind] += 1;
            }
            counts
        };
        let uncaught = self.uncaught.len() as u64;
        let mut printed = false;
        if let Some(end) = self.end {
            sum.ended += 1;
            let agrees = |counts: &End| {
                if dots {
                    // A test that failed for its steps is counted and not listed.
                    return counts.tests[1] + uncaught <= end.tests[1]
                        && counts.steps[1] <= end.steps[1]
                        && (counts.tests[1] > 0 || counts.steps[1] > 0 || uncaught > 0)
                            == (end.tests[1] > 0);
                }
                let mut tests = counts.tests;
                tests[1] += uncaught;
                tests == end.tests && counts.steps == end.steps
            };
            let right = agrees(&count(false));
            printed = !right && agrees(&count(true));
            sum.disagrees |= !right && !printed;
            let [passed, failed, skipped] =
                [0, 1, 2].map(|kind| end.tests[kind].saturating_add(end.steps[kind]));
            sum.passed |= passed > 0;
            log.add_totals(Totals {
                total: Some(passed.saturating_add(failed).saturating_add(skipped)),
                passed: Some(passed),
                failed: Some(failed.saturating_sub(uncaught)),
                errors: Some(uncaught).filter(|errors| *errors > 0),
                skipped: Some(skipped),
                ..Totals::default()
            });
        } else {
            sum.truncated = true;
            if let Some(first) = self.open.first() {
                log.still_running(first.clone());
            }
        }
        for found in found.iter().filter(|found| printed || !found.printed) {
            log.record_in(&found.file, " > ", &found.name, found.status);
        }
        for (file, proof) in self.uncaught {
            if found.iter().any(|found| found.file == file) {
                log.warn(None, format!("`{file}` has an error outside of its tests"));
            } else {
                sum.lost = true;
                log.lose(&file, LostReason::LoadFailed, vec![proof]);
            }
        }
    }
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    number: usize,
    run: Run,
    /// An error before any test, while the place is awaited.
    error: Option<Evidence>,
    unloaded: Vec<(String, Vec<Evidence>)>,
    sum: Sum,
}

impl State {
    /// Reads `error: Module not found "…".` and `    at file:///testbed/a_test.ts:1:22`: no test runs then.
    fn unloaded(&mut self, text: &str) {
        const KEPT: usize = 12;
        if text.starts_with("error: ") {
            self.error = Some(Evidence::at("log", self.number, text));
        } else if let Some(place) = text.strip_prefix("    at file://")
            && let Some(error) = self.error.take()
            && self.unloaded.len() < KEPT
        {
            let mut parts = place.rsplitn(3, ':');
            let file = parts.nth(2).unwrap_or(place).to_owned();
            let lines = vec![error, Evidence::at("log", self.number, text)];
            self.unloaded.push((file, lines));
        }
    }

    fn is_begun(&self) -> bool {
        let run = &self.run;
        !run.found.is_empty() || !run.file.is_empty() || run.dotted || !run.uncaught.is_empty()
    }
}

impl LineState for State {
    fn line(&mut self, raw: &[u8]) {
        self.number += 1;
        let line = clean(raw);
        let text = String::from_utf8_lossy(&line);
        if self.run.part == Part::Over && running(&text).is_some() {
            std::mem::take(&mut self.run).settle(&mut self.log, &mut self.sum);
        }
        if !self.is_begun() {
            self.unloaded(&text);
        }
        self.run.line(&text, self.number);
    }

    fn finish(mut self) -> ParsedLog {
        if self.is_begun() || self.run.end.is_some() {
            std::mem::take(&mut self.run).settle(&mut self.log, &mut self.sum);
        } else {
            for (file, lines) in std::mem::take(&mut self.unloaded) {
                self.sum.lost = true;
                self.log.lose(&file, LostReason::LoadFailed, lines);
            }
        }
        self.sum.finish(self.log)
    }
}
