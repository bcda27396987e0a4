//! Reading patches.

use atlas_core::HunkLineKind::{Context, Delete, Insert};
use atlas_core::{FilePatch, Patch, PatchError, PatchKind};
use proptest::prelude::*;

fn files(text: impl AsRef<[u8]>) -> Vec<FilePatch> {
    let patch = Patch::new(text.as_ref());
    let files = patch.files().expect("a patch");
    let whole: Vec<u8> = files
        .iter()
        .flat_map(|file| [file.preamble.as_slice(), &file.raw].concat())
        .collect();
    assert_eq!(whole, patch.as_bytes(), "sections do not make the patch");
    files
}

fn check(text: &str, expected: &[(PatchKind, Option<&str>, Option<&str>)]) {
    let found = files(text);
    let found: Vec<_> = found
        .iter()
        .map(|file| {
            (
                file.kind,
                file.old_path.as_deref(),
                file.new_path.as_deref(),
            )
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn headers_of_every_kind() {
    check(
        "diff --git a/x y b/x y\nold mode 100644\nnew mode 100755\n",
        &[(PatchKind::ModeChange, Some("x y"), Some("x y"))],
    );
    check(
        "diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n",
        &[(PatchKind::Create, None, Some("empty"))],
    );
    check(
        "diff --git a/l b/l\ndeleted file mode 120000\nindex 1..0\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-to\n\\ No newline at end of file\n",
        &[(PatchKind::Delete, Some("l"), None)],
    );
    check(
        "diff --git a/d/a b/d/b\nsimilarity index 100%\nrename from d/a\nrename to d/b\ndiff --git a/q b/r\nsimilarity index 90%\ncopy from q\ncopy to r\n",
        &[
            (PatchKind::Rename, Some("d/a"), Some("d/b")),
            (PatchKind::Copy, Some("q"), Some("r")),
        ],
    );
    check(
        "--- old/x.c\t2020-01-01 00:00:00\n+++ new/x.c\t2020-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n",
        &[
            (PatchKind::Modify, Some("x.c"), Some("x.c")),
            (PatchKind::Create, None, Some("n")),
        ],
    );
}

#[test]
fn quoted_names() {
    check(
        "diff --git \"a/\\303\\274 \\t.txt\" \"b/\\303\\274 \\t.txt\"\nindex 1..2 100644\n--- \"a/\\303\\274 \\t.txt\"\n+++ \"b/\\303\\274 \\t.txt\"\n@@ -1 +1 @@\n-a\n+b\n",
        &[(PatchKind::Modify, Some("ü \t.txt"), Some("ü \t.txt"))],
    );
    check(
        "diff --git a/sp ace b/sp ace\nindex 1..2 100644\n--- a/sp ace\t\n+++ b/sp ace\t\n@@ -1 +1 @@\n-a\n+b\n",
        &[(PatchKind::Modify, Some("sp ace"), Some("sp ace"))],
    );
}

#[test]
fn a_hunk_may_hold_a_patch() {
    let text = "From: me\n\ndiff --git a/p b/p\nindex 1..2 100644\n--- a/p\n+++ b/p\n@@ -1,4 +1,4 @@ fn f\n diff --git a/x b/x\n--- a/x\n-+++ b/x\n+-- a/x\n+++ b/x\n @@ -1 +1 @@\ndiff --git a/z b/z\nold mode 100644\nnew mode 100755\n";
    let files = files(text);
    assert_eq!(files.len(), 2);
    assert_eq!(files[0].preamble, b"From: me\n\n");
    assert_eq!(files[0].hunks[0].section, b"fn f");
    let kinds: Vec<_> = files[0].hunks[0]
        .lines
        .iter()
        .map(|line| line.kind)
        .collect();
    assert_eq!(kinds, [Context, Delete, Delete, Insert, Insert, Context]);
    assert_eq!(files[1].path(), "z");
}

#[test]
fn content_stays_bytes() {
    let text = b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \xe9\r\n-a\x0cb\rc\n+d\n\\ No newline at end of file\n";
    let files = files(text);
    let lines = &files[0].hunks[0].lines;
    assert_eq!(lines[0].bytes, b"\xe9\r\n");
    assert_eq!(lines[1].bytes, b"a\x0cb\rc\n");
    assert_eq!(
        (lines[2].bytes.as_slice(), lines[2].no_newline),
        (&b"d"[..], true)
    );
}

#[test]
fn binary_content() {
    let text = "diff --git a/b b/b\nindex 1..2 100644\nGIT binary patch\nliteral 4\nLc${NkU|;|M00aO5\n\nliteral 3\nKcmZQzWMT#Y01f~L\n\ndiff --git a/c b/c\nindex 1..2 100644\nBinary files a/c and b/c differ\n";
    let files = files(text);
    assert_eq!(files.len(), 2);
    assert!(
        files
            .iter()
            .all(|file| file.binary && file.hunks.is_empty())
    );
}

#[test]
fn what_is_no_patch_says_where() {
    let fails = |text: &str| Patch::new(text).files().unwrap_err();
    assert_eq!(fails("hello\n"), PatchError::NoFiles);
    assert!(matches!(
        fails("@@ -1 +1 @@\n"),
        PatchError::Hunk { line: 1, .. }
    ));
    let head = "--- a/x\n+++ b/x\n";
    assert!(matches!(
        fails(&format!("{head}@@ -1,9 +1 @@\n-a\n")),
        PatchError::Hunk { line: 5, .. }
    ));
    assert!(matches!(
        fails(&format!("{head}@@ -1 +1 @@\n-a\n-b\n")),
        PatchError::Hunk { line: 5, .. }
    ));
    assert!(matches!(
        fails(&format!("{head}@@ -99999999999999999999 +1 @@\n")),
        PatchError::Hunk { line: 3, .. }
    ));
    assert!(matches!(
        fails("diff --cc x\n"),
        PatchError::Combined { line: 1 }
    ));
    assert!(matches!(
        fails("diff --git a/x b/y\nrename from \"\\377\"\nrename to y\n"),
        PatchError::Name { line: 2, .. }
    ));
    assert!(matches!(
        fails("diff --git foo\n"),
        PatchError::Header { line: 1, .. }
    ));
    assert!(Patch::new(" \n").files().unwrap().is_empty());
}

fn patch_like() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(b"diff --git a/x b/x\n".to_vec()),
        Just(b"diff --git \"a/\\303\\274\" b/y\n".to_vec()),
        Just(b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@ f\n".to_vec()),
        Just(b"@@ -1,2 +1 @@\n".to_vec()),
        Just(b"GIT binary patch\nliteral 3\nKc\n\n".to_vec()),
        Just(b"rename from a\nrename to b\n".to_vec()),
        Just(b"new file mode 100644\n".to_vec()),
        Just(b"\\ No newline at end of file\n".to_vec()),
        Just(b"+a\n".to_vec()),
        Just(b"-a\n".to_vec()),
        Just(b" a\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(line, 0..20).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in patch_like()) {
        let patch = Patch::new(bytes);
        if let Ok(files) = patch.files() {
            let whole: Vec<u8> = files
                .iter()
                .flat_map(|file| [file.preamble.as_slice(), &file.raw].concat())
                .collect();
            let blank = patch.as_bytes().iter().all(u8::is_ascii_whitespace);
            prop_assert!(whole == patch.as_bytes() || (files.is_empty() && blank));
        }
    }
}

/// Whole sections where there is nothing smaller, hunks elsewhere.
#[test]
fn parts_are_what_can_be_left_out() {
    let patch = Patch::new(
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,4 @@ fn first\n+a\n+b\n c\n d\n@@ -10,2 +12,1 @@ fn second\n e\n-f\n@@ -20 +21 @@\n-g\n+h\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n",
    );
    let parts = patch.parts().expect("a patch");
    let places: Vec<_> = parts
        .iter()
        .map(|part| (part.path.as_str(), part.hunk, part.line))
        .collect();
    assert_eq!(
        places,
        [
            ("x", Some(0), 1),
            ("x", Some(1), 12),
            ("x", Some(2), 21),
            ("n", None, 0)
        ]
    );
    assert_eq!(parts[0].inserted, ["a", "b"]);
    assert_eq!(parts[2].deleted, ["g"]);

    let rest = patch.without([&parts[0], &parts[3]]).expect("a patch");
    assert_eq!(
        String::from_utf8_lossy(rest.as_bytes()),
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -10,2 +10,1 @@ fn second\n e\n-f\n@@ -20,1 +19,1 @@\n-g\n+h\n"
    );
    assert_eq!(patch.without([]).expect("a patch"), patch);
    let nothing = patch.without(&parts).expect("a patch");
    assert!(nothing.is_empty());
    let other = patch
        .without_files(|file| file.path() == "x")
        .expect("a patch");
    assert_eq!(other.files().expect("a patch")[0].path(), "n");
}
