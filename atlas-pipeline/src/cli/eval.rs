//! `atlas eval` and `atlas regrade`.

use super::shared::{ConfigArgs, DatasetArgs, EngineArgs};
use super::{DONE, ERROR, Format, NO, output};
use atlas_core::{Error, GradingMode, Network, ResourceUsage, RunContext};
use atlas_oracle::{RunReport, ScoreBounds};
use atlas_pipeline::{
    EngineChoice, EvalOptions, EvalOutcome, EvalReport, EvalVerdict, PredictionSource,
    RegradeOptions, RegradeReport, evaluate, regrade, run_id,
};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NetworkChoice {
    None,
    Full,
}

/// Parsers that are not shipped.
#[derive(Debug, Args)]
struct OwnParserArgs {
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
    /// The predictions: a file, gold (the rows' own patches) or null (empty ones).
    #[arg(long, value_name = "FILE|gold|null")]
    predictions: PredictionSource,
    /// The run's name: a folder and a label. Results are shared by content, whatever the name.
    #[arg(long, value_name = "ID", value_parser = run_id)]
    run_id: String,
    /// By whose rules: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, default_value_t)]
    mode: GradingMode,
    #[command(flatten)]
    place: EngineArgs,
    /// Instances that go on at once.
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// Most seconds of one run of the tests [default: limits.seconds of the configuration].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// A prediction may run N times as long as the gold patch did, in strict mode; 0 for no such limit
    /// [default: 10, or `grading.times_gold` of the configuration].
    #[arg(long, value_name = "N")]
    times_gold: Option<u32>,
    /// And so many seconds at any rate [default: 120, or `grading.least_seconds`].
    #[arg(long, value_name = "S")]
    least_seconds: Option<u64>,
    /// Where `logs/run_evaluation` and the report go.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, for rows without an
    /// image.
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Leave out the canary tests and the gold patch's run that shows them to work.
    #[arg(long)]
    no_canaries: bool,
    /// Give canary tests names of this run's own, which logs of earlier runs cannot give away; results are
    /// then not shared with runs of other names.
    #[arg(long, conflicts_with = "no_canaries")]
    fresh_canaries: bool,
    /// Whether tests have a network [default: none in strict mode, full in the others].
    #[arg(long, value_enum, value_name = "WHICH")]
    network: Option<NetworkChoice>,
    /// Where results are kept by content [default: the user's cache folder].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    #[command(flatten)]
    parsers: OwnParserArgs,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) async fn eval(cx: &RunContext, args: EvalArgs) -> Result<u8, Error> {
    let options = EvalOptions {
        instances: args.rows.instance_ids,
        mode: args.mode,
        engine: args.place.engine,
        jobs: args.jobs,
        timeout: args.timeout,
        times_gold: args.times_gold,
        least_seconds: args.least_seconds,
        out: args.out,
        repos: args.repos,
        canaries: !args.no_canaries,
        fresh_canaries: args.fresh_canaries,
        network: args.network.map(|choice| match choice {
            NetworkChoice::None => Network::None,
            NetworkChoice::Full => Network::Full,
        }),
        results: args.results,
        config: args.place.config.read()?,
        trust: args.place.trust,
        parser: args.parsers.parser,
        trust_parsers: args.parsers.trust_parsers,
        ..EvalOptions::new(args.rows.dataset, args.predictions, args.run_id)
    };
    let report = evaluate(cx, &options).await?;
    cx.progress.phase("");
    if args.format == Format::Json {
        output::json(&report)?;
    } else {
        output::print(&text(&report))?;
    }
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
    /// The predictions: a file, gold or null.
    #[arg(long, value_name = "FILE|gold|null")]
    predictions: PredictionSource,
    /// A folder with `<instance>/test_output*.txt`, at any depth.
    #[arg(long, value_name = "DIR")]
    logs: PathBuf,
    /// By whose rules: strict, compat-swebench5, compat-swebench4 or compat-swebenchpp.
    #[arg(long, default_value_t)]
    mode: GradingMode,
    /// Also grade by these rules, and print what they see otherwise, test by test.
    #[arg(long, value_name = "MODE")]
    against: Option<GradingMode>,
    #[command(flatten)]
    parsers: OwnParserArgs,
    /// Where parser code of rows runs: auto, docker or local. Nothing else needs an engine.
    #[arg(long, default_value = "auto")]
    engine: EngineChoice,
    #[command(flatten)]
    config: ConfigArgs,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) async fn again(cx: &RunContext, args: RegradeArgs) -> Result<u8, Error> {
    let options = RegradeOptions {
        instances: args.rows.instance_ids,
        mode: args.mode,
        against: args.against,
        parser: args.parsers.parser,
        engine: args.engine,
        config: args.config.read()?,
        trust_parsers: args.parsers.trust_parsers,
        ..RegradeOptions::new(args.rows.dataset, args.predictions, args.logs)
    };
    let report = regrade(cx, &options).await?;
    cx.progress.phase("");
    if args.format == Format::Json {
        output::json(&report)?;
    } else {
        output::print(&regraded(&report))?;
    }
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
