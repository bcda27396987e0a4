//! A sandbox that tries again what a retry can mend.

use async_trait::async_trait;
use atlas_core::{Environment, Error, ErrorKind, Job, JobResult, RunContext, Sandbox, SandboxInfo};
use std::sync::Arc;
use std::time::Duration;

/// Runs a job again where the engine was at fault, never where the job was: an engine that went away
/// is waited for, one that failed is asked a second time. Whatever a test did is a result and stands.
#[derive(Clone, Debug)]
pub struct RetrySandbox {
    inner: Arc<dyn Sandbox>,
    patience: Duration,
}

impl RetrySandbox {
    /// Waits up to `patience` for an engine that does not answer.
    pub fn new(inner: Arc<dyn Sandbox>, patience: Duration) -> Self {
        Self { inner, patience }
    }
}

#[async_trait]
impl Sandbox for RetrySandbox {
    fn info(&self) -> SandboxInfo {
        self.inner.info()
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(500);
        let mut failures = 0;
        loop {
            let why = match self.inner.run(cx, environment, job).await {
                Ok(result) => return Ok(result),
                Err(why) => why,
            };
            match why.kind() {
                ErrorKind::EngineUnreachable if waited < self.patience => {}
                ErrorKind::EngineFailed | ErrorKind::TimedOut if failures < 1 => failures += 1,
                _ => return Err(why),
            }
            tracing::info!(job = job.label, why = why.chain(), "run again");
            cx.progress.detail("the engine is waited for");
            tokio::select! {
                () = cx.cancel.cancelled() => {
                    return Err(Error::new(ErrorKind::Cancelled, "run", format!("`{}`", job.label)));
                }
                () = tokio::time::sleep(pause) => {}
            }
            waited += pause;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{
        EnvironmentLock, EnvironmentPlan, ExitState, ImageRef, Isolation, JobUser, Limits, Network,
        Overlay,
    };
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    /// Fails in the given ways, one after another, then answers.
    #[derive(Debug)]
    struct Failing(Mutex<Vec<ErrorKind>>);

    #[async_trait]
    impl Sandbox for Failing {
        fn info(&self) -> SandboxInfo {
            SandboxInfo::default()
        }

        async fn run(&self, _: &RunContext, _: &Environment, _: &Job) -> Result<JobResult, Error> {
            match self.0.lock().unwrap().pop() {
                Some(kind) => Err(Error::new(kind, "run", "test")),
                None => Ok(JobResult {
                    exit: ExitState::Exited { code: 1 },
                    output: Vec::new(),
                    output_total: 0,
                    files: BTreeMap::new(),
                    seconds: 0.0,
                    overhead_seconds: 0.0,
                    isolation: Isolation::default(),
                }),
            }
        }
    }

    async fn run(kinds: &[ErrorKind]) -> (Result<JobResult, Error>, usize) {
        let inner = Arc::new(Failing(Mutex::new(kinds.to_vec())));
        let waiting: Arc<dyn Sandbox> = Arc::<Failing>::clone(&inner);
        let sandbox = RetrySandbox::new(waiting, Duration::from_secs(3));
        let environment = Environment {
            plan: EnvironmentPlan::default(),
            dockerfile: String::new(),
            image: ImageRef::Other {
                name: String::new(),
            },
            lock: EnvironmentLock::default(),
            attempts: Vec::new(),
        };
        let job = Job {
            label: "test".to_owned(),
            overlay: Overlay::default(),
            files: Vec::new(),
            script: String::new(),
            collect: Vec::new(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            network: Network::None,
            user: JobUser::default(),
        };
        let result = sandbox
            .run(&RunContext::new("retry"), &environment, &job)
            .await;
        let left = inner.0.lock().unwrap().len();
        (result, left)
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_is_tried_again_and_an_input_is_not() {
        let (result, left) = run(&[ErrorKind::EngineUnreachable; 3]).await;
        assert!(
            result.is_ok() && left == 0,
            "an engine that comes back is waited for"
        );
        let (result, left) = run(&[ErrorKind::EngineUnreachable; 20]).await;
        assert!(result.is_err() && left > 0, "not for ever");
        let (result, _) = run(&[ErrorKind::EngineFailed]).await;
        assert!(result.is_ok());
        let (result, _) = run(&[ErrorKind::EngineFailed; 2]).await;
        assert!(result.is_err());
        let (result, left) = run(&[ErrorKind::InvalidInput; 2]).await;
        assert!(result.is_err() && left == 1);
    }
}
