//! Images of a real engine: what a repository's share, and that they are given back below the limit.

use super::command::line;
use crate::docker::{docker, wanted};
use crate::support::{BASE, FIX, Place};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const HALF: &[(&str, &str)] = &[
    (
        "calc/__init__.py",
        "def double(n):\n    return n + n\n\n\ndef half(n):\n    return n // 2\n",
    ),
    (
        "tests/test_half.py",
        "import unittest\nfrom calc import half\n\n\nclass HalfTest(unittest.TestCase):\n    \
         def test_half(self):\n        self.assertEqual(half(4), 2)\n",
    ),
];

fn configure(place: &Place, min_free: &str) {
    let text = format!(
        "[make]\nconfirm = 1\n[run]\nengine = \"docker\"\ncandidates = [\"candidates.jsonl\"]\nmin_free = \"{min_free}\"\n\
         [run.validate]\ngates = []\n"
    );
    std::fs::write(place.path("atlas.toml"), text).unwrap();
}

/// The image of a candidate, by its lock.
fn image(place: &Place, id: &str) -> Value {
    let lock = place
        .path("run/instances")
        .join(id)
        .join("environment.lock.json");
    serde_json::from_slice(&std::fs::read(lock).unwrap()).unwrap()
}

fn is_there(image: &Value) -> bool {
    let done = Command::new("docker")
        .args(["image", "inspect", image.as_str().unwrap()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.unwrap().success()
}

#[test]
fn images_share_layers_and_those_of_finished_repositories_are_given_back() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let one = place.repository("one", &[BASE, FIX, HALF]);
    let two = place.repository("two", &[BASE, FIX]);
    let lines = [line(&one, "one", 1, 3), line(&one, "one", 2, 3)].concat();
    std::fs::write(place.path("candidates.jsonl"), &lines).unwrap();
    configure(&place, "100 MiB");
    let done = place.run(&["run", "--format", "json"]);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let told = &done.json()["status"]["repositories"][0];
    assert_eq!(
        (&told["repo"], &told["images"]),
        (&"me/one".into(), &2.into())
    );
    let number = |name: &str| told[name].as_u64().unwrap();
    // Python, its tools and the user are the same for both; the checkout is not.
    assert!(
        number("shared_layers") >= 2 && number("shared_layers") < number("layers"),
        "{told:#}"
    );
    assert!(number("shared_bytes") > number("bytes") / 2, "{told:#}");
    assert!(
        number("unshared_bytes") > number("bytes") + number("shared_bytes") / 2,
        "{told:#}"
    );
    let locks = ["me__one-1", "me__one-2"].map(|id| image(&place, id));
    assert!(locks.iter().all(|lock| is_there(&lock["image_id"])));
    // Nothing else is left to make room of, so the run waits until it is stopped.
    let more = lines.clone() + &line(&two, "two", 1, 2);
    std::fs::write(place.path("candidates.jsonl"), more).unwrap();
    configure(&place, "900 TiB");
    let child = place
        .atlas(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while locks.iter().any(|lock| is_there(&lock["image_id"])) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the images stay");
        std::thread::sleep(Duration::from_millis(200));
    }
    let status = loop {
        let status = place.run(&["status", "--format", "json"]).json();
        if status["held"].is_string() {
            break status;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{status:#}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(
        status["held"].as_str().unwrap().contains("run.min_free"),
        "{status:#}"
    );
    assert_eq!(status["image_bytes"], 0, "{status:#}");
    Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status()
        .unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert!(
        said.contains("gave back the environment of me__one-2"),
        "{said}"
    );
    let base = locks[0]["base_image"].as_str().unwrap();
    docker(&["image", "inspect", base]);
    // With room again the other repository is done, and what is finished stays finished.
    configure(&place, "100 MiB");
    let done = place.run(&["run", "--format", "json"]).json();
    assert_eq!(done["work"]["make"]["passed"], 1, "{done:#}");
    assert_eq!(done["status"]["dataset_rows"], 3);
    assert!(!is_there(&locks[0]["image_id"]), "nothing is built again");
    let last = image(&place, "me__two-1");
    docker(&["rmi", "--force", last["image_id"].as_str().unwrap()]);
}
