//! `atlas trajectories`.

mod export;
mod judge;
mod rewrite;

use super::{DONE, ERROR, Format, NO, judging};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{
    TrajectoryCheckOptions, TrajectoryReport, check_trajectories, convert_trajectories,
    read_trajectories,
};
use atlas_trajectory::Trajectory;
use clap::{Args, Subcommand};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct TrajectoriesArgs {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show a recording step by step.
    Show {
        /// A recording of SWE-agent, mini-swe-agent, `OpenHands`, Claude Code or Codex, or ATIF.
        file: PathBuf,
        #[command(flatten)]
        format: Format,
    },
    /// Write recordings as ATIF.
    Convert {
        /// Recordings, or folders of them.
        #[arg(required = true)]
        places: Vec<PathBuf>,
        /// The file to write: a .jsonl file has one trajectory a line, any other holds one.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        #[command(flatten)]
        format: Format,
    },
    /// Put recordings through the quality gates: a final submit, no words of the hint, thoughts rewritten well.
    Check(CheckArgs),
    /// Have a model judge how agents worked: reproduction, plausibility, validation, practices.
    Judge(judge::JudgeArgs),
    /// Have a model write thoughts anew that speak of the hint. The originals stay.
    Rewrite(rewrite::RewriteArgs),
    /// Write recordings as training data: chat messages, SWE-agent's XML or ATIF, with loss masks, splits and statistics.
    Export(export::ExportArgs),
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Recordings, or folders of them.
    #[arg(required = true)]
    places: Vec<PathBuf>,
    #[command(flatten)]
    options: TrajectoryCheckOptions,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(cx: &RunContext, args: TrajectoriesArgs) -> Result<u8, Error> {
    match args.command {
        What::Show { file, format } => {
            let found: Vec<Trajectory> = read_trajectories(&file)?.collect::<Result<_, _>>()?;
            format.show(&found, || found.iter().map(shown).collect::<String>())?;
            Ok(DONE)
        }
        What::Convert {
            places,
            out,
            format,
        } => {
            let written = convert_trajectories(&places, &out)?;
            let told = json!({ "trajectories": written, "out": out });
            let text = || format!("{written} trajectories written to {}\n", out.display());
            format.show(&told, text)?;
            Ok(DONE)
        }
        What::Judge(args) => judge::command(cx, args).await,
        What::Rewrite(args) => rewrite::command(cx, args).await,
        What::Export(args) => export::command(cx, args),
        What::Check(args) => {
            let report = check_trajectories(cx, &args.places, &args.options).await?;
            args.format.show(&report, || verdicts(&report))?;
            Ok(if !report.faults.is_empty() {
                ERROR
            } else if report.accepted < report.trajectories.len() {
                NO
            } else {
                DONE
            })
        }
    }
}

fn shown(trajectory: &Trajectory) -> String {
    let agent = &trajectory.agent;
    let mut text = format!("{} {}", agent.name, agent.version);
    if let Some(model) = &agent.model_name {
        let _ = write!(text, ", {model}");
    }
    let _ = writeln!(text, ": {} steps", trajectory.steps.len());
    for step in &trajectory.steps {
        let _ = writeln!(text, "\n[{}] {:?}", step.step_id, step.source);
        let thought = step.reasoning_content.clone().unwrap_or_default();
        for said in [thought, step.message.text()] {
            if !said.trim().is_empty() {
                let _ = writeln!(text, "{}", said.trim());
            }
        }
        for call in step.calls() {
            let _ = writeln!(text, "$ {}", call.text());
        }
        for seen in step.observed() {
            for line in seen.lines() {
                let _ = writeln!(text, "  | {line}");
            }
        }
    }
    text
}

fn verdicts(report: &TrajectoryReport) -> String {
    let mut text = String::new();
    for one in &report.trajectories {
        let word = if one.accepted { "accepted" } else { "refused " };
        let id = one.instance_id.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{word} {}:{} {id} ({}, {} steps)",
            one.file, one.number, one.agent, one.steps
        );
        for finding in one.verdicts.iter().flat_map(|verdict| &verdict.findings) {
            let _ = writeln!(text, "  {}: {}", finding.code, finding.message);
            for evidence in &finding.evidence {
                let _ = writeln!(
                    text,
                    "    {}: {}",
                    evidence.source,
                    evidence.text.replace('\n', " ")
                );
            }
        }
    }
    for fault in &report.faults {
        let _ = writeln!(text, "fault: {fault}");
    }
    if report.without_hint > 0 {
        let _ = writeln!(
            text,
            "{} have no hint in the file of hints",
            report.without_hint
        );
    }
    let _ = writeln!(
        text,
        "{} of {} accepted",
        report.accepted,
        report.trajectories.len()
    );
    text
}
