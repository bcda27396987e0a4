//! Sealed checkouts.

use crate::support::{Lab, git, nasty};
use atlas_core::ErrorKind;
use atlas_source::{GitRepo, History, seal};
use std::collections::BTreeSet;

fn objects(folder: &std::path::Path) -> BTreeSet<String> {
    let text = git(
        folder,
        &[
            "cat-file",
            "--batch-all-objects",
            "--batch-check=%(objectname)",
        ],
    );
    text.lines().map(str::to_owned).collect()
}

/// A repository whose future is everywhere; gives the base commit.
fn busy() -> (Lab, atlas_core::CommitSha) {
    let lab = Lab::new();
    lab.write("a", "1\n").commit("one");
    lab.git(&["tag", "v1"]);
    lab.write("a", "2\n").commit("two");
    lab.git(&["tag", "-a", "v2", "-m", "two"]);
    let base = lab.write("a", "3\n").commit("three");
    lab.git(&["branch", "side"]);
    lab.write("a", "FUTURE\n").commit("future");
    lab.git(&["tag", "v4"]);
    lab.git(&["tag", "-a", "v5", "-m", "annotated future"]);
    lab.git(&[
        "notes",
        "add",
        "-m",
        "a note from the future",
        base.as_str(),
    ]);
    lab.write("a", "STASHED\n");
    lab.git(&["stash"]);
    lab.write("a", "DROPPED\n").commit("dropped");
    lab.git(&["reset", "-q", "--hard", "HEAD~1"]);
    lab.git(&["update-ref", "refs/pull/9/head", "HEAD"]);
    (lab, base)
}

#[tokio::test]
async fn nothing_of_the_future_is_left() {
    let (lab, base) = busy();
    let target = tempfile::tempdir().unwrap();
    let into = target.path().join("sealed");
    let report = seal(&lab.open().await, &base, &into, History::Ancestors)
        .await
        .unwrap();
    assert_eq!(report.commits, 3);
    assert_eq!(report.tags, ["v1", "v2"]);
    assert_eq!(git(&into, &["rev-parse", "HEAD"]).trim(), base.as_str());
    assert_eq!(
        git(&into, &["for-each-ref", "--format=%(refname)"]),
        "refs/heads/atlas-base\nrefs/tags/v1\nrefs/tags/v2\n"
    );
    assert_eq!(git(&into, &["status", "--porcelain"]), "");
    assert_eq!(git(&into, &["reflog", "--all"]), "");
    assert_eq!(git(&into, &["remote"]), "");
    assert_eq!(git(&into, &["fsck", "--full", "--unreachable"]), "");
    assert_eq!(git(&into, &["describe"]).lines().count(), 1);
    let expected = lab.git(&[
        "rev-list",
        "--objects",
        "--no-object-names",
        base.as_str(),
        "v2",
    ]);
    let expected: BTreeSet<String> = expected.lines().map(str::to_owned).collect();
    assert_eq!(objects(&into), expected);
    assert!(!into.join(".git/objects/info/alternates").exists());
    assert!(!into.join(".git/hooks").exists());
    // It stands on its own.
    drop(lab);
    assert_eq!(git(&into, &["log", "--format=%s"]), "three\ntwo\none\n");
}

#[tokio::test]
async fn a_tag_written_later_keeps_its_name_only() {
    let (lab, base) = busy();
    lab.git(&["-c", "user.name=x", "tag", "v3-plain", base.as_str()]);
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@x", "-C"])
        .arg(lab.path())
        .args([
            "tag",
            "-a",
            "v3",
            "-m",
            "fixed in the future",
            base.as_str(),
        ])
        .env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z")
        .status()
        .unwrap();
    assert!(output.success());
    let target = tempfile::tempdir().unwrap();
    let report = seal(&lab.open().await, &base, target.path(), History::Ancestors)
        .await
        .unwrap();
    assert_eq!(report.tags, ["v1", "v2", "v3", "v3-plain"]);
    assert_eq!(git(target.path(), &["cat-file", "-t", "v3"]), "commit\n");
    assert_eq!(git(target.path(), &["cat-file", "-t", "v2"]), "tag\n");
}

#[tokio::test]
async fn a_shallow_seal_holds_one_commit() {
    let (lab, base) = busy();
    let target = tempfile::tempdir().unwrap();
    let report = seal(&lab.open().await, &base, target.path(), History::Shallow)
        .await
        .unwrap();
    assert_eq!((report.commits, report.tags.len()), (1, 0));
    assert_eq!(objects(target.path()).len(), 3);
    assert_eq!(git(target.path(), &["log", "--format=%s"]), "three\n");
    assert_eq!(git(target.path(), &["status", "--porcelain"]), "");
    // What is sealed can be sealed again, its cut history included.
    let again = tempfile::tempdir().unwrap();
    let sealed = GitRepo::open(target.path()).await.unwrap();
    seal(&sealed, &base, again.path(), History::Ancestors)
        .await
        .unwrap();
    assert_eq!(git(again.path(), &["log", "--format=%s"]), "three\n");
}

#[tokio::test]
async fn a_clone_that_lacks_an_old_file_is_sealed_and_one_that_lacks_the_commits_own_is_not() {
    let (lab, base) = busy();
    let lose = |content: &str| {
        let id = git(lab.path(), &["rev-parse", content]);
        let (folder, file) = id.trim().split_at(2);
        std::fs::remove_file(lab.path().join(".git/objects").join(folder).join(file)).unwrap();
    };
    lose("v2:a");
    let target = tempfile::tempdir().unwrap();
    let into = target.path().join("sealed");
    let report = seal(&lab.open().await, &base, &into, History::Ancestors)
        .await
        .unwrap();
    assert_eq!((report.commits, report.missing_objects), (3, 1));
    assert_eq!(std::fs::read_to_string(into.join("a")).unwrap(), "3\n");
    assert_eq!(git(&into, &["show", "HEAD~2:a"]), "1\n");

    lose(&format!("{base}:a"));
    let into = target.path().join("second");
    let why = seal(&lab.open().await, &base, &into, History::Ancestors)
        .await
        .unwrap_err();
    assert_eq!(why.kind(), ErrorKind::NotFound, "{why}");
    assert!(why.to_string().contains("lacks its object"), "{why}");
}

#[tokio::test]
async fn the_checkout_is_the_commit() {
    let (lab, base, _) = nasty();
    let target = tempfile::tempdir().unwrap();
    let sealed = seal(&lab.open().await, &base, target.path(), History::Ancestors)
        .await
        .unwrap();
    assert!(sealed.lfs_pointers.is_empty());
    assert_eq!(git(target.path(), &["status", "--porcelain"]), "");
    assert_eq!(
        std::fs::read(target.path().join("binary.bin")).unwrap(),
        b"\0\x01\x02binary\xff\xfe"
    );
    assert!(target.path().join("link").is_symlink());
}

#[tokio::test]
async fn submodules_and_pointers_are_reported() {
    let (lab, inner, missing) = (Lab::new(), Lab::new(), Lab::new());
    inner.write("inside", "x\n").commit("inner");
    missing.write("far", "x\n").commit("missing");
    lab.write("a", "a\n").write(
        "big.bin",
        format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 12345\n",
            "0".repeat(64)
        ),
    );
    lab.commit("first");
    for (other, path) in [(&inner, "sub/in"), (&missing, "gone")] {
        lab.git(&[
            "submodule",
            "--quiet",
            "add",
            &other.path().display().to_string(),
            path,
        ]);
    }
    let base = lab.commit("base");
    std::fs::remove_dir_all(lab.path().join(".git/modules/gone")).unwrap();
    inner.write("inside", "FUTURE\n").commit("later");
    lab.git(&["-C", "sub/in", "fetch", "-q"]);
    let target = tempfile::tempdir().unwrap();
    let report = seal(&lab.open().await, &base, target.path(), History::Ancestors)
        .await
        .unwrap();
    let found: Vec<_> = report
        .submodules
        .iter()
        .map(|module| (module.path.as_str(), module.checked_out))
        .collect();
    assert_eq!(found, [("gone", false), ("sub/in", true)]);
    assert_eq!(report.lfs_pointers, ["big.bin"]);
    assert_eq!(objects(&target.path().join("sub/in")).len(), 3);
    assert_eq!(git(target.path(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn refuses_a_full_folder_and_an_unknown_commit() {
    let (lab, base) = busy();
    let repo = lab.open().await;
    let target = tempfile::tempdir().unwrap();
    std::fs::write(target.path().join("x"), "mine").unwrap();
    let error = seal(&repo, &base, target.path(), History::Ancestors)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let unknown = "1".repeat(40).parse().unwrap();
    let into = target.path().join("new");
    let error = seal(&repo, &unknown, &into, History::Shallow)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(!into.exists());
}
