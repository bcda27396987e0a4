//! No bytes make a parser panic, none takes long, and prose is no test.
//!
//! A handful of inputs in the everyday run; `ATLAS_FUZZ=1000000` tries that many in all, each with a
//! parser (use a release build). `ATLAS_ONLY=jest` tries one parser.

use crate::support::parser_folders;
use atlas_core::{LogParser, LogParserExt, ParsedLog};
use atlas_parsers::Parsers;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// How many inputs are asked for, each counted per parser; none in the everyday run.
fn asked() -> Option<u64> {
    std::env::var("ATLAS_FUZZ").ok().map(|n| {
        n.parse()
            .expect("ATLAS_FUZZ is a number of inputs, such as 1000000")
    })
}

/// The parsers to try: all, or the one that is asked for.
fn parsers() -> Vec<Arc<dyn LogParser>> {
    let parsers = Parsers::builtin();
    let only = std::env::var("ATLAS_ONLY").ok();
    parsers
        .ids()
        .filter(|id| only.as_deref().is_none_or(|only| only == *id))
        .map(|id| parsers.get(id).unwrap())
        .collect()
}

/// Every log of every corpus, with the parser it belongs to.
static LOGS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let mut logs = Vec::new();
    for folder in parser_folders() {
        for path in folder.corpus() {
            logs.push((folder.id.clone(), std::fs::read(path).unwrap()));
        }
    }
    logs
});

/// What must hold of anything that a parser reads, and the time it may take.
fn check(parser: &dyn LogParser, input: &[u8]) -> Result<ParsedLog, TestCaseError> {
    let clock = Instant::now();
    let log = parser.parse(input);
    let taken = clock.elapsed();
    // Generous: a machine may be busy. Work that is not linear takes minutes.
    let limit = Duration::from_secs(5) + Duration::from_nanos(20_000 * input.len() as u64);
    prop_assert!(taken < limit, "{} took {taken:?}", parser.id());
    prop_assert_eq!(log.parser.as_str(), parser.id());
    for result in &log.results {
        prop_assert!(!result.name.trim().is_empty(), "{}", parser.id());
        prop_assert!(result.seen > 0, "{}: {:?}", parser.id(), result);
    }
    Ok(log)
}

/// A stretch of lines of a log, of some kilobytes at most.
fn stretch(log: &[u8], at: f64) -> &[u8] {
    const LEN: usize = 3 << 10;
    if log.len() <= LEN {
        return log;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a file"
    )]
    let from = ((log.len() - LEN) as f64 * at) as usize;
    let from = memchr::memchr(b'\n', &log[from..]).map_or(from, |end| from + end + 1);
    &log[from..(from + LEN).min(log.len())]
}

/// One of the logs, in part.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    (any::<prop::sample::Index>(), 0.0..1.0f64).prop_map(|(which, at)| {
        let (_, log) = which.get(&LOGS);
        // The beginning and the end are where the frames are.
        let at = ((at * 1.5) - 0.25).clamp(0.0, 1.0);
        stretch(log, at).to_vec()
    })
}

/// Anything: noise, logs that were cut, mixed, shuffled and damaged.
fn anything() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..1500);
    let cut = (piece(), any::<prop::sample::Index>()).prop_map(|(mut log, at)| {
        log.truncate(at.index(log.len() + 1));
        log
    });
    let damaged = (
        piece(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    )
        .prop_map(|(mut log, damage)| {
            if !log.is_empty() {
                for (at, byte) in damage {
                    let at = at.index(log.len());
                    log[at] = byte;
                }
            }
            log
        });
    let shuffled = (piece(), any::<u64>()).prop_map(|(log, seed)| shuffle(&log, seed));
    let mixed = (piece(), piece(), any::<u64>()).prop_map(|(mut log, other, seed)| {
        log.push(b'\n');
        log.extend_from_slice(&other);
        shuffle(&log, seed)
    });
    let words = prop::collection::vec(
        (
            prop::sample::select(WORDS),
            prop::sample::select(&[" ", "", "\n", "\t", "\r", "\u{1b}[1m"][..]),
        ),
        0..120,
    )
    .prop_map(|words| {
        words
            .iter()
            .flat_map(|(word, end)| [word.as_bytes(), end.as_bytes()])
            .collect::<Vec<_>>()
            .concat()
    });
    let huge = (piece(), any::<u64>()).prop_map(|(log, seed)| huge_numbers(&log, seed));
    prop_oneof![bytes, cut, damaged, shuffled, mixed, huge, words]
}

/// A log with some of its numbers as large as they can be: sums of them must not overflow.
fn huge_numbers(log: &[u8], seed: u64) -> Vec<u8> {
    let mut huge = Vec::with_capacity(log.len() * 2);
    let (mut state, mut inside) = (seed | 1, false);
    let mut replaced = false;
    for byte in log {
        if byte.is_ascii_digit() {
            if !inside {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                replaced = !state.is_multiple_of(3);
                if replaced {
                    huge.extend_from_slice(u64::MAX.to_string().as_bytes());
                }
            }
            inside = true;
        } else {
            inside = false;
        }
        if !(inside && replaced) {
            huge.push(*byte);
        }
    }
    huge
}

fn shuffle(log: &[u8], seed: u64) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = log.split(|b| *b == b'\n').collect();
    let mut state = seed | 1;
    for i in (1..lines.len()).rev() {
        // xorshift: enough to mix lines, the same for the same seed.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "taken modulo a small length"
        )]
        lines.swap(i, (state as usize) % (i + 1));
    }
    lines.join(&b'\n')
}

/// Words of runners and of people.
const WORDS: &[&str] = &[
    "the",
    "job",
    "PASSED",
    "FAILED",
    "ok",
    "error:",
    "ERROR",
    "test",
    "passed",
    "1",
    "2",
    "failed",
    "in",
    "0.12s",
    "---",
    "FAIL",
    "PASS",
    "✓",
    "not",
    "-",
    "...",
    "build",
    "suite",
    "okay",
    "then",
    "skipped",
    "#",
    "(3",
    "tests)",
    "FAIL:",
    "=>",
    "[100%]",
    "Ran",
    "a.py",
    "::",
    "src/x.py",
    "note:",
    "done.",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "<testsuite",
    "<testcase name=\"a\"",
    "/>",
    "<",
    ">",
    "1..3",
    "===",
    "running",
    "Tests:",
    "Failures:",
    "=",
    "E",
    ".",
    "F",
    "s",
    "18446744073709551616",
    "-1",
    "%",
    "`",
    "'",
    ":",
    ",",
    "›",
    "●",
    "❯",
    "└─",
    "├─",
    "│",
    "##teamcity[",
    "Start",
    "[ OK ]",
    "[INFO]",
    "[ERROR]",
    "Test",
    "Class.method",
    "Suite",
    "assert",
    "#0",
    "with data set",
    "\"a\"",
];

/// Words of runners and of people, as text that no runner printed would use them.
fn prose() -> impl Strategy<Value = String> {
    // A line of prose begins with a word that no result line begins with.
    let line = (
        prop::sample::select(vec!["And", "we", "saw", "that", "Build", "I", "today"]),
        prop::collection::vec(prop::sample::select(&WORDS[..38]), 0..9),
    )
        .prop_map(|(first, words)| format!("{first} {}", words.join(" ")));
    prop::collection::vec(line, 0..20).prop_map(|lines| lines.join("\n"))
}

/// Runs a property so often that with all parsers a share of what is asked for is tried.
fn run<S: Strategy>(
    share: u64,
    strategy: &S,
    property: impl Fn(&dyn LogParser, &S::Value) -> Result<(), TestCaseError>,
) -> u64 {
    let parsers = parsers();
    let count = parsers.len().max(1) as u64;
    let cases = asked().map_or(24, |inputs| inputs * share / 100 / count + 1);
    let mut runner = TestRunner::new(Config {
        cases: u32::try_from(cases).unwrap_or(u32::MAX),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    });
    let outcome = runner.run(strategy, |input| {
        for parser in &parsers {
            property(&**parser, &input)?;
        }
        Ok(())
    });
    if let Err(why) = outcome {
        panic!("{why}");
    }
    cases * count
}

#[test]
fn anything_is_read() {
    let inputs = run(75, &anything(), |parser, input| {
        check(parser, input).map(drop)
    });
    println!("{inputs} inputs");
}

#[test]
fn prose_has_no_tests() {
    let inputs = run(25, &prose(), |parser, text| {
        let log = check(parser, text.as_bytes())?;
        prop_assert!(log.is_empty(), "{} sees {:?}", parser.id(), log.tests());
        Ok(())
    });
    println!("{inputs} inputs");
}

/// Every byte of small logs where much is asked for; a few dozen places of each otherwise.
#[test]
fn a_log_may_stop_anywhere() {
    let parsers = Parsers::builtin();
    let chosen = parsers_by_id();
    let mut inputs = 0;
    for (id, log) in LOGS.iter().filter(|(id, _)| chosen.contains(id)) {
        let parser = parsers.get(id).unwrap();
        let most = if asked().is_some() {
            (24 << 20) / log.len().max(1)
        } else {
            (128 << 10) / log.len().max(1)
        };
        let step = log.len().div_ceil(most.max(3)).max(1);
        for end in (0..log.len()).step_by(step) {
            inputs += 1;
            if let Err(why) = check(&*parser, &log[..end]) {
                panic!("{id} cut at {end}: {why}");
            }
        }
    }
    println!("{inputs} inputs");
}

#[test]
fn numbers_may_be_as_large_as_they_like() {
    let parsers = Parsers::builtin();
    let chosen = parsers_by_id();
    let mut failed = Vec::new();
    for (id, log) in LOGS.iter().filter(|(id, _)| chosen.contains(id)) {
        let parser = parsers.get(id).unwrap();
        let rounds = if asked().is_some() { 40 } else { 4 };
        for seed in 0..rounds {
            let seed = seed * 0x9e37_79b9 + 1;
            let huge = huge_numbers(log, seed);
            let read = std::panic::catch_unwind(AssertUnwindSafe(|| drop(parser.parse(&huge))));
            if read.is_err() && !failed.contains(id) {
                failed.push(id.clone());
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

fn parsers_by_id() -> Vec<String> {
    parsers().iter().map(|p| p.id().to_owned()).collect()
}

#[test]
fn hostile_lines_cost_no_more_than_their_length() {
    let size = if asked().is_some() { 1 << 18 } else { 1 << 13 };
    for unit in [
        " SUBPASSED(",
        "a.py::b ",
        " - ",
        " (",
        "[",
        "{\"a\":",
        "<testsuite a=\"",
        "<testsuite ",
        "<testsuite>",
        "[gw0] ",
        "FAILED a.py::b - ",
        "a (b.c) ... ",
        "<![CDATA[",
        "--- PASS: ",
        " > ",
        " › ",
        "1) ",
        "  ",
        "ok 1 - a # ",
        "Test #1: ",
        ": ",
        "\u{1b}[3",
        "\r",
    ] {
        let many = unit.repeat(size / unit.len());
        let head = "=== test session starts ===\n=== short test summary info ===\n";
        for text in [
            many.clone(),
            format!("a.py::b{many}"),
            format!("{head}FAILED a.py::b[{many}"),
            many.replace(' ', "\n"),
            format!("{unit}\n").repeat(size / (unit.len() + 1)),
        ] {
            for parser in parsers() {
                if let Err(why) = check(&*parser, text.as_bytes()) {
                    panic!("{unit:?}: {why}");
                }
            }
        }
    }
}
