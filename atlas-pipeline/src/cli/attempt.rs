//! `atlas attempt`, and the shell that it gives to agents.

use super::shared::{EvaluationArgs, InstanceArgs, JobsArgs};
use super::{DONE, ERROR, Format, NO, output};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{
    AgentChoice, AttemptOptions, AttemptRecord, AttemptReport, EvalOptions, PredictionSource,
    run_attempts, run_id,
};
use atlas_trajectory::{AttemptBudget, shell_client};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct AttemptArgs {
    /// The dataset: a file, or a folder of tasks.
    #[arg(value_name = "FILE|DIR")]
    dataset: PathBuf,
    /// Who attempts: mini-swe-agent (the package of that name, version 2), or a command line for bash, in which
    /// `{shell}`, `{shell_dir}`, `{socket}`, `{statement}`, `{recordings}`, `{instance}`, `{attempt}`, `{folder}` and
    /// `{model}` stand for what the agent is given.
    #[arg(long, value_name = "mini-swe-agent|COMMAND")]
    agent: String,
    /// The model by the name that the agent knows it by.
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The Python that has the package mini-swe-agent.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// mini-swe-agent's configuration, by name or path [default: its own `mini`].
    #[arg(long, value_name = "NAME|FILE")]
    agent_config: Option<String>,
    /// The agent's name, for records [default: the command's first word].
    #[arg(long, value_name = "NAME")]
    agent_name: Option<String>,
    /// The name under which attempts are graded; with several at an instance each has its number behind it.
    #[arg(long, value_name = "ID", value_parser = run_id, default_value = "attempts")]
    run_id: String,
    /// Attempts at each instance.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    k: u32,
    /// Hints for the agent: JSON lines with `instance_id` and `hint`, or results of `atlas hints`.
    #[arg(long, value_name = "FILE")]
    hints: Option<PathBuf>,
    /// Only instances that this run's report tells of and does not resolve. Of several, none may resolve them.
    #[arg(long, value_name = "REPORT.json", num_args = 1..)]
    only_unresolved: Vec<PathBuf>,
    #[command(flatten)]
    only: InstanceArgs,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    runs: EvaluationArgs,
    /// Where everything goes.
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

/// What each attempt may spend.
#[derive(Debug, Args)]
struct BudgetArgs {
    /// Most commands of an attempt.
    #[arg(long, value_name = "N", default_value_t = 250)]
    steps: u64,
    /// Most tokens of an attempt, as far as the agent tells them.
    #[arg(long, value_name = "N")]
    tokens: Option<u64>,
    /// Most seconds of an attempt.
    #[arg(long, value_name = "S", default_value_t = 3600)]
    seconds: u64,
    /// Most US dollars of an attempt, as far as the agent tells them.
    #[arg(long, value_name = "USD")]
    cost: Option<f64>,
    /// Most seconds of one command.
    #[arg(long, value_name = "S", default_value_t = 120)]
    command_seconds: u64,
}

/// What an agent calls as its shell.
#[derive(Debug, Args)]
pub(super) struct ShellArgs {
    socket: PathBuf,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(super) fn shell(args: &ShellArgs) -> Result<u8, Error> {
    shell_client(&args.socket, &args.arguments).map_err(|why| {
        Error::new(ErrorKind::Io, "run a command in", "the sandbox").with_source(why)
    })
}

pub(super) async fn command(cx: &RunContext, args: AttemptArgs) -> Result<u8, Error> {
    let choice = AgentChoice {
        agent: args.agent,
        model: args.model,
        python: args.python,
        config: args.agent_config,
        name: args.agent_name,
    };
    let agent = choice.open()?;
    let out = args.out.clone();
    let eval = args.runs.of(EvalOptions {
        instances: args.only.instance_ids,
        jobs: args.jobs.jobs,
        out: args.out,
        ..EvalOptions::new(args.dataset, PredictionSource::Null, args.run_id)
    })?;
    let options = AttemptOptions {
        attempts: args.k,
        budget: AttemptBudget {
            steps: args.budget.steps,
            tokens: args.budget.tokens,
            seconds: args.budget.seconds,
            cost_usd: args.budget.cost,
            command_seconds: args.budget.command_seconds,
            ..AttemptBudget::default()
        },
        hints: args.hints,
        only_unresolved: args.only_unresolved,
        ..AttemptOptions::new(eval)
    };
    let report = run_attempts(cx, &agent, &options).await?;
    cx.progress.phase("");
    if args.format.is_json() {
        output::json(&report)?;
    } else {
        let mut text = text(&report);
        let _ = writeln!(text, "written to {}", out.display());
        output::print(&text)?;
    }
    Ok(if report.without_evidence > 0 {
        ERROR
    } else if report.all_resolved() {
        DONE
    } else {
        NO
    })
}

fn text(report: &AttemptReport) -> String {
    let mut text = String::new();
    for record in &report.attempts {
        line(&mut text, record);
    }
    let _ = writeln!(
        text,
        "\n{} of {} instances resolved by {} of {} attempts",
        report.resolved_instances,
        report.instances.len(),
        report.resolved_attempts,
        report.attempts.len()
    );
    for (k, chance) in &report.pass_at_k {
        let _ = writeln!(text, "pass@{k} {:.1} %", chance * 100.0);
    }
    for (what, (tries, revealed)) in &report.forbidden {
        let what = serde_json::to_string(what)
            .unwrap_or_default()
            .replace(['"', '_'], " ");
        let _ = writeln!(
            text,
            "reached for{what}{tries} times, {revealed} of them revealed something"
        );
    }
    for (gate, count) in &report.not_accepted {
        let _ = writeln!(text, "{gate}: {count} attempts are not accepted");
    }
    let _ = writeln!(
        text,
        "{} tokens, ${:.2}, {:.0} s of attempts",
        report.usage.tokens(),
        report.usage.cost_usd,
        report.seconds
    );
    output::input_faults(&mut text, &report.faults);
    text
}

fn line(text: &mut String, record: &AttemptRecord) {
    let word = match &record.verdict {
        Some(verdict) if verdict.resolved => "resolved",
        Some(_) if record.is_evidence() => "not resolved",
        _ => "no evidence",
    };
    let _ = write!(
        text,
        "{word:<13} {} #{}  {}, {} steps",
        record.instance_id, record.attempt, record.exit_status, record.steps
    );
    if let Some(verdict) = &record.verdict {
        let (passed, all) = verdict.fail_to_pass;
        let (guards, of) = verdict.pass_to_pass;
        let _ = write!(
            text,
            ", FAIL_TO_PASS {passed}/{all}, PASS_TO_PASS {guards}/{of}"
        );
    }
    let reasons = record.verdict.iter().flat_map(|verdict| &verdict.reasons);
    if let Some(reason) = reasons.chain(&record.notes).next() {
        let short: String = reason
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(120)
            .collect();
        let _ = write!(text, "  {short}");
    }
    text.push('\n');
}
