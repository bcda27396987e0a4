//! `atlas leaderboard`.

use super::{DONE, Format, output};
use atlas_core::Error;
use atlas_formats::{ReadOptions, read_dataset};
use atlas_pipeline::{
    Estimate, LeaderboardStatistics, StatisticsOptions, compare_models, leaderboard_statistics,
    read_run_report,
};
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
    #[command(flatten)]
    statistics: StatisticsOptions,
    #[command(flatten)]
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
    let mut found = compare_models(&set, &reports, &args.ks);
    let statistics = leaderboard_statistics(&set, &reports, &args.ks, &args.statistics);
    if args.format.is_json() {
        found.statistics = Some(statistics);
        output::json(&found)?;
    } else {
        let mut text = found.leaderboard.to_markdown();
        if args.ks.len() > 1 {
            for (model, table) in &found.pass_at_k {
                let _ = write!(text, "\n## {model}\n\n{}", table.to_markdown());
            }
        }
        text.push_str(&statistics_text(&statistics));
        output::print(&text)?;
    }
    Ok(DONE)
}

fn statistics_text(found: &LeaderboardStatistics) -> String {
    let percent = |estimate: &Estimate| {
        let value = format!("{:.2}%", estimate.value * 100.0);
        match estimate.interval {
            Some(of) => format!("{value} ({:.2}–{:.2})", of.low * 100.0, of.high * 100.0),
            None => value,
        }
    };
    let cell = |text: &str| text.replace('|', "\\|").replace(['\n', '\r'], " ");
    let mut text = String::from("\n## How sure\n\n| Model | Solved (Wilson 95 %) |");
    let ks: Vec<u64> = found
        .models
        .values()
        .next()
        .map_or_else(Vec::new, |of| of.pass_at.keys().copied().collect());
    for k in &ks {
        let _ = write!(text, " pass@{k} (bootstrap 95 %) |");
    }
    let _ = writeln!(text, "\n|---|---:|{}", "---:|".repeat(ks.len()));
    for (model, of) in &found.models {
        let _ = write!(text, "| {} | {} |", cell(model), percent(&of.solved_share));
        for estimate in of.pass_at.values() {
            let _ = write!(text, " {} |", percent(estimate));
        }
        text.push('\n');
    }
    if !found.pairs.is_empty() {
        text.push_str(
            "\n| First | Second | k | Difference (paired bootstrap 95 %) | Only first | Only second | McNemar's p | Holm |\n\
             |---|---|---:|---:|---:|---:|---:|---:|\n",
        );
    }
    let count =
        |count: Option<u64>| count.map_or_else(|| "–".to_owned(), |count| count.to_string());
    let p = |p: Option<f64>| match p {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.4}"),
    };
    for pair in &found.pairs {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&pair.first),
            cell(&pair.second),
            pair.k,
            percent(&pair.difference),
            count(pair.only_first),
            count(pair.only_second),
            p(pair.p),
            p(pair.p_holm),
        );
    }
    let _ = writeln!(
        text,
        "\nOver {} instances; the bootstrap draws instances {} times, the same ones for all models. Solved: by one prediction at least. \
         McNemar's exact test and the columns before it are there where each pass@k is 0 or 1; Holm's column is adjusted for all pairs at its k.",
        found.instances, found.resamples
    );
    text
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
