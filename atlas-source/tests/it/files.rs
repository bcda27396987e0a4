//! Patches laid on plain files.

use crate::support::nasty;
use atlas_core::{Applied, FileContent, FileMode, Patch, PatchApplier, RunContext};
use atlas_source::{CommitApplier, EntryKind, FolderApplier, touched_paths};
use std::collections::BTreeMap;

fn file(text: &str) -> FileContent {
    FileContent {
        mode: FileMode::Regular,
        bytes: text.as_bytes().to_vec(),
    }
}

async fn lay(files: &[(&str, &str)], patches: &[&str]) -> Applied {
    let files = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), file(text)))
        .collect();
    let patches: Vec<Patch> = patches.iter().map(|patch| Patch::new(*patch)).collect();
    let patches: Vec<&Patch> = patches.iter().collect();
    FolderApplier::new(files)
        .apply(&RunContext::new("test"), &patches)
        .await
        .expect("works")
}

const CHANGE: &str = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";

#[tokio::test]
async fn changes_are_given_against_the_files() {
    let Applied::Yes { overlay, notes } = lay(
        &[("x", "a\nb\nc\n"), ("gone", "1\n"), ("other", "o\n")],
        &[
            CHANGE,
            "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n B\n-c\n+C\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
        ],
    )
    .await
    else {
        panic!("both fit");
    };
    assert_eq!(
        overlay.write,
        BTreeMap::from([("x".to_owned(), file("a\nB\nC\n"))])
    );
    assert_eq!(overlay.remove, ["gone".to_owned()].into());
    assert_eq!(notes, Vec::<String>::new());
}

#[tokio::test]
async fn a_path_that_was_not_given_does_not_exist() {
    let Applied::No { patch, reasons } = lay(&[("y", "a\nb\nc\n")], &["", CHANGE]).await else {
        panic!("`x` is not there");
    };
    assert_eq!(patch, 1);
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(reasons[0].contains("x: does not exist"), "{reasons:?}");
}

#[tokio::test]
async fn lenient_rungs_are_noted() {
    let Applied::Yes { overlay, notes } = lay(
        &[("x", "A\nb\nc\nd\n")],
        &["--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n a\n-b\n+B\n c\n d\n"],
    )
    .await
    else {
        panic!("it fits with less context");
    };
    assert_eq!(overlay.write["x"].bytes, b"A\nB\nc\nd\n");
    assert_eq!(notes, ["patch 0 fitted only by FuzzyPatch"]);
}

#[tokio::test]
async fn a_path_that_leaves_is_an_error() {
    let applier = FolderApplier::new(BTreeMap::from([("../x".to_owned(), file("a"))]));
    let error = applier
        .apply(&RunContext::new("test"), &[&Patch::new(CHANGE)])
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("`../x`"), "{error}");
}

/// Given the files that the patch names, the result is that of the clone.
#[tokio::test]
async fn as_on_the_commit() {
    let (lab, base, head) = nasty();
    let repo = lab.open().await;
    let patch = repo.diff(&base, &head).await.expect("a diff");
    let entries = repo.list_files(&base).await.expect("a list");
    let mut files = BTreeMap::new();
    for path in touched_paths(&[&patch]) {
        let Some(entry) = entries.iter().find(|entry| entry.path == path) else {
            continue;
        };
        let bytes = repo.read_file(&base, &path).await.expect("readable");
        let mode = match (entry.kind, entry.mode) {
            (EntryKind::Symlink, _) => FileMode::Symlink,
            (_, 0o100_755) => FileMode::Executable,
            _ => FileMode::Regular,
        };
        let bytes = bytes.expect("listed");
        files.insert(path, FileContent { mode, bytes });
    }
    let cx = RunContext::new("test");
    let on_files = FolderApplier::new(files).apply(&cx, &[&patch]).await;
    let on_commit = CommitApplier { repo, base }.apply(&cx, &[&patch]).await;
    assert_eq!(on_files.expect("works"), on_commit.expect("works"));
}

#[test]
fn paths_of_broken_patches() {
    let broken = Patch::new(
        "Here:\n```\ndiff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ ... @@\n-a\n+b\n--- a/../out\n+++ b/../out\n@@ -1 +1 @@\n-a\n+b\n",
    );
    let paths: Vec<String> = touched_paths(&[&broken]).into_iter().collect();
    assert_eq!(paths, ["x", "y"]);
}
