//! `atlas build`: the environment, and whether Base's tests run in it.

use super::source::Source;
use super::trial::{BaseTrial, Scope};
use super::{EnvironmentOptions, InstanceModel, inventing, synthesizer};
use crate::failures::{self, Failed};
use crate::log_reading::LogReading;
use crate::make::build_proof;
use crate::plausible;
use crate::reason;
use crate::runners::pinned;
use crate::store::{Workplace, write_json};
use crate::{CachedSandbox, Engines, write_atomically};
use atlas_core::{
    CommitSha, Environment, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, Evidence,
    ExitState, ImageRef, InstanceId, LostModule, Overlay, Repository, RunContext, RunOutcome,
    SynthesisOutcome, TestStatus, Totals,
};
use atlas_docker::{render, write_context};
use atlas_oracle::implausible_number;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What `atlas build` came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildOutcome {
    /// Built, and Base's tests ran in it.
    Ready,
    /// There is no plan, or it does not build.
    NotBuildable,
    /// Built, but no test was seen to run.
    NothingRan,
}

/// The tests of Base in the new environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaseRun {
    /// How many tests were seen.
    pub tests: usize,
    /// Status -> number of tests.
    pub counts: BTreeMap<TestStatus, usize>,
    /// The runner's own totals.
    pub totals: Option<Totals>,
    /// Whether the tests agree with them.
    pub consistent: Option<bool>,
    /// How the run ended, by its log.
    pub outcome: RunOutcome,
    /// How the command ended.
    pub exit: ExitState,
    /// Modules whose tests are missing.
    pub modules_not_loaded: Vec<LostModule>,
    /// Wall seconds.
    pub seconds: f64,
}

/// What `atlas build` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuildReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// `owner/name`, or a folder's name.
    pub repository: String,
    /// The commit.
    pub base: CommitSha,
    /// The verdict.
    pub outcome: BuildOutcome,
    /// Why: one sentence where it is ready, else at most ten short lines, as
    /// [`Reason`](atlas_core::Reason) prints them.
    pub reason: String,
    /// The plan as it was used.
    pub plan: Option<EnvironmentPlan>,
    /// What sandboxes run.
    pub image: Option<ImageRef>,
    /// What the environment was made of.
    pub lock: Option<EnvironmentLock>,
    /// How many plans were tried.
    pub attempts: usize,
    /// The tests of Base.
    pub base_run: Option<BaseRun>,
    /// The folder with build context, plan, lock, attempts and log.
    pub artefacts: PathBuf,
    /// The engine that was used.
    pub engine: String,
    /// Wall seconds of analysis and build.
    pub build_seconds: f64,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
    /// Remarks, drift among them.
    pub warnings: Vec<String>,
    /// What the model was asked and cost, for plan and parser together; absent without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<serde_json::Value>,
}

/// Builds the environment of a repository at a commit and runs Base's tests in it once.
///
/// Writes `environment/` (a context for `docker build`), `plan.json`, `environment.lock.json`, `attempts.json`, `base.log`,
/// `build.json` and, where a model was asked, `model.jsonl` into `<out>/<owner>__<name>-<commit>/`.
///
/// # Errors
/// What is no property of the repository: one that is not there, a dead engine, a full disk.
///
/// # Cancellation
/// Raising `cx.cancel` ends the step in flight, cleans up and returns
/// [`ErrorKind::Cancelled`](atlas_core::ErrorKind::Cancelled).
pub async fn build(
    cx: &RunContext,
    options: &EnvironmentOptions,
    out: &Path,
) -> Result<BuildReport, Error> {
    cx.check("build")?;
    cx.progress.phase("read the repository");
    let source = Source::find(cx, options).await?;
    std::fs::create_dir_all(out).map_err(|why| Error::io("make", out, why))?;
    let id = crate::make::pull_request::default_id(&source.name, None, &source.base)?;
    let place = Workplace::take(out, id.as_str())?;
    let artefacts = out.join(id.as_str());
    let (repository, warnings) = source.check_out(cx, &place.temporary()?).await?;
    let mut engines = Engines::open(options.engine, &options.config, options.trust).await?;
    engines.sandbox = Arc::new(CachedSandbox::new(
        Arc::clone(&engines.sandbox),
        place.path("jobs"),
    ));
    let mut report = BuildReport {
        schema_version: 1,
        repository: repository.name.clone(),
        base: repository.base.clone(),
        outcome: BuildOutcome::NotBuildable,
        reason: String::new(),
        plan: None,
        image: None,
        lock: None,
        attempts: 0,
        base_run: None,
        artefacts: artefacts.clone(),
        engine: engines.builder.engine().to_owned(),
        build_seconds: 0.0,
        evidence: Vec::new(),
        warnings,
        model: None,
    };
    let clock = Instant::now();
    let model = InstanceModel::open(&options.config, &artefacts)?;
    let reading = Arc::new(inventing(
        &options.config,
        (options.engine, options.trust),
        (&id, model.as_ref()),
        LogReading::default(),
    )?);
    let checkout = repository.checkout.clone();
    let declared = plausible::declared_tests(cx, checkout, &Overlay::default()).await?;
    reading.declare(declared);
    let made = synthesizer(
        &options.config,
        &engines,
        (&id, None, Scope::default()),
        place.seed()?,
        (&reading, model.as_ref()),
        None,
    )?
    .synthesize(cx, &repository)
    .await?;
    report.build_seconds = clock.elapsed().as_secs_f64();
    match made {
        SynthesisOutcome::Ready { environment } => {
            failures::forget(out, &id)?;
            let run =
                run_base(cx, options, &engines, &environment, (&id, &place), &reading).await?;
            publish(cx, &repository, &environment.plan, &artefacts).await?;
            write_atomically(&artefacts.join("base.log"), &run.1)?;
            keep(&artefacts, &environment)?;
            let drift = environment.plan.drift.iter().map(|d| format!("drift: {d}"));
            report.warnings.extend(drift);
            report.attempts = environment.attempts.len();
            (report.outcome, report.reason) = if run.0.tests == 0 {
                let what = "the environment was built, but no test was seen to run in it";
                report.evidence = tail(&run.1);
                (BuildOutcome::NothingRan, reason::nothing_ran(what, &run.1))
            } else {
                let reason = format!("Base runs {} tests", run.0.tests);
                (BuildOutcome::Ready, reason)
            };
            let said = declared.and_then(|all| implausible_number(run.0.tests as u64, all));
            report.warnings.extend(said);
            report.base_run = Some(run.0);
            report.plan = Some(environment.plan);
            report.image = Some(environment.image);
            report.lock = Some(environment.lock);
        }
        SynthesisOutcome::NotBuildable {
            reason,
            attempts,
            evidence,
            fault,
            ..
        } => {
            write_json(&artefacts.join("attempts.json"), &attempts)?;
            if let Some(last) = attempts.last() {
                publish(cx, &repository, &last.plan, &artefacts).await?;
                write_json(&artefacts.join("plan.json"), &last.plan)?;
            }
            let failed = Failed {
                id: &id,
                repository: &repository.name,
                base: &repository.base,
                reason: &reason,
                attempts: &attempts,
            };
            failures::note(out, &failed)?;
            report.reason = reason::of_build(&reason, fault, evidence.clone());
            report.evidence = build_proof(&attempts).into_iter().chain(evidence).collect();
            report.attempts = attempts.len();
            report.plan = attempts.into_iter().next_back().map(|last| last.plan);
        }
    }
    let (answers, notes) = reading.record();
    report.warnings.extend(notes);
    if !answers.is_empty() {
        write_json(&artefacts.join("parser.attempts.json"), &answers)?;
    }
    if let Some(own) = reading.own().filter(|_| reading.is_invented()) {
        if let Some(file) = own.file() {
            write_json(&artefacts.join("parser.json"), &file)?;
        }
        report.warnings.push(format!(
            "no shipped parser reads these tests; `{}` was made for them: parser.json",
            own.id()
        ));
    }
    report.model = model.as_ref().map(InstanceModel::ledger);
    place.clear_temporary()?;
    write_json(&artefacts.join("build.json"), &report)?;
    Ok(report)
}

/// Leaves the folder `environment`, of which `docker build` alone makes the plan's environment, with what pins the
/// order of its tests. A plan that cannot be rendered leaves none.
pub(crate) async fn publish(
    cx: &RunContext,
    repository: &Repository,
    plan: &EnvironmentPlan,
    artefacts: &Path,
) -> Result<(), Error> {
    cx.check("write build context")?;
    if render(plan).is_err() {
        return Ok(());
    }
    // With the order of tests that every run has.
    let (repository, plan) = (repository.clone(), pinned(plan));
    let folder = artefacts.join("environment");
    tokio::task::spawn_blocking(move || write_context(&repository, &plan, &folder))
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, "write", "build context").with_source(why))?
}

fn keep(artefacts: &Path, environment: &Environment) -> Result<(), Error> {
    write_json(&artefacts.join("plan.json"), &environment.plan)?;
    write_json(&artefacts.join("environment.lock.json"), &environment.lock)?;
    write_json(&artefacts.join("attempts.json"), &environment.attempts)
}

async fn run_base(
    cx: &RunContext,
    options: &EnvironmentOptions,
    engines: &Engines,
    environment: &Environment,
    (id, place): (&InstanceId, &Workplace),
    reading: &Arc<LogReading>,
) -> Result<(BaseRun, Vec<u8>), Error> {
    let trial = BaseTrial {
        engines: engines.clone(),
        limits: options.config.limits.clone(),
        instance: id.clone(),
        seed: place.seed()?,
        reading: Arc::clone(reading),
        before: None,
        scope: Scope::default(),
    };
    let mut run = trial.state(cx, environment).await?;
    if run.parsed.results.is_empty()
        && reading
            .invent(cx, &environment.plan.test_cmd, &[("base", &run)])
            .await?
    {
        run = trial.state(cx, environment).await?;
    }
    let base = BaseRun {
        tests: run.parsed.results.len(),
        counts: run.summary.counts,
        totals: run.summary.totals,
        consistent: run.summary.consistent,
        outcome: run.summary.outcome,
        exit: run.summary.exit,
        modules_not_loaded: run.parsed.modules_not_loaded,
        seconds: run.summary.seconds,
    };
    Ok((base, run.log))
}

/// The end of the log: what a person would look at first.
fn tail(log: &[u8]) -> Vec<Evidence> {
    const LINES: usize = 20;
    let text = String::from_utf8_lossy(log);
    let lines: Vec<_> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(LINES)..]
        .iter()
        .map(|(at, line)| Evidence::at("base.log", at + 1, (*line).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::publish;
    use atlas_core::{EnvironmentPlan, Repository, RunContext};
    use std::collections::BTreeMap;

    #[tokio::test]
    async fn what_is_published_pins_the_order_of_tests() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository {
            name: "owner/name".to_owned(),
            checkout: folder.path().join("checkout"),
            base: "0".repeat(40).parse().unwrap(),
            base_date: "2025-06-01T12:00:00Z".to_owned(),
            head_manifests: BTreeMap::new(),
            head_tests: BTreeMap::new(),
            touched: Vec::new(),
        };
        std::fs::create_dir(&repository.checkout).unwrap();
        let plan = EnvironmentPlan {
            language: "ruby".to_owned(),
            base_image: "ruby:3.1".to_owned(),
            log_parser_name: "minitest".to_owned(),
            ..EnvironmentPlan::default()
        };
        let cx = RunContext::new("publish");
        publish(&cx, &repository, &plan, folder.path())
            .await
            .unwrap();
        let text = std::fs::read_to_string(folder.path().join("environment/Dockerfile")).unwrap();
        assert!(text.contains("ENV SEED=\"0\""), "{text}");
    }
}
