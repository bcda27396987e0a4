//! `atlas judge-bench`.

use super::judging::{AskArgs, PollArgs, limit};
use super::metrics::ResampleArgs;
use super::shared::{ConfigArgs, DatasetArgs, InstanceArgs, JobsArgs};
use super::{DONE, ERROR, Format, output};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::answer::{AskOptions, LabelForm};
use atlas_judge::candidates::rule_candidates;
use atlas_judge::ensemble::EnsembleRule;
use atlas_judge::metrics::analysis::AnalysisOptions;
use atlas_judge::validation::PromptLimits;
use atlas_judge::variant::BaseFiles;
use atlas_pipeline::{
    BenchJudge, InputFault, JudgeBench, JudgeBenchAbout, JudgeBenchEstimate, JudgeBenchOptions,
    JudgeBenchReport, PackOptions, SessionModels, base_files, estimate_judge_bench, instance_rows,
    pack, run_judge_bench, write_atomically,
};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct JudgeBenchArgs {
    #[command(subcommand)]
    command: JudgeBenchCommand,
}

#[derive(Debug, Subcommand)]
enum JudgeBenchCommand {
    /// Ask models about patches of which running the tests has said whether they are right, and measure their answers.
    Run(Box<RunArgs>),
    /// Make candidate patches of gold patches by rule: perturbed, stubs, without a hunk, near misses and others.
    Candidates(CandidatesArgs),
    /// Make a benchmark of a dataset, candidate patches and their evaluation.
    Pack(PackArgs),
}

#[derive(Debug, Args)]
struct RunArgs {
    /// The model: a name from `[models]` of the configuration, PROVIDER:MODEL, an address, replay:FILE, scripted:FILE or
    /// noise:SEED. Can be given several times.
    #[arg(long, value_name = "MODEL", required = true)]
    model: Vec<String>,
    /// The folder of results, with `report.html`, `report.json` and `table.md`. What it holds already is not asked again.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The benchmark's folder [default: the one that this program holds].
    #[arg(long, value_name = "DIR")]
    bench: Option<PathBuf>,
    /// Only these judges: abstain-r1, abstain-r2, review-specification, review-trajectory, critic-isolated,
    /// critic-holistic, critic-change-aware, critic-problem, critic-problem-hints; critics also with :default or
    /// :post-commit behind them [default: all that the benchmark has something for].
    #[arg(long, value_name = "JUDGE", value_delimiter = ',')]
    judge: Vec<BenchJudge>,
    #[command(flatten)]
    only: InstanceArgs,
    /// What each model may spend in this run, such as calls=100,tokens=2M,money=1.50,time=10m; any of them.
    #[arg(long, value_name = "LIMITS")]
    budget: Option<String>,
    /// What each model may spend over all runs into `--out`.
    #[arg(long, value_name = "LIMITS")]
    total_budget: Option<String>,
    /// Ask in batches, as `atlas review --batch` does.
    #[arg(long, conflicts_with = "dry_run")]
    batch: bool,
    #[command(flatten)]
    poll: PollArgs,
    /// Also measure all the models together as a committee or a cascade (cheapest model first): majority, mean or
    /// cascade=LOW..HIGH. Can be given several times; nothing is asked twice.
    #[arg(long, value_name = "RULE")]
    ensemble: Vec<EnsembleRule>,
    #[command(flatten)]
    jobs: JobsArgs,
    /// Ask nothing and write nothing, and print how many questions there are, about how many tokens they have, and what
    /// they cost at most.
    #[arg(long)]
    dry_run: bool,
    /// Ask abstention policies for their word as a JSON object under a schema, for models that answer in sentences.
    #[arg(long)]
    answer_form_json: bool,
    /// Most tokens (of four bytes) of a part of a review's prompt: report, patch, files, tests or trajectory. Can be
    /// given several times [default: as `atlas review`].
    #[arg(long, value_name = "PART=TOKENS", value_parser = limit)]
    limit: Vec<(String, usize)>,
    #[command(flatten)]
    ask: AskArgs,
    #[command(flatten)]
    resampling: ResampleArgs,
    #[command(flatten)]
    format: Format,
    /// A file with prices and context windows of models, in the place of the shipped one.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
}

#[derive(Debug, Args)]
struct CandidatesArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    /// A clone, or a folder of clones, with the base commits; without it nothing is rewritten (no stubs, no perturbed
    /// gold patches).
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// Most hunks left out, and most near misses, of each gold patch.
    #[arg(long, value_name = "N", default_value_t = 2)]
    most: usize,
    /// The file of predictions that is written: `model_name_or_path` names how each was made, for an evaluation takes one
    /// patch of each maker for a task; `kind` is the same without a number.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct PackArgs {
    /// The dataset.
    #[arg(long, value_name = "FILE|DIR")]
    dataset: PathBuf,
    /// The candidate patches.
    #[arg(long, value_name = "FILE")]
    predictions: PathBuf,
    /// The folder of their evaluation, `logs/run_evaluation/<run id>`. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR", required = true)]
    evaluations: Vec<PathBuf>,
    /// A clone, or a folder of clones, with the base commits.
    #[arg(long, value_name = "DIR")]
    repos: PathBuf,
    /// Who made the patches, in the place of their own `model_name_or_path`, where they are runs of one maker on their
    /// tasks; `patch_id` has to tell them apart. `judge-bench candidates` names each patch for how it was made: `rules`.
    #[arg(long, value_name = "NAME")]
    maker: Option<String>,
    /// The benchmark's name.
    #[arg(long)]
    name: String,
    /// Its edition: numbers of two editions are not to be compared.
    #[arg(long, value_name = "N", default_value_t = 1)]
    edition: u64,
    /// How it was made and what it is for.
    #[arg(long, value_name = "TEXT", default_value = "")]
    about: String,
    /// The folder that is written.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: JudgeBenchArgs) -> Result<u8, Error> {
    match args.command {
        JudgeBenchCommand::Run(args) => run(cx, *args).await,
        JudgeBenchCommand::Candidates(args) => candidates(args).await,
        JudgeBenchCommand::Pack(args) => pack_command(args).await,
    }
}

async fn run(cx: &RunContext, args: RunArgs) -> Result<u8, Error> {
    let mut config = args.config.read()?;
    if args.prices.is_some() {
        config.prices.clone_from(&args.prices);
    }
    let bench = match &args.bench {
        Some(folder) => JudgeBench::read(folder)?,
        None => JudgeBench::shipped()?,
    };
    let ask = args.ask.options(&AskOptions::default());
    let mut limits = PromptLimits::default();
    // The smallest known context counts: all models are asked the same.
    let mut window = None;
    for model in &args.model {
        let known = config.model(SessionModels::model(model))?.context_window;
        window = window.into_iter().chain(known).min();
    }
    if let Some(window) = window {
        limits = limits.within(window, ask.max_tokens);
    }
    for (part, tokens) in &args.limit {
        if let Some(limit) = limits.part_mut(part) {
            *limit = *tokens;
        }
    }
    let options = JudgeBenchOptions {
        bench: bench.only(&args.only.instance_ids)?,
        models: args.model,
        judges: args.judge,
        out: args.out,
        jobs: args.jobs.jobs,
        budget: args.budget,
        total_budget: args.total_budget,
        batch_poll: args.batch.then_some(args.poll.batch_poll),
        ensembles: args.ensemble,
        ask: AskOptions {
            label_form: if args.answer_form_json {
                LabelForm::Json
            } else {
                LabelForm::Word
            },
            ..ask
        },
        limits,
        window,
        analysis: AnalysisOptions {
            resamples: args.resampling.resamples,
            ..AnalysisOptions::default()
        },
    };
    if args.dry_run {
        let found = estimate_judge_bench(cx, &options, &config).await?;
        cx.progress.phase("");
        args.format.show(&found, || estimates(&found))?;
        return Ok(DONE);
    }
    let report = run_judge_bench(cx, &options, &config).await?;
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    Ok(if report.is_complete() { DONE } else { ERROR })
}

fn estimates(found: &[JudgeBenchEstimate]) -> String {
    let mut text = String::from("dry run: nothing was asked\n");
    for one in found {
        let one = &one.estimate;
        let _ = write!(
            text,
            "{}: {} questions, {} more answered by kept exchanges; about {} tokens read, at most {} written",
            one.model, one.questions, one.kept, one.prompt_tokens, one.completion_tokens_at_most
        );
        let _ = match one.money_at_most {
            Some(money) => writeln!(text, "; at most {money:.4} in money"),
            None => writeln!(text, "; money unknown (no price)"),
        };
    }
    text
}

fn text(report: &JudgeBenchReport) -> String {
    let mut text = report.table();
    let _ = writeln!(
        text,
        "\n{}, version {}: {} patches of {} tasks, {} of them right",
        report.bench.name, report.bench.version, report.patches, report.instances, report.resolved
    );
    for run in &report.runs {
        if run.failed > 0 || run.left > 0 || run.stopped.is_some() {
            let _ = write!(
                text,
                "{} {}: {} failed, {} left of {}",
                run.model, run.judge, run.failed, run.left, run.items
            );
            for why in [&run.first_failure, &run.stopped].into_iter().flatten() {
                let _ = write!(text, "; {why}");
            }
            text.push('\n');
        }
    }
    if !report.is_complete() {
        text.push_str("run the same command again to go on\n");
    }
    let _ = writeln!(text, "the page: {}", report.page.display());
    text
}

async fn candidates(args: CandidatesArgs) -> Result<u8, Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        out: &'a Path,
        instances: usize,
        patches: usize,
        faults: &'a [InputFault],
    }
    let (rows, faults) = instance_rows(&args.rows.dataset, &args.rows.only.instance_ids)?;
    let (mut lines, mut patches) = (String::new(), 0);
    for row in rows.iter() {
        let row = &row?;
        let wrong = |why: String| {
            let id = row.id().map(|id| id.to_string()).unwrap_or_default();
            Error::new(
                ErrorKind::InvalidInput,
                format!("make candidates of `{id}`:"),
                why,
            )
        };
        let gold = row.gold_patch().map_err(|why| wrong(why.to_string()))?;
        let files = match &args.repos {
            Some(repos) => base_files(repos, row, &[&gold]).await?,
            None => BaseFiles::new(),
        };
        let made =
            rule_candidates(&gold, &files, args.most).map_err(|why| wrong(why.to_string()))?;
        for one in made {
            let id = row.id().map(|id| id.to_string()).unwrap_or_default();
            let prediction = json!({
                "instance_id": id,
                "model_name_or_path": one.name,
                "patch_id": one.name,
                "kind": one.kind,
                "model_patch": String::from_utf8_lossy(&one.patch),
            });
            let _ = writeln!(lines, "{prediction}");
            patches += 1;
        }
    }
    write_atomically(&args.out, lines.as_bytes())?;
    let written = Written {
        out: &args.out,
        instances: rows.count(),
        patches,
        faults: &faults,
    };
    args.format.show(&written, || {
        let mut text = format!(
            "{patches} patches of {} tasks, written to {}\n",
            rows.count(),
            args.out.display()
        );
        output::input_faults(&mut text, &faults);
        text
    })?;
    Ok(DONE)
}

async fn pack_command(args: PackArgs) -> Result<u8, Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        out: &'a Path,
        instances: usize,
        patches: usize,
        resolved: usize,
        faults: &'a [InputFault],
    }
    let options = PackOptions {
        dataset: args.dataset,
        predictions: args.predictions,
        evaluations: args.evaluations,
        repos: args.repos,
        maker: args.maker,
        about: JudgeBenchAbout {
            format: 1,
            name: args.name,
            version: args.edition,
            about: args.about,
        },
    };
    let (bench, faults) = pack(&options).await?;
    bench.write(&args.out)?;
    let written = Written {
        out: &args.out,
        instances: bench.rows.len(),
        patches: bench.patches.len(),
        resolved: bench.patches.iter().filter(|patch| patch.resolved).count(),
        faults: &faults,
    };
    args.format.show(&written, || {
        let mut text = format!(
            "{} patches of {} tasks, {} of them right, written to {}\n",
            written.patches,
            written.instances,
            written.resolved,
            args.out.display()
        );
        output::input_faults(&mut text, &faults);
        text
    })?;
    Ok(DONE)
}
