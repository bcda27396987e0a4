//! Engines that die in the middle, and one whose disk is full.

use crate::docker::dockerfile;
use crate::engines::{BASE, Engine, options, wanted};
use crate::support::{built, job, plan, repository, run, runs, text, wait_until};
use atlas_core::{ErrorKind, ExitState, RunContext, Sandbox};
use atlas_docker::{Builder, DockerBuilder, DockerEngine, DockerSandbox};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Whether engines are to be killed: tests of minutes, which a busy machine can make fail.
fn killing_is_wanted() -> bool {
    let wanted = wanted() && std::env::var_os("ATLAS_TEST_ENGINE_DEATHS").is_some();
    if !wanted {
        println!("skipped: ATLAS_TEST_DOCKER and ATLAS_TEST_ENGINE_DEATHS are not both set");
    }
    wanted
}

/// An engine that a test may kill and start again.
trait Mortal {
    fn kill(&mut self);
    fn restart(&mut self);
}

impl Mortal for crate::engines::Podman {
    fn kill(&mut self) {
        self.kill();
    }

    fn restart(&mut self) {
        self.restart();
    }
}

/// A second Docker daemon, with a data folder in memory.
struct Daemon {
    child: Option<Child>,
    folder: tempfile::TempDir,
}

impl Daemon {
    /// Starts one whose disk holds this many megabytes; `None`, with a word, where none starts.
    fn start(megabytes: u64) -> Option<Self> {
        if !killing_is_wanted() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"])
            .arg(&data)
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            println!("skipped: a file system in memory cannot be mounted here");
            return None;
        }
        let mut daemon = Self {
            child: None,
            folder,
        };
        daemon.spawn();
        if !daemon.answers(300) {
            println!("skipped: a second Docker daemon does not start here");
            return None;
        }
        Some(daemon)
    }

    fn spawn(&mut self) {
        let place = self.folder.path();
        // In a network of its own: a second daemon would take the first one's bridge away.
        let spawned = Command::new("unshare")
            .args(["--net", "--", "dockerd"])
            .args([
                "--bridge=none",
                "--iptables=false",
                "--storage-driver=overlay2",
            ])
            .arg(format!("--host={}", self.host()))
            .arg(format!("--data-root={}", place.join("data").display()))
            .arg(format!("--exec-root={}", place.join("exec").display()))
            .arg(format!("--pidfile={}", place.join("pid").display()))
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(place.join("log")).unwrap())
            .spawn();
        self.child = spawned.ok();
    }

    fn host(&self) -> String {
        format!("unix://{}/docker.sock", self.folder.path().display())
    }

    fn docker(&self, arguments: &[&str]) -> std::process::Output {
        Command::new("docker")
            .env("DOCKER_HOST", self.host())
            .args(arguments)
            .output()
            .unwrap()
    }

    fn answers(&self, tenths: u32) -> bool {
        self.child.is_some()
            && (0..tenths).any(|_| {
                std::thread::sleep(Duration::from_millis(100));
                self.docker(&["version"]).status.success()
            })
    }

    fn load(&self, image: &str) {
        let archive = self.folder.path().join("image.tar");
        let path = archive.to_str().unwrap();
        let saved = Command::new("docker")
            .args(["save", "-o", path, image])
            .status();
        assert!(saved.unwrap().success());
        let loaded = self.docker(&["load", "-i", path]);
        assert!(loaded.status.success(), "{loaded:?}");
        std::fs::remove_file(archive).unwrap();
    }

    fn stop(&mut self, how: &str) {
        if let Some(mut child) = self.child.take() {
            let _ = Command::new("kill")
                .args([how, &child.id().to_string()])
                .status();
            let _ = child.wait();
        }
    }
}

impl Mortal for Daemon {
    /// With the containerd that it started: elsewhere that one is another service's.
    fn kill(&mut self) {
        self.stop("-KILL");
        let pid = self.folder.path().join("exec/containerd/containerd.pid");
        if let Ok(text) = std::fs::read_to_string(&pid) {
            let _ = Command::new("kill").args(["-KILL", text.trim()]).status();
            // Where nobody reaps it, its number looks alive.
            let _ = std::fs::remove_file(pid);
        }
    }

    fn restart(&mut self) {
        let _ = std::fs::remove_file(self.folder.path().join("pid"));
        self.spawn();
        assert!(self.answers(600), "the daemon does not come back");
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Asked to end it takes its containerd along; one that was killed has left it behind.
        if self.child.is_none() {
            self.spawn();
            self.answers(300);
        }
        self.stop("-TERM");
        let data = self.folder.path().join("data");
        let _ = Command::new("umount").arg("-l").arg(data).status();
    }
}

/// Kills an engine while it builds and while it runs; both are errors that say what to do, and the
/// same calls work once it is back, with nothing left of the first.
async fn dies_and_comes_back(
    connection: &DockerEngine,
    label: &str,
    seconds: u64,
    mortal: &mut dyn Mortal,
    containers: &dyn Fn() -> Vec<String>,
) {
    let folder = tempfile::tempdir().unwrap();
    let cx = RunContext::new("engine-tests");
    let repository = repository(folder.path());
    let plan = plan(&[]);
    let builder = DockerBuilder::new(connection.clone());
    let sandbox = DockerSandbox::new(connection.clone());
    let number = format!("{seconds}.5");
    // A layer of its own: one that another run left would not be built.
    let slow = format!("{}RUN : {label}; sleep {number}\n", dockerfile(label));
    let (ended, ()) = tokio::join!(builder.build(&cx, &repository, &plan, &slow), async {
        let wait = {
            let number = number.clone();
            move || wait_until("the step runs", || runs(&number))
        };
        tokio::task::spawn_blocking(wait).await.unwrap();
        mortal.kill();
    });
    let why = ended.expect_err("the engine is gone");
    assert_eq!(why.kind(), ErrorKind::EngineUnreachable, "{}", why.chain());
    let words = why.chain();
    assert!(
        words.contains("docker version") && words.contains("again"),
        "{words}"
    );
    let again = builder.build(&cx, &repository, &plan, &slow).await;
    assert_eq!(
        again.expect_err("still gone").kind(),
        ErrorKind::EngineUnreachable
    );
    mortal.restart();
    let (environment, ..) = built(&builder, &repository, &plan, &slow).await;

    let long = job("long", "sleep 7654.5");
    let (ended, ()) = tokio::join!(sandbox.run(&cx, &environment, &long), async {
        let wait = || wait_until("the job runs", || runs("7654.5"));
        tokio::task::spawn_blocking(wait).await.unwrap();
        mortal.kill();
    });
    let why = ended.expect_err("the engine is gone");
    assert_eq!(why.kind(), ErrorKind::EngineUnreachable, "{}", why.chain());
    mortal.restart();
    let short = run(&sandbox, &environment, &job("short", "echo back")).await;
    assert_eq!(text(&short), "back\n");
    // This process lives, and still the container of a run that it has given up goes.
    for _ in 0..60 {
        connection.sweep().await.unwrap();
        if containers().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    wait_until("its process ends", || !runs("7654.5"));
    wait_until("its container goes", || containers().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn podman_dies_and_comes_back() {
    if !killing_is_wanted() {
        return;
    }
    for mut engine in Engine::all("death").await {
        let (connection, label) = (engine.connection.clone(), engine.label.clone());
        let host = engine.host().map(str::to_owned);
        let Some(service) = engine.service() else {
            continue;
        };
        let list = || {
            let filter = format!("label=atlas.test={label}");
            let output = Command::new("docker")
                .env("DOCKER_HOST", host.as_deref().unwrap())
                .args(["ps", "-aq", "--filter", &filter])
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            text.lines().map(str::to_owned).collect()
        };
        dies_and_comes_back(&connection, &label, 6, service, &list).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn docker_dies_and_comes_back() {
    let Some(mut daemon) = Daemon::start(900) else {
        return;
    };
    daemon.load(BASE);
    let label = format!("death-{}", std::process::id());
    let host = daemon.host();
    let mut small = options(&label, Some(host.clone()));
    small.min_free = 0;
    let connection = DockerEngine::connect(small).await.unwrap();
    let list = || {
        let output = Command::new("docker")
            .env("DOCKER_HOST", &host)
            .args(["ps", "-aq", "--filter", "label=atlas.run"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(str::to_owned).collect()
    };
    dies_and_comes_back(&connection, &label, 7, &mut daemon, &list).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_the_engine_s_fault() {
    let Some(daemon) = Daemon::start(700) else {
        return;
    };
    daemon.load(BASE);
    let label = format!("full-{}", std::process::id());
    let mut roomy = options(&label, Some(daemon.host()));
    roomy.min_free = 0;
    let connection = DockerEngine::connect(roomy.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (cx, plan) = (RunContext::new("engine-tests"), plan(&[]));
    let repository = repository(folder.path());
    let builder = DockerBuilder::new(connection.clone());
    let filling = format!("{}RUN cat /dev/zero > /tmp/full\n", dockerfile(&label));
    let why = builder
        .build(&cx, &repository, &plan, &filling)
        .await
        .expect_err("no room");
    assert_eq!(why.kind(), ErrorKind::EngineFailed, "{}", why.chain());
    let words = why.chain();
    assert!(
        words.contains("disk is full") && words.contains("prune"),
        "{words}"
    );

    // What failed has left nothing, so the same disk holds a smaller environment.
    let (environment, ..) = built(&builder, &repository, &plan, &dockerfile(&label)).await;
    let sandbox = DockerSandbox::new(connection);
    let mut fill = job("fill", "cat /dev/zero > /tmp/full; exit 1");
    // This disk lies in memory, and what is written to it counts as the container's.
    fill.limits.memory_bytes = 8 << 30;
    let why = sandbox
        .run(&cx, &environment, &fill)
        .await
        .expect_err("the tests are not to blame");
    assert!(why.chain().contains("disk is full"), "{}", why.chain());
    let fine = run(&sandbox, &environment, &job("fine", "true")).await;
    assert_eq!(fine.exit, ExitState::Exited { code: 0 });

    let strict = atlas_docker::DockerOptions {
        min_free: 1 << 30,
        ..roomy
    };
    let strict = DockerBuilder::new(DockerEngine::connect(strict).await.unwrap());
    let why = strict
        .build(&cx, &repository, &plan, &filling)
        .await
        .expect_err("refused before it starts");
    assert!(why.chain().contains("min_free"), "{}", why.chain());
}
