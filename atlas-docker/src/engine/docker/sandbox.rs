//! One container per job.

use super::collect::{collect, exists};
use super::container::{Container, remove, remove_given_up};
use super::context::USER;
use super::{DockerEngine, JOB_LABEL, OWNER_LABEL, RUN_LABEL, disk_full, fault};
use crate::engine::capture::{Head, UpTo};
use crate::engine::owner::Owner;
use crate::engine::prelude::{OWN_FOLDER, Places, single_quoted};
use crate::engine::{check_job, usage};
use async_trait::async_trait;
use atlas_core::{
    Environment, Error, ErrorKind, ExitState, FileMode, ImageRef, Isolation, Job, JobResult,
    JobUser, Network, ResourceUsage, RunContext, Sandbox, SandboxInfo,
};
use bollard::Docker;
use bollard::errors::Error as Fault;
use bollard::models::{ContainerCreateBody, HostConfig, HostConfigLogConfig, ResourcesUlimits};
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, InspectContainerOptions,
    KillContainerOptionsBuilder, StartContainerOptions, StatsOptionsBuilder,
    UploadToContainerOptionsBuilder, WaitContainerOptionsBuilder,
};
use futures_util::StreamExt;
use rustix::process::Resource;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tar::{EntryType, Header};
use tokio::io::AsyncWriteExt as _;

/// With less than this free, a failed run tells nothing.
const FULL_BYTES: u64 = 4 << 20;

/// Where a container of Podman notes that its memory limit killed something.
const OOM_NOTE: &str = "/opt/atlas/out/.atlas-out-of-memory";

/// Runs each job in a fresh container of the environment's image.
///
/// A container ends in four ways, one behind the other: `run` removes it when it returns; a
/// dropped `run` hands it to a thread that removes it; [`DockerEngine::sweep`] at the next start
/// removes what a killed process left; and its own main process ends shortly after the time limit.
#[derive(Clone, Debug)]
pub struct DockerSandbox {
    engine: DockerEngine,
}

impl DockerSandbox {
    /// A sandbox on this engine.
    pub fn new(engine: DockerEngine) -> Self {
        Self { engine }
    }

    fn isolation(&self, job: &Job) -> Isolation {
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

    fn body(&self, cx: &RunContext, image: &str, job: &Job) -> ContainerCreateBody {
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
        let script = format!("/opt/atlas/in/{OWN_FOLDER}/run.sh");
        ContainerCreateBody {
            image: Some(image.to_owned()),
            user: Some(format!("{user}:{user}")),
            // Last line of defence: it ends by itself where nobody is left to kill it.
            entrypoint: Some(
                ["timeout", "-s", "KILL"]
                    .map(str::to_owned)
                    .into_iter()
                    .chain([(limits.seconds.saturating_add(30)).to_string()])
                    .collect(),
            ),
            cmd: Some(vec!["bash".to_owned(), script]),
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

    async fn within(&self, name: &str, archive: Vec<u8>, job: &Job) -> Result<JobResult, Error> {
        let docker = self.engine.docker();
        let failed = |operation: &'static str| move |why| fault(operation, name, why);
        let upload = UploadToContainerOptionsBuilder::default().path("/").build();
        let attach = AttachContainerOptionsBuilder::default()
            .stream(true)
            .stdin(!self.engine.is_podman())
            .stdout(true)
            .stderr(true)
            .build();
        let (uploaded, attached) = tokio::join!(
            docker.upload_to_container(name, Some(upload), bollard::body_full(archive.into())),
            docker.attach_container(name, Some(attach)),
        );
        uploaded.map_err(failed("lay out files in container"))?;
        let attached = attached.map_err(failed("attach to container"))?;
        let (mut console, mut input) = (attached.output, attached.input);
        docker
            .start_container(name, None::<StartContainerOptions>)
            .await
            .map_err(failed("start container"))?;

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
    async fn exit(&self, name: &str, code: i64) -> Result<ExitState, Error> {
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
        let name = Owner::current().unique_name();
        let archive = layout(environment, job, &name, self.engine.is_podman())?;
        let mut container = Container {
            name: Some(name.clone()),
            host: self.engine.options().host.clone(),
        };
        let named = CreateContainerOptionsBuilder::default().name(&name).build();
        let created = self
            .engine
            .docker()
            .create_container(Some(named), self.body(cx, image, job))
            .await;
        if let Err(why) = created {
            // After a call that broke off the engine may still make it: left to the thread then.
            if matches!(why, Fault::DockerResponseServerError { .. }) {
                container.name = None;
            }
            return Err(not_created(image, why));
        }
        let result = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Err(Error::new(ErrorKind::Cancelled, "run", format!("`{}`", job.label)))
            }
            result = self.within(&name, archive, job) => result,
        };
        let removed = remove(self.engine.docker(), &name).await;
        if removed.is_ok() {
            container.name = None;
        }
        let mut result = result?;
        removed.map_err(|why| fault("remove container", &name, why))?;
        result.overhead_seconds = (begun.elapsed().as_secs_f64() - result.seconds).max(0.0);
        Ok(result)
    }
}

fn not_created(image: &str, why: Fault) -> Error {
    let way = match &why {
        Fault::DockerResponseServerError {
            status_code: 404, ..
        } => "the image is gone: the same command builds it again",
        Fault::DockerResponseServerError { message, .. }
            if message.contains("container-init binary not found") =>
        {
            "the engine has no init program: install Debian's package `catatonit`"
        }
        _ => return fault("create container of", image, why),
    };
    let kind = match &why {
        Fault::DockerResponseServerError {
            status_code: 404, ..
        } => ErrorKind::NotFound,
        _ => ErrorKind::EngineFailed,
    };
    Error::new(kind, "create container of", format!("`{image}`: {way}")).with_source(why)
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

/// What is put into the container before it starts: the state's files, the job's files, the script.
///
/// With `is_podman` the container itself notes a process lost to the memory limit, which that engine
/// misses, and ends without waiting for its reader, whom that engine waits for.
fn layout(
    environment: &Environment,
    job: &Job,
    name: &str,
    is_podman: bool,
) -> Result<Vec<u8>, Error> {
    let mut places = Places::container();
    if job.user != JobUser::Tests {
        "/root".clone_into(&mut places.home);
    }
    let exports = places.exports(&[&environment.plan.env, &job.env])?;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let mut archive = Archive {
        tar: tar::Builder::new(Vec::new()),
        now,
        folders: BTreeSet::new(),
        owner: uid(job.user),
    };
    let own = format!("opt/atlas/in/{OWN_FOLDER}");
    let write = |archive: &mut Archive| -> std::io::Result<Vec<u8>> {
        archive.folder("opt/atlas/in")?;
        archive.folder("opt/atlas/out")?;
        for (path, content) in &job.overlay.write {
            // Folders are named one by one: the engine would make them as root, and a symbolic
            // link or a file in the place of a folder gives way to it.
            for (at, _) in path.match_indices('/') {
                archive.folder(&format!("testbed/{}", &path[..at]))?;
            }
            let path = format!("testbed/{path}");
            match content.mode {
                FileMode::Regular => archive.file(&path, 0o644, &content.bytes)?,
                FileMode::Executable => archive.file(&path, 0o755, &content.bytes)?,
                FileMode::Symlink => archive.link(&path, &content.bytes)?,
            }
        }
        for file in &job.files {
            let path = format!("opt/atlas/in/{}", file.name);
            archive.file(&path, 0o644, &file.bytes)?;
        }
        // Writing came first, so what was written stays: neither it nor a folder above it goes.
        let stays = |gone: &str| {
            let below = format!("{gone}/");
            job.overlay
                .write
                .range(gone.to_owned()..)
                .take_while(|(path, _)| path.starts_with(gone))
                .any(|(path, _)| path == gone || path.starts_with(&below))
        };
        let mut gone: Vec<u8> = Vec::new();
        for path in job.overlay.remove.iter().filter(|path| !stays(path)) {
            gone.extend_from_slice(path.as_bytes());
            gone.push(0);
        }
        // What runs the job belongs to another user than the job: it can be read, not rewritten.
        archive.owner = if job.user == JobUser::Tests { 0 } else { USER };
        archive.folder(&own)?;
        archive.file(&format!("{own}/remove"), 0o644, &gone)?;
        archive.file(&format!("{own}/script.sh"), 0o644, job.script.as_bytes())?;
        let run = run_script(&places, &exports, !gone.is_empty(), name, is_podman);
        archive.file(&format!("{own}/run.sh"), 0o644, run.as_bytes())?;
        archive.tar.finish()?;
        Ok(std::mem::take(archive.tar.get_mut()))
    };
    write(&mut archive).map_err(|why| {
        Error::new(
            ErrorKind::InvalidInput,
            "lay out job",
            format!("`{}`", job.label),
        )
        .with_source(why)
    })
}

/// The number of a job's user. Environments of Atlas belong to [`USER`], those of others to root.
fn uid(user: JobUser) -> u64 {
    match user {
        JobUser::Tests => USER,
        JobUser::BareRoot | JobUser::Root => 0,
    }
}

/// What a container prints when its job is done.
fn end_mark(name: &str) -> String {
    format!("\u{1}atlas: the end of {name}\n")
}

/// Seconds that a container whose job is done waits to be told that all it printed was read.
const READ_SECONDS: u32 = 300;

/// One pipe for both streams keeps the order in which they were written.
///
/// Docker waits two seconds for its readers once a container has ended and then drops what is on its
/// way, so the container ends when it is told on its standard input that its last line was read.
fn run_script(
    places: &Places,
    exports: &str,
    removes: bool,
    name: &str,
    is_podman: bool,
) -> String {
    let repo = single_quoted(&places.repo);
    let own = format!("{}/{OWN_FOLDER}", places.input);
    let removal = if removes {
        format!("while IFS= read -r -d '' path; do rm -rf -- \"$path\"; done <'{own}/remove'\n")
    } else {
        String::new()
    };
    let (open, ending) = if is_podman {
        // Files of control groups, version 1 and 2.
        let note = format!(
            "test $code = 0 || ! grep -qs '^oom_kill [1-9]' \
             /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events || \
             : > {OOM_NOTE}\n"
        );
        ("exec 9</dev/null", note)
    } else {
        let mark = end_mark(name);
        let mark = mark.trim_start_matches('\u{1}').trim_end();
        let wait = format!(
            "{}printf '\\001%s\\n%s\\n' '{mark}' \"$used\"\nread -r -t {READ_SECONDS} -u 9 _\n",
            usage::measure()
        );
        ("exec 9<&0", wait)
    };
    format!(
        "{open} 2>&1 </dev/null\n{exports}cd -- {repo} || exit 125\n{removal}\
         bash '{own}/script.sh' 9<&-\ncode=$?\n{ending}exit $code\n"
    )
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

struct Archive {
    tar: tar::Builder<Vec<u8>>,
    now: u64,
    folders: BTreeSet<String>,
    owner: u64,
}

impl Archive {
    /// Files are as new as the job, so that tools which compare times see them as changed.
    fn header(&self, kind: EntryType, mode: u32, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(self.owner);
        header.set_gid(self.owner);
        header.set_mtime(self.now);
        header.set_size(size as u64);
        header
    }

    fn folder(&mut self, path: &str) -> std::io::Result<()> {
        if !self.folders.insert(path.to_owned()) {
            return Ok(());
        }
        let mut header = self.header(EntryType::Directory, 0o755, 0);
        self.tar.append_data(&mut header, path, std::io::empty())
    }

    fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) -> std::io::Result<()> {
        let mut header = self.header(EntryType::Regular, mode, bytes.len());
        self.tar.append_data(&mut header, path, bytes)
    }

    fn link(&mut self, path: &str, target: &[u8]) -> std::io::Result<()> {
        use std::os::unix::ffi::OsStrExt;
        let mut header = self.header(EntryType::Symlink, 0o777, 0);
        let target = std::path::Path::new(std::ffi::OsStr::from_bytes(target));
        self.tar.append_link(&mut header, path, target)
    }
}
