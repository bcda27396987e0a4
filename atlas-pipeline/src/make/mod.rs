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
use atlas_oracle::{StateDifferentialOracle, StateRun};
use atlas_source::SplitPullRequest;
use collection::FOR_SWEBENCH;
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
    write_json(&place.path("source.json"), &request.repo.git_dir())?;
    tracing::info!(instance_id = %id, base = %request.base, head = %request.head, "making");

    let mut journey = Journey {
        cx,
        options,
        request: &request,
        place: &place,
        artefacts: options.out.join(id.as_str()),
        seconds: Seconds::default(),
        warnings: request.notes.clone(),
        engine: String::new(),
        isolation: None,
        second_witness: None,
        model: InstanceModel::open(&options.config, &options.out.join(id.as_str()))?,
        is_judged_by_caller: false,
    };
    let result = journey.run().await;
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
    journey.seconds.total = started.elapsed().as_secs_f64();
    let confirmation = oracle.as_ref().and_then(|found| found.confirmation.clone());
    let (kind, extent, fail_to_pass, pass_to_pass, gold_only) = match oracle {
        Some(report) => {
            journey.warnings.extend(report.warnings);
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
        artefacts: journey.artefacts,
        engine: journey.engine,
        isolation: journey.isolation,
        seconds: journey.seconds,
        evidence,
        warnings: journey.warnings,
        confirmation,
        second_witness: journey.second_witness,
        model: journey.model.as_ref().map(InstanceModel::ledger),
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

/// One pull request on its way to an instance.
struct Journey<'a> {
    cx: &'a RunContext,
    options: &'a MakeOptions,
    request: &'a PullRequest,
    place: &'a Workplace,
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

/// With what the states are run, and what is asked of them.
struct Means {
    engines: Engines,
    reading: Arc<LogReading>,
    scope: Scope,
    repository: Repository,
    task: OracleTask,
}

/// An environment, the runs of the states in it, and what the oracle says of them.
struct Judged {
    environment: Environment,
    report: OracleReport,
    runs: BTreeMap<State, Vec<StateRun>>,
}

impl Judged {
    /// The first run of a state.
    fn first(&self, state: State) -> Option<&StateRun> {
        self.runs.get(&state)?.first()
    }
}

impl Journey<'_> {
    async fn run(&mut self) -> Result<Verdict, Error> {
        let clock = Instant::now();
        let options = self.options;
        let checkout = self.place.temporary()?.join("checkout");
        // The engine is asked who it is meanwhile; whether it is there matters only afterwards.
        let (prepared, engines) = tokio::join!(
            Box::pin(self.prepare(&checkout)),
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
        let verdict = Box::pin(self.verify(prepared, checkout, engines)).await;
        let settled = sandbox.settle().await;
        let verdict = verdict?;
        settled?;
        Ok(verdict)
    }

    /// The environment, the three states, the row.
    async fn verify(
        &mut self,
        prepared: Prepared,
        checkout: PathBuf,
        engines: Engines,
    ) -> Result<Verdict, Error> {
        let clock = Instant::now();
        let Prepared {
            split,
            before,
            after,
        } = prepared;
        let means = self
            .means(&split, (before, after), checkout, engines)
            .await?;
        let environment = match self.environment(&means).await? {
            Ok(environment) => environment,
            Err(verdict) => return Ok(verdict),
        };
        self.seconds.environment = clock.elapsed().as_secs_f64();
        if environment.plan.test_scope.is_some() {
            // The sources declare the tests of the whole suite.
            means.reading.declare(None);
        }
        let judged = self.states(&means, environment).await?;
        let judged = self.read_anew(&means, judged).await?;
        let judged = self.of_a_part(&means, judged).await?;
        self.second_witness = Some(witness::second_witness(&judged.environment, &judged.runs));
        if let Some(folder) = &self.options.keep_differences {
            let id = &self.request.instance_id;
            witness::keep_differences(folder, id, &judged.environment, &judged.runs)?;
        }
        let mut judged = self.confirm(&means, judged).await?;
        left_out::undecided(&means, &mut judged);
        let misplaced = misplaced::take_back(&means, &mut judged);
        let first = |state: State| Some((state.as_str(), judged.first(state)?));
        let firsts: Vec<_> = State::ALL.into_iter().filter_map(first).collect();
        self.warnings.extend(means.reading.implausible(&firsts));
        let report = &judged.report;
        let outcome = report.outcome.into();
        let reason = if let Some(reason) = misplaced {
            reason
        } else if outcome == MakeOutcome::Instance {
            report.reason.clone()
        } else {
            let (said, evidence) = (&report.reason, report.evidence.clone());
            reason::of_make(outcome, said, evidence, Some(&judged.runs))
        };
        let row = if report.outcome == OracleOutcome::Instance {
            Some(self.row(&means, &split, &judged).await?)
        } else {
            None
        };
        Ok(Verdict {
            outcome,
            reason,
            evidence: judged.report.evidence.clone(),
            oracle: Some(judged.report),
            row,
        })
    }

    /// Everything that the states are run with.
    async fn means(
        &mut self,
        split: &SplitPullRequest,
        (before, after): (Overlay, Overlay),
        checkout: PathBuf,
        mut engines: Engines,
    ) -> Result<Means, Error> {
        let (options, request) = (self.options, self.request);
        engines.builder.engine().clone_into(&mut self.engine);
        engines.sandbox = Arc::new(CachedSandbox::new(
            Arc::clone(&engines.sandbox),
            self.place.path("jobs"),
        ));
        let reading = Arc::new(self.reading().await?);
        let scope = Scope {
            choice: options.config.make.scope,
            budget: (options.config.make.scope_seconds / STATES).max(1),
            touched: Touched::new(&checkout, &split.decisions),
        };
        reading.declare(plausible::declared_tests(self.cx, checkout.clone(), &after).await?);
        Ok(Means {
            engines,
            reading,
            scope,
            repository: Repository {
                name: request.repo_name.clone(),
                checkout,
                base: request.base.clone(),
                base_date: request.base_date.clone(),
                head_manifests: split.head_manifests.clone(),
                head_tests: split.head_tests.clone(),
                touched: split.decisions.iter().map(|d| d.path.clone()).collect(),
            },
            task: OracleTask {
                instance_id: request.instance_id.clone(),
                test_patch: split.test_patch.clone(),
                gold_patch: split.gold_patch.clone(),
                before,
                after,
                modified_tests: split.modified_tests.clone(),
                conditions: split.conditions.clone(),
            },
        })
    }

    /// Writes the row; gives its file.
    async fn row(
        &mut self,
        means: &Means,
        split: &SplitPullRequest,
        judged: &Judged,
    ) -> Result<PathBuf, Error> {
        self.cx.progress.phase("write");
        let (options, request) = (self.options, self.request);
        let (environment, report) = (&judged.environment, &judged.report);
        let parser = &environment.plan.log_parser_name;
        let reader = reader::reader_of(
            parser,
            (&request.instance_id, &request.repo_name),
            &judged.runs,
            [&report.fail_to_pass, &report.pass_to_pass],
        );
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
        let certificate = self.certificate(means, judged).await?;
        let own = means.reading.own();
        let lists = reader.as_ref().and_then(|reader| reader.lists.clone());
        let image = self.named(means, environment).await?;
        let row = row::row(
            options,
            request,
            split,
            (environment, &image),
            report,
            reader,
            (own.as_ref(), &certificate),
        )?;
        let path = self.artefacts.join("instance.json");
        write_atomically(&path, format!("{row}\n").as_bytes())?;
        options.keep_row(&request.instance_id, &row, lists)?;
        Ok(path)
    }

    /// The environment, or the verdict that there is none.
    async fn environment(&mut self, means: &Means) -> Result<Result<Environment, Verdict>, Error> {
        let (options, request) = (self.options, self.request);
        let (repository, reading) = (&means.repository, &means.reading);
        let before = Some(&means.task.before);
        let synthesizer = crate::environment::synthesizer(
            &options.config,
            &means.engines,
            (&request.instance_id, before, means.scope.clone()),
            self.place.seed()?,
            (reading, self.model.as_ref()),
            options.parts.as_ref(),
        )?;
        match synthesizer.synthesize(self.cx, repository).await? {
            SynthesisOutcome::Ready { mut environment } => {
                options.forget_failure(&request.instance_id)?;
                self.publish(repository, &environment.plan).await?;
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
                    self.publish(repository, &last.plan).await?;
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

    /// Runs the three states, and asks the oracle.
    async fn states(&mut self, means: &Means, environment: Environment) -> Result<Judged, Error> {
        let (cx, options, task) = (self.cx, self.options, &means.task);
        let plan = &environment.plan;
        let limits = &options.config.limits;
        let oracle = self.oracle(means, plan, limits)?;
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
                    let oracle = self.oracle(means, plan, &limits)?;
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
        Ok(Judged {
            environment,
            report,
            runs,
        })
    }

    /// What runs states under a plan.
    fn oracle(
        &self,
        means: &Means,
        plan: &EnvironmentPlan,
        limits: &Limits,
    ) -> Result<StateDifferentialOracle, Error> {
        let seed = self.place.seed()?;
        crate::environment::oracle(&means.engines, plan, limits, seed, &means.reading)
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

    async fn publish(&self, repository: &Repository, plan: &EnvironmentPlan) -> Result<(), Error> {
        crate::environment::publish(self.cx, repository, plan, &self.artefacts).await
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
