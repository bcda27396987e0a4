//! Options that several commands have.

use super::output;
use atlas_core::{Error, InstanceId};
use atlas_pipeline::{Config, EngineChoice, EvalOptions};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How the result of a command is printed.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Format {
    /// How to print the result.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    #[default]
    Text,
    /// One JSON document on standard output.
    Json,
}

impl Format {
    pub(super) fn is_json(self) -> bool {
        self.format == Form::Json
    }

    /// Prints a result: the document for programs, or its text for people.
    pub(super) fn show<T: Serialize + ?Sized>(
        self,
        document: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        if self.is_json() {
            output::json(&document)
        } else {
            output::print(&text())
        }
    }
}

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
    /// Where to build and run: auto, docker or local.
    #[arg(long, default_value = "auto")]
    pub(super) engine: EngineChoice,
    #[command(flatten)]
    pub(super) config: ConfigArgs,
    /// Run a repository's code even where nothing keeps it apart from this machine.
    #[arg(long)]
    pub(super) trust: bool,
}

/// How rows are built and run.
#[derive(Debug, Args)]
pub(super) struct EvaluationArgs {
    #[command(flatten)]
    pub(super) place: EngineArgs,
    /// Most seconds of one run of the tests [default: limits.seconds of the configuration].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// A clone, or a folder of clones named `owner__name`, `owner/name` or `name`, for rows without an
    /// image.
    #[arg(long, value_name = "DIR")]
    pub(super) repos: Option<PathBuf>,
    /// Where results are kept by content [default: the user's cache folder].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl EvaluationArgs {
    /// The options of an evaluation with what is said here.
    pub(super) fn of(self, options: EvalOptions) -> Result<EvalOptions, Error> {
        Ok(EvalOptions {
            engine: self.place.engine,
            config: self.place.config.read()?,
            trust: self.place.trust,
            timeout: self.timeout,
            repos: self.repos,
            results: self.results,
            ..options
        })
    }
}

/// How an environment is built.
#[derive(Debug, Args)]
pub(super) struct BuilderArgs {
    #[command(flatten)]
    pub(super) place: EngineArgs,
    /// A model that is asked where rules cannot mend a plan, and for a parser where none is known: a name from
    /// `[models]` of the configuration, PROVIDER:MODEL, an address, replay:FILE or scripted:FILE.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Refuse a base image other than the planned one [default: the nearest version that can be had].
    #[arg(long)]
    exact: bool,
}

impl BuilderArgs {
    /// The configuration with what is said here.
    pub(super) fn configuration(&self) -> Result<Config, Error> {
        let mut config = self.place.config.read()?;
        config.engine.exact |= self.exact;
        config.model.name = self.model.clone().or(config.model.name);
        Ok(config)
    }
}

/// How much goes on at once.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// How many go on at once.
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub(super) jobs: usize,
}

/// What models may be paid.
#[derive(Debug, Args)]
pub(super) struct BudgetArgs {
    /// What this run may spend, such as calls=100,tokens=2M,money=1.50,time=10m; any of them.
    #[arg(long, value_name = "LIMITS")]
    pub(super) budget: Option<String>,
}

/// Instances by their names.
#[derive(Debug, Args)]
pub(super) struct InstanceArgs {
    /// Only these instances.
    #[arg(long, value_name = "ID", num_args = 1.., value_delimiter = ',')]
    pub(super) instance_ids: Vec<InstanceId>,
}

/// Rows of a dataset.
#[derive(Debug, Args)]
pub(super) struct DatasetArgs {
    /// The dataset: a file, or a folder of tasks.
    #[arg(long, value_name = "FILE|DIR")]
    pub(super) dataset: PathBuf,
    #[command(flatten)]
    pub(super) only: InstanceArgs,
}
