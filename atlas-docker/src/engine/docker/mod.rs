//! The Docker engine, through its API.

mod base;
mod builder;
mod context;
mod dockerfile;
mod sandbox;
mod sweep;

pub use builder::DockerBuilder;
pub use sandbox::DockerSandbox;

use atlas_core::{Error, ErrorKind};
use bollard::Docker;
use bollard::errors::Error as Fault;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Label: hash of everything that an image was made from.
const KEY_LABEL: &str = "atlas.key";
/// Label: the process that made it.
const OWNER_LABEL: &str = "atlas.owner";
/// Label: the run it belongs to.
const RUN_LABEL: &str = "atlas.run";
/// Label: what the job is.
const JOB_LABEL: &str = "atlas.job";

/// How to use a container engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerOptions {
    /// Address of the engine, as in `DOCKER_HOST`: `unix:///…` or `tcp://…`. Absent: the local
    /// engine's usual socket.
    pub host: Option<String>,
    /// Refuse to replace a base image by a near one. Default `false`: a near version is taken and
    /// recorded in the plan's `drift`.
    pub exact: bool,
    /// Whether a base image that is not on this machine may be pulled. Default `true`.
    pub pull: bool,
    /// How long one pull may take. Default 15 minutes.
    pub pull_timeout: Duration,
    /// How long one build may take. Default one hour.
    pub build_timeout: Duration,
    /// Folder for build contexts while they are sent. Default: the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// More labels for images and containers.
    pub labels: std::collections::BTreeMap<String, String>,
}

impl Default for DockerOptions {
    fn default() -> Self {
        Self {
            host: None,
            exact: false,
            pull: true,
            pull_timeout: Duration::from_secs(15 * 60),
            build_timeout: Duration::from_secs(3600),
            scratch: None,
            labels: std::collections::BTreeMap::new(),
        }
    }
}

/// A connection to a container engine; clones share it.
#[derive(Clone, Debug)]
pub struct DockerEngine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    docker: Docker,
    options: DockerOptions,
    version: String,
    api_version: String,
    /// Limits that this engine says it cannot enforce.
    lacking: Vec<&'static str>,
    storage: String,
    cgroups: String,
    root: String,
}

impl DockerEngine {
    /// Connects, asks the engine who it is and settles on an API version that both speak.
    ///
    /// # Errors
    /// [`ErrorKind::EngineUnreachable`] when nothing answers; the message says what to look at.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn connect(options: DockerOptions) -> Result<Self, Error> {
        let docker = open(options.host.as_deref())?;
        let unreachable = |why: Fault| {
            let place = options.host.as_deref().unwrap_or("its usual socket");
            Error::new(
                ErrorKind::EngineUnreachable,
                "connect to the container engine at",
                format!(
                    "{place}: is the daemon running, and may this user talk to it? \
                     (see `docker version`; without an engine use the local engine)"
                ),
            )
            .with_source(why)
        };
        let docker = docker.negotiate_version().await.map_err(unreachable)?;
        let version = docker.version();
        let info = docker.info();
        let (version, info) = futures_util::future::try_join(version, info)
            .await
            .map_err(unreachable)?;
        let mut lacking = Vec::new();
        for (able, limit) in [
            (info.memory_limit, "memory"),
            (info.swap_limit, "swap"),
            (info.cpu_cfs_quota, "cpus"),
            (info.pids_limit, "processes"),
        ] {
            if able == Some(false) {
                lacking.push(limit);
            }
        }
        Ok(Self {
            inner: Arc::new(Inner {
                docker,
                options,
                version: version.version.unwrap_or_default(),
                api_version: version.api_version.unwrap_or_default(),
                lacking,
                storage: info.driver.unwrap_or_default(),
                cgroups: info
                    .cgroup_version
                    .map(|version| version.to_string())
                    .unwrap_or_default(),
                root: info.docker_root_dir.unwrap_or_default(),
            }),
        })
    }

    /// Version of the engine.
    pub fn version(&self) -> &str {
        &self.inner.version
    }

    /// Newest API version that the engine speaks.
    pub fn api_version(&self) -> &str {
        &self.inner.api_version
    }

    /// Its storage driver: `overlay2`.
    pub fn storage_driver(&self) -> &str {
        &self.inner.storage
    }

    /// Its control group version: `1` or `2`.
    pub fn cgroup_version(&self) -> &str {
        &self.inner.cgroups
    }

    /// Its data folder, on the engine's machine.
    pub fn data_folder(&self) -> &str {
        &self.inner.root
    }

    fn docker(&self) -> &Docker {
        &self.inner.docker
    }

    fn options(&self) -> &DockerOptions {
        &self.inner.options
    }
}

/// A client for an address; nothing is sent yet.
fn open(host: Option<&str>) -> Result<Docker, Error> {
    let opened = match host {
        Some(host) => Docker::connect_with_host(host),
        None => Docker::connect_with_socket_defaults(),
    };
    opened.map_err(|why| {
        Error::new(
            ErrorKind::EngineUnreachable,
            "open the container engine at",
            format!(
                "{}: is the daemon running? (`unix:///path` and `tcp://host:port` are understood)",
                host.unwrap_or("its usual socket")
            ),
        )
        .with_source(why)
    })
}

/// An engine's fault as an error: told apart by who can do something about it.
fn fault(operation: &str, subject: &str, why: Fault) -> Error {
    let kind = match &why {
        Fault::DockerResponseServerError {
            status_code: 404, ..
        } => ErrorKind::NotFound,
        Fault::RequestTimeoutError => ErrorKind::TimedOut,
        Fault::HyperResponseError { .. }
        | Fault::HyperLegacyError { .. }
        | Fault::SocketNotFoundError(_)
        | Fault::IOError { .. } => ErrorKind::EngineUnreachable,
        _ => ErrorKind::EngineFailed,
    };
    Error::new(kind, operation, format!("`{subject}`")).with_source(why)
}
