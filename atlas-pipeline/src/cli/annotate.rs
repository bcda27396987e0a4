//! `atlas annotate`.

use super::{DONE, Format, NO};
use atlas_core::{Error, ErrorKind};
use atlas_pipeline::{
    Coefficient, MergeOptions, MergeReport, export_annotations, merge_annotations,
};
use clap::{Args, Subcommand};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(super) struct AnnotateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write a page to read for each row, and a table to fill in.
    Export(ExportArgs),
    /// Read the tables of several annotators: how far they agree, where they do not, and a decision for each row.
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
struct ExportArgs {
    /// The dataset: a file of rows, or the folder that `atlas make` wrote.
    dataset: PathBuf,
    /// The annotator's folder. One whose table was filled in is left as it is.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
struct MergeArgs {
    /// Folders, or tables, of annotators; NAME= before it names them [default: the folder's name].
    #[arg(required = true, value_name = "[NAME=]DIR")]
    annotators: Vec<String>,
    /// The folder of somebody whose answers settle what the others do not agree on.
    #[arg(long, value_name = "DIR")]
    arbiter: Option<PathBuf>,
    /// The file of decisions, JSON lines; `atlas publish --decisions` reads it.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

pub(super) fn command(args: AnnotateArgs) -> Result<u8, Error> {
    match args.what {
        What::Export(args) => {
            let files = export_annotations(&args.dataset, &args.out)?;
            args.format.show(&files, || {
                format!(
                    "{} rows to annotate in {}; the guide is {}\n",
                    files.rows,
                    files.table.display(),
                    files.out.join("README.md").display()
                )
            })?;
            Ok(DONE)
        }
        What::Merge(args) => {
            let annotators: Result<Vec<_>, Error> =
                args.annotators.iter().map(|text| named(text)).collect();
            let report = merge_annotations(&MergeOptions {
                annotators: annotators?,
                arbiter: args.arbiter,
                out: args.out,
            })?;
            args.format.show(&report, || text(&report))?;
            Ok(if report.is_open() { NO } else { DONE })
        }
    }
}

/// The annotator's name and place.
fn named(text: &str) -> Result<(String, PathBuf), Error> {
    if let Some((name, place)) = text.split_once('=')
        && !name.is_empty()
        && !name.contains('/')
        && !Path::new(text).exists()
    {
        return Ok((name.to_owned(), place.into()));
    }
    let place = PathBuf::from(text);
    let named = if place.is_dir() {
        place.canonicalize().ok()
    } else {
        Some(place.clone())
    };
    let name = named
        .as_deref()
        .and_then(Path::file_stem)
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(|| {
        let what = format!("`{text}`: NAME=DIR expected");
        Error::new(ErrorKind::InvalidInput, "name the annotator:", what)
    })?;
    Ok((name, place))
}

fn text(report: &MergeReport) -> String {
    let mut text = String::new();
    for (name, rows) in &report.annotators {
        let _ = writeln!(text, "{name}: {rows} of {} rows", report.rows);
    }
    let number = |found: &Coefficient| match found.value {
        Some(value) => format!("{value:.3} ({})", found.rows),
        None => format!("- ({})", found.rows),
    };
    let _ = writeln!(
        text,
        "\n{:<24} {:>9} {:>14} {:>14}",
        "QUESTION", "same", "Fleiss' kappa", "Kripp. alpha"
    );
    for (question, found) in &report.agreement {
        let share = found
            .share
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        let _ = writeln!(
            text,
            "{question:<24} {share:>9} {:>14} {:>14}",
            number(&found.fleiss),
            number(&found.alpha)
        );
        for (pair, kappa) in &found.cohen {
            let _ = writeln!(text, "  Cohen's kappa {pair}: {}", number(kappa));
        }
    }
    text.push_str("In brackets: rows that the number is of.\n");
    for conflict in &report.conflicts {
        let said: Vec<String> = conflict
            .answer
            .by
            .iter()
            .map(|(name, answer)| format!("{name} {answer}"))
            .collect();
        let settled = match &conflict.answer.answer {
            Some(answer) => format!("{answer}, by {:?}", conflict.answer.settled_by).to_lowercase(),
            None => "open".to_owned(),
        };
        let _ = writeln!(
            text,
            "conflict: {} {}: {}; {settled}",
            conflict.instance_id,
            conflict.question,
            said.join(", ")
        );
    }
    let decisions: Vec<String> = report
        .decisions
        .iter()
        .map(|(word, rows)| format!("{word} {rows}"))
        .collect();
    let _ = writeln!(
        text,
        "\ndecisions: {}; in {}",
        decisions.join(", "),
        report.out.display()
    );
    text
}
