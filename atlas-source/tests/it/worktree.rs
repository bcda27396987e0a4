//! Patches of files that somebody changed.

use atlas_core::{Applied, FileContent, FileMode, PatchApplier, RunContext};
use atlas_source::{FolderApplier, ignored_paths, patch_between};
use std::collections::{BTreeMap, BTreeSet};

fn files(entries: &[(&str, FileMode, &[u8])]) -> BTreeMap<String, FileContent> {
    let file = |(path, mode, bytes): &(&str, FileMode, &[u8])| {
        let content = FileContent {
            mode: *mode,
            bytes: bytes.to_vec(),
        };
        ((*path).to_owned(), content)
    };
    entries.iter().map(file).collect()
}

#[tokio::test]
async fn a_patch_leads_from_one_to_the_other() {
    use FileMode::{Executable, Regular, Symlink};
    let old = files(&[
        ("a/kept.txt", Regular, b"one\ntwo\n"),
        ("gone.txt", Regular, b"x\n"),
        ("run.sh", Regular, b"echo\n"),
        ("bytes", Regular, b"\0\x01"),
    ]);
    let new = files(&[
        ("a/kept.txt", Regular, b"one\nthree"),
        ("new file.txt", Regular, b"n\n"),
        ("run.sh", Executable, b"echo\n"),
        ("link", Symlink, b"a/kept.txt"),
        ("bytes", Regular, b"\0\x02"),
        // What a repository says of how files differ is not heard.
        (".gitattributes", Regular, b"* -diff\n"),
    ]);
    let patch = patch_between(&old, &new).await.unwrap();
    let applied = FolderApplier::new(old)
        .apply(&RunContext::new("t"), &[&patch])
        .await;
    let Ok(Applied::Yes { overlay, notes }) = applied else {
        panic!("{applied:?}");
    };
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(overlay.write, new);
    assert_eq!(overlay.remove, BTreeSet::from(["gone.txt".to_owned()]));
    assert!(String::from_utf8_lossy(patch.as_bytes()).contains("+three"));
}

#[tokio::test]
async fn nothing_changed_is_an_empty_patch() {
    let same = files(&[("a", FileMode::Regular, b"x")]);
    assert_eq!(patch_between(&same, &same).await.unwrap().as_bytes(), b"");
}

#[tokio::test]
async fn ignored_is_what_git_would_leave_out() {
    let rules = files(&[
        (
            ".gitignore",
            FileMode::Regular,
            b"*.pyc\n/build/\n!kept.pyc\n",
        ),
        ("sub/.gitignore", FileMode::Regular, b"made.*\n"),
    ]);
    let paths = [
        "a.pyc",
        "kept.pyc",
        "build/x",
        "sub/build/x",
        "sub/made.c",
        "made.c",
        "odd \n\u{e9}.pyc",
    ];
    let paths: BTreeSet<String> = paths.map(str::to_owned).into();
    let ignored = ignored_paths(&rules, &paths).await.unwrap();
    let expected = ["a.pyc", "build/x", "sub/made.c", "odd \n\u{e9}.pyc"];
    assert_eq!(ignored, expected.map(str::to_owned).into());
    assert!(
        ignored_paths(&BTreeMap::new(), &paths)
            .await
            .unwrap()
            .is_empty()
    );
}
