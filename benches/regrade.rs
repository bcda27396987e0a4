//! Grading throughput: 1,000 stored logs of one shape, graded by the rules of version 5 of the SWE-bench
//! harness, beside that harness's own `get_eval_report` over the same files, measured in the same run
//! where a Python that has the swebench package is named.
//!
//! ```text
//! cargo bench -p atlas-benches --bench regrade
//! ATLAS_PEER_PYTHON=venv/bin/python cargo bench -p atlas-benches --bench regrade
//! ```
//!
//! The best of three rounds of reading the dataset, reading each log from the file cache and grading it, in
//! wall time and in processor time, which other work on the machine does not change so much. Starting
//! either side does not count, nor does printing; ours also looks for the logs, says why a log is not
//! resolved and makes the run's report. The harness reads each log from disk, too. Ours use all cores, as the
//! command does; the harness's threads would not help it, for they share one interpreter. Memory comes from
//! mimalloc, as in the `atlas` command. Below stand the other modes, without a peer.

use atlas_core::{GradingMode, RunContext};
use atlas_pipeline::{PredictionSource, RegradeOptions, RegradeReport, regrade};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Logs in a table line.
const LOGS: usize = 1_000;

fn lay_out(folder: &Path, tests: usize) -> Result<usize, Box<dyn std::error::Error>> {
    // `pytest -rA`: the harness reads the summary, where the status stands first.
    let ids = |failing: bool| -> Vec<String> {
        (0..tests)
            .filter(|number| (number % 100 == 99) == failing)
            .map(|number| {
                format!(
                    "tests/unit/test_file_{}.py::TestThing::test_case[{number}]",
                    number / 50
                )
            })
            .collect()
    };
    let (mut passing, failing) = (ids(false), ids(true));
    let mut output = format!(
        "=== test session starts ===\nplatform linux -- Python 3.12.1\ncollected {tests} items\n\n\
         === short test summary info ===\n"
    );
    for (word, ids) in [("PASSED", &passing), ("FAILED", &failing)] {
        for id in ids {
            writeln!(output, "{word} {id}")?;
        }
    }
    writeln!(
        output,
        "=== {} failed, {} passed in 9.99s ===",
        failing.len(),
        passing.len()
    )?;
    let guarding = passing.split_off(2);
    let mut rows = String::new();
    for number in 0..LOGS {
        let id = format!("example__project-{number}");
        // Every fifth wants a test that fails.
        let wanted: Vec<&String> = if number % 5 == 0 {
            passing.iter().chain(&failing).collect()
        } else {
            passing.iter().collect()
        };
        let row = json!({
            "instance_id": id,
            "repo": "example/project",
            "base_commit": format!("{number:040x}"),
            "patch": format!("--- a/n\n+++ b/n\n@@ -1 +1 @@\n-0\n+{number}\n"),
            "test_patch": "--- a/t\n+++ b/t\n@@ -1 +1 @@\n-0\n+1\n",
            "problem_statement": "", "hints_text": "", "created_at": "2026-01-01T00:00:00Z",
            "environment_setup_commit": "", "version": "1",
            "FAIL_TO_PASS": serde_json::to_string(&wanted)?,
            "PASS_TO_PASS": serde_json::to_string(&guarding)?,
            "image": format!("sweb.eval.x86_64.{id}:latest"),
            "eval_script": "#!/bin/bash\n: '>>>>> Start Test Output'\npytest\n: '>>>>> End Test Output'\n",
            "log_parser": "parse_log_pytest",
            "eval_type": "pass_and_fail",
        });
        writeln!(rows, "{row}")?;
        let log = format!(
            "+ : '>>>>> Start Test Output'\n+ pytest -rA\n{output}+ SWEBENCH_TEST_EXIT_CODE=1\n\
             + : '>>>>> End Test Output'\n+ echo '>>>>> Test Exit Code: 1'\n>>>>> Test Exit Code: 1\n"
        );
        let place = folder.join("logs").join(&id);
        std::fs::create_dir_all(&place)?;
        std::fs::write(place.join("test_output.txt"), log)?;
    }
    std::fs::write(folder.join("dataset.jsonl"), rows)?;
    Ok(output.len())
}

/// What a round took.
#[derive(Clone, Copy, Debug)]
struct Seconds {
    wall: f64,
    cpu: f64,
}

#[expect(clippy::cast_precision_loss, reason = "seconds and parts of one")]
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn peer(folder: &Path) -> Option<(Seconds, u64)> {
    let python = std::env::var_os("ATLAS_PEER_PYTHON")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("regrade_peer.py");
    let done = Command::new(python)
        .arg(script)
        .args([folder.join("dataset.jsonl"), folder.join("logs")])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut words = said.split_whitespace();
    let seconds = Seconds {
        wall: words.next()?.parse().ok()?,
        cpu: words.next()?.parse().ok()?,
    };
    Some((seconds, words.next()?.parse().ok()?))
}

fn ours(
    folder: &Path,
    mode: GradingMode,
) -> Result<(Seconds, RegradeReport), Box<dyn std::error::Error>> {
    let dataset = folder.join("dataset.jsonl");
    let options = RegradeOptions {
        mode,
        ..RegradeOptions::new(dataset, PredictionSource::Gold, folder.join("logs"))
    };
    let runtime = tokio::runtime::Runtime::new()?;
    let cx = RunContext::new("bench");
    let mut report = runtime.block_on(regrade(&cx, &options))?;
    let mut best = Seconds {
        wall: f64::MAX,
        cpu: f64::MAX,
    };
    for _ in 0..3 {
        let (start, start_cpu) = (Instant::now(), cpu());
        report = black_box(runtime.block_on(regrade(&cx, &options))?);
        best.wall = best.wall.min(start.elapsed().as_secs_f64());
        best.cpu = best.cpu.min(cpu() - start_cpu);
    }
    Ok((best, report))
}

#[expect(clippy::cast_precision_loss, reason = "counts of logs and bytes")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo test` runs a benchmark without `--bench`: nothing is to be measured then.
    if !std::env::args().any(|arg| arg == "--bench") {
        return Ok(());
    }
    let mut out = std::io::stdout();
    if std::env::var_os("ATLAS_PEER_PYTHON").is_none() {
        writeln!(
            out,
            "no peer: ATLAS_PEER_PYTHON names no Python with swebench"
        )?;
    }
    writeln!(
        out,
        "{:>5} {:>6} {:>7} {:>16} {:>8} {:>8} {:>10} {:>9} {:>7} {:>7}",
        "logs", "tests", "kB", "mode", "logs/s", "us CPU", "swebench/s", "us CPU", "wall", "CPU"
    )?;
    for tests in [100, 200, 500, 2_000] {
        let folder = tempfile::tempdir()?;
        let bytes = lay_out(folder.path(), tests)?;
        for mode in [
            "compat-swebench5",
            "compat-swebench4",
            "compat-swebenchpp",
            "strict",
        ] {
            let (seconds, report) = ours(folder.path(), mode.parse()?)?;
            let each = |seconds: f64| seconds * 1e6 / LOGS as f64;
            write!(
                out,
                "{LOGS:>5} {tests:>6} {:>7.0} {mode:>16} {:>8.0} {:>8.0}",
                bytes as f64 / 1e3,
                LOGS as f64 / seconds.wall,
                each(seconds.cpu),
            )?;
            let peer = (mode == "compat-swebench5").then(|| peer(folder.path()));
            if let Some((theirs, resolved)) = peer.flatten() {
                if resolved != report.run.resolved_instances {
                    return Err(format!(
                        "swebench resolves {resolved}, we {}",
                        report.run.resolved_instances
                    )
                    .into());
                }
                writeln!(
                    out,
                    " {:>10.0} {:>9.0} {:>6.1}x {:>6.1}x",
                    LOGS as f64 / theirs.wall,
                    each(theirs.cpu),
                    theirs.wall / seconds.wall,
                    theirs.cpu / seconds.cpu,
                )?;
            } else {
                writeln!(out, " {:>10} {:>9} {:>7} {:>7}", "-", "-", "-", "-")?;
            }
        }
    }
    Ok(())
}
