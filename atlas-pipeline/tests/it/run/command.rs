//! The real command on small repositories, with the local engine.

use crate::support::{BASE, FIX, Place, git};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Seven pull requests of four repositories: four that become instances, one without a test, one of a language that nobody
/// knows, and one whose commit is missing.
struct Run {
    place: Place,
}

impl Run {
    fn new() -> Self {
        let run = Self {
            place: Place::new(),
        };
        let more = [
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
        let untested = [("README.md", "words\n")];
        let unknown = [("lib.xyz", "one\n"), ("tests/test_lib.xyz", "one\n")];
        let unknown_too = [("lib.xyz", "two\n"), ("tests/test_lib.xyz", "two\n")];
        let mut lines = String::new();
        for (name, commits) in [
            ("one", vec![BASE, FIX, &more]),
            ("two", vec![BASE, FIX]),
            ("three", vec![BASE, FIX, &untested]),
            ("four", vec![&unknown, &unknown_too]),
        ] {
            let repo = run.place.repository(name, &commits);
            for number in 1..commits.len() {
                lines.push_str(&line(&repo, name, number, commits.len()));
            }
        }
        lines.push_str(
            &lines
                .lines()
                .next()
                .unwrap()
                .replace("\"number\":1", "\"number\":9")
                .replace(
                    &git(&run.place.path("one"), &["rev-parse", "HEAD~2"]),
                    &"a".repeat(40),
                ),
        );
        lines.push('\n');
        std::fs::write(run.place.path("candidates.jsonl"), lines).unwrap();
        run.configure("run", "");
        run
    }

    fn configure(&self, folder: &str, more: &str) {
        let text = format!(
            "[local]\ntrust = true\n[make]\nconfirm = 1\n[run]\nfolder = \"{folder}\"\nengine = \"local\"\n\
             candidates = [\"candidates.jsonl\"]\nmin_free = \"100 MiB\"\nparallel = 2\n{more}\n\
             [run.validate]\ngates = [\"gold_patch\", \"null_patch\"]\n"
        );
        std::fs::write(self.place.path("atlas.toml"), text).unwrap();
    }

    fn spawn(&self) -> Child {
        self.place
            .atlas(&["run"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn dataset(&self, folder: &str) -> String {
        std::fs::read_to_string(self.place.path(folder).join("dataset.jsonl")).unwrap()
    }

    /// The steps that ended, with how often each was begun, by what the store tells.
    fn story(&self, id: &str) -> Value {
        self.place.run(&["why", id, "--format", "json"]).json()
    }
}

pub(super) fn line(repo: &Path, name: &str, number: usize, commits: usize) -> String {
    let commit = |at: usize| git(repo, &["rev-parse", &format!("HEAD~{}", commits - 1 - at)]);
    let line = serde_json::json!({
        "repo": format!("me/{name}"), "clone": repo, "source": "clone", "number": number,
        "base": commit(number - 1), "head": commit(number), "title": "a change",
        "merged_at": format!("2024-01-0{number}T00:00:00Z"),
        "issues": [{ "repo": format!("me/{name}"), "number": 70 + number, "title": "It is wrong", "body": "Negative numbers.",
            "evidence": [] }],
    });
    format!("{line}\n")
}

fn left(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir(folder);
    let is_left = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(".atlas-part")
            || name == "tmp"
            || path.parent().is_some_and(|p| p.ends_with("owners")) && !is_unborn(path)
    };
    entries.into_iter().filter(is_left).collect()
}

/// The folder of a process that was killed before it had its lock. Nobody can tell it from one that is being made, so that
/// it is removed by a start a minute later.
fn is_unborn(owner: &Path) -> bool {
    std::fs::read_dir(owner).is_ok_and(|mut entries| entries.next().is_none())
}

fn walkdir(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(walkdir(&entry.path()));
        }
    }
    found
}

#[test]
fn one_command_makes_a_dataset_and_tells_why() {
    let run = Run::new();
    let estimate = run
        .place
        .run(&["run", "--dry-run", "--format", "json"])
        .json();
    assert_eq!(estimate["import"]["new"], 7);
    assert_eq!(estimate["seconds"], Value::Null);
    assert!(!run.place.path("run").exists(), "nothing is written");

    let done = run.place.run(&["run", "--format", "json"]);
    assert_eq!(done.code(), 1, "a candidate failed: {}", done.stderr());
    let report = done.json();
    let stages = &report["status"]["stages"];
    assert_eq!(stages[0]["outcomes"]["ready"], 5, "{report:#}");
    assert_eq!(stages[0]["outcomes"]["reject_nothing_to_test"], 1);
    assert_eq!(stages[0]["errors"]["not_found"], 1);
    assert_eq!(stages[3]["outcomes"], serde_json::json!({"open": 4}));
    assert_eq!(
        (&stages[4]["stage"], &stages[4]["passed"]),
        (&"accept".into(), &4.into())
    );
    assert!(
        done.stderr().contains("accept me__one-1: accepted"),
        "a line an event: {}",
        done.stderr()
    );

    let dataset = run.dataset("run");
    let rows: Vec<Value> = dataset
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let ids: Vec<&str> = rows
        .iter()
        .map(|row| row["instance_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["me__one-1", "me__one-2", "me__three-1", "me__two-1"]);
    assert_eq!(
        rows[0]["problem_statement"],
        "It is wrong\nNegative numbers."
    );

    let missing = run.story("me__one-9");
    assert_eq!(missing["steps"][0]["state"], "failed");
    assert!(
        missing["next"]
            .as_str()
            .unwrap()
            .contains("--retry not_found")
    );
    let untested = run.story("me__three-2");
    assert_eq!(untested["steps"][0]["outcome"], "reject_nothing_to_test");
    let unbuilt = run.story("me__four-1");
    assert_eq!(unbuilt["steps"][1]["outcome"], "environment_invalid");
    assert!(
        unbuilt["next"].as_str().unwrap().contains("[plan] file"),
        "{}",
        unbuilt["next"]
    );
    let failures = run
        .place
        .run(&["failures", "run", "--format", "json"])
        .json();
    assert_eq!(
        failures["classes"][0]["failures"][0]["instance_id"],
        "me__four-1"
    );
    let text = run.place.run(&["why", "me__one-1"]).stdout();
    assert!(
        text.contains("accept done accepted") && text.contains("after.log"),
        "{text}"
    );
    let text = run.place.run(&["status"]).stdout();
    assert!(text.contains("7 candidates, 4 rows"), "{text}");

    let again = run.place.run(&["run", "--format", "json"]).json();
    assert_eq!(again["work"], serde_json::json!({}));
    assert_eq!(left(&run.place.path("run")), Vec::<PathBuf>::new());

    // The rows stand on their own: the gates pass again beside the artefacts.
    let rows = run.place.path("run/instances/dataset.jsonl");
    std::fs::write(&rows, &dataset).unwrap();
    let args = [
        "validate",
        rows.to_str().unwrap(),
        "--engine",
        "local",
        "--gates",
        "gold_patch",
        "--format",
        "json",
    ];
    let again = run.place.run(&args);
    assert_eq!(again.json()["accepted"], 4, "{}", again.stderr());
}

#[test]
fn a_run_that_is_killed_twenty_times_gives_the_same_dataset() {
    let run = Run::new();
    run.configure("undisturbed", "");
    let done = run.place.run(&["run"]);
    assert!(
        done.stdout().contains("4 rows"),
        "{}{}",
        done.stdout(),
        done.stderr()
    );
    // In a cache of its own, where nothing is built yet.
    std::fs::rename(run.place.path("cache"), run.place.path("other-cache")).unwrap();
    run.configure("run", "");
    let mut moment = 7_u64;
    let mut ended = 0;
    for _ in 0..20 {
        let mut child = run.spawn();
        moment = moment
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(100 + (moment >> 33) % 900));
        ended += u32::from(child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(ended < 20, "it was killed while it worked");
    let last = run.place.run(&["run", "--format", "json"]);
    assert_eq!(
        last.json()["status"]["dataset_rows"],
        4,
        "{}",
        last.stderr()
    );
    assert_eq!(run.dataset("run"), run.dataset("undisturbed"));
    for id in ["me__one-1", "me__one-2", "me__three-1", "me__two-1"] {
        let story = run.story(id);
        let events = story["events"].as_array().unwrap();
        for step in story["steps"].as_array().unwrap() {
            // Each further beginning is one that a kill cut short: a step that ended never begins again.
            let left = events
                .iter()
                .filter(|e| e["what"] == "left" && e["stage"] == step["stage"])
                .count();
            assert_eq!(step["attempts"], 1 + left, "{story:#}");
            assert_eq!(step["state"], "done");
        }
    }
    assert_eq!(left(&run.place.path("run")), Vec::<PathBuf>::new());
    assert_eq!(run.place.leftovers(), Vec::<PathBuf>::new());
}

#[test]
fn two_processes_give_the_same_dataset_and_do_no_step_twice() {
    let run = Run::new();
    run.configure("alone", "");
    run.place.run(&["run"]);
    run.configure("run", "");
    let both = [run.spawn(), run.spawn()];
    for mut child in both {
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    assert_eq!(run.dataset("run"), run.dataset("alone"));
    for id in [
        "me__one-1",
        "me__one-2",
        "me__three-1",
        "me__two-1",
        "me__three-2",
    ] {
        let story = run.story(id);
        let steps = story["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["attempts"] == 1), "{story:#}");
    }
}

#[test]
fn a_signal_leaves_a_run_that_goes_on() {
    let run = Run::new();
    let child = run
        .place
        .atlas(&["run"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-s", "INT", &pid])
        .status()
        .unwrap();
    let done = child.wait_with_output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("stopping in order") && said.trim_end().ends_with("run was cancelled"),
        "{said}"
    );
    let status = run.place.run(&["status", "--format", "json"]).json();
    assert_eq!(status["running"], serde_json::json!([]));
    assert_eq!(
        run.place.run(&["run", "--format", "json"]).json()["status"]["dataset_rows"],
        4
    );
}

#[test]
fn a_wrong_configuration_is_refused_before_any_work() {
    let run = Run::new();
    for (more, words) in [
        ("paralel = 2", ["line", "did you mean `parallel`"]),
        (
            "[run.stages.maek]\nparallel = 1",
            ["maek", "did you mean `make`"],
        ),
        (
            "[run.stages.make]\nparallel = \"two\"",
            ["line", "parallel"],
        ),
        ("attempts = -1", ["line", "attempts"]),
    ] {
        run.configure("run", more);
        let done = run.place.run(&["run"]);
        assert_eq!(done.code(), 1, "{more}");
        let said = done.stderr();
        assert!(
            words.iter().all(|word| said.contains(word)),
            "{more}: {said}"
        );
        assert!(!run.place.path("run").exists(), "{more}");
    }
    run.configure("run", "");
    let absent = run.place.run(&["status"]);
    assert_eq!(absent.code(), 1);
    assert!(
        absent.stderr().contains("`atlas run` makes one"),
        "{}",
        absent.stderr()
    );
    std::fs::remove_file(run.place.path("candidates.jsonl")).unwrap();
    let done = run.place.run(&["run"]);
    assert!(
        done.stderr().contains("candidates.jsonl"),
        "{}",
        done.stderr()
    );
}
