//! Parsing a `pytest -v` log, beside the least that any reader of lines must do: counting the line
//! ends of the same bytes.

use atlas_benches::pytest_log;
use atlas_core::{LogParser, LogParserExt};
use atlas_parsers::Parsers;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

const TESTS: usize = 50_000;

fn count_lines(log: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', log).count()
}

/// The best of several runs: noise only ever adds.
fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    (0..10)
        .map(|_| {
            let clock = Instant::now();
            black_box(work());
            clock.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn parsing(bench: &mut Criterion) {
    let log = pytest_log(TESTS);
    let log = log.as_bytes();
    let parser: Arc<dyn LogParser> = Parsers::builtin()
        .get("pytest")
        .expect("the pytest parser is built in");
    assert_eq!(parser.parse(log).results.len(), TESTS);

    let mut group = bench.benchmark_group("pytest -v log of 50,000 tests");
    group.throughput(Throughput::Bytes(log.len() as u64));
    group.bench_function("parse", |bench| {
        bench.iter(|| parser.parse(black_box(log)));
    });
    group.bench_function("count newlines", |bench| {
        bench.iter(|| count_lines(black_box(log)));
    });
    group.finish();

    let ratio = best(|| parser.parse(black_box(log))).as_secs_f64()
        / best(|| count_lines(black_box(log))).as_secs_f64();
    writeln!(
        std::io::stdout(),
        "parsing takes {ratio:.0} times as long as counting newlines"
    )
    .expect("standard output can be written");
}

criterion_group!(benches, parsing);
criterion_main!(benches);
