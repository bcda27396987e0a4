//! The trial run of the refining loop: Base, as the oracle runs it.

use super::oracle;
use crate::Engines;
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, InstanceId, Limits, OracleTask, Overlay, Patch, RunContext, State,
};
use atlas_docker::{Trial, TrialRun};
use atlas_oracle::StateRun;

/// Runs Base as the oracle would.
#[derive(Clone, Debug)]
pub(super) struct BaseTrial {
    pub(super) engines: Engines,
    pub(super) limits: Limits,
    pub(super) instance: InstanceId,
    pub(super) seed: String,
}

impl BaseTrial {
    pub(super) async fn state(
        &self,
        cx: &RunContext,
        environment: &Environment,
    ) -> Result<StateRun, Error> {
        let seed = self.seed.clone();
        let oracle = oracle(&self.engines, &environment.plan, &self.limits, seed)?;
        let task = OracleTask {
            instance_id: self.instance.clone(),
            test_patch: Patch::default(),
            gold_patch: Patch::default(),
            before: Overlay::default(),
            after: Overlay::default(),
            modified_tests: Vec::new(),
        };
        oracle
            .run_state(cx, environment, &task, State::Base, 0)
            .await
    }
}

#[async_trait]
impl TrialRun for BaseTrial {
    async fn run(&self, cx: &RunContext, environment: &Environment) -> Result<Trial, Error> {
        let run = self.state(cx, environment).await?;
        Ok(Trial {
            log: run.log,
            parsed: run.parsed,
            exit: run.summary.exit,
        })
    }
}
