//! `atlas audit`.

use super::dataset::{CodeArgs, faults_text, lost_rows, read, word};
use super::shared::{EvaluationArgs, JobsArgs};
use super::{DONE, Format, NO};
use atlas_core::{Error, GradingMode, RunContext};
use atlas_pipeline::{
    AuditReport, EvalOptions, PredictionSource, audit_dataset, audit_runs, run_id,
};
use clap::{Arg, Args};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Options that only runs have.
const OF_RUNS: [&str; 9] = [
    "engine", "config", "trust", "timeout", "results", "mode", "jobs", "run_id", "out",
];

#[derive(Debug, Args)]
#[command(mut_args(of_run))]
pub(super) struct AuditArgs {
    /// The dataset: JSON lines, a JSON list, a folder of tasks, Parquet.
    dataset: PathBuf,
    #[command(flatten)]
    codes: CodeArgs,
    /// Also build and run each row, with its own solution and without any.
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    runs: EvaluationArgs,
    /// By whose rules runs are graded: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, default_value_t)]
    mode: GradingMode,
    #[command(flatten)]
    jobs: JobsArgs,
    /// The runs' name.
    #[arg(long, value_name = "ID", value_parser = run_id, default_value = "audit")]
    run_id: String,
    /// Where the logs of runs go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

fn of_run(option: Arg) -> Arg {
    if OF_RUNS.contains(&option.get_id().as_str()) {
        option.requires("run")
    } else if option.get_id() == "repos" {
        option.help(
            "A clone, or a folder of clones named `owner__name`, `owner/name` or `name`: the patches are tried in them, \
             and rows without an image run on them",
        )
    } else {
        option
    }
}

pub(super) async fn command(cx: &RunContext, args: AuditArgs) -> Result<u8, Error> {
    let set = read(&args.dataset)?;
    let lint = args.codes.options();
    let repos = args.runs.repos.as_deref();
    let mut report = tokio::task::block_in_place(|| audit_dataset(cx, &set, &lint, repos))?;
    if args.run {
        let options = args.runs.of(EvalOptions {
            mode: args.mode,
            jobs: args.jobs.jobs,
            out: args.out,
            ..EvalOptions::new(args.dataset, PredictionSource::Gold, args.run_id)
        })?;
        audit_runs(cx, &set, &options, &mut report).await?;
    }
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    Ok(if report.is_clean() { DONE } else { NO })
}

/// Each finding in a line, then how often each kind occurs.
fn text(report: &AuditReport) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{finding}");
    }
    faults_text(&mut text, &report.faults);
    for (code, count) in &report.counts {
        let (severity, rows) = (word(count.severity), count.rows);
        let _ = writeln!(
            text,
            "{code:<28} {severity:<8} {rows:>6}  {}",
            count.meaning
        );
    }
    let _ = writeln!(
        text,
        "{} of {} rows have something wrong with them, {} cannot be read",
        report.rows_with_findings,
        report.rows,
        lost_rows(&report.faults)
    );
    text
}
