//! Options that several commands have.

use atlas_core::{Error, InstanceId};
use atlas_pipeline::{Config, EngineChoice};
use clap::Args;
use std::path::{Path, PathBuf};

/// The configuration.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// Configuration [default: atlas.toml in this folder, if there is one].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigArgs {
    /// Reads it.
    pub(super) fn read(&self) -> Result<Config, Error> {
        configuration(self.config.as_deref())
    }
}

/// Reads a configuration, or that of this folder, with what the environment says of registries.
pub(super) fn configuration(path: Option<&Path>) -> Result<Config, Error> {
    let usual = Path::new("atlas.toml");
    let mut config = match path {
        Some(path) => Config::read(path)?,
        None if usual.exists() => Config::read(usual)?,
        None => Config::default(),
    };
    config.registries.read_environment()?;
    Ok(config)
}

/// Where code of repositories runs.
#[derive(Debug, Args)]
pub(super) struct EngineArgs {
    /// Where the tests run: auto, docker or local.
    #[arg(long, default_value = "auto")]
    pub(super) engine: EngineChoice,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// Run the repository's code even where nothing keeps it apart from this machine.
    #[arg(long)]
    pub(super) trust: bool,
}

/// Rows of a dataset.
#[derive(Debug, Args)]
pub(super) struct DatasetArgs {
    /// The dataset: a file, or a folder of tasks.
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) dataset: PathBuf,
    /// Only these instances.
    #[arg(long, value_name = "ID", num_args = 1.., value_delimiter = ',')]
    pub(super) instance_ids: Vec<InstanceId>,
}
