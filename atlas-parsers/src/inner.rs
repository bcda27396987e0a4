//! Test programs inside a driver's output: `ctest -V` puts the number of its test in front of each
//! line that the test's program prints, so that every program's log can be taken out of the driver's.

use crate::detect::{Hints, Marks};
use crate::registry::BUILTIN;
use crate::runner::{Inner, Runner};
use crate::text::clean;
use atlas_core::{
    LogParser, LogParserExt, LostReason, ParsedLog, ParsedLogBuilder, RunOutcome, TestStatus,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Whether a line can be a program's in any driver's output: all of them begin with a number.
pub(crate) fn may_print(line: &[u8]) -> bool {
    line.first().is_some_and(u8::is_ascii_digit)
}

/// What a line of a test program is without what a driver puts in front of it, and that driver's
/// place in the table.
pub(crate) fn printed(line: &[u8]) -> Option<(usize, &[u8])> {
    BUILTIN.iter().enumerate().find_map(|(driver, runner)| {
        if runner.about().contains.is_empty() {
            return None;
        }
        match runner.inner(line) {
            Inner::Prints { line, .. } => Some((driver, line)),
            _ => None,
        }
    })
}

/// The driver of this id, if the parsers named with it are those of runners inside it.
pub(crate) fn driver(id: &str, inside: &[&str]) -> Option<&'static dyn Runner> {
    let driver = BUILTIN.iter().find(|runner| runner.id() == id)?;
    let contains = driver.about().contains;
    (!inside.is_empty() && inside.iter().all(|id| contains.contains(id))).then_some(*driver)
}

/// The log of one program, as it printed it.
#[derive(Debug, Default)]
struct Program {
    /// The driver's name for its test.
    name: String,
    log: Vec<u8>,
    /// The number of each of its lines in the driver's log.
    lines: Vec<usize>,
}

/// Takes the programs out of a driver's log. Of a test that ran several times in one run the last
/// time counts, as it does for the driver.
fn programs(driver: &dyn Runner, log: &[u8]) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    let mut open: HashMap<u64, usize> = HashMap::new();
    for (number, line) in log.split(|byte| *byte == b'\n').enumerate() {
        let line = clean(line.strip_suffix(b"\r").unwrap_or(line));
        match driver.inner(&line) {
            Inner::Nothing => {}
            Inner::Run => open.clear(),
            Inner::Begins { number: test, name } => {
                let known = open.get(&test).copied();
                let again = known.filter(|at| programs.get(*at).is_some_and(|p| p.name == name));
                let at = again.unwrap_or(programs.len());
                let program = Program {
                    name: name.to_owned(),
                    ..Program::default()
                };
                match programs.get_mut(at) {
                    Some(before) => *before = program,
                    None => programs.push(program),
                }
                open.insert(test, at);
            }
            Inner::Prints { number: test, line } => {
                // A log that was cut may show lines of a test without its beginning.
                if let Some(program) = open.get(&test).and_then(|at| programs.get_mut(*at)) {
                    program.log.extend_from_slice(line);
                    program.log.push(b'\n');
                    program.lines.push(number + 1);
                }
            }
        }
    }
    programs
}

/// Reads a driver's log with the driver's parser, and the log of each program with the parser of
/// its own runner: one of `inside`, which the program's lines choose.
///
/// A program's tests are named `program::test`, because two programs may name theirs alike, and a
/// driver's test like one of them. A program that is one test of its driver's name, as discovery
/// registers them, adds nothing.
pub(crate) fn read(
    id: &str,
    driver: &dyn Runner,
    outer: &dyn LogParser,
    inside: &[(&str, Arc<dyn LogParser>)],
    log: &[u8],
) -> ParsedLog {
    let outer = outer.parse(log);
    let ended: BTreeMap<&str, TestStatus> = outer.tests();
    let mut all = ParsedLogBuilder::new(id);
    let (mut consistent, mut died) = (outer.consistent, false);
    let mut found: Vec<(String, ParsedLog, Vec<usize>)> = Vec::new();
    for program in programs(driver, log) {
        let Some(parser) = parser_of(&program.log, inside) else {
            continue;
        };
        let read = parser.parse(&program.log);
        let mut results = read.results.iter();
        let alone = results.next().filter(|_| results.next().is_none());
        if alone.is_some_and(|test| program.name.ends_with(test.name)) {
            continue;
        }
        found.push((program.name, read, program.lines));
    }
    for lost in &outer.modules_not_loaded {
        all.lose(&lost.module, lost.reason, lost.lines.clone());
    }
    for name in &outer.in_flight {
        all.still_running(name.clone());
    }
    for warning in &outer.warnings {
        all.warn(warning.line, warning.text.clone());
    }
    for (program, read, lines) in &found {
        // What the driver saw to its end without complaint was whole, whatever it looks like.
        let passed = ended.get(program.as_str()).is_some_and(|s| s.is_passing());
        let cut = matches!(
            read.outcome,
            RunOutcome::Crashed | RunOutcome::Truncated | RunOutcome::TimedOut
        );
        died |= cut && !passed && !read.results.is_empty();
        if read.consistent == Some(false) {
            consistent = consistent.and(Some(false));
        }
        let place = |line: usize| lines.get(line.saturating_sub(1)).copied();
        for lost in &read.modules_not_loaded {
            let mut proof = lost.lines.clone();
            for line in &mut proof {
                line.line = line.line.and_then(place);
            }
            let module = format!("{program}::{}", lost.module);
            let reason: LostReason = lost.reason;
            all.lose(&module, reason, proof);
        }
        for name in &read.in_flight {
            all.still_running(format!("{program}::{name}"));
        }
        for warning in &read.warnings {
            let line = warning.line.and_then(|line| usize::try_from(line).ok());
            let line = line.and_then(place).map(|line| line as u64);
            all.warn(line, format!("{program}: {}", warning.text));
        }
    }
    if let Some(totals) = outer.totals {
        all.add_totals(totals);
    }
    let outcome = match outer.outcome {
        RunOutcome::Completed if died => RunOutcome::Crashed,
        outcome => outcome,
    };
    all.append(outer.results);
    for (program, read, _) in &found {
        for test in &read.results {
            let name = format!("{program}::{}", test.name);
            let qualified = format!("{program}::{}", test.qualified);
            all.record(program, &qualified, &name, test.status);
        }
    }
    let mut log = all.finish(outcome);
    log.consistent = consistent;
    log
}

/// The parser whose runner printed a program's log; the only one there is needs no proof.
fn parser_of<'a>(
    log: &[u8],
    inside: &'a [(&str, Arc<dyn LogParser>)],
) -> Option<&'a Arc<dyn LogParser>> {
    if let [(_, only)] = inside {
        return Some(only);
    }
    let ids: Vec<&str> = inside.iter().map(|(id, _)| *id).collect();
    let mut detector = Marks::only(&ids);
    detector.feed(log);
    let found = detector.finish(&Hints::default()).parser?;
    let parser = inside.iter().find(|(id, _)| **id == *found);
    parser.map(|(_, parser)| parser)
}
