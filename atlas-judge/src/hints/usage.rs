//! What the added lines of tests use.

use super::surface::File;
use atlas_core::Evidence;
use atlas_syntax::Lines;
use std::collections::{BTreeMap, BTreeSet};

/// One place where a name is used.
#[derive(Clone, Debug)]
pub(super) struct Use {
    pub(super) place: Evidence,
    /// Behind `.`, `->`, `::` or `:`, or as a key: as a part of something.
    pub(super) is_member: bool,
    /// Before `(`, or the callee of a call.
    pub(super) is_call: bool,
    /// As the left side of an assignment or behind `let`: the test's own variable.
    pub(super) is_local: bool,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) arguments: usize,
    pub(super) keywords: BTreeSet<String>,
    pub(super) place: Evidence,
}

/// What tests use, by name.
#[derive(Debug, Default)]
pub(super) struct Usage {
    pub(super) uses: BTreeMap<String, Vec<Use>>,
    pub(super) calls: BTreeMap<String, Vec<Called>>,
    /// All names in the test files after the test patch.
    pub(super) names: BTreeSet<String>,
    /// All names in them before it.
    pub(super) before: BTreeSet<String>,
    /// Functions and types that the test files define themselves.
    pub(super) defined: BTreeSet<String>,
}

pub(super) fn usage(files: &[File]) -> Usage {
    let mut usage = Usage::default();
    for file in files {
        usage.names.extend(File::names(&file.new));
        usage.before.extend(File::names(&file.old));
        let defined = file.new.signatures().map(|one| one.name.clone());
        usage.defined.extend(defined);
        for lines in &file.added {
            for line in lines.first..=lines.last {
                read_line(file, line, &mut usage);
            }
        }
        for call in file.new.calls(0..file.new.text().len()) {
            let last = file
                .new
                .line_of(call.bytes.end.saturating_sub(1).max(call.bytes.start));
            let lines = Lines::new(call.line, last);
            if !file.added.iter().any(|added| added.meets(lines)) {
                continue;
            }
            let text = |range: &std::ops::Range<usize>| {
                let bytes = file.new.text().get(range.clone()).unwrap_or_default();
                String::from_utf8_lossy(bytes).into_owned()
            };
            let arguments = call.arguments.iter().map(text);
            let called = Called {
                arguments: call.arguments.len(),
                keywords: arguments.filter_map(|text| keyword(&text)).collect(),
                place: place(file, call.line),
            };
            usage.calls.entry(call.name).or_default().push(called);
        }
    }
    usage
}

fn place(file: &File, line: usize) -> Evidence {
    let text = file.new.lines(Lines::new(line, line));
    let text = String::from_utf8_lossy(text);
    Evidence::at(file.path.clone(), file.line(line), text.trim())
}

fn read_line(file: &File, line: usize, usage: &mut Usage) {
    let bytes = file.new.bytes_of(Lines::new(line, line));
    let text = String::from_utf8_lossy(&file.new.text()[bytes.clone()]).into_owned();
    for name in file.new.identifiers(bytes) {
        for (before, after) in places(&text, &name) {
            let behind = after.trim_start();
            let ahead = before.trim_end();
            let is_key =
                behind.starts_with(':') && !behind.starts_with("::") && !behind.starts_with(":=");
            let is_assigned = (behind.starts_with('=') && !behind.starts_with("=="))
                && !behind.starts_with("=>")
                || behind.starts_with(":=");
            let is_member = [".", "->", "::", "&."]
                .iter()
                .any(|sign| before.ends_with(sign))
                || before.ends_with(':')
                || is_key && !is_declared(ahead)
                // A keyword argument: `f(name=1)`.
                || is_assigned && behind.starts_with('=') && ahead.ends_with(['(', ',']);
            usage.uses.entry(name.clone()).or_default().push(Use {
                place: place(file, line),
                is_member,
                is_call: after.starts_with('(') || behind.starts_with("!("),
                is_local: !is_member && (is_assigned || is_declared(ahead)),
            });
        }
    }
}

fn is_declared(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    matches!(
        word,
        "let" | "var" | "const" | "auto" | "mut" | "val" | "def" | "fn" | "func"
    )
}

/// What stands before and behind every place where a name stands as a word.
fn places<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> + 't {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).filter_map(move |(start, _)| {
        let (before, after) = (&text[..start], &text[start + name.len()..]);
        let is_part = before.chars().next_back().is_some_and(is_word)
            || after.chars().next().is_some_and(is_word);
        (!is_part).then_some((before, after))
    })
}

/// `name=1`, `name: 1`.
fn keyword(argument: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = argument.find(|c| !is_word(c))?;
    let rest = argument[end..].trim_start();
    let is_keyword = (rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>"))
        || (rest.starts_with(':') && !rest.starts_with("::"));
    (end > 0 && is_keyword).then(|| argument[..end].to_owned())
}
