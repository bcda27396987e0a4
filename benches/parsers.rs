//! The parsers' throughput: megabytes of log per second of CPU time on one core, beside two peers
//! measured in the same run on the same bytes: the parsers of the swebench package, where a Python
//! that has it is named, and two limits. `newlines` is how much longer it takes than counting line
//! ends, which is the least that any reader must do; `floor` than that and copying the ids of the
//! result into memory with 24 bytes for each, which is the least that has this result. The logs name
//! no test twice, so the result of 100 MB is larger than the caches. Both read a log in turn, three times:
//! throughputs are the best, the ratio is the median.
//!
//! Memory comes from mimalloc, as in the `atlas` command: it keeps the pages of one log for the
//! next, which the system's allocator gives back.
//!
//! ```text
//! cargo bench -p atlas-benches --bench parsers
//! ATLAS_PEER_PYTHON=venv/bin/python cargo bench -p atlas-benches --bench parsers
//! ATLAS_BENCH_LOGS=FOLDER cargo bench …   # also every log.txt over 100 kB below it, by folder name
//! ```
//!
//! swebench's maven parser only reads runs of one test each, as in `maven-traced`; it finds nothing
//! in a log of one run, and it has no parser of JUnit XML.

use atlas_benches::{log_of, rule_log_of};
use atlas_core::{Harness, LogParserExt};
use atlas_parsers::{CompatHints, Parsers, RuleSet, compat_parse};
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The largest line of the table: what a log of this size costs in memory is shown too.
const LARGE: usize = 500_000_000;

const RUNNERS: [&str; 7] = [
    "pytest",
    "gotest",
    "cargo",
    "jest",
    "maven",
    "maven-traced",
    "junit",
];

/// CPU seconds of this process so far.
#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of a process that runs for minutes"
)]
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The best of several runs: noise only ever adds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    let begun = cpu();
    // A short log is read often: its first rounds are those of cold caches.
    for round in 0_u64.. {
        let start = cpu();
        black_box(work());
        best = best.min(cpu() - start);
        let spent = cpu() - begun;
        if round > 1 && spent > 3.0 || round > 8 && spent > 0.3 {
            break;
        }
    }
    best
}

/// How often a log is read by both in turn: shared machines are twice as fast in one second as in the next.
const TURNS: usize = 3;

/// Copies ids as a result holds them: one after the other, and 24 bytes for each.
fn copy(ids: &[&str]) -> (Vec<String>, Vec<[usize; 3]>) {
    const BLOCK: usize = 256 << 10;
    let (mut blocks, mut places) = (vec![String::with_capacity(BLOCK)], Vec::new());
    for id in ids {
        if blocks
            .last()
            .is_some_and(|b| b.capacity() - b.len() < id.len())
        {
            blocks.push(String::with_capacity(BLOCK.max(id.len())));
        }
        let number = blocks.len() - 1;
        let block = &mut blocks[number];
        places.push([number, block.len(), id.len()]);
        block.push_str(id);
    }
    (blocks, places)
}

fn peer(parser: &str, log: &Path) -> Option<(f64, u64)> {
    let python = std::env::var_os("ATLAS_PEER_PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("swebench_peer.py");
    let done = Command::new(python)
        .arg(script)
        .arg(format!("parse_log_{parser}"))
        .arg(log)
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let (seconds, tests) = said.trim().split_once(' ')?;
    Some((seconds.parse().ok()?, tests.parse().ok()?))
}

#[expect(clippy::cast_precision_loss, reason = "sizes of logs, to three digits")]
fn row(out: &mut impl Write, label: &str, parser: &str, log: &[u8]) -> std::io::Result<()> {
    let known = Parsers::builtin();
    let Ok(reader) = known.get(parser) else {
        return Ok(());
    };
    let results = reader.parse(log).results;
    let tests = results.len();
    let ids: Vec<_> = results.iter().map(|test| test.qualified).collect();
    let copied = best(|| copy(black_box(&ids)));
    drop(ids);
    drop(results);
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(log)?;
    let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
    let mut ratios = Vec::new();
    let mut found = 0;
    for _ in 0..TURNS {
        let own = best(|| reader.parse(black_box(log)));
        ours = ours.min(own);
        if let Some((seconds, tests)) = peer(parser, file.path()) {
            theirs = theirs.min(seconds);
            ratios.push(seconds / own);
            found = tests;
        }
    }
    ratios.sort_by(f64::total_cmp);
    let lines = best(|| memchr::memchr_iter(b'\n', black_box(log)).count());
    let size = log.len() as f64 / 1e6;
    write!(
        out,
        "{label:<28} {size:>7.1} {tests:>9} {:>8.0} {:>9.1}x {:>6.1}x",
        size / ours,
        ours / lines,
        ours / (lines + copied)
    )?;
    match ratios.get(ratios.len() / 2) {
        Some(ratio) => writeln!(out, " {:>9.1} {ratio:>8.0}x {found:>9}", size / theirs),
        None => writeln!(out, " {:>9} {:>9} {:>9}", "-", "-", "-"),
    }
}

fn table(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:<28} {:>7} {:>9} {:>8} {:>10} {:>7} {:>9} {:>9} {:>9}",
        "log", "MB", "tests", "MB/s", "newlines", "floor", "swebench", "ratio", "its tests"
    )?;
    for kind in RUNNERS {
        let parser = kind.split('-').next().unwrap_or(kind);
        for megabytes in [1, 10, 100] {
            let log = log_of(kind, megabytes * 1_000_000);
            let label = format!("{kind} {megabytes} MB");
            row(out, &label, parser, log.as_bytes())?;
        }
    }
    if let Some(folder) = std::env::var_os("ATLAS_BENCH_LOGS") {
        let mut logs = Vec::new();
        collect(Path::new(&folder), &mut logs);
        logs.sort();
        for path in logs {
            let parts: Vec<_> = path.iter().rev().filter_map(|p| p.to_str()).collect();
            if let [_, case, framework, ..] = parts[..] {
                let log = std::fs::read(&path)?;
                row(out, &format!("{framework}/{case}"), framework, &log)?;
            }
        }
    }
    Ok(())
}

/// The rule sets that are measured: a real one, and one whose names have blanks and an end that is to be
/// found.
const RULES: [(&str, &str); 2] = [
    (
        "jimtcl",
        r#"{"schema_version": 1, "id": "jimtcl", "statuses": {"OK": "PASSED", "ERR": "FAILED", "SKIP": "SKIPPED"},
        "lines": [{"name": "result", "pattern": "(?P<id>[\\w.+-]+) (?P<status>OK|ERR|SKIP) +(?P<message>.+)"}],
        "suites": [{"name": "file", "begin": "==== (?P<suite>\\S+) ===="}],
        "totals": [{"name": "counts", "per": "suite", "pattern":
            "\\s*\\S+: Total +(?P<total>\\d+) +Passed +(?P<passed>\\d+) +Skipped +(?P<skipped>\\d+) +Failed +(?P<failed>\\d+)"}],
        "ignore": [{"name": "values", "begin": "(Expected|Got     ): .*"}]}"#,
    ),
    (
        "dotted",
        r#"{"schema_version": 1, "id": "dotted", "statuses": {"ok": "PASSED", "FAILED": "FAILED"},
        "lines": [{"name": "result", "pattern":
            "\\s*(?P<id>.+?) \\.+ (?P<status>ok|FAILED)(?: \\((?P<time>[\\d.]+) ms\\))?"}],
        "suites": [{"name": "part", "begin": "=+ (?P<suite>.+) =+"}],
        "totals": [{"name": "counts", "per": "run", "pattern": "(?P<total>\\d+) run"}]}"#,
    ),
];

/// Rule sets on logs of which every line is a result.
#[expect(clippy::cast_precision_loss, reason = "sizes of logs, to three digits")]
fn rules(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n{:<28} {:>7} {:>9} {:>8} {:>10}",
        "rule set", "MB", "tests", "MB/s", "newlines"
    )?;
    for (name, json) in RULES {
        let rules = RuleSet::from_json(json).and_then(|rules| rules.compile());
        let reader = rules.map_err(std::io::Error::other)?;
        for megabytes in [1, 10] {
            let log = rule_log_of(name, megabytes * 1_000_000);
            let log = log.as_bytes();
            let tests = reader.parse(log).results.len();
            let ours = best(|| reader.parse(black_box(log)));
            let lines = best(|| memchr::memchr_iter(b'\n', black_box(log)).count());
            let size = log.len() as f64 / 1e6;
            writeln!(
                out,
                "{:<28} {size:>7.1} {tests:>9} {:>8.0} {:>9.1}x",
                format!("{name} {megabytes} MB"),
                size / ours,
                ours / lines
            )?;
        }
    }
    Ok(())
}

/// Read as swebench reads it, by the same rules on both sides.
#[expect(clippy::cast_precision_loss, reason = "sizes of logs, to three digits")]
fn compat(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "\n{:<28} {:>7} {:>9} {:>8} {:>9} {:>9} {:>9}",
        "as swebench reads it", "MB", "tests", "MB/s", "swebench", "ratio", "its tests"
    )?;
    let hints = CompatHints::default();
    let mut logs: Vec<(&str, &str, String)> = ["pytest", "gotest", "cargo", "jest"]
        .map(|runner| (runner, runner, log_of(runner, 1_000_000)))
        .into();
    logs.push(("pytest -rA", "pytest", summary_of(&logs[0].2)));
    for (label, parser, log) in &logs {
        let name = format!("parse_log_{parser}");
        let read = || compat_parse(Harness::SweBench5, &name, black_box(log), &hints);
        let tests = read().map_or(0, |found| found.len());
        let ours = best(read);
        let size = log.len() as f64 / 1e6;
        write!(
            out,
            "{label:<28} {size:>7.1} {tests:>9} {:>8.0}",
            size / ours
        )?;
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(log.as_bytes())?;
        match peer(parser, file.path()) {
            Some((theirs, found)) => writeln!(
                out,
                " {:>9.1} {:>8.0}x {found:>9}",
                size / theirs,
                theirs / ours
            )?,
            None => writeln!(out, " {:>9} {:>9} {:>9}", "-", "-", "-")?,
        }
    }
    Ok(())
}

/// The summary that `-rA` adds: a line of each test, its status first.
fn summary_of(verbose: &str) -> String {
    verbose
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (name, status) = (words.next()?, words.next()?);
            ["PASSED", "FAILED"]
                .contains(&status)
                .then(|| format!("{status} {name}\n"))
        })
        .collect()
}

fn collect(folder: &Path, logs: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, logs);
        } else if path.ends_with("log.txt")
            && entry.metadata().is_ok_and(|about| about.len() > 100_000)
        {
            logs.push(path);
        }
    }
}

/// In a process of its own: parses a file piece by piece and prints the most memory it had.
fn peak(parser: &str, path: &str) -> std::io::Result<()> {
    let known = Parsers::builtin();
    let parser = known.get(parser).map_err(std::io::Error::other)?;
    let mut reader = parser.start();
    let mut file = std::fs::File::open(path)?;
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => break,
            n => reader.feed(&piece[..n]),
        }
    }
    let tests = reader.finish().results.len();
    let status = std::fs::read_to_string("/proc/self/status")?;
    let most = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap_or_default();
    writeln!(std::io::stdout(), "{} {tests}", most.trim())
}

/// A log that is mostly output: the result is small, and so must memory be.
fn talkative(runner: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    let one = log_of(runner, 5_000_000);
    let mut written = 0;
    {
        let mut out = std::io::BufWriter::new(file.as_file_mut());
        while written < LARGE {
            out.write_all(one.as_bytes())?;
            written += one.len();
        }
        out.flush()?;
    }
    Ok(file)
}

fn memory(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "\npeak memory of 500 MB: the same 5 MB over and over")?;
    for kind in RUNNERS {
        let runner = kind.split('-').next().unwrap_or(kind);
        let file = talkative(kind)?;
        let done = Command::new(std::env::current_exe()?)
            .env("ATLAS_PEAK", runner)
            .arg(file.path())
            .output()?;
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        writeln!(out, "{kind:<12} {} tests", said.trim())?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    if let Ok(parser) = std::env::var("ATLAS_PEAK") {
        return peak(&parser, &std::env::args().nth(1).unwrap_or_default());
    }
    // `cargo test` runs a benchmark without `--bench`: nothing is to be measured then.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let mut out = std::io::stdout();
    table(&mut out)?;
    rules(&mut out)?;
    compat(&mut out)?;
    memory(&mut out)
}
