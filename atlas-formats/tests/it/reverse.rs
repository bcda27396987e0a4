//! Patches turned round, checked by `git apply` on what `git diff` prints.

use atlas_core::Patch;
use atlas_formats::{ReverseError, reverse};
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "core.autocrlf=false",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {why}");
    output.stdout
}

/// A file to write, or to remove.
type File<'a> = (&'a str, Option<&'a [u8]>);

/// Makes two commits, turns their diff round and applies it to the second.
fn check(old: &[File<'_>], new: &[File<'_>], options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let lay = |files: &[File<'_>]| {
        for (name, content) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content {
                Some(content) => std::fs::write(&path, content).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
        }
    };
    git(root, &["init", "-q"]);
    lay(old);
    lay(&[("kept", Some(b"kept\n"))]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "old"]);
    lay(new);
    if options.contains(&"+x") {
        git(root, &["add", "-A"]);
        git(root, &["update-index", "--chmod=+x", "kept"]);
    } else {
        git(root, &["add", "-A"]);
    }
    git(root, &["commit", "-qm", "new"]);
    let mut arguments = vec!["diff", "HEAD~", "HEAD"];
    arguments.extend(options.iter().filter(|option| option.starts_with('-')));
    let patch = Patch::new(git(root, &arguments));
    let turned = reverse(&patch).unwrap();
    std::fs::write(root.join(".git/turned"), turned.as_bytes()).unwrap();
    git(root, &["reset", "-q", "--hard", "HEAD"]);
    git(root, &["apply", "--index", ".git/turned"]);
    // The index is the old tree again, modes included.
    let now = git(root, &["write-tree"]);
    assert_eq!(now, git(root, &["rev-parse", "HEAD~^{tree}"]));
    assert_eq!(reverse(&turned).unwrap(), patch, "twice is nothing");
    turned.as_text().unwrap_or_default().to_owned()
}

fn lines(range: std::ops::Range<u32>) -> Vec<u8> {
    range
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect()
}

#[test]
fn content() {
    let mut changed = lines(0..40);
    changed.splice(14..21, b"other\nlines\n".iter().copied());
    changed.extend_from_slice(b"end\n");
    let text = check(
        &[("d/a", Some(&lines(0..40)))],
        &[("d/a", Some(&changed))],
        &[],
    );
    assert!(text.contains("-other\n-lines\n+line 2\n"), "{text}");
    check(&[("a", Some(b"x\ny\n"))], &[("a", Some(b""))], &[]);
    check(
        &[("a", Some(b"x\r\ny\r\n"))],
        &[("a", Some(b"x\r\nz\r\n"))],
        &[],
    );
    check(
        &[("a", Some(b"--- x\n+++ y\n@@ -1 +1 @@\n"))],
        &[("a", Some(b"-- x\n\n"))],
        &[],
    );
}

#[test]
fn missing_line_ends() {
    let with: &[u8] = b"a\nb\nc\n";
    let without: &[u8] = b"a\nb\nc";
    let other: &[u8] = b"a\nb\nd";
    for (old, new) in [
        (with, without),
        (without, with),
        (without, other),
        (with, other),
    ] {
        check(&[("f", Some(old))], &[("f", Some(new))], &[]);
    }
    check(&[("f", Some(b"x"))], &[("f", Some(b"y\nx"))], &[]);
}

#[test]
fn new_removed_renamed_and_modes() {
    let text = check(&[], &[("new", Some(b"n\n")), ("empty", Some(b""))], &[]);
    assert!(text.contains("deleted file mode 100644"));
    check(&[("old", Some(b"o\n"))], &[("old", None)], &[]);
    let long = lines(0..30);
    let mut changed = long.clone();
    changed.extend_from_slice(b"more\n");
    let text = check(
        &[("from/a b.txt", Some(&long)), ("x", Some(b"x\n"))],
        &[
            ("from/a b.txt", None),
            ("to/ü.txt", Some(&changed)),
            ("x", None),
            ("y", Some(b"x\n")),
        ],
        &["-M"],
    );
    assert!(text.contains("rename from y\nrename to x\n"), "{text}");
    check(
        &[("a", Some(&long))],
        &[("kept", Some(b"kept\nmore\n"))],
        &["+x"],
    );
    let text = check(&[("a", Some(&long))], &[("a", Some(&changed))], &["+x"]);
    assert!(
        text.contains("old mode 100755\nnew mode 100644\n"),
        "{text}"
    );
}

#[test]
fn binary_content_with_both_ways() {
    let old: Vec<u8> = (0..=255).collect();
    let new: Vec<u8> = (0..=255).rev().chain([0, 1]).collect();
    check(&[("b", Some(&old))], &[("b", Some(&new))], &["--binary"]);
    check(&[], &[("b", Some(&new))], &["--binary"]);
}

#[test]
fn no_prefix_of_git() {
    let patch = Patch::new("--- a/x\t2024\n+++ b/x\t2025\n@@ -1,2 +1,2 @@ f()\n a\n-b\n+c");
    let turned = reverse(&patch).unwrap();
    assert_eq!(
        turned.as_text().unwrap(),
        "--- a/x\t2025\n+++ b/x\t2024\n@@ -1,2 +1,2 @@ f()\n a\n-c\n+b\n"
    );
}

#[test]
fn what_cannot_be_turned_round_says_so() {
    let copy = "diff --git a/x b/y\nsimilarity index 100%\ncopy from x\ncopy to y\n";
    assert!(matches!(reverse(&Patch::new(copy)), Err(ReverseError::Copy(path)) if path == "y"));
    let binary = "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n";
    assert!(matches!(reverse(&Patch::new(binary)), Err(ReverseError::Binary(path)) if path == "x"));
    let forth = "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nIcmZPo\n\n";
    assert!(matches!(
        reverse(&Patch::new(forth)),
        Err(ReverseError::Binary(_))
    ));
    assert!(matches!(
        reverse(&Patch::new("words\n")),
        Err(ReverseError::NoPatch(_))
    ));
}
