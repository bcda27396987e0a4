//! The trial run of the refining loop: Base, as the oracle runs it.

use super::oracle;
use crate::Engines;
use crate::log_reading::LogReading;
use crate::runners::pinned;
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, InstanceId, Limits, OracleTask, Overlay, Patch, RunContext, State,
};
use atlas_docker::{Trial, TrialRun};
use atlas_oracle::StateRun;
use std::sync::Arc;

/// Runs Base as the oracle would.
#[derive(Clone, Debug)]
pub(super) struct BaseTrial {
    pub(super) engines: Engines,
    pub(super) limits: Limits,
    pub(super) instance: InstanceId,
    pub(super) seed: String,
    pub(super) reading: Arc<LogReading>,
    /// What Before lays on Base, where it runs next if the environment is accepted. Who says so settles
    /// the sandbox.
    pub(super) before: Option<Overlay>,
}

impl BaseTrial {
    pub(super) async fn state(
        &self,
        cx: &RunContext,
        environment: &Environment,
    ) -> Result<StateRun, Error> {
        // As the states will run it, so that Base runs once.
        let environment = &Environment {
            plan: pinned(&environment.plan),
            ..environment.clone()
        };
        let seed = self.seed.clone();
        let oracle = oracle(
            &self.engines,
            &environment.plan,
            &self.limits,
            seed,
            &self.reading,
        )?;
        let task = OracleTask {
            instance_id: self.instance.clone(),
            test_patch: Patch::default(),
            gold_patch: Patch::default(),
            before: self.before.clone().unwrap_or_default(),
            after: Overlay::default(),
            modified_tests: Vec::new(),
        };
        if self.before.is_some() {
            // What was made ready for a plan that did not do is of no use for this one.
            self.engines.sandbox.settle().await?;
            for state in [State::Base, State::Before] {
                oracle.expect_state(cx, environment, &task, state, 0).await;
            }
        }
        oracle
            .run_state(cx, environment, &task, State::Base, 0)
            .await
    }
}

#[async_trait]
impl TrialRun for BaseTrial {
    async fn run(&self, cx: &RunContext, environment: &Environment) -> Result<Trial, Error> {
        let mut run = self.state(cx, environment).await?;
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
        })
    }
}
