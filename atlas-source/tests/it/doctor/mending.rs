//! Repairs: every mended patch is applied and gives what was meant.

use crate::support::Lab;
use atlas_core::{GradingMode, Harness, Patch};
use atlas_source::{Diagnosis, PatchFaultKind, diagnose};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Files = BTreeMap<String, Vec<u8>>;

fn files(list: &[(&str, &str)]) -> Files {
    list.iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

/// What is said of a patch on these files, and the files after the mended patch was applied by git
/// in the work tree.
async fn mend(before: &Files, patch: &[u8], mode: GradingMode) -> (Diagnosis, Option<Files>) {
    let lab = Lab::new();
    for (path, content) in before {
        lab.write(path, content);
    }
    let base = lab.commit("base");
    let diagnosis = diagnose(&lab.open().await, &base, &Patch::new(patch), mode)
        .await
        .expect("works");
    let after = diagnosis.mended.as_ref().map(|mended| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("mended.diff");
        std::fs::write(&file, &mended.patch).expect("written");
        lab.git(&[
            "apply",
            "--whitespace=nowarn",
            file.to_str().expect("UTF-8"),
        ]);
        let list = lab.git(&["ls-files", "--cached", "--others", "-z"]);
        let mut after = Files::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            if let Ok(content) = std::fs::read(lab.path().join(path)) {
                after.insert(path.to_owned(), content);
            }
        }
        after
    });
    (diagnosis, after)
}

/// In the first mode that does not apply the patch; `patch` forgives SWE-bench 4 more than the
/// strict ladder does, which only adds the last line end.
async fn check(before: &[(&str, &str)], patch: &str, after: &[(&str, &str)], how: &[&str]) {
    let (before, bytes) = (files(before), patch.as_bytes());
    let (mut diagnosis, mut found) = mend(&before, bytes, GradingMode::Strict).await;
    if diagnosis.applies {
        let mode = GradingMode::Compat(Harness::SweBench4);
        (diagnosis, found) = mend(&before, bytes, mode).await;
    }
    assert!(!diagnosis.applies, "{diagnosis}");
    let Some(mended) = &diagnosis.mended else {
        panic!("{diagnosis}\n{patch}");
    };
    assert_eq!(
        mended.how,
        how,
        "{}",
        String::from_utf8_lossy(&mended.patch)
    );
    assert_eq!(found.expect("mended"), files(after));
    assert!(
        diagnosis.faults.iter().any(|fault| fault.breaks),
        "{diagnosis}"
    );
}

async fn not_mended(before: &[(&str, &str)], patch: &str) -> Diagnosis {
    let (diagnosis, _) = mend(&files(before), patch.as_bytes(), GradingMode::Strict).await;
    assert!(!diagnosis.applies, "{diagnosis}");
    assert_eq!(diagnosis.mended, None, "{diagnosis}");
    diagnosis
}

const BEFORE: &str =
    "def f(a):\n    if a < 1:\n        return \"no\"\n\n    return a & 1\n\n\ndef g():\n    pass\n";
const AFTER: &str =
    "def f(a):\n    if a < 1:\n        return \"No\"\n\n    return a & 1\n\n\ndef g():\n    pass\n";
const GOOD: &str = "diff --git a/p/x.py b/p/x.py\n--- a/p/x.py\n+++ b/p/x.py\n@@ -1,7 +1,7 @@\n def f(a):\n     if a < 1:\n-        return \"no\"\n+        return \"No\"\n \n     return a & 1\n \n \n";

async fn python(patch: &str, how: &[&str]) {
    check(&[("p/x.py", BEFORE)], patch, &[("p/x.py", AFTER)], how).await;
}

fn every_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    let lines: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(at, line)| change(at, line))
        .collect();
    lines.concat()
}

#[tokio::test]
async fn wrapping() {
    let json = serde_json::to_string(GOOD).expect("JSON");
    python(&json, &["decoded JSON escapes"]).await;
    python(json.trim_matches('"'), &["decoded JSON escapes"]).await;
    let html = GOOD
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    python(&html, &["decoded HTML escapes"]).await;
    let margin = every_line(GOOD, |_, line| format!("    {line}\n"));
    python(&margin, &["removed the margin"]).await;
    python(
        &every_line(GOOD, |_, line| format!("> {line}\n")),
        &["removed the quote marks"],
    )
    .await;
    python(
        &every_line(GOOD, |at, line| format!("{:5}\t{line}\n", at + 1)),
        &["removed the line numbers"],
    )
    .await;
    let colours = GOOD.replace("-     ", "\u{1b}[31m-     ");
    let colours = colours
        .replace("@@ -", "\u{1b}[36m@@ -")
        .replace("7 @@", "7 @@\u{1b}[m");
    python(&colours, &["removed colour codes"]).await;
    python(
        &format!(
            "\u{feff}{}",
            GOOD.replace("diff --git a/p/x.py b/p/x.py\n", "")
        ),
        &["decoded to UTF-8 without a byte order mark"],
    )
    .await;
}

/// What stands around a patch breaks nothing by itself.
#[tokio::test]
async fn a_fence_with_something_else() {
    let fenced = format!("Here it is:\n\n```diff\n{}", GOOD.trim_end());
    python(
        &format!("{}\n```", fenced.trim_end()),
        &[
            "took the patch out of the text around it",
            "restored blank context lines at the end of hunks",
        ],
    )
    .await;
    let json = serde_json::to_string(&format!("```diff\n{GOOD}```\n")).expect("JSON");
    python(&json, &["decoded JSON escapes"]).await;
}

#[tokio::test]
async fn a_strip_of_the_whole() {
    // The blank context lines go with the last line end.
    python(
        GOOD.trim(),
        &["restored blank context lines at the end of hunks"],
    )
    .await;
    let creation =
        "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b";
    check(&[], creation, &[("n", "a\nb\n")], &["ended the last line"]).await;
}

#[tokio::test]
async fn line_ends() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let ends = ["gave lines the line ends of their files"];
    // With CR LF in the headers too, `patch` takes it.
    let (head, hunk) = GOOD.split_at(GOOD.find("@@").expect("a hunk"));
    python(&format!("{head}{}", crlf(hunk)), &ends).await;
    check(
        &[("p/x.py", &crlf(BEFORE))],
        GOOD,
        &[("p/x.py", &crlf(AFTER))],
        &ends,
    )
    .await;
    // One file of each kind, and a new one that follows the files around it.
    let before = [("dos", "1\r\n2\r\n3\r\n"), ("unix", "1\n2\n3\n")];
    let after = [("dos", "1\r\ntwo\r\n3\r\n"), ("unix", "1\ntwo\n3\n")];
    let part =
        |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n");
    check(
        &before,
        &format!("{}{}", part("dos"), part("unix")),
        &after,
        &ends,
    )
    .await;
    let new = "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n";
    check(
        &[("unix", "1\n2\n3\n")],
        &format!("{}{new}", part("unix"))
            .replace('\n', "\r\n")
            .replace("/unix\r", "/unix"),
        &[("unix", "1\ntwo\n3\n"), ("new", "n\n")],
        &ends,
    )
    .await;
    // A file of both kinds shows nothing.
    let mixed = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n 1\n 2\n-3\n+three\n 4\n";
    not_mended(&[("x", "1\r\n2\n3\r\n4\n")], mixed).await;
}

#[tokio::test]
async fn counts() {
    let how = ["counted the lines of hunks anew"];
    python(&GOOD.replace("-1,7 +1,7", "-1,9 +1,9"), &how).await;
    python(&GOOD.replace("-1,7 +1,7", "-1,5 +1,4"), &how).await;
    python(&GOOD.replace("@@ -1,7 +1,7 @@", "@@ ... @@"), &how).await;
    python(&GOOD.replace("@@ -1,7 +1,7 @@", "@@ def f(a):"), &how).await;
    let many = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let two = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@ one\n 1\n-2\n+two\n+more\n 3\n@@ -7,2 +7,2 @@\n 7\n-8\n 9\n";
    check(
        &[("x", many)],
        two,
        &[("x", "1\ntwo\nmore\n3\n4\n5\n6\n7\n9\n")],
        &how,
    )
    .await;
    // Too high by the next file's headers.
    let next = "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n--- a/y\n+++ b/y\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    check(
        &[("x", many), ("y", "1\n2\n3\n")],
        next,
        &[("x", &many.replace("2\n", "two\n")), ("y", "1\ntwo\n3\n")],
        &how,
    )
    .await;
}

#[tokio::test]
async fn hunks_that_change_nothing() {
    let how = ["left out hunks that change nothing"];
    let text = "1\n2\n3\n4\n5\n";
    let idle = "@@ -3,3 +3,3 @@\n 3\n 4\n 5\n";
    let change = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n";
    let after = [("x", "1\ntwo\n3\n4\n5\n"), ("y", text)];
    check(
        &[("x", text), ("y", text)],
        &format!("{change}{idle}"),
        &after,
        &how,
    )
    .await;
    let other = format!("diff --git a/y b/y\nindex 1..2 100644\n--- a/y\n+++ b/y\n{idle}");
    check(
        &[("x", text), ("y", text)],
        &format!("{other}{change}"),
        &after,
        &how,
    )
    .await;
    not_mended(&[("y", text)], &other).await;
}

/// Git passes over a hunk without numbers behind a rename, and calls that applied.
#[tokio::test]
async fn nothing_is_lost_behind_a_rename() {
    let patch = "--- a/z\n+++ b/z\n@@ -1,9 +1,8 @@\n 4\n-5\ndiff --git a/x b/y\nsimilarity index 80%\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ ... @@\n 1\n-2\n+two\n 3\n";
    let how = ["counted the lines of hunks anew"];
    check(
        &[("x", "1\n2\n3\n"), ("z", "4\n5\n")],
        patch,
        &[("y", "1\ntwo\n3\n"), ("z", "4\n")],
        &how,
    )
    .await;
    let gone = "--- a/x\n+++ /dev/null\n@@ @@\n-1\n-2\n";
    check(
        &[("x", "1\n2\n"), ("z", "4\n")],
        gone,
        &[("z", "4\n")],
        &how,
    )
    .await;
    // The place of the renamed file's hunk cannot be told.
    not_mended(&[("x", "1\n2\n3\n1\n2\n3\n"), ("z", "4\n5\n")], patch).await;
}

/// Nobody knows what a patch would have said that was cut off, or where a hunk belongs that fits
/// several places.
#[tokio::test]
async fn what_cannot_be_known_is_not_mended() {
    let cut = "--- /dev/null\n+++ b/n\n@@ -0,0 +1,40 @@\n+a\n+b\n";
    let diagnosis = not_mended(&[("x", "1\n")], cut).await;
    assert_eq!(diagnosis.faults[1].kind, PatchFaultKind::Truncated);
    let mid = "--- a/x\n+++ b/x\n@@ -1,5 +1,9 @@\n 1\n-2\n+two\n+thr";
    not_mended(&[("x", "1\n2\n3\n4\n5\n")], mid).await;
    let twice = "--- a/x\n+++ b/x\n@@ @@\n 1\n-2\n+two\n";
    not_mended(&[("x", "1\n2\n1\n2\n")], twice).await;
    not_mended(
        &[("x", "1\n2\n3\n")],
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1\n-II\n+two\n 3\n",
    )
    .await;
    not_mended(&[("x", "1\n2\n3\n")], "I would change line 2.\n").await;
}

#[tokio::test]
async fn columns() {
    let how = ["restored the first column of context lines"];
    python(
        &GOOD
            .replace("\n def", "\ndef")
            .replace("\n     if", "\n    if"),
        &how,
    )
    .await;
    // Trimmed on the right, so that git and `patch` see another line.
    let before = "a\n   \nb\n";
    let trimmed = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-a\n+A\n\n-b\n+B\n";
    check(&[("x", before)], trimmed, &[("x", "A\n   \nB\n")], &how).await;
}

#[tokio::test]
async fn headers() {
    let prefixes = ["added `a/` and `b/` to the paths"];
    python(&GOOD.replace("a/p", "p").replace("b/p", "p"), &prefixes).await;
    let plain = "--- p/x.py\n+++ p/x.py\n";
    let hunk = &GOOD[GOOD.find("@@").expect("a hunk")..];
    python(&format!("{plain}{hunk}"), &prefixes).await;
    // `patch` takes the names from the first line, but no wrong counts.
    let nameless = format!("diff --git a/p/x.py b/p/x.py\n{hunk}");
    python(
        &nameless.replace("-1,7 +1,7", "-1,9 +1,9"),
        &[
            "added `---` and `+++` lines",
            "counted the lines of hunks anew",
        ],
    )
    .await;
    python(
        &GOOD
            .replace("a/p/x.py\n+++", "a/p/x.py \n+++")
            .replace("-1,7 +1,7", "-1,9 +1,9"),
        &[
            "removed spaces behind paths",
            "counted the lines of hunks anew",
        ],
    )
    .await;
    let how = [
        "declared new and removed files",
        "counted the lines of hunks anew",
    ];
    let new = "diff --git a/n b/n\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+n\n";
    let gone = "diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    check(
        &[("x", "1\n")],
        &format!("{new}{gone}"),
        &[("n", "n\n")],
        &how,
    )
    .await;
    let named = new.replace("--- /dev/null", "new file mode 100644\n--- a/n");
    check(
        &[("x", "1\n")],
        &format!("{named}{gone}"),
        &[("n", "n\n")],
        &how,
    )
    .await;
}

#[tokio::test]
async fn binary_content() {
    let lab = Lab::new();
    let base = lab.write("b", b"\0one").commit("one");
    let head = lab.write("b", b"\0two").commit("two");
    let patch = lab.open().await.diff(&base, &head).await.expect("a diff");
    let text = String::from_utf8(patch.as_bytes().to_vec()).expect("UTF-8");
    let before = Files::from([("b".to_owned(), b"\0one".to_vec())]);
    let (diagnosis, after) = mend(&before, text.trim_end().as_bytes(), GradingMode::Strict).await;
    assert!(!diagnosis.applies);
    assert_eq!(after.expect("mended")["b"], b"\0two");
    assert_eq!(
        diagnosis.mended.expect("mended").how,
        [
            "ended the last line",
            "restored the blank line behind binary content"
        ]
    );
}

/// Several things at once, as models do.
#[tokio::test]
async fn everything_at_once() {
    let patch = GOOD
        .replace("diff --git a/p/x.py b/p/x.py\n", "")
        .replace("-1,7 +1,7", "-1,9 +1,9")
        .replace("a/p", "p")
        .replace("b/p", "p")
        .replace('\n', "\r\n");
    let text = format!("The fix:\r\n\r\n```diff\r\n{patch}```\r\n");
    python(
        &text,
        &[
            "gave lines the line ends of their files",
            "added `a/` and `b/` to the paths",
            "counted the lines of hunks anew",
        ],
    )
    .await;
}

#[tokio::test]
async fn an_escape_that_the_file_has_stays() {
    let before = "a &lt; b\nc\nd\n";
    let patch = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a &lt; b\n-c\n+c &gt; e\n d\n";
    check(
        &[("x", before)],
        patch,
        &[("x", "a &lt; b\nc &gt; e\nd\n")],
        &["counted the lines of hunks anew"],
    )
    .await;
}

/// A file's lines, and another version of it.
fn versions() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let word = "[a-c]{0,2}( <&>\\\\|\t|  )?";
    (
        proptest::collection::vec(word, 1..14),
        proptest::collection::vec((0_usize..14, word, any::<bool>()), 1..5),
    )
        .prop_map(|(old, edits)| {
            let mut new = old.clone();
            for (at, word, replace) in edits {
                let at = at % new.len();
                if replace {
                    new[at] = word;
                } else {
                    new.insert(at, word);
                }
            }
            (old, new)
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// What git prints applies, nothing is said to break it, and nothing is mended; what breaks by
    /// the way it is handed on is mended to the same result, or not at all.
    #[test]
    fn laws((old, new) in versions(), mangle in 0_usize..5) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let text = |lines: &[String]| format!("{}\n", lines.join("\n"));
            let lab = Lab::new();
            let base = lab.write("x", text(&old)).commit("old");
            let head = lab.write("x", text(&new)).commit("new");
            let repo = lab.open().await;
            let patch = repo.diff(&base, &head).await.expect("a diff");
            let good = String::from_utf8(patch.as_bytes().to_vec()).expect("UTF-8");
            let diagnosis = diagnose(&repo, &base, &patch, GradingMode::Strict).await.expect("works");
            assert!(diagnosis.applies, "{diagnosis}");
            assert_eq!(diagnosis.mended, None);
            if good.is_empty() {
                return;
            }
            assert!(diagnosis.faults.iter().all(|fault| !fault.breaks), "{diagnosis}\n{good}");
            let mangled = match mangle {
                0 => serde_json::to_string(&good).expect("JSON"),
                1 => every_line(&good, |_, line| format!("> {line}\n")),
                2 => good.replace('\n', "\r\n"),
                3 => good.replace(',', ",1"),
                // White space at the end of the last line would be lost for good.
                _ => good.trim_end_matches('\n').to_owned(),
            };
            let before = Files::from([("x".to_owned(), text(&old).into_bytes())]);
            let mode = GradingMode::Compat(Harness::SweBench4);
            let (_, after) = mend(&before, mangled.as_bytes(), mode).await;
            if let Some(after) = after {
                assert_eq!(String::from_utf8_lossy(&after["x"]), text(&new), "{mangled}");
            }
        });
    }
}
