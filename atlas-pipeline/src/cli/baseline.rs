//! `atlas critic --baseline`.

use super::judging::{ModelArgs, finish, run_text};
use super::output;
use atlas_core::{Error, ErrorKind, InstanceId, RunContext};
use atlas_pipeline::{
    Baseline, BaselineRunOptions, BaselineRunReport, EmbedderSession, LikenessThreshold,
    PredictionSource, critic_baseline,
};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// A coin for each patch.
    Random,
    /// A coin for each test of the row's lists; a patch passes if all do.
    RandomTests,
    /// Pass what is like the gold patch: the cosine of their vectors.
    Likeness,
}

/// What only baselines need.
#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    /// Ask no language model: what critics are compared with.
    #[arg(long, value_enum, conflicts_with_all = ["model", "mode", "show_prompt"])]
    baseline: Option<Choice>,
    /// With --baseline random or random-tests: the chance of `pass`.
    #[arg(long, value_name = "P", default_value_t = 0.85)]
    share: f64,
    /// With --baseline likeness: what makes vectors: hashed (sequences of characters, no model), the
    /// address of a server with `/v1/embeddings` as http://HOST:PORT/v1#NAME, openai:NAME, a name from
    /// `[models]` of the configuration, or replay:FILE.
    #[arg(long, value_name = "hashed|URL|MODEL", default_value = "hashed")]
    embedder: String,
    /// Show the embedder only the first characters of a patch; models refuse what is too long for them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    embedder_characters: Option<u32>,
    /// Pass from this cosine on [default: the one with the best F1 on a part of the instances].
    #[arg(long, value_name = "COSINE", allow_negative_numbers = true)]
    threshold: Option<f64>,
    /// The share of instances that the threshold is searched on; they are not judged.
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.3,
        conflicts_with = "threshold"
    )]
    validation_share: f64,
    /// The folder of an evaluation, `logs/run_evaluation/<run id>`: which patches resolve their instance.
    /// A prediction's own column `resolved` goes before. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR", requires = "baseline")]
    evaluations: Vec<PathBuf>,
}

impl BaselineArgs {
    /// Whether a baseline is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.baseline.is_some()
    }
}

/// What critics and baselines share.
pub(super) struct SharedInput {
    pub(super) dataset: PathBuf,
    pub(super) predictions: PredictionSource,
    pub(super) instances: Vec<InstanceId>,
    pub(super) seed: u64,
    pub(super) model: ModelArgs,
}

pub(super) async fn command(
    cx: &RunContext,
    given: SharedInput,
    args: BaselineArgs,
) -> Result<u8, Error> {
    let SharedInput { seed, model, .. } = given;
    let choice = args.baseline.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            "critic:",
            "name a baseline with --baseline",
        )
    })?;
    let baseline = match choice {
        Choice::Random | Choice::RandomTests => Baseline::Random {
            share: args.share,
            seed,
            by_test: choice == Choice::RandomTests,
        },
        Choice::Likeness => Baseline::Likeness {
            embedder: EmbedderSession::open(
                &args.embedder,
                args.embedder_characters.map(|most| most as usize),
                model.spending.budget.as_deref(),
                &model.configuration()?,
            )?,
            threshold: args.threshold.map_or(
                LikenessThreshold::Search {
                    share: args.validation_share,
                    seed,
                },
                LikenessThreshold::Given,
            ),
        },
    };
    if model.total_budget.is_some() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "critic:",
            "a baseline keeps no exchanges, and so knows no total; limit each run with --budget",
        ));
    }
    if model.batch {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "critic:",
            "a baseline asks no language model; leave --batch out",
        ));
    }
    if model.dry_run {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "critic:",
            "a baseline asks no language model; leave --dry-run out",
        ));
    }
    let options = BaselineRunOptions {
        dataset: given.dataset,
        predictions: given.predictions,
        instances: given.instances,
        baseline,
        evaluations: args.evaluations,
        out: model.out.clone().unwrap_or_default(),
        jobs: model.jobs.jobs,
    };
    let report = critic_baseline(cx, &options).await?;
    finish(cx, model.format, &report, &report.run, text)
}

fn text(report: &BaselineRunReport) -> Result<String, Error> {
    super::critic::print_results(&report.results)?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{}: {} said to pass, {} said to fail",
        report.baseline, report.passing, report.failing
    );
    if let Some(fitted) = &report.fitted {
        let _ = writeln!(
            text,
            "threshold {:.4}: F1 {:.4} on {} patches of {} other instances, {} of which pass",
            fitted.found.threshold,
            fitted.found.f1,
            fitted.patches,
            fitted.instances.len(),
            fitted.passing
        );
    }
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    Ok(text)
}
