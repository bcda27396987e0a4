//! Choosing an engine, and what it is made of.

use crate::Config;
use crate::words::read_word;
use atlas_core::{Error, ErrorKind, Sandbox};
use atlas_docker::{
    Bubblewrap, Builder, DockerBuilder, DockerEngine, DockerOptions, DockerSandbox, LocalBuilder,
    LocalEngine, LocalOptions, LocalSandbox,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Which engine to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// Docker where it answers, else local.
    #[default]
    Auto,
    /// Containers over the Docker API.
    Docker,
    /// A work folder on this machine, under bubblewrap where it is installed.
    Local,
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read_word(text).map_err(|_| format!("engine `{text}`: auto, docker or local expected"))
    }
}

/// A builder and the sandbox that runs what it builds.
#[derive(Clone, Debug)]
pub struct Engines {
    /// Builds environments.
    pub builder: Arc<dyn Builder>,
    /// Builds each anew, for gates that ask whether builds repeat.
    pub from_scratch: Arc<dyn Builder>,
    /// Runs jobs in them.
    pub sandbox: Arc<dyn Sandbox>,
    /// The container engine, where it is one: for images that others made.
    pub docker: Option<DockerEngine>,
}

impl Engines {
    /// Connects to the chosen engine and sweeps what dead runs left behind on it.
    ///
    /// # Errors
    /// The engine does not answer, or the local engine's folder cannot be used.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn open(choice: EngineChoice, config: &Config, trust: bool) -> Result<Self, Error> {
        match choice {
            EngineChoice::Docker => Self::docker(config).await,
            EngineChoice::Local => Self::local(config, trust).await,
            EngineChoice::Auto => match Self::docker(config).await {
                Ok(engines) => Ok(engines),
                Err(why) if why.kind() == ErrorKind::EngineUnreachable => {
                    tracing::info!("no Docker engine answers; using the local engine");
                    Self::local(config, trust).await
                }
                Err(why) => Err(why),
            },
        }
    }

    async fn docker(config: &Config) -> Result<Self, Error> {
        let engine = DockerEngine::connect(docker_options(config)).await?;
        let swept = engine.sweep().await?;
        if !swept.is_empty() {
            tracing::info!(
                containers = swept.len(),
                "removed what dead runs left behind"
            );
        }
        Ok(Self {
            builder: Arc::new(DockerBuilder::new(engine.clone())),
            from_scratch: Arc::new(DockerBuilder::from_scratch(engine.clone())),
            sandbox: Arc::new(DockerSandbox::new(engine.clone())),
            docker: Some(engine),
        })
    }

    async fn local(config: &Config, trust: bool) -> Result<Self, Error> {
        let engine = LocalEngine::open(local_options(config, trust)?).await?;
        engine.sweep().await?;
        Ok(Self {
            builder: Arc::new(LocalBuilder::new(engine.clone())),
            from_scratch: Arc::new(LocalBuilder::from_scratch(engine.clone())),
            sandbox: Arc::new(LocalSandbox::new(engine)),
            docker: None,
        })
    }
}

/// Removes what dead runs left behind on every engine that answers; returns what it removed.
///
/// # Errors
/// A leftover that cannot be removed.
///
/// # Cancellation
/// Dropping the future leaves the rest to the next sweep.
pub async fn sweep(config: &Config) -> Result<Vec<String>, Error> {
    let local = LocalEngine::open(local_options(config, true)?).await?;
    let mut removed = local.sweep().await?;
    if let Ok(engine) = DockerEngine::connect(docker_options(config)).await {
        removed.extend(engine.sweep().await?);
    }
    Ok(removed)
}

/// The container engine that a configuration names.
///
/// # Errors
/// No engine answers there.
///
/// # Cancellation
/// Dropping the future is harmless.
pub async fn docker_engine(config: &Config) -> Result<DockerEngine, Error> {
    DockerEngine::connect(docker_options(config)).await
}

pub(crate) fn docker_options(config: &Config) -> DockerOptions {
    let host = config
        .engine
        .docker_host
        .clone()
        .or_else(|| std::env::var("DOCKER_HOST").ok());
    let defaults = DockerOptions::default();
    let engine = &config.engine;
    DockerOptions {
        host,
        exact: engine.exact,
        mirrors: engine.mirrors.clone(),
        base_images: engine.base_images.clone(),
        pull_attempts: engine.pull_attempts.unwrap_or(defaults.pull_attempts),
        disk_budget: engine.disk_budget.map(|bytes| bytes.0),
        min_free: engine.min_free.map_or(defaults.min_free, |bytes| bytes.0),
        registries: config.registries.clone().into(),
        uses: cache_folder().ok().map(|folder| folder.join("images")),
        ..defaults
    }
}

pub(crate) fn local_options(config: &Config, trust: bool) -> Result<LocalOptions, Error> {
    let bubblewrap = match config.local.bubblewrap.as_deref() {
        None | Some("auto") => Bubblewrap::Auto,
        Some("never") => Bubblewrap::Never,
        Some("require") => Bubblewrap::Require,
        Some(other) => {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "read configuration: local.bubblewrap is",
                format!("`{other}`; auto, never or require expected"),
            ));
        }
    };
    let root = config.local.root.clone().map_or_else(cache_folder, Ok)?;
    let options = LocalOptions::new(root).with_environment(std::env::vars());
    Ok(LocalOptions {
        bubblewrap,
        trust: trust || config.local.trust,
        ..options
    })
}

/// `$XDG_CACHE_HOME/atlas`, else `~/.cache/atlas`.
pub(crate) fn cache_folder() -> Result<PathBuf, Error> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    from("XDG_CACHE_HOME")
        .or_else(|| from("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("atlas"))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidInput,
                "find the cache folder:",
                "neither XDG_CACHE_HOME nor HOME is set; set one, or local.root in atlas.toml",
            )
        })
}
