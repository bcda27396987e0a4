//! A run that is killed goes on where it stopped, and leaves nothing behind.

use crate::support::{BASE, FIX, Place, ids, make_args};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

/// Kills `atlas make` when it says that it enters the phase; returns whether it came that far.
pub(crate) fn kill_at(place: &Place, args: &[&str], phase: &str) -> bool {
    let mut child = place
        .atlas(args)
        .env("ATLAS_LOG", "atlas=debug")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reached = false;
    for line in BufReader::new(child.stderr.take().unwrap()).lines() {
        if line.unwrap().contains(&format!("phase=\"{phase}\"")) {
            reached = true;
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    reached
}

#[test]
fn in_every_phase() {
    let slow = "import time, unittest\n\n\nclass Slow(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(0.5)\n";
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_slow.py", slow)])
        .collect();
    let phases = [
        "read the pull request",
        "analyse",
        "build",
        "run base",
        "run before",
        "run after",
        "write",
    ];
    let place = Place::new();
    let repo = place.repository("repo", &[&base, FIX]);
    let repo = repo.to_str().unwrap();
    for phase in phases {
        assert!(
            kill_at(&place, &make_args(repo, &[]), phase),
            "{phase} was never entered"
        );
    }
    let done = place.run(&make_args(repo, &[]));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(ids(&done.json(), "FAIL_TO_PASS").len(), 1);
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
    let environments = std::fs::read_dir(place.path("cache/atlas/env"))
        .unwrap()
        .count();
    assert!(environments >= 1, "the environment was built");

    // Everything was known by then: nothing is run again.
    let again = place
        .atlas(&make_args(repo, &[]))
        .env("ATLAS_LOG", "debug")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    // The trial is Base's own job, so it is asked for twice.
    let known = said.matches("answered from an earlier run").count();
    assert!(known >= 5, "trial, inventory and states: {said}");
}

/// Ctrl-C, and what `kill`, `timeout` and CI send: the run says so and leaves nothing behind.
#[test]
fn a_signal_stops_a_run_in_order() {
    let slow = "import time, unittest\n\n\nclass Slow(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(600)\n";
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_slow.py", slow)])
        .collect();
    let place = Place::new();
    let repo = place.repository("repo", &[&base, FIX]);
    for signal in ["INT", "TERM"] {
        let mut child = place
            .atlas(&make_args(repo.to_str().unwrap(), &[]))
            .env("ATLAS_LOG", "atlas=debug")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id().to_string();
        let mut said = Vec::new();
        for line in BufReader::new(child.stderr.take().unwrap()).lines() {
            let line = line.unwrap();
            if line.contains("phase=\"run base\"") {
                let kill = std::process::Command::new("kill")
                    .args(["-s", signal, &pid])
                    .status();
                assert!(kill.unwrap().success());
            }
            if line.starts_with("atlas: ") {
                said.push(line);
            }
        }
        assert_eq!(child.wait().unwrap().code(), Some(1));
        let [first, .., last] = &said[..] else {
            panic!("{said:?}");
        };
        let stopping = format!("atlas: SIG{signal}: stopping in order; once more stops at once");
        assert_eq!(*first, stopping);
        assert!(last.ends_with("cancelled"), "{last}");
        assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn two_runs_on_one_instance_do_not_mix() {
    let place = Place::new();
    let slow = "import time, unittest\n\n\nclass Slow(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(2)\n";
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_slow.py", slow)])
        .collect();
    let repo = place.repository("repo", &[&base, FIX]);
    let repo = repo.to_str().unwrap();
    let mut first = place
        .atlas(&make_args(repo, &[]))
        .env("ATLAS_LOG", "atlas=debug")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(first.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("phase=\"run base\"")));
    let second = place.run(&make_args(repo, &[]));
    assert_eq!(second.code(), 1, "{}", second.stdout());
    assert!(
        second.stderr().contains("another run is making"),
        "{}",
        second.stderr()
    );
    lines.for_each(drop);
    assert!(first.wait().unwrap().success());
}
