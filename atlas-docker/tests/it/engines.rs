//! Engines behind the Docker API, for tests that all of them have to pass.
//!
//! Nothing runs without `ATLAS_TEST_DOCKER=1`; with it a missing Docker is a failure. Podman is
//! tried where it is installed: each test process starts its own service and ends it.

use atlas_docker::{DockerEngine, DockerOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The image that tests build on.
pub(crate) const BASE: &str = "debian:bookworm-slim";

/// An engine whose images and containers bear a label of this test and go with it.
pub(crate) struct Engine {
    pub(crate) connection: DockerEngine,
    pub(crate) label: String,
    host: Option<String>,
    /// Ended after everything else.
    service: Option<Podman>,
}

/// Whether tests with engines were asked for; says so where not.
pub(crate) fn wanted() -> bool {
    let wanted = std::env::var("ATLAS_TEST_DOCKER").as_deref() == Ok("1");
    if !wanted {
        println!("skipped: ATLAS_TEST_DOCKER=1 runs it");
    }
    wanted
}

/// Options of tests: nothing is pulled, and everything bears the label.
pub(crate) fn options(label: &str, host: Option<String>) -> DockerOptions {
    DockerOptions {
        host,
        pull: false,
        labels: BTreeMap::from([("atlas.test".to_owned(), label.to_owned())]),
        // How full the machine's disk is says nothing about what is tested.
        min_free: 64 << 20,
        ..DockerOptions::default()
    }
}

impl Engine {
    /// Docker, or nothing where engines were not asked for.
    pub(crate) async fn docker_only(label: &str) -> Option<Self> {
        if !wanted() {
            return None;
        }
        let host = std::env::var("DOCKER_HOST").ok();
        Some(Self::open(label, host, None).await)
    }

    /// Docker, and Podman where it is installed.
    pub(crate) async fn all(label: &str) -> Vec<Self> {
        Self::all_with(label, "").await
    }

    /// Likewise, with a file of registries for Podman.
    pub(crate) async fn all_with(label: &str, registries: &str) -> Vec<Self> {
        let Some(docker) = Self::docker_only(label).await else {
            return Vec::new();
        };
        let mut engines = vec![docker];
        if let Some(service) = Podman::start(registries) {
            service.needs(BASE);
            let host = Some(service.host());
            engines.push(Self::open(label, host, Some(service)).await);
        }
        engines
    }

    async fn open(label: &str, host: Option<String>, service: Option<Podman>) -> Self {
        let label = format!("{label}-{}", std::process::id());
        let engine = DockerEngine::connect(options(&label, host.clone())).await;
        let engine = engine.unwrap_or_else(|why| panic!("{}", why.chain()));
        println!("engine {}", engine.version());
        Self {
            connection: engine,
            label,
            host,
            service,
        }
    }

    pub(crate) fn podman(&self) -> Option<&Podman> {
        self.service.as_ref()
    }

    /// The service that was started for this test, if it was.
    pub(crate) fn service(&mut self) -> Option<&mut Podman> {
        self.service.as_mut()
    }

    pub(crate) fn options(&self) -> DockerOptions {
        options(&self.label, self.host.clone())
    }

    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    pub(crate) fn is_podman(&self) -> bool {
        self.connection.version().starts_with("podman")
    }

    /// Lines that Docker's program prints, of this engine.
    pub(crate) fn docker(&self, arguments: &[&str]) -> Vec<String> {
        let mut command = Command::new("docker");
        if let Some(host) = &self.host {
            command.env("DOCKER_HOST", host);
        }
        let output = command.args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn containers(&self) -> Vec<String> {
        let filter = format!("label=atlas.test={}", self.label);
        self.docker(&["ps", "-aq", "--filter", &filter])
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let filter = format!("label=atlas.test={}", self.label);
        for image in self.docker(&["images", "-q", "--filter", &filter]) {
            self.docker(&["rmi", "-f", &image]);
        }
        if !std::thread::panicking() {
            assert_eq!(
                self.containers(),
                Vec::<String>::new(),
                "containers are left"
            );
        }
    }
}

/// A service of Podman's Docker API.
pub(crate) struct Podman {
    child: Child,
    folder: tempfile::TempDir,
    /// One test at a time: two services on one store take each other's layers away.
    _turn: std::fs::File,
}

impl Podman {
    /// Starts one; `None`, with a word, where Podman is not installed.
    pub(crate) fn start(registries: &str) -> Option<Self> {
        let installed = Command::new("podman")
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            println!("skipped for podman: it is not installed");
            return None;
        }
        let turn = std::env::temp_dir().join("atlas-test-podman.lock");
        let turn = std::fs::File::create(turn).unwrap();
        rustix::fs::flock(&turn, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // A service that may not raise limits must be told ones that it has.
        let files = std::fs::read_to_string("/proc/self/limits").unwrap();
        let limit = |name: &str| {
            let line = files.lines().find(|line| line.starts_with(name)).unwrap();
            let hard: Option<u64> = line.split_whitespace().rev().nth(1).unwrap().parse().ok();
            hard.unwrap_or(32_768).min(32_768)
        };
        let (open, processes) = (limit("Max open files"), limit("Max processes"));
        let settings = format!(
            "[containers]\ndefault_ulimits = [\"nofile={open}:{open}\", \"nproc={processes}:{processes}\"]\n\
             [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n"
        );
        std::fs::write(folder.path().join("containers.conf"), settings).unwrap();
        std::fs::write(folder.path().join("registries.conf"), registries).unwrap();
        let started = Self {
            child: Self::spawn(folder.path()),
            folder,
            _turn: turn,
        };
        started.wait();
        Some(started)
    }

    fn spawn(folder: &Path) -> Child {
        Command::new("podman")
            .args(["system", "service", "--time", "0"])
            .arg(format!("unix://{}/podman.sock", folder.display()))
            .env("CONTAINERS_CONF", folder.join("containers.conf"))
            .env("CONTAINERS_REGISTRIES_CONF", folder.join("registries.conf"))
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn wait(&self) {
        let socket = self.folder.path().join("podman.sock");
        for _ in 0..200 {
            if std::os::unix::net::UnixStream::connect(&socket).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("podman's service does not answer");
    }

    pub(crate) fn host(&self) -> String {
        format!("unix://{}/podman.sock", self.folder.path().display())
    }

    /// Kills the service, as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again at the same address.
    pub(crate) fn restart(&mut self) {
        let socket = self.folder.path().join("podman.sock");
        let _ = std::fs::remove_file(socket);
        self.child = Self::spawn(self.folder.path());
        self.wait();
    }

    /// Copies an image from Docker where it is not there yet: nothing is pulled in tests.
    pub(crate) fn needs(&self, image: &str) {
        let there = Command::new("podman")
            .args(["image", "exists", image])
            .status();
        if there.unwrap().success() {
            return;
        }
        let archive = self.folder.path().join("image.tar");
        for (program, verb, flag) in [("docker", "save", "-o"), ("podman", "load", "-i")] {
            let mut command = Command::new(program);
            command.args([verb, flag]).arg(&archive);
            if verb == "save" {
                command.arg(image);
            }
            assert!(
                command.output().unwrap().status.success(),
                "{program} {verb}"
            );
        }
        std::fs::remove_file(archive).unwrap();
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
