//! A test of a real log prints a whole other log of the same runner.
//!
//! Where a log that is cut off is an open run with some of its tests, and a line of prose changes nothing, there a
//! test may print. With another log at that place the results are the same, or the log is not sure of them.

use crate::support::{Folder, name, parser_folders};
use atlas_core::{LogParser, LogParserExt, ParsedLog, RunOutcome};
use atlas_parsers::Parsers;

/// Most bytes of a log, and most places in it.
const LONGEST: usize = 4 << 10;
const PLACES: usize = 3;

/// A log whose counts prove its results.
fn is_whole(log: &ParsedLog) -> bool {
    log.outcome == RunOutcome::Completed && log.consistent == Some(true) && !log.is_empty()
}

/// Whether there is a name for each test that the runner counts.
fn names_all(log: &ParsedLog) -> bool {
    let totals = log.totals.unwrap_or_default();
    let parts = [
        totals.passed,
        totals.failed,
        totals.errors,
        totals.skipped,
        totals.xfailed,
        totals.xpassed,
    ];
    let sum = parts.into_iter().flatten().sum();
    totals.total.unwrap_or(sum) == log.tests().len() as u64
}

/// Parsers that believe another reading of some logs, and lose a failure in some: at most so many of a hundred.
///
/// Each of these answers is wrong, and known.
const SILENT: &[(&str, usize, usize)] = &[
    ("cargo", 1, 1),
    ("karma", 3, 0),
    ("minitest", 1, 0),
    ("mocha", 4, 1),
    ("tap", 1, 0),
];

/// What became of the logs of one parser.
#[derive(Debug, Default)]
struct Tried {
    logs: usize,
    /// Another reading, believed.
    silent: Vec<String>,
    /// Among them those in which a failure is lost.
    lost: usize,
}

/// Short logs, with their readings, whose counts prove these.
fn whole_logs(parser: &dyn LogParser, folder: &Folder) -> Vec<(String, String, ParsedLog)> {
    let mut logs = Vec::new();
    for path in folder.corpus() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let own = parser.parse(text.as_bytes());
        if text.len() < LONGEST && is_whole(&own) {
            logs.push((name(&path), text, own));
        }
    }
    logs
}

/// Offsets of lines in a log before which a test could have printed something: cut off there, the log is that of a run
/// that did not end, with results of some of its tests but not all; and a line of prose put there changes no result.
fn places(parser: &dyn LogParser, text: &str, own: &ParsedLog) -> Vec<usize> {
    let is_open = |at: &usize| {
        let (front, rest) = text.split_at(*at);
        let cut = parser.parse(front.as_bytes());
        let with = parser.parse(format!("{front}some words\n{rest}").as_bytes());
        cut.outcome == RunOutcome::Truncated
            && (1..own.tests().len()).contains(&cut.tests().len())
            && with.tests() == own.tests()
            && is_whole(&with)
    };
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let step = ends.len().div_ceil(3 * PLACES).max(1);
    let open: Vec<usize> = ends.into_iter().step_by(step).filter(is_open).collect();
    let step = open.len().div_ceil(PLACES).max(1);
    open.into_iter().step_by(step).collect()
}

fn try_all(parser: &dyn LogParser, folder: &Folder) -> Tried {
    let logs = whole_logs(parser, folder);
    let mut tried = Tried::default();
    for (host, text, own) in logs.iter().filter(|(_, _, own)| names_all(own)) {
        for place in places(parser, text, own) {
            let (front, rest) = text.split_at(place);
            for (inner, printed, _) in &logs {
                for printed in [printed.as_str(), printed.trim_end()] {
                    let read = parser.parse(format!("{front}{printed}{rest}").as_bytes());
                    tried.logs += 1;
                    if is_whole(&read) && read.tests() != own.tests() {
                        tried.silent.push(format!("{inner} in {host} at {place}"));
                        tried.lost += usize::from(loses_failure(own, &read));
                    }
                }
            }
        }
    }
    tried
}

/// Whether a test that failed is read as another status, or not at all.
fn loses_failure(own: &ParsedLog, read: &ParsedLog) -> bool {
    let read = read.tests();
    own.tests().iter().any(|(name, status)| {
        status.is_failing() && read.get(name).is_none_or(|status| !status.is_failing())
    })
}

#[test]
fn a_printed_log_changes_no_result_in_silence() {
    let mut wrong = Vec::new();
    for folder in parser_folders() {
        let parser = Parsers::builtin().get(&folder.id).unwrap();
        let tried = try_all(&*parser, &folder);
        let Tried { logs, silent, lost } = &tried;
        let known = SILENT.iter().find(|(id, ..)| *id == folder.id);
        let (_, most_silent, most_lost) = known.copied().unwrap_or_default();
        let count = silent.len();
        let counts = format!("{}: of {logs} logs {count} silent, {lost} lost", folder.id);
        println!("{counts} {silent:#?}");
        if count * 100 > most_silent * logs || lost * 100 > most_lost * logs {
            wrong.push(counts);
        } else if known.is_some() && count == 0 {
            wrong.push(format!("{}: read rightly now", folder.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
