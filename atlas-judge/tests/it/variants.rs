//! Patch variants: what they show, and that they lose nothing.

use atlas_core::{HunkLineKind, Patch};
use atlas_judge::variant::{
    BaseFiles, FileChange, Opaque, Rendered, Variant, file_changes, render,
};
use proptest::prelude::*;
use std::io::Write;
use std::process::{Command, Stdio};

const PYTHON: &str = "\
import os

LIMIT = 1
KEEP = 2
OTHER = 3


class A:
    '''doc'''

    @property
    def first(self):
        a = 1
        b = 2
        c = 3
        d = 4
        e = 5
        return a

    def second(self):
        return 2


def third():
    a = 1
    b = 2
    c = 3
    d = 4
    e = 5
    f = 6
    g = 7
    h = 8
    i = 9
    return a
";

fn base(path: &str, text: &str) -> BaseFiles {
    BaseFiles::from([(path.to_owned(), text.as_bytes().to_vec())])
}

/// A diff as git would print it, with this much context.
fn diff(path: &str, old: &str, new: &str, context: usize) -> Patch {
    let body = similar::TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(context)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    Patch::new(format!("diff --git a/{path} b/{path}\n{body}"))
}

fn show(patch: &Patch, base: &BaseFiles, variant: Variant) -> Rendered {
    render(patch, base, variant).unwrap()
}

/// What `git apply` makes of the files; none if it refuses.
pub(crate) fn git_apply(patch: &[u8], base: &BaseFiles) -> Option<BaseFiles> {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in base {
        std::fs::write(folder.path().join(path), content).unwrap();
    }
    let mut child = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .current_dir(folder.path())
        .env("GIT_CEILING_DIRECTORIES", folder.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(patch).unwrap();
    if !child.wait().unwrap().success() {
        return None;
    }
    let files = std::fs::read_dir(folder.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(entry.path()).unwrap())
    });
    Some(files.collect())
}

/// Added and deleted lines in their order, per file.
pub(crate) fn changed_lines(patch: &Patch) -> Vec<(String, HunkLineKind, Vec<u8>)> {
    let files = patch.files().unwrap();
    let lines = files.iter().flat_map(|file| {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines
            .filter(|line| line.kind != HunkLineKind::Context)
            .map(|line| (file.path().to_owned(), line.kind, line.bytes.clone()))
    });
    lines.collect()
}

#[test]
fn context_grows_to_whole_functions() {
    let new = PYTHON.replace(
        "        e = 5\n        return a",
        "        e = 6\n        return a",
    );
    let patch = diff("a.py", PYTHON, &new, 3);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    assert_eq!(
        shown.text(),
        "\
diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -11,10 +11,10 @@ class A
     @property
     def first(self):
         a = 1
         b = 2
         c = 3
         d = 4
-        e = 5
+        e = 6
         return a
 
     def second(self):
"
    );
    assert_eq!(shown.notes, Vec::<String>::new());
}

#[test]
fn hunks_of_one_function_become_one() {
    let new = PYTHON
        .replace("    b = 2\n    c = 3\n    d", "    b = 0\n    c = 3\n    d")
        .replace("    i = 9", "    i = 0");
    let patch = diff("a.py", PYTHON, &new, 1);
    assert_eq!(patch.files().unwrap()[0].hunks.len(), 2);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    let files = Patch::new(shown.bytes.clone()).files().unwrap();
    assert_eq!(files[0].hunks.len(), 1);
    assert_eq!(
        (files[0].hunks[0].old_start, files[0].hunks[0].old_lines),
        (24, 11)
    );
}

#[test]
fn a_hunk_outside_of_functions_stays_as_it_is() {
    let new = PYTHON.replace("LIMIT = 1", "LIMIT = 2");
    let patch = diff("a.py", PYTHON, &new, 3);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    assert_eq!(shown.bytes, patch.as_bytes());
}

#[test]
fn a_line_behind_the_last_one_of_a_function_belongs_to_it() {
    let new = PYTHON.replace(
        "        return 2\n",
        "        return 2\n        # never\n        print()\n",
    );
    let patch = diff("a.py", PYTHON, &new, 0);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    assert!(
        shown
            .text()
            .contains("     def second(self):\n         return 2\n+"),
        "{}",
        shown.text()
    );
}

#[test]
fn a_new_function_between_others_widens_nothing() {
    let new = PYTHON.replace("def third", "def fresh():\n    return 0\n\n\ndef third");
    let patch = diff("a.py", PYTHON, &new, 1);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    let changes = file_changes(&patch, &base("a.py", PYTHON)).unwrap();
    let functions = changes[0].changed_functions();
    let names: Vec<(&str, bool)> = functions
        .iter()
        .map(|one| (one.definition.name.as_str(), one.added))
        .collect();
    assert!(names.contains(&("fresh", true)), "{names:?}");
    assert!(!shown.text().contains("b = 2"), "{}", shown.text());
}

#[test]
fn what_the_patch_leaves_behind() {
    let new = PYTHON
        .replace(
            "        e = 5\n        return a",
            "        e = 6\n        return a",
        )
        .replace("KEEP = 2", "KEEP = 3")
        .replace("    def second(self):\n        return 2\n", "");
    let patch = diff("a.py", PYTHON, &new, 3);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::PostCommit);
    assert_eq!(
        shown.text(),
        "\
=== a.py (changed)
--- A.first, lines 11 to 18
    @property
    def first(self):
        a = 1
        b = 2
        c = 3
        d = 4
        e = 6
        return a
--- outside of functions, as a diff
@@ -1,7 +1,7 @@
 import os
 
 LIMIT = 1
-KEEP = 2
+KEEP = 3
 OTHER = 3
 
 
@@ -17,8 +17,6 @@
-        e = 5
+        e = 6
         return a
 
-    def second(self):
-        return 2
 
 
 def third():
--- deleted: A.second
"
    );
}

#[test]
fn files_without_functions_are_shown_as_they_are() {
    let text = "\
diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/old.py b/new.py
similarity index 100%
rename from old.py
rename to new.py
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -1 +1 @@
-a
+b
diff --git a/absent.py b/absent.py
--- a/absent.py
+++ b/absent.py
@@ -1 +1 @@
-a
+b
diff --git a/other.py b/other.py
--- a/other.py
+++ b/other.py
@@ -1 +1 @@
-never there
+b
";
    let mut files = base("other.py", "x = 1\n");
    files.insert("notes.txt".to_owned(), b"a\n".to_vec());
    let patch = Patch::new(text);
    let shown = show(&patch, &files, Variant::Function);
    assert_eq!(shown.text(), text);
    assert_eq!(
        shown.notes,
        [
            "logo.png: no text changes",
            "new.py: no text changes",
            "notes.txt: unknown language",
            "absent.py: the base content is not known, or no UTF-8 text",
            "other.py: the hunks do not fit the base content",
        ]
    );
    let why: Vec<Option<Opaque>> = file_changes(&patch, &files)
        .unwrap()
        .iter()
        .map(FileChange::opaque)
        .collect();
    assert_eq!(why[0], Some(Opaque::NoHunks));
    assert_eq!(
        show(&patch, &files, Variant::Default).bytes,
        text.as_bytes()
    );
}

#[test]
fn new_removed_and_moved_files() {
    let text = "\
diff --git a/made.py b/made.py
new file mode 100644
--- /dev/null
+++ b/made.py
@@ -0,0 +1,2 @@
+def made():
+    return 1
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def gone():
-    return 1
diff --git a/from.py b/to.py
similarity index 80%
rename from from.py
rename to to.py
--- a/from.py
+++ b/to.py
@@ -5,1 +5,1 @@
-    return 1
+    return 2
";
    let moved = "def f():\n    a = 1\n    b = 2\n    c = 3\n    return 1\n";
    let mut files = base("from.py", moved);
    files.insert(
        "gone.py".to_owned(),
        b"def gone():\n    return 1\n".to_vec(),
    );
    let patch = Patch::new(text);
    let function = show(&patch, &files, Variant::Function);
    assert!(
        function.text().contains("@@ -1,5 +1,5 @@\n def f():\n"),
        "{}",
        function.text()
    );
    let after = git_apply(&function.bytes, &files).unwrap();
    assert_eq!(
        after["to.py"],
        moved.replace("return 1", "return 2").as_bytes()
    );
    assert_eq!(after["made.py"], b"def made():\n    return 1\n");
    assert!(!after.contains_key("gone.py") && !after.contains_key("from.py"));
    let left = show(&patch, &files, Variant::PostCommit).text();
    assert_eq!(
        left,
        "\
=== made.py (new file)
def made():
    return 1
=== gone.py (removed file)
--- deleted: gone
=== to.py (renamed from from.py)
--- f, lines 1 to 5
def f():
    a = 1
    b = 2
    c = 3
    return 2
"
    );
}

#[test]
fn a_hunk_that_stands_elsewhere_is_found() {
    let text = "--- a/a.py\n+++ b/a.py\n@@ -2,2 +2,2 @@\n     h = 8\n-    i = 9\n+    i = 0\n";
    let patch = Patch::new(text);
    let shown = show(&patch, &base("a.py", PYTHON), Variant::Function);
    assert!(
        shown
            .text()
            .contains("@@ -24,11 +24,11 @@\n def third():\n"),
        "{}",
        shown.text()
    );
}

/// Lines that make functions, broken code, and files without a last line end.
fn line() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "def f():",
        "def g(x):",
        "    return 1",
        "    x = 2",
        "class A:",
        "    def m(self):",
        "        pass",
        "",
        "",
        "@d",
        "# note",
        "x = 1",
        "    if x:",
        ")",
        "'''",
    ])
}

fn text_of(lines: &[&str], ends: bool) -> String {
    let mut text = lines.join("\n");
    if ends && !text.is_empty() {
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_is_lost_and_the_diff_still_applies(
        old in prop::collection::vec(line(), 1..60),
        edits in prop::collection::vec((0..60usize, 0..4usize, prop::collection::vec(line(), 0..4)), 1..5),
        old_ends in any::<bool>(),
        new_ends in any::<bool>(),
        context in 0..4usize,
    ) {
        let mut new = old.clone();
        for (at, deleted, inserted) in edits {
            let at = at.min(new.len());
            let end = (at + deleted).min(new.len());
            new.splice(at..end, inserted);
        }
        let (old, new) = (text_of(&old, old_ends), text_of(&new, new_ends));
        prop_assume!(old != new && !new.is_empty() && !old.is_empty());
        let files = base("a.py", &old);
        let patch = diff("a.py", &old, &new, context);
        let function = show(&patch, &files, Variant::Function);
        prop_assert_eq!(&function.notes, &Vec::<String>::new());
        let again = Patch::new(function.bytes.clone());
        prop_assert_eq!(changed_lines(&again), changed_lines(&patch));
        // A hunk without context around it is refused by git whoever wrote it.
        if context > 0 {
            let after = git_apply(&function.bytes, &files);
            prop_assert_eq!(after.map(|files| files["a.py"].clone()), Some(new.clone().into_bytes()));
        }
        // Whole functions in the variant are whole: the variant of the variant is itself.
        let twice = show(&again, &files, Variant::Function);
        prop_assert_eq!(changed_lines(&Patch::new(twice.bytes)), changed_lines(&patch));
        let left = show(&patch, &files, Variant::PostCommit).text();
        for (_, kind, bytes) in changed_lines(&patch) {
            let added = String::from_utf8(bytes).unwrap();
            prop_assert!(kind == HunkLineKind::Delete || left.contains(added.trim_end()), "{}", left);
        }
    }

    #[test]
    fn any_bytes_render_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let patch = Patch::new(bytes);
        for variant in Variant::ALL {
            let _ = render(&patch, &BaseFiles::new(), variant);
        }
    }
}
