//! The Docker engine, through its API.

mod base;
mod builder;
mod collect;
mod container;
mod context;
mod cut_short;
mod disk;
mod dockerfile;
mod earlier;
mod image;
mod layout;
mod names;
mod pull;
mod push;
mod ready;
mod sandbox;
mod session;
mod skeleton;
mod sweep;

pub use builder::DockerBuilder;
pub use context::write_context;
pub use disk::{DiskUse, ImageLayer, StoredImage};
pub use image::FoundImage;
pub use names::registry;
pub use push::{PushedImage, RegistryLogin};
pub use sandbox::DockerSandbox;

use crate::registries::Registries;
use atlas_core::{Error, ErrorKind};
use bollard::Docker;
use bollard::errors::Error as Fault;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Label: hash of everything that an image was made from.
const KEY_LABEL: &str = "atlas.key";
/// Label: a stage of a build, which the next build may start from. Set by the templates.
const STAGE_LABEL: &str = "atlas.stage";
/// Label: the commit that an image was made of.
const COMMIT_LABEL: &str = "atlas.commit";
/// Label: hash of the toolchain whose objects an image holds.
const OBJECTS_LABEL: &str = "atlas.objects";
/// Label: hash of what the dependencies of an image are compiled from.
const DEPENDENCIES_LABEL: &str = "atlas.dependencies";
/// Label: the image of an earlier commit that this one took objects of; empty for none.
const EARLIER_LABEL: &str = "atlas.earlier";
/// Label: a session's files as an image, for another that begins with them; goes with that one.
const FORK_LABEL: &str = "atlas.fork";
/// Label: the process that made it.
const OWNER_LABEL: &str = "atlas.owner";
/// Label: the run it belongs to.
const RUN_LABEL: &str = "atlas.run";
/// Label: what the job is.
const JOB_LABEL: &str = "atlas.job";

/// How to use a container engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerOptions {
    /// Address of the engine, as in `DOCKER_HOST`: `unix:///…`, `tcp://…`, or `ssh://…`, which runs `docker system
    /// dial-stdio` there. `tcp` with `DOCKER_TLS_VERIFY` set, and `https://…`, speak TLS with `ca.pem`, `cert.pem` and
    /// `key.pem` of `DOCKER_CERT_PATH`. Absent: the local engine's usual socket.
    pub host: Option<String>,
    /// Refuse to replace a base image by a near one. Default `false`: a near version is taken and
    /// recorded in the plan's `drift`.
    pub exact: bool,
    /// Whether a base image that is not on this machine may be pulled. Default `true`.
    pub pull: bool,
    /// Other places for images: registry (`docker.io`) -> mirrors, asked in this order before it.
    /// An image at a mirror is the registry's own: it counts as no drift.
    pub mirrors: BTreeMap<String, Vec<String>>,
    /// Images to take in the place of planned ones: `name:tag`, or a repository for all its tags
    /// -> image. Recorded in the plan's `drift`.
    pub base_images: BTreeMap<String, String>,
    /// How often a registry is asked that is busy, unwell or out of reach. Default 5.
    pub pull_attempts: u32,
    /// The first pause between two pulls; later ones double up to five minutes, half of each by
    /// chance, and a registry that asks for a longer one gets it. Default 2 s.
    pub pull_pause: Duration,
    /// How long one pull may take. Default 15 minutes.
    pub pull_timeout: Duration,
    /// How long one build may take. Default one hour.
    pub build_timeout: Duration,
    /// Most bytes that images of Atlas may take up before a build starts; the ones unused for
    /// longest go. Default: no limit.
    pub disk_budget: Option<u64>,
    /// Bytes that must be free where the engine stores images before a build starts; images of
    /// Atlas go to make room. Default 2 GiB. Not checked where the engine is on another machine.
    pub min_free: u64,
    /// Folder in which the last use of each image is noted. Default: none, and then the time when
    /// an image was made counts as its last use.
    pub uses: Option<PathBuf>,
    /// Folder for build contexts while they are sent. Default: the system's temporary folder.
    pub scratch: Option<PathBuf>,
    /// Where packages come from while an image is built.
    pub registries: Registries,
    /// More labels for images and containers. Where there are some, only images that bear them
    /// count for the disk and go to make room.
    pub labels: BTreeMap<String, String>,
}

impl Default for DockerOptions {
    fn default() -> Self {
        Self {
            host: None,
            exact: false,
            pull: true,
            mirrors: BTreeMap::new(),
            base_images: BTreeMap::new(),
            pull_attempts: 5,
            pull_pause: Duration::from_secs(2),
            pull_timeout: Duration::from_secs(15 * 60),
            build_timeout: Duration::from_secs(3600),
            disk_budget: None,
            min_free: 2 << 30,
            uses: None,
            scratch: None,
            registries: Registries::default(),
            labels: BTreeMap::new(),
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
    flavour: Flavour,
    version: String,
    api_version: String,
    /// Limits that this engine says it cannot enforce.
    lacking: Vec<&'static str>,
    storage: String,
    cgroups: String,
    root: String,
}

/// Who answers: engines that speak one API differ in what they print and in what they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    Docker,
    Podman,
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
        let components = version.components.unwrap_or_default();
        let flavour = if components.iter().any(|part| part.name == "Podman Engine") {
            Flavour::Podman
        } else {
            Flavour::Docker
        };
        let number = version.version.unwrap_or_default();
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
                flavour,
                version: match flavour {
                    Flavour::Docker => number,
                    Flavour::Podman => format!("podman {number}"),
                },
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

    /// Version of the engine: `20.10.24`, or `podman 4.3.1`.
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

    fn is_podman(&self) -> bool {
        self.inner.flavour == Flavour::Podman
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
                "{}: is the daemon running? (`unix:///path`, `tcp://host:port` and `ssh://user@host` are understood; \
                 TLS by DOCKER_TLS_VERIFY and DOCKER_CERT_PATH)",
                host.unwrap_or("its usual socket")
            ),
        )
        .with_source(why)
    })
}

/// Words of an engine whose disk is full.
const FULL: &str = "no space left on device";

/// An engine's fault as an error: told apart by who can do something about it, with the way out.
fn fault(operation: &str, subject: &str, why: Fault) -> Error {
    let full = match &why {
        Fault::DockerResponseServerError { message, .. } => message.contains(FULL),
        Fault::DockerStreamError { error } => error.contains(FULL),
        _ => false,
    };
    if full {
        return disk_full(operation, subject).with_source(why);
    }
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
    let subject = if kind == ErrorKind::EngineUnreachable {
        format!(
            "`{subject}`: the engine went away; start it (`docker version` says whether it \
             answers) and give the same command again, which goes on where this one ended"
        )
    } else {
        format!("`{subject}`")
    };
    Error::new(kind, operation, subject).with_source(why)
}

/// What to do about a full disk.
fn disk_full(operation: &str, subject: &str) -> Error {
    Error::new(
        ErrorKind::EngineFailed,
        operation,
        format!(
            "`{subject}`: the engine's disk is full; free some with `docker system prune`, or let \
             Atlas keep fewer images (`engine.disk_budget`, `engine.min_free` in atlas.toml), and \
             give the same command again"
        ),
    )
}
