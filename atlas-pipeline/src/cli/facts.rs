//! `atlas facts`.

use super::shared::DatasetArgs;
use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_pipeline::{PredictionSource, TestFactsOptions, TestFactsReport, write_test_facts};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct FactsArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    /// The candidate patches: a file, gold (the rows' own patches) or null (empty ones).
    #[arg(long, value_name = "FILE|gold|null")]
    predictions: PredictionSource,
    /// The folder of an evaluation that ran them, `logs/run_evaluation/<run id>`. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR", required = true)]
    evaluations: Vec<PathBuf>,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, with the base commits.
    #[arg(long, value_name = "DIR")]
    repos: PathBuf,
    /// The file that is written, for `atlas review --facts`.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How to print what was written.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

pub(super) async fn command(args: FactsArgs) -> Result<u8, Error> {
    let options = TestFactsOptions {
        dataset: args.rows.dataset,
        predictions: args.predictions,
        instances: args.rows.instance_ids,
        evaluations: args.evaluations,
        repos: args.repos,
        out: args.out,
    };
    let report = write_test_facts(&options).await?;
    match args.format {
        Format::Json => output::json(&report)?,
        Format::Text => output::print(&text(&report))?,
    }
    Ok(DONE)
}

fn text(report: &TestFactsReport) -> String {
    let mut text = format!(
        "{} patches, {} with tests that depend directly on what they modify, {} of them break one; {} without a verdict\n",
        report.patches, report.with_targets, report.with_regressions, report.without_verdict
    );
    if report.tests_without_file > 0 {
        let _ = writeln!(
            text,
            "{} tests of PASS_TO_PASS whose file was not found are left out",
            report.tests_without_file
        );
    }
    let _ = writeln!(text, "written to {}", report.out.display());
    output::input_faults(&mut text, &report.faults);
    text
}
