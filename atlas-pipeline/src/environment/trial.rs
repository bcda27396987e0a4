//! The trial run of the refining loop: Base, as the oracle runs it.

use super::oracle;
use crate::Engines;
use crate::config::ScopeChoice;
use crate::log_reading::LogReading;
use crate::runners::{Touched, is_most, pinned, scoped};
use async_trait::async_trait;
use atlas_core::{
    AGENTIC, Environment, EnvironmentPlan, Error, ExitState, InstanceId, Limits, OracleTask,
    Overlay, Patch, RunContext, State, TestScopeLevel,
};
use atlas_docker::{Trial, TrialRun};
use atlas_oracle::StateRun;
use atlas_parsers::{Hints, detect};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Runs Base as the oracle would.
#[derive(Clone, Debug)]
pub(crate) struct BaseTrial {
    pub(super) engines: Engines,
    pub(super) limits: Limits,
    pub(super) instance: InstanceId,
    pub(super) seed: String,
    pub(super) reading: Arc<LogReading>,
    /// What Before lays on Base, where it runs next if the environment is accepted. Who says so settles
    /// the sandbox.
    pub(super) before: Option<Overlay>,
    /// How much of the suite runs.
    pub(super) scope: Scope,
}

/// How much of a suite runs, for which pull request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) choice: ScopeChoice,
    /// Seconds that the whole suite may take in one state, where the choice depends on that.
    pub(crate) budget: u64,
    pub(crate) touched: Touched,
}

impl BaseTrial {
    pub(super) async fn state(
        &self,
        cx: &RunContext,
        environment: &Environment,
    ) -> Result<StateRun, Error> {
        self.limited(cx, environment, &self.limits).await
    }

    async fn limited(
        &self,
        cx: &RunContext,
        environment: &Environment,
        limits: &Limits,
    ) -> Result<StateRun, Error> {
        // As the states will run it, so that Base runs once.
        let environment = &Environment {
            plan: pinned(&environment.plan),
            ..environment.clone()
        };
        let within = |limits: &Limits| {
            let seed = self.seed.clone();
            oracle(
                &self.engines,
                &environment.plan,
                limits,
                seed,
                &self.reading,
            )
        };
        let oracle = within(limits)?;
        let task = OracleTask {
            instance_id: self.instance.clone(),
            test_patch: Patch::default(),
            gold_patch: Patch::default(),
            before: self.before.clone().unwrap_or_default(),
            after: Overlay::default(),
            modified_tests: Vec::new(),
            conditions: BTreeMap::new(),
        };
        if self.before.is_some() {
            // What was made ready for a plan that did not do is of no use for this one.
            self.engines.sandbox.settle().await?;
            oracle
                .expect_state(cx, environment, &task, State::Base, 0)
                .await;
            // The states have all the time there is.
            within(&self.limits)?
                .expect_state(cx, environment, &task, State::Before, 0)
                .await;
        }
        oracle
            .run_state(cx, environment, &task, State::Base, 0)
            .await
    }
}

/// The environment with a part of its suite.
pub(crate) fn part(
    environment: &Environment,
    scope: &Scope,
    level: TestScopeLevel,
    reason: &str,
) -> Result<Environment, String> {
    let mut plan = scoped(&environment.plan, &scope.touched, level)?;
    if let Some(scope) = &mut plan.test_scope {
        reason.clone_into(&mut scope.reason);
        plan.drift.push(format!(
            "{level} tests alone run, because {reason}: {}",
            scope.risk
        ));
    }
    Ok(Environment {
        plan,
        ..environment.clone()
    })
}

impl BaseTrial {
    /// The run that decides how much of the suite runs, and the plan of that part.
    async fn chosen(
        &self,
        cx: &RunContext,
        environment: &Environment,
    ) -> Result<(StateRun, Option<Environment>), Error> {
        let asked: &[TestScopeLevel] = match self.scope.choice {
            ScopeChoice::Full => &[],
            ScopeChoice::Package => &[TestScopeLevel::Package],
            // Base has none of them where the pull request adds them all.
            ScopeChoice::Touched => &[TestScopeLevel::Touched, TestScopeLevel::Package],
            ScopeChoice::Auto => return self.by_time(cx, environment).await,
        };
        let Some(first) = asked.first() else {
            return Ok((self.state(cx, environment).await?, None));
        };
        let mut reason = "that was asked for".to_owned();
        for level in asked {
            match part(environment, &self.scope, *level, &reason) {
                Ok(chosen) => {
                    let run = self.state(cx, &chosen).await?;
                    if !run.parsed.results.is_empty() {
                        return Ok((run, Some(chosen)));
                    }
                    reason = format!("of {level} tests, which were asked for, Base has none");
                }
                Err(why) => reason = why,
            }
        }
        let mut whole = environment.clone();
        whole.plan.drift.push(format!(
            "the whole suite runs, though {first} tests alone were asked for: {reason}"
        ));
        Ok((self.state(cx, &whole).await?, Some(whole)))
    }

    /// The whole suite if it ends within the budget, else what is nearer and nearer to the pull request.
    async fn by_time(
        &self,
        cx: &RunContext,
        environment: &Environment,
    ) -> Result<(StateRun, Option<Environment>), Error> {
        let budget = self.scope.budget;
        let brief = Limits {
            seconds: budget,
            ..self.limits.clone()
        };
        let nearest = part(environment, &self.scope, TestScopeLevel::Touched, "");
        if budget >= self.limits.seconds || nearest.is_err() {
            return Ok((self.state(cx, environment).await?, None));
        }
        let whole = self.limited(cx, environment, &brief).await?;
        if whole.summary.exit != ExitState::TimedOut {
            return Ok((whole, None));
        }
        let mut reason = format!("the whole suite did not end within {budget} s in Base");
        cx.progress.phase("run a part of the tests");
        let mut places = None;
        for (level, limits) in [
            (TestScopeLevel::Package, &brief),
            (TestScopeLevel::Touched, &self.limits),
        ] {
            let Ok(chosen) = part(environment, &self.scope, level, &reason) else {
                continue;
            };
            if level == TestScopeLevel::Package && is_most(&chosen.plan, &self.scope.touched) {
                continue;
            }
            let here = chosen
                .plan
                .test_scope
                .as_ref()
                .map(|scope| scope.places.clone());
            if level == TestScopeLevel::Touched && here == places {
                // The same places again, with all the time there is.
                let run = self.state(cx, &chosen).await?;
                return Ok((run, Some(chosen)));
            }
            places = here;
            let run = self.limited(cx, &chosen, limits).await?;
            if run.summary.exit != ExitState::TimedOut || level == TestScopeLevel::Touched {
                return Ok((run, Some(chosen)));
            }
            reason =
                format!("neither the whole suite nor its packages ended within {budget} s in Base");
        }
        Ok((whole, None))
    }
}

/// The shipped parser that knows the output of a plan that asks for one to be made.
fn shipped_after_all(plan: &EnvironmentPlan, run: &StateRun) -> Option<String> {
    if plan.log_parser_name != AGENTIC || !run.parsed.results.is_empty() {
        return None;
    }
    let hints = Hints {
        command: Some(&plan.test_cmd),
        language: Some(&plan.language),
    };
    detect(&run.log, &hints).parser
}

#[async_trait]
impl TrialRun for BaseTrial {
    async fn run(&self, cx: &RunContext, environment: &Environment) -> Result<Trial, Error> {
        let (mut run, mut chosen) = self.chosen(cx, environment).await?;
        let plan = &chosen.as_ref().unwrap_or(environment).plan;
        if self.reading.own().is_none()
            && let Some(known) = shipped_after_all(plan, &run)
        {
            let mut read = chosen.unwrap_or_else(|| environment.clone());
            read.plan.log_parser_name = known;
            run = self.state(cx, &read).await?;
            chosen = Some(read);
        }
        let environment = chosen.as_ref().unwrap_or(environment);
        // Tests that nobody reads are no fault of the plan.
        if run.parsed.results.is_empty()
            && self
                .reading
                .invent(cx, &environment.plan.test_cmd, &[("base", &run)])
                .await?
        {
            run = self.state(cx, environment).await?;
        }
        Ok(Trial {
            log: run.log,
            parsed: run.parsed,
            exit: run.summary.exit,
            plan: chosen.map(|environment| environment.plan),
        })
    }
}
