//! `atlas critic`.

use super::baseline::{self, BaselineArgs, SharedInput};
use super::combine::EnsembleArgs;
use super::judging::{AskArgs, ModelArgs, finish, limit_among, paying, prompts, run_text};
use super::shared::DatasetArgs;
use super::{dry_run, output};
use crate::words::word;
use atlas_core::{Error, RunContext};
use atlas_judge::answer::AskOptions;
use atlas_judge::critic::{CriticLimits, CriticMode, CriticOptions};
use atlas_judge::metrics::LowConfidenceRule;
use atlas_judge::variant::Variant;
use atlas_pipeline::{
    CriticRunOptions, CriticRunReport, CriticRunResult, Results, critic, critic_run_prompts,
};
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct CriticArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    #[command(flatten)]
    options: CriticRunOptions,
    /// What the critic sees: one unseen test a call, all of them in one, the gold patch, the problem
    /// statement, or that with the hints.
    #[arg(long, value_parser = word::<CriticMode>(), default_value = "isolated")]
    mode: CriticMode,
    /// How patches are shown: as given, with the whole functions around every change, or as the
    /// functions that they leave behind.
    #[arg(long, value_parser = word::<Variant>(), default_value = "function")]
    variant: Variant,
    /// Take a test to fail that is said to pass with at most this confidence, 0 to 100.
    #[arg(long, value_name = "C", default_value_t = LowConfidenceRule::default().max_confidence)]
    max_confidence: f64,
    /// But only if its source has more characters than this.
    #[arg(long, value_name = "N", default_value_t = LowConfidenceRule::default().longer_than)]
    longer_than: u64,
    /// Believe the critic whatever its confidence.
    #[arg(long, conflicts_with_all = ["max_confidence", "longer_than"])]
    no_rule: bool,
    /// Also read how probable `pass` was where the verdict begins; it changes no verdict.
    #[arg(long)]
    label_logprobs: bool,
    /// Most tokens (of four bytes) of a part of the prompt: patch, gold, tests, problem or hints. What is longer is cut in
    /// its middle. Can be given several times [default: what fits into the model's context, where that is known: half for
    /// the patch, half for what it is judged by].
    #[arg(long, value_name = "PART=TOKENS", value_parser = limit)]
    limit: Vec<(String, usize)>,
    #[command(flatten)]
    baseline: BaselineArgs,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    model: ModelArgs,
}

fn limit(text: &str) -> Result<(String, usize), String> {
    limit_among(&CriticLimits::PARTS, text)
}

pub(super) async fn command(cx: &RunContext, args: CriticArgs) -> Result<u8, Error> {
    if args.baseline.is_given() {
        let given = SharedInput {
            dataset: args.rows.dataset,
            predictions: args.options.predictions,
            instances: args.rows.only.instance_ids,
            seed: args.ask.seed(),
            model: args.model,
        };
        return baseline::command(cx, given, args.baseline).await;
    }
    let rule = LowConfidenceRule {
        max_confidence: args.max_confidence,
        longer_than: args.longer_than,
    };
    let rehearsal = args.model.rehearsal(&args.ensemble)?;
    let mut limits = CriticLimits::default();
    for (part, tokens) in &args.limit {
        if let Some(limit) = limits.part_mut(part) {
            *limit = Some(*tokens);
        }
    }
    let window = args.model.least_window()?;
    let mut options = CriticRunOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        critic: CriticOptions {
            mode: args.mode,
            variant: args.variant,
            rule: (!args.no_rule).then_some(rule),
            ask: args.ask.options(&AskOptions::default()),
            label_logprobs: args.label_logprobs,
            limits,
        },
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
        ..args.options
    };
    if let Some(window) = window {
        let critic = &mut options.critic;
        critic.limits = limits.within(window, critic.ask.max_tokens, critic.mode);
    }
    if args.model.show_prompt {
        return prompts(&critic_run_prompts(&options).await?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = critic(cx, &options, &rehearsal.session).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = args.ensemble.session(&args.model)?;
    let report = paying(Some(&session), critic(cx, &options, &session)).await?;
    finish(cx, args.model.format, &report, &report.run, text)
}

/// Prints a line for each patch.
pub(super) fn print_results(results: &Results<CriticRunResult>) -> Result<(), Error> {
    output::lines(results.iter().map(|one| {
        let one = one?;
        let progress = one
            .progress
            .map_or_else(|| "  -  ".to_owned(), |share| format!("{share:.3}"));
        Ok(format!(
            "{} {progress}  {} {} by {}{}",
            one.label,
            one.instance_id,
            one.patch_id,
            one.agent,
            match one.unseen {
                0 => String::new(),
                count => format!("  (unseen tests of FAIL_TO_PASS: {count})"),
            }
        ))
    }))
}

/// Prints a line for each patch, and gives what stands below them.
fn text(report: &CriticRunReport) -> Result<String, Error> {
    print_results(&report.results)?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{} said to pass, {} said to fail, {} abstained (tests of FAIL_TO_PASS were not seen)",
        report.passing, report.failing, report.abstained
    );
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    Ok(text)
}
