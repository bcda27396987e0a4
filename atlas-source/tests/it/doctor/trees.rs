//! Faults that show only against the files of a commit.

use crate::support::Lab;
use atlas_core::{CommitSha, GradingMode, Harness, Patch};
use atlas_source::{Diagnosis, PatchFault, PatchFaultKind as Kind, diagnose};

/// The kinds that have a test in this file.
pub(super) const KINDS: [Kind; 16] = [
    Kind::FileMissing,
    Kind::FileExists,
    Kind::AlreadyApplied,
    Kind::OtherBase,
    Kind::WhitespaceDiffers,
    Kind::LineEndsDiffer,
    Kind::TabsDiffer,
    Kind::ContextElsewhere,
    Kind::ContextAmbiguous,
    Kind::ContextDiffers,
    Kind::IsSymlink,
    Kind::IsSubmodule,
    Kind::IsFolder,
    Kind::IsIgnored,
    Kind::ModeDiffers,
    Kind::BinaryBaseDiffers,
];

const STRICT: GradingMode = GradingMode::Strict;

async fn ask(
    lab: &Lab,
    base: &CommitSha,
    patch: impl Into<Vec<u8>>,
    mode: GradingMode,
) -> Diagnosis {
    diagnose(&lab.open().await, base, &Patch::new(patch), mode)
        .await
        .expect("works")
}

fn the(diagnosis: &Diagnosis, kind: Kind) -> &PatchFault {
    let mut of_kind = diagnosis.faults.iter().filter(|fault| fault.kind == kind);
    let fault = of_kind
        .next()
        .unwrap_or_else(|| panic!("{kind} in {diagnosis:#?}"));
    assert_eq!(of_kind.next(), None, "{diagnosis:#?}");
    fault
}

/// One fault of that kind at that line, with these words.
async fn check(
    files: &[(&str, &str)],
    patch: &str,
    kind: Kind,
    line: Option<u32>,
    words: &str,
) -> Diagnosis {
    let lab = Lab::new();
    for (path, content) in files {
        lab.write(path, content);
    }
    let base = lab.commit("base");
    let diagnosis = ask(&lab, &base, patch, STRICT).await;
    let fault = the(&diagnosis, kind);
    assert_eq!(fault.line, line, "{fault}");
    assert!(fault.to_string().contains(words), "{fault}");
    diagnosis
}

fn change(path: &str) -> String {
    format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n")
}

fn creation(path: &str) -> String {
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+n\n"
    )
}

#[tokio::test]
async fn a_missing_file_and_what_was_meant() {
    let files = [
        ("src/pkg/core/x.py", "1\n2\n3\n"),
        ("src/other/x.py", "a\n"),
        ("doc/README.md", "r\n"),
    ];
    for (path, near) in [
        ("pkg/core/x.py", "`src/pkg/core/x.py`"),
        ("srv/repo/src/pkg/core/x.py", "`src/pkg/core/x.py`"),
        ("src/core/x.py", "`src/pkg/core/x.py`"),
        ("src/pkg/core/X.py", "`src/pkg/core/x.py`"),
        ("readme.md", "`doc/README.md`"),
        ("none.py", "no file of that name"),
    ] {
        let diagnosis = check(&files, &change(path), Kind::FileMissing, Some(1), near).await;
        assert!(!diagnosis.applies);
        assert_eq!(diagnosis.mended, None, "a path is not for us to choose");
    }
}

#[tokio::test]
async fn a_file_that_exists() {
    let files = [("n", "old\n"), ("folder/x", "1\n")];
    let diagnosis = check(
        &files,
        &creation("n"),
        Kind::FileExists,
        Some(1),
        "it exists",
    )
    .await;
    assert!(!diagnosis.applies);
    check(
        &files,
        &creation("n/below"),
        Kind::FileExists,
        Some(1),
        "`n` is a file",
    )
    .await;
    check(
        &files,
        &creation("folder"),
        Kind::IsFolder,
        Some(1),
        "where a folder is",
    )
    .await;
    check(
        &files,
        &change("folder"),
        Kind::IsFolder,
        Some(1),
        "where a folder is",
    )
    .await;
}

#[tokio::test]
async fn a_change_that_is_there() {
    let files = [("x", "1\ntwo\n3\n")];
    let diagnosis = check(
        &files,
        &change("x"),
        Kind::AlreadyApplied,
        None,
        "fits in reverse",
    )
    .await;
    assert!(!diagnosis.applies);
    let words = "exists with the same lines";
    check(
        &[("n", "n\n")],
        &creation("n"),
        Kind::AlreadyApplied,
        Some(1),
        words,
    )
    .await;
    // Half of it.
    let patch = format!("{}@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n", change("x"));
    let files = [("x", "1\ntwo\n3\n4\n5\n6\n7\n")];
    check(
        &files,
        &patch,
        Kind::AlreadyApplied,
        Some(3),
        "hunk 1: the file has the new lines already, at line 1",
    )
    .await;
}

#[tokio::test]
async fn white_space() {
    let spaces = [("x", "if a:\n    b\n    c\nd\n")];
    let hunk = |lines: &str| format!("--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n{lines}");
    let tabs = hunk(" if a:\n-\tb\n+\tB\n \tc\n d\n");
    let diagnosis = check(
        &spaces,
        &tabs,
        Kind::TabsDiffer,
        Some(5),
        r#"expected "\tb", found "    b" at line 2"#,
    )
    .await;
    assert!(!diagnosis.applies);
    let inner = hunk(" if a :\n-    b\n+    B\n     c\n d\n");
    check(
        &spaces,
        &inner,
        Kind::WhitespaceDiffers,
        Some(4),
        r#"expected "if a :", found "if a:" at line 1"#,
    )
    .await;
    let crlf = [("x", "1\r\n2\r\n3\r\n")];
    let diagnosis = check(
        &crlf,
        &change("x"),
        Kind::LineEndsDiffer,
        Some(4),
        "the patch has LF, the file CR LF",
    )
    .await;
    assert!(!diagnosis.applies);
}

#[tokio::test]
async fn the_place() {
    let text = "a\nb\nc\n1\n2\n3\n";
    let diagnosis = check(
        &[("x", text)],
        &change("x"),
        Kind::ContextElsewhere,
        Some(3),
        "at line 4, not 1",
    )
    .await;
    assert!(!diagnosis.faults.iter().any(|fault| fault.breaks));
    let twice = format!("{text}z\n1\n2\n3\n");
    let patch = change("x").replace("-1,3 +1,3", "-6,3 +6,3");
    check(
        &[("x", &twice)],
        &patch,
        Kind::ContextAmbiguous,
        Some(3),
        "lines 4, 8",
    )
    .await;
}

#[tokio::test]
async fn the_first_line_that_differs() {
    let text = "a\nb\nc\nd\ne\nf\ng\nh\n";
    let patch = "--- a/x\n+++ b/x\n@@ -3,5 +3,5 @@\n c\n d\n-E\n+EE\n f\n g\n";
    let words = r#"hunk 1: expected "E", found "e" at line 5"#;
    let diagnosis = check(&[("x", text)], patch, Kind::ContextDiffers, Some(6), words).await;
    assert!(!diagnosis.applies);
    let patch = "--- a/x\n+++ b/x\n@@ -6,4 +6,4 @@\n f\n g\n-h\n+H\n i\n";
    let words = r#"expected "i", but the file ends at line 8"#;
    check(&[("x", text)], patch, Kind::ContextDiffers, Some(8), words).await;
}

/// Sections that build on each other are not compared with a tree that has not changed.
#[tokio::test]
async fn a_second_section_of_a_file() {
    let lab = Lab::new();
    let base = lab.write("x", "1\n2\n3\n").commit("base");
    let second = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-two\n+II\n 3\n";
    let diagnosis = ask(&lab, &base, format!("{}{second}", change("x")), STRICT).await;
    assert!(diagnosis.applies);
    assert!(
        !diagnosis.faults.iter().any(|fault| fault.breaks),
        "{diagnosis:#?}"
    );
}

#[tokio::test]
async fn links_modules_and_modes() {
    let lab = Lab::new();
    lab.write("real/x", "1\n2\n3\n")
        .write("script", "1\n2\n3\n");
    std::os::unix::fs::symlink("real", lab.path().join("link")).expect("a link");
    let other = "1".repeat(40);
    lab.git(&["add", "--", "."]);
    let link = format!("160000,{other},module");
    lab.git(&["update-index", "--add", "--cacheinfo", &link]);
    lab.git(&["commit", "-q", "-m", "base"]);
    let base = lab.head();
    for (patch, kind, words) in [
        (
            change("link/x"),
            Kind::IsSymlink,
            "does not go through links",
        ),
        (change("link"), Kind::IsSymlink, "only the path it leads to"),
        (
            change("module/x"),
            Kind::IsSubmodule,
            "`module` is a submodule",
        ),
        (
            "diff --git a/script b/script\nold mode 100755\nnew mode 100644\n".to_owned(),
            Kind::ModeDiffers,
            "has mode 100644, the patch says 100755",
        ),
    ] {
        let diagnosis = ask(&lab, &base, patch, STRICT).await;
        let fault = the(&diagnosis, kind);
        assert!(fault.message.contains(words), "{fault}");
        assert_eq!(fault.breaks, kind != Kind::ModeDiffers);
        assert_eq!(diagnosis.applies, kind == Kind::ModeDiffers);
    }
}

#[tokio::test]
async fn an_ignored_file_is_told_of() {
    let files = [
        (".gitignore", "*.log\n"),
        ("sub/.gitignore", "out/\n"),
        ("x", "1\n"),
    ];
    for path in ["a.log", "sub/out/n"] {
        let diagnosis = check(&files, &creation(path), Kind::IsIgnored, None, path).await;
        assert!(diagnosis.applies);
    }
    let lab = Lab::new();
    lab.write(".gitignore", "*.log\n");
    let base = lab.commit("base");
    let diagnosis = ask(&lab, &base, creation("out/n"), STRICT).await;
    assert_eq!(diagnosis.faults, []);
}

/// Before, after and beside the base commit.
#[tokio::test]
async fn the_commit_that_it_was_made_for() {
    let text = |word: &str| format!("{word} 1\n{word} 2\n{word} 3\n{word} 4\n{word} 5\n");
    let patch = |word: &str| {
        format!(
            "--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n {word} 1\n {word} 2\n-{word} 3\n+new\n {word} 4\n {word} 5\n"
        )
    };
    let lab = Lab::new();
    let old = lab.write("x", text("old")).commit("old");
    lab.write("y", "y\n").commit("unrelated");
    let base = lab.write("x", text("base")).commit("base");
    lab.git(&["checkout", "-q", "-b", "side", old.as_str()]);
    let side = lab.write("x", text("side")).commit("side");
    lab.git(&["checkout", "-q", "main"]);
    let later = lab.write("x", text("later")).commit("later");
    for (word, commit, place) in [
        ("old", &old, "2 commits before the base commit"),
        ("later", &later, "1 commit after the base commit"),
        (
            "side",
            &side,
            "on another branch: 1 commit that the base commit has not, 2 commits fewer",
        ),
    ] {
        let diagnosis = ask(&lab, &base, patch(word), STRICT).await;
        assert!(!diagnosis.applies);
        let fault = the(&diagnosis, Kind::OtherBase);
        assert_eq!(
            fault.message,
            format!("the patch fits commit {commit}, {place}")
        );
    }
    let diagnosis = ask(&lab, &base, patch("none"), STRICT).await;
    assert!(
        diagnosis
            .faults
            .iter()
            .all(|fault| fault.kind != Kind::OtherBase)
    );
    // A file that comes later.
    lab.write("fresh", text("fresh")).commit("fresh");
    let diagnosis = ask(&lab, &base, patch("fresh").replace("/x", "/fresh"), STRICT).await;
    let fault = the(&diagnosis, Kind::OtherBase);
    assert!(
        fault.message.ends_with("2 commits after the base commit"),
        "{fault}"
    );
}

#[tokio::test]
async fn binary_content_for_another_version() {
    let lab = Lab::new();
    let old = lab.write("b", b"\0old").commit("old");
    let new = lab.write("b", b"\0new").commit("new");
    let patch = lab.open().await.diff(&old, &new).await.expect("a diff");
    let base = lab.write("b", b"\0base").commit("base");
    let diagnosis = ask(&lab, &base, patch.as_bytes(), STRICT).await;
    assert!(!diagnosis.applies);
    assert!(the(&diagnosis, Kind::BinaryBaseDiffers).breaks);
    let fault = the(&diagnosis, Kind::OtherBase);
    assert!(fault.message.contains("2 commits before"), "{fault}");
    let diagnosis = ask(&lab, &old, patch.as_bytes(), STRICT).await;
    assert!(diagnosis.applies);
    assert_eq!(diagnosis.faults, []);
}

/// The ladder is that of the mode.
#[tokio::test]
async fn modes_differ() {
    let lab = Lab::new();
    let base = lab.write("x", "a  b\n\tc\nd\n").commit("base");
    let patch = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a b\n-    c\n+    C\n d\n";
    for mode in GradingMode::ALL {
        let diagnosis = ask(&lab, &base, patch, mode).await;
        let forgiving = mode == GradingMode::Compat(Harness::SweBenchPp);
        assert_eq!(diagnosis.applies, forgiving, "{mode}");
        assert_eq!(
            diagnosis.tries.last().is_some_and(|last| last.applied),
            forgiving
        );
    }
}

#[tokio::test]
async fn nothing_at_all() {
    let lab = Lab::new();
    let base = lab.write("x", "1\n").commit("base");
    let diagnosis = ask(&lab, &base, "", STRICT).await;
    assert!(diagnosis.applies);
    assert_eq!(diagnosis.tries, []);
    assert_eq!(the(&diagnosis, Kind::Empty).line, None);
    assert!(
        diagnosis
            .to_string()
            .starts_with("The patch applies: there is nothing in it.\n")
    );
}

#[tokio::test]
async fn for_people() {
    let lab = Lab::new();
    let base = lab.write("src/x", "1\n2\n3\n").commit("base");
    let patch = format!("Sure:\n{}", change("x"));
    let mode = GradingMode::Compat(Harness::SweBenchPp);
    let text = ask(&lab, &base, patch, mode).await.to_string();
    assert_eq!(
        text,
        "The patch does not apply.\n\
         \n\
         Tried:\n\
         \x20 git apply --verbose patch.diff (exit code 1)\n\
         \x20     error: x: No such file or directory\n\
         \x20 patch -N --batch --fuzz=5 -p1 -i patch.diff (exit code 1)\n\
         \x20     1 out of 1 hunk ignored\n\
         \x20 git apply --verbose --ignore-whitespace patch.diff (exit code 1)\n\
         \x20     error: x: No such file or directory\n\
         \n\
         What breaks it:\n\
         \x20 - line 2, x: the file does not exist at the base commit (the nearest path is `src/x`)\n\
         \n\
         Also noticed:\n\
         \x20 - line 1: text stands before the patch: `Sure:` (git passes over it; leave it out)\n\
         \x20 - line 2: there is no `diff --git` line, so modes and moves cannot be told (git takes it; `git diff` writes the line)\n"
    );
}

#[tokio::test]
async fn in_json() {
    let lab = Lab::new();
    let base = lab.write("x", "1\n2\n3\n").commit("base");
    let diagnosis = ask(
        &lab,
        &base,
        change("x").trim_end(),
        GradingMode::Compat(Harness::SweBench5),
    )
    .await;
    let json = serde_json::to_value(&diagnosis).expect("JSON");
    assert_eq!(json["applies"], true);
    assert_eq!(json["tries"][0]["exit_code"], 128);
    assert_eq!(json["faults"][0]["kind"], "no_diff_git");
    assert_eq!(json["faults"][1]["kind"], "no_final_newline");
    assert_eq!(json["mended"], serde_json::Value::Null);
}
