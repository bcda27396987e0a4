//! Sources of eleven languages and a patch to them.

use std::fmt::Write as _;

/// The languages of [`source_of`] with the extension of their files.
pub const SOURCE_LANGUAGES: [(&str, &str); 11] = [
    ("c", "c"),
    ("cpp", "cpp"),
    ("csharp", "cs"),
    ("go", "go"),
    ("java", "java"),
    ("javascript", "js"),
    ("php", "php"),
    ("python", "py"),
    ("ruby", "rb"),
    ("rust", "rs"),
    ("typescript", "ts"),
];

/// What stands before, around each function with its number, and behind.
fn frame(language: &str) -> (&'static str, &'static str, &'static str) {
    match language {
        "c" => (
            "#include <stdio.h>\n",
            "static int handle_@(int count, const char *name)\n{\n",
            "}\n",
        ),
        "cpp" => (
            "#include <string>\nnamespace app {\nclass Store {\npublic:\n",
            "    int handle_@(int count, const std::string &name)\n    {\n",
            "    }\n",
        ),
        "csharp" => (
            "using System;\nnamespace App\n{\npublic class Store\n{\n",
            "    public int Handle_@(int count, string name)\n    {\n",
            "    }\n",
        ),
        "go" => (
            "package app\n",
            "func handle_@(count int, name string) int {\n",
            "}\n",
        ),
        "java" => (
            "package app;\npublic class Store {\n",
            "    public int handle_@(int count, String name) {\n",
            "    }\n",
        ),
        "javascript" => ("class Store {\n", "  handle_@(count, name) {\n", "  }\n"),
        "php" => (
            "<?php\nclass Store\n{\n",
            "    public function handle_@(int $count, string $name): int\n    {\n",
            "    }\n",
        ),
        "python" => (
            "class Store:\n",
            "    def handle_@(self, count, name):\n",
            "",
        ),
        "ruby" => ("class Store\n", "  def handle_@(count, name)\n", "  end\n"),
        "rust" => (
            "struct Store;\nimpl Store {\n",
            "    fn handle_@(&self, count: i64, name: &str) -> i64 {\n",
            "    }\n",
        ),
        "typescript" => (
            "class Store {\n",
            "  handle_@(count: number, name: string): number {\n",
            "  }\n",
        ),
        other => panic!("no source of {other}"),
    }
}

/// A source with so many functions of about twelve lines, each with a comment, a condition and calls.
///
/// # Panics
/// For a language that is not in [`SOURCE_LANGUAGES`].
///
/// ```
/// assert!(atlas_benches::source_of("go", 3).contains("func handle_2("));
/// ```
pub fn source_of(language: &str, functions: usize) -> String {
    let (before, head, tail) = frame(language);
    let hash = matches!(language, "python" | "ruby");
    let mark = if hash { "#" } else { "//" };
    let end = if matches!(language, "python" | "ruby" | "go") {
        ""
    } else {
        ";"
    };
    let sigil = if language == "php" { "$" } else { "" };
    let (then, over) = match language {
        "python" => (":", ""),
        "ruby" => ("", "end"),
        _ => (" {", "}"),
    };
    let (open, close) = if matches!(language, "go" | "rust" | "python" | "ruby") {
        ("", "")
    } else {
        ("(", ")")
    };
    let assign = if language == "go" { "=" } else { "= 0 +" };
    let pad = head.len() - head.trim_start_matches(' ').len() + 4;
    let pad = " ".repeat(pad);
    let mut text = before.to_owned();
    for number in 0..functions {
        let _ = write!(text, "\n{}", head.replace('@', &number.to_string()));
        let _ = writeln!(
            text,
            "{pad}{mark} Counts the things that are named, number {number}."
        );
        for step in 0..3 {
            let _ = writeln!(
                text,
                "{pad}if {open}{sigil}count > {step}{close}{then}\n{pad}    {sigil}count {assign} measure({sigil}name, {step}, \"step {number}\"){end}"
            );
            if !over.is_empty() {
                let _ = writeln!(text, "{pad}{over}");
            }
        }
        let _ = writeln!(text, "{pad}return {sigil}count{end}");
        text.push_str(tail);
    }
    let opened = before.matches('{').count();
    match language {
        "ruby" => text.push_str("end\n"),
        "cpp" => text.push_str("};\n}\n"),
        _ => text.push_str(&"}\n".repeat(opened)),
    }
    text
}

/// A patch to [`source_of`]'s source: a line in a function at a third of the file and one at two thirds,
/// with three lines of context.
///
/// ```
/// let patch = atlas_benches::patch_of("a.go", &atlas_benches::source_of("go", 9));
/// assert_eq!(patch.matches("\n@@ ").count(), 2);
/// ```
pub fn patch_of(path: &str, text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut diff = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
    for part in [1, 2] {
        let from = lines.len() * part / 3;
        let Some(at) = (from..lines.len()).find(|at| lines[*at].contains("count > 1")) else {
            continue;
        };
        let first = at.saturating_sub(3);
        let last = (at + 3).min(lines.len() - 1);
        let count = last - first + 1;
        let _ = writeln!(diff, "@@ -{0},{count} +{0},{count} @@", first + 1);
        for (number, line) in lines.iter().enumerate().take(last + 1).skip(first) {
            if number == at {
                let changed = line.replace("count > 1", "count > 11");
                let _ = writeln!(diff, "-{line}\n+{changed}");
            } else {
                let _ = writeln!(diff, " {line}");
            }
        }
    }
    diff
}
