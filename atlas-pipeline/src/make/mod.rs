//! `atlas make`: one pull request, the whole way.

mod anew;
mod certificate;
mod collection;
mod confirm;
mod distance;
mod image;
mod inject;
mod left_out;
mod misplaced;
mod options;
mod outcome;
mod part;
mod prepare;
mod proof;
pub(crate) mod pull_request;
mod reader;
mod row;
mod sourced;
mod witness;

pub(crate) use collection::FAILURE;
pub(crate) use prepare::nothing_to_test;
pub(crate) use proof::build_proof;

pub use inject::{InjectAttempt, InjectionReport, LeftTest};
pub use options::MakeOptions;
pub use outcome::{MakeOutcome, Seconds};
pub use sourced::read_candidate;
pub use witness::SecondWitness;

use crate::environment::{InstanceModel, Scope};
use crate::failures::Failed;
use crate::log_reading::LogReading;
use crate::plausible;
use crate::reason;
use crate::runners::{Touched, pinned};
use crate::store::{Key, Workplace, write_json};
use crate::{CachedSandbox, Engines, write_atomically};
use atlas_core::{
    BeforeFailureExtent, Confirmation, EnvSynthesizer, Environment, EnvironmentPlan, Error,
    ErrorKind, Evidence, InstanceId, Isolation, Kind, Limits, OracleOutcome, OracleReport,
    OracleTask, Overlay, Repository, RunContext, State, SynthesisOutcome,
};
use atlas_oracle::StateRun;
use collection::FOR_SWEBENCH;
use distance::Reach;
use prepare::Prepared;
use pull_request::PullRequest;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What `atlas make` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MakeReport {
    /// Version of this report's form.
    pub schema_version: u32,
    /// The Atlas that made it.
    pub version: String,
    /// The instance's name.
    pub instance_id: InstanceId,
    /// The verdict.
    pub outcome: MakeOutcome,
    /// Why: one sentence for an instance; for any other outcome at most ten short lines, as
    /// [`Reason`](atlas_core::Reason) prints them.
    pub reason: String,
    /// Bug fix or feature, by state.
    pub kind: Option<Kind>,
    /// How much of Before did not run.
    pub before_failure_extent: Option<BeforeFailureExtent>,
    /// Tests that define the task.
    #[serde(rename = "FAIL_TO_PASS")]
    pub fail_to_pass: Vec<String>,
    /// Tests that must go on passing.
    #[serde(rename = "PASS_TO_PASS")]
    pub pass_to_pass: Vec<String>,
    /// Tests that exist only through the gold patch, each with what shows it: in neither list.
    pub gold_only: BTreeMap<String, String>,
    /// The dataset row's file; absent for a rejected pull request.
    pub row: Option<PathBuf>,
    /// The folder with everything that proves the verdict.
    pub artefacts: PathBuf,
    /// The engine that was used.
    pub engine: String,
    /// How the tests were kept apart from this machine; absent if none ran.
    pub isolation: Option<Isolation>,
    /// Wall seconds by step.
    pub seconds: Seconds,
    /// Proof lines.
    pub evidence: Vec<Evidence>,
    /// Remarks.
    pub warnings: Vec<String>,
    /// What further runs said of the tests that define the task; absent where none were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confirmation: Option<Confirmation>,
    /// What the runner's structured reports say beside the console; absent where no state ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_witness: Option<SecondWitness>,
    /// What the model was asked and cost, for plan, parser and injection together; absent without a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<serde_json::Value>,
}

/// Makes one pull request into a verified instance, or says why it is none.
///
/// Writes `<out>/dataset.jsonl` and, below `<out>/<instance_id>/`, the row, the patches, the plan
/// and the folder that builds its environment, the environment lock, the three logs and structured reports, and the
/// oracle's report. What was already done by an earlier run with the same inputs is not done again.
///
/// # Errors
/// What is no property of the pull request: a repository or commit that is not there, a dead
/// engine, a full disk, another run at work on the same instance.
///
/// # Cancellation
/// Raising `cx.cancel` ends the step in flight, cleans up and returns
/// [`ErrorKind::Cancelled`]; the same call later goes on from there.
pub async fn make(cx: &RunContext, options: &MakeOptions) -> Result<MakeReport, Error> {
    let started = Instant::now();
    cx.check("make")?;
    cx.progress.phase("read the pull request");
    std::fs::create_dir_all(&options.out).map_err(|why| Error::io("make", &options.out, why))?;
    let request = PullRequest::find(cx, options).await?;
    let id = request.instance_id.clone();
    image::check(options, &request)?;
    let place = Workplace::take(&options.out, id.as_str())?;
    let request = request.within(&place.temporary()?);
    let artefacts = options.out.join(id.as_str());
    write_json(&place.path("source.json"), &request.repo.git_dir())?;
    tracing::info!(instance_id = %id, base = %request.base, head = %request.head, "making");

    let mut work = Work {
        artefacts: artefacts.clone(),
        seconds: Seconds::default(),
        warnings: request.notes.clone(),
        engine: String::new(),
        isolation: None,
        second_witness: None,
        model: InstanceModel::open(&options.config, &artefacts)?,
        is_judged_by_caller: false,
    };
    let result = work.run(cx, options, &request, &place).await;
    place.clear_temporary()?;
    let Verdict {
        outcome,
        reason,
        evidence,
        oracle,
        row,
    } = result?;
    if row.is_none() {
        // A verdict of "no" must not leave an older "yes" behind.
        options.forget_row(&id)?;
    }
    work.seconds.total = started.elapsed().as_secs_f64();
    let confirmation = oracle.as_ref().and_then(|found| found.confirmation.clone());
    let (kind, extent, fail_to_pass, pass_to_pass, gold_only) = match oracle {
        Some(report) => {
            work.warnings.extend(report.warnings);
            (
                report.kind,
                Some(report.before_failure_extent),
                report.fail_to_pass,
                report.pass_to_pass,
                report.gold_only,
            )
        }
        None => (None, None, Vec::new(), Vec::new(), BTreeMap::new()),
    };
    let report = MakeReport {
        schema_version: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        instance_id: id,
        outcome,
        reason,
        kind,
        before_failure_extent: extent,
        fail_to_pass,
        pass_to_pass,
        gold_only,
        row,
        artefacts,
        engine: work.engine,
        isolation: work.isolation,
        seconds: work.seconds,
        evidence,
        warnings: work.warnings,
        confirmation,
        second_witness: work.second_witness,
        model: work.model.as_ref().map(InstanceModel::ledger),
    };
    write_json(&report.artefacts.join("make.json"), &report)?;
    Ok(report)
}

struct Verdict {
    outcome: MakeOutcome,
    reason: String,
    evidence: Vec<Evidence>,
    oracle: Option<OracleReport>,
    row: Option<PathBuf>,
}

impl Verdict {
    /// Of a pull request of which nothing is run.
    fn unrun(outcome: MakeOutcome, what: &str, evidence: Vec<Evidence>) -> Self {
        Self {
            outcome,
            reason: reason::of_make(outcome, what, evidence.clone(), None),
            evidence,
            oracle: None,
            row: None,
        }
    }
}

struct Work {
    artefacts: PathBuf,
    seconds: Seconds,
    warnings: Vec<String>,
    engine: String,
    isolation: Option<Isolation>,
    second_witness: Option<SecondWitness>,
    model: Option<InstanceModel>,
    /// Whether the caller's oracle gave the report.
    is_judged_by_caller: bool,
}

impl Work {
    async fn run(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        request: &PullRequest,
        place: &Workplace,
    ) -> Result<Verdict, Error> {
        let clock = Instant::now();
        let checkout = place.temporary()?.join("checkout");
        // The engine is asked who it is meanwhile; whether it is there matters only afterwards.
        let (prepared, engines) = tokio::join!(
            Box::pin(self.prepare(cx, request, &checkout)),
            Box::pin(Engines::open(
                options.engine,
                &options.config,
                options.trust
            ))
        );
        let prepared = match prepared? {
            Ok(prepared) => prepared,
            Err(verdict) => return Ok(verdict),
        };
        self.seconds.prepare = clock.elapsed().as_secs_f64();
        let engines = engines?.with(options.parts.as_ref());
        let sandbox = Arc::clone(&engines.sandbox);
        let verdict =
            Box::pin(self.verify(cx, options, request, place, (prepared, checkout), engines));
        let verdict = verdict.await;
        let settled = sandbox.settle().await;
        let verdict = verdict?;
        settled?;
        Ok(verdict)
    }

    /// The environment, the three states, the row.
    async fn verify(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        request: &PullRequest,
        place: &Workplace,
        (prepared, checkout): (Prepared, PathBuf),
        mut engines: Engines,
    ) -> Result<Verdict, Error> {
        let Prepared {
            split,
            before,
            after,
        } = prepared;
        let clock = Instant::now();
        engines.builder.engine().clone_into(&mut self.engine);
        engines.sandbox = Arc::new(CachedSandbox::new(
            Arc::clone(&engines.sandbox),
            place.path("jobs"),
        ));
        let repository = Repository {
            name: request.repo_name.clone(),
            checkout,
            base: request.base.clone(),
            base_date: request.base_date.clone(),
            head_manifests: split.head_manifests.clone(),
            head_tests: split.head_tests.clone(),
            touched: split.decisions.iter().map(|d| d.path.clone()).collect(),
        };
        let of = (&request.instance_id, self.model.as_ref());
        let reading = Arc::new(anew::reading(cx, options, of).await?);
        let scope = Scope {
            choice: options.config.make.scope,
            budget: (options.config.make.scope_seconds / STATES).max(1),
            touched: Touched::new(&repository.checkout, &split.decisions),
        };
        let checkout = repository.checkout.clone();
        reading.declare(plausible::declared_tests(cx, checkout, &after).await?);
        let mut environment = match self
            .environment(
                cx,
                options,
                &engines,
                (&repository, &before, &scope),
                (request, place),
                &reading,
            )
            .await?
        {
            Ok(environment) => environment,
            Err(verdict) => return Ok(verdict),
        };
        self.seconds.environment = clock.elapsed().as_secs_f64();
        if environment.plan.test_scope.is_some() {
            // The sources declare the tests of the whole suite.
            reading.declare(None);
        }

        let task = OracleTask {
            instance_id: request.instance_id.clone(),
            test_patch: split.test_patch.clone(),
            gold_patch: split.gold_patch.clone(),
            before,
            after,
            modified_tests: split.modified_tests.clone(),
            conditions: split.conditions.clone(),
        };
        let states = |environment: Environment| (environment, &engines, &task, place);
        let (report, runs) = self
            .states(cx, options, states(environment.clone()), &reading)
            .await?;
        let (report, runs) = match self
            .read_anew(cx, options, &mut environment, (report, runs), &reading)
            .await?
        {
            Ok(known) => known,
            Err(()) => {
                self.states(cx, options, states(environment.clone()), &reading)
                    .await?
            }
        };
        let of = (&mut environment, &engines, &task, place);
        let known = ((report, runs), &scope, &*reading);
        let (report, runs) = self.of_a_part(cx, options, of, known).await?;
        self.second_witness = Some(witness::second_witness(&environment, &runs));
        if let Some(folder) = &options.keep_differences {
            witness::keep_differences(folder, &request.instance_id, &environment, &runs)?;
        }
        let reach = Reach::of(&task, &repository.checkout);
        let place_of = (&environment, &engines, &task, place);
        let mut report = self
            .confirm(
                cx,
                options,
                place_of,
                &reading,
                (report, &runs),
                (&reach, &scope.touched),
            )
            .await?;
        let after = runs.get(&State::After).and_then(|runs| runs.first());
        if report.outcome == OracleOutcome::RejectNoFailToPass
            && let Some(run) = after
        {
            // What was not run, or not read, may be what changes.
            let plan = &environment.plan;
            let few = reading
                .too_few(run)
                .map(|said| format!("but in After {said}"));
            let before = runs.get(&State::Before).and_then(|runs| runs.first());
            let said = few
                .or_else(|| left_out::left_out(plan, &task.test_patch, &run.parsed))
                .or_else(|| left_out::shared(&before?.parsed, &run.parsed));
            if let Some(said) = said {
                report.outcome = OracleOutcome::NoEvidence;
                report.reason = format!("{}; {said}", report.reason);
            }
        }
        let misplaced = after.and_then(|run| {
            let of = (&task.gold_patch, &run.parsed);
            misplaced::take_back(&mut report, of, &repository.checkout)
        });
        let first = |state: State| Some((state.as_str(), runs.get(&state)?.first()?));
        let firsts: Vec<_> = State::ALL.into_iter().filter_map(first).collect();
        self.warnings.extend(reading.implausible(&firsts));
        let outcome = report.outcome.into();
        let reason = if let Some(reason) = misplaced {
            reason
        } else if outcome == MakeOutcome::Instance {
            report.reason.clone()
        } else {
            reason::of_make(
                outcome,
                &report.reason,
                report.evidence.clone(),
                Some(&runs),
            )
        };
        let mut verdict = Verdict {
            outcome,
            reason,
            evidence: report.evidence.clone(),
            oracle: None,
            row: None,
        };
        if report.outcome == OracleOutcome::Instance {
            cx.progress.phase("write");
            let reader = reader::reader_of(
                &environment.plan.log_parser_name,
                (&request.instance_id, &request.repo_name),
                &runs,
                [&report.fail_to_pass, &report.pass_to_pass],
            );
            let parser = &environment.plan.log_parser_name;
            match &reader {
                Some(reader) if reader.agrees => {}
                Some(reader) if reader.lists.is_some() => self.warnings.push(format!(
                    "the SWE-bench harness names these tests (`{parser}`) otherwise than Atlas does: the row \
                     with its names is in `{FOR_SWEBENCH}`"
                )),
                _ => self.warnings.push(format!(
                    "the SWE-bench harness does not read these tests (`{parser}`): grade the row with `atlas \
                     eval`"
                )),
            }
            let place = (&engines, &environment, &task, place);
            let certificate = self
                .certificate(cx, options, place, (&report, &runs), &reading)
                .await?;
            let own = reading.own();
            let lists = reader.as_ref().and_then(|reader| reader.lists.clone());
            let image = self.named(options, request, &environment, &engines).await?;
            let row = row::row(
                options,
                request,
                &split,
                (&environment, &image),
                &report,
                reader,
                (own.as_ref(), &certificate),
            )?;
            let path = self.artefacts.join("instance.json");
            let text = row.to_string();
            write_atomically(&path, format!("{text}\n").as_bytes())?;
            options.keep_row(&request.instance_id, &row, lists)?;
            verdict.row = Some(path);
        }
        verdict.oracle = Some(report);
        Ok(verdict)
    }

    /// The environment, or the verdict that there is none.
    async fn environment(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        engines: &Engines,
        (repository, before, scope): (&Repository, &Overlay, &Scope),
        (request, place): (&PullRequest, &Workplace),
        reading: &Arc<LogReading>,
    ) -> Result<Result<Environment, Verdict>, Error> {
        let instance = (&request.instance_id, Some(before), scope.clone());
        let seed = place.seed()?;
        let asked = (reading, self.model.as_ref());
        let synthesizer = crate::environment::synthesizer(
            &options.config,
            engines,
            instance,
            seed,
            asked,
            options.parts.as_ref(),
        )?;
        match synthesizer.synthesize(cx, repository).await? {
            SynthesisOutcome::Ready { mut environment } => {
                options.forget_failure(&request.instance_id)?;
                self.publish(cx, repository, &environment.plan).await?;
                environment.plan = pinned(&environment.plan);
                if let Some(own) = reading.own() {
                    own.plan_name()
                        .clone_into(&mut environment.plan.log_parser_name);
                }
                write_json(&self.artefacts.join("attempts.json"), &environment.attempts)?;
                write_json(&self.artefacts.join("plan.json"), &environment.plan)?;
                write_json(
                    &self.artefacts.join("environment.lock.json"),
                    &environment.lock,
                )?;
                self.warnings
                    .extend(environment.plan.drift.iter().map(|d| format!("drift: {d}")));
                Ok(Ok(*environment))
            }
            SynthesisOutcome::NotBuildable {
                reason,
                attempts,
                evidence,
                fault,
                ..
            } => {
                write_json(&self.artefacts.join("attempts.json"), &attempts)?;
                let (answers, notes) = reading.record();
                self.warnings.extend(notes);
                if !answers.is_empty() {
                    write_json(&self.artefacts.join("parser.attempts.json"), &answers)?;
                }
                if let Some(last) = attempts.last() {
                    self.publish(cx, repository, &last.plan).await?;
                    write_json(&self.artefacts.join("plan.json"), &last.plan)?;
                }
                let failed = Failed {
                    id: &request.instance_id,
                    repository: &request.repo_name,
                    base: &request.base,
                    reason: &reason,
                    attempts: &attempts,
                };
                options.keep_failure(&failed)?;
                let reason = reason::of_build(&reason, fault, evidence.clone());
                let proof = build_proof(&attempts).into_iter().chain(evidence).collect();
                Ok(Err(Verdict {
                    outcome: MakeOutcome::EnvironmentInvalid,
                    reason,
                    evidence: proof,
                    oracle: None,
                    row: None,
                }))
            }
        }
    }

    async fn states(
        &mut self,
        cx: &RunContext,
        options: &MakeOptions,
        (environment, engines, task, place): (Environment, &Engines, &OracleTask, &Workplace),
        reading: &LogReading,
    ) -> Result<(OracleReport, BTreeMap<State, Vec<StateRun>>), Error> {
        let plan = &environment.plan;
        let limits = &options.config.limits;
        let oracle = crate::environment::oracle(engines, plan, limits, place.seed()?, reading)?;
        let mut runs: BTreeMap<State, Vec<StateRun>> = BTreeMap::new();
        let repeats = 0..options.repeats.max(1);
        let order: Vec<(State, u32)> = State::ALL
            .into_iter()
            .flat_map(|state| repeats.clone().map(move |repeat| (state, repeat)))
            .collect();
        for (at, (state, repeat)) in order.iter().copied().enumerate() {
            // Copies are got ready together, before a state runs and not beside it.
            for (state, repeat) in order.iter().skip(at).take(State::ALL.len()).copied() {
                oracle
                    .expect_state(cx, &environment, task, state, repeat)
                    .await;
            }
            let base = runs.get(&State::Base).and_then(|runs| runs.first());
            let run = match base {
                Some(base) if state != State::Base => {
                    let limits = after_base(limits, base.summary.seconds, plan);
                    let oracle =
                        crate::environment::oracle(engines, plan, &limits, place.seed()?, reading)?;
                    oracle
                        .run_state(cx, &environment, task, state, repeat)
                        .await?
                }
                _ => {
                    oracle
                        .run_state(cx, &environment, task, state, repeat)
                        .await?
                }
            };
            self.keep(state, repeat, &run, plan)?;
            runs.entry(state).or_default().push(run);
        }
        let standard = Arc::new(oracle);
        let own = options.parts.as_ref();
        let report = match own.and_then(|parts| parts.oracle(Arc::clone(&standard))) {
            // The states that it runs are those that were just run, and are remembered.
            Some(own) => {
                self.is_judged_by_caller = true;
                own.judge(cx, &environment, task).await?
            }
            None => standard.report(task, &runs).ok_or_else(|| {
                Error::new(ErrorKind::Internal, "classify", "without all three states")
            })?,
        };
        write_json(&self.artefacts.join("oracle.json"), &report)?;
        Ok((report, runs))
    }

    fn keep(
        &mut self,
        state: State,
        repeat: u32,
        run: &StateRun,
        plan: &EnvironmentPlan,
    ) -> Result<(), Error> {
        let name = if repeat == 0 {
            state.to_string()
        } else {
            format!("{state}.{}", repeat + 1)
        };
        self.write(&format!("{name}.log"), &run.log)?;
        if let (Some(bytes), Some(spec)) = (&run.report, &plan.report) {
            self.write(&format!("{name}.{}", spec.file), bytes)?;
        }
        if repeat > 0 {
            return Ok(());
        }
        let seconds = match state {
            State::Base => &mut self.seconds.base,
            State::Before => &mut self.seconds.before,
            State::After => &mut self.seconds.after,
        };
        *seconds = run.summary.seconds;
        self.isolation = Some(run.summary.isolation.clone());
        self.seconds.sandbox_overhead += run.summary.overhead_seconds;
        Ok(())
    }

    async fn publish(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: &EnvironmentPlan,
    ) -> Result<(), Error> {
        crate::environment::publish(cx, repository, plan, &self.artefacts).await
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        write_atomically(&self.artefacts.join(name), bytes)
    }
}

/// Base, Before and After.
const STATES: u64 = 3;

/// Of Base's seconds, so many are enough for a state that comes to its end.
const TIMES_OF_BASE: f64 = 10.0;

/// The limits of Before and After, from how long Base took: ten times as long, and at least five minutes, so that a test that
/// hangs in one of them does not use all the time there is. At least fifteen minutes for compiled languages: Base runs what
/// the image has compiled, and the other states compile again.
fn after_base(limits: &Limits, seconds: f64, plan: &EnvironmentPlan) -> Limits {
    let least = if plan.products.is_some() { 900 } else { 300 };
    let most = (seconds * TIMES_OF_BASE).clamp(0.0, 1e9);
    let most = std::time::Duration::from_secs_f64(most).as_secs();
    Limits {
        // In steps of a minute: close limits are one job.
        seconds: limits.seconds.min(most.next_multiple_of(60).max(least)),
        ..limits.clone()
    }
}

/// A stable name for a repository fetched from an address.
pub(crate) fn mirror_folder(cache: &Path, url: &str) -> PathBuf {
    cache
        .join("repositories")
        .join(&Key::new("repository").part(url.as_bytes()).finish()[..24])
}
