//! `atlas funnel`.

use super::images::people;
use super::{DONE, Format};
use atlas_core::Error;
use atlas_pipeline::{FunnelReport, Yield, funnel};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct FunnelArgs {
    /// Output folders of `atlas make` and `atlas validate`.
    #[arg(value_name = "DIR", required = true)]
    places: Vec<PathBuf>,
    /// The file of sourced pull requests, of which shares are taken [default: those that were tried].
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

pub(super) fn command(args: &FunnelArgs) -> Result<u8, Error> {
    let report = funnel(&args.places, args.candidates.as_deref())?;
    args.format.show(&report, || text(&report))?;
    Ok(DONE)
}

fn text(report: &FunnelReport) -> String {
    let mut text = String::new();
    let share = |of: &Yield| match of.percent {
        Some(percent) => format!(
            "{percent:5.1} % ({:.1}–{:.1})",
            of.interval.low, of.interval.high
        ),
        None => "-".to_owned(),
    };
    let paper = |of: &Yield| {
        of.paper
            .map_or_else(|| "-".to_owned(), |paper| format!("{paper:.1} %"))
    };
    let _ = writeln!(
        text,
        "{:<28} {:>8}  {:<24} {:>9}",
        "STAGE", "left", "yield (Wilson 95 %)", "paper 001"
    );
    let _ = writeln!(
        text,
        "{:<28} {:>8}  {:<24} {:>9}",
        "1 sourced", report.sourced, "", ""
    );
    for (name, of) in [
        ("2, 3 built, run and read", &report.replicated),
        ("4 instances", &report.accepted),
    ] {
        let _ = writeln!(
            text,
            "{name:<28} {:>8}  {:<24} {:>9}",
            of.left,
            share(of),
            paper(of)
        );
    }
    if report.not_validated > 0 {
        let _ = writeln!(
            text,
            "{} instances have not been through the gates.",
            report.not_validated
        );
    }
    let _ = writeln!(
        text,
        "\n{:<28} {:>8}  {:<24} {:>9}",
        "LANGUAGE", "of", "built, run and read", "table 2"
    );
    for (name, of) in &report.languages {
        let _ = writeln!(
            text,
            "{name:<28} {:>8}  {:<24} {:>9}",
            of.of,
            share(of),
            paper(of)
        );
    }
    if !report.rejections.is_empty() {
        text.push_str("\nREJECTED\n");
    }
    let mut rejections: Vec<_> = report.rejections.iter().collect();
    rejections.sort_by_key(|(name, reason)| (std::cmp::Reverse(reason.count), *name));
    for (name, reason) in rejections {
        let _ = writeln!(text, "{:>5} {name}", reason.count);
        for (id, line) in &reason.examples {
            let _ = writeln!(text, "      {id}: {line}");
        }
    }
    text.push_str("\nWALL SECONDS\n");
    for (step, seconds) in &report.seconds {
        let _ = writeln!(text, "{step:<28} {seconds:>10.1}");
    }
    if !report.stages.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<28} {:>8} {:>8} {:>10} {:>12} {:>10}",
            "STAGE OF A RUN", "steps", "failed", "seconds", "artefacts", "money"
        );
    }
    for stage in &report.stages {
        let _ = writeln!(
            text,
            "{:<28} {:>8} {:>8} {:>10.1} {:>12} {:>10.4}",
            stage.stage,
            stage.steps,
            stage.failed,
            stage.seconds,
            people(stage.bytes),
            stage.money
        );
    }
    text
}
