//! From a repository to an environment, without a model.

use crate::analysis::{Analysis, analyse};
use crate::build::{BuildOutcome, Builder};
use crate::facts::AnalysisOptions;
use crate::refine::{TrialRun, Verification, build_failed, of_tests, verify, why};
use crate::render::render;
use crate::sealed;
use crate::tree::Tree;
use async_trait::async_trait;
use atlas_core::{
    Attempt, AttemptOrigin, BuildFailure, EnvSynthesizer, Environment, EnvironmentPlan, Error,
    ErrorKind, Fault, Repository, RunContext, Sandbox, SynthesisOutcome,
};
use std::sync::Arc;

/// Analyses a repository by rules, builds the plan once and takes stock of the result.
#[derive(Clone, Debug)]
pub struct SymbolicSynthesizer {
    /// Builds.
    pub builder: Arc<dyn Builder>,
    /// Runs the inventory; of the same engine as `builder`.
    pub sandbox: Arc<dyn Sandbox>,
    /// Options of the analysis.
    pub options: AnalysisOptions,
}

/// Builds one given plan for whatever repository it is asked for. Nothing in it is repaired.
#[derive(Clone, Debug)]
pub struct FixedPlan {
    /// The plan.
    pub plan: EnvironmentPlan,
    /// Builds.
    pub builder: Arc<dyn Builder>,
    /// Runs the inventory; of the same engine as `builder`.
    pub sandbox: Arc<dyn Sandbox>,
    /// Runs Base's tests in what was built. An environment in which they cannot run is refused, as it is
    /// in [`RefiningSynthesizer`](crate::RefiningSynthesizer); without this, what builds is accepted.
    pub trial: Option<Arc<dyn TrialRun>>,
}

#[async_trait]
impl EnvSynthesizer for SymbolicSynthesizer {
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error> {
        cx.check("synthesize environment")?;
        cx.progress.phase("analyse");
        let (of, options) = (repository.clone(), self.options.clone());
        let analysis = tokio::task::spawn_blocking(move || analyse(&of, &options))
            .await
            .map_err(|why| {
                Error::new(
                    ErrorKind::Internal,
                    "analyse repository",
                    repository.name.clone(),
                )
                .with_source(why)
            })??;
        match analysis {
            Analysis::Plan(plan) => {
                tracing::debug!(
                    repository = repository.name,
                    test_cmd = plan.test_cmd,
                    "planned"
                );
                make(
                    cx,
                    repository,
                    plan,
                    &*self.builder,
                    &*self.sandbox,
                    ErrorKind::Internal,
                )
                .await
            }
            Analysis::Verdict {
                reason,
                evidence,
                fault,
            } => Ok(SynthesisOutcome::NotBuildable {
                reason,
                attempts: Vec::new(),
                dockerfile: None,
                evidence,
                fault,
            }),
        }
    }
}

#[async_trait]
impl EnvSynthesizer for FixedPlan {
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error> {
        cx.check("synthesize environment")?;
        let made = make(
            cx,
            repository,
            self.plan.clone(),
            &*self.builder,
            &*self.sandbox,
            ErrorKind::InvalidInput,
        )
        .await?;
        match (made, &self.trial) {
            (SynthesisOutcome::Ready { environment }, Some(trial)) => {
                tried(cx, repository, *environment, &**trial).await
            }
            (made, _) => Ok(made),
        }
    }
}

/// The environment if Base's tests can run in it.
async fn tried(
    cx: &RunContext,
    repository: &Repository,
    mut environment: Environment,
    trial: &dyn TrialRun,
) -> Result<SynthesisOutcome, Error> {
    cx.progress.phase("trial run");
    let mut trial = trial.run(cx, &environment).await?;
    if let Some(plan) = trial.plan.take() {
        environment.plan = plan;
    }
    let checkout = repository.checkout.clone();
    let (trial, verification) = tokio::task::spawn_blocking(move || {
        let tree = Tree::open(&checkout)?;
        let verification = verify(&trial, &tree);
        Ok::<_, Error>((trial, verification))
    })
    .await
    .map_err(|why| {
        let name = repository.name.clone();
        Error::new(ErrorKind::Internal, "read the trial run", name).with_source(why)
    })??;
    match verification {
        Verification::Accepted(notes) => {
            environment.plan.drift.extend(notes);
            Ok(SynthesisOutcome::Ready {
                environment: Box::new(environment),
            })
        }
        Verification::Rejected { reason, evidence } => {
            let failure = of_tests(trial.exit, &String::from_utf8_lossy(&trial.log));
            Ok(SynthesisOutcome::NotBuildable {
                reason,
                attempts: vec![Attempt {
                    plan: environment.plan,
                    origin: AttemptOrigin::Analysis,
                    failure: Some(failure),
                }],
                dockerfile: Some(environment.dockerfile),
                evidence,
                fault: Fault::Environment,
            })
        }
    }
}

/// Renders, builds, takes stock. `unrenderable` says whose fault a plan without a Dockerfile is.
async fn make(
    cx: &RunContext,
    repository: &Repository,
    plan: EnvironmentPlan,
    builder: &dyn Builder,
    sandbox: &dyn Sandbox,
    unrenderable: ErrorKind,
) -> Result<SynthesisOutcome, Error> {
    let dockerfile = render(&plan).map_err(|why| {
        Error::new(unrenderable, "render plan", repository.name.clone()).with_source(why)
    })?;
    cx.progress.phase("build");
    let (image, plan, lock) = match builder.build(cx, repository, &plan, &dockerfile).await? {
        BuildOutcome::Failed(failure) => return Ok(failed(plan, failure, dockerfile)),
        BuildOutcome::Built {
            image, plan, lock, ..
        } => (image, plan, lock),
    };
    // Of the base image that was used.
    let dockerfile = render(&plan).unwrap_or(dockerfile);
    let environment = Environment {
        attempts: vec![Attempt {
            plan: plan.clone(),
            origin: AttemptOrigin::Analysis,
            failure: None,
        }],
        plan,
        dockerfile,
        image,
        lock,
    };
    sealed::ready(cx, sandbox, environment, repository).await
}

fn failed(plan: EnvironmentPlan, failure: BuildFailure, dockerfile: String) -> SynthesisOutcome {
    let (reason, evidence) = (build_failed(&failure), why(&failure));
    SynthesisOutcome::NotBuildable {
        reason,
        attempts: vec![Attempt {
            plan,
            origin: AttemptOrigin::Analysis,
            failure: Some(failure),
        }],
        dockerfile: Some(dockerfile),
        evidence,
        fault: Fault::Environment,
    }
}
