//! The ladder, on trees and on work trees.

use crate::support::{Lab, git, nasty, tree_with};
use atlas_core::Patch;
use atlas_source::{ApplyOutcome, GitRepo, Rung, apply, overlay};

const TEXT: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";

/// A patch that turns `e` into `E`, with full blob ids so that a merge is possible.
async fn change(lab: &Lab) -> Patch {
    lab.write("x.txt", TEXT).commit("text");
    let base = lab.head();
    lab.write("x.txt", TEXT.replace('e', "E")).commit("change");
    let patch = lab
        .open()
        .await
        .diff(&base, &lab.head())
        .await
        .expect("a diff");
    lab.git(&["reset", "-q", "--hard", base.as_str()]);
    patch
}

/// Both ways of applying give the same rung and the same text.
async fn check(lab: &Lab, content: &str, patch: &Patch, expected: Rung, result: &str) {
    let base = lab.write("x.txt", content).commit("drift");
    let outcome = apply(lab.path(), patch).await.expect("works");
    let ApplyOutcome::Applied { rung, tried } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(rung, expected, "{tried:?}");
    assert_eq!(lab.read("x.txt"), result);
    assert_eq!(lab.git(&["status", "--porcelain"]), " M x.txt\n");
    let states = overlay(&lab.open().await, &base, &[patch])
        .await
        .expect("works");
    assert_eq!(states.states[0].rung, expected);
    assert_eq!(
        states.states[0].overlay.write["x.txt"].bytes,
        result.as_bytes()
    );
}

#[tokio::test]
async fn plain_where_lines_only_moved() {
    let lab = Lab::new();
    let patch = change(&lab).await;
    let text = format!("new\nlines\n{TEXT}");
    check(
        &lab,
        &text,
        &patch,
        Rung::Plain,
        &text
            .replace('e', "E")
            .replace("nEw", "new")
            .replace("linEs", "lines"),
    )
    .await;
}

#[tokio::test]
async fn three_way_where_the_original_is_there() {
    let lab = Lab::new();
    let patch = change(&lab).await;
    let text = TEXT.replace('b', "B");
    check(&lab, &text, &patch, Rung::ThreeWay, &text.replace('e', "E")).await;
}

#[tokio::test]
async fn less_context_without_the_original() {
    let lab = Lab::new();
    let patch = unknown_blobs(&change(&lab).await);
    let text = TEXT.replace('b', "B");
    check(
        &lab,
        &text,
        &patch,
        Rung::ReducedContext,
        &text.replace('e', "E"),
    )
    .await;
}

#[tokio::test]
async fn fuzz_where_no_context_is_left() {
    let lab = Lab::new();
    let patch = unknown_blobs(&change(&lab).await);
    let text = TEXT.replace('d', "D").replace('f', "F");
    check(
        &lab,
        &text,
        &patch,
        Rung::FuzzyPatch,
        &text.replace('e', "E"),
    )
    .await;
}

/// The same patch from somewhere else: no blob of it is known here.
fn unknown_blobs(patch: &Patch) -> Patch {
    let text = patch.as_text().expect("UTF-8");
    let lines = text.lines().filter(|line| !line.starts_with("index "));
    Patch::new(lines.flat_map(|line| [line, "\n"]).collect::<String>())
}

#[tokio::test]
async fn nothing_fits_and_nothing_changes() {
    let lab = Lab::new();
    let patch = change(&lab).await;
    lab.write("x.txt", "quite\nanother\ntext\n").commit("other");
    lab.write("untracked", "mine\n").write("x.txt", "edited\n");
    let outcome = apply(lab.path(), &patch).await.unwrap();
    let ApplyOutcome::NotApplied { tried } = outcome else {
        panic!("{outcome:?}");
    };
    let rungs: Vec<Rung> = tried.iter().map(|(rung, _)| *rung).collect();
    assert_eq!(
        rungs,
        [
            Rung::Plain,
            Rung::ThreeWay,
            Rung::ReducedContext,
            Rung::FuzzyPatch
        ]
    );
    assert!(tried.iter().all(|(_, said)| !said.is_empty()), "{tried:?}");
    assert_eq!(
        lab.git(&["status", "--porcelain"]),
        " M x.txt\n?? untracked\n"
    );
    assert_eq!(
        (lab.read("x.txt"), lab.read("untracked")),
        ("edited\n".into(), "mine\n".into())
    );
    let states = overlay(&lab.open().await, &lab.head(), &[&Patch::default(), &patch])
        .await
        .unwrap();
    assert_eq!(states.states[0].rung, Rung::Empty);
    assert!(states.states[0].overlay.is_empty());
    assert_eq!(states.failed.map(|(place, _)| place), Some(1));
}

#[tokio::test]
async fn what_is_applied_already_is_not_taken_back() {
    let lab = Lab::new();
    let patch = unknown_blobs(&change(&lab).await);
    lab.write("x.txt", TEXT.replace('e', "E")).commit("done");
    assert!(!apply(lab.path(), &patch).await.unwrap().is_applied());
    assert_eq!(lab.read("x.txt"), TEXT.replace('e', "E"));
}

#[tokio::test]
async fn uncommitted_changes_count() {
    let lab = Lab::new();
    let patch = change(&lab).await;
    lab.write(".gitignore", "built\n").commit("ignore");
    lab.write("x.txt", format!("edited\n{TEXT}"))
        .write("built", "keep\n")
        .write("new", "n\n");
    assert!(apply(lab.path(), &patch).await.unwrap().is_applied());
    assert!(lab.read("x.txt").starts_with("edited\n") && lab.read("x.txt").contains("\nE\n"));
    assert_eq!(
        (lab.read("built"), lab.read("new")),
        ("keep\n".into(), "n\n".into())
    );
}

#[tokio::test]
async fn paths_that_leave_the_repository() {
    let lab = Lab::new();
    lab.write("d/x", "1\n").write("fine", "1\n");
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), lab.path().join("out")).unwrap();
    lab.commit("base");
    for path in [
        "../evil",
        "/etc/evil",
        ".git/hooks/evil",
        ".GIT/evil",
        "d/../../evil",
        "out/evil",
    ] {
        for header in [
            format!("diff --git a/{path} b/{path}\nnew file mode 100644\n"),
            String::new(),
        ] {
            let patch = Patch::new(format!(
                "{header}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+bad\n"
            ));
            let outcome = apply(lab.path(), &patch).await.unwrap();
            assert!(!outcome.is_applied(), "{path}: {outcome:?}");
        }
    }
    assert_eq!(lab.git(&["status", "--porcelain"]), "");
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    assert!(!lab.path().join(".git/hooks/evil").exists());
}

#[tokio::test]
async fn a_nasty_patch_on_a_work_tree() {
    let (lab, base, head) = nasty();
    let repo = lab.open().await;
    let patch = repo.diff(&base, &head).await.unwrap();
    let states = overlay(&repo, &base, &[&patch]).await.unwrap();
    assert_eq!(states.states[0].rung, Rung::Plain);
    let tree = lab.git(&["rev-parse", &format!("{head}^{{tree}}")]);
    assert_eq!(
        tree_with(&lab, &base, &states.states[0].overlay),
        tree.trim()
    );

    lab.git(&["checkout", "-q", "--detach", base.as_str()]);
    assert_eq!(lab.git(&["status", "--porcelain"]), "");
    assert!(apply(lab.path(), &patch).await.unwrap().is_applied());
    lab.git(&["add", "--all"]);
    assert_eq!(lab.git(&["write-tree"]), tree);
}

#[tokio::test]
async fn garbage_is_data_and_a_missing_work_tree_an_error() {
    let lab = Lab::new();
    lab.write("a", "a\n").commit("base");
    let outcome = apply(lab.path(), &Patch::new("no patch\n")).await.unwrap();
    assert!(!outcome.is_applied());
    let empty = tempfile::tempdir().unwrap();
    let error = apply(empty.path(), &Patch::new("x")).await.unwrap_err();
    assert_eq!(error.kind(), atlas_core::ErrorKind::NotFound);
    // A repository without a commit.
    git(empty.path(), &["init", "-q", "."]);
    assert!(GitRepo::open(empty.path()).await.is_ok());
    let patch = Patch::new("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n");
    assert!(apply(empty.path(), &patch).await.unwrap().is_applied());
}

/// Any parts of a patch may be left out: what remains applies at the first try, and gives the file
/// with just the other changes.
#[tokio::test]
async fn a_patch_applies_without_any_of_its_parts() {
    let lab = Lab::new();
    // Equal lines all over, so that a hunk in the wrong place would fit as well.
    let base: Vec<String> = (0..60).map(|n| format!("{}\n", n % 3)).collect();
    let lines = |left_out: &[usize]| -> String {
        let mut text = String::new();
        for (n, line) in base.iter().enumerate() {
            let hunk = n / 15;
            let here = n % 15 == 7 && !left_out.contains(&hunk);
            match (here, hunk) {
                (true, 0) => text.push_str("first\nsecond\nthird\n"),
                (true, 1) => {}
                (true, 2) => text.extend([line.as_str(), "more\n"]),
                (true, _) => text.push_str("last\n"),
                (false, _) => text.push_str(line),
            }
        }
        text
    };
    let before = lab.write("x.txt", base.concat()).commit("base");
    let after = lab.write("x.txt", lines(&[])).commit("change");
    let repo = lab.open().await;
    let patch = repo.diff(&before, &after).await.expect("a diff");
    let parts = patch.parts().expect("a patch");
    assert_eq!(parts.len(), 4);
    for mask in 0..15_usize {
        let left_out: Vec<usize> = (0..4).filter(|n| mask & (1 << n) != 0).collect();
        let rest = patch
            .without(left_out.iter().map(|n| &parts[*n]))
            .expect("a patch");
        let outcome = overlay(&repo, &before, &[&rest]).await.expect("works");
        assert_eq!(outcome.states[0].rung, Rung::Plain, "{left_out:?}");
        let text = String::from_utf8_lossy(&outcome.states[0].overlay.write["x.txt"].bytes);
        assert_eq!(text, lines(&left_out), "{left_out:?}");
    }
}

#[tokio::test]
async fn a_commit_applier_tells_what_fits_from_what_does_not() {
    use atlas_core::{Applied, PatchApplier, RunContext};
    use atlas_source::CommitApplier;
    let lab = Lab::new();
    let patch = change(&lab).await;
    let applier = CommitApplier {
        repo: lab.open().await,
        base: lab.head(),
    };
    let cx = RunContext::new("t");
    let fitted = applier.apply(&cx, &[&patch]).await.expect("works");
    let Applied::Yes { overlay, notes } = fitted else {
        panic!("{fitted:?}");
    };
    assert_eq!(
        overlay.write["x.txt"].bytes,
        TEXT.replace('e', "E").as_bytes()
    );
    assert_eq!(notes, Vec::<String>::new());
    let foreign = Patch::new("--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-nothing of the kind\n+x\n");
    let refused = applier
        .apply(&cx, &[&patch, &foreign])
        .await
        .expect("works");
    assert!(
        matches!(refused, Applied::No { patch: 1, .. }),
        "{refused:?}"
    );
}

/// As models write them.
#[tokio::test]
async fn a_patch_without_its_last_line_end() {
    let lab = Lab::new();
    let patch = change(&lab).await;
    let cut = Patch::new(patch.as_bytes().strip_suffix(b"\n").expect("a last line"));
    check(&lab, TEXT, &cut, Rung::Plain, &TEXT.replace('e', "E")).await;
}

/// `git apply --cached --3way` writes a file that both sides make to the current folder, and finds
/// it there the next time.
#[tokio::test]
async fn nothing_is_written_to_the_current_folder() {
    let lab = Lab::new();
    let name = "made_by_both_sides.txt";
    let base = lab.write(name, "n\n").commit("base");
    let patch = Patch::new(format!(
        "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+n\n"
    ));
    let repo = lab.open().await;
    for _ in 0..2 {
        let outcome = overlay(&repo, &base, &[&patch, &patch])
            .await
            .expect("works");
        let rungs: Vec<Rung> = outcome.states.iter().map(|state| state.rung).collect();
        assert_eq!(rungs, [Rung::ThreeWay, Rung::ThreeWay]);
        assert!(!std::path::Path::new(name).exists());
    }
}
