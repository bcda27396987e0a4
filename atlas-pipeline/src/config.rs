//! `atlas.toml`.

use atlas_core::{Error, ErrorKind, Limits};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The configuration file. Everything has a default; an unknown key is an error, not a surprise.
///
/// ```
/// let config = atlas_pipeline::Config::parse("[limits]\nseconds = 600\n", "atlas.toml")?;
/// assert_eq!(config.limits.seconds, 600);
/// assert!(atlas_pipeline::Config::parse("[limit]\n", "atlas.toml").is_err());
/// # Ok::<(), atlas_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Upper bounds for each run of the tests.
    pub limits: Limits,
    /// The container engine.
    pub engine: EngineConfig,
    /// The local engine.
    pub local: LocalConfig,
    /// What analysis would otherwise find out.
    pub plan: PlanConfig,
    /// The language model that is asked where rules do not help.
    pub model: ModelConfig,
}

/// `[model]`. Without it, no model is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// A recording of exchanges to answer from, JSON lines.
    pub replay: Option<PathBuf>,
    /// Most calls in one run of the command. Default: 20.
    pub calls: u64,
    /// Most tokens in one run of the command, read and written. Default: 400,000.
    pub tokens: u64,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            replay: None,
            calls: 20,
            tokens: 400_000,
        }
    }
}

/// `[engine]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// Address of the Docker API, as in `DOCKER_HOST`. Default: that variable, else the usual socket.
    pub docker_host: Option<String>,
    /// Refuse a base image other than the planned one. Default: the nearest version is taken and
    /// recorded as drift.
    pub exact: bool,
}

/// `[local]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Folder for prepared environments. Default: `atlas` in the user's cache folder.
    pub root: Option<PathBuf>,
    /// Run untrusted code although nothing keeps it apart from this machine. Default: no.
    pub trust: bool,
    /// `auto` (where it is installed), `never` or `require`.
    pub bubblewrap: Option<String>,
}

/// `[plan]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlanConfig {
    /// The repository's language: `python`, `javascript`, `go`, `rust`.
    pub language: Option<String>,
    /// A whole environment plan as a JSON file, instead of analysis.
    pub file: Option<PathBuf>,
}

impl Config {
    /// Reads a configuration; `name` stands in errors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] with line, column and key.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|why| {
            Error::new(
                ErrorKind::InvalidInput,
                "read configuration",
                format!("`{name}`"),
            )
            .with_source(why.to_string().trim_end().to_owned())
        })
    }

    /// Reads a configuration file.
    ///
    /// # Errors
    /// The file is not there, not readable, or no configuration.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| Error::io("read configuration", path, why))?;
        Self::parse(&text, &path.display().to_string())
    }
}
