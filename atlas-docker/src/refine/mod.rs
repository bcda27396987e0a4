//! The loop: build, try, repair by rules, and only then ask a model.

mod answer;
mod ask;
mod prompt;
mod tools;
mod trial;

pub use tools::{RepositoryTools, ToolOffer, ToolSource};
pub use trial::{Trial, TrialRun};

use crate::analysis::{Analysis, analyse};
use crate::build::{BuildOutcome, Builder};
use crate::facts::AnalysisOptions;
use crate::render::render;
use crate::repair::{Repair, Symptom, find};
use crate::sealed;
use crate::tree::Tree;
use ask::Correction;
use async_trait::async_trait;
use atlas_core::{
    Attempt, AttemptOrigin, BuildFailure, EnvSynthesizer, Environment, EnvironmentPlan, Error,
    ErrorKind, Evidence, ExitState, Fault, LanguageModel, LostReason, ModelPhase, Repository,
    RunContext, Sandbox, SynthesisOutcome, TestStatus, one_line, telling, telling_lines,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
pub(crate) use trial::{Verification, verify};

/// Bounds of the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefineOptions {
    /// Most corrections by rules, and most corrections by a model in each phase. Default: 5
    /// (paper 001, section 3.2.2).
    pub corrections: u32,
    /// Most tokens of one answer of the model. Default: 4096.
    pub answer_tokens: u32,
    /// Most questions about the repository that a model may ask before it answers with a plan, in each
    /// correction. Default: 20; 0 gives it no tools.
    pub tool_rounds: u32,
    /// Most bytes of a tool's answer that a model is shown. Default: 16 KiB.
    pub tool_bytes: usize,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self {
            corrections: 5,
            answer_tokens: 4096,
            tool_rounds: 20,
            tool_bytes: 16 << 10,
        }
    }
}

/// Analyses a repository by rules, builds the plan, runs Base's tests in it, and mends the plan:
/// first by rules that the output proves, then, where one is given, by a language model in the three
/// phases of paper 001 (section 3.2.2).
///
/// An environment is only accepted whose trial run speaks for it: tests run, and what does not run
/// is not the environment's fault. Tests that fail by themselves are accepted.
///
/// Without a trial run, what builds is accepted.
#[derive(Clone, Debug)]
pub struct RefiningSynthesizer {
    /// Builds.
    pub builder: Arc<dyn Builder>,
    /// Runs the inventory; of the same engine as `builder`.
    pub sandbox: Arc<dyn Sandbox>,
    /// Runs Base's tests.
    pub trial: Option<Arc<dyn TrialRun>>,
    /// Options of the analysis.
    pub options: AnalysisOptions,
    /// Bounds of the loop.
    pub refine: RefineOptions,
    /// Asked where rules do not help. Its plans only run inside the engine's containers.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// What the model may ask about the repository; without, it is shown files and output alone.
    pub tools: Option<Arc<dyn ToolSource>>,
}

/// A built environment with the number of tests that pass in it.
struct Candidate {
    environment: Environment,
    passing: usize,
    notes: Vec<String>,
}

/// Why a plan did not do.
struct Trouble {
    phase: ModelPhase,
    reason: String,
    evidence: Vec<Evidence>,
    fault: Fault,
    /// All that was printed.
    text: String,
}

/// One repository on its way.
struct Loop<'a> {
    by: &'a RefiningSynthesizer,
    cx: &'a RunContext,
    repository: &'a Repository,
    tree: Tree,
    attempts: Vec<Attempt>,
    dockerfile: Option<String>,
    /// Corrections so far, by phase.
    asked: BTreeMap<ModelPhase, u32>,
    /// Changes that were made already.
    changes: BTreeSet<crate::repair::Change>,
    rounds: u32,
}

#[async_trait]
impl EnvSynthesizer for RefiningSynthesizer {
    async fn synthesize(
        &self,
        cx: &RunContext,
        repository: &Repository,
    ) -> Result<SynthesisOutcome, Error> {
        cx.check("synthesize environment")?;
        cx.progress.phase("analyse");
        let (of, options) = (repository.clone(), self.options.clone());
        let (analysis, tree) = tokio::task::spawn_blocking(move || {
            let found = analyse(&of, &options)?;
            Ok::<_, Error>((found, Tree::open(&of.checkout)?))
        })
        .await
        .map_err(|why| {
            let name = repository.name.clone();
            Error::new(ErrorKind::Internal, "analyse repository", name).with_source(why)
        })??;
        let mut work = Loop {
            by: self,
            cx,
            repository,
            tree,
            attempts: Vec::new(),
            dockerfile: None,
            asked: BTreeMap::new(),
            changes: BTreeSet::new(),
            rounds: 0,
        };
        match analysis {
            Analysis::Plan(plan) => work.run(plan, AttemptOrigin::Analysis).await,
            Analysis::Verdict {
                reason,
                evidence,
                fault,
            } => {
                let trouble = Trouble {
                    phase: ModelPhase::Plan,
                    text: String::new(),
                    reason,
                    evidence,
                    fault,
                };
                match work.ask(None, &trouble).await? {
                    Correction::Plan(plan, origin) => work.run(*plan, origin).await,
                    Correction::None => Ok(work.refused(trouble)),
                    Correction::BudgetEnded(why) => Ok(work.refused(trouble.without_money(&why))),
                }
            }
        }
    }
}

impl Loop<'_> {
    async fn run(
        mut self,
        first: EnvironmentPlan,
        origin: AttemptOrigin,
    ) -> Result<SynthesisOutcome, Error> {
        let (mut plan, mut origin) = (first, origin);
        let mut best: Option<Candidate> = None;
        loop {
            self.cx.check("synthesize environment")?;
            let trouble = match self.try_plan(&plan, &origin).await? {
                Ok((candidate, log)) => {
                    let better = best
                        .as_ref()
                        .is_none_or(|best| candidate.passing > best.passing);
                    let whole = candidate.whole();
                    if better {
                        best = Some(candidate);
                    }
                    // What runs may still run better: one more try for what the output proves, given
                    // up as soon as it brings nothing.
                    let repairs = if better && !whole {
                        self.repairs(&plan, "test log", &log)
                    } else {
                        Vec::new()
                    };
                    if repairs.is_empty() {
                        return self.ready(best).await;
                    }
                    (plan, origin) = self.apply(plan, repairs);
                    continue;
                }
                Err(trouble) => trouble,
            };
            if best.is_some() {
                return self.ready(best).await;
            }
            let source = match trouble.phase {
                ModelPhase::TestRun => "test log",
                ModelPhase::Plan | ModelPhase::ErrorRecovery => "build log",
            };
            let repairs = self.repairs(&plan, source, &trouble.text);
            if !repairs.is_empty() {
                (plan, origin) = self.apply(plan, repairs);
                continue;
            }
            match self.ask(Some(&plan), &trouble).await? {
                Correction::Plan(next, by) => (plan, origin) = (*next, by),
                Correction::None => return Ok(self.refused(trouble)),
                Correction::BudgetEnded(why) => {
                    return Ok(self.refused(trouble.without_money(&why)));
                }
            }
        }
    }

    /// Builds and tries one plan. A plan that does not do is the inner error.
    async fn try_plan(
        &mut self,
        plan: &EnvironmentPlan,
        origin: &AttemptOrigin,
    ) -> Result<Result<(Candidate, String), Trouble>, Error> {
        let name = &self.repository.name;
        let attempt = |plan: &EnvironmentPlan, failure| Attempt {
            plan: plan.clone(),
            origin: origin.clone(),
            failure,
        };
        let dockerfile = match render(plan) {
            Ok(text) => text,
            // Only a model's plan can have no Dockerfile.
            Err(why) if matches!(origin, AttemptOrigin::Model { .. }) => {
                let text = why.to_string();
                let failure = failure("the plan cannot be rendered", None, &text);
                self.attempts.push(attempt(plan, Some(failure)));
                return Ok(Err(Trouble {
                    phase: ModelPhase::ErrorRecovery,
                    reason: format!("the plan has no Dockerfile: {text}"),
                    evidence: Vec::new(),
                    fault: Fault::Environment,
                    text,
                }));
            }
            Err(why) => {
                let fault = Error::new(ErrorKind::Internal, "render plan", name.clone());
                return Err(fault.with_source(why));
            }
        };
        self.dockerfile = Some(dockerfile.clone());
        self.cx.progress.phase("build");
        let built = self
            .by
            .builder
            .build(self.cx, self.repository, plan, &dockerfile)
            .await?;
        let (image, used, lock) = match built {
            BuildOutcome::Failed(failure) => {
                let trouble = Trouble::of_build(&failure);
                self.attempts.push(attempt(plan, Some(failure)));
                return Ok(Err(trouble));
            }
            BuildOutcome::Built {
                image, plan, lock, ..
            } => (image, plan, lock),
        };
        let mut environment = Environment {
            attempts: Vec::new(),
            // Of the base image that was used.
            dockerfile: render(&used).unwrap_or(dockerfile),
            plan: used,
            image,
            lock,
        };
        let Some(trial) = &self.by.trial else {
            self.attempts.push(attempt(&environment.plan, None));
            let candidate = Candidate {
                environment,
                passing: 0,
                notes: Vec::new(),
            };
            return Ok(Ok((candidate, String::new())));
        };
        let mut trial = trial.run(self.cx, &environment).await?;
        if let Some(plan) = trial.plan.take() {
            environment.plan = plan;
        }
        let log = String::from_utf8_lossy(&trial.log).into_owned();
        match verify(&trial, &self.tree) {
            Verification::Accepted(notes) => {
                self.attempts.push(attempt(&environment.plan, None));
                let passing = trial
                    .parsed
                    .results
                    .iter()
                    .filter(|result| result.status == TestStatus::Passed)
                    .count();
                let mut candidate = Candidate {
                    environment,
                    passing,
                    notes,
                };
                candidate.note_failures(&trial);
                Ok(Ok((candidate, log)))
            }
            Verification::Rejected { reason, evidence } => {
                let failure = of_tests(trial.exit, &log);
                self.attempts
                    .push(attempt(&environment.plan, Some(failure)));
                Ok(Err(Trouble {
                    phase: ModelPhase::TestRun,
                    reason,
                    evidence,
                    fault: Fault::Environment,
                    text: log,
                }))
            }
        }
    }

    /// The repairs that are new and that this engine can do.
    fn repairs(&self, plan: &EnvironmentPlan, source: &str, text: &str) -> Vec<Repair> {
        if self.rounds >= self.by.refine.corrections {
            return Vec::new();
        }
        let has_image = self.by.builder.engine() != "local";
        let symptom = Symptom {
            plan,
            tree: &self.tree,
            text,
            source,
        };
        find(&symptom)
            .into_iter()
            .filter(|repair| has_image || !repair.change.needs_image())
            .filter(|repair| !self.changes.contains(&repair.change))
            .filter(|repair| repair.change.apply(&mut plan.clone()))
            .collect()
    }

    fn apply(
        &mut self,
        mut plan: EnvironmentPlan,
        repairs: Vec<Repair>,
    ) -> (EnvironmentPlan, AttemptOrigin) {
        self.rounds += 1;
        let mut changes = Vec::new();
        let mut proofs = Vec::new();
        for repair in repairs {
            repair.change.apply(&mut plan);
            let what = format!("{}: {}", repair.rule, repair.change.describe());
            tracing::info!(repository = self.repository.name, what, "repaired");
            plan.prove(
                "repairs",
                Evidence::of(what.clone(), repair.proof.text.clone()),
            );
            changes.push(what);
            proofs.push(repair.proof);
            self.changes.insert(repair.change);
        }
        (plan, AttemptOrigin::Rules { changes, proofs })
    }

    async fn ready(self, best: Option<Candidate>) -> Result<SynthesisOutcome, Error> {
        let Some(Candidate {
            mut environment,
            notes,
            ..
        }) = best
        else {
            return Err(Error::new(
                ErrorKind::Internal,
                "choose an environment",
                "of none",
            ));
        };
        environment.plan.drift.extend(notes);
        environment.attempts = self.attempts;
        sealed::ready(self.cx, &*self.by.sandbox, environment, self.repository).await
    }

    fn refused(self, trouble: Trouble) -> SynthesisOutcome {
        SynthesisOutcome::NotBuildable {
            reason: trouble.reason,
            attempts: self.attempts,
            dockerfile: self.dockerfile,
            evidence: trouble.evidence,
            fault: trouble.fault,
        }
    }
}

impl Candidate {
    /// Whether nothing is left that a repair might bring.
    fn whole(&self) -> bool {
        self.notes.is_empty()
    }

    /// Tests that fail in Base are no fault of their own until the output was looked through.
    fn note_failures(&mut self, trial: &Trial) {
        let failing = trial
            .parsed
            .results
            .iter()
            .filter(|result| matches!(result.status, TestStatus::Failed | TestStatus::Error))
            .count();
        if failing > 0 {
            self.notes
                .push(format!("{failing} tests do not pass in Base"));
        }
        let lost = trial.parsed.modules_not_loaded.iter().filter(|lost| {
            matches!(
                lost.reason,
                LostReason::BuildFailed | LostReason::LoadFailed
            )
        });
        let lost = lost.count();
        if lost > 0 && self.notes.is_empty() {
            self.notes
                .push(format!("{lost} modules do not build or load in Base"));
        }
        if let ExitState::Exited { code } = trial.exit
            && code != 0
            && self.notes.is_empty()
        {
            self.notes.push(format!(
                "no test fails in Base, and the command ends with {code}"
            ));
        }
    }
}

impl Trouble {
    fn of_build(failure: &BuildFailure) -> Self {
        Self {
            phase: ModelPhase::ErrorRecovery,
            reason: build_failed(failure),
            evidence: why(failure),
            fault: Fault::Environment,
            text: format!("{}\n{}", failure.stdout, failure.stderr),
        }
    }

    /// The trouble that was left when the model's budget ended, with what was spent of it.
    fn without_money(mut self, why: &str) -> Self {
        self.reason = format!("{}; not corrected: {why}", self.reason);
        self.evidence.push(Evidence::of("model", why.to_owned()));
        self
    }
}

/// Which step of a build failed, in one short line.
pub(crate) fn build_failed(failure: &BuildFailure) -> String {
    const WIDTH: usize = 100;
    let code = failure
        .exit_code
        .map_or_else(String::new, |code| format!(" with exit code {code}"));
    let step = one_line(&failure.step, WIDTH);
    format!("the build failed{code} at `{step}`")
}

/// The lines of a build's output that explain its failure.
pub(crate) fn why(failure: &BuildFailure) -> Vec<Evidence> {
    const LINES: usize = 5;
    let told = [&failure.stderr, &failure.stdout].map(|text| {
        let lines = telling_lines("build log", text, None, LINES);
        let most = lines.iter().map(|line| telling(&line.text)).max();
        (most, lines)
    });
    // Some tools say on standard output what failed, and on the other that something did.
    let [errors, output] = told;
    if errors.0.is_none_or(|most| most < 2) && output.0 > errors.0 {
        output.1
    } else {
        errors.1
    }
}

/// A failure with the end of what was printed.
/// The tests as the step that failed.
pub(crate) fn of_tests(exit: ExitState, log: &str) -> BuildFailure {
    let code = match exit {
        ExitState::Exited { code } => Some(code),
        ExitState::TimedOut | ExitState::OutOfMemory => None,
    };
    failure("tests", code, log)
}

fn failure(step: &str, exit_code: Option<i64>, text: &str) -> BuildFailure {
    const KEPT: usize = 64 << 10;
    let mut from = text.len().saturating_sub(KEPT);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    BuildFailure {
        step: step.to_owned(),
        exit_code,
        stderr: String::new(),
        stdout: text[from..].to_owned(),
    }
}
