//! Lines that no program reads: comments of people, and blank ones.

use atlas_core::{HunkLineKind, Patch};

/// How a line begins that is nothing but a comment, by the endings of files.
const COMMENTS: &[(&str, &[&str])] = &[
    (
        "# ",
        &[
            "py", "rb", "sh", "bash", "pl", "toml", "yml", "yaml", "cmake",
        ],
    ),
    (
        "// ",
        &[
            "rs", "go", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "java", "kt", "php",
            "cs", "c", "cc", "cpp", "cxx", "h", "hpp",
        ],
    ),
];

/// Whether a line of a file says nothing to any program. What may be for one is none: a documentation comment, whose
/// examples are tests; `// Output: 3`, `# type: int`, `// @ts-expect-error`, `//~ ERROR`, `// expected-error {{x}}`.
pub(crate) fn is_remark(path: &str, line: &str) -> bool {
    let line = line.trim();
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let of_people = |text: &str| !text.contains([':', '@', '{', '~', '+', '[', '<', '=']);
    line.is_empty()
        || COMMENTS.iter().any(|(start, endings)| {
            endings.contains(&ending) && line.strip_prefix(start).is_some_and(of_people)
        })
}

/// Whether a patch changes comments and blank lines alone. Go's examples say in comments what they print, so that no
/// comment of its test files counts as such.
///
/// ```
/// let patch = |line: &str| {
///     let text = format!("diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-# An old word\n+{line}\n");
///     atlas_core::Patch::new(text)
/// };
/// assert!(atlas_source::changes_remarks_alone(&patch("# A word")));
/// assert!(!atlas_source::changes_remarks_alone(&patch("x = 1")));
/// ```
pub fn changes_remarks_alone(changes: &Patch) -> bool {
    let Ok(files) = changes.files() else {
        return false;
    };
    !files.is_empty()
        && files.iter().all(|file| {
            let path = file.path();
            let stays = file.old_path == file.new_path && !file.hunks.is_empty();
            let mut lines = file.hunks.iter().flat_map(|hunk| &hunk.lines);
            stays
                && !path.ends_with("_test.go")
                && lines.all(|line| {
                    line.kind == HunkLineKind::Context
                        || is_remark(path, &String::from_utf8_lossy(&line.bytes))
                })
        })
}
