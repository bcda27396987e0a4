//! `atlas trajectories export`.

use crate::cli::{DONE, ERROR, Format};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_pipeline::{
    ExportReport, ExportRunOptions, ExportSide, TRAINING_LENGTH, TrainTestSplit,
    export_trajectories,
};
use atlas_trajectory::{ExportForm, ExportOptions, FineTuning, MixtureGroup, NoLoss};
use chrono::NaiveDate;
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormChoice {
    /// `OpenAI`'s messages with tool calls.
    Chat,
    /// Plain messages with calls as SWE-agent's XML.
    SweAgentXml,
    /// ATIF documents.
    Atif,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NoLossChoice {
    /// Messages whose call failed.
    Failed,
    /// The message after one whose call failed.
    AfterFailed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SplitChoice {
    /// Every repository is on one side.
    Repository,
    /// What is older than a day is learnt from, the rest held back.
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConfigChoice {
    Axolotl,
    LlamaFactory,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Recordings, or folders of them.
    #[arg(required = true)]
    places: Vec<PathBuf>,
    /// The folder that is written: train.jsonl, with a split test.jsonl, statistics.json, and configurations.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The form of the rows.
    #[arg(long, value_enum, default_value = "chat")]
    form: FormChoice,
    /// A row for each message that is to be learnt, with what came before it.
    #[arg(long)]
    per_step: bool,
    /// What is not learnt of what the agent said. Can be given several times.
    #[arg(long, value_enum, value_name = "WHAT")]
    no_loss: Vec<NoLossChoice>,
    /// A text that stands in the place of the recordings' system message.
    #[arg(long, value_name = "FILE")]
    system: Option<PathBuf>,
    /// The hints that the agents were given, to be taken out of what they were told: JSON lines with `instance_id` and `hint`,
    /// or results of `atlas hints`.
    #[arg(long, value_name = "FILE")]
    hints: Option<PathBuf>,
    /// The output of `atlas trajectories check --format json`: what was not accepted is left out.
    #[arg(long, value_name = "FILE")]
    checked: Option<PathBuf>,
    /// The instances: their repositories, languages and dates, and the texts by which near-duplicates are known.
    #[arg(long, value_name = "FILE|DIR")]
    dataset: Option<PathBuf>,
    /// A dataset that is evaluated on: trajectories of its repositories are left out. Can be given several times.
    #[arg(long, value_name = "FILE|DIR")]
    held_out: Vec<PathBuf>,
    /// Most trajectories of one instance: 1 for diversity, more for density.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_instance: Option<u32>,
    /// A tokenizer.json by which tokens are counted.
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// Leave rows out that have more tokens.
    #[arg(long, value_name = "N", requires = "tokenizer")]
    max_tokens: Option<usize>,
    /// Hold back a test side.
    #[arg(long, value_enum)]
    split: Option<SplitChoice>,
    /// With --split repository: the share of repositories that are held back.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    test_share: f64,
    /// With --split repository: another number gives another split.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// With --split time: the first day of the test side, such as 2025-01-31.
    #[arg(long, value_name = "DAY", value_parser = day, required_if_eq("split", "time"))]
    from: Option<NaiveDate>,
    /// From which likeness of their statements or patches on, 0 to 1, instances are near-duplicates, which are on one side.
    #[arg(long, value_name = "LIKENESS", default_value_t = 0.8)]
    near: f64,
    /// Write a configuration with paper 001's values. Can be given several times.
    #[arg(long, value_enum)]
    config: Vec<ConfigChoice>,
    /// The model in configurations.
    #[arg(
        long,
        value_name = "NAME|DIR",
        default_value = "Qwen/Qwen2.5-Coder-7B-Instruct"
    )]
    base_model: String,
    /// The template in LLaMA-Factory's configuration.
    #[arg(long, value_name = "NAME", default_value = "qwen")]
    template: String,
    #[command(flatten)]
    format: Format,
}

fn day(text: &str) -> Result<NaiveDate, String> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d")
        .map_err(|_| "a day such as 2025-01-31 expected".to_owned())
}

pub(super) fn command(cx: &RunContext, args: ExportArgs) -> Result<u8, Error> {
    for (name, value) in [("--test-share", args.test_share), ("--near", args.near)] {
        if !(0.0..=1.0).contains(&value) {
            let subject = format!("{name} {value} is not between 0 and 1");
            return Err(Error::new(ErrorKind::InvalidInput, "export:", subject));
        }
    }
    let read =
        |path: &PathBuf| std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why));
    let system = args.system.as_ref().map(read).transpose()?;
    let no_loss = args.no_loss.iter().map(|what| match what {
        NoLossChoice::Failed => NoLoss::Failed,
        NoLossChoice::AfterFailed => NoLoss::AfterFailed,
    });
    let configs = args.config.iter().map(|kind| match kind {
        ConfigChoice::Axolotl => FineTuning::Axolotl,
        ConfigChoice::LlamaFactory => FineTuning::LlamaFactory,
    });
    let options = ExportRunOptions {
        places: args.places,
        out: args.out,
        rows: ExportOptions {
            form: match args.form {
                FormChoice::Chat => ExportForm::Chat,
                FormChoice::SweAgentXml => ExportForm::SweAgentXml,
                FormChoice::Atif => ExportForm::Atif,
            },
            per_step: args.per_step,
            no_loss: no_loss.collect(),
            system: system.map(|text| text.trim_end().to_owned()),
        },
        hints: args.hints,
        checked: args.checked,
        dataset: args.dataset,
        held_out: args.held_out,
        per_instance: args.per_instance.map(|most| most as usize),
        tokenizer: args.tokenizer,
        max_tokens: args.max_tokens,
        split: match (args.split, args.from) {
            (None, _) => None,
            (Some(SplitChoice::Time), Some(from)) => Some(TrainTestSplit::Time { from }),
            (Some(_), _) => Some(TrainTestSplit::Repository {
                test_share: args.test_share,
                seed: args.seed,
            }),
        },
        near: args.near,
        configs: configs.collect(),
        base_model: args.base_model,
        template: args.template,
    };
    let report = export_trajectories(cx, &options)?;
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    Ok(if report.faults.is_empty() {
        DONE
    } else {
        ERROR
    })
}

fn text(report: &ExportReport) -> String {
    let mut text = String::new();
    for (name, side) in &report.sides {
        side_text(&mut text, name, side);
    }
    for (reason, count) in &report.left_out {
        let _ = writeln!(text, "left out: {count} {reason}");
    }
    if report.hints_taken_out > 0 {
        let _ = writeln!(
            text,
            "hints taken out of {} trajectories",
            report.hints_taken_out
        );
    }
    if report.speak_of_hint > 0 {
        let _ = writeln!(
            text,
            "{} trajectories speak of a hint: `atlas trajectories check` says where",
            report.speak_of_hint
        );
    }
    if report.without_row > 0 {
        let _ = writeln!(
            text,
            "{} instances have no row in the dataset",
            report.without_row
        );
    }
    for group in &report.near_duplicates {
        let _ = writeln!(text, "near-duplicates: {}", group.join(", "));
    }
    if report.moved > 0 {
        let _ = writeln!(
            text,
            "{} instances held back for a near-duplicate",
            report.moved
        );
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for fault in &report.faults {
        let _ = writeln!(text, "fault: {fault}");
    }
    let _ = writeln!(
        text,
        "{}: {}",
        report.out.display(),
        report.files.join(", ")
    );
    text
}

fn side_text(text: &mut String, name: &str, side: &ExportSide) {
    let _ = writeln!(
        text,
        "{name}: {} rows, {} messages learnt, {} of the agent's not",
        side.rows, side.learnt_messages, side.masked_messages
    );
    if let Some(tokens) = side.tokens {
        let _ = writeln!(
            text,
            "  {} tokens, {} learnt; the longest row has {}; {} rows are longer than {TRAINING_LENGTH}",
            tokens.all, tokens.learnt, tokens.longest, tokens.longer_than_training
        );
    }
    let mixture = &side.mixture;
    let group = |group: &MixtureGroup| {
        format!(
            "{} trajectories of {} instances, {:.2} each",
            group.trajectories, group.instances, group.density
        )
    };
    let _ = writeln!(
        text,
        "  {}; {} repositories (as diverse as {:.1} equal ones)",
        group(&mixture.all),
        mixture.repositories,
        mixture.effective_repositories
    );
    for (language, own) in &mixture.by_language {
        let language = if language.is_empty() {
            "language not known"
        } else {
            language
        };
        let _ = writeln!(text, "  {language}: {}", group(own));
    }
}
