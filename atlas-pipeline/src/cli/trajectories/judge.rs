//! `atlas trajectories judge`.

use super::judging::{FormAskArgs, ModelArgs, finish, paying, prompts, run_text};
use crate::cli::{DONE, ERROR, dry_run};
use atlas_core::{Error, RunContext};
use atlas_judge::trajectories::{TrajectoryJudgeOptions, TrajectoryRule};
use atlas_pipeline::{
    TrajectoryJudgeReport, TrajectoryJudgeRunOptions, judge_trajectories, trajectory_prompts,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// Recordings, or folders of them.
    #[arg(required = true)]
    places: Vec<PathBuf>,
    /// The hints that the agents were given: JSON lines with `instance_id` and `hint`, or results of `atlas hints`. The
    /// judge is not shown them.
    #[arg(long, value_name = "FILE")]
    hints: Option<PathBuf>,
    /// The worst score, 0 to 3, that is still good enough.
    #[arg(long, value_name = "SCORE", default_value_t = TrajectoryRule::default().high_up_to, value_parser = clap::value_parser!(u8).range(0..=3))]
    high_up_to: u8,
    /// Most tokens (of four bytes) of the steps; what is longer is cut in its middle.
    #[arg(long, value_name = "TOKENS", default_value_t = TrajectoryJudgeOptions::default().limit)]
    limit: usize,
    #[command(flatten)]
    ask: FormAskArgs,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) async fn command(cx: &RunContext, args: JudgeArgs) -> Result<u8, Error> {
    let defaults = TrajectoryJudgeOptions::default();
    let rehearsal = args.model.rehearsal_of_one()?;
    let options = TrajectoryJudgeRunOptions {
        places: args.places,
        hints: args.hints,
        judge: TrajectoryJudgeOptions {
            ask: args.ask.options(&defaults.ask),
            ask_again: args.ask.ask_again,
            rule: TrajectoryRule {
                high_up_to: args.high_up_to,
            },
            limit: args.limit,
            ..defaults
        },
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
    };
    if args.model.show_prompt {
        return prompts(&trajectory_prompts(&options)?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = judge_trajectories(cx, &options, &rehearsal.session).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = args.model.session()?;
    let work = judge_trajectories(cx, &options, &session);
    let report = paying(Some(&session), work).await?;
    let code = finish(cx, args.model.format, &report, &report.run, |report| {
        Ok(text(report))
    })?;
    let is_read = report.faults.is_empty();
    Ok(if is_read || code != DONE { code } else { ERROR })
}

fn text(report: &TrajectoryJudgeReport) -> String {
    let mut text = String::new();
    for one in &report.results {
        let word = if one.accepted { "accepted" } else { "refused " };
        let scores = one
            .scores
            .iter()
            .map(|(name, score)| format!("{name} {score}"));
        let scores: Vec<String> = scores.collect();
        let id = if one.instance_id.is_empty() {
            "-"
        } else {
            &one.instance_id
        };
        let _ = writeln!(
            text,
            "{word} {}:{} {id}: {}",
            one.file,
            one.number,
            scores.join(", ")
        );
        if !one.accepted {
            let _ = writeln!(text, "  {}", one.explanation.replace('\n', " "));
        }
    }
    let _ = writeln!(
        text,
        "\n{} of {} accepted",
        report.accepted,
        report.results.len()
    );
    for (dimension, count) in &report.findings {
        let _ = writeln!(text, "{count} refused for {dimension}");
    }
    for fault in &report.faults {
        let _ = writeln!(text, "fault: {fault}");
    }
    run_text(&mut text, &report.run, &report.ledger);
    text
}
