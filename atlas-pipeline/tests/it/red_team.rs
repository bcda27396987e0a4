//! Predictions that want to look right without being it, and right ones that look odd.
//!
//! Each folder of `tests/red_team` is a small project: `base`, what the `solution` and the `tests` change,
//! `attacks` and `honest` patches. An attack is laid over base, an honest patch over base and solution;
//! `EXPECT` names a text that the verdict on the attack must hold, of several lines one; `DELETE` names files
//! that it removes, `LINKS` symbolic links that lead out of the tree, each with its target. Attacks
//! in `known` succeed: no way is known to tell them from a solution.

use crate::support::{Place, git};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/red_team")
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// Lays the files of a folder over a repository.
fn lay(from: &Path, repo: &Path) {
    for entry in walk(from) {
        let name = entry.strip_prefix(from).unwrap();
        if name == Path::new("EXPECT") {
            continue;
        }
        if name == Path::new("DELETE") {
            for gone in std::fs::read_to_string(&entry).unwrap().lines() {
                std::fs::remove_file(repo.join(gone)).unwrap();
            }
            continue;
        }
        #[cfg(unix)]
        if name == Path::new("LINKS") {
            for line in std::fs::read_to_string(&entry).unwrap().lines() {
                let (link, target) = line.split_once(' ').unwrap();
                std::os::unix::fs::symlink(target, repo.join(link)).unwrap();
            }
            continue;
        }
        let to = repo.join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        #[cfg(unix)]
        if entry.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&entry).unwrap(), &to).unwrap();
            continue;
        }
        std::fs::copy(&entry, &to).unwrap();
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The patch from base to what is laid over it.
fn patch(repo: &Path, base: &str, layers: &[&Path]) -> String {
    git(repo, &["checkout", "-q", "-f", base]);
    git(repo, &["clean", "-qfdx"]);
    for layer in layers {
        lay(layer, repo);
    }
    git(repo, &["add", "-A", "-f"]);
    // To a file: the last line of a patch may be one of white space only.
    let file = repo.with_extension("diff");
    let output = format!("--output={}", file.display());
    git(repo, &["diff", "--cached", "--binary", &output, base]);
    let text = std::fs::read_to_string(&file).unwrap();
    git(repo, &["reset", "-q", "--hard", base]);
    text
}

/// Makes an instance of a project and evaluates all of its attacks and honest patches.
fn run(project: &str, engine: &str) {
    let root = root().join(project);
    let place = Place::new();
    let repo = place.path("repo");
    std::fs::create_dir_all(&repo).unwrap();
    git(&repo, &["init", "-q", "-b", "main"]);
    lay(&root.join("base"), &repo);
    git(&repo, &["add", "-A", "-f"]);
    git(&repo, &["commit", "-q", "-m", "base"]);
    let base = git(&repo, &["rev-parse", "HEAD"]);
    lay(&root.join("solution"), &repo);
    lay(&root.join("tests"), &repo);
    git(&repo, &["add", "-A", "-f"]);
    git(&repo, &["commit", "-q", "-m", "solve it"]);
    let head = git(&repo, &["rev-parse", "HEAD"]);
    let id = format!("me__{project}-1");
    let mut args = vec![
        "make",
        "--repo",
        repo.to_str().unwrap(),
        "--base",
        &base,
        "--head",
        &head,
        "--instance-id",
        &id,
        "--engine",
        engine,
        "--out",
        "out",
        "--format",
        "json",
    ];
    if engine == "local" {
        args.push("--trust");
    }
    let made = place.run(&args);
    assert_eq!(made.code(), 0, "{}{}", made.stdout(), made.stderr());

    let solution = root.join("solution");
    let (mut hostile, mut honest) = (String::new(), String::new());
    let add = |to: &mut String, model: &str, patch: &str| {
        let line = json!({"instance_id": id, "model_name_or_path": model, "model_patch": patch});
        to.push_str(&line.to_string());
        to.push('\n');
    };
    let mut expected = BTreeMap::new();
    for attack in folders(&root.join("attacks")) {
        let name = attack.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(attack.join("EXPECT")).unwrap();
        add(&mut hostile, &name, &patch(&repo, &base, &[&attack]));
        expected.insert(name, Some(text.trim().to_owned()));
    }
    for known in folders(&root.join("known")) {
        let name = known.file_name().unwrap().to_str().unwrap().to_owned();
        add(&mut hostile, &name, &patch(&repo, &base, &[&known]));
        expected.insert(name, Some("RESOLVED".to_owned()));
    }
    for odd in folders(&root.join("honest")) {
        let name = odd.file_name().unwrap().to_str().unwrap().to_owned();
        add(&mut honest, &name, &patch(&repo, &base, &[&solution, &odd]));
        expected.insert(name, None);
    }
    let itself = "the solution itself";
    add(&mut honest, itself, &patch(&repo, &base, &[&solution]));
    expected.insert(itself.to_owned(), None);
    git(&repo, &["checkout", "-q", "main"]);

    // Some attacks never end; an honest patch has all the time that a busy machine needs.
    let mut reports = Vec::new();
    for (name, lines, seconds) in [("hostile", hostile, "90"), ("honest", honest, "900")] {
        if lines.is_empty() {
            continue;
        }
        let file = format!("{name}.jsonl");
        std::fs::write(place.path(&file), lines).unwrap();
        let mut args = vec!["eval", "--dataset", "out/dataset.jsonl", "--format", "json"];
        args.extend(["--predictions", &file, "--run-id", name, "--engine", engine]);
        args.extend(["--timeout", seconds]);
        if engine == "local" {
            args.push("--trust");
        }
        let done = place.run(&args);
        assert_ne!(done.code(), 2, "{}", done.stderr());
        reports.push(done.json());
    }
    let verdicts: BTreeMap<&str, &Value> = reports
        .iter()
        .flat_map(|report| report["verdicts"].as_array().unwrap())
        .map(|verdict| (verdict["model_name_or_path"].as_str().unwrap(), verdict))
        .collect();
    assert_eq!(verdicts.len(), expected.len(), "{reports:?}");
    let mut wrong = Vec::new();
    for (name, signal) in &expected {
        let verdict = verdicts[name.as_str()];
        let told = json!([
            verdict["tampering"],
            verdict["guards"],
            verdict["notes"],
            verdict["reasons"],
            verdict["cause"]
        ])
        .to_string();
        let is_resolved = verdict["resolved"] == true;
        match signal.as_deref() {
            // A wrong verdict that cannot be helped yet; should it be right one day, the attack moves.
            Some("RESOLVED") if is_resolved => {}
            Some("RESOLVED") => wrong.push(format!("{name} is no longer resolved: {told}")),
            Some(_) if is_resolved => wrong.push(format!("{name} is RESOLVED: {told}")),
            // Which of two signals comes first can hang on the machine: each may stand on its line.
            Some(signals) if !signals.lines().any(|signal| told.contains(signal)) => {
                wrong.push(format!("{name} is told without `{signals}`: {told}"));
            }
            None if !is_resolved => wrong.push(format!("{name} is LOST: {told}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Whether the projects that need containers are asked for: all of them take a quarter of an hour and more.
fn is_asked() -> bool {
    let asked = std::env::var_os("ATLAS_TEST_RED_TEAM").is_some();
    if !asked {
        eprintln!("skipped: ATLAS_TEST_RED_TEAM is not set");
    }
    asked
}

#[test]
fn python_unittest() {
    run("unittest", "local");
}

/// The test command comes to a script of the repository through programs of the environment.
#[test]
fn python_script_behind_helpers() {
    run("named", "local");
}

/// Tests without any written value get no twin, and the canaries do not touch the code under test.
#[test]
fn python_unittest_without_values() {
    run("unittest_truths", "local");
}

/// Projects that need containers, each a test.
macro_rules! in_containers {
    ($($test:ident: $project:literal,)*) => {
        $(
            #[test]
            fn $test() {
                if is_asked() {
                    run($project, "docker");
                }
            }
        )*
    };
}

in_containers! {
    c_check: "check",
    c_cmocka: "cmocka",
    cpp_catch2: "catch2",
    cpp_googletest: "gtest",
    go_ginkgo: "ginkgo",
    go_test: "go",
    java_maven: "maven",
    javascript_ava: "ava",
    javascript_brittle: "brittle",
    javascript_bun: "bun",
    javascript_jasmine: "jasmine",
    javascript_jest: "jest",
    javascript_lab: "lab",
    javascript_mocha: "mocha",
    javascript_node_tap: "tap",
    javascript_node_test: "nodetest",
    javascript_qunit: "qunit",
    javascript_tape: "tape",
    javascript_uvu: "uvu",
    javascript_vitest: "vitest",
    php_phpunit: "phpunit",
    python_pytest: "pytest",
    ruby_minitest: "minitest",
    ruby_rspec: "rspec",
    rust_cargo: "rust",
}
