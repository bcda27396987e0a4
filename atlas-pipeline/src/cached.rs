//! A sandbox that remembers.

use crate::store::{Key, clear_unfinished, read_json, write_atomically, write_json};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ExitState, Isolation, Job, JobResult, JobUser, Limits, ResourceUsage,
    RunContext, Sandbox, SandboxInfo, Session,
};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Stores what each job did under the hash of everything it depends on, and answers the same job
/// from there: a run that was killed, or is asked for again, does not run a state twice.
///
/// It stands outermost, around sandboxes that retry or limit. Errors are never stored, nor is a job
/// that was killed at a limit: the machine may have been busy.
#[derive(Clone, Debug)]
pub struct CachedSandbox {
    inner: Arc<dyn Sandbox>,
    folder: PathBuf,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    known: AtomicU64,
    run: AtomicU64,
    bytes: Mutex<BTreeMap<String, u64>>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    exit: ExitState,
    output_total: u64,
    files: Vec<String>,
    seconds: f64,
    overhead_seconds: f64,
    isolation: Isolation,
    // Results of older versions do not have it.
    #[serde(default)]
    usage: ResourceUsage,
}

impl CachedSandbox {
    /// Remembers the jobs of `inner` below `folder`.
    pub fn new(inner: Arc<dyn Sandbox>, folder: impl Into<PathBuf>) -> Self {
        Self {
            inner,
            folder: folder.into(),
            counts: Arc::default(),
        }
    }

    /// How many jobs were answered from an earlier run, and how many were run; clones count together.
    pub fn counts(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.counts.known), read(&self.counts.run))
    }

    /// Bytes on disk of the results that were answered or made, each counted once; clones count together.
    pub fn bytes(&self) -> u64 {
        let bytes = &self.counts.bytes;
        let bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.values().sum()
    }

    fn note_size(&self, key: &str, result: &JobResult) {
        let files = result.files.values().map(Vec::len).sum::<usize>();
        let size = u64::try_from(result.output.len() + files).unwrap_or(u64::MAX);
        let bytes = &self.counts.bytes;
        let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.insert(key.to_owned(), size);
    }

    fn key(&self, environment: &Environment, job: &Job) -> Option<String> {
        // What ends within one limit of time ends so within any that is not shorter.
        let limits = Limits {
            seconds: 0,
            ..job.limits.clone()
        };
        let mut key = Key::new("job 2")
            .part(self.inner.info().engine.as_bytes())
            .part(&serde_json::to_vec(&environment.image).ok()?)
            .part(environment.lock.image_id.as_bytes())
            .part(job.script.as_bytes())
            .part(&serde_json::to_vec(&(&job.collect, &job.env, &limits, job.network)).ok()?);
        if job.user != JobUser::default() {
            key = key.part(&serde_json::to_vec(&job.user).ok()?);
        }
        for (path, content) in &job.overlay.write {
            key = key
                .part(path.as_bytes())
                .part(format!("{:?}", content.mode).as_bytes())
                .part(&content.bytes);
        }
        key = key.part(b"removed");
        for path in &job.overlay.remove {
            key = key.part(path.as_bytes());
        }
        for file in &job.files {
            key = key.part(file.name.as_bytes()).part(&file.bytes);
        }
        Some(key.finish())
    }

    /// Waits until nobody else is at this job; the lock ends with the process that holds it.
    async fn turn(&self, cx: &RunContext, key: &str) -> Result<File, Error> {
        let folder = self.folder.join("locks");
        std::fs::create_dir_all(&folder).map_err(|why| Error::io("make", &folder, why))?;
        let path = folder.join(key);
        let fail = |why| Error::io("lock", &path, why);
        let mut pause = Duration::from_millis(5);
        loop {
            cx.check("wait for the same job of another run")?;
            let file = File::options()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(fail)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(file),
                Err(rustix::io::Errno::WOULDBLOCK) => tokio::time::sleep(pause).await,
                Err(why) => return Err(fail(why.into())),
            }
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    fn load(&self, key: &str, job: &Job) -> Option<JobResult> {
        let folder = self.folder.join(key);
        let stored: Stored = read_json(&folder.join("result.json"))?;
        if stored.seconds > job.limits.wall().as_secs_f64() {
            return None;
        }
        let mut files = BTreeMap::new();
        for (number, name) in stored.files.iter().enumerate() {
            files.insert(
                name.clone(),
                std::fs::read(folder.join(format!("file-{number}"))).ok()?,
            );
        }
        let result = JobResult {
            exit: stored.exit,
            output: std::fs::read(folder.join("output")).ok()?,
            output_total: stored.output_total,
            files,
            seconds: stored.seconds,
            overhead_seconds: stored.overhead_seconds,
            isolation: stored.isolation,
            usage: stored.usage,
        };
        self.note_size(key, &result);
        Some(result)
    }

    /// The result file is written last: without it the rest is not looked at.
    fn save(&self, key: &str, result: &JobResult) -> Result<(), Error> {
        let folder = self.folder.join(key);
        clear_unfinished(&folder);
        write_atomically(&folder.join("output"), &result.output)?;
        for (number, bytes) in result.files.values().enumerate() {
            write_atomically(&folder.join(format!("file-{number}")), bytes)?;
        }
        let stored = Stored {
            exit: result.exit,
            output_total: result.output_total,
            files: result.files.keys().cloned().collect(),
            seconds: result.seconds,
            overhead_seconds: result.overhead_seconds,
            isolation: result.isolation.clone(),
            usage: result.usage,
        };
        write_json(&folder.join("result.json"), &stored)?;
        self.note_size(key, result);
        Ok(())
    }
}

/// Whether the same job would end so again. A time or memory limit may have been reached because
/// the machine was busy, 137 is a kill, and 125 says that the job could not begin.
fn is_lasting(exit: ExitState) -> bool {
    matches!(exit, ExitState::Exited { code } if code != 125 && code != 137)
}

#[async_trait]
impl Sandbox for CachedSandbox {
    fn info(&self) -> SandboxInfo {
        self.inner.info()
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        cx.check("run job")?;
        let key = self.key(environment, job);
        if let Some(known) = key.as_deref().and_then(|key| self.load(key, job)) {
            tracing::debug!(job = job.label, "answered from an earlier run");
            cx.progress.detail("known from an earlier run");
            self.counts.known.fetch_add(1, Ordering::Relaxed);
            return Ok(known);
        }
        let Some(key) = key else {
            return self.inner.run(cx, environment, job).await;
        };
        // Another process, or another task of this one, may be at the very same job.
        let _lock = self.turn(cx, &key).await?;
        if let Some(known) = self.load(&key, job) {
            self.counts.known.fetch_add(1, Ordering::Relaxed);
            return Ok(known);
        }
        self.counts.run.fetch_add(1, Ordering::Relaxed);
        let result = self.inner.run(cx, environment, job).await?;
        if is_lasting(result.exit) {
            self.save(&key, &result)?;
        }
        Ok(result)
    }

    async fn expect(&self, cx: &RunContext, environment: &Environment, job: &Job) {
        let is_known = self
            .key(environment, job)
            .is_some_and(|key| self.folder.join(key).join("result.json").exists());
        if !is_known {
            self.inner.expect(cx, environment, job).await;
        }
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
        self.inner.open(cx, environment, job).await
    }
}
