//! What the oracle itself costs: classification of three large runs, beside the least that any
//! comparison of them must do; and, where pull requests are given, `atlas make` beside its three test
//! commands.
//!
//! ```text
//! cargo bench -p atlas-benches --bench oracle
//! ATLAS_BENCH_PULLS=pulls.tsv cargo bench -p atlas-benches --bench oracle   # also the second table
//! ```
//!
//! `pulls.tsv` has lines of instance, clone, base and head, with tabs between; `ATLAS_BENCH_ENGINE` is
//! `docker` (default) or `local`. Environments are built first and not counted.

use atlas_benches::parsed;
use atlas_core::{ParsedLog, RunContext};
use atlas_oracle::{ClassifyInput, classify, grade};
use atlas_pipeline::{MakeOptions, make};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The best wall seconds of several runs: noise only ever adds.
fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..7 {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Looking up each test of one run in the two others, by hash, and counting: no order, no reasons.
fn least(logs: [&ParsedLog; 3]) -> usize {
    use std::collections::HashMap;
    let of = |log: &ParsedLog| -> HashMap<String, bool> {
        let tests = log.results.iter();
        tests
            .map(|test| (test.name.to_owned(), test.status.is_passing()))
            .collect()
    };
    let [base, before, after] = logs.map(of);
    after
        .iter()
        .filter(|(id, passes)| {
            **passes && before.get(*id) == Some(&false) && base.contains_key(*id)
        })
        .count()
}

fn classification(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "tests      classify ms   grade ms   least ms   classify / least"
    )?;
    for tests in [5_000, 50_000] {
        let (base, before, after) = (parsed(tests, 50), parsed(tests, 40), parsed(tests, 1_000));
        let input = ClassifyInput::new(&base, &before, &after);
        let found = classify(&input);
        let ours = best(|| classify(black_box(&input)));
        let graded = best(|| grade(&after, &found.fail_to_pass, &found.pass_to_pass));
        let least = best(|| least([&base, &before, &after]));
        writeln!(
            out,
            "3 x {tests:<6} {:>10.1} {:>10.1} {:>10.1} {:>18.1}",
            ours * 1e3,
            graded * 1e3,
            least * 1e3,
            ours / least
        )?;
    }
    Ok(())
}

/// One pull request: the environment once, then three times all that is left.
async fn pull(
    line: &str,
    folder: &Path,
    out: &mut impl Write,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut fields = line.split('\t');
    let (Some(id), Some(clone), Some(base), Some(head)) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(format!("`{line}`: four fields with tabs between expected").into());
    };
    let engine = std::env::var("ATLAS_BENCH_ENGINE").unwrap_or_else(|_| "docker".to_owned());
    let options = MakeOptions {
        base: Some(base.to_owned()),
        head: Some(head.to_owned()),
        instance_id: Some(id.parse()?),
        engine: engine.parse()?,
        trust: true,
        ..MakeOptions::new(clone, folder)
    };
    let cx = RunContext::new("bench");
    make(&cx, &options).await?;
    let jobs = folder.join(".atlas").join(id).join("jobs");
    let mut best: Option<(f64, f64)> = None;
    for _ in 0..3 {
        std::fs::remove_dir_all(&jobs)?;
        let start = Instant::now();
        let report = make(&cx, &options).await?;
        let total = start.elapsed().as_secs_f64();
        let seconds = report.seconds;
        let alone = seconds.base + seconds.before + seconds.after;
        if best.is_none_or(|(other, of)| total - alone < other - of) {
            best = Some((total, alone));
        }
    }
    let (total, alone) = best.unwrap_or_default();
    writeln!(
        out,
        "{id:<42} {alone:>8.2} {total:>8.2} {:>8.2} {:>8.1} %",
        total - alone,
        (total - alone) / alone * 100.0
    )?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::stdout().lock();
    classification(&mut out)?;
    let Some(list) = std::env::var_os("ATLAS_BENCH_PULLS") else {
        return Ok(());
    };
    writeln!(
        out,
        "\n{:<42} {:>8} {:>8} {:>8} {:>10}",
        "pull request", "tests s", "make s", "more s", "more"
    )?;
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    for line in std::fs::read_to_string(list)?.lines() {
        runtime.block_on(pull(line, folder.path(), &mut out))?;
    }
    Ok(())
}
