//! `atlas facts`.

use super::shared::DatasetArgs;
use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_pipeline::{TestFactsOptions, TestFactsReport, write_test_facts};
use clap::Args;
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(super) struct FactsArgs {
    #[command(flatten)]
    rows: DatasetArgs,
    #[command(flatten)]
    options: TestFactsOptions,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn command(args: FactsArgs) -> Result<u8, Error> {
    let options = TestFactsOptions {
        dataset: args.rows.dataset,
        instances: args.rows.only.instance_ids,
        ..args.options
    };
    let report = write_test_facts(&options).await?;
    args.format.show(&report, || text(&report))?;
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
