//! xUnit.net's own console runner, versions 1.9 to 3.
//!
//! A test is a line of four blanks, its display name and a word in brackets; what it printed and why
//! it failed is indented deeper. The console names failed and skipped tests; passed ones only with the
//! verbose reporter (`[PASS]`), or with `-verbose`, which names each test as it starts and ends.

use crate::runner::{About, Look, Mark, Place, Shipped, by_line};
use crate::runs::Runs;
use crate::tally::{Tally, in_module};
use crate::text::{clean, lossy};
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, TestStatus, Totals};
use std::collections::BTreeSet;

/// The parser.
pub(crate) static XUNIT: Shipped = Shipped::new(
    "xunit",
    &About {
        languages: &["c#", "csharp"],
        aliases: &["xunit_console", "xunit2", "xunit3"],
        commands: &[
            &["xunit.console"],
            &["xunit.console.exe"],
            &["xunit.console.dll"],
            &["xunit.v3.runner.console.exe"],
            &["dotnet", "xunit"],
        ],
        ..About::new(
            "xUnit.net's console runner: default, -verbose and the verbose reporter",
            "passing tests of the default reporter",
        )
    },
    mark,
    by_line::<State>,
)
.looking(&[
    Look(["x", "U"], "", "*", ""),
    Look(["", ""], "*", "*", " Total: "),
    Look(["=", "="], "", "=", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'x' if line.starts_with(b"xUnit.net Console Runner ")
            || line.starts_with(b"xUnit.net v3 ")
            || line.starts_with(b"xUnit.net DNX Runner ") =>
        {
            Place::Start.certain("xUnit.net's first line")
        }
        b'=' if *line == *b"=== TEST EXECUTION SUMMARY ===" => {
            Place::Within.certain("xUnit.net's `TEST EXECUTION SUMMARY`")
        }
        b' ' if before.starts_with(b"=== TEST EXECUTION SUMMARY") && totals(line).is_some() => {
            Place::End.certain("xUnit.net's totals")
        }
        _ => None,
    }
}

/// `   Tests  Total: 5, Errors: 0, Failed: 1, Skipped: 1, Time: 0.123s`: the assembly and numbers.
fn totals(line: &[u8]) -> Option<(String, Totals, u64)> {
    let at = memchr::memmem::find(line, b" Total: ")?;
    let text = lossy(line);
    let (name, rest) = text.split_at_checked(at)?;
    let mut totals = Totals::default();
    let mut errors = 0;
    for part in rest.split(',') {
        let (label, number) = part.split_once(':')?;
        let number: Option<u64> = number.trim().parse().ok();
        match (label.trim(), number) {
            ("Total", number) => totals.total = Some(number?),
            ("Errors", number) => errors = number?,
            ("Failed", number) => totals.failed = Some(number?),
            ("Skipped", number) => totals.skipped = Some(number?),
            // Version 3: tests that were not asked for.
            ("Not Run", Some(number)) => {
                totals.total = totals.total.map(|all| all.saturating_sub(number));
            }
            _ => {}
        }
    }
    let (all, failed, skipped) = (totals.total?, totals.failed?, totals.skipped?);
    totals.passed = Some(all.saturating_sub(failed).saturating_sub(skipped));
    Some((name.trim().to_owned(), totals, errors))
}

#[derive(Clone, Default)]
struct State {
    log: ParsedLogBuilder,
    run: Tally,
    runs: Runs,
    /// Assemblies that run.
    open: Vec<String>,
    /// Started and not ended, with `-verbose`.
    running: BTreeSet<String>,
    /// The summary is being printed.
    summary: bool,
    errors: u64,
    verbose: bool,
}

/// A test's line: four blanks, its name, a word in brackets.
fn test_line(line: &[u8]) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(b"    ")?;
    if matches!(rest.first()?, b' ' | b'\t') {
        return None;
    }
    let text = std::str::from_utf8(rest).ok()?.trim_end();
    // `-verbose` appends the time behind the word.
    let text = match text.rsplit_once("[FINISHED] Time: ") {
        Some((name, _)) => return Some((name.trim_end(), "FINISHED")),
        None => text,
    };
    let (name, word) = text.strip_suffix(']')?.rsplit_once(" [")?;
    (!name.is_empty()).then_some((name, word))
}

impl State {
    fn test(&mut self, name: &str, word: &str) {
        let status = match word {
            "FAIL" => TestStatus::Failed,
            "SKIP" => TestStatus::Skipped,
            "PASS" => TestStatus::Passed,
            "STARTING" => {
                self.verbose = true;
                self.running.insert(name.to_owned());
                return;
            }
            // A result that is not a pass stands between the two lines.
            "FINISHED" if self.running.contains(name) => TestStatus::Passed,
            _ => return,
        };
        self.verbose |= status == TestStatus::Passed;
        self.running.remove(name);
        // Assemblies run side by side: only a single one is known to own a line.
        let module = match &self.open[..] {
            [one] => one,
            _ => "",
        };
        self.run.add(module, name, status);
    }
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        let line = clean(line);
        match line.first() {
            Some(b'x') if line.starts_with(b"xUnit.net ") => self.run.begun = true,
            Some(b'=') if *line == *b"=== TEST EXECUTION SUMMARY ===" => {
                self.summary = true;
                self.open.clear();
            }
            Some(b' ') if self.summary => {
                if let Some((name, totals, errors)) = totals(&line) {
                    // With several assemblies a line without a name, or `GRAND TOTAL`, sums up.
                    if !name.starts_with("GRAND TOTAL") {
                        self.errors = self.errors.saturating_add(errors);
                        self.run.add_totals(totals);
                    }
                }
            }
            Some(b' ') => {
                if let Some(rest) = line.strip_prefix(b"  Starting:") {
                    self.run.begun = true;
                    let name = lossy(rest);
                    let name = name.trim().split(" (").next().unwrap_or_default();
                    self.open.push(name.to_owned());
                } else if let Some(rest) = line.strip_prefix(b"  Finished:") {
                    let name = lossy(rest);
                    let name = name.trim().split(" (").next().unwrap_or_default();
                    self.open.retain(|open| open != name);
                } else if !self.open.is_empty()
                    && let Some((name, word)) = test_line(&line)
                {
                    self.test(name, word);
                }
            }
            _ => {}
        }
    }

    fn finish(mut self) -> ParsedLog {
        if self.errors > 0 {
            let text = format!(
                "{} errors outside of tests (clean-up of classes)",
                self.errors
            );
            self.log.warn(None, text);
        }
        let agrees = self.run.end.map(|end| {
            let named = Totals {
                total: None,
                passed: end.passed.filter(|_| self.verbose),
                ..end
            };
            self.run.agrees(&named)
        });
        if agrees.is_none() {
            for name in self.running {
                self.run.still_running(name);
            }
        }
        self.runs.close(self.run, agrees, &mut self.log, in_module);
        self.runs.finish(self.log, false)
    }
}
