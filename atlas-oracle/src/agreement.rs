//! Console against structured report, and what becomes of a difference.

use crate::{Disputes, StateRun};
use atlas_core::{
    Evidence, OracleOutcome, ParsedLog, ReportAgreement, ReportSpec, State, TestResult, TestStatus,
};
use std::collections::BTreeMap;

/// The most differences that a report lists.
const MAX_DIFFERENCES: usize = 20;

/// Compares what the console and a structured report say of the same run.
///
/// The two spell ids differently (`tests/test_a.py::test_x` and `tests.test_a::test_x`), so tests
/// are matched by the last part of their id, and statuses by what they mean: passing, failing or
/// skipped. A console that does not name passing tests is compared on what it names, and skipped tests that it
/// counts without a name, as pytest does, are no difference if the report names just as many. A report may hold under one
/// id what the console tells apart, as Vitest's does with projects: just as many results then. Where the report
/// is that of a driver ([`ReportSpec::outer`]), it is what the report names that is compared.
pub fn compare(spec: &ReportSpec, console: &ParsedLog, report: &ParsedLog) -> ReportAgreement {
    let (left, right) = (leaves(console), leaves(report));
    let each_result = counted(report, |test| test.seen);
    let names_passing = console.results.iter().any(|test| test.status.is_passing())
        || !report.results.iter().any(|test| test.status.is_passing());
    let extra = |(leaf, said): (&String, &Said)| {
        let console = left.get(leaf).copied().unwrap_or_default();
        said.skips_beyond(console)
    };
    let extra_skips: u32 = right.iter().filter_map(extra).sum();
    let are_counted = unnamed_skips(console) == Some(u64::from(extra_skips));
    let is_counted =
        |console: Said, report: Said| are_counted && report.skips_beyond(console).is_some();
    let mut differences = Vec::new();
    for (leaf, said) in &left {
        let other = right.get(leaf);
        let within = spec.outer && other.is_none();
        let same = other.is_some_and(|other| other == said || is_counted(*said, *other))
            || each_result.get(leaf) == Some(said);
        if !same && !within {
            differences.push(format!(
                "{leaf}: console {said}, report {}",
                other.map_or_else(|| "nothing".to_owned(), ToString::to_string)
            ));
        }
    }
    for (leaf, said) in &right {
        let is_named = names_passing || said.failing > 0;
        if !left.contains_key(leaf) && is_named && !is_counted(Said::default(), *said) {
            differences.push(format!("{leaf}: console nothing, report {said}"));
        }
    }
    let agrees = differences.is_empty();
    differences.truncate(MAX_DIFFERENCES);
    ReportAgreement {
        file: spec.file.clone(),
        parser: report.parser.clone(),
        console_tests: console.results.len(),
        report_tests: report.results.len(),
        agrees,
        differences,
    }
}

/// How many tests a console says it skipped beyond those that it names.
fn unnamed_skips(console: &ParsedLog) -> Option<u64> {
    let tests = console.results.iter();
    let named = tests
        .filter(|test| test.status == TestStatus::Skipped)
        .count();
    console
        .totals?
        .skipped?
        .checked_sub(u64::try_from(named).ok()?)
}

/// Finds the contradictions between the console's reading and that of the report.
pub(crate) fn disputes(spec: &ReportSpec, console: &ParsedLog, report: &ParsedLog) -> Disputes {
    let file = &spec.file;
    let (left, right) = (leaves(console), leaves(report));
    let mut found = Disputes::default();
    let contradicts = |leaf: &str| {
        let (console, report) = (left.get(leaf)?, right.get(leaf)?);
        (console.verdict() != report.verdict())
            .then(|| format!("the console says {console}, {file} says {report}"))
    };
    for test in &console.results {
        if let Some(said) = contradicts(&leaf(test.name)) {
            found.tests.insert(test.name.to_owned(), said);
        }
    }
    let names_passing = left.values().any(|said| said.passing > 0);
    let only = |one: &BTreeMap<String, Said>, other: &BTreeMap<String, Said>| {
        let mut numbers = [0_usize; 3];
        for (_, said) in one.iter().filter(|(leaf, _)| !other.contains_key(*leaf)) {
            numbers[said.verdict() as usize] += 1;
        }
        numbers
    };
    if spec.outer || only(&left, &right) != only(&right, &left) {
        for (leaf, said) in right.iter().filter(|(leaf, _)| !left.contains_key(*leaf)) {
            match said.verdict() {
                Verdict::Passing if names_passing => found.unnamed.insert(leaf.clone(), true),
                Verdict::Failing => found.unnamed.insert(leaf.clone(), false),
                Verdict::Passing | Verdict::Skipped => None,
            };
        }
    }
    found
}

/// Why a verdict cannot be taken although the console gives one: the structured reports name tests that
/// would be in `FAIL_TO_PASS` and that no console names, or what could be in it is contradicted.
pub(crate) fn undecided(
    outcome: OracleOutcome,
    runs: &BTreeMap<State, &StateRun>,
) -> Option<(String, Vec<Evidence>)> {
    const MOST: usize = 20;
    let verdict = matches!(
        outcome,
        OracleOutcome::Instance | OracleOutcome::RejectNoFailToPass
    );
    let after = runs.get(&State::After).filter(|_| verdict)?;
    let file = &after.summary.report.as_ref()?.file;
    let passed = |state: State, leaf: &str| {
        runs.get(&state)
            .is_some_and(|run| run.disputes.unnamed.get(leaf) == Some(&true))
    };
    let missed: Vec<&str> = after
        .disputes
        .unnamed
        .iter()
        .filter(|(leaf, passes)| {
            **passes && !passed(State::Before, leaf) && !passed(State::Base, leaf)
        })
        .map(|(leaf, _)| leaf.as_str())
        .collect();
    if let Some(first) = missed.first() {
        let reason = format!(
            "console and {file} of After differ: the report alone names {} tests that pass in After and not \
             before, as `{first}`",
            missed.len()
        );
        let lines = missed.iter().take(MOST);
        let source = format!("After: {file}");
        return Some((
            reason,
            lines.map(|leaf| Evidence::of(&source, *leaf)).collect(),
        ));
    }
    if outcome != OracleOutcome::RejectNoFailToPass {
        return None;
    }
    let (state, id, said) = runs.iter().find_map(|(state, run)| {
        let (id, said) = run.disputes.tests.first_key_value()?;
        Some((state, id, said))
    })?;
    let reason = format!(
        "no test of which console and structured report say the same fails in Before and passes in After; \
         {state}: of `{id}` {said}"
    );
    Some((reason, vec![Evidence::of(format!("{state}: {id}"), said)]))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Passing,
    Failing,
    Skipped,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    passing: u32,
    failing: u32,
    skipped: u32,
}

impl Said {
    /// What all tests of this name come to, the worst first.
    fn verdict(self) -> Verdict {
        match self {
            Self { failing: 1.., .. } => Verdict::Failing,
            Self { passing: 1.., .. } => Verdict::Passing,
            _ => Verdict::Skipped,
        }
    }

    /// How many more were skipped than another says, where nothing else differs.
    fn skips_beyond(self, other: Self) -> Option<u32> {
        let alike = (self.passing, self.failing) == (other.passing, other.failing);
        self.skipped
            .checked_sub(other.skipped)
            .filter(|more| alike && *more > 0)
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = [
            (self.passing, "passing"),
            (self.failing, "failing"),
            (self.skipped, "skipped"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}"))
        .collect();
        f.write_str(&parts.join(" and "))
    }
}

fn leaves(log: &ParsedLog) -> BTreeMap<String, Said> {
    counted(log, |_| 1)
}

/// Statuses by the last part of ids. A test counts as often as the function says.
fn counted(log: &ParsedLog, times: fn(&TestResult<'_>) -> u32) -> BTreeMap<String, Said> {
    let mut map: BTreeMap<String, Said> = BTreeMap::new();
    for test in &log.results {
        // A module that did not load is no test; the two sides name it in ways of their own.
        if test.name == test.module || log.modules_not_loaded.iter().any(|m| m.module == test.name)
        {
            continue;
        }
        let said = map.entry(leaf(test.name)).or_default();
        match test.status {
            // xfail is a skip in JUnit's eyes and a pass in others'.
            TestStatus::Skipped | TestStatus::Xfail => said.skipped += times(&test),
            status if status.is_passing() => said.passing += times(&test),
            _ => said.failing += times(&test),
        }
    }
    map
}

/// The last part of an id, parameters included: after the last separator outside of brackets. Behind one that is
/// not closed nothing separates.
pub(crate) fn leaf(id: &str) -> String {
    let mut depth = 0_usize;
    let mut cut = 0;
    for (at, c) in id.char_indices() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ':' | ' ' | '#' if depth == 0 => {
                let mut separators = ["::", " > ", " › ", "#"].iter();
                if let Some(found) = separators.find(|found| id[at..].starts_with(**found)) {
                    cut = cut.max(at + found.len());
                }
            }
            _ => {}
        }
    }
    let last = &id[cut..];
    let (head, tail) = last.split_at(last.find(['[', '(']).unwrap_or(last.len()));
    // A dotted path (`module.Class.test`) only where nothing else separates.
    let head = if cut == 0 && !head.contains(' ') {
        head.rsplit('.').next().unwrap_or(head)
    } else {
        head
    };
    let whole = format!("{head}{tail}");
    if whole.trim().is_empty() {
        id.to_owned()
    } else {
        whole
    }
}
