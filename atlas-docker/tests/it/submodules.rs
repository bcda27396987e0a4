//! What the step for submodules does to real repositories.

use crate::analysis::repository;
use crate::support::lay_tools;
use atlas_docker::{Analysis, AnalysisOptions, analyse};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a program as on a machine without git settings, with submodules from local folders.
fn call(folder: &Path, version: &str, words: &[&str]) -> Output {
    let config = [
        ("protocol.file.allow", "always"),
        ("protocol.version", version),
        ("user.name", "A"),
        ("user.email", "a@example.org"),
        ("init.defaultBranch", "main"),
    ];
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_COUNT", config.len().to_string());
    for (at, (key, value)) in config.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{at}"), key);
        command.env(format!("GIT_CONFIG_VALUE_{at}"), value);
    }
    command.output().unwrap()
}

fn git(folder: &Path, words: &[&str]) -> String {
    let words: Vec<&str> = ["git"].iter().chain(words).copied().collect();
    let output = call(folder, "2", &words);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(folder: &Path, text: &str) -> String {
    fs::create_dir_all(folder).unwrap();
    if !folder.join(".git").exists() {
        git(folder, &["init", "--quiet"]);
    }
    fs::write(folder.join("file.txt"), text).unwrap();
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "--message", text]);
    git(folder, &["rev-parse", "HEAD"])
}

fn add(folder: &Path, from: &Path, path: &str) {
    let url = format!("file://{}", from.display());
    git(folder, &["submodule", "--quiet", "add", &url, path]);
}

/// All that git keeps, unpacked object names included, as one text.
fn kept(folder: &Path) -> String {
    let script = r#"
        find . -path '*/.git/*' -type f ! -path '*/hooks/*' ! -name '*.pack' ! -name '*.idx' -exec cat {} + | tr '\0' '\n'
        find . -path '*/.git/*' -type d -name objects | while read -r objects; do
            git --git-dir="${objects%/objects}" cat-file --batch-all-objects --batch-check
            git --git-dir="${objects%/objects}" for-each-ref
        done"#;
    let output = call(folder, "2", &["bash", "-c", script]);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn submodules_come_without_a_future() {
    let temporary = tempfile::tempdir().unwrap();
    let at = |name: &str| temporary.path().join(name);
    let inner = [
        commit(&at("inner"), "inner past"),
        commit(&at("inner"), "inner now"),
    ];
    commit(&at("outer"), "outer past");
    add(&at("outer"), &at("inner"), "deep/inner");
    let outer = commit(&at("outer"), "outer now");
    let lost = commit(&at("lost"), "lost now");
    for (name, path) in [("lost", "a lost"), ("gone", "b/gone"), ("outer", "c/outer")] {
        if name == "gone" {
            commit(&at("gone"), "gone now");
        }
        commit(&at("super"), path);
        add(&at("super"), &at(name), path);
    }
    fs::write(
        at("super").join("pyproject.toml"),
        "[project]\nname = \"p\"\n",
    )
    .unwrap();
    fs::write(at("super").join("test_p.py"), "import pytest\n").unwrap();
    commit(&at("super"), "all");

    // What happened since: later commits, tags, branches; a branch rewritten; a server gone.
    let mut future = Vec::new();
    for name in ["inner", "outer"] {
        future.push(commit(&at(name), "later"));
        git(&at(name), &["tag", "-a", "-m", "later", "v9"]);
        git(&at(name), &["checkout", "--quiet", "-b", "other"]);
        future.push(commit(&at(name), "later still"));
        git(&at(name), &["checkout", "--quiet", "main"]);
    }
    git(&at("lost"), &["checkout", "--quiet", "--orphan", "new"]);
    future.push(commit(&at("lost"), "rewritten"));
    git(&at("lost"), &["branch", "-D", "main"]);
    git(&at("lost"), &["reflog", "expire", "--expire=now", "--all"]);
    git(&at("lost"), &["gc", "--quiet", "--prune=now"]);
    fs::remove_dir_all(at("gone")).unwrap();

    // With the older protocol a server sends no commit that no branch stands at.
    for version in ["2", "0"] {
        let checkout = at(&format!("checkout{version}"));
        let url = format!("file://{}", at("super").display());
        git(
            temporary.path(),
            &["clone", "--quiet", &url, checkout.to_str().unwrap()],
        );
        let analysis = analyse(&repository(&checkout), &AnalysisOptions::default()).unwrap();
        let Analysis::Plan(plan) = analysis else {
            panic!("{analysis:?}")
        };
        let env = at("env");
        lay_tools(&plan, &env);
        let command = format!("export ATLAS_ENV='{}'; {}", env.display(), plan.build[0]);
        let words = ["bash", "-eo", "pipefail", "-c", &command];
        let output = call(&checkout, version, &words);
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{said}");
        for path in ["a lost", "b/gone"] {
            let line = format!("atlas: submodule {path} is missing");
            assert!(said.contains(&line), "{said}");
            assert!(!checkout.join(path).join(".git").exists(), "{path}: {said}");
        }
        for (path, now) in [("c/outer", &outer), ("c/outer/deep/inner", &inner[1])] {
            let folder = checkout.join(path);
            assert_eq!(&git(&folder, &["rev-parse", "HEAD"]), now, "{said}");
            assert_eq!(git(&folder, &["status", "--porcelain"]), "", "{path}");
            assert_eq!(git(&folder, &["remote"]), "", "{path}");
            assert_eq!(git(&folder, &["for-each-ref"]), "", "{path}");
            git(&folder, &["fsck", "--full"]);
        }
        assert_eq!(git(&checkout, &["status", "--porcelain"]), "");
        let kept = kept(&checkout);
        assert!(kept.contains(&outer) && kept.contains(&inner[1]), "{kept}");
        for name in &future {
            assert!(
                !kept.contains(name),
                "protocol {version}: {name} in\n{kept}"
            );
        }
        assert!(!kept.contains("atlas-sealed"), "{kept}");
        assert!(!kept.contains(" tag "), "{kept}");
        let objects: Vec<_> = kept.lines().filter(|line| line.contains(&lost)).collect();
        assert!(
            objects.iter().all(|line| !line.contains("commit")),
            "{objects:?}"
        );
    }
}
