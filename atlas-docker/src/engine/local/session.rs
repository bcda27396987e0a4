//! A work folder that stays open.

use super::launch::Launch;
use super::process::{Running, end, exit_code, watch};
use super::sandbox::{LocalSandbox, lay_out};
use super::store::{Finished, Store};
use super::walls::Real;
use super::workspace::Workspace;
use super::{blocking, files};
use crate::engine::is_plain_relative;
use crate::engine::local::cgroup::Groups;
use crate::engine::shell::{Answer, SCRIPT, Shell};
use async_trait::async_trait;
use atlas_core::{
    Changed, Environment, Error, ErrorKind, ExitState, FileContent, FileMode, Isolation, Job,
    Network, Overlay, RunContext, Session, Step, StepResult,
};
use futures_util::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;
use tokio::io::AsyncReadExt;
use tokio::task::JoinHandle;

/// One copy of an environment and the shell in it.
#[derive(Debug)]
pub(super) struct LocalSession {
    sandbox: LocalSandbox,
    // In this order: processes end before their folder goes.
    running: Running,
    guard: Guard,
    workspace: Workspace,
    shell: Shell,
    isolation: Isolation,
    environment: Environment,
    job: Job,
    store: Store,
    finished: Finished,
    real: Real,
    opened: Instant,
}

/// A task that ends the session at its limits.
#[derive(Debug)]
struct Guard(JoinHandle<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a session begins with.
pub(super) enum From<'a> {
    /// The environment as it was built.
    Built,
    /// The folders of another session.
    Session(&'a Real),
}

impl LocalSession {
    pub(super) async fn open(
        sandbox: &LocalSandbox,
        cx: &RunContext,
        (environment, job): (&Environment, &Job),
        (store, finished): (Store, Finished),
        from: From<'_>,
    ) -> Result<Self, Error> {
        let engine = sandbox.engine();
        let mut workspace = Workspace::make(engine.root(), &job.limits)?;
        let real = match from {
            From::Built if engine.is_walled() => workspace.copy(&store).await?,
            From::Built => workspace.swap(cx, &store, job.limits.wall()).await?,
            From::Session(real) => workspace.copy_of(real).await?,
        };
        lay_out(&real, job).await?;
        let launch = Launch {
            engine,
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
            script: SCRIPT,
        };
        let mut command = launch.command()?;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut running = Running::start(command, workspace.name()).await?;
        let (Some(input), Some(output)) = (running.child.stdin.take(), running.child.stdout.take())
        else {
            return Err(Error::new(ErrorKind::Internal, "open", "a shell's pipes"));
        };
        let output = futures_util::stream::unfold(output, |mut output| async {
            let mut piece = vec![0; 1 << 16];
            match output.read(&mut piece).await {
                Ok(count @ 1..) => {
                    piece.truncate(count);
                    Some((Ok(piece), output))
                }
                _ => None,
            }
        });
        let (root, mark, limits) = (
            running.id(),
            workspace.name().to_owned(),
            job.limits.clone(),
        );
        let is_watched = workspace.groups().is_none();
        let guard = tokio::spawn(async move {
            let reached = async {
                if is_watched {
                    watch(root, &mark, &limits).await;
                } else {
                    std::future::pending::<()>().await;
                }
            };
            tokio::select! {
                () = tokio::time::sleep(limits.wall()) => {}
                () = reached => {}
            }
            let _ = tokio::task::spawn_blocking(move || end(Some(root), &mark)).await;
        });
        Ok(Self {
            sandbox: sandbox.clone(),
            isolation: sandbox.isolation(job, workspace.groups()),
            running,
            guard: Guard(guard),
            workspace,
            shell: Shell::new(Box::pin(input), output.boxed()),
            environment: environment.clone(),
            job: job.clone(),
            store,
            finished,
            real,
            opened: Instant::now(),
        })
    }

    /// What became of a shell that is gone.
    async fn end(&mut self, said: &[u8]) -> Result<ExitState, Error> {
        if !Launch::began(&self.real) {
            return Err(Error::new(
                ErrorKind::EngineFailed,
                "start a session in the local engine",
                String::from_utf8_lossy(said).trim().to_owned(),
            ));
        }
        if self.opened.elapsed() >= self.job.limits.wall() {
            return Ok(ExitState::TimedOut);
        }
        if self
            .workspace
            .groups()
            .is_some_and(Groups::ran_out_of_memory)
        {
            return Ok(ExitState::OutOfMemory);
        }
        self.running.finish().await;
        let status = self.running.child.wait().await;
        Ok(ExitState::Exited {
            code: status.map_or(137, exit_code),
        })
    }
}

#[async_trait]
impl Session for LocalSession {
    fn isolation(&self) -> Isolation {
        self.isolation.clone()
    }

    async fn step(&mut self, cx: &RunContext, step: &Step) -> Result<StepResult, Error> {
        let left = self.job.limits.wall().saturating_sub(self.opened.elapsed());
        match self.shell.step(cx, step, left).await? {
            Answer::Done(result) => Ok(result),
            Answer::Over(silence) => {
                let exit = self.end(&silence.said).await?;
                self.running.finish().await;
                Ok(silence.result(exit))
            }
        }
    }

    async fn changed(&mut self, _: &RunContext) -> Result<Changed, Error> {
        let base = if self.sandbox.engine().is_walled() {
            self.store.live()
        } else {
            self.store.pristine()
        };
        let (before, now) = (base.join("testbed"), self.real.repo.clone());
        blocking("compare a session's files", move || {
            let mut changed = Changed::default();
            let (before, now) = (entries(&before)?, entries(&now)?);
            for (path, is) in &now {
                let was = before.get(path);
                if was != Some(is) {
                    changed.written.insert(path.clone());
                }
                if was.is_none() {
                    changed.new.insert(path.clone());
                }
            }
            changed.removed = before
                .into_keys()
                .filter(|path| !now.contains_key(path))
                .collect();
            Ok(changed)
        })
        .await
    }

    async fn read(
        &mut self,
        _: &RunContext,
        paths: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, FileContent>, Error> {
        if let Some(path) = paths.iter().find(|path| !is_plain_relative(path)) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read file of a session",
                format!("`{path}`: a path below the repository is expected"),
            ));
        }
        let (root, paths) = (self.real.repo.clone(), paths.clone());
        blocking("read a session's files", move || {
            let mut read = BTreeMap::new();
            for path in paths {
                if let Some(content) = content(&root, &path)? {
                    read.insert(path, content);
                }
            }
            Ok(read)
        })
        .await
    }

    async fn fork(&mut self, cx: &RunContext) -> Result<Box<dyn Session>, Error> {
        cx.check("fork a session")?;
        if !self.sandbox.engine().is_walled() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "fork a session",
                "without bubblewrap two sessions of one environment cannot be open at once",
            ));
        }
        let job = Job {
            overlay: Overlay::default(),
            ..self.job.clone()
        };
        // Processes in the background may remove a file while it is copied.
        let mut tries = 0;
        loop {
            let built = (self.store.clone(), self.finished.clone());
            let of = (&self.environment, &job);
            match Self::open(&self.sandbox, cx, of, built, From::Session(&self.real)).await {
                Ok(forked) => return Ok(Box::new(forked)),
                Err(why) if why.kind() == ErrorKind::Io && tries < 3 => tries += 1,
                Err(why) => return Err(why),
            }
        }
    }

    async fn close(mut self: Box<Self>) -> Result<(), Error> {
        self.guard.0.abort();
        self.running.finish().await;
        let Self { workspace, .. } = *self;
        blocking("clean up", move || workspace.clean()).await
    }
}

/// What the file system tells of a file without opening it; two files that agree in all of it count as the same.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    size: u64,
    mode: u32,
    modified: (i64, i64),
    target: Option<PathBuf>,
}

/// Files and links below a repository and outside its `.git`, and their folders nowhere. Folders that may not
/// be read are as good as empty.
fn entries(root: &Path) -> Result<BTreeMap<String, Entry>, Error> {
    let mut found = BTreeMap::new();
    let walk = walkdir::WalkDir::new(root)
        .into_iter()
        .filter_entry(|entry| entry.depth() != 1 || entry.file_name() != ".git");
    for entry in walk.flatten().filter(|entry| !entry.file_type().is_dir()) {
        let path = entry.path();
        let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) else {
            continue;
        };
        let meta = fs::symlink_metadata(path).map_err(|why| Error::io("look at", path, why))?;
        let target = meta
            .is_symlink()
            .then(|| fs::read_link(path).ok())
            .flatten();
        found.insert(
            name.to_owned(),
            Entry {
                size: meta.len(),
                mode: meta.mode(),
                // The copy of a link has a time of its own.
                modified: if meta.is_symlink() {
                    (0, 0)
                } else {
                    (meta.mtime(), meta.mtime_nsec())
                },
                target,
            },
        );
    }
    Ok(found)
}

/// One file, through no link that leads to it.
fn content(root: &Path, path: &str) -> Result<Option<FileContent>, Error> {
    /// Larger files are no sources.
    const MOST: u64 = 64 << 20;
    let Some(place) = files::real_parent(root, path) else {
        return Ok(None);
    };
    let Ok(meta) = fs::symlink_metadata(&place) else {
        return Ok(None);
    };
    let failed = |why| Error::io("read", &place, why);
    if meta.is_symlink() {
        let target = fs::read_link(&place).map_err(failed)?;
        return Ok(Some(FileContent {
            mode: FileMode::Symlink,
            bytes: target.into_os_string().into_vec(),
        }));
    }
    if !meta.is_file() {
        return Ok(None);
    }
    if meta.len() > MOST {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "read file of a session",
            format!("`{path}`: larger than {MOST} bytes"),
        ));
    }
    let bytes = fs::read(&place).map_err(failed)?;
    let mode = if meta.permissions().mode() & 0o100 == 0 {
        FileMode::Regular
    } else {
        FileMode::Executable
    };
    Ok(Some(FileContent { mode, bytes }))
}
