//! An engine that dies in the middle of a run.

use crate::eval_runs::docker_is_wanted;
use crate::eval_support::{docker, predictions, verdict};
use crate::support::Place;
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A Docker daemon of this test's own, with its data in memory: no other is touched.
struct Daemon {
    child: Option<Child>,
    folder: tempfile::TempDir,
}

impl Daemon {
    /// Starts one; `None`, with a word, where none starts.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=600m", "tmpfs"])
            .arg(&data)
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("skipped: a file system in memory cannot be mounted here");
            return None;
        }
        let mut daemon = Self {
            child: None,
            folder,
        };
        daemon.spawn();
        if !daemon.answers() {
            eprintln!("skipped: a second Docker daemon does not start here");
            return None;
        }
        Some(daemon)
    }

    fn host(&self) -> String {
        format!("unix://{}/docker.sock", self.folder.path().display())
    }

    fn spawn(&mut self) {
        let place = self.folder.path();
        let _ = std::fs::remove_file(place.join("pid"));
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

    fn docker(&self, args: &[&str]) -> std::process::Output {
        let mut command = Command::new("docker");
        command.env("DOCKER_HOST", self.host()).args(args);
        command.output().unwrap()
    }

    fn answers(&self) -> bool {
        self.child.is_some()
            && (0..600).any(|_| {
                std::thread::sleep(Duration::from_millis(100));
                self.docker(&["version"]).status.success()
            })
    }

    fn stop(&mut self, how: &str) {
        if let Some(mut child) = self.child.take() {
            let pid = child.id().to_string();
            let _ = Command::new("kill").args([how, &pid]).status();
            let _ = child.wait();
        }
    }

    /// With the containerd that it started: elsewhere that one is another service's.
    fn kill(&mut self) {
        self.stop("-KILL");
        let pid = self.folder.path().join("exec/containerd/containerd.pid");
        if let Ok(text) = std::fs::read_to_string(&pid) {
            let _ = Command::new("kill").args(["-KILL", text.trim()]).status();
            let _ = std::fs::remove_file(pid);
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.child.is_none() {
            self.spawn();
            self.answers();
        }
        self.stop("-TERM");
        let data = self.folder.path().join("data");
        let _ = Command::new("umount").arg("-l").arg(data).status();
    }
}

/// A small image whose tests are a shell script, and the row for it.
fn image(place: &Place, name: &str) {
    let root = place.path("image/testbed");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::write(root.join("answer"), "41\n").unwrap();
    std::fs::write(
        place.path("image/Dockerfile"),
        "FROM debian:bookworm-slim\nCOPY testbed /testbed\nWORKDIR /testbed\n",
    )
    .unwrap();
    docker(&[
        "build",
        "-q",
        "-t",
        name,
        place.path("image").to_str().unwrap(),
    ]);
    let patch = "diff --git a/answer b/answer\n--- a/answer\n+++ b/answer\n@@ -1 +1 @@\n-41\n+42\n";
    let row = json!({
        "repo": "me/answer",
        "instance_id": "me__answer-1",
        "base_commit": "0123456789012345678901234567890123456789",
        "patch": patch,
        "test_patch": "",
        "version": "1",
        "image": name,
        "FAIL_TO_PASS": ["answer"],
        "PASS_TO_PASS": [],
        "log_parser": "tap",
        "eval_script": "#!/bin/bash\ncd /testbed\n: '>>>>> Start Test Output'\n\
            echo TAP version 13; echo 1..1; sleep 3\n\
            if grep -q 42 answer; then echo 'ok 1 - answer'; else echo 'not ok 1 - answer'; exit 1; fi\n\
            : '>>>>> End Test Output'\n",
    });
    std::fs::write(place.path("rows.jsonl"), format!("{row}\n")).unwrap();
    let others = ["first", "second", "third"].map(|model| {
        let comment = format!(
            "diff --git a/{model} b/{model}\nnew file mode 100644\n--- /dev/null\n\
             +++ b/{model}\n@@ -0,0 +1 @@\n+{model}\n"
        );
        ("me__answer-1", model, json!(format!("{patch}{comment}")))
    });
    predictions(place, &others);
}

#[test]
fn a_run_goes_on_when_its_engine_is_back() {
    if !docker_is_wanted() || std::env::var_os("ATLAS_TEST_ENGINE_DEATHS").is_none() {
        eprintln!("skipped: ATLAS_TEST_ENGINE_DEATHS is not set");
        return;
    }
    let Some(mut daemon) = Daemon::start() else {
        return;
    };
    let place = Place::new();
    let name = format!("atlas-test-death-{}:latest", std::process::id());
    image(&place, &name);
    let archive = place.path("image.tar");
    docker(&["save", "-o", archive.to_str().unwrap(), &name]);
    let loaded = daemon.docker(&["load", "-i", archive.to_str().unwrap()]);
    assert!(loaded.status.success(), "{loaded:?}");

    let mut args = crate::eval_support::eval_image("r", &[]);
    args.retain(|arg| !["docker", "--engine"].contains(arg));
    let child = place
        .atlas(&args)
        .env("DOCKER_HOST", daemon.host())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Amid the second prediction's tests, then for a while longer than one call takes.
    let first = place.path("logs/run_evaluation/r/first/me__answer-1/verdict.json");
    for _ in 0..1200 {
        if first.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(first.exists(), "the first prediction is graded");
    std::thread::sleep(Duration::from_millis(1500));
    daemon.kill();
    std::thread::sleep(Duration::from_secs(8));
    daemon.spawn();
    assert!(daemon.answers(), "the daemon does not come back");
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(0), "{said}");
    let report = serde_json::from_slice(&done.stdout).unwrap();
    for model in ["first", "second", "third"] {
        assert_eq!(verdict(&report, model)["resolved"], true, "{report:#}");
    }
    let left = daemon.docker(&["ps", "-aq", "--filter", "label=atlas.run"]);
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
    docker(&["rmi", "--force", &name]);
}
