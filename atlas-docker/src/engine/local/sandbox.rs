//! One fresh copy of an environment per job.

use super::cgroup::Groups;
use super::launch::{Launch, make_folders};
use super::process::{Reached, Running, exit_code, watch};
use super::store::{Finished, Store};
use super::walls::{Real, Walls};
use super::{LocalEngine, blocking, files};
use crate::engine::capture::Head;
use crate::engine::check_job;
use crate::engine::owner::Owner;
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, ImageRef, Isolation, Job, JobResult, Network,
    RunContext, Sandbox, SandboxInfo,
};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;

/// Runs each job in a fresh copy of the environment's folders.
///
/// Behind bubblewrap any number of jobs of one environment run at once. Without it a job works at
/// the environment's own paths, which installed things remember, so jobs of one environment wait
/// for each other; and nothing keeps the script from the machine, so it must be trusted.
///
/// Memory and processes are limited by control groups where this user may make them. Elsewhere
/// they are looked at five times a second and the job is killed beyond a limit: beyond that of
/// processes it ends with exit code 137. [`Isolation::missing`] tells which it was.
#[derive(Clone, Debug)]
pub struct LocalSandbox {
    engine: LocalEngine,
}

impl LocalSandbox {
    /// A sandbox on this engine.
    pub fn new(engine: LocalEngine) -> Self {
        Self { engine }
    }
}

impl LocalEngine {
    /// Refuses to run anything where nothing keeps it apart and the caller does not trust it.
    pub(super) fn check_trust(&self, operation: &str) -> Result<(), Error> {
        if self.is_walled() || self.options().trust {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotTrusted,
            operation,
            "without isolation: install bubblewrap, use the Docker engine, or say that the code is \
             trusted (`--trust`)",
        ))
    }

    /// What this engine is, for reports.
    pub(super) fn version(&self) -> String {
        match self.walls() {
            Walls::Bubblewrap(bwrap) => format!("bubblewrap {}", bwrap.version),
            Walls::None => "plain processes".to_owned(),
        }
    }
}

#[async_trait]
impl Sandbox for LocalSandbox {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "local".to_owned(),
            version: self.engine.version(),
        }
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        let begun = Instant::now();
        let operation = format!("run `{}`", job.label);
        cx.check(&operation)?;
        self.engine.check_trust(&operation)?;
        check_job(job)?;
        let refuse = |what: &str| {
            Err(Error::new(
                ErrorKind::InvalidInput,
                operation.clone(),
                what.to_owned(),
            ))
        };
        let ImageRef::Local { path } = &environment.image else {
            return refuse("an environment that was not made by the local engine");
        };
        let store = Store::new(path.clone());
        let Some(finished) = store.finished()? else {
            return refuse("an environment that is not there or not finished: build it first");
        };
        if finished.walled != self.engine.is_walled() {
            return refuse(
                "an environment that was built with other walls (bubblewrap or none): build it again",
            );
        }
        let mut workspace = Workspace::make(self.engine.root(), job)?;
        let done = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, operation.clone(), ""))
            }
            done = self.within(cx, &mut workspace, &store, &finished, environment, job) => done,
        };
        let cleaned = blocking("clean up", move || workspace.clean()).await;
        let mut result = done?;
        cleaned?;
        result.overhead_seconds = (begun.elapsed().as_secs_f64() - result.seconds).max(0.0);
        Ok(result)
    }
}

impl LocalSandbox {
    async fn within(
        &self,
        cx: &RunContext,
        workspace: &mut Workspace,
        store: &Store,
        finished: &Finished,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        let real = if self.engine.is_walled() {
            workspace.copy(store).await?
        } else {
            workspace.swap(cx, store).await?
        };
        lay_out(&real, job).await?;
        let launch = Launch {
            engine: &self.engine,
            real: &real,
            bins: &finished.bins,
            shared: &finished.shared,
            mark: &workspace.name,
            network: job.network == Network::Full,
            variables: &[&environment.plan.env, &job.env],
            machine: &BTreeMap::new(),
            outside: workspace
                .groups
                .as_ref()
                .map_or_else(String::new, Groups::enter),
            one_stream: true,
            limits: Some(&job.limits),
            folder: None,
            strict: false,
            script: &job.script,
        };
        let mut command = launch.command()?;
        command.stdout(Stdio::piped()).stderr(Stdio::null());

        let started = Instant::now();
        let mut running = Running::start(command, &workspace.name).await?;
        let console = running.child.stdout.take();
        let mut output = Head::new(job.limits.output_bytes);
        let mut drain = Box::pin(async {
            let Some(mut console) = console else { return };
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = console.read(&mut buffer).await {
                output.push(&buffer[..count]);
            }
        });
        let mut drained = false;
        let root = running.id();
        let watched = workspace.groups.is_none();
        let wait = async {
            let limit = async {
                if watched {
                    watch(root, &workspace.name, &job.limits).await
                } else {
                    std::future::pending().await
                }
            };
            tokio::pin!(limit);
            loop {
                tokio::select! {
                    ended = running.child.wait() => return Ok(ended),
                    reached = &mut limit => return Err(reached),
                    () = &mut drain, if !drained => drained = true,
                }
            }
        };
        let ended = tokio::time::timeout(job.limits.wall(), wait).await;
        let seconds = started.elapsed().as_secs_f64();
        running.finish().await;
        if !drained {
            // Whoever held the pipe is dead by now, or escaped: not waited for.
            let _ = tokio::time::timeout(Duration::from_secs(5), &mut drain).await;
        }
        drop(drain);
        let (output, output_total) = output.into_parts();
        let exit = match ended {
            Err(_) => ExitState::TimedOut,
            Ok(Err(Reached::Memory)) => ExitState::OutOfMemory,
            Ok(Err(Reached::Processes)) => ExitState::Exited { code: 137 },
            Ok(Ok(status)) => {
                let status = status.map_err(|why| {
                    Error::new(ErrorKind::ToolFailed, "wait for", job.label.clone())
                        .with_source(why)
                })?;
                let code = exit_code(status);
                let out_of_memory = workspace
                    .groups
                    .as_ref()
                    .is_some_and(Groups::ran_out_of_memory);
                if code != 0 && out_of_memory {
                    ExitState::OutOfMemory
                } else if code != 0 && !Launch::began(&real) {
                    return Err(Error::new(
                        ErrorKind::EngineFailed,
                        "start a script in the local engine",
                        String::from_utf8_lossy(&output).trim().to_owned(),
                    ));
                } else {
                    ExitState::Exited { code }
                }
            }
        };
        Ok(JobResult {
            exit,
            output,
            output_total,
            files: files::collect(&real.output, job),
            seconds,
            overhead_seconds: 0.0,
            isolation: self.isolation(job, workspace.groups.as_ref()),
        })
    }

    fn isolation(&self, job: &Job, groups: Option<&Groups>) -> Isolation {
        let walled = self.engine.is_walled();
        let root = rustix::process::geteuid().is_root();
        let mut isolation = Isolation {
            kind: if walled { "bubblewrap" } else { "process" }.to_owned(),
            network_off: walled && job.network == Network::None,
            filesystem: walled,
            processes: walled,
            no_privileges: walled,
            non_root: walled || !root,
            limits: ["memory", "processes", "seconds", "output", "file"]
                .map(str::to_owned)
                .to_vec(),
            missing: Vec::new(),
        };
        let mut missing = |what: &str| isolation.missing.push(what.to_owned());
        if groups.is_none() {
            missing("memory is looked at five times a second, not limited by the kernel");
            if root || !walled {
                missing("processes are counted five times a second, not limited by the kernel");
            }
        }
        if !walled {
            missing("network, files and processes of this machine are within reach");
        }
        if groups.is_some_and(Groups::limits_cpus) {
            isolation.limits.insert(1, "cpus".to_owned());
        } else {
            missing("processor time is not limited");
        }
        isolation
    }
}

/// Lays the state's files and the job's files out.
async fn lay_out(real: &Real, job: &Job) -> Result<(), Error> {
    let (repo, input) = (real.repo.clone(), real.input.clone());
    let (overlay, given) = (job.overlay.clone(), job.files.clone());
    blocking("lay out files", move || {
        files::lay_over(&repo, &overlay)?;
        for file in &given {
            let path = input.join(&file.name);
            fs::write(&path, &file.bytes).map_err(|why| Error::io("write", &path, why))?;
        }
        Ok(())
    })
    .await
}

/// The folder of one job. It goes with the job; dropped early, a thread removes it, and failing
/// that the next sweep.
#[derive(Debug)]
struct Workspace {
    name: String,
    folder: PathBuf,
    groups: Option<Groups>,
    /// The environment that the job works in, and the lock on it.
    swapped: Option<(Store, File)>,
    /// Held as long as this process lives; absent once cleaned.
    lock: Option<File>,
}

impl Workspace {
    fn make(root: &Path, job: &Job) -> Result<Self, Error> {
        let jobs = root.join("jobs");
        loop {
            let name = Owner::current().unique_name();
            let folder = jobs.join(&name);
            let path = folder.with_extension("lock");
            let lock = File::options()
                .write(true)
                .create_new(true)
                .open(&path)
                .map_err(|why| Error::io("make", &path, why))?;
            // A sweep may have looked between the two calls; then it has taken this name.
            let held = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if !held || !path.exists() {
                continue;
            }
            let workspace = Self {
                groups: Groups::make(&name, &job.limits),
                name,
                folder,
                swapped: None,
                lock: Some(lock),
            };
            make_folders(&[
                &workspace.folder.join("in"),
                &workspace.folder.join("out"),
                &workspace.folder.join("tmp"),
            ])?;
            return Ok(workspace);
        }
    }

    fn real(&self, base: &Path, tools: PathBuf, env: PathBuf) -> Real {
        Real {
            repo: base.join("testbed"),
            env,
            cache: base.join("cache"),
            home: base.join("home"),
            tools,
            input: self.folder.join("in"),
            output: self.folder.join("out"),
            temporary: self.folder.join("tmp"),
            env_writable: false,
        }
    }

    /// Copies what the job may write; the rest is shared and unwritable.
    async fn copy(&self, store: &Store) -> Result<Real, Error> {
        let live = store.live();
        let copied = ["testbed", "cache", "home"]
            .map(|part| (live.join(part), self.folder.join(part)))
            .map(async |(from, to)| files::copy_tree(&from, &to).await);
        futures_util::future::try_join_all(copied).await?;
        Ok(self.real(&self.folder, live.join("tools"), live.join("env")))
    }

    /// Puts a copy in the place of the environment until the job is over.
    async fn swap(&mut self, cx: &RunContext, store: &Store) -> Result<Real, Error> {
        let lock = store.lock_live(cx).await?;
        let (live, pristine) = (store.live(), store.pristine());
        fs::rename(&live, &pristine).map_err(|why| Error::io("move", &live, why))?;
        self.swapped = Some((store.clone(), lock));
        files::copy_tree(&pristine, &live).await?;
        Ok(self.real(&live, live.join("tools"), live.join("env")))
    }

    fn clean(mut self) -> Result<(), Error> {
        self.clean_up()
    }

    fn clean_up(&mut self) -> Result<(), Error> {
        super::process::end_marked(&self.name);
        drop(self.groups.take());
        if let Some((store, lock)) = self.swapped.take() {
            store.restore()?;
            drop(lock);
        }
        files::remove_tree(&self.folder)?;
        let lock = self.folder.with_extension("lock");
        fs::remove_file(&lock).map_err(|why| Error::io("remove", &lock, why))?;
        self.lock = None;
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if self.lock.is_none() {
            return;
        }
        let mut left = Self {
            name: std::mem::take(&mut self.name),
            folder: std::mem::take(&mut self.folder),
            groups: self.groups.take(),
            swapped: self.swapped.take(),
            lock: self.lock.take(),
        };
        let work = move || {
            if let Err(why) = left.clean_up() {
                tracing::debug!(cause = %why.chain(), "job folder left to the next sweep");
                // Dropping it again would start this thread again.
                left.lock = None;
            }
        };
        let _ = std::thread::Builder::new()
            .name("atlas-reaper".to_owned())
            .spawn(work);
    }
}
