//! The ladders of the harnesses, on the host and as scripts.

use crate::support::{Lab, git};
use atlas_core::{CommitSha, GradingMode, Harness, Patch};
use atlas_source::{Tries, climb_as, ladder, ladder_script};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";

fn lab() -> (Lab, CommitSha) {
    let lab = Lab::new();
    lab.write("x", TEXT)
        .write("y", TEXT)
        .write("blank", "a  b\n\tc\nd\n")
        .write("deep/er/z", TEXT)
        .write(".gitignore", "ignored\n");
    let base = lab.commit("base");
    (lab, base)
}

/// Files of a folder that are not as they were, `.git` left out.
fn changed(folder: &Path, before: &BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Option<Vec<u8>>> {
    let after = files(folder);
    let mut changed = BTreeMap::new();
    for path in before.keys().chain(after.keys()) {
        if before.get(path) != after.get(path) {
            changed.insert(path.clone(), after.get(path).cloned());
        }
    }
    changed
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                if !path.ends_with(".git") {
                    open.push(path);
                }
            } else {
                let name = path.strip_prefix(folder).expect("inside");
                let name = name.to_str().expect("UTF-8").to_owned();
                found.insert(name, std::fs::read(&path).expect("readable"));
            }
        }
    }
    found
}

/// Runs the script in a fresh clone; gives its exit code, its text and what it changed.
fn run(
    lab: &Lab,
    harness: Harness,
    patch: &Patch,
) -> (Option<i32>, String, BTreeMap<String, Option<Vec<u8>>>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let clone = folder.path().join("the clone");
    git(
        lab.path(),
        &["clone", "-q", ".", clone.to_str().expect("UTF-8")],
    );
    let file = folder.path().join("it's a patch.diff");
    std::fs::write(&file, patch.as_bytes()).expect("written");
    let before = files(&clone);
    let script = ladder_script(harness, file.to_str().expect("UTF-8"));
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(&clone)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    assert_eq!(output.stderr, b"", "everything goes to one stream");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code(), text, changed(&clone, &before))
}

/// The script and the climb agree on everything; gives the climb.
async fn check(patch: &str, harness: Harness, applies: bool, attempts: usize) -> Tries {
    let (lab, base) = lab();
    let patch = Patch::new(patch);
    let tries = climb_as(&lab.open().await, &base, &patch, harness)
        .await
        .expect("works");
    let (code, text, changes) = run(&lab, harness, &patch);
    assert_eq!(tries.applied(), applies, "{harness}: {tries:#?}");
    assert_eq!(tries.tries.len(), attempts, "{harness}: {tries:#?}");
    assert_eq!(code, Some(i32::from(!applies)), "{harness}: {text}");
    let last = if applies {
        ">>>>> Applied Patch"
    } else {
        ">>>>> Patch Apply Failed"
    };
    assert_eq!(text.lines().last(), Some(last));
    let codes: Vec<String> = tries
        .tries
        .iter()
        .map(|attempt| attempt.exit_code.expect("was run").to_string())
        .collect();
    let in_script: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("$ exit code "))
        .collect();
    assert_eq!(codes, in_script, "{harness}: {text}");
    for attempt in &tries.tries {
        let words = attempt.said.lines().next().unwrap_or_default();
        assert!(text.contains(words), "{words} in {text}");
    }
    if let Some(overlay) = &tries.overlay {
        let mut ours: BTreeMap<String, Option<Vec<u8>>> = overlay
            .write
            .iter()
            .map(|(path, file)| (path.clone(), Some(file.bytes.clone())))
            .collect();
        ours.extend(overlay.remove.iter().map(|path| (path.clone(), None)));
        assert_eq!(ours, changes, "{harness}: {text}");
    }
    tries
}

const PLAIN: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\ndiff --git a/ignored b/ignored\nnew file mode 100644\n--- /dev/null\n+++ b/ignored\n@@ -0,0 +1 @@\n+new\n";
const FUZZY: &str = "--- a/x\n+++ b/x\n@@ -4,7 +4,7 @@\n four\n 5\n 6\n-7\n+seven\n 8\n 9\n ten\n";
/// The first hunk fits, the second does not.
const HALF: &str = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n@@ -8,5 +8,5 @@\n no\n-nothing\n+like\n this\n here\n at all\n";

#[tokio::test]
async fn a_patch_that_fits() {
    for harness in Harness::ALL {
        let tries = check(PLAIN, harness, true, 1).await;
        let overlay = tries.overlay.expect("applied");
        assert_eq!(overlay.write["ignored"].bytes, b"new\n");
        assert_eq!(tries.tries[0].command, "git apply --verbose patch.diff");
        assert!(tries.tries[0].said.contains("Applied patch x cleanly"));
    }
}

#[tokio::test]
async fn a_patch_with_wrong_context() {
    check(FUZZY, Harness::SweBench4, true, 3).await;
    check(FUZZY, Harness::SweBench5, true, 4).await;
    check(FUZZY, Harness::SweBenchPp, true, 2).await;
}

/// SWE-bench 4 leaves `.rej` files behind, and tests with them.
#[tokio::test]
async fn what_is_left_behind_depends_on_the_cleaning() {
    let left = |tries: &Tries| -> Vec<String> {
        let overlay = tries.overlay.as_ref().expect("applied");
        overlay.write.keys().cloned().collect()
    };
    let four = check(FUZZY, Harness::SweBench4, true, 3).await;
    assert_eq!(left(&four), ["x", "x.orig", "x.rej"]);
    let five = check(FUZZY, Harness::SweBench5, true, 4).await;
    assert_eq!(left(&five), ["x", "x.orig"]);
}

#[tokio::test]
async fn a_patch_that_fits_half() {
    check(HALF, Harness::SweBench4, false, 3).await;
    check(HALF, Harness::SweBench5, false, 5).await;
    check(HALF, Harness::SweBenchPp, false, 3).await;
}

/// Only SWE-Bench++ forgives white space.
#[tokio::test]
async fn white_space() {
    let patch = "--- a/blank\n+++ b/blank\n@@ -1,3 +1,3 @@\n a b\n-    c\n+    C\n d\n";
    check(patch, Harness::SweBench4, false, 3).await;
    check(patch, Harness::SweBench5, false, 5).await;
    check(patch, Harness::SweBenchPp, true, 3).await;
}

/// SWE-bench 4 takes a change back that is already there, and calls that a success.
#[tokio::test]
async fn a_patch_that_is_already_there() {
    let patch = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n 1\n-two\n+2\n 3\n 4\n";
    let tries = check(patch, Harness::SweBench4, true, 3).await;
    let overlay = tries.overlay.expect("applied");
    assert_eq!(
        overlay.write["x"].bytes,
        TEXT.replace("2\n3", "two\n3").as_bytes()
    );
    let tries = check(patch, Harness::SweBench5, true, 5).await;
    assert_eq!(
        tries.tries[4].command,
        "git apply --check --reverse patch.diff"
    );
    check(patch, Harness::SweBenchPp, false, 3).await;
}

/// `patch` forgives a last line without its end where it is context; nobody does where it is added.
#[tokio::test]
async fn no_final_newline_and_garbage() {
    let one = PLAIN.split("diff --git a/ignored").next().expect("a part");
    for (harness, attempts) in [
        (Harness::SweBench4, 3),
        (Harness::SweBench5, 4),
        (Harness::SweBenchPp, 2),
    ] {
        check(one.trim_end(), harness, true, attempts).await;
    }
    for garbage in [PLAIN.trim_end(), "I am sorry.\n"] {
        check(garbage, Harness::SweBench4, false, 3).await;
        check(garbage, Harness::SweBench5, false, 5).await;
        check(garbage, Harness::SweBenchPp, false, 3).await;
    }
}

/// A merge that leaves conflicts cannot be cleaned by `git checkout`, so what follows starts from
/// the conflict.
#[tokio::test]
async fn a_conflict_stays_for_later_attempts() {
    let (lab, base) = lab();
    lab.write("x", TEXT.replace("7\n", "seven\n"))
        .commit("other");
    let other = lab.head();
    let patch = lab.open().await.diff(&base, &other).await.expect("a diff");
    lab.write("x", TEXT.replace("7\n", "SEVEN\n"));
    let here = lab.commit("here");
    let tries = climb_as(&lab.open().await, &here, &patch, Harness::SweBench5)
        .await
        .expect("works");
    let (code, text, _) = run(&lab, Harness::SweBench5, &patch);
    assert_eq!(code, Some(1), "{text}");
    assert!(!tries.applied());
    assert!(tries.tries[1].said.contains("with conflicts"), "{tries:#?}");
    assert!(text.contains("with conflicts"), "{text}");
}

/// Nothing of this may happen on the machine that reads the patch.
#[tokio::test]
async fn patch_is_not_run_on_dangerous_text() {
    let (lab, base) = lab();
    let repo = lab.open().await;
    for (patch, why) in [
        ("--- x\n+++ x\n1d\n", "command for `ed`"),
        (
            "--- a/.git/hooks/post-checkout\n+++ b/.git/hooks/post-checkout\n@@ -0,0 +1 @@\n+id\n",
            "touches `.git`",
        ),
        (
            "--- a/../out\n+++ b/../out\n@@ -0,0 +1 @@\n+id\n",
            "leaves the repository",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1,9 @@\n+/etc\n",
            "symbolic link",
        ),
    ] {
        let tries = climb_as(&repo, &base, &Patch::new(patch), Harness::SweBenchPp)
            .await
            .expect("works");
        let attempt = &tries.tries[1];
        assert_eq!(attempt.exit_code, None);
        assert!(attempt.said.contains(why), "{attempt:?}");
        assert!(!tries.applied());
    }
}

/// What stands in the way of a path is met, though only named files are checked out.
#[tokio::test]
async fn what_is_above_and_below_a_path() {
    let creation = |path: &str| {
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+n\n"
        )
    };
    check(&creation("x/below"), Harness::SweBenchPp, false, 3).await;
    check(&creation("deep"), Harness::SweBenchPp, false, 3).await;
    check(&creation("deep/er/y"), Harness::SweBenchPp, true, 1).await;
    let moved =
        "diff --git a/deep/er/z b/z\nsimilarity index 100%\nrename from deep/er/z\nrename to z\n";
    check(moved, Harness::SweBench5, true, 1).await;
}

/// An image without `patch` fails that attempt and goes on, as the harness does.
#[test]
fn a_script_without_the_patch_program() {
    let (lab, _) = lab();
    let folder = tempfile::tempdir().expect("a temporary folder");
    for program in ["git", "bash"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
            .expect("sh runs");
        let path = String::from_utf8(found.stdout).expect("UTF-8");
        std::os::unix::fs::symlink(path.trim(), folder.path().join(program)).expect("a link");
    }
    let file = folder.path().join("patch.diff");
    std::fs::write(&file, HALF).expect("written");
    let output = Command::new(folder.path().join("bash"))
        .args([
            "-c",
            &ladder_script(Harness::SweBenchPp, file.to_str().expect("UTF-8")),
        ])
        .current_dir(lab.path())
        .env("PATH", folder.path())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("patch: command not found"), "{text}");
    assert!(
        text.contains("$ exit code 127\n$ git apply --verbose --ignore-whitespace"),
        "{text}"
    );
    assert!(text.ends_with(">>>>> Patch Apply Failed\n"), "{text}");
}

#[test]
fn the_strict_ladder_has_a_step_per_rung() {
    let steps = ladder(GradingMode::Strict);
    assert_eq!(steps.len(), 4);
    assert!(
        steps[3]
            .text("p")
            .starts_with("patch --batch --forward --fuzz=5 -p1")
    );
}
