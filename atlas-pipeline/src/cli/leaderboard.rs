//! `atlas leaderboard`.

use super::{DONE, Format, output};
use atlas_core::{Error, ErrorKind};
use atlas_formats::{ReadOptions, read_dataset};
use atlas_oracle::{AttemptCount, RunReport, TaskGroups, leaderboard, pass_at_k_table};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
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

/// The model and the file of an argument.
fn named(argument: &str) -> (String, PathBuf) {
    if let Some((model, file)) = argument.split_once('=')
        && !model.contains(std::path::MAIN_SEPARATOR)
        && !PathBuf::from(argument).exists()
    {
        return (model.to_owned(), PathBuf::from(file));
    }
    let path = PathBuf::from(argument);
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let model = stem
        .rsplit_once('.')
        .map_or(stem.as_str(), |(model, _)| model);
    (model.replace("__", "/"), path)
}

pub(super) fn command(args: &LeaderboardArgs) -> Result<u8, Error> {
    let set = read_dataset(&args.dataset, &ReadOptions::default())?;
    let tasks: BTreeMap<String, TaskGroups> = set
        .rows
        .iter()
        .map(|row| {
            let text = |column: &str| row.text(column).unwrap_or_default().to_owned();
            let groups = TaskGroups {
                language: text("language"),
                domain: text("domain"),
                repo: text("repo"),
            };
            (row.id().to_string(), groups)
        })
        .collect();
    let mut models: BTreeMap<String, BTreeMap<String, AttemptCount>> = BTreeMap::new();
    for argument in &args.reports {
        let (model, path) = named(argument);
        let bytes = std::fs::read(&path).map_err(|why| Error::io("read run report", &path, why))?;
        let report = RunReport::from_json_bytes(&bytes).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "read run report",
                format!("`{}`", path.display()),
            )
            .with_source(why)
        })?;
        let counts = models.entry(model).or_default();
        for id in &report.submitted_ids {
            let is_resolved = report.resolved_ids.contains(id);
            counts.entry(id.clone()).or_default().add(is_resolved);
        }
    }
    let first = args.ks.first().copied().unwrap_or(1);
    let board = leaderboard(&tasks, &models, first);
    let tables: BTreeMap<&String, _> = models
        .iter()
        .map(|(model, counts)| (model, pass_at_k_table(&tasks, counts, &args.ks)))
        .collect();
    if args.format == Format::Json {
        output::json(&json!({"leaderboard": board, "pass_at_k": tables}))?;
    } else {
        let mut text = board.to_markdown();
        if args.ks.len() > 1 {
            for (model, table) in &tables {
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

    #[test]
    fn a_report_s_name_holds_its_model() {
        assert_eq!(named("org__gpt-4.1.run-3.json").0, "org/gpt-4.1");
        assert_eq!(named("mine=x.json").0, "mine");
        assert_eq!(named("runs/a=b/m.r.json").0, "m");
    }
}
