//! Images at a registry: pushed from here, pulled and run by their digest. Needs a Docker engine and Debian's
//! `docker-registry`.

use crate::docker::{docker, on_docker, row, wanted};
use crate::support::{BASE, FIX, Place, ids};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The bcrypt hash of [`PASSWORD`].
const USERS: &str = "me:$2b$04$CCdmu29Si0XDA.xIerjze.Jm45NyTWIEueIMlPzcbElfFI9y50/WW\n";
const PASSWORD: &str = "not-a-secret";
/// `me:not-a-secret` in base 64, as `docker login` leaves it.
const LOGIN: &str = "bWU6bm90LWEtc2VjcmV0";

/// A registry on this machine that wants a login; gone with its value.
struct Registry {
    process: Child,
    host: String,
}

impl Registry {
    /// None, with a word, where the program is not installed.
    fn start(place: &Place) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        std::fs::write(place.path("users"), USERS).unwrap();
        let text = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {port}\n\
             auth:\n  htpasswd:\n    realm: here\n    path: {}\n",
            place.path("registry").display(),
            place.path("users").display(),
        );
        let file = place.path("registry.yml");
        std::fs::write(&file, text).unwrap();
        let started = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(process) = started else {
            eprintln!("skipped: needs Debian's package docker-registry");
            return None;
        };
        let registry = Self {
            process,
            host: port.to_string(),
        };
        for _ in 0..100 {
            if TcpStream::connect(port).is_ok() {
                return Some(registry);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("the registry does not listen on {port}");
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `atlas images push`, with a folder for docker's configuration and variables.
fn push(
    place: &Place,
    folder: &str,
    variables: &[(&str, &str)],
    args: &[&str],
) -> crate::support::Done {
    let all: Vec<&str> = ["images", "push", "--format", "json"]
        .iter()
        .chain(args)
        .copied()
        .collect();
    let mut command = place.atlas(&all);
    command.env("DOCKER_CONFIG", place.path(folder));
    for name in [
        "ATLAS_REGISTRY",
        "ATLAS_REGISTRY_USER",
        "ATLAS_REGISTRY_PASSWORD",
    ] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    crate::support::Done(command.output().unwrap())
}

#[test]
fn another_machine_pulls_a_row_s_image_by_its_digest_and_gets_the_same_lists() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let Some(registry) = Registry::start(&place) else {
        return;
    };
    let host = registry.host.as_str();
    // An image of its own: other tests make one of the same commits, and remove it.
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("REGISTRY.md", "Pushed and pulled.\n")])
        .collect();
    let repo = place.repository("repo", &[&base, FIX]);
    let template = format!("{host}/tasks/{{instance_id}}:{{key}}");
    let options = ["--instance-id", "me__calc-9", "--image-name", &template];
    let made = place.run(&on_docker(repo.to_str().unwrap(), &options));
    assert_eq!(made.code(), 0, "{}{}", made.stdout(), made.stderr());
    let name = row(&place)["image"].as_str().unwrap().to_owned();
    assert!(
        name.starts_with(&format!("{host}/tasks/me__calc-9:")),
        "{name}"
    );

    // Nobody is let in without a login, and the message says how one is given.
    let refused = push(&place, "nowhere", &[], &[&name]);
    assert_eq!(refused.code(), 1);
    let said = refused.stderr();
    assert!(
        said.contains(&name) && said.contains(&format!("docker login {host}")),
        "{said}"
    );
    let variables = [
        ("ATLAS_REGISTRY", host),
        ("ATLAS_REGISTRY_USER", "me"),
        ("ATLAS_REGISTRY_PASSWORD", PASSWORD),
    ];
    let mut wrong = variables;
    wrong[2].1 = "another-secret";
    let refused = push(&place, "nowhere", &wrong, &[&name]);
    assert_eq!(refused.code(), 1);
    let said = refused.stderr();
    assert!(
        said.contains("does not take this login") && !said.contains("secret"),
        "{said}"
    );
    let missing = push(
        &place,
        "nowhere",
        &variables,
        &[&format!("{host}/tasks/other:1")],
    );
    assert!(
        missing.stderr().contains("no such image"),
        "{}",
        missing.stderr()
    );

    // A login out of the environment, of a helper and of docker's configuration.
    let done = push(&place, "nowhere", &variables, &[&name]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    let digest = done.json()["pushed"][0]["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    let configure = |folder: &str, text: &str| {
        std::fs::create_dir_all(place.path(folder)).unwrap();
        std::fs::write(place.path(folder).join("config.json"), text).unwrap();
    };
    configure(
        "helper",
        &format!("{{\"credHelpers\": {{\"{host}\": \"atlas-test\"}}}}"),
    );
    let helper = place.path("helper/docker-credential-atlas-test");
    // A helper reads what it is asked before it answers.
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\necho '{{\"Username\": \"me\", \"Secret\": \"{PASSWORD}\"}}'\n"
    );
    std::fs::write(&helper, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&helper, executable).unwrap();
    let path = format!(
        "{}:{}",
        place.path("helper").display(),
        std::env::var("PATH").unwrap()
    );
    let done = push(&place, "helper", &[("PATH", &path)], &[&name]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    configure(
        "login",
        &format!("{{\"auths\": {{\"{host}\": {{\"auth\": \"{LOGIN}\"}}}}}}"),
    );
    let done = push(&place, "login", &[], &["--dataset", "out/dataset.jsonl"]);
    assert_eq!(done.code(), 0, "{}", done.stderr());
    assert_eq!(done.json()["rows"], 1);
    let pinned = row(&place)["image"].as_str().unwrap().to_owned();
    assert_eq!(pinned, format!("{host}/tasks/me__calc-9@{digest}"));

    // Without the image, the row's own is pulled, and grades the gold patch as it was made.
    let id = row(&place)["atlas"]["image_id"]
        .as_str()
        .unwrap()
        .to_owned();
    docker(&["rmi", "--force", &id]);
    let config = place.path("login");
    docker(&[
        "--config",
        config.to_str().unwrap(),
        "pull",
        "--quiet",
        &pinned,
    ]);
    let done = place.run(&[
        "eval",
        "--dataset",
        "out/dataset.jsonl",
        "--predictions",
        "gold",
        "--run-id",
        "pulled",
        "--engine",
        "docker",
        "--format",
        "json",
    ]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let report = place.path("logs/run_evaluation/pulled/gold/me__calc-9/report.json");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let report = &report["me__calc-9"];
    assert_eq!(report["resolved"], true, "{report}");
    for list in ["FAIL_TO_PASS", "PASS_TO_PASS"] {
        assert_eq!(
            ids(&report["tests_status"][list], "success"),
            ids(&made.json(), list)
        );
        assert_eq!(
            ids(&report["tests_status"][list], "failure"),
            Vec::<String>::new()
        );
    }
    docker(&["rmi", "--force", &id]);
}
