//! `atlas choose`.

use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_pipeline::{ChoiceAmong, ChoiceRule, ChooseOptions, ChooseReport, choose_patches};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Rule {
    /// The most frequent, names of variables aside, then the shortest, then the first.
    Vote,
    /// The one with the highest score, then by vote.
    Score,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Among {
    /// Those of one agent: one for each task and agent.
    Agent,
    /// Those of all agents: one for each task.
    All,
}

#[derive(Debug, Args)]
pub(super) struct ChooseArgs {
    /// The candidate patches, several for a task.
    #[arg(long, value_name = "FILE")]
    predictions: PathBuf,
    /// Results of `atlas review` or `atlas critic`; what they do not accept is not chosen. Can be given several times
    /// [default: everything may be chosen].
    #[arg(long, value_name = "FILE")]
    results: Vec<PathBuf>,
    /// Which one is taken.
    #[arg(long, value_enum, default_value = "vote")]
    rule: Rule,
    /// Among whose patches.
    #[arg(long, value_enum, default_value = "agent")]
    among: Among,
    /// The `model_name_or_path` of the chosen ones [default: their own].
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The file of predictions that is written.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn command(args: ChooseArgs) -> Result<u8, Error> {
    let options = ChooseOptions {
        predictions: args.predictions,
        results: args.results,
        rule: match args.rule {
            Rule::Vote => ChoiceRule::Vote,
            Rule::Score => ChoiceRule::Score,
        },
        among: match args.among {
            Among::Agent => ChoiceAmong::Agent,
            Among::All => ChoiceAmong::All,
        },
        name: args.name,
        out: args.out,
    };
    let report = choose_patches(&options)?;
    match args.format {
        Format::Json => output::json(&report)?,
        Format::Text => output::print(&text(&report, &options))?,
    }
    Ok(DONE)
}

fn text(report: &ChooseReport, options: &ChooseOptions) -> String {
    let mut text = String::new();
    for one in &report.choices {
        let score = one
            .score
            .map_or_else(String::new, |score| format!(", score {score:.3}"));
        let _ = writeln!(
            text,
            "{}  {} ({}): {} of {} accepted say the same, {} in all{score}",
            one.instance_id, one.patch_id, one.agent, one.votes, one.accepted, one.candidates
        );
    }
    for task in &report.without {
        let _ = writeln!(text, "{task}  none: no patch is accepted");
    }
    let _ = write!(
        text,
        "{}{} chosen of {} candidates, {} of them accepted",
        if text.is_empty() { "" } else { "\n" },
        report.choices.len(),
        report.candidates,
        report.accepted
    );
    if report.unjudged > 0 {
        let _ = write!(text, ", {} without a result", report.unjudged);
    }
    if let Some(resolved) = report.resolved {
        let _ = write!(
            text,
            "; {resolved} of {} resolve their task",
            report.choices.len()
        );
    }
    let _ = writeln!(text, "\nwritten to {}", options.out.display());
    output::input_faults(&mut text, &report.faults);
    text
}
