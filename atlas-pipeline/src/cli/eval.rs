//! `atlas eval` and `atlas regrade`.

use super::shared::{ConfigArgs, DatasetArgs, EvaluationArgs, Format, JobsArgs};
use super::{DONE, ERROR, NO, output};
use atlas_core::{Error, GradingMode, ResourceUsage, RunContext};
use atlas_oracle::{RunReport, ScoreBounds};
use atlas_pipeline::{
    EvalOptions, EvalOutcome, EvalReport, EvalVerdict, RegradeOptions, RegradeReport, evaluate,
    regrade,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

/// By what a run is graded.
#[derive(Debug, Args)]
struct GradingArgs {
    /// By whose rules: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, default_value_t)]
    mode: GradingMode,
    /// A parser that reads all logs in strict mode [default: what the row brings along, else the one
    /// that it names].
    #[arg(long, value_name = "FILE.json")]
    parser: Option<PathBuf>,
    /// Run parser code that rows bring along even where nothing keeps it apart from this machine.
    #[arg(long)]
    trust_parsers: bool,
}

#[derive(Debug, Args)]
pub(super) struct EvalArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    #[command(flatten)]
    options: EvalOptions,
    #[command(flatten)]
    grading: GradingArgs,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    runs: EvaluationArgs,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn eval(cx: &RunContext, args: EvalArgs) -> Result<u8, Error> {
    let options = args.runs.of(EvalOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        mode: args.grading.mode,
        parser: args.grading.parser,
        trust_parsers: args.grading.trust_parsers,
        jobs: args.jobs.jobs,
        ..args.options
    })?;
    let report = evaluate(cx, &options).await?;
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    Ok(if report.without_evidence() > 0 {
        ERROR
    } else if report.all_resolved() {
        DONE
    } else {
        NO
    })
}

/// The run for a person: each verdict in a line, then the numbers.
fn text(report: &EvalReport) -> String {
    let mut text = String::new();
    let is_of_several = report.reports.len() > 1;
    for verdict in &report.verdicts {
        line(&mut text, verdict, is_of_several);
    }
    for (model, run) in &report.reports {
        sums(&mut text, model, run, report.bounds.get(model));
    }
    output::input_faults(&mut text, &report.faults);
    let ledger = &report.ledger;
    let _ = writeln!(
        text,
        "{} jobs run, {} known from earlier runs, {:.1} MB of results on disk; {:.1} s of tests, {:.1} s \
         around them, {:.1} s in all{}",
        ledger.jobs_run,
        ledger.jobs_known,
        megabytes(ledger.result_bytes),
        ledger.test_seconds,
        ledger.overhead_seconds,
        ledger.seconds,
        taken(&ledger.usage)
    );
    text
}

/// What runs took of the machine, as far as it is known.
fn taken(usage: &ResourceUsage) -> String {
    let cpu = usage.cpu_seconds;
    let memory = usage.peak_memory_bytes.map(megabytes);
    cpu.map(|cpu| format!("; {cpu:.1} s of CPU"))
        .into_iter()
        .chain(memory.map(|memory| format!("; at most {memory:.0} MB of memory")))
        .collect()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a number for people, with one digit behind the point"
)]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn line(text: &mut String, verdict: &EvalVerdict, with_model: bool) {
    let word = match verdict.outcome {
        _ if verdict.resolved => "resolved",
        EvalOutcome::Graded => "not resolved",
        EvalOutcome::NullPatch => "null patch",
        EvalOutcome::EmptyPatch => "empty patch",
        EvalOutcome::NotApplied => "not applied",
        EvalOutcome::NoEvidence => "no evidence",
    };
    let _ = write!(text, "{:<13} {}", word, verdict.instance_id);
    if with_model {
        let _ = write!(text, " by {}", first_line(&verdict.model_name_or_path));
    }
    if let Some(cause) = verdict.cause {
        let _ = write!(text, "  [{cause}]");
    }
    if let Some(reason) = verdict.reasons.first() {
        let _ = write!(text, "  {}", first_line(reason));
    }
    text.push('\n');
    for guard in &verdict.guards {
        let _ = writeln!(
            text,
            "              {}: {}",
            guard.path,
            first_line(&guard.message)
        );
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    let mut short: String = line.chars().take(160).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    short
}

fn sums(text: &mut String, model: &str, run: &RunReport, bounds: Option<&ScoreBounds>) {
    let _ = writeln!(
        text,
        "\n{model}: {} of {} resolved ({} submitted, {} unresolved, {} empty, {} errors, {} without \
         prediction)",
        run.resolved_instances,
        run.total_instances,
        run.submitted_instances,
        run.unresolved_instances,
        run.empty_patch_instances,
        run.error_instances,
        run.incomplete_ids.len()
    );
    if let Some(bounds) = bounds.filter(|bounds| bounds.excused > 0) {
        let _ = writeln!(
            text,
            "score between {:.1} % and {:.1} %: {} failures are not the model's",
            bounds.lower * 100.0,
            bounds.upper * 100.0,
            bounds.excused
        );
    }
}

#[derive(Debug, Args)]
pub(super) struct RegradeArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    #[command(flatten)]
    options: RegradeOptions,
    #[command(flatten)]
    grading: GradingArgs,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn again(cx: &RunContext, args: RegradeArgs) -> Result<u8, Error> {
    let options = RegradeOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        mode: args.grading.mode,
        parser: args.grading.parser,
        trust_parsers: args.grading.trust_parsers,
        config: args.config.read()?,
        ..args.options
    };
    let report = regrade(cx, &options).await?;
    cx.progress.phase("");
    args.format.show(&report, || regraded(&report))?;
    let all = report.instances.iter().all(|one| one.verdict.resolved);
    Ok(if report.without_evidence() > 0 {
        ERROR
    } else if all {
        DONE
    } else {
        NO
    })
}

fn regraded(report: &RegradeReport) -> String {
    let mut text = String::new();
    let model = report
        .instances
        .first()
        .map_or("", |one| one.model_name_or_path.as_str());
    let is_of_several = report
        .instances
        .iter()
        .any(|one| one.model_name_or_path != model);
    for instance in &report.instances {
        line(&mut text, &instance.verdict, is_of_several);
    }
    sums(&mut text, model, &report.run, Some(&report.bounds));
    for change in &report.changes {
        let _ = writeln!(
            text,
            "{} {} {}: {} -> {}",
            change.instance_id, change.list, change.test, change.from, change.to
        );
    }
    output::input_faults(&mut text, &report.faults);
    text
}
