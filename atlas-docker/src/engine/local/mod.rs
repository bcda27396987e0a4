//! The local engine: the same plan carried out in a work folder of this machine.

mod builder;
mod cgroup;
mod files;
mod kept;
mod launch;
mod process;
mod sandbox;
mod session;
mod store;
mod toolchain;
mod walls;
mod width;
mod workspace;

pub use builder::LocalBuilder;
pub use sandbox::LocalSandbox;

use atlas_core::{Error, ErrorKind};
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use toolchain::Toolchains;
use walls::Walls;

/// Whether scripts run behind bubblewrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bubblewrap {
    /// Where it is installed and works.
    #[default]
    Auto,
    /// Never: plain processes, for trusted code only.
    Never,
    /// Always; without it the engine does not open.
    Require,
}

/// How to use this machine as an engine.
#[derive(Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// The work folder: environments and running jobs live below it. It is made if it is missing.
    pub root: PathBuf,
    /// Run untrusted code even where nothing keeps it apart. Default `false`.
    pub trust: bool,
    /// Whether to use bubblewrap. Default [`Bubblewrap::Auto`].
    pub bubblewrap: Bubblewrap,
    /// Where programs are looked for, as in `PATH`.
    pub path: String,
    /// Variables for builds only: certificates, proxies, package indexes. Never seen by tests.
    pub build_env: BTreeMap<String, String>,
    /// This user's own folder. Scripts behind bubblewrap get no toolchain and no setting's folder
    /// that would let them read all of it. Default: what this process has as its home.
    pub home: Option<PathBuf>,
    /// How long one build may take. Default one hour.
    pub build_timeout: Duration,
    /// Memory in bytes that one build may use. Default 8 GiB.
    ///
    /// This limit and the next are kept as a job's are: by control groups where this user may make
    /// them, else by a look five times a second. Processor time, disk space and what a build loads
    /// from the network are not limited.
    pub build_memory_bytes: u64,
    /// Processes and threads of one build alive at once. Default 4,096.
    pub build_processes: u64,
}

impl std::fmt::Debug for LocalOptions {
    /// Values of build variables may hold passwords, so only their names are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalOptions")
            .field("root", &self.root)
            .field("trust", &self.trust)
            .field("bubblewrap", &self.bubblewrap)
            .field("path", &self.path)
            .field("build_env", &self.build_env.keys())
            .field("home", &self.home)
            .field("build_timeout", &self.build_timeout)
            .field("build_memory_bytes", &self.build_memory_bytes)
            .field("build_processes", &self.build_processes)
            .finish()
    }
}

/// Where programs are when nobody says otherwise.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

impl LocalOptions {
    /// Defaults with this work folder and no settings of the machine.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            trust: false,
            bubblewrap: Bubblewrap::Auto,
            path: USUAL_PATH.to_owned(),
            build_env: BTreeMap::new(),
            home: std::env::home_dir(),
            build_timeout: Duration::from_secs(3600),
            build_memory_bytes: 8 << 30,
            build_processes: 4096,
        }
    }

    /// Takes `PATH` and what package managers need to reach their indexes from an environment,
    /// as of [`std::env::vars`]; everything else is left out.
    #[must_use]
    pub fn with_environment(
        mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Self {
        for (name, value) in variables {
            if name == "PATH" {
                self.path = value;
            } else if is_package_setting(&name) {
                self.build_env.insert(name, value);
            }
        }
        self
    }
}

/// Certificates, proxies and package indexes by the names that their tools read.
fn is_package_setting(name: &str) -> bool {
    const NAMES: [&str; 15] = [
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
        "GIT_SSL_CAINFO",
        "CARGO_HTTP_CAINFO",
        "CARGO_HTTP_PROXY",
        "GOPROXY",
        "GOSUMDB",
        "GONOSUMDB",
        "GONOSUMCHECK",
        "GOPRIVATE",
        "GOINSECURE",
        "RUSTUP_DIST_SERVER",
    ];
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&name)
        || matches!(
            upper.as_str(),
            "HTTP_PROXY" | "HTTPS_PROXY" | "NO_PROXY" | "ALL_PROXY"
        )
        || ["PIP_", "UV_", "YARN_", "CARGO_REGISTRIES_", "CARGO_SOURCE_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || upper.starts_with("NPM_CONFIG_")
}

/// This machine as an engine; clones share it.
#[derive(Clone, Debug)]
pub struct LocalEngine {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: LocalOptions,
    walls: Walls,
    toolchains: OnceCell<Toolchains>,
}

impl LocalEngine {
    /// Makes the work folder and finds out what can keep scripts apart here.
    ///
    /// # Errors
    /// A work folder that cannot be made; [`ErrorKind::ToolFailed`] where bubblewrap is required
    /// and does not work.
    ///
    /// # Cancellation
    /// Dropping the future is harmless.
    pub async fn open(mut options: LocalOptions) -> Result<Self, Error> {
        for folder in ["env", "jobs"] {
            let folder = options.root.join(folder);
            fs::create_dir_all(&folder).map_err(|why| Error::io("make", &folder, why))?;
        }
        options.root = fs::canonicalize(&options.root)
            .map_err(|why| Error::io("find", &options.root.clone(), why))?;
        let walls = match options.bubblewrap {
            Bubblewrap::Never => Walls::None,
            Bubblewrap::Auto | Bubblewrap::Require => match walls::probe(&options.path).await {
                Ok(found) => Walls::Bubblewrap(found),
                Err(why) if options.bubblewrap == Bubblewrap::Auto => {
                    tracing::debug!(%why, "no bubblewrap");
                    Walls::None
                }
                Err(why) => {
                    return Err(Error::new(
                        ErrorKind::ToolFailed,
                        "use bubblewrap",
                        format!("which is required: {why}"),
                    ));
                }
            },
        };
        Ok(Self {
            inner: Arc::new(Inner {
                options,
                walls,
                toolchains: OnceCell::new(),
            }),
        })
    }

    /// Whether scripts run behind bubblewrap.
    pub fn is_walled(&self) -> bool {
        matches!(self.inner.walls, Walls::Bubblewrap(_))
    }

    /// Removes folders and control groups of jobs whose process has ended; returns the jobs'
    /// names, sorted.
    ///
    /// A running job holds a lock that ends with its process, however that ends, so a job of a
    /// living process is never touched, wherever that process runs.
    ///
    /// # Errors
    /// When the work folder cannot be read or a leftover cannot be removed.
    ///
    /// # Cancellation
    /// The work is done in one piece on a thread of its own.
    pub async fn sweep(&self) -> Result<Vec<String>, Error> {
        let jobs = self.inner.options.root.join("jobs");
        blocking("sweep", move || {
            let mut removed = Vec::new();
            let entries = fs::read_dir(&jobs).map_err(|why| Error::io("read", &jobs, why))?;
            for entry in entries.flatten() {
                let path = entry.path();
                if path.extension().is_none_or(|kind| kind != "lock") {
                    continue;
                }
                let Ok(lock) = File::open(&path) else {
                    continue;
                };
                if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
                    continue;
                }
                let folder = path.with_extension("");
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                process::end_marked(&name);
                cgroup::remove_named(&name);
                files::remove_tree(&folder)?;
                fs::remove_file(&path).map_err(|why| Error::io("remove", &path, why))?;
                removed.push(name.into_owned());
            }
            removed.sort();
            Ok(removed)
        })
        .await
    }

    fn root(&self) -> &Path {
        &self.inner.options.root
    }

    fn options(&self) -> &LocalOptions {
        &self.inner.options
    }

    fn walls(&self) -> &Walls {
        &self.inner.walls
    }

    /// What is installed here; asked once.
    async fn toolchains(&self) -> &Toolchains {
        let path = &self.inner.options.path;
        self.inner
            .toolchains
            .get_or_init(|| toolchain::find(path))
            .await
    }
}

/// Runs file work on a thread that may block.
async fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|why| Error::new(ErrorKind::Internal, what, "").with_source(why))?
}

/// Version of a bubblewrap that works, or why there is none.
pub(super) async fn probe_bubblewrap(path: &str) -> Result<String, String> {
    walls::probe(path).await.map(|found| found.version)
}

/// First line of what a program says of its version.
pub(super) async fn program_version(name: &str, path: &str) -> Option<String> {
    let program = toolchain::look_up(name, path)?;
    let argument = if name == "go" { "version" } else { "--version" };
    toolchain::ask(&program, &[argument], path).await
}
