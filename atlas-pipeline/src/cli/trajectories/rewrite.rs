//! `atlas trajectories rewrite`.

use super::judging::{ModelArgs, finish, paying, prompts, run_text};
use crate::cli::{DONE, ERROR, dry_run};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{RewriteRunOptions, RewriteRunReport, rewrite_prompts, rewrite_trajectories};
use atlas_trajectory::RewriteOptions;
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct RewriteArgs {
    /// Recordings, or folders of them.
    #[arg(required = true)]
    places: Vec<PathBuf>,
    /// Where the recordings go, under the same names and as ATIF, those too in which nothing was to be rewritten.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The hints that the agents were given: JSON lines with `instance_id` and `hint`, or results of `atlas hints`. The
    /// model is not shown them.
    #[arg(long, value_name = "FILE")]
    hints: Option<PathBuf>,
    /// A word that counts as the hint's. Can be given several times.
    #[arg(long = "word", value_name = "WORD")]
    words: Vec<String>,
    /// Most questions for one thought.
    #[arg(long, value_name = "N", default_value_t = RewriteOptions::default().questions)]
    questions: u32,
    /// Most tokens of a thought's answer.
    #[arg(long, value_name = "N", default_value_t = RewriteOptions::default().max_tokens, value_parser = clap::value_parser!(u32).range(1..))]
    max_tokens: u32,
    /// Sampling temperature.
    #[arg(long, value_name = "T", default_value_t = RewriteOptions::default().temperature)]
    temperature: f64,
    /// Seed of a thought's first question; further ones take the next.
    #[arg(long, value_name = "N", default_value_t = RewriteOptions::default().seed)]
    seed: u64,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) async fn command(cx: &RunContext, args: RewriteArgs) -> Result<u8, Error> {
    let rehearsal = args.model.rehearsal_of_one()?;
    let mut options = RewriteRunOptions {
        places: args.places,
        hints: args.hints,
        words: args.words,
        rewrite: RewriteOptions {
            questions: args.questions,
            max_tokens: args.max_tokens,
            temperature: args.temperature,
            seed: args.seed,
        },
        to: args.to,
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
    };
    if args.model.show_prompt {
        return prompts(&rewrite_prompts(&options)?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        // Thoughts that nobody wrote go where the results of a dry run go.
        options.to = options.out.with_extension("recordings");
        let report = rewrite_trajectories(cx, &options, &rehearsal.session).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = args.model.session()?;
    let work = rewrite_trajectories(cx, &options, &session);
    let report = paying(Some(&session), work).await?;
    let code = finish(cx, args.model.format, &report, &report.run, |report| {
        Ok(text(report, &options))
    })?;
    let is_read = report.faults.is_empty();
    Ok(if is_read || code != DONE { code } else { ERROR })
}

fn text(report: &RewriteRunReport, options: &RewriteRunOptions) -> String {
    let mut text = String::new();
    for one in &report.results {
        let word = if one.accepted { "accepted" } else { "refused " };
        let _ = write!(
            text,
            "{word} {}:{}: {} thoughts written anew",
            one.file, one.number, one.thoughts
        );
        let _ = match one.findings.as_slice() {
            [] => writeln!(text),
            codes => writeln!(text, "; {}", codes.join(", ")),
        };
    }
    let _ = writeln!(
        text,
        "\n{} thoughts written anew; {} of {} recordings accepted",
        report.thoughts, report.accepted, report.run.items
    );
    if report.written > 0 {
        let _ = writeln!(
            text,
            "{} files written to {}",
            report.written,
            options.to.display()
        );
    }
    for fault in &report.faults {
        let _ = writeln!(text, "fault: {fault}");
    }
    run_text(&mut text, &report.run, &report.ledger);
    text
}
