//! What the store of a run costs as it grows: reading candidates, a second reading that finds nothing new, steps, and
//! `atlas status` while another process works.
//!
//! ```text
//! cargo bench -p atlas-benches --bench run_store
//! ATLAS_BENCH_CANDIDATES=10000,1370480 cargo bench …
//! ```
//!
//! Steps are done by a second process, the same program under `ATLAS_BENCH_RUN`, while this one asks for the status.
//!
//! Candidates are made here: a hundred of each repository, with an issue and a body of a kilobyte. Peak memory is that of the
//! process until then.

use async_trait::async_trait;
use atlas_core::{Error, RunContext};
use atlas_pipeline::{
    QuietRun, RunCandidate, RunConfig, RunOptions, Stage, StepOutcome, run_candidates, run_status,
};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Names the folder in which the other process works.
const RUN: &str = "ATLAS_BENCH_RUN";

/// Passes everything at once.
#[derive(Debug)]
struct Pass(&'static str);

#[async_trait]
impl Stage for Pass {
    fn id(&self) -> &'static str {
        self.0
    }

    fn version(&self) -> u32 {
        1
    }

    fn parallel(&self) -> usize {
        4
    }

    async fn run(&self, _: &RunContext, _: &RunCandidate) -> Result<StepOutcome, Error> {
        Ok(StepOutcome {
            passed: true,
            outcome: "ready".to_owned(),
            ..StepOutcome::default()
        })
    }
}

fn candidates(path: &Path, count: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    let body = "Words of a description. ".repeat(42);
    for number in 0..count {
        let repo = number / 100;
        let line = serde_json::json!({
            "repo": format!("owner{}/project{repo}", repo % 97), "clone": format!("/clones/{repo}"),
            "source": "github", "number": number, "title": format!("Mend {number}"), "body": body,
            "base": format!("{number:040x}"), "head": format!("{:040x}", number + 1),
            "merged_at": format!("2024-{:02}-{:02}T00:00:00Z", number % 12 + 1, number % 28 + 1),
            "issues": [{ "repo": "o/r", "number": number, "title": "It is wrong", "body": body, "evidence": [] }],
            "change": { "files": 2, "hunks": 3, "added": number % 300, "removed": 2, "test_files": 1,
                "test_added": 9, "paths": ["src/a", "tests/b"] },
        });
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Peak resident memory in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or_default() >> 10
}

/// Steps that the other process does.
const STEPS: u32 = 1_000;

fn options(place: &Path) -> RunOptions {
    RunOptions {
        folder: place.join("run"),
        candidates: vec![place.join("candidates.jsonl")],
        min_free: 0,
        limit: Some(0),
        ..RunOptions::of(&RunConfig::default())
    }
}

/// A run to its limit, and how many seconds it took.
async fn run(options: RunOptions) -> Result<f64, Error> {
    let stages: Vec<Arc<dyn Stage>> = vec![Arc::new(Pass("prepare")), Arc::new(Pass("make"))];
    let since = Instant::now();
    let cx = RunContext::new("bench");
    run_candidates(&cx, &options, &stages, Arc::new(QuietRun)).await?;
    Ok(since.elapsed().as_secs_f64())
}

/// What the other process does.
async fn work(place: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let limit = Some(u64::from(STEPS / 2));
    let options = options(place);
    run(RunOptions { limit, ..options }).await?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "a count of candidates")]
async fn measure(out: &mut impl Write, count: u64) -> Result<(), Box<dyn std::error::Error>> {
    let place = tempfile::tempdir()?;
    let options = options(place.path());
    let file = &options.candidates[0];
    candidates(file, count)?;
    let read = run(options.clone()).await?;
    let unchanged = run(options.clone()).await?;
    // Another time on the file: each line is looked at again.
    std::fs::File::options()
        .append(true)
        .open(file)?
        .set_modified(std::time::SystemTime::now())?;
    let again = run(options.clone()).await?;
    let since = Instant::now();
    let mut working = std::process::Command::new(std::env::current_exe()?)
        .env(RUN, place.path())
        .spawn()?;
    let mut looks = Vec::new();
    let done = loop {
        let since = Instant::now();
        run_status(&options.folder)?;
        looks.push(since.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        if let Some(done) = working.try_wait()? {
            break done;
        }
    };
    if !done.success() {
        return Err("the other process failed".into());
    }
    let took = since.elapsed().as_secs_f64();
    looks.sort_by(f64::total_cmp);
    let store = std::fs::metadata(options.folder.join("run.sqlite"))?.len();
    writeln!(
        out,
        "{count:>9} {read:>8.1} {:>9.1} {unchanged:>10.2} {again:>9.1} {:>9.2} {:>10.2} {:>10.2} {:>8} {:>6}",
        read * 1e6 / count as f64,
        took * 1e3 / f64::from(STEPS),
        looks[looks.len() / 2],
        looks[looks.len() - 1],
        store >> 20,
        peak()
    )?;
    out.flush()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Runtime::new()?;
    if let Some(place) = std::env::var_os(RUN) {
        return runtime.block_on(work(Path::new(&place)));
    }
    let sizes = std::env::var("ATLAS_BENCH_CANDIDATES");
    let sizes = sizes.as_deref().unwrap_or("10000,100000,137048,1370480");
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:>9} {:>8} {:>9} {:>10} {:>9} {:>9} {:>10} {:>10} {:>8} {:>6}",
        "n",
        "read s",
        "us each",
        "nothing s",
        "reread s",
        "ms/step",
        "status ms",
        "worst ms",
        "MiB",
        "peak"
    )?;
    for size in sizes.split(',') {
        runtime.block_on(measure(&mut out, size.trim().parse()?))?;
    }
    Ok(())
}
