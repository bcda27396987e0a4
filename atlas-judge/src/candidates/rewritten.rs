//! Candidates that change the files as they are after the gold patch, and are the difference from base to that: stubs,
//! renamed variables, added comments.

use crate::variant::{BaseFiles, FileChange};
use atlas_syntax::{Definition, Language, Lines, Source};
use regex::Regex;
use similar::TextDiff;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// Gold with the bodies of all functions that it adds or changes replaced by one that says so when it is called. None
/// where no such function is known.
pub(super) fn stub(changes: &[FileChange]) -> Option<Vec<u8>> {
    let mut has_stub = false;
    let patch = rewritten(changes, |change, after| {
        let text = String::from_utf8(after.text().to_vec()).ok()?;
        let found = changed_bodies(change, after);
        has_stub |= !found.is_empty();
        let mut text = text;
        for body in found.iter().rev() {
            text.replace_range(
                body.clone(),
                &stub_body(after.language(), &text[body.clone()]),
            );
        }
        Some(text)
    })?;
    has_stub.then_some(patch)
}

/// Gold with a variable that it brings under another name everywhere in its file. None where it brings none whose name
/// stands nowhere else.
pub(super) fn renamed(changes: &[FileChange], base: &BaseFiles) -> Option<Vec<u8>> {
    let mut is_renamed = false;
    let patch = rewritten(changes, |change, after| {
        let text = String::from_utf8(after.text().to_vec()).ok()?;
        if is_renamed {
            return Some(text);
        }
        let Some(name) = new_variable(change, after, base) else {
            return Some(text);
        };
        is_renamed = true;
        let whole = Regex::new(&format!(r"\b{}\b", regex::escape(&name))).ok()?;
        Some(
            whole
                .replace_all(&text, format!("{name}_here"))
                .into_owned(),
        )
    })?;
    is_renamed.then_some(patch)
}

/// Gold with a comment below the first added line that stands within a function and ends a statement.
pub(super) fn commented(changes: &[FileChange]) -> Option<Vec<u8>> {
    let mut is_commented = false;
    let patch = rewritten(changes, |change, after| {
        let text = String::from_utf8(after.text().to_vec()).ok()?;
        if is_commented {
            return Some(text);
        }
        let sign = match after.language() {
            Language::Python | Language::Ruby => "#",
            _ => "//",
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let added = change.added_lines();
        let place = added
            .iter()
            .flat_map(|run| run.first..=run.last)
            .find(|at| {
                let line = lines.get(at - 1).copied().unwrap_or_default().trim_end();
                let in_function = after
                    .functions()
                    .any(|one| one.lines.holds(Lines::new(*at, *at)) && one.lines.last > *at);
                let ends = match after.language() {
                    Language::Python | Language::Ruby => line.ends_with([')', ':']),
                    _ => line.ends_with([';', '{', '}']),
                };
                in_function && ends
            });
        let Some(place) = place else {
            return Some(text);
        };
        is_commented = true;
        let next = lines.get(place).copied().unwrap_or_default();
        let indent: String = next
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t'))
            .collect();
        let mut out = lines[..place].concat();
        let _ = writeln!(out, "{indent}{sign} as the callers expect");
        out.push_str(&lines[place..].concat());
        Some(out)
    })?;
    is_commented.then_some(patch)
}

/// The patch from the base to what `change` makes of each file after gold; files whose functions are not known keep
/// their section of gold.
fn rewritten(
    changes: &[FileChange],
    mut change: impl FnMut(&FileChange, &Source) -> Option<String>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for one in changes {
        let new = one.after().and_then(|after| change(one, after));
        let (Some(old), Some(new)) = (one.before(), new) else {
            out.extend(&one.file.raw);
            continue;
        };
        let old = std::str::from_utf8(old.text()).ok()?;
        let head = one.file.hunks.first().and_then(|first| {
            let raw = &one.file.raw;
            raw.windows(first.raw.len())
                .position(|part| part == first.raw)
        })?;
        let diff = TextDiff::from_lines(old, &new);
        let mut hunks = String::new();
        let mut unified = diff.unified_diff();
        for hunk in unified.context_radius(3).iter_hunks() {
            let _ = write!(hunks, "{hunk}");
        }
        if !hunks.is_empty() {
            out.extend(&one.file.raw[..head]);
            out.extend(hunks.as_bytes());
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The bodies of functions that have an added line, outermost first, none inside another.
fn changed_bodies(change: &FileChange, after: &Source) -> Vec<std::ops::Range<usize>> {
    let added = change.added_lines();
    let is_changed = |one: &&Definition| added.iter().any(|run| one.lines.meets(*run));
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for one in after.functions().filter(is_changed) {
        let Some(body) = one.body.clone().filter(|_| one.kind.is_unit()) else {
            continue;
        };
        let is_text = after
            .text()
            .get(body.clone())
            .is_some_and(|text| std::str::from_utf8(text).is_ok());
        if is_text && found.last().is_none_or(|last| last.end <= body.start) {
            found.push(body);
        }
    }
    found
}

/// A body that fails when it is called. What stands before the first and behind the last word of the old one stays.
fn stub_body(language: Language, body: &str) -> String {
    let (code, is_block) = match language {
        Language::Python | Language::Ruby => ("raise NotImplementedError", false),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            ("throw new Error(\"not implemented\");", true)
        }
        Language::Go => ("panic(\"not implemented\")", true),
        Language::Rust => ("unimplemented!()", true),
        Language::Java => ("throw new UnsupportedOperationException();", true),
        Language::CSharp => ("throw new System.NotImplementedException();", true),
        Language::Php => ("throw new \\LogicException('not implemented');", true),
        Language::C | Language::Cpp => ("__builtin_trap();", true),
    };
    let start = body.len() - body.trim_start().len();
    let end = body.trim_end().len();
    let (before, behind) = (&body[..start], &body[end..]);
    let has_braces = body[start..end].starts_with('{') && body[start..end].ends_with('}');
    match (is_block, has_braces) {
        (true, true) => format!("{before}{{ {code} }}{behind}"),
        _ => format!("{before}{code}{behind}"),
    }
}

/// How variables come to be, in the languages that are read: the name in the first group.
static MADE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^\s*(?:let\s+(?:mut\s+)?|const\s+|var\s+|(?:int|size_t|bool|char|double|auto|String|final\s+\w+)\s+)?([a-z][A-Za-z0-9_]{2,})\s*(?::=|=)\s*[^=\s]",
    )
    .expect("a regular expression that a test compiles")
});

/// The first variable that the added lines bring and that is named nowhere in the base.
fn new_variable(change: &FileChange, after: &Source, base: &BaseFiles) -> Option<String> {
    let known: BTreeSet<String> = base
        .values()
        .flat_map(|bytes| words(&String::from_utf8_lossy(bytes)))
        .collect();
    for run in change.added_lines() {
        let text = String::from_utf8_lossy(after.lines(run)).into_owned();
        for found in MADE.captures_iter(&text) {
            let name = &found[1];
            let is_member = text.contains(&format!(".{name}"));
            if !known.contains(name) && !is_member {
                return Some(name.to_owned());
            }
        }
    }
    None
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    parts
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}
