//! One container per job.

use super::collect::{collect, exists};
use super::container::remove_given_up;
use super::layout::{Keeps, OOM_NOTE, begin_script, end_mark, uid};
use super::ready::{Expected, Ready, give_up};
use super::session::DockerSession;
use super::{DockerEngine, JOB_LABEL, OWNER_LABEL, RUN_LABEL, disk_full, fault};
use crate::engine::capture::{Head, UpTo};
use crate::engine::owner::Owner;
use crate::engine::{check_job, usage};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, ImageRef, Isolation, Job, JobResult, JobUser,
    Network, ResourceUsage, RunContext, Sandbox, SandboxInfo, Session,
};
use bollard::Docker;
use bollard::container::AttachContainerResults;
use bollard::errors::Error as Fault;
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, ResourcesUlimits};
use bollard::query_parameters::{
    InspectContainerOptions, KillContainerOptionsBuilder, StatsOptionsBuilder,
    WaitContainerOptionsBuilder,
};
use futures_util::StreamExt;
use rustix::process::Resource;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt as _;

/// With less than this free, a failed run tells nothing.
const FULL_BYTES: u64 = 4 << 20;

/// Runs each job in a fresh container of the environment's image.
///
/// A container ends in four ways, one behind the other: `run` removes it when it returns, or `settle`
/// where its job was expected; a dropped `run` hands it to a thread that removes it; [`DockerEngine::sweep`] at the next start
/// removes what a killed process left; and its own main process ends shortly after the time limit.
#[derive(Clone, Debug)]
pub struct DockerSandbox {
    engine: DockerEngine,
    expected: Arc<Expected>,
}

impl DockerSandbox {
    /// A sandbox on this engine.
    pub fn new(engine: DockerEngine) -> Self {
        Self {
            engine,
            expected: Arc::default(),
        }
    }

    pub(super) fn engine(&self) -> &DockerEngine {
        &self.engine
    }

    fn keeps(&self) -> Keeps {
        if self.engine.is_podman() {
            Keeps::Nothing
        } else {
            Keeps::Wait
        }
    }

    pub(super) fn isolation(&self, job: &Job) -> Isolation {
        let lacking = &self.engine.inner.lacking;
        let mut isolation = Isolation {
            kind: "container".to_owned(),
            network_off: job.network == Network::None,
            filesystem: true,
            processes: true,
            no_privileges: job.user != JobUser::Root,
            non_root: job.user == JobUser::Tests,
            limits: Vec::new(),
            missing: Vec::new(),
        };
        match job.user {
            JobUser::Tests => {}
            JobUser::BareRoot => {
                let said = "tests are root, without capabilities: the image is made for root";
                isolation.missing.push(said.to_owned());
            }
            JobUser::Root => {
                let said = "tests are root, with the engine's usual capabilities";
                isolation.missing.push(said.to_owned());
            }
        }
        for limit in ["memory", "cpus", "processes", "seconds", "output", "file"] {
            if lacking.contains(&limit) {
                isolation
                    .missing
                    .push(format!("the engine cannot limit {limit}"));
            } else {
                isolation.limits.push(limit.to_owned());
            }
        }
        if lacking.contains(&"swap") && !lacking.contains(&"memory") {
            isolation
                .missing
                .push("the engine cannot limit swap: memory may spill over into it".to_owned());
        }
        isolation
    }

    pub(super) fn body(&self, cx: &RunContext, image: &str, job: &Job) -> ContainerCreateBody {
        let limits = &job.limits;
        let bytes = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let ulimit = |name: &str, value: i64| ResourcesUlimits {
            name: Some(name.to_owned()),
            soft: Some(value),
            hard: Some(value),
        };
        let mut labels: HashMap<String, String> =
            self.engine.options().labels.clone().into_iter().collect();
        labels.insert(RUN_LABEL.to_owned(), cx.run_id.clone());
        labels.insert(OWNER_LABEL.to_owned(), Owner::current().to_string());
        labels.insert(JOB_LABEL.to_owned(), job.label.clone());
        let lacks = |limit| self.engine.inner.lacking.contains(&limit);
        let memory = (!lacks("memory")).then(|| bytes(limits.memory_bytes));
        let mut ulimits = vec![
            ulimit("fsize", bytes(limits.file_bytes)),
            ulimit("nofile", own_limit(Resource::Nofile, 65_536)),
            ulimit("core", 0),
        ];
        if self.engine.is_podman() {
            // It raises what is not asked for to its own constant, which it may not be allowed to.
            ulimits.push(ulimit(
                "nproc",
                own_limit(Resource::Nproc, most_processes()),
            ));
        }
        let is_bare = job.user != JobUser::Root;
        let user = uid(job.user);
        let host = HostConfig {
            memory,
            memory_swap: memory.filter(|_| !lacks("swap")),
            nano_cpus: (!lacks("cpus")).then(|| nano_cpus(limits.cpus)),
            pids_limit: (!lacks("processes")).then(|| bytes(limits.processes)),
            ulimits: Some(ulimits),
            cap_drop: is_bare.then(|| vec!["ALL".to_owned()]),
            security_opt: is_bare.then(|| vec!["no-new-privileges".to_owned()]),
            network_mode: Some(match job.network {
                Network::None => "none".to_owned(),
                Network::Full => "default".to_owned(),
            }),
            init: Some(true),
            // Attaching does not need a log, and a loud test must not fill the engine's disk.
            log_config: Some(HostConfigLogConfig {
                typ: Some("none".to_owned()),
                config: None,
            }),
            ..HostConfig::default()
        };
        ContainerCreateBody {
            image: Some(image.to_owned()),
            user: Some(format!("{user}:{user}")),
            entrypoint: Some(vec!["bash".to_owned()]),
            cmd: Some(vec![begin_script()]),
            attach_stdin: Some(!self.engine.is_podman()),
            open_stdin: Some(!self.engine.is_podman()),
            stdin_once: Some(!self.engine.is_podman()),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            labels: Some(labels),
            host_config: Some(host),
            ..ContainerCreateBody::default()
        }
    }

    /// Lets the job of a ready container begin and waits for its end.
    async fn within(&self, ready: Ready, job: &Job) -> Result<JobResult, Error> {
        let docker = self.engine.docker();
        let name = ready.name.as_str();
        let failed = |operation: &'static str| move |why| fault(operation, name, why);
        let AttachContainerResults {
            output: mut console,
            mut input,
        } = ready.attached;
        if !self.engine.is_podman() {
            let begun = async {
                input.write_all(b"\n").await?;
                input.flush().await
            };
            begun
                .await
                .map_err(|why| failed("begin the job of container")(why.into()))?;
        }
        let started = Instant::now();
        let mut output = Head::new(job.limits.output_bytes);
        let mut up_to = UpTo::new(end_mark(name).into_bytes());
        let mut drain = Box::pin(async {
            let mut is_released = false;
            while let Some(item) = console.next().await {
                match item {
                    Ok(piece) => up_to.push(&piece.into_bytes(), &mut output),
                    Err(why) => return Err(why),
                }
                if up_to.found() && !is_released {
                    is_released = true;
                    // Where nobody listens any more, the container has ended, or will at its limit.
                    let _ = input.write_all(b"\n").await;
                    let _ = input.flush().await;
                }
            }
            up_to.finish(&mut output);
            Ok(())
        });
        let condition = WaitContainerOptionsBuilder::default()
            .condition("not-running")
            .build();
        let mut wait = Box::pin(async {
            // The answer comes when the container ends, which may take longer than a call.
            let patient = docker
                .clone()
                .with_timeout(job.limits.wall() + Duration::from_secs(120));
            let answer = patient.wait_container(name, Some(condition)).next().await;
            match answer {
                Some(Ok(answer)) => Ok(answer.status_code),
                Some(Err(Fault::DockerContainerWaitError { code, .. })) => Ok(code),
                Some(Err(why)) => Err(why),
                None => Ok(-1),
            }
        });
        let (mut code, mut drained) = (None, None);
        let in_time = tokio::time::timeout(job.limits.wall(), async {
            while code.is_none() {
                tokio::select! {
                    ended = &mut wait => code = Some(ended),
                    ended = &mut drain, if drained.is_none() => drained = Some(ended),
                }
            }
        })
        .await
        .is_ok();
        let mut usage = ResourceUsage::default();
        if !in_time {
            usage = used_so_far(docker, name).await;
            let kill = KillContainerOptionsBuilder::default()
                .signal("SIGKILL")
                .build();
            match docker.kill_container(name, Some(kill)).await {
                // It ended by itself between the limit and the call.
                Ok(())
                | Err(Fault::DockerResponseServerError {
                    status_code: 404 | 409,
                    ..
                }) => {}
                Err(why) => return Err(fault("kill container", name, why)),
            }
        }
        let seconds = started.elapsed().as_secs_f64();
        if drained.is_none() {
            // The pipe closes with the container; what is still on its way arrives at once.
            drained = tokio::time::timeout(Duration::from_secs(30), &mut drain)
                .await
                .ok();
        }
        drop(drain);
        if up_to.found() {
            usage = usage::read(up_to.after());
        }
        if let Some(Err(why)) = drained {
            return Err(fault("read output of container", name, why));
        }
        let exit = if in_time {
            let code = code
                .unwrap_or(Ok(-1))
                .map_err(failed("wait for container"))?;
            self.exit(name, code).await?
        } else {
            ExitState::TimedOut
        };
        let files = if job.collect.is_empty() {
            BTreeMap::new()
        } else {
            collect(docker, name, &job.collect).await?
        };
        let (output, output_total) = output.into_parts();
        Ok(JobResult {
            exit,
            output,
            output_total,
            files,
            seconds,
            overhead_seconds: 0.0,
            isolation: self.isolation(job),
            usage,
        })
    }

    /// Whether an end with an error was the memory limit's doing.
    ///
    /// The engine notes it for any process of the container; a script that survived the loss of a
    /// child and ended well is not counted.
    pub(super) async fn exit(&self, name: &str, code: i64) -> Result<ExitState, Error> {
        if code == 0 {
            return Ok(ExitState::Exited { code });
        }
        let found = self
            .engine
            .docker()
            .inspect_container(name, None::<InspectContainerOptions>)
            .await
            .map_err(|why| fault("inspect container", name, why))?;
        let state = found.state.unwrap_or_default();
        let noted = self.engine.is_podman() && exists(self.engine.docker(), name, OOM_NOTE).await?;
        if state.oom_killed == Some(true) || noted {
            return Ok(ExitState::OutOfMemory);
        }
        // The container still holds what it wrote, so a full disk shows; its tests are not to blame.
        if self
            .engine
            .free_bytes()
            .is_some_and(|free| free < FULL_BYTES)
        {
            return Err(disk_full("run container", name));
        }
        if let Some(why) = state.error.filter(|why| !why.is_empty()) {
            return Err(Error::new(ErrorKind::EngineFailed, "run container", why));
        }
        Ok(ExitState::Exited { code })
    }
}

#[async_trait]
impl Sandbox for DockerSandbox {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "docker".to_owned(),
            version: self.engine.version().to_owned(),
        }
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        let begun = Instant::now();
        cx.check(&format!("run `{}`", job.label))?;
        let ImageRef::Docker { id: image, .. } = &environment.image else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("run `{}`", job.label),
                "an environment that was not made by the Docker engine",
            ));
        };
        check_job(job)?;
        self.engine.touch(image);
        remove_given_up(&self.engine).await;
        let taken = self.expected.take(&self.engine, image, environment, job);
        let taken = taken.await;
        let is_expected = taken.is_some();
        let mut ready = match taken {
            Some(Ok(ready)) => ready,
            other => {
                if let Some(Err(why)) = other {
                    tracing::debug!(job = job.label, why = why.chain(), "made ready anew");
                }
                let name = Owner::current().unique_name();
                let body = self.body(cx, image, job);
                Ready::make(
                    &self.engine,
                    (image, body),
                    (environment, job),
                    self.keeps(),
                    name,
                )
                .await?
            }
        };
        self.expected.quiet().await;
        let mut container = std::mem::take(&mut ready.container);
        let result = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, "run", format!("`{}`", job.label)))
            }
            result = self.within(ready, job) => result,
        };
        if is_expected {
            self.expected.let_go(container);
        } else {
            let removed = give_up(&self.engine, &mut container).await;
            if result.is_ok() {
                removed?;
            }
        }
        let mut result = result?;
        result.overhead_seconds = (begun.elapsed().as_secs_f64() - result.seconds).max(0.0);
        Ok(result)
    }

    async fn expect(&self, cx: &RunContext, environment: &Environment, job: &Job) {
        let ImageRef::Docker { id: image, .. } = &environment.image else {
            return;
        };
        // A container of Podman cannot be told to begin.
        if self.engine.is_podman()
            || check_job(job).is_err()
            || self.expected.has(image, environment, job)
        {
            return;
        }
        let (engine, job_of, environment_of) =
            (self.engine.clone(), job.clone(), environment.clone());
        let (name, image_of) = (Owner::current().unique_name(), image.clone());
        let body = self.body(cx, image, job);
        let making = tokio::spawn(async move {
            let of = (&environment_of, &job_of);
            Ready::make(&engine, (&image_of, body), of, Keeps::Wait, name).await
        });
        self.expected.keep(image, environment, job, making);
    }

    async fn settle(&self) -> Result<(), Error> {
        self.expected.settle(&self.engine).await
    }

    async fn open(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<Box<dyn Session>, Error> {
        Ok(Box::new(
            DockerSession::open(self, cx, environment, job).await?,
        ))
    }
}

/// A limit that a container may have. An engine without the right to raise limits refuses more
/// than its own, which mostly is also this process's.
fn own_limit(resource: Resource, most: i64) -> i64 {
    let own = rustix::process::getrlimit(resource).maximum;
    own.and_then(|own| i64::try_from(own).ok())
        .map_or(most, |own| own.min(most))
}

/// Process ids that there are: Podman lowers its own limit to them.
fn most_processes() -> i64 {
    std::fs::read_to_string("/proc/sys/kernel/pid_max")
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(32_768)
}

fn nano_cpus(cpus: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "clamped to what any machine has, well inside 64 bits"
    )]
    let nanos = (cpus.clamp(0.01, 1e6) * 1e9) as i64;
    nanos
}

/// What a container that still runs has taken. The engine does not know peaks of control groups of version
/// 2; and nobody waits long for an answer that decides nothing.
async fn used_so_far(docker: &Docker, name: &str) -> ResourceUsage {
    let options = StatsOptionsBuilder::default()
        .stream(false)
        .one_shot(true)
        .build();
    let mut stream = Box::pin(docker.stats(name, Some(options)));
    let answer = tokio::time::timeout(Duration::from_secs(5), stream.next()).await;
    let Ok(Some(Ok(stats))) = answer else {
        return ResourceUsage::default();
    };
    let cpu = stats.cpu_stats.and_then(|cpu| cpu.cpu_usage?.total_usage);
    let memory = stats.memory_stats.and_then(|memory| memory.max_usage);
    ResourceUsage {
        peak_memory_bytes: memory.filter(|peak| *peak > 0),
        cpu_seconds: cpu.filter(|used| *used > 0).map(usage::seconds),
    }
}
