//! `atlas metrics` and `atlas report`.

use super::{DONE, ERROR, Format};
use crate::words::{percentile, within, word};
use atlas_core::Error;
use atlas_judge::metrics::analysis::{AnalysisOptions, Population};
use atlas_judge::metrics::{BeyondRuns, BugValue, CalibrationMethod, LowConfidenceRule};
use atlas_pipeline::{
    CheckedFile, MeasureInput, PageKind, check_file, measure, report_policies, write_page,
};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How intervals are made.
#[derive(Debug, Args)]
pub(super) struct ResampleArgs {
    /// Resamples of tasks for intervals; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(super) resamples: usize,
}

/// Verdicts of the evaluator.
#[derive(Debug, Args)]
struct VerdictArgs {
    /// The folder of an evaluation, `logs/run_evaluation/<run id>`: its verdicts say which patches resolve
    /// their task, and which tests pass. Can be given several times.
    #[arg(long = "evaluation", value_name = "DIR")]
    evaluations: Vec<PathBuf>,
}

#[derive(Debug, Args)]
struct AnalysisArgs {
    /// Attempt a task from this probability of success on.
    #[arg(long, value_name = "P", default_value_t = 0.5, value_parser = share)]
    tau: f64,
    /// Percentiles of the validation score that decide what is shown.
    #[arg(long, value_name = "P,…", value_delimiter = ',', default_value = "75,90", value_parser = percentile)]
    percentiles: Vec<f64>,
    /// What the percentile of a policy that also abstains is over: patches of tasks that are attempted, or of all.
    #[arg(long, value_parser = word::<Population>(), default_value = "attempted")]
    population: Population,
    /// What to do where a task has fewer runs than k: take those that there are, leave the task out, or stop.
    #[arg(long, value_parser = word::<BeyondRuns>(), default_value = "clamp")]
    beyond: BeyondRuns,
    /// The largest k; never more than the most runs of a task.
    #[arg(long, value_name = "K", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    max_k: u64,
    /// The k that tables have a column for, however large --max-k is; 1, 3, 5, 10, 20 and the largest without.
    #[arg(long, value_name = "K,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    k: Vec<u64>,
    /// A test predicted to pass with at most this confidence, 0 to 100, is taken to fail …
    #[arg(long, value_name = "C", default_value_t = 65.0)]
    low_confidence: f64,
    /// … if its source is longer than this many characters.
    #[arg(long, value_name = "N", default_value_t = 50)]
    longer_than: u64,
    #[command(flatten)]
    resampling: ResampleArgs,
    /// The seed of the resamples.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Bins of reliability diagrams.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = bins)]
    bins: usize,
    /// Where to cut each score for a precision: `precision=0.9` finds the smallest score from which on nine in ten are right.
    #[arg(long, value_name = "precision=P", value_parser = target)]
    target: Option<f64>,
    /// What a fix is worth, what a bug that stays open costs, and what a run and a person's look at a patch cost, all in one
    /// unit, as `fix=100,open=10,run=1,review=5`: tables then say which thresholds lose money. None has a default.
    #[arg(long, value_name = "NAME=NUMBER,…")]
    value: Option<BugValue>,
    /// Calibrate scores. Each half of the tasks is measured by a fit to the other one, so that no fit has seen what it is
    /// measured on: by a logistic curve (platt), for few tasks, or any curve that never falls (isotonic), for many.
    #[arg(long, value_parser = word::<CalibrationMethod>(), value_name = "METHOD")]
    calibrate: Option<CalibrationMethod>,
    /// Results of other tasks, to which calibrations are fitted instead; tasks that are measured are left out of them.
    /// Can be given several times.
    #[arg(long, value_name = "FILE", requires = "calibrate")]
    calibrate_on: Vec<PathBuf>,
    /// Of each two judges, the cheaper one named first: what a cascade of them would show and cost, over bands of doubt.
    #[arg(long)]
    cascade_curve: bool,
    /// How far apart the ends of these bands lie, 0.005 to 1.
    #[arg(long, value_name = "STEP", default_value_t = 0.1, value_parser = step, requires = "cascade_curve")]
    cascade_step: f64,
}

impl AnalysisArgs {
    fn options(&self) -> AnalysisOptions {
        AnalysisOptions {
            tau: self.tau,
            percentiles: self.percentiles.clone(),
            population: self.population,
            max_k: self.max_k,
            table_ks: self.k.clone(),
            beyond: self.beyond,
            rule: LowConfidenceRule {
                max_confidence: self.low_confidence,
                longer_than: self.longer_than,
            },
            resamples: self.resampling.resamples,
            seed: self.seed,
            bins: self.bins,
            target_precision: self.target,
            value: self.value,
            calibrate: self.calibrate,
            cascade_step: self.cascade_curve.then_some(self.cascade_step),
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    within(text, 1.0)
}

fn bins(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|bins| (1..=1000).contains(bins))
        .ok_or_else(|| "must be a whole number from 1 to 1000".to_owned())
}

fn step(text: &str) -> Result<f64, String> {
    within(text, 1.0)
        .ok()
        .filter(|step| *step >= 0.005)
        .ok_or_else(|| "must be a number from 0.005 to 1".to_owned())
}

fn target(text: &str) -> Result<f64, String> {
    match text.split_once('=') {
        Some(("precision", value)) => share(value),
        _ => Err("must be precision=P, with P from 0 to 1".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(super) struct MetricsArgs {
    /// The results: JSON lines, one or more a candidate patch; - is standard input. Several files are
    /// read as one. NAME=FILE are those of one of several judges, such as models, which are compared.
    #[arg(value_name = "RESULTS", required_unless_present = "check")]
    results: Vec<PathBuf>,
    #[command(flatten)]
    verdicts: VerdictArgs,
    /// Compare files of stored values with what is computed here; a difference is an error.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "results")]
    check: Vec<PathBuf>,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The folder of a run, of an instance or of an evaluation (`logs/run_evaluation/<run id>`); what `atlas eval` or `atlas leaderboard`
    /// printed with --format json; or a trajectory.
    #[arg(value_name = "INPUT", required_unless_present = "policies", conflicts_with_all = ["policies", "evaluations"])]
    input: Option<PathBuf>,
    /// What INPUT is: run, instance, evaluation, comparison or trajectory [default: as it tells].
    #[arg(long, value_name = "KIND", requires = "input")]
    kind: Option<PageKind>,
    /// The results: JSON lines, one or more a candidate patch; - is standard input. Several files are
    /// read as one. NAME=FILE are those of one of several judges, such as models, which are compared.
    #[arg(long, value_name = "RESULTS", num_args = 1..)]
    policies: Vec<PathBuf>,
    #[command(flatten)]
    verdicts: VerdictArgs,
    /// The page to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The title of a page of results.
    #[arg(long, default_value = "Policies and critics")]
    title: String,
    #[command(flatten)]
    analysis: AnalysisArgs,
    #[command(flatten)]
    format: Format,
}

pub(super) fn metrics(args: &MetricsArgs) -> Result<u8, Error> {
    if !args.check.is_empty() {
        let checked: Vec<CheckedFile> = args.check.iter().map(|path| check_file(path)).collect();
        args.format.show(&checked, || checked_text(&checked))?;
        let agree = checked.iter().all(|file| file.agrees);
        return Ok(if agree { DONE } else { ERROR });
    }
    let input = measured(&args.results, &args.verdicts.evaluations, &args.analysis);
    let analysis = measure(&input, &args.analysis.options())?;
    args.format.show(&analysis, || analysis.to_markdown())?;
    Ok(DONE)
}

/// What is measured: a file that is named `NAME=FILE`, and does not exist under that whole name, is a judge's.
fn measured(results: &[PathBuf], evaluations: &[PathBuf], analysis: &AnalysisArgs) -> MeasureInput {
    let mut input = MeasureInput {
        evaluations: evaluations.to_vec(),
        calibrate_on: analysis.calibrate_on.clone(),
        ..MeasureInput::default()
    };
    for path in results {
        let text = path.to_string_lossy();
        match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !name.contains('/') && !path.exists() => {
                input.judges.push((name.to_owned(), file.into()));
            }
            _ => input.results.push(path.clone()),
        }
    }
    input
}

/// The page of a folder or file that tells what it is.
fn page(input: &Path, args: &ReportArgs) -> Result<u8, Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        report: &'a str,
        kind: PageKind,
    }
    let kind = write_page(input, args.kind, &args.out)?;
    let out = args.out.display().to_string();
    let written = Written { report: &out, kind };
    args.format
        .show(&written, || format!("wrote {out}: {kind}\n"))?;
    Ok(DONE)
}

pub(super) fn report(args: &ReportArgs) -> Result<u8, Error> {
    #[derive(Serialize)]
    struct Written<'a> {
        report: &'a str,
        lines: u64,
        instances: u64,
        notes: &'a [String],
    }
    if let Some(input) = &args.input {
        return page(input, args);
    }
    let options = args.analysis.options();
    let input = measured(&args.policies, &args.verdicts.evaluations, &args.analysis);
    let analysis = report_policies(&input, &options, &args.title, &args.out)?;
    let out = args.out.display().to_string();
    let written = Written {
        report: &out,
        lines: analysis.lines,
        instances: analysis.instances,
        notes: &analysis.notes,
    };
    args.format.show(&written, || {
        let mut text = format!(
            "wrote {out}: {} lines, {} tasks\n",
            analysis.lines, analysis.instances
        );
        for note in &analysis.notes {
            let _ = writeln!(text, "note: {note}");
        }
        text
    })?;
    Ok(DONE)
}

fn checked_text(files: &[CheckedFile]) -> String {
    let mut text = String::from("RESULT  CASES  FIELDS  LARGEST  QUANTITY\n");
    for file in files {
        let report = &file.report;
        let _ = writeln!(
            text,
            "{:<6}  {:>5}  {:>6}  {:>7.0e}  {}",
            if file.agrees { "ok" } else { "DIFFER" },
            report.cases,
            report.fields,
            report.largest_error,
            if report.name.is_empty() {
                &file.file
            } else {
                &report.name
            },
        );
    }
    for file in files {
        for found in &file.report.differences {
            let _ = writeln!(
                text,
                "{}: case {}, field {}: expected {}, got {}",
                file.file,
                found.case,
                found.field,
                short(&found.expected),
                short(&found.got)
            );
        }
        for fault in &file.report.faults {
            let _ = write!(text, "{}", file.file);
            if let Some(case) = fault.case {
                let _ = write!(text, ": case {case}");
            }
            if let Some(field) = &fault.field {
                let _ = write!(text, ", field {field}");
            }
            let _ = writeln!(text, ": {}", fault.message);
        }
    }
    text
}

/// A value on one line, cut where it is long.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
