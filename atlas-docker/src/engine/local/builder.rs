//! Carrying a plan out in a folder.

use super::cgroup::Groups;
use super::launch::{Launch, make_folders};
use super::process::{Reached, Running, exit_code, watch};
use super::store::{Finished, Store};
use super::walls::{Real, is_shared};
use super::width::is_too_wide;
use super::workspace::Workspace;
use super::{LocalEngine, LocalOptions, blocking, files, kept::Kept, toolchain::Chosen};
use crate::build::{BuildOutcome, Builder};
use crate::engine::capture::Tail;
use crate::engine::scratch::Scratch;
use crate::engine::{LOG_BYTES, STEP_BYTES, hex};
use crate::toolbox::{Tool, tools};
use async_trait::async_trait;
use atlas_core::{
    BuildFailure, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, ImageRef, Limits, Repository,
    RunContext,
};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Carries plans out in folders of this machine, with the toolchains that are installed here.
///
/// Commands run as in a container: behind bubblewrap the folders of the convention are at the
/// same paths as there. What needs root (`pre_install`) is not run and recorded as drift; so is a
/// toolchain of another version than planned.
///
/// Builds have the network, and their memory, processes and time are limited by [`LocalOptions`];
/// processor time and disk space are not.
#[derive(Clone, Debug)]
pub struct LocalBuilder {
    engine: LocalEngine,
    scratch: Option<Scratch>,
}

impl LocalBuilder {
    /// A builder on this engine.
    pub fn new(engine: LocalEngine) -> Self {
        Self {
            engine,
            scratch: None,
        }
    }

    /// A builder that takes no folder that is there: each call prepares one of its own, for the
    /// caller to [`discard`](Builder::discard).
    pub fn from_scratch(engine: LocalEngine) -> Self {
        Self {
            engine,
            scratch: Some(Scratch::default()),
        }
    }

    fn key(
        &self,
        repository: &Repository,
        plan: &EnvironmentPlan,
        chosen: &Chosen,
    ) -> Result<String, Error> {
        let programs = toolbox(plan)?;
        // Remarks are about a plan, not of it: one that was carried out before bears more of them.
        let plan = EnvironmentPlan {
            drift: Vec::new(),
            evidence: BTreeMap::new(),
            // The toolchain itself counts, below.
            docker_specs: BTreeMap::new(),
            ..plan.clone()
        };
        let plan = serde_json::to_vec(&plan).map_err(|why| {
            Error::new(ErrorKind::InvalidInput, "write", "the environment plan").with_source(why)
        })?;
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(b"4");
        add(&[u8::from(self.engine.is_walled())]);
        add(&plan);
        for tool in &programs {
            add(tool.text.as_bytes());
        }
        // What was built with one version of a language does not run with another.
        add(chosen.identity.join("\n").as_bytes());
        add(repository.name.as_bytes());
        add(repository.base.as_str().as_bytes());
        for (path, bytes) in &repository.head_manifests {
            add(path.as_bytes());
            add(bytes);
        }
        if let Some(scratch) = &self.scratch {
            add(scratch.next().as_bytes());
        }
        let digest = hash.finalize();
        Ok(hex(&digest[..16]))
    }
}

#[async_trait]
impl Builder for LocalBuilder {
    fn engine(&self) -> &'static str {
        "local"
    }

    async fn build(
        &self,
        cx: &RunContext,
        repository: &Repository,
        plan: &EnvironmentPlan,
        _dockerfile: &str,
    ) -> Result<BuildOutcome, Error> {
        cx.check("build environment")?;
        self.engine.check_trust("build environment")?;
        let toolchains = self.engine.toolchains().await;
        let home = self.engine.options().home.as_deref();
        let chosen = toolchains.choose(plan, self.engine.is_walled(), home);
        let chosen = match chosen.await {
            Ok(chosen) => chosen,
            Err(failure) => return Ok(BuildOutcome::Failed(failure)),
        };
        let key = self.key(repository, plan, &chosen)?;
        let store = Store::new(self.engine.root().join("env").join(&key));
        let _held = store.lock_build(cx).await?;
        let image = ImageRef::Local {
            path: store.folder.clone(),
        };
        if let Some(finished) = store.finished()? {
            return Ok(BuildOutcome::Built {
                image,
                plan: finished.plan,
                lock: finished.lock,
                seconds: 0.0,
                log: format!("reused {key}\n").into_bytes(),
            });
        }
        let started = Instant::now();
        let limits = build_limits(self.engine.options());
        let workspace = Workspace::make(self.engine.root(), &limits)?;
        let mut work = Work::new(&self.engine, cx, plan, &store, chosen, &workspace);
        let ended = work.run(repository).await;
        let Work {
            plan,
            chosen,
            log,
            shared,
            ..
        } = work;
        blocking("clean up", move || workspace.clean()).await?;
        if !matches!(ended, Ok(None)) {
            let folder = store.folder.clone();
            blocking("clean up", move || files::remove_tree(&folder)).await?;
        }
        if let Some(failure) = ended? {
            return Ok(BuildOutcome::Failed(failure));
        }
        let seconds = started.elapsed().as_secs_f64();
        let finished = Finished {
            schema_version: 1,
            walled: self.engine.is_walled(),
            plan: plan.clone(),
            lock: EnvironmentLock {
                engine: "local".to_owned(),
                engine_version: self.engine.version(),
                base_image: plan.base_image.clone(),
                image_id: key,
                ..EnvironmentLock::default()
            },
            bins: chosen.bins,
            shared,
        };
        store.finish(&finished)?;
        Ok(BuildOutcome::Built {
            image,
            plan,
            lock: finished.lock,
            seconds,
            log: log.to_bytes(),
        })
    }

    async fn discard(&self, image: &ImageRef) -> Result<(), Error> {
        let ImageRef::Local { path } = image else {
            return Ok(());
        };
        let folder = path.clone();
        blocking("clean up", move || files::remove_tree(&folder)).await
    }
}

/// The scratch copy of a prefetch, below `/tmp`, as in an image's build.
const PREFETCH: &str = "atlas-prefetch";

/// One build in progress.
struct Work<'a> {
    engine: &'a LocalEngine,
    cx: &'a RunContext,
    store: &'a Store,
    workspace: &'a Workspace,
    limits: Limits,
    plan: EnvironmentPlan,
    chosen: Chosen,
    shared: Vec<PathBuf>,
    real: Real,
    log: Tail,
    deadline: Instant,
}

/// The helper programs that a plan names.
fn toolbox(plan: &EnvironmentPlan) -> Result<Vec<Tool>, Error> {
    tools(plan).map_err(|why| {
        Error::new(ErrorKind::InvalidInput, "read plan", plan.language.clone()).with_source(why)
    })
}

/// The limits of a build; its time is counted over all commands.
fn build_limits(options: &LocalOptions) -> Limits {
    Limits {
        memory_bytes: options.build_memory_bytes,
        processes: options.build_processes,
        cpus: f64::INFINITY,
        file_bytes: u64::MAX,
        ..Limits::default()
    }
}

/// How one command ended.
struct Ran {
    /// Absent: the time was up.
    code: Option<i64>,
    stdout: String,
    stderr: String,
}

impl<'a> Work<'a> {
    fn new(
        engine: &'a LocalEngine,
        cx: &'a RunContext,
        plan: &EnvironmentPlan,
        store: &'a Store,
        chosen: Chosen,
        workspace: &'a Workspace,
    ) -> Self {
        let live = store.live();
        let build = store.folder.join("build");
        Self {
            engine,
            cx,
            store,
            workspace,
            limits: build_limits(engine.options()),
            plan: plan.clone(),
            shared: chosen.roots.clone(),
            chosen,
            real: Real {
                repo: live.join("testbed"),
                env: live.join("env"),
                cache: live.join("cache"),
                home: live.join("home"),
                tools: live.join("tools"),
                input: build.join("in"),
                output: build.join("out"),
                temporary: build.join("tmp"),
                env_writable: true,
            },
            log: Tail::new(LOG_BYTES),
            deadline: Instant::now() + engine.options().build_timeout,
        }
    }

    async fn run(&mut self, repository: &Repository) -> Result<Option<BuildFailure>, Error> {
        self.prepare().await?;
        if let Some(failure) = self.commands(self.plan.setup.clone()).await? {
            return Ok(Some(failure));
        }
        self.cancellable(files::copy_tree(&repository.checkout, &self.real.repo))
            .await?;
        if let Some(failure) = self.commands(self.plan.build.clone()).await? {
            return Ok(Some(failure));
        }
        self.prefetch(repository).await?;
        let build = self.store.folder.join("build");
        blocking("clean up", move || files::remove_tree(&build)).await?;
        Ok(None)
    }

    /// Runs commands up to the first that fails.
    async fn commands(&mut self, commands: Vec<String>) -> Result<Option<BuildFailure>, Error> {
        for command in commands {
            let ran = self.step(&command, None).await?;
            if ran.code != Some(0) {
                return Ok(Some(BuildFailure {
                    step: command,
                    exit_code: ran.code,
                    stderr: ran.stderr,
                    stdout: ran.stdout,
                }));
            }
        }
        Ok(None)
    }

    /// Makes the folders, with all but the sources in them.
    async fn prepare(&mut self) -> Result<(), Error> {
        // What a killed build left may be half of anything.
        let folder = self.store.folder.clone();
        blocking("clean up", move || files::remove_tree(&folder)).await?;
        let real = &self.real;
        make_folders(&[
            &real.repo,
            &real.env,
            &real.cache,
            &real.home,
            &real.tools,
            &real.input,
            &real.output,
            &real.temporary,
        ])?;
        for (name, program) in &self.chosen.links {
            let link = real.tools.join(name);
            std::os::unix::fs::symlink(program, &link)
                .map_err(|why| Error::io("make", &link, why))?;
        }
        let folder = real.env.join("toolbox");
        make_folders(&[&folder])?;
        for tool in toolbox(&self.plan)? {
            let path = folder.join(tool.name);
            std::fs::write(&path, tool.text).map_err(|why| Error::io("write", &path, why))?;
        }
        self.plan.drift.append(&mut self.chosen.drift);
        self.plan.docker_specs.extend(
            self.chosen
                .used
                .take()
                .map(|(field, used)| (field, used.into())),
        );
        let mut system = self.plan.pre_install.clone();
        system.extend(self.plan.apt_packages.iter().cloned());
        if !system.is_empty() {
            self.plan.drift.push(format!(
                "system packages not installed by the local engine: {}",
                system.join("; ")
            ));
        }
        Ok(())
    }

    /// Adds what only the pull request's manifests name.
    ///
    /// As in an image's build, commands start in a scratch copy with those manifests at
    /// `/tmp/atlas-prefetch`, while `$ATLAS_REPO` is the repository: what they install there stays.
    /// The base commit's own files are afterwards what they were before.
    async fn prefetch(&mut self, repository: &Repository) -> Result<(), Error> {
        if self.plan.prefetch.is_empty() {
            return Ok(());
        }
        let scratch = self.real.temporary.join(PREFETCH);
        // A build's command may have left anything at this place.
        files::remove_any(&scratch)?;
        self.cancellable(files::copy_tree(&self.real.repo, &scratch))
            .await?;
        files::lay_manifests(&scratch, &repository.head_manifests)?;
        let (checkout, repo) = (repository.checkout.clone(), self.real.repo.clone());
        let aside = self.store.folder.join("build").join("kept");
        let kept = blocking("keep", move || Kept::take(&checkout, repo, &aside)).await?;
        for command in self.plan.prefetch.clone() {
            let ran = self.step(&command, Some(PREFETCH)).await?;
            if ran.code != Some(0) {
                self.plan.drift.push(format!(
                    "`{command}` failed: dependencies that only the pull request's manifests name may be missing"
                ));
            }
        }
        let changed = blocking("put back", move || kept.put_back()).await?;
        if !changed.is_empty() {
            self.plan.drift.push(format!(
                "the prefetch changed files of the repository, which were put back: {}",
                changed.join(", ")
            ));
        }
        Ok(())
    }

    async fn cancellable<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        tokio::select! {
            biased;
            () = self.cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, "build environment", ""))
            }
            done = work => done,
        }
    }

    /// Runs one command with network and both streams apart.
    async fn step(&mut self, command: &str, folder: Option<&str>) -> Result<Ran, Error> {
        self.cx.progress.detail(command);
        self.log.push(format!("$ {command}\n").as_bytes());
        let machine = self.machine();
        let mut shared = self.shared.clone();
        shared.extend(named_paths(&machine, self.engine.options().home.as_deref()));
        let (mark, groups) = (self.workspace.name(), self.workspace.groups());
        let launch = Launch {
            engine: self.engine,
            real: &self.real,
            bins: &self.chosen.bins,
            shared: &shared,
            mark,
            network: true,
            variables: &[&self.plan.env],
            machine: &machine,
            outside: groups.map_or_else(String::new, Groups::enter),
            one_stream: false,
            limits: &self.limits,
            folder,
            strict: true,
            script: command,
        };
        let mut process = launch.command()?;
        process.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::start(process, mark).await?;
        let (out, err) = (running.child.stdout.take(), running.child.stderr.take());
        let mut stdout = Tail::end_only(STEP_BYTES);
        let mut stderr = Tail::end_only(STEP_BYTES);
        let log = Mutex::new(&mut self.log);
        let log = &log;
        let mut drain = Box::pin(async {
            tokio::join!(
                follow(out, |piece| {
                    stdout.push(piece);
                    log.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(piece);
                }),
                follow(err, |piece| {
                    stderr.push(piece);
                    log.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(piece);
                }),
            )
        });
        let mut drained = false;
        let root = running.id();
        let wait = async {
            let limit = async {
                match groups {
                    None => watch(root, mark, &self.limits).await,
                    Some(_) => std::future::pending().await,
                }
            };
            tokio::pin!(limit);
            loop {
                tokio::select! {
                    ended = running.child.wait() => return Ok(ended),
                    reached = &mut limit => return Err(reached),
                    _ = &mut drain, if !drained => drained = true,
                }
            }
        };
        let left = self.deadline.saturating_duration_since(Instant::now());
        let ended = tokio::select! {
            biased;
            () = self.cx.cancel.cancelled() => None,
            ended = tokio::time::timeout(left, wait) => Some(ended),
        };
        running.finish().await;
        if !drained {
            let _ = tokio::time::timeout(Duration::from_secs(5), &mut drain).await;
        }
        drop(drain);
        let code = match ended {
            None => {
                return Err(Error::new(
                    ErrorKind::Cancelled,
                    "build environment",
                    format!("at `{command}`"),
                ));
            }
            Some(Ok(Err(reached))) => {
                stderr.push(self.beyond(reached).as_bytes());
                Some(137)
            }
            Some(Ok(Ok(status))) => {
                let status = status.map_err(|why| {
                    Error::new(ErrorKind::ToolFailed, "wait for", format!("`{command}`"))
                        .with_source(why)
                })?;
                let code = exit_code(status);
                if code != 0 && groups.is_some_and(Groups::ran_out_of_memory) {
                    stderr.push(self.beyond(Reached::Memory).as_bytes());
                }
                Some(code)
            }
            Some(Err(_)) => {
                let limit = self.engine.options().build_timeout.as_secs();
                stderr.push(format!("\nthe build did not end within {limit} s\n").as_bytes());
                None
            }
        };
        if code != Some(0) && !Launch::began(&self.real) {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "start a command behind bubblewrap",
                stderr.to_text(),
            ));
        }
        Ok(Ran {
            code,
            stdout: stdout.to_text(),
            stderr: stderr.to_text(),
        })
    }

    /// Says which limit a command ran into, for who reads its failure.
    fn beyond(&self, limit: Reached) -> String {
        match limit {
            Reached::Memory => format!(
                "\nthe build used more than {} bytes of memory\n",
                self.limits.memory_bytes
            ),
            Reached::Processes => format!(
                "\nthe build had more than {} processes\n",
                self.limits.processes
            ),
        }
    }

    /// What only builds see of the machine's settings.
    fn machine(&self) -> BTreeMap<String, String> {
        let mut machine = self.engine.options().build_env.clone();
        // The home folder is copied for each job: pip's download cache would come along.
        machine.insert("PIP_NO_CACHE_DIR".to_owned(), "1".to_owned());
        machine
    }
}

/// Files and folders that settings name: certificates, folders of packages. Not a folder that holds
/// more than that, as npm's prefix may be.
fn named_paths(settings: &BTreeMap<String, String>, home: Option<&Path>) -> Vec<PathBuf> {
    settings
        .values()
        .flat_map(|value| value.split([' ', ':']))
        .filter(|word| word.starts_with('/') && word.len() > 1)
        .map(PathBuf::from)
        .filter(|path| !is_shared(path) && path.exists() && !is_too_wide(path, home))
        .collect()
}

/// Reads a stream to its end.
async fn follow(stream: Option<impl AsyncRead + Unpin>, mut hear: impl FnMut(&[u8])) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count) = stream.read(&mut buffer).await {
        if count == 0 {
            return;
        }
        hear(&buffer[..count]);
    }
}
