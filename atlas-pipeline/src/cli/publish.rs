//! `atlas publish`.

use super::{DONE, Format};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{PublishOptions, PublishReport, publish};
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    #[command(flatten)]
    options: PublishOptions,
    #[command(flatten)]
    format: Format,
}

pub(super) fn command(cx: &RunContext, args: &PublishArgs) -> Result<u8, Error> {
    let report = publish(cx, &args.options)?;
    cx.progress.phase("");
    args.format.show(&report, || text(&report))?;
    Ok(DONE)
}

fn text(report: &PublishReport) -> String {
    let mut text = format!("{} {}: {} rows\n", report.name, report.version, report.rows);
    for (split, files) in &report.splits {
        let _ = writeln!(
            text,
            "  {split}: {} rows, {} and {}",
            files.rows, files.jsonl, files.parquet
        );
    }
    let licences = report
        .licences
        .iter()
        .map(|(name, rows)| format!("{name} {rows}"));
    let _ = writeln!(
        text,
        "licences: {}",
        licences.collect::<Vec<_>>().join(", ")
    );
    let _ = writeln!(
        text,
        "{} rows can be validated from the release alone; {} files, {} bytes",
        report.with_environment, report.files, report.bytes
    );
    for (why, rows) in &report.left_out {
        let _ = writeln!(text, "left out by annotators: {rows} ({why})");
    }
    if let Some(changes) = &report.changes {
        let _ = writeln!(
            text,
            "since {}: {} added, {} removed, {} changed, {} in another split, {} the same",
            changes.from.as_deref().unwrap_or("the other dataset"),
            changes.added.len(),
            changes.removed.len(),
            changes.changed.len(),
            changes.moved.len(),
            changes.same
        );
    }
    for file in &report.replaced {
        let _ = writeln!(
            text,
            "note: folders of this machine gave place to words in {file}"
        );
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    let _ = writeln!(text, "release: {}", report.out.display());
    text
}
