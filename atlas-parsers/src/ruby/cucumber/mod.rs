//! Cucumber: pretty, progress, and JSON on stdout; cucumber-ruby 1 to 10, cucumber-js.
//!
//! The pretty formatter prints every scenario, and says of a passing one nothing; the list of
//! failing scenarios at the end has them by file and line, rows of outlines among them. A JSON
//! report is believed before everything else.

mod json;
mod pretty;

use crate::edges::{is_number, without_note};
use crate::ruby::report::WithReport;
use crate::runner::{About, Look, Mark, Place, Shipped};
use crate::text::clean;
use atlas_core::{LineState, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus, Totals};
use pretty::{Pretty, Scenario};
use std::collections::HashMap;

/// Cucumber's console output.
pub(crate) static CUCUMBER: Shipped = Shipped::new(
    "cucumber",
    &About {
        languages: &["ruby", "javascript"],
        aliases: &["cucumber-ruby", "cucumber-js"],
        commands: &[&["cucumber"], &["cucumber-js"]],
        without_report: "no parser is shipped that reads the report of Cucumber",
        ..About::new(
            "--format pretty, json on stdout, and the failing scenarios of other formats",
            "passing scenarios and features' names of a progress run; which row of an outline's \
             examples is undefined; undefined steps without --source and colours",
        )
    },
    mark,
    || Box::new(WithReport::new(State::default(), json::begins, json::parse)),
)
.looking(&[
    Look(["0-9cF", "*"], "\"", "*", ""),
    Look(["[", "{"], "", "*", ""),
]);

fn mark(line: &[u8], before: &[u8]) -> Option<Mark> {
    match line.first()? {
        b'0'..=b'9'
            if Counts::read(line, b"step").is_some()
                && Counts::read(before, b"scenario").is_some() =>
        {
            Place::End.certain("`… scenarios (…)` and `… steps (…)` lines")
        }
        b'c' if failing(line).is_some() => {
            Place::End.certain("a `cucumber file:line # Scenario: …` line")
        }
        b'F' if line.starts_with(b"Feature: ") => Place::Start.hint("a `Feature:` line"),
        b' ' if line.starts_with(b"    \"uri\": \"") && line.ends_with(b".feature\",") => {
            Place::Within.certain("a JSON report of features")
        }
        b'[' if line.starts_with(b"[{\"uri\":\"") => {
            Place::Within.certain("a JSON report of features")
        }
        _ => None,
    }
}

/// `8 scenarios (2 failed, 1 undefined, 1 pending, 4 passed)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    all: u64,
    failed: u64,
    passed: u64,
    not_run: u64,
}

impl Counts {
    fn read(line: &[u8], what: &[u8]) -> Option<Self> {
        if line.len() > 300 || !line.first()?.is_ascii_digit() {
            return None;
        }
        let text = std::str::from_utf8(line.trim_ascii_end()).ok()?;
        let what = std::str::from_utf8(what).ok()?;
        let (all, rest) = text.split_once(' ')?;
        let rest = rest.strip_prefix(what)?;
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let mut counts = Self {
            all: all.parse().ok()?,
            ..Self::default()
        };
        if rest.is_empty() {
            return (counts.all == 0).then_some(counts);
        }
        for part in rest.strip_prefix(" (")?.strip_suffix(')')?.split(", ") {
            let (count, status) = part.split_once(' ')?;
            let count: u64 = count.parse().ok()?;
            let field = match status {
                "passed" | "flaky" => &mut counts.passed,
                "failed" | "ambiguous" => &mut counts.failed,
                "undefined" | "pending" | "skipped" | "unknown" => &mut counts.not_run,
                _ => return None,
            };
            *field = field.saturating_add(count);
        }
        Some(counts)
    }
}

/// A line of the list: `cucumber features/a.feature:25 # Scenario Outline: table <n>, first (#2)`.
#[derive(Clone)]
struct Failing {
    file: String,
    line: u64,
    name: String,
    outline: bool,
}

fn failing(line: &[u8]) -> Option<Failing> {
    let text = std::str::from_utf8(line.strip_prefix(b"cucumber ")?).ok()?;
    let (command, scenario) = text.split_once(" # ")?;
    let place = command.rsplit(' ').next()?;
    let (file, number) = place.rsplit_once(':')?;
    let number = number.parse().ok()?;
    let (kind, name) = scenario.split_once(": ")?;
    let outline = matches!(kind, "Scenario Outline" | "Scenario Template");
    if !outline && !matches!(kind, "Scenario" | "Example") {
        return None;
    }
    Some(Failing {
        file: file.to_owned(),
        line: number,
        name: name.to_owned(),
        outline,
    })
}

/// The name without the row that the list appends: `, first (#2)`, `, Examples (#1)`.
fn without_row(name: &str) -> &str {
    without_note(name, " (#", ")", |row| is_number(row)).map_or(name, |head| {
        head.rsplit_once(", ").map_or(head, |(name, _)| name)
    })
}

#[derive(Clone, Default)]
struct State {
    pretty: Pretty,
    failing: Vec<Failing>,
    in_list: bool,
    scenarios: Option<Counts>,
    ended: bool,
    /// How many runs ended; what stands between the first end and the last is not read.
    ends: u64,
    line: u64,
    /// An exception that ended the process.
    died: Option<(u64, String)>,
}

impl LineState for State {
    fn line(&mut self, line: &[u8]) {
        self.line += 1;
        let line = clean(line);
        let line = &*line;
        if let Some(first) = line.first() {
            match first {
                b'F' if line == b"Failing Scenarios:" => {
                    self.failing.clear();
                    self.in_list = true;
                    return;
                }
                b'c' if self.in_list => {
                    if let Some(entry) = failing(line) {
                        self.failing.push(entry);
                        return;
                    }
                }
                b'0'..=b'9' => {
                    if let Some(counts) = Counts::read(line, b"scenario") {
                        self.scenarios = Some(counts);
                        self.ended = false;
                        return;
                    }
                    if self.scenarios.is_some() && Counts::read(line, b"step").is_some() {
                        self.ended = true;
                        self.ends += 1;
                        return;
                    }
                }
                _ if line.ends_with(b"Error)") && memchr::memmem::find(line, b".rb:").is_some() => {
                    let text = String::from_utf8_lossy(&line[..line.len().min(2000)]);
                    if !first.is_ascii_whitespace() {
                        self.died.get_or_insert((self.line, text.into_owned()));
                    }
                }
                _ => {}
            }
        }
        if !self.in_list && !self.ended {
            self.pretty.line(line);
        }
    }

    fn finish(self) -> ParsedLog {
        let mut log = ParsedLogBuilder::default();
        let ended = self.ended && self.scenarios.is_some();
        let told = self.pretty.scenarios.len() as u64;
        // Prose has features and scenarios too; a run has an end.
        let pretty =
            told > 0 && (ended || self.pretty.scenarios.iter().any(|s| !s.file.is_empty()));
        let mut agrees = None;
        if pretty {
            record(&self.pretty.scenarios, &self.failing, ended, &mut log);
        } else {
            for entry in &self.failing {
                let name = without_row(&entry.name);
                let qualified = format!("{}::{name}", entry.file);
                log.record(&entry.file, &qualified, name, TestStatus::Failed);
            }
            if ended && let Some(counts) = self.scenarios {
                agrees = Some(self.failing.len() as u64 == counts.failed);
            }
        }
        let outcome = match self.scenarios.filter(|_| ended) {
            Some(counts) => {
                log.add_totals(Totals {
                    total: Some(counts.all),
                    passed: Some(counts.passed),
                    failed: Some(counts.failed),
                    skipped: Some(counts.not_run),
                    ..Totals::default()
                });
                if counts.all == 0 {
                    RunOutcome::NothingRan
                } else {
                    RunOutcome::Completed
                }
            }
            None if self.died.is_some() && log.recorded() > 0 => RunOutcome::Crashed,
            None if log.recorded() > 0 => RunOutcome::Truncated,
            None => RunOutcome::NothingRan,
        };
        if let Some((line, text)) = self.died.filter(|_| !ended && log.recorded() > 0) {
            log.warn(Some(line), text);
        }
        let mut log = log.finish(outcome);
        if !pretty {
            log.consistent = agrees;
        }
        if self.ends > 1 {
            // A run behind another one, or around one that a test printed.
            log.consistent = log.consistent.map(|_| false);
        }
        log
    }
}

/// Records the pretty formatter's scenarios with what the list says of them.
fn record(scenarios: &[Scenario], failing: &[Failing], ended: bool, log: &mut ParsedLogBuilder) {
    // Scenarios by place, and how many rows of an outline failed.
    let mut listed: HashMap<(&str, u64), u64> = HashMap::new();
    let mut named: HashMap<(&str, &str), u64> = HashMap::new();
    for entry in failing {
        if entry.outline {
            *named
                .entry((&entry.file, without_row(&entry.name)))
                .or_default() += 1;
        } else {
            *listed.entry((&entry.file, entry.line)).or_default() += 1;
        }
    }
    let mut left = named.clone();
    let mut by_name: HashMap<&str, (u64, u64)> = HashMap::new();
    for scenario in scenarios {
        by_name.entry(&scenario.name).or_default().0 += 1;
    }
    for entry in failing {
        by_name.entry(without_row(&entry.name)).or_default().1 += 1;
    }
    for scenario in scenarios {
        let key = (scenario.file.as_str(), scenario.name.as_str());
        let in_list = if scenario.file.is_empty() {
            let name = scenario.name.as_str();
            failing.iter().any(|entry| without_row(&entry.name) == name)
                && scenarios.iter().filter(|other| other.name == name).count()
                    == failing
                        .iter()
                        .filter(|entry| without_row(&entry.name) == name)
                        .count()
        } else if scenario.outline {
            // Rows that print an error are the failing ones; the others of the list are any.
            left.get(&key).is_some_and(|count| *count > 0)
        } else {
            listed.contains_key(&(scenario.file.as_str(), scenario.line))
        };
        let status = match scenario.said {
            Some(TestStatus::Failed) => {
                if let Some(count) = left.get_mut(&key) {
                    *count = count.saturating_sub(1);
                }
                // Where there is a list, an error that it lacks was printed by a test.
                if ended
                    && !failing.is_empty()
                    && !scenario.file.is_empty()
                    && !scenario.outline
                    && !in_list
                {
                    TestStatus::Passed
                } else {
                    TestStatus::Failed
                }
            }
            Some(status) => status,
            None if in_list && (!scenario.outline || scenario.file.is_empty()) => {
                TestStatus::Failed
            }
            None => TestStatus::Passed,
        };
        put(scenario, status, log);
    }
    // Rows that failed without a word of their own: their error was printed for another row.
    for scenario in scenarios.iter().filter(|scenario| scenario.outline) {
        let key = (scenario.file.as_str(), scenario.name.as_str());
        if left.remove(&key).is_some_and(|count| count > 0) {
            let (_, qualified) = ids(scenario);
            log.revise(&qualified, TestStatus::Failed);
        }
    }
}

fn ids(scenario: &Scenario) -> (String, String) {
    let name = format!("{} > {}", scenario.feature, scenario.name);
    let qualified = if scenario.file.is_empty() {
        name.clone()
    } else {
        format!("{}::{name}", scenario.file)
    };
    (name, qualified)
}

fn put(scenario: &Scenario, status: TestStatus, log: &mut ParsedLogBuilder) {
    let (name, qualified) = ids(scenario);
    log.record(&scenario.file, &qualified, &name, status);
}
