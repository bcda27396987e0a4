//! Grading by Atlas's own rules: what may be forged does not count.

use super::canary::{self, CanaryPlan, SeenCanary};
use super::ids::grade_listed;
use super::script;
use super::settle;
use super::subject::Subject;
use super::tree::{BaseTree, ImageTree};
use super::verdict::{EvalOutcome, EvalVerdict};
use crate::GradingConfig;
use crate::own_parser::OwnParser;
use crate::retry::Patience;
use crate::store::{Key, Workplace};
use atlas_core::{
    Candidate, Environment, EnvironmentLock, EnvironmentPlan, Error, FileContent, ImageRef,
    JobUser, Limits, OracleReport, OracleTask, Overlay, Patch, RunContext, Sandbox, TestIds,
};
use atlas_docker::{DockerEngine, FoundImage};
use atlas_guard::{GuardInput, SignalAction, guard, suspicious_code};
use atlas_oracle::{
    Evaluator, LaidOut, OracleOptions, StateDifferentialOracle, StateRun, Variation,
};
use atlas_parsers::{Hints, Parsers, detect};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An instance that predictions can be run against.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) candidate: Candidate,
    pub(super) evaluator: Evaluator,
    pub(super) tree: BaseTree,
    /// Makes names of canaries that nobody guesses.
    pub(super) canary_seed: String,
    /// The folder that the clone's temporary files are in, while it is needed.
    pub(super) place: Option<Arc<Workplace>>,
    /// How long a prediction may run beside the gold patch.
    pub(super) time: GradingConfig,
}

/// What became of one prediction, with what an artefact folder keeps of it.
#[derive(Debug)]
pub(super) struct Strict {
    pub(super) verdict: EvalVerdict,
    /// The output of the tests.
    pub(super) log: Option<Vec<u8>>,
    /// The structured report.
    pub(super) report: Option<Vec<u8>>,
}

/// Prepares a row whose image somebody built: its script says how the tests run.
pub(super) fn from_image(
    subject: &Subject,
    (engine, patience): (DockerEngine, Patience),
    sandbox: Arc<dyn Sandbox>,
    image: &FoundImage,
    (limits, time): (&Limits, &GradingConfig),
    (seed, canary_seed): (String, String),
    own: Option<&OwnParser>,
) -> Result<Prepared, String> {
    let whole = subject.script.as_ref().map_err(Clone::clone)?;
    let parts = script::split(whole, &subject.test_patch)?;
    let parsers = Parsers::builtin();
    let mut parser = own.map_or_else(|| subject.parser(), |own| own.id().to_owned());
    if own.is_none() && parser == "auto" {
        let hints = Hints {
            command: Some(&parts.tests),
            language: Some(&subject.language),
        };
        let found = detect(b"", &hints);
        parser = found.parser.ok_or_else(|| {
            format!(
                "column `log_parser`: `{}` is no parser of Atlas, and the test command does not tell the \
                 runner ({})",
                subject.log_parser,
                found.reasons.join("; ")
            )
        })?;
    }
    let oracle = if let Some(own) = own {
        own.oracle(sandbox)
    } else {
        let reader = parsers.get(&parser).map_err(|why| why.to_string())?;
        StateDifferentialOracle::new(sandbox, reader)
    };
    let plan = EnvironmentPlan {
        test_cmd: parts.command(),
        log_parser_name: parser,
        language: subject.language.to_lowercase(),
        ..EnvironmentPlan::default()
    };
    let options = OracleOptions {
        limits: limits.clone(),
        seed,
        user: if image.is_ours {
            JobUser::Tests
        } else {
            JobUser::BareRoot
        },
        ..OracleOptions::default()
    };
    let environment = Environment {
        plan,
        dockerfile: String::new(),
        image: ImageRef::Docker {
            id: image.id.clone(),
            tag: image.name.clone(),
        },
        lock: EnvironmentLock {
            engine: "docker".to_owned(),
            engine_version: engine.version().to_owned(),
            image_id: image.id.clone(),
            image_bytes: image.bytes,
            ..EnvironmentLock::default()
        },
        attempts: Vec::new(),
    };
    let tree = BaseTree::Image(ImageTree::new(engine, image.id.clone(), patience));
    let oracle = oracle.with_options(options);
    Ok(Prepared {
        candidate: Candidate {
            instance: subject.row.clone(),
            environment,
            task: OracleTask {
                instance_id: subject.id.clone(),
                test_patch: subject.test_patch.clone(),
                gold_patch: subject.gold_patch.clone(),
                before: Overlay::default(),
                after: Overlay::default(),
                modified_tests: Vec::new(),
                conditions: BTreeMap::new(),
            },
            oracle: OracleReport::of_lists(
                subject.fail_to_pass.ids.to_vec(),
                subject.pass_to_pass.ids.to_vec(),
            ),
        },
        evaluator: Evaluator::new(oracle, tree.applier()),
        tree,
        canary_seed,
        place: None,
        time: *time,
    })
}

impl Prepared {
    /// The secret behind the names of a test file's canaries: no other file or instance has it.
    pub(super) fn seed_of(&self, file: &str) -> String {
        Key::new("canary")
            .part(self.canary_seed.as_bytes())
            .part(self.candidate.task.instance_id.as_str().as_bytes())
            .part(file.as_bytes())
            .finish()
    }

    /// Runs the gold patch with canaries: says whether the environment can resolve the instance at all,
    /// and which canaries it bears.
    pub(super) async fn calibrate(&self, cx: &RunContext) -> Result<CanaryPlan, Error> {
        canary::calibrate(self, cx).await
    }

    /// Runs and grades one prediction.
    pub(super) async fn evaluate(
        &self,
        cx: &RunContext,
        prediction: &Patch,
        plan: &CanaryPlan,
        mut verdict: EvalVerdict,
    ) -> Result<Strict, Error> {
        verdict.environment = self.candidate.environment.lock.image_id.clone();
        let laid_out = self
            .evaluator
            .lay_out(cx, &self.candidate, prediction)
            .await?;
        let (overlay, notes) = match laid_out {
            LaidOut::Ready { overlay, notes } => (overlay, notes),
            LaidOut::NotApplied { reasons } => {
                verdict.outcome = EvalOutcome::NotApplied;
                verdict.reasons = reasons;
                settle::unfit(&mut verdict);
                return Ok(Strict {
                    verdict,
                    log: None,
                    report: None,
                });
            }
        };
        verdict.notes = notes;
        let overlay = self.guarded(cx, overlay, &mut verdict).await?;
        if settle::refused(&mut verdict) {
            return Ok(Strict {
                verdict,
                log: None,
                report: None,
            });
        }
        let (with_canaries, canary) = plan.lay_out(overlay.clone());
        let seconds = plan
            .reference
            .as_ref()
            .map(|gold| self.time.of(gold.seconds));
        let mut run = self
            .run_within(cx, &with_canaries, "prediction", seconds)
            .await?;
        let [defining, guarding] = &self.lists();
        let mut graded = grade_listed(&run.parsed, defining, guarding);
        let seen = canary.as_ref().map(|canary| plan.look(&run, canary));
        let mut reference = plan.reference.as_ref();
        if let Some(alone) = plan.alone.as_ref()
            && let Some(canary) = &canary
            && seen.as_ref().is_some_and(SeenCanary::is_honest)
            && !graded.fail_to_pass.success.is_empty()
            && settle::is_believed(&run, reference, [defining, guarding])
        {
            let (first, passed) = (run, graded);
            let passed: BTreeSet<&str> = [&passed.fail_to_pass, &passed.pass_to_pass]
                .into_iter()
                .flat_map(|list| &list.success)
                .collect();
            run = self
                .run_within(cx, &overlay, "prediction without canaries", seconds)
                .await?;
            // Code that tells such a run from the first has nothing of it.
            let (both, others) = grade_listed(&run.parsed, defining, guarding)
                .only(|id| passed.contains(id) || plan.fails_for_canaries(&first, canary, id));
            graded = both;
            if let Some(id) = others.first() {
                let count = others.len();
                let said = format!("{count} tests pass without the canaries alone, as `{id}`");
                verdict.notes.push(said);
            }
            reference = Some(alone);
        }
        verdict.outcome = EvalOutcome::Graded;
        verdict.run = Some(run.summary.clone());
        verdict.usage = run.summary.usage;
        if let Some(seen) = &seen {
            verdict.canaries = seen.report(plan);
        } else {
            verdict
                .canaries
                .absent_because
                .clone_from(&plan.absent_because);
        }
        settle::strict(
            &mut verdict,
            &run,
            &graded,
            seen.as_ref(),
            (plan, reference),
            [defining, guarding],
        );
        Ok(Strict {
            verdict,
            log: Some(run.log),
            report: run.report,
        })
    }

    /// One run of the tests over these files.
    pub(super) async fn run(
        &self,
        cx: &RunContext,
        overlay: &Overlay,
        label: &str,
    ) -> Result<StateRun, Error> {
        self.run_within(cx, overlay, label, None).await
    }

    /// The same, of at most so many seconds where the limits allow more.
    async fn run_within(
        &self,
        cx: &RunContext,
        overlay: &Overlay,
        label: &str,
        seconds: Option<u64>,
    ) -> Result<StateRun, Error> {
        let files = (&self.candidate.task.instance_id, overlay);
        let environment = &self.candidate.environment;
        let mut oracle = self.evaluator.oracle().clone();
        if let Some(seconds) = seconds {
            let mut options = oracle.options().clone();
            options.limits.seconds = options.limits.seconds.min(seconds);
            oracle = oracle.with_options(options);
        }
        oracle
            .run(cx, environment, files, label, &Variation::plain(0))
            .await
    }

    /// Takes back what a prediction did to files that steer the runner.
    async fn guarded(
        &self,
        cx: &RunContext,
        overlay: Overlay,
        verdict: &mut EvalVerdict,
    ) -> Result<Overlay, Error> {
        let paths: BTreeSet<String> = overlay
            .write
            .keys()
            .chain(&overlay.remove)
            .cloned()
            .collect();
        let base = self.tree.files(cx, &paths).await?;
        let base: BTreeMap<String, Vec<u8>> = base
            .into_iter()
            .map(|(path, FileContent { bytes, .. })| (path, bytes))
            .collect();
        let plan = &self.candidate.environment.plan;
        let task = &self.candidate.task;
        let input = GuardInput {
            parser: &plan.log_parser_name,
            language: &plan.language,
            test_cmd: &plan.test_cmd,
            rebuild: &plan.rebuild,
            base: &base,
            test_patch: &task.test_patch,
            gold_patch: &task.gold_patch,
        };
        let guarded = guard(&input, overlay);
        verdict.guards = guarded.signals;
        verdict
            .guards
            .extend(suspicious_code(&guarded.overlay, &base));
        for signal in &verdict.guards {
            if signal.action != SignalAction::Kept {
                verdict
                    .notes
                    .push(format!("`{}`: {}", signal.path, signal.message));
            }
        }
        Ok(guarded.overlay)
    }

    /// The gold patch with the instance's tests, as files.
    pub(super) async fn gold(
        &self,
        cx: &RunContext,
    ) -> Result<Result<Overlay, Vec<String>>, Error> {
        let gold = self.candidate.task.gold_patch.clone();
        Ok(
            match self.evaluator.lay_out(cx, &self.candidate, &gold).await? {
                LaidOut::Ready { overlay, .. } => Ok(overlay),
                LaidOut::NotApplied { reasons } => Err(reasons),
            },
        )
    }

    /// The listed tests that do not pass in a run; without any test that defines the task, what says so.
    pub(super) fn misses(&self, run: &StateRun) -> BTreeSet<String> {
        let [defining, guarding] = &self.lists();
        let graded = grade_listed(&run.parsed, defining, guarding);
        let mut missed: BTreeSet<String> = graded.fail_to_pass.failure.into_iter().collect();
        missed.extend(graded.pass_to_pass.failure);
        if defining.is_empty() {
            missed.insert("FAIL_TO_PASS is empty".to_owned());
        }
        missed
    }

    /// The tests that define the task.
    pub(super) fn defining(&self) -> &[String] {
        &self.candidate.oracle.fail_to_pass
    }

    fn lists(&self) -> [TestIds; 2] {
        let report = &self.candidate.oracle;
        [&report.fail_to_pass, &report.pass_to_pass].map(TestIds::from)
    }
}
