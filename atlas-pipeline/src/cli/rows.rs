//! `atlas judge` and `atlas hints`.

use super::attempts::{self, AttemptArgs};
use super::judging::{FormAskArgs, ModelArgs, finish, paying, prompts, run_text};
use super::shared::DatasetArgs;
use super::{DONE, NO, dry_run, output};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::alignment::{AlignmentOptions, QualityRule};
use atlas_judge::classes::ClassOptions;
use atlas_judge::hints::HintOptions;
use atlas_pipeline::{
    RowJudgeOptions, RowJudgeReport, RowQuestion, judge_rows, row_prompts, write_curated_rows,
};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct RowArgs {
    #[command(flatten)]
    pub(super) set: DatasetArgs,
    #[command(flatten)]
    pub(super) ask: FormAskArgs,
    #[command(flatten)]
    pub(super) model: ModelArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// Is the statement clear, and do the tests judge what it asks for?
    Alignment,
    /// What kind of change, and of report?
    Classes,
    /// Why did attempts fail, and which are worth another look?
    Attempts,
}

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// What to ask. Classes and causes of failure are told by rule where that is sure; only alignment
    /// needs a model.
    #[arg(long, value_enum, default_value = "alignment")]
    question: Question,
    /// The worst score, 0 to 3, that is still high quality.
    #[arg(long, value_name = "SCORE", default_value_t = QualityRule::default().high_up_to)]
    high_up_to: u8,
    /// The worst score that is still medium quality.
    #[arg(long, value_name = "SCORE", default_value_t = QualityRule::default().medium_up_to)]
    medium_up_to: u8,
    /// With --question classes: write the dataset here, each row with what was found and how large its task is in
    /// `curation` of its `atlas` column.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dry_run", "show_prompt"])]
    rows_out: Option<PathBuf>,
    #[command(flatten)]
    attempts: AttemptArgs,
    #[command(flatten)]
    rows: RowArgs,
}

#[derive(Debug, Args)]
pub(super) struct HintsArgs {
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, to read the files
    /// from that the patches change [default: only what the patches show is known].
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,
    /// What `atlas make` left behind: `<instance>/before.log` and `<instance>/oracle.json` are read.
    #[arg(long, value_name = "DIR")]
    artefacts: Option<PathBuf>,
    /// Ask the model even where a rule has shown that a hint is needed; it may add names.
    #[arg(long, requires = "model")]
    always_ask: bool,
    /// Make no hints, but look at those of this file of JSON lines (`instance_id`, `hint`; or results of this command):
    /// does one tell more of the solution than names? Exit code 3 if one does.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "always_ask", "dry_run", "show_prompt"])]
    check: Option<PathBuf>,
    #[command(flatten)]
    rows: RowArgs,
}

pub(super) async fn judge_command(cx: &RunContext, args: JudgeArgs) -> Result<u8, Error> {
    if args.question != Question::Attempts {
        args.attempts.refuse_for_others()?;
    }
    if args.rows_out.is_some() && args.question != Question::Classes {
        let what = "it goes with --question classes";
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read --rows-out:",
            what,
        ));
    }
    let question = match args.question {
        Question::Attempts => return attempts::command(cx, args.attempts, args.rows).await,
        Question::Alignment => {
            let defaults = AlignmentOptions::default();
            RowQuestion::Alignment(AlignmentOptions {
                ask: args.rows.ask.options(&defaults.ask),
                ask_again: args.rows.ask.ask_again,
                quality: QualityRule {
                    high_up_to: args.high_up_to,
                    medium_up_to: args.medium_up_to,
                },
                ..AlignmentOptions::default()
            })
        }
        Question::Classes => {
            let defaults = ClassOptions::default();
            RowQuestion::Classes(ClassOptions {
                ask: args.rows.ask.options(&defaults.ask),
                ask_again: args.rows.ask.ask_again,
                ..ClassOptions::default()
            })
        }
    };
    run(cx, args.rows, question, args.rows_out).await
}

pub(super) async fn hints_command(cx: &RunContext, args: HintsArgs) -> Result<u8, Error> {
    let defaults = HintOptions::default();
    if let Some(hints) = args.check {
        let question = RowQuestion::HintCheck {
            hints,
            repos: args.repos,
            artefacts: args.artefacts,
        };
        return run(cx, args.rows, question, None).await;
    }
    let question = RowQuestion::Hints {
        options: HintOptions {
            ask: args.rows.ask.options(&defaults.ask),
            ask_again: args.rows.ask.ask_again,
            always_ask: args.always_ask,
            ..HintOptions::default()
        },
        repos: args.repos,
        artefacts: args.artefacts,
    };
    run(cx, args.rows, question, None).await
}

async fn run(
    cx: &RunContext,
    args: RowArgs,
    question: RowQuestion,
    rows_out: Option<PathBuf>,
) -> Result<u8, Error> {
    let rehearsal = args.model.rehearsal_of_one()?;
    let options = RowJudgeOptions {
        dataset: args.set.dataset,
        instances: args.set.only.instance_ids,
        question,
        out: dry_run::out(rehearsal.as_ref(), args.model.out.as_ref()),
        jobs: args.model.jobs.jobs,
    };
    if args.model.show_prompt {
        return prompts(&row_prompts(&options).await?, args.model.format);
    }
    if let Some(rehearsal) = &rehearsal {
        let report = judge_rows(cx, &options, Some(&rehearsal.session)).await?;
        return rehearsal.finish(cx, args.model.format, &report.run);
    }
    let session = args.model.session_if_asked()?;
    let work = judge_rows(cx, &options, session.as_ref());
    let mut report = paying(session.as_ref(), work).await?;
    if let Some(out) = rows_out {
        report.curated = Some(write_curated_rows(&options.dataset, &options.out, &out)?);
    }
    let code = finish(cx, args.model.format, &report, &report.run, text)?;
    let is_no = ["refused", "leaks"]
        .iter()
        .any(|label| report.labels.contains_key(*label));
    Ok(if code == DONE && is_no { NO } else { code })
}

/// Prints a line for each row, and gives what stands below them.
fn text(report: &RowJudgeReport) -> Result<String, Error> {
    output::lines(report.results.iter().map(|one| {
        let one = one?;
        let reason = one.reasoning.lines().next().unwrap_or_default();
        let reason: String = reason.chars().take(100).collect();
        let mut lines = format!("{:<10} {}  {reason}", one.label, one.instance_id);
        for line in one.hint.iter().flat_map(|hint| hint.lines()) {
            let _ = write!(lines, "\n           {line}");
        }
        Ok(lines)
    }))?;
    let mut text = "\n".to_owned();
    for (label, count) in &report.labels {
        let _ = writeln!(text, "{count} {label}");
    }
    for (name, table) in &report.tables {
        let _ = write!(text, "\n{name}\n{table}");
    }
    if let Some(curated) = &report.curated {
        for (name, table) in &curated.tables {
            if !report.tables.contains_key(name) {
                let _ = write!(text, "\n{name}\n{table}");
            }
        }
        let _ = writeln!(
            text,
            "\n{} rows in {}",
            curated.rows,
            curated.path.display()
        );
    }
    output::input_faults(&mut text, &report.faults);
    run_text(&mut text, &report.run, &report.ledger);
    Ok(text)
}
