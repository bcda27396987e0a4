//! `atlas audit`.

use super::dataset::{faults_text, lost_rows, read, word};
use super::shared::configuration;
use super::{DONE, Format, NO, output};
use atlas_core::{Error, GradingMode, RunContext};
use atlas_formats::{LintCode, LintOptions, Schema};
use atlas_pipeline::{
    AuditReport, EngineChoice, EvalOptions, PredictionSource, audit_dataset, audit_runs, run_id,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The dataset: JSON lines, a JSON list, a folder of tasks, Parquet.
    dataset: PathBuf,
    /// The schema of the rows [default: told from each].
    #[arg(long, value_name = "SCHEMA")]
    schema: Option<Schema>,
    /// A code that is not reported (`atlas lint --list` has them). Can be given several times.
    #[arg(long, value_name = "CODE")]
    ignore: Vec<LintCode>,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`: the patches are tried in
    /// them, and rows without an image run on them.
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Also build and run each row, with its own solution and without any.
    #[arg(long)]
    run: bool,
    /// Where the tests run: auto, docker or local.
    #[arg(long, requires = "run", default_value = "auto")]
    engine: EngineChoice,
    /// By whose rules runs are graded: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, requires = "run", default_value_t)]
    mode: GradingMode,
    /// Rows that run at once.
    #[arg(long, short, requires = "run", value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Most seconds of one run of the tests [default: limits.seconds of the configuration].
    #[arg(long, requires = "run", value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// The runs' name.
    #[arg(long, requires = "run", value_name = "ID", value_parser = run_id, default_value = "audit")]
    run_id: String,
    /// Where the logs of runs go.
    #[arg(long, requires = "run", value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Where results are kept by content [default: the user's cache folder].
    #[arg(long, requires = "run", value_name = "DIR")]
    results: Option<PathBuf>,
    /// Configuration [default: atlas.toml in this folder, if there is one].
    #[arg(long, requires = "run", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Run the repositories' code even where nothing keeps it apart from this machine.
    #[arg(long, requires = "run")]
    trust: bool,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: AuditArgs) -> Result<u8, Error> {
    let set = read(&args.dataset)?;
    let mut lint = LintOptions::default();
    lint.schema = args.schema;
    lint.ignored = args.ignore.iter().copied().collect();
    let repos = args.repos.as_deref();
    let mut report = tokio::task::block_in_place(|| audit_dataset(cx, &set, &lint, repos))?;
    if args.run {
        let options = EvalOptions {
            mode: args.mode,
            engine: args.engine,
            jobs: args.jobs,
            timeout: args.timeout,
            out: args.out,
            repos: args.repos,
            results: args.results,
            config: configuration(args.config.as_deref())?,
            trust: args.trust,
            ..EvalOptions::new(args.dataset, PredictionSource::Gold, args.run_id)
        };
        audit_runs(cx, &set, &options, &mut report).await?;
    }
    cx.progress.phase("");
    if args.format == Format::Json {
        output::json(&report)?;
    } else {
        output::print(&text(&report))?;
    }
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
