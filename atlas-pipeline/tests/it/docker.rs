//! What needs an engine. Skipped with a word unless `ATLAS_TEST_DOCKER=1`; then a missing engine
//! is a failure.

use crate::kill::kill_at;
use crate::support::{BASE, FIX, Place, ids, make_args};
use serde_json::Value;
use std::process::Command;

pub(crate) fn wanted() -> bool {
    let wanted = std::env::var("ATLAS_TEST_DOCKER").is_ok_and(|value| value == "1");
    if !wanted {
        eprintln!("skipped: needs a Docker engine; set ATLAS_TEST_DOCKER=1");
    }
    wanted
}

pub(crate) fn docker(args: &[&str]) -> String {
    let done = Command::new("docker").args(args).output().unwrap();
    assert!(
        done.status.success(),
        "docker {args:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

pub(crate) fn on_docker<'a>(repo: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = make_args(repo, more);
    let engine = args.iter().position(|arg| *arg == "local").unwrap();
    args[engine] = "docker";
    args.retain(|arg| *arg != "--trust");
    args
}

pub(crate) fn row(place: &Place) -> Value {
    serde_json::from_str(
        std::fs::read_to_string(place.path("out/dataset.jsonl"))
            .unwrap()
            .trim(),
    )
    .unwrap()
}

#[test]
fn both_engines_give_the_same_row() {
    if !wanted() {
        return;
    }
    let (contained, local) = (Place::new(), Place::new());
    let repo = contained.repository("repo", &[BASE, FIX]);
    let repo = repo.to_str().unwrap();
    let first = contained.run(&on_docker(repo, &["--instance-id", "me__calc-1"]));
    assert_eq!(first.code(), 0, "{}{}", first.stdout(), first.stderr());
    let second = local.run(&make_args(repo, &["--instance-id", "me__calc-1"]));
    assert_eq!(second.code(), 0, "{}{}", second.stdout(), second.stderr());
    for list in ["FAIL_TO_PASS", "PASS_TO_PASS"] {
        assert_eq!(ids(&first.json(), list), ids(&second.json(), list));
    }
    let (mut first, mut second) = (row(&contained), row(&local));
    let image = first["image"].as_str().unwrap().to_owned();
    assert_eq!(
        docker(&["image", "inspect", "--format", "{{.Config.User}}", &image]).trim(),
        "atlas"
    );
    for row in [&mut first, &mut second] {
        for column in ["image", "atlas", "eval_script", "environment_config"] {
            row[column] = Value::Null;
        }
    }
    assert_eq!(first, second);
    docker(&["rmi", "--force", &image]);
}

#[test]
fn the_image_holds_nothing_of_the_solution() {
    if !wanted() {
        return;
    }
    let place = Place::new();
    let repo = place.repository("repo", &[BASE, FIX]);
    let head = crate::support::git(&repo, &["rev-parse", "HEAD"]);
    crate::support::git(&repo, &["tag", "released"]);
    let done = place.run(&on_docker(
        repo.to_str().unwrap(),
        &["--instance-id", "me__calc-2"],
    ));
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    let row = row(&place);
    let image = row["image"].as_str().unwrap();
    let look = format!(
        "cd /testbed && git rev-parse HEAD && git cat-file -e {head}; echo later:$?; git tag; git status --short"
    );
    let seen = docker(&[
        "run",
        "--rm",
        "--network",
        "none",
        image,
        "bash",
        "-c",
        &look,
    ]);
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[0], row["base_commit"].as_str().unwrap(), "{seen}");
    assert!(
        lines[1].starts_with("later:1"),
        "the later commit is not in the image: {seen}"
    );
    assert_eq!(lines.len(), 2, "no tag, and a clean work tree: {seen}");
    docker(&["rmi", "--force", image]);
}

#[test]
fn killed_in_every_phase_it_finishes_and_leaves_no_container() {
    if !wanted() {
        return;
    }
    let slow = "import time, unittest\n\n\nclass Slow(unittest.TestCase):\n    def test_slow(self):\n        time.sleep(1)\n";
    let base: Vec<(&str, &str)> = BASE
        .iter()
        .copied()
        .chain([("tests/test_slow.py", slow)])
        .collect();
    let place = Place::new();
    let repo = place.repository("repo", &[&base, FIX]);
    let repo = repo.to_str().unwrap();
    let args = on_docker(repo, &["--instance-id", "me__calc-3"]);
    for phase in [
        "analyse",
        "build",
        "run base",
        "run before",
        "run after",
        "write",
    ] {
        assert!(kill_at(&place, &args, phase), "{phase} was never entered");
    }
    let done = place.run(&args);
    assert_eq!(done.code(), 0, "{}{}", done.stdout(), done.stderr());
    assert_eq!(place.leftovers(), Vec::<std::path::PathBuf>::new());
    let ours = docker(&[
        "ps",
        "--all",
        "--filter",
        "label=atlas.job",
        "--format",
        "{{.Names}} {{.Label \"atlas.run\"}}",
    ]);
    // Other tests of this binary may have containers of their own running at the same time, under
    // the process ids of their own runs; those of the killed runs are gone.
    let dead: Vec<&str> = ours
        .lines()
        .filter(|line| {
            let pid = line.rsplit('-').next().unwrap();
            !std::path::Path::new("/proc").join(pid).exists()
        })
        .collect();
    assert_eq!(dead, Vec::<&str>::new());
    docker(&["rmi", "--force", row(&place)["image"].as_str().unwrap()]);
}
