//! Tests that were lost in Before with their neighbours: what does not build there is what others use.
//!
//! A package of tests does not build for want of one name, and none of its tests runs. Which of them are about that
//! name, only their sources tell. Those that use it nowhere may pass in Before once it is there, whatever it does, and
//! then they say nothing of a solution. They stay in `FAIL_TO_PASS`, for a grader would see them fail without one; but
//! a reader should know.

use super::{ClassifyInput, failures};
use atlas_core::{ModuleFailure, one_line, stem};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A function, a method, with its name.
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\w$])(?:fn|func|def|function|fun|void)\s+(?:\([^)]*\)\s*)?(?:self\.)?([A-Za-z_$][\w$]*)\s*[(<\[]",
    )
    .expect("a literal pattern")
});

/// So many names are shown in a remark.
const SHOWN: usize = 5;

/// Functions and methods that run before or after each test.
const AROUND: &[&str] = &[
    "setup", "teardown", "before", "after", "init", "testmain", "main", "fixture",
];

/// What a reader should know of a feature's tests: the names that Before lacks are private to their package, and
/// tests that use none of them.
pub(super) fn remarks(
    input: &ClassifyInput<'_>,
    lost: &[&ModuleFailure],
    fail_to_pass: &BTreeSet<&str>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    let Some(missing) = failures::missing_names(input, lost).filter(|names| !names.is_empty())
    else {
        return remarks;
    };
    let names: Vec<&str> = missing.iter().map(String::as_str).take(SHOWN).collect();
    let shown = format!("`{}`", names.join("`, `"));
    if let Some(line) = failures::private_names(input, &missing).and_then(|lines| {
        let line = lines.into_iter().next()?;
        Some(one_line(&line.text, 90))
    }) {
        remarks.push(format!(
            "Before does not build for want of {shown} alone, which the gold patch defines for its own package \
             (`{line}`): another solution need not have it, and then none of the package's tests runs"
        ));
    }
    let doubtful = without(input, &missing, fail_to_pass);
    if let Some(first) = doubtful.first() {
        remarks.push(format!(
            "{} of {} tests of FAIL_TO_PASS use nothing of what Before lacks ({shown}), as `{first}`: they were lost \
             with their package, and may pass there once that is defined",
            doubtful.len(),
            fail_to_pass.len()
        ));
    }
    remarks
}

/// Those of the tests whose sources are known and use none of these names, neither by themselves nor by what they call.
fn without<'a>(
    input: &ClassifyInput<'_>,
    missing: &BTreeSet<String>,
    tests: &BTreeSet<&'a str>,
) -> Vec<&'a str> {
    let Some(files) = input.before_files else {
        return Vec::new();
    };
    let mut sources = Vec::new();
    for content in files.write.values() {
        let text = String::from_utf8_lossy(&content.bytes).into_owned();
        if text.contains('\0') {
            continue;
        }
        sources.push(text);
    }
    let mut blocks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut using = missing.clone();
    for text in &sources {
        let found = Blocks::of(text);
        // Something that belongs to no test or function: a table, a list of imports.
        if failures::uses(&found.outside, missing) {
            return Vec::new();
        }
        for (name, body) in found.blocks {
            blocks.entry(name).or_default().push(body);
        }
    }
    loop {
        let before = using.len();
        for (name, bodies) in &blocks {
            if bodies.iter().any(|body| failures::uses(body, &using)) {
                using.insert(name.clone());
            }
        }
        if using.len() == before {
            break;
        }
    }
    let around = |name: &String| {
        let name = name.to_lowercase();
        AROUND.iter().any(|word| name.starts_with(word))
    };
    if using.difference(missing).any(around) {
        return Vec::new();
    }
    let own = |id: &str| -> Option<bool> {
        let stem = stem(id);
        let leaf = stem
            .rsplit(['/', ':', '.', '#'])
            .find(|part| blocks.contains_key(*part))?;
        Some(!using.contains(leaf))
    };
    let found = tests.iter().filter(|id| own(id) == Some(true));
    found.copied().collect()
}

/// A source by what its outermost lines define.
struct Blocks {
    blocks: Vec<(String, String)>,
    /// Lines of none of them.
    outside: String,
}

impl Blocks {
    /// A definition ends before the next line that stands as far left and is no closing bracket.
    fn of(text: &str) -> Self {
        let mut found = Self {
            blocks: Vec::new(),
            outside: String::new(),
        };
        let indent = |line: &str| line.len() - line.trim_start().len();
        // The block that is open, and how far left it stands.
        let mut open: Option<usize> = None;
        let mut importing = false;
        for line in text.lines() {
            let trimmed = line.trim_start();
            // A remark uses nothing.
            let is_remark = ["//", "/*", "* ", "# "]
                .iter()
                .any(|mark| trimmed.starts_with(mark));
            if is_remark {
                continue;
            }
            if let Some(left) = open {
                let inside = trimmed.is_empty()
                    || indent(line) > left
                    || trimmed.starts_with(['}', ')', ']']);
                if inside {
                    if let Some((_, body)) = found.blocks.last_mut() {
                        body.push_str(line);
                        body.push('\n');
                    }
                    continue;
                }
                open = None;
            }
            // What is imported is not used yet.
            importing |= ["import ", "use ", "pub use "]
                .iter()
                .any(|word| trimmed.starts_with(word));
            if importing {
                importing = !line.contains([';', '}', ')']) && line.contains(['{', '(', ',']);
                continue;
            }
            if let Some(name) = FUNCTION.captures(line).and_then(|found| found.get(1)) {
                let name = name.as_str();
                open = Some(indent(line));
                // What stands behind the name is a part of it: one line may hold all.
                let rest = line.split_once(name).map_or("", |(_, rest)| rest);
                found.blocks.push((name.to_owned(), format!("{rest}\n")));
            } else {
                found.outside.push_str(line);
                found.outside.push('\n');
            }
        }
        found
    }
}
