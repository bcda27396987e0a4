//! `atlas leaderboard`.

use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_formats::{ReadOptions, read_dataset};
use atlas_pipeline::{compare_models, read_run_report};
use clap::Args;
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct LeaderboardArgs {
    /// The dataset: every instance of it counts, predicted or not.
    #[arg(long, value_name = "FILE|DIR")]
    dataset: PathBuf,
    /// Run reports, `<model>.<run id>.json`; MODEL=FILE names the model otherwise. Several of one model
    /// are several predictions.
    #[arg(required = true, value_name = "[MODEL=]REPORT")]
    reports: Vec<String>,
    /// The k of pass@k; the first one orders the table.
    #[arg(long = "k", value_name = "K,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    ks: Vec<u64>,
    /// How to print the table; text is Markdown.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// The model, where it is named, and the file of an argument.
fn named(argument: &str) -> (Option<String>, PathBuf) {
    match argument.split_once('=') {
        Some((model, file))
            if !model.contains(std::path::MAIN_SEPARATOR) && !PathBuf::from(argument).exists() =>
        {
            (Some(model.to_owned()), PathBuf::from(file))
        }
        _ => (None, PathBuf::from(argument)),
    }
}

pub(super) fn command(args: &LeaderboardArgs) -> Result<u8, Error> {
    let set = read_dataset(&args.dataset, &ReadOptions::default())?;
    let mut reports = Vec::with_capacity(args.reports.len());
    for argument in &args.reports {
        let (model, path) = named(argument);
        let (of_file, report) = read_run_report(&path)?;
        reports.push((model.unwrap_or(of_file), report));
    }
    let found = compare_models(&set, &reports, &args.ks);
    if args.format == Format::Json {
        output::json(&found)?;
    } else {
        let mut text = found.leaderboard.to_markdown();
        if args.ks.len() > 1 {
            for (model, table) in &found.pass_at_k {
                let _ = write!(text, "\n## {model}\n\n{}", table.to_markdown());
            }
        }
        output::print(&text)?;
    }
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::named;
    use std::path::Path;

    #[test]
    fn a_report_may_be_given_with_its_model() {
        assert_eq!(
            named("mine=x.json"),
            (Some("mine".to_owned()), Path::new("x.json").to_owned())
        );
        for plain in ["org__gpt-4.1.run-3.json", "runs/a=b/m.r.json"] {
            assert_eq!(named(plain), (None, Path::new(plain).to_owned()));
        }
    }
}
