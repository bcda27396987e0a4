//! A sandbox that tries again what a retry can mend.

use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, Job, JobResult, RunContext, Sandbox, SandboxInfo, Session,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Waits for an engine that went away.
///
/// Clones share what they know: where one has waited in vain, the others do not begin to wait as
/// long again, until the engine has answered somebody.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    most: Duration,
    is_lost: Arc<AtomicBool>,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Self {
        Self {
            most,
            is_lost: Arc::default(),
        }
    }

    /// Tries until the engine answers or the patience ends; one that failed is asked a second time.
    pub(crate) async fn run<T, F, R>(
        &self,
        cx: &RunContext,
        what: &str,
        mut attempt: F,
    ) -> Result<T, Error>
    where
        F: FnMut() -> R,
        R: Future<Output = Result<T, Error>>,
    {
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(500);
        let mut failures = 0;
        loop {
            let why = match attempt().await {
                Ok(done) => {
                    self.is_lost.store(false, Ordering::Relaxed);
                    return Ok(done);
                }
                Err(why) => why,
            };
            match why.kind() {
                ErrorKind::EngineUnreachable
                    if waited < self.most && !self.is_lost.load(Ordering::Relaxed) => {}
                ErrorKind::EngineFailed | ErrorKind::TimedOut if failures < 1 => failures += 1,
                kind => {
                    if kind == ErrorKind::EngineUnreachable {
                        self.is_lost.store(true, Ordering::Relaxed);
                    }
                    return Err(why);
                }
            }
            tracing::info!(what, why = why.chain(), "tried again");
            cx.progress.detail("the engine is waited for");
            tokio::select! {
                () = cx.cancel.cancelled() => {
                    return Err(Error::new(ErrorKind::Cancelled, "run", format!("`{what}`")));
                }
                () = tokio::time::sleep(pause) => {}
            }
            waited += pause;
            pause = (pause * 2).min(Duration::from_secs(5));
        }
    }
}

/// Runs a job again where the engine was at fault, never where the job was: an engine that went away
/// is waited for, one that failed is asked a second time. Whatever a test did is a result and stands.
#[derive(Clone, Debug)]
pub struct RetrySandbox {
    inner: Arc<dyn Sandbox>,
    patience: Patience,
}

impl RetrySandbox {
    /// Waits up to `patience` for an engine that does not answer. Clones share the wait: after one in
    /// vain they fail at once until the engine has answered.
    pub fn new(inner: Arc<dyn Sandbox>, patience: Duration) -> Self {
        Self {
            inner,
            patience: Patience::new(patience),
        }
    }

    /// The same patience for other calls to this engine.
    pub(crate) fn patience(&self) -> Patience {
        self.patience.clone()
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
        let attempt = || self.inner.run(cx, environment, job);
        self.patience.run(cx, &job.label, attempt).await
    }

    async fn expect(&self, cx: &RunContext, environment: &Environment, job: &Job) {
        self.inner.expect(cx, environment, job).await;
    }

    async fn settle(&self) -> Result<(), Error> {
        self.inner.settle().await
    }

    async fn open(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<Box<dyn Session>, Error> {
        let attempt = || self.inner.open(cx, environment, job);
        self.patience.run(cx, &job.label, attempt).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_core::{
        EnvironmentLock, EnvironmentPlan, ExitState, ImageRef, Isolation, JobUser, Limits, Network,
        Overlay, ResourceUsage,
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
                    usage: ResourceUsage::default(),
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
    #[tokio::test(start_paused = true)]
    async fn who_comes_after_a_wait_in_vain_does_not_wait_as_long_again() {
        let patience = Patience::new(Duration::from_secs(60));
        let others = patience.clone();
        let cx = RunContext::new("patience");
        let ask = async |patience: &Patience, kind: Option<ErrorKind>| {
            let begun = tokio::time::Instant::now();
            let answer = || async move {
                match kind {
                    None => Ok(()),
                    Some(kind) => Err(Error::new(kind, "ask", "the engine")),
                }
            };
            let is_ok = patience.run(&cx, "ask", answer).await.is_ok();
            (is_ok, begun.elapsed().as_secs())
        };
        let gone = Some(ErrorKind::EngineUnreachable);
        let (is_ok, seconds) = ask(&patience, gone).await;
        assert!(!is_ok && seconds >= 60, "{seconds}");
        assert_eq!(ask(&others, gone).await, (false, 0));
        assert_eq!(ask(&others, None).await, (true, 0));
        let (_, seconds) = ask(&patience, gone).await;
        assert!(seconds >= 60, "it was back in between: {seconds}");
    }
}
