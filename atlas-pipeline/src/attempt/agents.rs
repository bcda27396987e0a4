//! Agents by the words that name them.

use atlas_core::{Error, ErrorKind};
use atlas_trajectory::{MiniSweAgent, ProcessAgent};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The name of the agent that needs no command line.
const MINI: &str = "mini-swe-agent";

/// Which agent attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentChoice {
    /// `mini-swe-agent`, or a command line as [`ProcessAgent`] takes it.
    pub agent: String,
    /// The model by the name that the agent knows it by. mini-swe-agent needs one.
    pub model: Option<String>,
    /// The Python that has the package mini-swe-agent. Default `python3`.
    pub python: PathBuf,
    /// mini-swe-agent's configuration, by name or path. Default: its own `mini`.
    pub config: Option<String>,
    /// The agent's name. Default: the command's first word.
    pub name: Option<String>,
}

impl AgentChoice {
    /// Defaults for everything but the agent.
    pub fn new(agent: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            model: None,
            python: PathBuf::from("python3"),
            config: None,
            name: None,
        }
    }

    /// The agent, with this program as what its shell calls.
    ///
    /// # Errors
    /// mini-swe-agent without a model.
    pub fn open(&self) -> Result<ProcessAgent, Error> {
        let client = client()?;
        if self.agent == MINI {
            let Some(model) = self.model.clone() else {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    format!("start `{MINI}`:"),
                    "it needs a model (--model) by the name that it knows it by, as openai/gpt-5",
                ));
            };
            let mini = MiniSweAgent {
                python: self.python.clone(),
                model,
                config: self.config.clone(),
            };
            return Ok(mini.process(client));
        }
        let first = self.agent.split_whitespace().next().unwrap_or_default();
        let first = first.rsplit('/').next().unwrap_or_default();
        Ok(ProcessAgent {
            name: self.name.clone().unwrap_or_else(|| first.to_owned()),
            command: self.agent.clone(),
            version: "unknown".to_owned(),
            model: self.model.clone(),
            env: BTreeMap::new(),
            client,
        })
    }
}

/// How this program is called again, where it is not the command `atlas` itself.
static OWN: OnceLock<Vec<OsString>> = OnceLock::new();

/// Says how this program is called as the command `atlas`: what embeds it in another (a Python, say) is not that command.
/// Only the first call counts. Default: the program's own file.
pub fn called_as(words: impl IntoIterator<Item = OsString>) {
    OWN.get_or_init(|| words.into_iter().collect());
}

/// A command line that is this very program as a shell.
fn client() -> Result<Vec<OsString>, Error> {
    let mut words = if let Some(words) = OWN.get() {
        words.clone()
    } else {
        let own = std::env::current_exe();
        let own =
            own.map_err(|why| Error::new(ErrorKind::Io, "find", "this program").with_source(why))?;
        vec![own.into_os_string()]
    };
    words.push("agent-shell".into());
    Ok(words)
}
