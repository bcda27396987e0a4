//! `atlas combine`, and how several models are asked for.

use super::Format;
use super::judging::{ModelArgs, finish};
use atlas_core::{Error, ErrorKind, RunContext};
use atlas_judge::ensemble::{Band, EnsembleRule};
use atlas_pipeline::{
    CalibratorsFile, CombineOptions, CombineReport, EnsembleOptions, JudgeReport, ModelSession,
    SessionModels, combine_results,
};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CommitteeChoice {
    Mean,
    Majority,
    Weighted,
}

/// How several models that are named with `--model` become one judge.
#[derive(Debug, Args)]
pub(super) struct EnsembleArgs {
    /// Ask all models, and take the mean of their numbers, the majority of their verdicts (of a tie: no), or the mean of
    /// calibrated numbers weighted by how good each is [default: mean; majority for critics].
    #[arg(long, value_enum, value_name = "RULE", conflicts_with = "cascade")]
    committee: Option<CommitteeChoice>,
    /// Ask the first model, and the next one only where the number of the one before lies in the band, both ends
    /// included. One band for all, or with commas one for each model but the last.
    #[arg(long, value_name = "LOW..HIGH", value_delimiter = ',')]
    cascade: Vec<Band>,
    /// Make the models' numbers comparable by these calibrations, which `atlas metrics --calibrate METHOD --format json`
    /// prints for judges of the models' names; NAME=FILE is of one model alone. Can be given several times.
    #[arg(long, value_name = "FILE")]
    calibrators: Vec<CalibratorsFile>,
}

impl EnsembleArgs {
    fn is_given(&self) -> bool {
        self.committee.is_some() || !self.cascade.is_empty() || !self.calibrators.is_empty()
    }

    fn options(&self) -> EnsembleOptions {
        let committee = self.committee.map(|choice| match choice {
            CommitteeChoice::Mean => EnsembleRule::Mean,
            CommitteeChoice::Majority => EnsembleRule::Majority,
            CommitteeChoice::Weighted => EnsembleRule::Weighted,
        });
        let bands = self.cascade.clone();
        EnsembleOptions {
            rule: if bands.is_empty() {
                committee
            } else {
                Some(EnsembleRule::Cascade(bands))
            },
            threshold: None,
            calibrators: self.calibrators.clone(),
        }
    }

    /// The models that are named, as one judge.
    pub(super) fn models(&self, model: &ModelArgs) -> Result<SessionModels, Error> {
        if model.model.len() < 2 && self.is_given() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "set up the ensemble:",
                "--committee, --cascade and --calibrators are for several models; give --model several times",
            ));
        }
        // Names the way out where there is none.
        if model.model.is_empty() {
            model.named()?;
        }
        Ok(SessionModels {
            models: model.model.clone(),
            ensemble: self.options(),
        })
    }

    /// Opens the models within their common budget.
    pub(super) fn session(&self, model: &ModelArgs) -> Result<ModelSession, Error> {
        let (models, config) = (self.models(model)?, model.configuration()?);
        ModelSession::open_all(&models, &config, &model.payment())
    }
}

impl ModelArgs {
    /// The smallest context of the models, as far as they are known: all of them are asked the same.
    pub(super) fn least_window(&self) -> Result<Option<u64>, Error> {
        let config = self.configuration()?;
        let mut least = None;
        for text in &self.model {
            let window = config.model(SessionModels::model(text))?.context_window;
            least = least.into_iter().chain(window).min();
        }
        Ok(least)
    }
}

#[derive(Debug, Args)]
pub(super) struct CombineArgs {
    /// Results of `atlas abstain`, `review` or `critic`, each of one model, with a name for it. Of a cascade the cheapest
    /// comes first.
    #[arg(value_name = "NAME=FILE", required = true, num_args = 2.., value_parser = member)]
    members: Vec<(String, PathBuf)>,
    /// How they become one: majority, mean, weighted, or cascade=LOW..HIGH (with commas a band for each but the last).
    #[arg(long, value_name = "RULE")]
    rule: EnsembleRule,
    /// Make the numbers comparable by these calibrations, which `atlas metrics NAME=FILE … --calibrate METHOD --format json`
    /// prints; NAME=FILE is of one member alone. Can be given several times.
    #[arg(long, value_name = "FILE")]
    calibrators: Vec<CalibratorsFile>,
    /// Say yes from this number on, 0 to 1, where a mean or a calibrated cascade decides [default: the files' own --tau, else
    /// 0.5].
    #[arg(long, value_name = "P")]
    threshold: Option<f64>,
    /// The file of results, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    format: Format,
}

fn member(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("NAME=FILE expected, such as `big=review-a.jsonl`".to_owned()),
    }
}

pub(super) async fn command(cx: &RunContext, args: CombineArgs) -> Result<u8, Error> {
    let options = CombineOptions {
        members: args.members,
        ensemble: EnsembleOptions {
            rule: Some(args.rule),
            threshold: args.threshold,
            calibrators: args.calibrators,
        },
        out: args.out,
    };
    let report = combine_results(cx, &options).await?;
    finish(cx, args.format, &report, &report.run, |report| {
        Ok(text(report))
    })
}

fn text(report: &CombineReport) -> String {
    let mut text = String::new();
    for failed in &report.run.failed {
        let _ = writeln!(text, "failed: {}: {}", failed.key, failed.message);
    }
    let words = match report.question.as_str() {
        "abstain" => ["to attempt", "to abstain from", "without a word"],
        "review" => ["accepted", "rejected", "of instances abstained from"],
        _ => ["said to pass", "said to fail", "abstained"],
    };
    let counts = [report.yes, report.no, report.abstained];
    let said: Vec<String> = counts
        .iter()
        .zip(words)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let _ = writeln!(text, "{}: {}", report.rule, said.join(", "));
    members_text(&mut text, &report.run);
    let _ = writeln!(
        text,
        "{} items, {} failed; {}",
        report.run.items,
        report.run.failed.len(),
        report.run.out.display()
    );
    text
}

/// The members of a committee or a cascade, a line each.
pub(super) fn members_text(text: &mut String, run: &JudgeReport) {
    for member in &run.members {
        let share = member
            .share
            .map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0));
        let money = member.cost.money.map_or_else(
            || "money unknown".to_owned(),
            |money| format!("{money:.4} in money"),
        );
        let _ = writeln!(
            text,
            "{}: asked about {} items ({share}); {} calls, {} tokens read, {} written, {money}",
            member.model,
            member.asked,
            member.cost.calls,
            member.cost.prompt_tokens,
            member.cost.completion_tokens
        );
    }
}
