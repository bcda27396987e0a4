//! `atlas judge --question attempts`.

use super::judging::{finish, paying, prompts, run_text};
use super::rows::RowArgs;
use super::{dry_run, output};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::attempts::AttemptOptions;
use atlas_pipeline::{
    AttemptRunOptions, AttemptRunReport, PredictionSource, attempt_prompts, judge_attempts,
};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What only failed attempts need.
#[derive(Debug, Args)]
pub(super) struct AttemptArgs {
    /// With --question attempts: the attempts. Those that resolve their instance are left out.
    #[arg(long, value_name = "FILE|gold|null")]
    predictions: Option<PredictionSource>,
    /// With --question attempts: the folder of an evaluation, `logs/run_evaluation/<run id>`: which
    /// attempts failed, and what the tests printed. A prediction's own columns `resolved` and `log` go
    /// before. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR", requires = "predictions")]
    evaluations: Vec<PathBuf>,
    /// With --question attempts: the agents' trajectories, as for `atlas review`.
    #[arg(long, value_name = "FILE|DIR", requires = "predictions")]
    trajectories: Option<PathBuf>,
    /// With --question attempts: results of `atlas hints`, names that tests need and statements do not
    /// tell.
    #[arg(long, value_name = "FILE", requires = "predictions")]
    hints: Option<PathBuf>,
}

impl AttemptArgs {
    /// Refuses what another question would pass over in silence.
    pub(super) fn refuse_for_others(&self) -> Result<(), Error> {
        match &self.predictions {
            None => Ok(()),
            Some(_) => Err(Error::new(
                ErrorKind::InvalidInput,
                "judge:",
                "predictions are looked at with --question attempts only",
            )),
        }
    }
}

pub(super) async fn command(
    cx: &RunContext,
    args: AttemptArgs,
    rows: RowArgs,
) -> Result<u8, Error> {
    let predictions = args.predictions.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            "judge attempts:",
            "name them with --predictions",
        )
    })?;
    let defaults = AttemptOptions::default();
    let rehearsal = rows.model.rehearsal_of_one()?;
    let options = AttemptRunOptions {
        attempt: AttemptOptions {
            ask: rows.ask.options(&defaults.ask),
            ask_again: rows.ask.ask_again,
            ..AttemptOptions::default()
        },
        dataset: rows.set.dataset,
        predictions,
        instances: rows.set.only.instance_ids,
        evaluations: args.evaluations,
        trajectories: args.trajectories,
        hints: args.hints,
        out: dry_run::out(rehearsal.as_ref(), rows.model.out.as_ref()),
        jobs: rows.model.jobs.jobs,
    };
    if rows.model.show_prompt {
        return prompts(&attempt_prompts(&options)?, rows.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = judge_attempts(cx, &options, Some(&rehearsal.session)).await?;
        return rehearsal.finish(cx, rows.model.format, &report.run);
    }
    let session = rows.model.session_if_asked()?;
    let work = judge_attempts(cx, &options, session.as_ref());
    let report = paying(session.as_ref(), work).await?;
    finish(cx, rows.model.format, &report, &report.run, |report| {
        Ok(text(report))
    })
}

fn text(report: &AttemptRunReport) -> String {
    let mut text = String::new();
    for one in &report.results {
        let reason = one.reasoning.lines().next().unwrap_or_default();
        let reason: String = reason.chars().take(100).collect();
        let _ = writeln!(
            text,
            "{:<22} {} {} by {}  {reason}",
            one.label, one.instance_id, one.patch_id, one.agent
        );
    }
    text.push('\n');
    for (label, count) in &report.labels {
        let _ = writeln!(text, "{count} {label}");
    }
    let _ = writeln!(
        text,
        "left out: {} that resolve their instance; {} of which nobody said whether they failed",
        report.resolved, report.ungraded
    );
    for (id, task) in &report.tasks {
        if task.is_task_in_doubt {
            let _ = writeln!(
                text,
                "look at {id} itself: none of its {} failed attempts is shown to be wrong",
                task.failed
            );
        }
    }
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    text
}
