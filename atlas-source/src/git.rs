//! Running git: one environment for every call, nothing taken from the user's configuration.

use atlas_core::{CommitSha, Error, ErrorKind};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// Variables through which a caller's shell (or a git hook that started us) could redirect git.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_ATTR_SOURCE",
    "GIT_ATTR_GLOBAL",
    "GIT_ATTR_SYSTEM",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_TRACE",
    "GIT_TRACE_SETUP",
    "GIT_TEMPLATE_DIR",
    "GIT_DEFAULT_HASH",
];

const SETTINGS: &[&str] = &[
    "core.quotepath=true",
    "core.autocrlf=false",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.logAllRefUpdates=false",
    "diff.renames=true",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "log.showSignature=false",
    "safe.directory=*",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "advice.addEmbeddedRepo=false",
    "advice.detachedHead=false",
];

/// What a program printed and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) success: bool,
    /// Absent if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Output {
    pub(crate) fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }

    /// Standard output as one line of text.
    pub(crate) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }
}

/// One call of git (or of `patch`), built step by step.
#[derive(Debug)]
pub(crate) struct Call {
    program: &'static str,
    args: Vec<OsString>,
    settings: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    folder: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
}

impl Call {
    pub(crate) fn git() -> Self {
        Self::program("git")
    }

    pub(crate) fn program(program: &'static str) -> Self {
        Self {
            program,
            args: Vec::new(),
            settings: Vec::new(),
            env: Vec::new(),
            folder: None,
            stdin: None,
        }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    /// A `-c` setting that wins over the standard ones.
    pub(crate) fn setting(mut self, name: &str, value: &Path) -> Self {
        let mut setting = OsString::from(name);
        setting.push("=");
        setting.push(value);
        self.settings.push(setting);
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// Where it runs; here by default.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        if self.program == "git" {
            for setting in SETTINGS {
                command.args(["-c", setting]);
            }
            for setting in &self.settings {
                command.arg("-c").arg(setting);
            }
            for name in REMOVED {
                command.env_remove(name);
            }
            command
                .env("GIT_TERMINAL_PROMPT", "0")
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_ATTR_NOSYSTEM", "1")
                .env("GIT_OPTIONAL_LOCKS", "0")
                .env("GIT_NO_REPLACE_OBJECTS", "1")
                .env("GIT_PAGER", "cat");
        }
        command.env("LC_ALL", "C").env_remove("POSIXLY_CORRECT");
        for (name, value) in &self.env {
            command.env(name, value);
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command.args(&self.args).kill_on_drop(true);
        command
    }

    /// The first argument that is no option: git's sub-command.
    fn name(&self) -> String {
        let mut args = self.args.iter();
        while let Some(arg) = args.next() {
            let arg = arg.to_string_lossy();
            if arg == "-C" {
                args.next();
            } else if !arg.starts_with('-') {
                return format!("`{} {arg}`", self.program);
            }
        }
        format!("`{}`", self.program)
    }

    pub(crate) fn cannot_start(&self, why: std::io::Error) -> Error {
        let error = if why.kind() == std::io::ErrorKind::NotFound {
            Error::new(
                ErrorKind::ToolFailed,
                "start",
                format!(
                    "`{0}`: the program is not on PATH; install {0}",
                    self.program
                ),
            )
        } else {
            Error::new(
                ErrorKind::ToolFailed,
                "start",
                format!("`{}`", self.program),
            )
        };
        error.with_source(why)
    }

    /// Runs it; a non-zero exit is no error here.
    pub(crate) async fn output(mut self) -> Result<Output, Error> {
        let input = self.stdin.take();
        tracing::trace!(program = self.program, args = ?self.args, "run");
        let mut child = self
            .command()
            .stdin(if input.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|why| self.cannot_start(why))?;
        let pipe = child.stdin.take();
        let feed = async {
            if let (Some(mut pipe), Some(input)) = (pipe, input) {
                // A program that ends early closes the pipe; its exit code tells the story.
                let _ = pipe.write_all(&input).await;
                let _ = pipe.shutdown().await;
            }
        };
        let ((), output) = tokio::join!(feed, child.wait_with_output());
        let output =
            output.map_err(|why| Error::new(ErrorKind::Io, "run", self.name()).with_source(why))?;
        Ok(Output {
            success: output.status.success(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// Runs it; a non-zero exit is [`ErrorKind::ToolFailed`] with what it printed as the cause.
    pub(crate) async fn checked(self) -> Result<Output, Error> {
        let name = self.name();
        let output = self.output().await?;
        if output.success {
            Ok(output)
        } else {
            Err(Error::new(ErrorKind::ToolFailed, "run", name).with_source(output.stderr_text()))
        }
    }
}

/// The mode of a submodule's entry.
pub(crate) const GITLINK: u32 = 0o160_000;

/// Reads a commit id that git printed.
pub(crate) fn sha(output: &Output) -> Result<CommitSha, Error> {
    output
        .line()
        .parse()
        .map_err(|why| unexpected("git").with_source(why))
}

pub(crate) fn unexpected(program: &str) -> Error {
    Error::new(
        ErrorKind::ToolFailed,
        "read",
        format!("what `{program}` printed"),
    )
}
