//! One fresh copy of an environment per job.

use super::cgroup::Groups;
use super::launch::{Launch, make_folders};
use super::process::{Reached, Running, exit_code, watch};
use super::session::{From, LocalSession};
use super::store::{Finished, Store};
use super::walls::{Real, Walls};
use super::workspace::Workspace;
use super::{LocalEngine, blocking, files};
use crate::engine::capture::Head;
use crate::engine::check_job;
use crate::engine::prelude::{LAID, OWN_FOLDER, laid};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, ImageRef, Isolation, Job, JobResult, Network,
    ResourceUsage, RunContext, Sandbox, SandboxInfo, Session,
};
use std::collections::BTreeMap;
use std::fs;
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

    pub(super) fn engine(&self) -> &LocalEngine {
        &self.engine
    }

    /// What was built for this environment, where it can be used here and the job is sound.
    fn built(
        &self,
        operation: &str,
        environment: &Environment,
        job: &Job,
    ) -> Result<(Store, Finished), Error> {
        self.engine.check_trust(operation)?;
        check_job(job)?;
        let refuse = |what: &str| {
            Err(Error::new(
                ErrorKind::InvalidInput,
                operation.to_owned(),
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
        Ok((store, finished))
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
        let (store, finished) = self.built(&operation, environment, job)?;
        let mut workspace = Workspace::make(self.engine.root(), &job.limits)?;
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

    async fn open(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<Box<dyn Session>, Error> {
        let operation = format!("open `{}`", job.label);
        cx.check(&operation)?;
        let built = self.built(&operation, environment, job)?;
        let opening = LocalSession::open(self, cx, (environment, job), built, From::Built);
        let session = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                return Err(Error::new(ErrorKind::Cancelled, operation.clone(), ""));
            }
            session = opening => session?,
        };
        Ok(Box::new(session))
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
            workspace.swap(cx, store, job.limits.wall()).await?
        };
        lay_out(&real, job).await?;
        let launch = Launch {
            engine: &self.engine,
            real: &real,
            bins: &finished.bins,
            shared: &finished.shared,
            mark: workspace.name(),
            network: job.network == Network::Full,
            variables: &[&environment.plan.env, &job.env],
            machine: &BTreeMap::new(),
            outside: workspace.groups().map_or_else(String::new, Groups::enter),
            one_stream: true,
            limits: &job.limits,
            folder: None,
            strict: false,
            script: &job.script,
        };
        let mut command = launch.command()?;
        command.stdout(Stdio::piped()).stderr(Stdio::null());

        let started = Instant::now();
        let mut running = Running::start(command, workspace.name()).await?;
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
        let watched = workspace.groups().is_none();
        let wait = async {
            let limit = async {
                if watched {
                    watch(root, workspace.name(), &job.limits).await
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
                let out_of_memory = workspace.groups().is_some_and(Groups::ran_out_of_memory);
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
            isolation: self.isolation(job, workspace.groups()),
            usage: workspace
                .groups()
                .map_or_else(ResourceUsage::default, Groups::usage),
        })
    }

    pub(super) fn isolation(&self, job: &Job, groups: Option<&Groups>) -> Isolation {
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
pub(super) async fn lay_out(real: &Real, job: &Job) -> Result<(), Error> {
    let (repo, input) = (real.repo.clone(), real.input.clone());
    let (overlay, given) = (job.overlay.clone(), job.files.clone());
    blocking("lay out files", move || {
        files::lay_over(&repo, &overlay)?;
        if let Some(laid) = laid(&overlay) {
            let own = input.join(OWN_FOLDER);
            make_folders(&[&own])?;
            let path = own.join(LAID);
            fs::write(&path, laid).map_err(|why| Error::io("write", &path, why))?;
        }
        for file in &given {
            let path = input.join(&file.name);
            fs::write(&path, &file.bytes).map_err(|why| Error::io("write", &path, why))?;
        }
        Ok(())
    })
    .await
}
