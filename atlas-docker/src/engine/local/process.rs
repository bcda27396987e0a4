//! Starting, watching and ending the processes of a job.

use atlas_core::{Error, ErrorKind, Limits};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

/// Variable that marks every process of a job, for those that leave its process group.
pub(super) const MARK: &str = "ATLAS_JOB";

type Request = (
    Command,
    Handle,
    tokio::sync::oneshot::Sender<std::io::Result<Child>>,
);

/// Starts a process from a thread that lives as long as this program.
///
/// "Die with the parent" means: with the *thread* that made the process. A runtime's threads come
/// and go, and a job must not die because the thread that happened to start it was retired.
pub(super) async fn spawn(command: Command) -> Result<Child, Error> {
    static STARTER: OnceLock<Sender<Request>> = OnceLock::new();
    let starter = STARTER.get_or_init(|| {
        let (sender, receiver) = channel::<Request>();
        let work = move || {
            for (mut command, runtime, answer) in receiver {
                let _inside = runtime.enter();
                // Nobody waits any more: dropping the child kills it.
                drop(answer.send(command.spawn()));
            }
        };
        let started = std::thread::Builder::new()
            .name("atlas-starter".to_owned())
            .spawn(work);
        if let Err(why) = started {
            tracing::debug!(cause = %why, "no thread to start processes");
        }
        sender
    });
    let program = format!("`{}`", command.as_std().get_program().to_string_lossy());
    let (answer, child) = tokio::sync::oneshot::channel();
    let failed = || Error::new(ErrorKind::ToolFailed, "start", program.clone());
    starter
        .send((command, Handle::current(), answer))
        .map_err(|_| failed())?;
    child
        .await
        .map_err(|_| failed())?
        .map_err(|why| failed().with_source(why))
}

/// A command in a process group of its own, with an empty environment and no input.
pub(super) fn command(line: &[std::ffi::OsString]) -> Command {
    let mut command = Command::new(&line[0]);
    command
        .args(&line[1..])
        .env_clear()
        .stdin(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Kills one process; one that is gone is fine.
pub(super) fn kill(pid: i32) {
    if let Some(pid) = Pid::from_raw(pid).filter(|pid| !pid.is_init()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Kills a process group, and everything that carries the job's mark.
pub(super) fn end(group: Option<u32>, mark: &str) {
    if let Some(group) = group
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(Pid::from_raw)
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    end_marked(mark);
}

/// Kills every process that carries the mark, until a look around finds none.
///
/// A process that replaces its whole environment escapes this; behind bubblewrap or in a control
/// group it does not.
pub(super) fn end_marked(mark: &str) {
    for _ in 0..100 {
        let marked: Vec<_> = pids().filter(|pid| is_marked(*pid, mark)).collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            kill(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_marked(pid: i32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| {
        text.split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    })
}

fn pids() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Which limit a job ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    Memory,
    Processes,
}

/// Watches a tree of processes five times a second, where the kernel is not asked to; returns
/// when it reaches a limit.
pub(super) async fn watch(root: u32, mark: &str, limits: &Limits) -> Reached {
    loop {
        let (root, mark) = (i32::try_from(root).unwrap_or(0), mark.to_owned());
        let look = tokio::task::spawn_blocking(move || usage(root, &mark)).await;
        if let Ok((memory, threads)) = look {
            if memory > limits.memory_bytes {
                return Reached::Memory;
            }
            if threads > limits.processes {
                return Reached::Processes;
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Resident memory and threads of a process, its descendants and everything marked.
fn usage(root: i32, mark: &str) -> (u64, u64) {
    let page = rustix::param::page_size() as u64;
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    let mut sizes = BTreeMap::new();
    let mut waiting = vec![root];
    for pid in pids() {
        let Some((parent, threads, pages)) = stat(pid) else {
            continue;
        };
        children.entry(parent).or_default().push(pid);
        sizes.insert(pid, (pages * page, threads));
        // Daemons hang below the first process of the machine.
        if parent == 1 && is_marked(pid, mark) {
            waiting.push(pid);
        }
    }
    let mut seen = BTreeSet::new();
    let (mut memory, mut threads) = (0, 0);
    while let Some(pid) = waiting.pop() {
        if !seen.insert(pid) {
            continue;
        }
        if let Some((bytes, count)) = sizes.get(&pid) {
            memory += bytes;
            threads += count;
        }
        waiting.extend(children.get(&pid).into_iter().flatten());
    }
    (memory, threads)
}

/// Parent, threads and resident pages of a process.
fn stat(pid: i32) -> Option<(i32, u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Some((
        fields.get(1)?.parse().ok()?,
        fields.get(17)?.parse().ok()?,
        fields.get(21)?.parse().ok()?,
    ))
}

/// A started job; dropped before its end, everything of it is killed by a thread, since dropping
/// must not block.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) child: Child,
    group: Option<u32>,
    mark: String,
    ended: bool,
}

impl Running {
    pub(super) async fn start(command: Command, mark: &str) -> Result<Self, Error> {
        let child = spawn(command).await?;
        Ok(Self {
            group: child.id(),
            child,
            mark: mark.to_owned(),
            ended: false,
        })
    }

    /// The first process.
    pub(super) fn id(&self) -> u32 {
        self.group.unwrap_or(0)
    }

    /// Kills whatever is left and reaps the first process.
    pub(super) async fn finish(&mut self) {
        let (group, mark) = (self.group, self.mark.clone());
        let _ = tokio::task::spawn_blocking(move || end(group, &mark)).await;
        let _ = self.child.wait().await;
        self.ended = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let (group, mark) = (self.group, std::mem::take(&mut self.mark));
            let _ = std::thread::Builder::new()
                .name("atlas-reaper".to_owned())
                .spawn(move || end(group, &mark));
        }
    }
}

/// A process's end as shells report it.
pub(super) fn exit_code(status: std::process::ExitStatus) -> i64 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => i64::from(code),
        (None, Some(signal)) => 128 + i64::from(signal),
        (None, None) => -1,
    }
}
