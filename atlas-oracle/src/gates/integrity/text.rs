//! Solution text in a problem statement, measured.

use crate::source::is_code;
use atlas_core::{Evidence, HunkLineKind, Patch};
use regex::Regex;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// How much of a solution stands in a text that is shown with the task.
///
/// SWE-bench+ (Aleithan et al., 2024; cited in paper 001, section 2) found that 32.67 % of the
/// patches that resolved an instance could have been taken from the issue's text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Leak {
    /// Lines of code that the gold patch adds and that say something: at least 8 letters, digits and
    /// underscores, and no part of a line that it takes away or leaves.
    pub solution_lines: usize,
    /// Those that stand in the text, white space aside.
    pub quoted_lines: Vec<String>,
    /// Names that the gold patch introduces: defined by a line that it adds, in none that it leaves or
    /// takes away.
    pub introduced_names: usize,
    /// Those that the text names.
    pub named: Vec<String>,
    /// Introduced names that the test patch uses.
    pub tested_names: usize,
    /// Those that the text does not name: a solver cannot know what to call them.
    pub tested_but_unnamed: Vec<String>,
    /// Addresses of commits, pull requests, comparisons and patches in the text.
    pub links: Vec<String>,
    /// Whether the text holds a diff.
    pub has_diff: bool,
}

impl Leak {
    /// Share of the solution's lines that stand in the text, 0 to 1; none for a solution without
    /// lines that say something.
    pub fn quoted_share(&self) -> Option<f64> {
        let count = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
        (self.solution_lines > 0)
            .then(|| count(self.quoted_lines.len()) / count(self.solution_lines))
    }
}

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_][A-Za-z0-9_]{2,}").expect("a constant pattern"));

/// A name where it is defined: behind a word that defines one, or a function's with its type before
/// it.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\w$.])(?:fn|func|function\*?|fun|def|class|struct|enum|trait|interface|type|const|let|var|val|mod|module|namespace|record|typedef|macro_rules!|#\s*define)\s+(?:\([^)]*\)\s*)?(?:mut\s+|self\.)?([A-Za-z_]\w{2,})|^\s*(?:[A-Za-z_][\w<>\[\],:.*&?]*\s+)+[*&]?([A-Za-z_]\w{2,})\s*\([^;=]*$",
    )
    .expect("a constant pattern")
});

/// Words before a name and a bracket that are no type.
const NO_TYPES: &[&str] = &[
    "return", "else", "new", "throw", "case", "await", "yield", "in", "not", "and", "or", "if",
    "elif", "raise", "assert", "go", "defer", "print", "echo",
];

static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"https?://[^\s<>()\[\]"'`]+(?:/pull/\d+|/pulls/\d+|/merge_requests/\d+|/commit/[0-9a-fA-F]{7,40}|/commits/[0-9a-fA-F]{7,40}|/compare/[^\s<>()"'`]+|\.patch\b|\.diff\b)[^\s<>()\[\]"'`]*"#,
    )
    .expect("a constant pattern")
});

/// Addresses of commits, pull requests, comparisons and patches in a text.
pub(super) fn links(text: &str) -> impl Iterator<Item = &str> {
    LINK.find_iter(text).map(|m| m.as_str())
}

/// Measures a text against an instance's patches.
pub fn leak_of(text: &str, gold_patch: &Patch, test_patch: &Patch) -> Leak {
    let (solution, tests) = (Lines::of(gold_patch), Lines::of(test_patch));
    let known: Vec<String> = solution.kept.iter().map(|line| squeezed(line)).collect();
    // A part of an old line stands in every text that quotes the old line.
    let known = known.join("\n");
    let lines: BTreeSet<(String, &String)> = solution
        .added
        .iter()
        .map(|line| (squeezed(line), line))
        .filter(|(bare, _)| says_something(bare) && !known.contains(bare.as_str()))
        .collect();
    let squeezed_text = squeezed(text);
    let quoted = lines
        .iter()
        .filter(|(bare, _)| squeezed_text.contains(bare.as_str()))
        .map(|(_, line)| line.trim().to_owned())
        .collect();

    let old = names(&solution.kept);
    let introduced: BTreeSet<String> = defined(&solution.added)
        .into_iter()
        .filter(|name| !old.contains(name))
        .collect();
    let in_text: BTreeSet<&str> = NAME.find_iter(text).map(|m| m.as_str()).collect();
    let used = names(&tests.added);
    let tested: Vec<&String> = introduced.iter().filter(|n| used.contains(*n)).collect();
    Leak {
        solution_lines: lines.len(),
        quoted_lines: quoted,
        introduced_names: introduced.len(),
        named: introduced
            .iter()
            .filter(|name| in_text.contains(name.as_str()))
            .cloned()
            .collect(),
        tested_names: tested.len(),
        tested_but_unnamed: tested
            .into_iter()
            .filter(|name| !in_text.contains(name.as_str()))
            .cloned()
            .collect(),
        links: links(text).map(str::to_owned).collect(),
        has_diff: text.contains("diff --git ")
            || text.contains("\n@@ -")
            || (text.contains("\n--- ") && text.contains("\n+++ ")),
    }
}

/// A name where something is defined that a test can call: as [`DEFINED`], without variables and modules.
static CALLABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\w$.])(?:fn|func|function\*?|fun|def|class|struct|enum|trait|interface|type|record|typedef|macro_rules!|#\s*define)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_]\w{2,})|^\s*(?:[A-Za-z_][\w<>\[\],:.*&?]*\s+)+[*&]?([A-Za-z_]\w{2,})\s*\([^;=]*$",
    )
    .expect("a constant pattern")
});

/// A name that is given a value, a type or an item of what is gone through.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:let|const|var|val|auto|mut|for)\s+([A-Za-z_]\w{2,})|([A-Za-z_]\w{2,})\s*(?::?=[^=]|:\s)")
        .expect("a constant pattern")
});

/// Names that a test patch calls or takes in, that only the gold patch defines, and that the text does not
/// give: no other solution can guess them. Names of one word are left out, since many things have them, and so
/// is what either patch shows to be there without the solution.
pub fn unnamed_interface(text: &str, gold_patch: &Patch, test_patch: &Patch) -> Vec<String> {
    let (solution, tests) = (Lines::of(gold_patch), Lines::of(test_patch));
    let mut known = names(&solution.kept);
    known.extend(names(&tests.kept));
    known.extend(found_by(&CALLABLE, &tests.added));
    let assigned = tests.added.iter();
    let assigned = assigned.flat_map(|line| ASSIGNED.captures_iter(line));
    known.extend(assigned.filter_map(|found| {
        let name = found.get(1).or_else(|| found.get(2))?;
        Some(name.as_str().to_owned())
    }));
    known.extend(NAME.find_iter(text).map(|m| m.as_str().to_owned()));
    let called: BTreeSet<&str> = tests.added.iter().flat_map(|line| calls(line)).collect();
    found_by(&CALLABLE, &solution.added)
        .into_iter()
        .filter(|name| is_of_words(name) && called.contains(name.as_str()))
        .filter(|name| !known.contains(name))
        .collect()
}

/// Names on a line of code that stand behind or before a mark of a call, a path or a value, or in an import.
fn calls(line: &str) -> Vec<&str> {
    let first = line.split_whitespace().next().unwrap_or_default();
    if is_comment(first) {
        return Vec::new();
    }
    let found = NAME.find_iter(line).filter(|name| {
        let (before, after) = (&line[..name.start()], line[name.end()..].trim_start());
        [".", "::", "->", "new "]
            .iter()
            .any(|mark| before.ends_with(mark))
            || ["(", "::", "{", "<", "!("]
                .iter()
                .any(|mark| after.starts_with(mark))
            || is_import(line.trim_start())
    });
    found.map(|name| name.as_str()).collect()
}

/// `try_peek`, `lowerItems`; no `read`, no `__init__`.
fn is_of_words(name: &str) -> bool {
    let inner = name.trim_matches('_');
    let letters: Vec<char> = inner.chars().collect();
    let is_camel = letters
        .windows(2)
        .any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase());
    !name.starts_with("__") && letters.len() >= 6 && (is_camel || inner.contains('_'))
}

/// The longest lines of code that only the solution has, for a search: no comments, no imports, at
/// least `least` letters and digits.
pub(super) fn telling_lines(gold_patch: &Patch, least: usize, most: usize) -> Vec<String> {
    let solution = Lines::of(gold_patch);
    let known: BTreeSet<&str> = solution.kept.iter().map(|line| line.trim()).collect();
    let mut lines: Vec<String> = solution
        .added
        .iter()
        .map(|line| line.trim().to_owned())
        .filter(|line| !known.contains(line.as_str()))
        .filter(|line| {
            let bare = squeezed(line);
            let letters = bare.chars().filter(char::is_ascii_alphanumeric).count();
            letters >= least && says_something(&bare) && !is_import(line)
        })
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
    lines.truncate(most);
    lines
}

/// Lines that many a file has: what it takes from others.
fn is_import(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    matches!(
        first,
        "import" | "from" | "use" | "using" | "require" | "#include" | "package" | "namespace"
    ) || line.contains("require(")
        || line.starts_with("export * from")
}

pub(super) fn as_evidence(source: &str, lines: &[String]) -> Vec<Evidence> {
    const MOST: usize = 20;
    lines
        .iter()
        .take(MOST)
        .map(|line| Evidence::of(source, line))
        .collect()
}

/// What a patch adds to code, and what it leaves or takes away there.
#[derive(Default)]
struct Lines {
    added: Vec<String>,
    kept: Vec<String>,
}

impl Lines {
    fn of(patch: &Patch) -> Self {
        let mut lines = Self::default();
        for file in patch.files().unwrap_or_default() {
            if !is_code(file.path()) {
                continue;
            }
            for line in file.hunks.into_iter().flat_map(|hunk| hunk.lines) {
                let text = String::from_utf8_lossy(&line.bytes).into_owned();
                match line.kind {
                    HunkLineKind::Insert => lines.added.push(text),
                    HunkLineKind::Context | HunkLineKind::Delete => lines.kept.push(text),
                }
            }
        }
        lines
    }
}

fn names(lines: &[String]) -> BTreeSet<String> {
    lines
        .iter()
        .flat_map(|line| NAME.find_iter(line))
        .map(|m| m.as_str().to_owned())
        .collect()
}

fn defined(lines: &[String]) -> BTreeSet<String> {
    found_by(&DEFINED, lines)
}

/// What a pattern of definitions finds in lines of code.
fn found_by(pattern: &Regex, lines: &[String]) -> BTreeSet<String> {
    lines
        .iter()
        .filter(|line| {
            let first = line.split_whitespace().next().unwrap_or_default();
            !NO_TYPES.contains(&first) && !is_comment(first)
        })
        .flat_map(|line| pattern.captures_iter(line))
        .filter_map(|found| found.get(1).or_else(|| found.get(2)))
        .map(|name| name.as_str().to_owned())
        .collect()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn is_comment(bare: &str) -> bool {
    ["//", "#", "*", "/*", "--"].iter().any(|mark| {
        bare.starts_with(mark)
            && !bare.starts_with("#include")
            && !bare.starts_with("#define")
            && !bare.starts_with("#[")
    })
}

fn says_something(bare: &str) -> bool {
    let letters = bare
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .count();
    !is_comment(bare) && letters >= 8
}
