//! Parsers that are code of others: Python with the harnesses' contracts, run in a sandbox only.

use crate::rules::hex_digest;
use atlas_core::{
    AGENTIC, Environment, Error, ErrorKind, ExitState, Isolation, Job, JobFile, JobUser, Limits,
    Network, Overlay, ParsedLog, ParsedLogBuilder, RunContext, RunOutcome, Sandbox, TestStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

const DRIVER: &str = include_str!("driver.py");

/// The most bytes of a parser's source and of what it answers.
const MAX_SOURCE: usize = 256 << 10;
const MAX_ANSWER: usize = 64 << 20;

/// Where code of others runs: a sandbox and an environment of it that has `python3` and no
/// repository.
#[derive(Clone, Debug)]
pub struct Cell {
    sandbox: Arc<dyn Sandbox>,
    environment: Environment,
    isolation: Isolation,
}

impl Cell {
    /// Tries the sandbox with a harmless script, and takes it if it keeps code apart: no network,
    /// no writing outside, processes of its own.
    ///
    /// # Errors
    /// [`ErrorKind::NotTrusted`] where something of that is missing and `trusted` is false;
    /// [`ErrorKind::ToolFailed`] without Python; whatever the sandbox fails with.
    ///
    /// # Cancellation
    /// As [`Sandbox::run`].
    pub async fn open(
        cx: &RunContext,
        sandbox: Arc<dyn Sandbox>,
        environment: Environment,
        trusted: bool,
    ) -> Result<Self, Error> {
        let limits = ScriptLimits::default();
        let script = "python3 -I -c 'import sys; print(sys.version_info[0])'";
        let job = job("probe", script, Vec::new(), Vec::new(), &limits);
        let done = sandbox.run(cx, &environment, &job).await?;
        let isolation = done.isolation;
        let apart = isolation.network_off && isolation.filesystem && isolation.processes;
        if !apart && !trusted {
            return Err(Error::new(
                ErrorKind::NotTrusted,
                "run a parser of unknown origin",
                format!(
                    "in `{}`, which keeps too little apart ({}): use Docker, install bubblewrap, or \
                     say that the code is trusted",
                    isolation.kind,
                    isolation.missing.join("; ")
                ),
            ));
        }
        if done.exit != (ExitState::Exited { code: 0 }) || done.output.trim_ascii() != b"3" {
            return Err(Error::new(
                ErrorKind::ToolFailed,
                "find `python3` in the sandbox:",
                String::from_utf8_lossy(&done.output).trim().to_owned(),
            ));
        }
        Ok(Self {
            sandbox,
            environment,
            isolation,
        })
    }

    /// What keeps code apart there.
    pub fn isolation(&self) -> &Isolation {
        &self.isolation
    }
}

/// What a parser may use for one batch of logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    /// Wall time in seconds. Default 30.
    pub seconds: u64,
    /// Memory in bytes. Default 512 MiB.
    pub memory_bytes: u64,
    /// Processes and threads. Default 32: the interpreter and the shell around it.
    pub processes: u64,
    /// Most tests of one log. Default 200,000.
    pub tests: u64,
    /// End the parser as soon as it opens a file, a socket or a process, and say so. Default `true`;
    /// the sandbox holds without.
    pub watch: bool,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        Self {
            seconds: 30,
            memory_bytes: 512 << 20,
            processes: 32,
            tests: 200_000,
            watch: true,
        }
    }
}

/// A log parser in Python that is not trusted.
///
/// Its source defines `parse_log_to_json(log)`, as SWE-Bench++ has it, `parse_log(log)` or
/// `parse_log(log, test_spec)` as SWE-bench, or `parser(log)` as SWE-bench-Live; each returns test id
/// -> status. It gets the log and nothing else: no repository, no network, limits on time, memory,
/// processes and output.
///
/// It is no [`LogParser`](atlas_core::LogParser), whose contract is to be pure and quick: reading
/// takes a sandbox and can fail.
#[derive(Clone, Debug)]
pub struct ScriptParser {
    id: String,
    source: String,
    cell: Cell,
    limits: ScriptLimits,
    hides_globals: bool,
}

/// Why a parser was stopped or gave nothing usable: a verdict on the parser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", content = "what", rename_all = "snake_case")]
pub enum ScriptFault {
    /// It does not load or defines no known function.
    Load(String),
    /// It raised, or returned something else than id -> status.
    Failed(String),
    /// It tried what no parser needs: a file, a socket, a process.
    Forbidden(String),
    /// It reached the time limit.
    Time(String),
    /// It reached the memory limit.
    Memory(String),
    /// It ended the interpreter, or was killed.
    Died(String),
}

impl std::fmt::Display for ScriptFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Load(what) => write!(f, "the parser does not load: {what}"),
            Self::Failed(what) => write!(f, "the parser failed: {what}"),
            Self::Forbidden(what) => write!(f, "the parser tried what none needs: {what}"),
            Self::Time(what) => write!(f, "the parser took too long: {what}"),
            Self::Memory(what) => write!(f, "the parser took too much memory: {what}"),
            Self::Died(what) => write!(f, "the parser died: {what}"),
        }
    }
}

impl ScriptParser {
    /// A parser of that source, to run in that cell.
    ///
    /// # Errors
    /// A source of more than 256 KiB.
    pub fn new(id: &str, source: &str, cell: Cell, limits: ScriptLimits) -> Result<Self, Error> {
        if source.len() > MAX_SOURCE {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "take the parser",
                format!("`{id}`: {} bytes, {MAX_SOURCE} are the most", source.len()),
            ));
        }
        Ok(Self {
            id: id.to_owned(),
            source: source.to_owned(),
            cell,
            limits,
            hides_globals: false,
        })
    }

    /// Runs the source as SWE-Bench++ does, with two namespaces: its functions do not see what it
    /// imports or defines beside them, and raise `NameError`.
    #[must_use]
    pub fn with_hidden_globals(mut self) -> Self {
        self.hides_globals = true;
        self
    }

    /// What keeps it apart.
    pub fn isolation(&self) -> &Isolation {
        self.cell.isolation()
    }

    /// SHA-256 of all that its reading of a log depends on: source, driver, limits, in hex.
    pub fn fingerprint(&self) -> String {
        let limits = &self.limits;
        let numbers = [
            limits.seconds,
            limits.memory_bytes,
            limits.processes,
            limits.tests,
        ];
        let flags = [limits.watch, self.hides_globals];
        hex_digest(
            format!(
                "{}\n{numbers:?}\n{flags:?}\n{}",
                self.hash(),
                hex_digest(DRIVER.as_bytes())
            )
            .as_bytes(),
        )
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// SHA-256 of its source, in hex.
    pub fn hash(&self) -> String {
        hex_digest(self.source.as_bytes())
    }

    /// Reads logs, all in one job. The outer fault is about the parser as a whole, the inner ones
    /// about single logs.
    ///
    /// # Errors
    /// What is no doing of the parser: engine, disk, cancellation.
    ///
    /// # Cancellation
    /// As [`Sandbox::run`].
    pub async fn read(
        &self,
        cx: &RunContext,
        logs: &[&[u8]],
    ) -> Result<Result<Vec<Result<ParsedLog, ScriptFault>>, ScriptFault>, Error> {
        let random = || RandomState::new().build_hasher().finish();
        let result = format!("result-{:016x}{:016x}.json", random(), random());
        let names: Vec<String> = (0..logs.len()).map(|at| format!("log-{at}.txt")).collect();
        let limits = &self.limits;
        let spec = json!({
            "logs": names,
            "result": result,
            "tests": limits.tests,
            "name": 2000,
            "watch": limits.watch,
            "split": self.hides_globals,
            // Below the sandbox's own, so that the interpreter can still say so.
            "memory": if limits.watch { limits.memory_bytes / 8 * 7 } else { 0 },
        });
        let file = |name: &str, bytes: &[u8]| JobFile {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        };
        let mut files = vec![
            file("driver.py", DRIVER.as_bytes()),
            file("parser.py", self.source.as_bytes()),
            file("spec.json", spec.to_string().as_bytes()),
        ];
        files.extend(names.iter().zip(logs).map(|(name, log)| file(name, log)));
        let script = "exec python3 -I -B \"$ATLAS_IN/driver.py\" </dev/null";
        let job = job("parser", script, files, vec![result.clone()], limits);
        let done = self
            .cell
            .sandbox
            .run(cx, &self.cell.environment, &job)
            .await?;
        let printed = || {
            let text = String::from_utf8_lossy(&done.output);
            text.trim().chars().take(1000).collect::<String>()
        };
        let fault = match done.exit {
            ExitState::TimedOut => Some(ScriptFault::Time(format!("{} s", limits.seconds))),
            ExitState::OutOfMemory => Some(ScriptFault::Memory(format!(
                "{} bytes",
                limits.memory_bytes
            ))),
            ExitState::Exited { code: 0 | 97 } => None,
            ExitState::Exited { code } => {
                Some(ScriptFault::Died(format!("exit code {code} {}", printed())))
            }
        };
        if let Some(fault) = fault {
            return Ok(Err(fault));
        }
        let Some(answer) = done.files.get(&result) else {
            return Ok(Err(ScriptFault::Died("it left no result".to_owned())));
        };
        Ok(self.answer(answer, logs.len()))
    }

    fn answer(
        &self,
        answer: &[u8],
        wanted: usize,
    ) -> Result<Vec<Result<ParsedLog, ScriptFault>>, ScriptFault> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Answer {
            tried: Option<String>,
            load: Option<String>,
            #[serde(default)]
            memory: bool,
            #[serde(default)]
            logs: Vec<One>,
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct One {
            error: Option<String>,
            #[serde(default)]
            tests: Vec<(String, String)>,
        }
        if answer.len() > MAX_ANSWER {
            let what = format!("its result has {} bytes", answer.len());
            return Err(ScriptFault::Failed(what));
        }
        let answer: Answer = serde_json::from_slice(answer)
            .map_err(|why| ScriptFault::Died(format!("its result cannot be read: {why}")))?;
        if let Some(what) = answer.tried {
            return Err(ScriptFault::Forbidden(what));
        }
        if let Some(what) = answer.load {
            return Err(ScriptFault::Load(what));
        }
        if answer.memory {
            let what = format!("{} bytes", self.limits.memory_bytes);
            return Err(ScriptFault::Memory(what));
        }
        if answer.logs.len() != wanted {
            let what = format!("{} results for {wanted} logs", answer.logs.len());
            return Err(ScriptFault::Died(what));
        }
        let one = |one: One| match one.error {
            Some(what) => Err(ScriptFault::Failed(what)),
            None => Ok(self.log(one.tests)),
        };
        Ok(answer.logs.into_iter().map(one).collect())
    }

    fn log(&self, tests: Vec<(String, String)>) -> ParsedLog {
        let mut log = ParsedLogBuilder::new(self.id.as_str());
        for (name, word) in tests {
            let name = name.trim();
            match status_of(&word) {
                Some(status) => log.record("", name, name, status),
                None => log.warn(
                    None,
                    format!("`{name}` has the status `{word}`, which is none; left out"),
                ),
            }
        }
        let outcome = if log.recorded() > 0 {
            RunOutcome::Completed
        } else {
            RunOutcome::NothingRan
        };
        log.finish(outcome)
    }
}

/// The statuses of the harnesses' contracts: SWE-bench's words, and those of SWE-bench-Live.
fn status_of(word: &str) -> Option<TestStatus> {
    word.parse().ok().or(match word {
        "pass" | "passed" => Some(TestStatus::Passed),
        "fail" | "failed" => Some(TestStatus::Failed),
        "skip" | "skipped" => Some(TestStatus::Skipped),
        "error" => Some(TestStatus::Error),
        _ => None,
    })
}

/// The source of a parser that a dataset's row brings along: `log_parser_code` beside
/// `log_parser_name: "custom"` or [`AGENTIC`] (SWE-Bench++, in the row or in its `environment_config` or
/// `spec_dict`), or a `log_parser` that is source and no name (SWE-bench-Live).
pub fn dataset_parser(row: &Map<String, Value>) -> Option<String> {
    let text = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).map(str::to_owned)
    };
    let is_source = |code: &String| code.contains("def ") && code.contains('\n');
    let places = ["environment_config", "spec_dict", "install_config"];
    let inner: Vec<Map<String, Value>> = places
        .iter()
        .filter_map(|place| match row.get(*place)? {
            Value::Object(map) => Some(map.clone()),
            Value::String(json) => serde_json::from_str(json).ok(),
            _ => None,
        })
        .collect();
    for map in std::iter::once(row).chain(&inner) {
        let name = text(map, "log_parser_name");
        if matches!(name.as_deref(), Some("custom" | AGENTIC))
            && let Some(code) = text(map, "log_parser_code")
        {
            return Some(code);
        }
        if let Some(code) = text(map, "log_parser").filter(is_source) {
            return Some(code);
        }
    }
    None
}

fn job(
    label: &str,
    script: &str,
    files: Vec<JobFile>,
    collect: Vec<String>,
    limits: &ScriptLimits,
) -> Job {
    Job {
        label: label.to_owned(),
        overlay: Overlay::default(),
        files,
        script: script.to_owned(),
        collect,
        env: BTreeMap::new(),
        limits: Limits {
            memory_bytes: limits.memory_bytes,
            cpus: 1.0,
            processes: limits.processes,
            seconds: limits.seconds,
            output_bytes: 64 << 10,
            file_bytes: MAX_ANSWER as u64,
        },
        network: Network::None,
        user: JobUser::Tests,
    }
}
