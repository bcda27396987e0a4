//! `atlas publish`.

use super::{DONE, Format, output};
use atlas_core::{Error, RunContext};
use atlas_pipeline::{PublishOptions, PublishReport, SplitRule, publish};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// The dataset: a file of rows, or the folder that `atlas make` wrote.
    dataset: PathBuf,
    /// The folder of the release; an older release in it is replaced.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The dataset's name.
    #[arg(long, value_name = "NAME", default_value = "atlas-dataset")]
    name: String,
    /// The release's version, MAJOR.MINOR.PATCH.
    #[arg(long, value_name = "V", default_value = "1.0.0")]
    version: String,
    /// The release's day [default: that of the newest row, so that the same rows give the same bytes].
    #[arg(long, value_name = "YYYY-MM-DD")]
    date: Option<String>,
    /// A split: NAME=FILE takes the instances that a file names, by=COLUMN makes one for each value of a column, NAME takes the
    /// rest. Can be given several times [default: all rows in `test`].
    #[arg(long = "split", value_name = "NAME=FILE|by=COLUMN|NAME")]
    splits: Vec<SplitRule>,
    /// An older release, or another dataset: what changed is written into CHANGES.md and metadata/changes.json.
    #[arg(long, value_name = "OLD")]
    against: Option<PathBuf>,
    /// Decisions of annotators (`atlas annotate merge`): rows that they do not accept are left out.
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Put everything that proves a row beside it: patches, logs, reports.
    #[arg(long)]
    evidence: bool,
    /// Leave out what builds the rows' environments: images, or clones, are needed then to validate a row.
    #[arg(long, conflicts_with = "evidence")]
    no_environments: bool,
    /// The licence of rows that say none, an SPDX expression.
    #[arg(long, value_name = "ID", visible_alias = "license")]
    licence: Option<String>,
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) fn command(cx: &RunContext, args: PublishArgs) -> Result<u8, Error> {
    let options = PublishOptions {
        name: args.name,
        version: args.version,
        date: args.date,
        splits: args.splits,
        against: args.against,
        decisions: args.decisions,
        evidence: args.evidence,
        environments: !args.no_environments,
        licence: args.licence,
        ..PublishOptions::new(args.dataset, args.out)
    };
    let report = publish(cx, &options)?;
    cx.progress.phase("");
    match args.format {
        Format::Json => output::json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
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
