//! `dotnet test` and `vstest`, whatever framework the tests are written in: xUnit.net, NUnit, MSTest.
//!
//! VSTest's console logger prints a result as `  Passed NAME [3 ms]`, two columns to the right of its
//! own headings, then what belongs to it under headings of their own. What a test printed stands
//! there with a blank in front of each line and ends with an empty line, so results are not looked
//! for until then. By default only failed and skipped tests are named.
//!
//! Microsoft.Testing.Platform prints `failed NAME (3ms)`, and the terminal logger of newer SDKs names
//! failures as build errors (`TESTERROR`). A test belongs to the assembly whose run was announced
//! last, if no other one runs at the same time.

mod line;

use super::compiler::build_error;
use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::text::{clean, lossy};
use atlas_core::{
    Evidence, LineState, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals,
};
use std::collections::BTreeSet;

/// The parser.
pub(crate) static DOTNET: Shipped = Shipped::new(
    "dotnet",
    &About {
        languages: &["c#", "csharp", "f#"],
        aliases: &["vstest", "dotnet_test", "mstest", "csharp"],
        commands: &[
            &["dotnet", "test"],
            &["dotnet", "vstest"],
            &["vstest.console.exe"],
        ],
        usual_for: &["c#", "csharp"],
        ..About::new(
            "dotnet test at every verbosity (VSTest 15 to 17 and newer, terminal logger, \
             Microsoft.Testing.Platform), for xUnit.net, NUnit and MSTest",
            "passing tests at minimal verbosity; the assembly of a test while several run",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["TASPF", "*"], "TASPF[", "*", ""),
    Look(["[", "x"], "", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    let line = line.trim_ascii_start();
    match line.first()? {
        b'T' if line.starts_with(b"Test run for ")
            && memchr::memmem::find(line, b",Version=v").is_some() =>
        {
            Place::Within.certain("a `Test run for` line")
        }
        b'T' if line.starts_with(b"Test Run ")
            && (line.ends_with(b"Successful.") || line.ends_with(b"Failed.")) =>
        {
            Place::Within.hint("a `Test Run` line")
        }
        // Ant and Gradle write another: `Total time: 10 mins 16.009 secs`.
        b'T' if line.starts_with(b"Total time: ")
            && [b" Seconds" as &[u8], b" Minutes", b" Hours"]
                .iter()
                .any(|unit| line.ends_with(unit))
            && before.trim_ascii_start().len() > 8 =>
        {
            Place::End.hint("a `Total time:` line")
        }
        b'A' if line.starts_with(b"A total of ")
            && line.ends_with(b" test files matched the specified pattern.") =>
        {
            Place::Within.certain("VSTest's `A total of` line")
        }
        b'S' if *line == *b"Starting test execution, please wait..." => {
            Place::Within.certain("VSTest's `Starting test execution`")
        }
        b'P' | b'F' | b'S'
            if memchr::memmem::find(line, b"!  - Failed: ").is_some()
                && line::one_line_totals(&lossy(line)).is_some() =>
        {
            Place::End.certain("VSTest's one-line totals")
        }
        b'[' if line.starts_with(b"[xUnit.net 0") => {
            Place::Within.certain("lines of xUnit.net's adapter")
        }
        b'T' if line.starts_with(b"Test run summary: ") => {
            Place::End.certain("a `Test run summary:` line")
        }
        b'T' if line.starts_with(b"Test summary: total: ") => {
            Place::End.certain("a `Test summary:` line")
        }
        _ => None,
    }
}

/// Two runners with their own forms of results and of numbers, which stand one a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `Passed NAME [1 ms]`; `Total tests: 1`, `     Passed: 1`
    VsTest,
    /// `passed NAME (1ms)`; `  total: 3`, `  failed: 0`
    Platform,
}

/// In which form results came since the last totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Spoken {
    #[default]
    Nothing,
    In(Form),
    /// A test of one runner printed what the other one prints.
    Both,
}

/// Whose the next lines are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Below {
    #[default]
    Runner,
    /// What a test printed or said is being repeated; until an empty line.
    Messages,
    /// A `TESTERROR` whose test is on the next line.
    TestError,
    /// The next line names the test that ran at a crash.
    Blame,
}

/// What the runner said of the run as a whole; the later one here outweighs those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Remark {
    #[default]
    Nothing,
    NoTests,
    NotBuilt,
    Aborted,
    Crashed,
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    line: usize,
    /// The indentation of the runner's headings; not zero where the whole log was indented.
    base: usize,
    began: bool,
    /// Assemblies that were announced and have no totals yet.
    open: Vec<String>,
    below: Below,
    spoken: Spoken,
    numbers: Option<(Form, Totals)>,
    /// Tests that only the adapter's progress names.
    adapter: BTreeSet<String>,
    /// How many tests passed, failed and were skipped.
    counted: [u64; 3],
    /// The same as the runner counts them, once it has.
    declared: Option<[u64; 3]>,
    remark: Remark,
}

impl State {
    /// What only this form has came.
    fn speaks(&mut self, form: Form) {
        self.spoken = match self.spoken {
            Spoken::Nothing => Spoken::In(form),
            Spoken::In(known) if known == form => self.spoken,
            _ => Spoken::Both,
        };
    }

    /// A result in this form.
    fn result(&mut self, result: &line::ResultLine<'_>, form: Form) {
        self.speaks(form);
        self.record(result.name, result.status);
    }

    fn record(&mut self, name: &str, status: TestStatus) {
        self.began = true;
        self.counted[match status {
            TestStatus::Passed => 0,
            TestStatus::Failed => 1,
            _ => 2,
        }] += 1;
        self.adapter.remove(name);
        let module = match &self.open[..] {
            [one] => one.clone(),
            _ => String::new(),
        };
        self.log.record_in(&module, "::", name, status);
    }

    fn declare(&mut self, totals: Totals) {
        if self.spoken != Spoken::Both {
            self.spoken = Spoken::Nothing;
        }
        let declared = self.declared.get_or_insert_default();
        let fields = [totals.passed, totals.failed, totals.skipped];
        for (sum, field) in declared.iter_mut().zip(fields) {
            *sum = sum.saturating_add(field.unwrap_or(0));
        }
        self.log.add_totals(totals);
    }

    fn close_numbers(&mut self) {
        if let Some((_, totals)) = self.numbers.take() {
            // The logger leaves out what is zero.
            let totals = Totals {
                passed: totals.passed.or(Some(0)),
                failed: totals.failed.or(Some(0)),
                skipped: totals.skipped.or(Some(0)),
                ..totals
            };
            self.declare(totals);
            self.open.clear();
        }
    }

    /// A line among the numbers at a run's end. Returns whether it was one of them.
    fn number(&mut self, text: &str) -> bool {
        let Some((kind, totals)) = &mut self.numbers else {
            return false;
        };
        let Some((label, number)) = text.split_once(':') else {
            return false;
        };
        let timed = match kind {
            Form::VsTest => label == "Total time",
            Form::Platform => label == "duration",
        };
        if timed {
            self.close_numbers();
            return true;
        }
        line::set(totals, label, number.trim()) || label == "Unknown"
    }

    fn heading(&mut self, text: &str, indent: usize) -> bool {
        if let Some(assembly) = line::assembly(text) {
            self.close_numbers();
            self.speaks(Form::VsTest);
            self.base = indent;
            self.began = true;
            self.open.push(assembly);
            return true;
        }
        if let Some((totals, name)) = line::one_line_totals(text) {
            self.declare(totals);
            match self.open.iter().position(|open| open == name) {
                Some(at) => {
                    self.open.remove(at);
                }
                None => {
                    self.open.pop();
                }
            }
            return true;
        }
        if let Some(rest) = text.strip_prefix("Total tests: ") {
            self.close_numbers();
            let mut totals = Totals::default();
            // Version 15: `Total tests: 2. Passed: 0. Failed: 2. Skipped: 0.`
            for (at, part) in rest.split(". ").enumerate() {
                match part.split_once(": ") {
                    None if at == 0 => {
                        line::set(&mut totals, "Total tests", part);
                    }
                    Some((label, number)) => {
                        line::set(&mut totals, label, number);
                    }
                    None => {}
                }
            }
            self.numbers = Some((Form::VsTest, totals));
            if totals.passed.is_some() {
                self.close_numbers();
            }
            return true;
        }
        if text.starts_with("Test run summary: ") {
            self.close_numbers();
            self.numbers = Some((Form::Platform, Totals::default()));
            return true;
        }
        if let Some(rest) = text.strip_prefix("Test summary: ") {
            let mut totals = Totals::default();
            for part in rest.split(", ") {
                if let Some((label, number)) = part.split_once(": ") {
                    line::set(&mut totals, label, number);
                }
            }
            if totals.total.is_some() {
                self.declare(totals);
            }
            return true;
        }
        self.remark(text)
    }

    /// What the runner says of the run as a whole.
    fn remark(&mut self, text: &str) -> bool {
        let remark = if text.starts_with("The active test run was aborted")
            || text.starts_with("The active Test Run was aborted")
            || text.starts_with("Test host process crashed")
            || text.starts_with("This test may, or may not be the source of the crash.")
        {
            Remark::Crashed
        } else if text.starts_with("The test running when the crash occurred:") {
            self.below = Below::Blame;
            Remark::Crashed
        } else if text.starts_with("Test Run Aborted") {
            Remark::Aborted
        } else if text.starts_with("No test is available in ")
            || text.starts_with("No test matches the given testcase filter")
        {
            Remark::NoTests
        } else if text == "Build FAILED." || text.starts_with("Build failed with ") {
            Remark::NotBuilt
        } else if text.starts_with("Starting test execution, please wait")
            || text.starts_with("A total of ") && text.contains(" test files matched")
        {
            self.began = true;
            Remark::Nothing
        } else {
            return false;
        };
        self.remark = self.remark.max(remark);
        true
    }

    fn text_line(&mut self, line: &[u8]) {
        let indent = line.iter().take_while(|b| **b == b' ').count();
        let text = lossy(&line[indent..]);
        let text = text.trim_end();
        match std::mem::take(&mut self.below) {
            Below::Runner | Below::Messages => {}
            Below::Blame => {
                self.log.still_running(text);
                return;
            }
            Below::TestError => {
                if let Some(name) = line::terminal_failure(text) {
                    self.record(name, TestStatus::Failed);
                }
                return;
            }
        }
        if self.numbers.is_some() && self.number(text) {
            return;
        }
        if let Some(name) = line::adapter_failure(text) {
            self.began = true;
            self.adapter.insert(name.to_owned());
            return;
        }
        // Results stand two columns right of headings; where an indented log lost that, beside.
        let place = indent == self.base + 2 || self.base > 0 && indent == self.base;
        if place && let Some(result) = line::result(text) {
            self.result(&result, Form::VsTest);
            return;
        }
        if indent == self.base {
            if self.heading(text, indent) {
                return;
            }
            if let Some(result) = line::platform_result(text) {
                self.result(&result, Form::Platform);
                return;
            }
            if self.began
                && let Some(result) = line::padded_result(text)
            {
                self.result(&result, Form::VsTest);
                return;
            }
        } else if indent > self.base
            && !self.began
            && let Some(assembly) = line::assembly(text)
        {
            // The whole log is indented.
            self.base = indent;
            self.began = true;
            self.open.push(assembly);
            return;
        }
        if let Some(at) = text.find("error TESTERROR:") {
            let rest = text[at + 16..].trim();
            match line::terminal_failure(rest) {
                Some(name) => self.record(name, TestStatus::Failed),
                None if rest.is_empty() => self.below = Below::TestError,
                None => {}
            }
            return;
        }
        if matches!(
            text,
            "Standard Output Messages:"
                | "Standard Error Messages:"
                | "Debug Trace Messages:"
                | "Debug Traces Messages:"
                | "Additional Information Messages:"
        ) && indent == self.base + 2
        {
            self.below = Below::Messages;
            return;
        }
        if self.declared.is_none()
            && let Some(project) = build_error(line)
        {
            self.remark = self.remark.max(Remark::NotBuilt);
            let proof = Evidence::at("log", self.line, text.to_owned());
            self.log
                .lose(&project, LostReason::BuildFailed, vec![proof]);
        }
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        match self.below {
            Below::Messages if line.is_empty() => self.below = Below::Runner,
            Below::Messages => {}
            _ if line.is_empty() => {}
            _ => self.text_line(&line),
        }
    }

    fn finish(mut self) -> ParsedLog {
        self.close_numbers();
        if self.declared.is_none() {
            for name in std::mem::take(&mut self.adapter) {
                self.record(&name, TestStatus::Failed);
            }
        }
        let counts = self.declared.unwrap_or_default();
        let ran = self.log.recorded() > 0 || counts != [0; 3];
        let outcome = match self.remark {
            Remark::Crashed => RunOutcome::Crashed,
            Remark::Aborted => RunOutcome::Truncated,
            Remark::NotBuilt if !ran => RunOutcome::BuildFailed,
            _ if self.declared.is_some() && ran => RunOutcome::Completed,
            Remark::NoTests => RunOutcome::NothingRan,
            _ if self.began && self.declared.is_none() => RunOutcome::Truncated,
            _ => RunOutcome::NothingRan,
        };
        let (counted, both) = (self.counted, self.spoken == Spoken::Both);
        let mut log = self.log.finish(outcome);
        log.consistent = self.declared.map(|declared| {
            // Passing tests are named all or not at all, skipped ones depend on the verbosity.
            !both
                && counted[1] == declared[1]
                && (counted[0] == 0 || counted[0] == declared[0])
                && (counted[2] == 0 || counted[2] == declared[2])
        });
        log
    }
}
