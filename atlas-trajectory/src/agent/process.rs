//! Agents that are programs of this machine.

use super::bridge::serve;
use super::room::Room;
use super::{Agent, AgentEnd, AgentTask};
use crate::{AgentInfo, Trajectories, Trajectory};
use async_trait::async_trait;
use atlas_core::{Error, ErrorKind, RunContext};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::net::UnixListener;

/// How long a program may go on once a budget is spent.
const GRACE: Duration = Duration::from_secs(15);

/// Any agent with a command line.
///
/// The command is given to bash, in a folder of the attempt's own, with this user's environment and
///
/// | variable, placeholder | |
/// |---|---|
/// | `ATLAS_SHELL`, `{shell}` | a program that takes `-c COMMAND`, or a script, and runs it in the sandbox |
/// | `ATLAS_SHELL_DIR`, `{shell_dir}` | a folder with that program as `bash` and `sh`, to stand first on `PATH` |
/// | `ATLAS_SOCKET`, `{socket}` | the socket behind it, for programs that speak its JSON lines |
/// | `ATLAS_STATEMENT`, `{statement}` | a file with the problem statement |
/// | `ATLAS_RECORDINGS`, `{recordings}` | a folder for the agent's own recording, in any form that [`Trajectories`] reads |
/// | `ATLAS_INSTANCE_ID`, `{instance}`; `ATLAS_ATTEMPT`, `{attempt}`; `ATLAS_FOLDER`, `{folder}`; `ATLAS_MODEL`, `{model}` | the instance, which attempt it is, the repository's folder in the sandbox, the model's name |
///
/// Placeholders stand for words of bash, quoted where they have to be. What the program prints goes to
/// `agent.log` in the attempt's folder. The program itself is as trusted as any that its user starts: only what
/// it runs through the shell is in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessAgent {
    /// The command.
    pub command: String,
    /// The agent's name.
    pub name: String,
    /// Its version, `unknown` where it is not.
    pub version: String,
    /// The model's name, for the agent.
    pub model: Option<String>,
    /// More variables.
    pub env: BTreeMap<String, String>,
    /// A command line that ends in [`shell_client`](super::shell_client) with the socket and further
    /// arguments.
    pub client: Vec<OsString>,
}

/// mini-swe-agent, as it comes from PyPI, with its own loop, prompts and models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MiniSweAgent {
    /// The Python that has the package `mini-swe-agent`, version 2. Default `python3`.
    pub python: PathBuf,
    /// The model by the name that it has there, as `openai/gpt-5`.
    pub model: String,
    /// A configuration of mini-swe-agent by name or path. Default: its own `mini`.
    pub config: Option<String>,
}

impl MiniSweAgent {
    /// What runs it.
    const BRIDGE: &str = include_str!("mini.py");

    /// The same as a program with a command line.
    pub fn process(&self, client: Vec<OsString>) -> ProcessAgent {
        let mut env = BTreeMap::from([
            ("ATLAS_BRIDGE".to_owned(), Self::BRIDGE.to_owned()),
            // A first start asks a person for settings otherwise.
            ("MSWEA_CONFIGURED".to_owned(), "true".to_owned()),
            ("MSWEA_SILENT_STARTUP".to_owned(), "true".to_owned()),
        ]);
        if let Some(config) = &self.config {
            env.insert("ATLAS_MINI_CONFIG".to_owned(), config.clone());
        }
        ProcessAgent {
            command: format!(
                "{} -c \"$ATLAS_BRIDGE\"",
                quoted(&self.python.to_string_lossy())
            ),
            name: "mini-swe-agent".to_owned(),
            version: "unknown".to_owned(),
            model: Some(self.model.clone()),
            env,
            client,
        }
    }
}

/// A text as one word of bash.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Kills a program with all of its group.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0.take() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl ProcessAgent {
    /// The variables of one attempt; placeholders are the same words without `ATLAS_`.
    fn variables(
        &self,
        task: &AgentTask,
        place: &Path,
    ) -> Vec<(&'static str, &'static str, String)> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        vec![
            ("ATLAS_SHELL", "{shell}", text(place.join("bin/bash"))),
            ("ATLAS_SHELL_DIR", "{shell_dir}", text(place.join("bin"))),
            ("ATLAS_SOCKET", "{socket}", text(place.join("socket"))),
            (
                "ATLAS_STATEMENT",
                "{statement}",
                text(place.join("statement.md")),
            ),
            (
                "ATLAS_RECORDINGS",
                "{recordings}",
                text(task.out.join("recordings")),
            ),
            ("ATLAS_INSTANCE_ID", "{instance}", task.instance_id.clone()),
            ("ATLAS_ATTEMPT", "{attempt}", task.attempt.to_string()),
            ("ATLAS_FOLDER", "{folder}", task.folder.clone()),
            (
                "ATLAS_MODEL",
                "{model}",
                self.model.clone().unwrap_or_default(),
            ),
        ]
    }

    /// What the program finds: the shell under its names, the statement, a folder for recordings.
    fn lay_out(&self, task: &AgentTask, place: &Path) -> std::io::Result<()> {
        fs::create_dir_all(place.join("bin"))?;
        fs::create_dir_all(task.out.join("recordings"))?;
        fs::write(place.join("statement.md"), &task.statement)?;
        let words: Vec<String> = self
            .client
            .iter()
            .map(|word| quoted(&word.to_string_lossy()))
            .chain([quoted(&place.join("socket").to_string_lossy())])
            .collect();
        // The machine's own shell and programs: this one may be first on the caller's `PATH`.
        let path = std::env::var("PATH").unwrap_or_default();
        let (path, words) = (quoted(&path), words.join(" "));
        let script = format!("#!/bin/sh\nPATH={path}\nexec {words} \"$@\"\n");
        for name in ["bash", "sh"] {
            let path = place.join("bin").join(name);
            fs::write(&path, &script)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

#[async_trait]
impl Agent for ProcessAgent {
    fn info(&self) -> AgentInfo {
        AgentInfo {
            name: self.name.clone(),
            version: self.version.clone(),
            model_name: self.model.clone(),
            ..AgentInfo::default()
        }
    }

    fn settings(&self) -> Value {
        json!({ "command": self.command, "env": self.env })
    }

    async fn attempt(
        &self,
        cx: &RunContext,
        task: &AgentTask,
        room: &Room<'_>,
    ) -> Result<AgentEnd, Error> {
        let failed = |why: std::io::Error| Error::io("prepare", &task.out, why);
        // A socket's path may have a hundred characters, an attempt's folder more.
        let place = tempfile::Builder::new()
            .prefix("atlas-agent-")
            .tempdir()
            .map_err(failed)?;
        self.lay_out(task, place.path()).map_err(failed)?;
        let listener = UnixListener::bind(place.path().join("socket")).map_err(failed)?;
        let log_path = task.out.join("agent.log");
        let log = File::create(&log_path).map_err(|why| Error::io("make", &log_path, why))?;
        let both = log.try_clone().map_err(failed)?;
        let mut command = self.command.clone();
        let variables = self.variables(task, place.path());
        for (_, placeholder, value) in &variables {
            command = command.replace(placeholder, &quoted(value));
        }
        let mut child = tokio::process::Command::new("/bin/bash")
            .args(["-c", &command])
            .current_dir(&task.out)
            .envs(&self.env)
            .envs(variables.iter().map(|(name, _, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(both)
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|why| Error::new(ErrorKind::ToolFailed, "start", "`bash`").with_source(why))?;
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        let group = Group(pid.and_then(Pid::from_raw));

        let mut open = FuturesUnordered::new();
        let mut since_stop: Option<tokio::time::Instant> = None;
        let mut look = tokio::time::interval(Duration::from_millis(200));
        let status = loop {
            tokio::select! {
                status = child.wait() => break Some(status.map_err(failed)?),
                accepted = listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        open.push(serve(cx, room, stream));
                    }
                }
                Some(()) = open.next(), if !open.is_empty() => {}
                _ = look.tick() => {
                    if room.stopped().is_some() || room.is_over() {
                        let since = *since_stop.get_or_insert_with(tokio::time::Instant::now);
                        if since.elapsed() > GRACE {
                            break None;
                        }
                    }
                }
            }
        };
        // Whatever the program left behind goes with it.
        drop((open, group));
        let mut end = AgentEnd::default();
        (end.recording, end.notes) = recording(&task.out.join("recordings"));
        let code = status.and_then(|status| status.code());
        let said = last_lines(&log_path);
        // Nothing was done, and bash says that there is no such program.
        if matches!(code, Some(126 | 127)) && room.is_untouched() {
            return Err(Error::new(
                ErrorKind::ToolFailed,
                format!("start the agent `{}`:", self.name),
                format!("{said} (`{}`)", log_path.display()),
            ));
        }
        let own = end
            .recording
            .as_ref()
            .and_then(|recording| recording.extra.get("exit_status"));
        end.exit_status = match (own.and_then(Value::as_str), code) {
            (Some(own), Some(0)) if !own.is_empty() => own.to_owned(),
            (_, Some(0)) => "exited".to_owned(),
            (_, Some(code)) => {
                end.notes.push(format!(
                    "the agent's program ended with code {code}: {said}"
                ));
                format!("exit_code_{code}")
            }
            (_, None) => "killed".to_owned(),
        };
        Ok(end)
    }
}

/// The newest trajectory that an agent left, and what of others cannot be read.
fn recording(folder: &Path) -> (Option<Trajectory>, Vec<String>) {
    let mut notes = Vec::new();
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort_by_key(|path| {
        let changed = fs::metadata(path).and_then(|meta| meta.modified()).ok();
        (std::cmp::Reverse(changed), path.clone())
    });
    for path in files {
        let Ok(file) = File::open(&path) else {
            continue;
        };
        match Trajectories::new(BufReader::new(file)).last() {
            Some(Ok(trajectory)) => return (Some(trajectory), notes),
            Some(Err(why)) => notes.push(format!("`{}` is no recording: {why}", path.display())),
            None => {}
        }
    }
    (None, notes)
}

/// The end of what a program printed, on one line.
fn last_lines(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(3)..];
    let mut said = last.join(" / ");
    if said.chars().count() > 400 {
        said = said.chars().skip(said.chars().count() - 400).collect();
    }
    said
}
