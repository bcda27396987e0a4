//! A sandbox of your own under the shipped oracle and a shipped parser.
//!
//! `BashSandbox` runs each job as a plain `bash` in a temporary copy of a folder. It keeps nothing
//! apart from this machine and says so; use such a thing for code that you trust.
//!
//! ```text
//! cargo run -p atlas-examples --bin own_sandbox
//! ```

use async_trait::async_trait;
use atlas_core::{
    Environment, EnvironmentLock, EnvironmentPlan, Error, ErrorKind, ExitState, FileContent,
    FileMode, ImageRef, Isolation, Job, JobResult, Network, Oracle, OracleReport, OracleTask,
    Overlay, Patch, ResourceUsage, RunContext, Sandbox, SandboxInfo,
};
use atlas_docker::Places;
use atlas_oracle::StateDifferentialOracle;
use atlas_parsers::Parsers;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Plain `bash` in a temporary copy of the folder that the environment names.
#[derive(Clone, Copy, Debug)]
struct BashSandbox;

#[async_trait]
impl Sandbox for BashSandbox {
    fn info(&self) -> SandboxInfo {
        SandboxInfo {
            engine: "bash".to_owned(),
            version: "1".to_owned(),
        }
    }

    async fn run(
        &self,
        cx: &RunContext,
        environment: &Environment,
        job: &Job,
    ) -> Result<JobResult, Error> {
        cx.check("run job")?;
        let ImageRef::Other { name } = &environment.image else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "run job in",
                "another sandbox's image",
            ));
        };
        let clock = Instant::now();
        // Dropped with everything in it when this function returns, however it does.
        let fresh = tempfile::tempdir().map_err(|why| Error::io("make", Path::new("tmp"), why))?;
        let folders = Folders::lay_out(fresh.path(), Path::new(name), (environment, job))?;

        let started = Instant::now();
        let mut child = tokio::process::Command::new("bash")
            .arg(&folders.script)
            .current_dir(&folders.repo)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| Error::new(ErrorKind::ToolFailed, "start", "`bash`").with_source(why))?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let stdout = child.stdout.take().expect("it was asked to be piped");
        let reader = tokio::spawn(drain(stdout, job.limits.output_bytes));

        let ended = tokio::select! {
            status = child.wait() => Some(status),
            () = tokio::time::sleep(job.limits.wall()) => None,
            () = cx.cancel.cancelled() => None,
        };
        // Also after a script that ended by itself: what it left running would hold the output.
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let io = |why: std::io::Error| Error::io("run job in", &folders.repo, why);
        let exit = if let Some(status) = ended {
            ExitState::Exited {
                code: exit_code(status.map_err(io)?),
            }
        } else {
            child.wait().await.map_err(io)?;
            ExitState::TimedOut
        };
        let (output, output_total) = tokio::time::timeout(Duration::from_secs(10), reader)
            .await
            .map_err(|_| {
                Error::new(
                    ErrorKind::ToolFailed,
                    "end job: a process left",
                    "its group",
                )
            })?
            .map_err(|why| Error::new(ErrorKind::Internal, "read output", "").with_source(why))?
            .map_err(io)?;
        cx.check("run job")?;
        let seconds = started.elapsed().as_secs_f64();
        let files = folders.collect(&job.collect)?;
        Ok(JobResult {
            exit,
            output,
            output_total,
            files,
            seconds,
            overhead_seconds: clock.elapsed().as_secs_f64() - seconds,
            usage: ResourceUsage::default(),
            isolation: isolation(job.network),
        })
    }
}

/// What this sandbox does not do, in words: a reader of a verdict must be able to weigh it.
fn isolation(network: Network) -> Isolation {
    let mut missing = vec![
        "the script can read and write whatever its user can".to_owned(),
        "the script sees the processes of its user".to_owned(),
        "memory, cores, processes and file sizes are not limited".to_owned(),
        "a process that leaves its process group lives on".to_owned(),
    ];
    if network == Network::None {
        missing.push("the network is not off".to_owned());
    }
    Isolation {
        kind: "process".to_owned(),
        limits: vec!["seconds".to_owned(), "output".to_owned()],
        missing,
        ..Isolation::default()
    }
}

/// One job's folders.
struct Folders {
    repo: PathBuf,
    given: PathBuf,
    made: PathBuf,
    script: PathBuf,
}

impl Folders {
    fn lay_out(
        fresh: &Path,
        prepared: &Path,
        (environment, job): (&Environment, &Job),
    ) -> Result<Self, Error> {
        let this = Self {
            repo: fresh.join("repo"),
            given: fresh.join("in"),
            made: fresh.join("out"),
            script: fresh.join("job.sh"),
        };
        let io = |why| Error::io("lay out", fresh, why);
        copy_folder(prepared, &this.repo).map_err(io)?;
        fs::create_dir(&this.given).map_err(io)?;
        fs::create_dir(&this.made).map_err(io)?;
        for path in &job.overlay.remove {
            let path = this.repo.join(path);
            if path.symlink_metadata().is_ok() {
                fs::remove_file(&path).map_err(io)?;
            }
        }
        for (path, content) in &job.overlay.write {
            write(&this.repo.join(path), content).map_err(io)?;
        }
        for file in &job.files {
            fs::write(this.given.join(&file.name), &file.bytes).map_err(io)?;
        }
        let place = |name: &str| -> Result<String, Error> {
            let folder = fresh.join(name);
            fs::create_dir_all(&folder).map_err(io)?;
            Ok(folder.display().to_string())
        };
        let places = Places {
            repo: place("repo")?,
            env: place("env")?,
            cache: place("cache")?,
            input: place("in")?,
            output: place("out")?,
            home: place("home")?,
        };
        let laid: Vec<String> = job.overlay.write.keys().cloned().collect();
        let variables = [&environment.plan.env, &job.env];
        let prelude = places.prelude(&variables, &laid)?;
        let script = format!("exec 2>&1\n{prelude}{}", job.script);
        fs::write(&this.script, script).map_err(io)?;
        Ok(this)
    }

    fn collect(&self, names: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut files = BTreeMap::new();
        for name in names {
            let path = self.made.join(name);
            if path.is_file() {
                let bytes = fs::read(&path).map_err(|why| Error::io("read", &path, why))?;
                files.insert(name.clone(), bytes);
            }
        }
        Ok(files)
    }
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        let kind = entry.symlink_metadata()?.file_type();
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&entry)?, &target)?;
        } else if kind.is_dir() {
            copy_folder(&entry, &target)?;
        } else {
            fs::copy(&entry, &target)?;
        }
    }
    Ok(())
}

fn write(path: &Path, content: &FileContent) -> std::io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    if path.symlink_metadata().is_ok() {
        fs::remove_file(path)?;
    }
    if content.mode == FileMode::Symlink {
        return std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(&content.bytes), path);
    }
    fs::write(path, &content.bytes)?;
    let mode = if content.mode == FileMode::Executable {
        0o755
    } else {
        0o644
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Reads a stream to its end, keeps the first `limit` bytes and counts all.
async fn drain(mut stream: impl AsyncRead + Unpin, limit: u64) -> std::io::Result<(Vec<u8>, u64)> {
    let (mut kept, mut total, mut piece) = (Vec::new(), 0_u64, vec![0; 64 << 10]);
    loop {
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Ok((kept, total));
        }
        total += read as u64;
        let room = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..read.min(room)]);
    }
}

fn exit_code(status: std::process::ExitStatus) -> i64 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal().map_or(0, |signal| 128 + signal);
    i64::from(status.code().unwrap_or(signal))
}

const BROKEN: &str = "def add(a, b):\n    return a - b\n";
const FIXED: &str = "def add(a, b):\n    return a + b\n";
const OLD_TESTS: &str = "import unittest\nimport calc\n\n\nclass Add(unittest.TestCase):\n    \
                         def test_zero(self):\n        self.assertEqual(calc.add(3, 0), 3)\n";
const NEW_TEST: &str = "\n    def test_two(self):\n        self.assertEqual(calc.add(2, 2), 4)\n";

fn regular(text: impl Into<String>) -> FileContent {
    FileContent {
        mode: FileMode::Regular,
        bytes: text.into().into_bytes(),
    }
}

/// A repository with a bug, as an environment of this sandbox.
fn environment(folder: &Path) -> std::io::Result<Environment> {
    fs::write(folder.join("calc.py"), BROKEN)?;
    fs::write(folder.join("test_calc.py"), OLD_TESTS)?;
    let plan = EnvironmentPlan {
        test_cmd: "python3 -m unittest -v".to_owned(),
        log_parser_name: "unittest".to_owned(),
        env: [("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())].into(),
        ..EnvironmentPlan::default()
    };
    Ok(Environment {
        plan,
        dockerfile: String::new(),
        image: ImageRef::Other {
            name: folder.display().to_string(),
        },
        lock: EnvironmentLock::default(),
        attempts: Vec::new(),
    })
}

/// The pull request: a test that shows the bug, and its fix.
fn task() -> OracleTask {
    let tests = (
        "test_calc.py".to_owned(),
        regular(format!("{OLD_TESTS}{NEW_TEST}")),
    );
    let fix = ("calc.py".to_owned(), regular(FIXED));
    let overlay = |files: &[(String, FileContent)]| Overlay {
        write: files.iter().cloned().collect(),
        ..Overlay::default()
    };
    OracleTask {
        instance_id: "example__calc-1".parse().expect("a valid name"),
        test_patch: Patch::default(),
        gold_patch: Patch::default(),
        before: overlay(std::slice::from_ref(&tests)),
        after: overlay(&[tests, fix]),
        modified_tests: Vec::new(),
        conditions: BTreeMap::new(),
    }
}

async fn verdict(environment: &Environment) -> Result<OracleReport, Box<dyn std::error::Error>> {
    let parser = Parsers::builtin().get(&environment.plan.log_parser_name)?;
    let oracle = StateDifferentialOracle::new(Arc::new(BashSandbox), parser);
    Ok(oracle
        .judge(&RunContext::new("example"), environment, &task())
        .await?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let environment = environment(folder.path())?;
    // What every sandbox promises; it panics with a sentence where a promise is broken.
    atlas_core::testing::sandbox_contract(&BashSandbox, &environment).await;
    let report = verdict(&environment).await?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "the sandbox keeps its contract")?;
    writeln!(out, "{:?}: {}", report.outcome, report.reason)?;
    writeln!(out, "FAIL_TO_PASS {:?}", report.fail_to_pass)?;
    writeln!(out, "PASS_TO_PASS {:?}", report.pass_to_pass)?;
    for (state, run) in &report.states {
        writeln!(
            out,
            "{state} ran as {}; {}",
            run.isolation.kind,
            run.isolation.missing.join("; ")
        )?;
    }
    Ok(())
}
