//! What is said of a whole run.

use super::input::{Input, InputFault};
use super::layout::{RunFolder, keep};
use super::verdict::{EvalOutcome, EvalVerdict};
use super::{Done, EvalOptions};
use crate::CachedSandbox;
use crate::store::write_json;
use atlas_core::{Error, GradingMode, Harness, ResourceUsage};
use atlas_oracle::{
    Cause, InstanceReport, Leftovers, ReportBody, ReportState, RunEntry, RunReport, RunReportInput,
    ScoreBounds, Scored, TestsStatus,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a run cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ledger {
    /// Jobs that an engine really ran.
    pub jobs_run: u64,
    /// Jobs that were known from an earlier run.
    pub jobs_known: u64,
    /// Bytes on disk of the results of those jobs.
    pub result_bytes: u64,
    /// Seconds of tests, of all predictions together, wherever they were run.
    pub test_seconds: f64,
    /// Seconds around them: creating, copying, removing.
    pub overhead_seconds: f64,
    /// Seconds of this call.
    pub seconds: f64,
    /// The highest peak memory of any prediction's run, and the processor seconds of all of them; absent
    /// where no engine told.
    #[serde(flatten)]
    pub usage: ResourceUsage,
    /// What each prediction's own run cost, by model and instance.
    pub instances: Vec<InstanceCost>,
}

/// What one prediction's run cost, wherever and whenever it was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct InstanceCost {
    /// The instance.
    pub instance_id: String,
    /// The model.
    pub model_name_or_path: String,
    /// Seconds of tests.
    pub test_seconds: f64,
    /// Seconds around them.
    pub overhead_seconds: f64,
    /// What it took of the machine.
    #[serde(flatten)]
    pub usage: ResourceUsage,
}

/// A run of evaluations.
#[derive(Clone, Debug, Serialize)]
pub struct EvalReport {
    /// The run's name.
    pub run_id: String,
    /// By whose rules.
    pub mode: GradingMode,
    /// The harness's report of the run: of each model one.
    pub reports: BTreeMap<String, RunReport>,
    /// Bounds of each model's score: what infrastructure lost counts as failed in the lower and as
    /// resolved in the upper.
    pub bounds: BTreeMap<String, ScoreBounds>,
    /// Why predictions are not resolved, of all models together: cause -> number.
    pub causes: BTreeMap<Cause, usize>,
    /// The verdicts, by model and instance.
    pub verdicts: Vec<EvalVerdict>,
    /// What was wrong with the inputs.
    pub faults: Vec<InputFault>,
    /// What it cost.
    pub ledger: Ledger,
}

impl EvalReport {
    /// Whether every prediction is resolved.
    pub fn all_resolved(&self) -> bool {
        self.verdicts.iter().all(|verdict| verdict.resolved)
    }

    /// Verdicts that could not be reached for no fault of the prediction.
    pub fn without_evidence(&self) -> usize {
        self.verdicts
            .iter()
            .filter(|verdict| verdict.outcome == EvalOutcome::NoEvidence)
            .count()
    }

    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), Error> {
        for (model, report) in &self.reports {
            let path = folder.report(model);
            crate::write_atomically(&path, &report.to_json_bytes())?;
        }
        folder.note_cost(&self.ledger)?;
        let faults = folder.root().join("faults.json");
        if !self.faults.is_empty() {
            write_json(&faults, &self.faults)?;
        } else if faults.exists() {
            // An earlier start of this run had worse input.
            std::fs::remove_file(&faults).map_err(|why| Error::io("remove", &faults, why))?;
        }
        keep(
            &folder.root(),
            "mode",
            format!("{}\n", self.mode).as_bytes(),
        )
    }
}

/// The harness's report of one instance, from a verdict by Atlas's own rules.
pub(super) fn instance_report(verdict: &EvalVerdict) -> InstanceReport {
    let is_infra = matches!(
        verdict.cause,
        Some(Cause::Environment | Cause::Harness | Cause::Flaky)
    );
    InstanceReport {
        instance_id: verdict.instance_id.clone(),
        body: ReportBody {
            patch_is_none: false,
            patch_exists: true,
            patch_successfully_applied: true,
            resolved: verdict.resolved,
            infra_failure: Some(is_infra),
            infra_failure_reason: is_infra.then(|| verdict.reasons.first().cloned()).flatten(),
            tests_status: Some(TestsStatus {
                fail_to_pass: verdict.fail_to_pass.clone(),
                pass_to_pass: verdict.pass_to_pass.clone(),
                ..TestsStatus::default()
            }),
            ..ReportBody::default()
        },
    }
}

pub(super) fn sum_up(
    options: &EvalOptions,
    input: &Input,
    done: Vec<Done>,
    cached: &CachedSandbox,
    seconds: f64,
) -> EvalReport {
    let (jobs_known, jobs_run) = cached.counts();
    let mut ledger = Ledger {
        jobs_run,
        jobs_known,
        result_bytes: cached.bytes(),
        seconds,
        ..Ledger::default()
    };
    let mut causes = BTreeMap::new();
    for one in &done {
        ledger.test_seconds += one.spent.0;
        ledger.overhead_seconds += one.spent.1;
        ledger.usage = ledger.usage.and(one.verdict.usage);
        ledger.instances.push(InstanceCost {
            instance_id: one.verdict.instance_id.clone(),
            model_name_or_path: one.verdict.model_name_or_path.clone(),
            test_seconds: one.spent.0,
            overhead_seconds: one.spent.1,
            usage: one.verdict.usage,
        });
        if let Some(cause) = one.verdict.cause {
            *causes.entry(cause).or_insert(0) += 1;
        }
    }
    let mut models: BTreeMap<&str, Vec<&Done>> = BTreeMap::new();
    for one in &done {
        models
            .entry(&one.verdict.model_name_or_path)
            .or_default()
            .push(one);
    }
    if models.is_empty() {
        models.insert(input.model(), Vec::new());
    }
    let (mut reports, mut bounds) = (BTreeMap::new(), BTreeMap::new());
    for (model, mine) in models {
        let entries = entries(input, model, mine.iter().map(|one| one.entry.clone()));
        let leftovers = Leftovers {
            images: mine.iter().filter_map(|one| one.image.clone()).collect(),
            ..Leftovers::default()
        };
        let report = run_report(options.mode, &input.ids, &entries, Some(&leftovers));
        let verdicts = mine.iter().map(|one| Scored {
            resolved: one.verdict.resolved,
            cause: one.verdict.cause,
        });
        bounds.insert(model.to_owned(), ScoreBounds::of(verdicts));
        reports.insert(model.to_owned(), report);
    }
    EvalReport {
        run_id: options.run_id.clone(),
        mode: options.mode,
        reports,
        bounds,
        causes,
        verdicts: done.into_iter().map(|one| one.verdict).collect(),
        faults: input.faults.clone(),
        ledger,
    }
}

/// The predictions of a model, those of unknown instances with the first one.
pub(super) fn entries(
    input: &Input,
    model: &str,
    known: impl Iterator<Item = RunEntry>,
) -> Vec<RunEntry> {
    let strangers = if model == input.model() {
        input.unknown.as_slice()
    } else {
        &[]
    };
    known
        .chain(strangers.iter().map(|id| RunEntry {
            instance_id: id.clone(),
            empty_patch: false,
            report: ReportState::Missing,
            infra: None,
        }))
        .collect()
}

/// The report of a run in the form of its mode; Atlas's own has that of version 5 of SWE-bench.
pub(super) fn run_report(
    mode: GradingMode,
    dataset: &[String],
    predictions: &[RunEntry],
    leftovers: Option<&Leftovers>,
) -> RunReport {
    let harness = match mode {
        GradingMode::Strict => Harness::SweBench5,
        GradingMode::Compat(harness) => harness,
    };
    RunReport::build(
        harness,
        &RunReportInput {
            dataset,
            predictions,
            leftovers,
        },
    )
}
