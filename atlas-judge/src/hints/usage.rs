//! What the added lines of tests use.

use super::surface::{File, called};
use atlas_core::Evidence;
use atlas_syntax::{DefinitionKind, Language, Lines};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

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
    /// As a part of something that is given a value.
    pub(super) is_written: bool,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Called {
    pub(super) arguments: usize,
    pub(super) keywords: BTreeSet<String>,
    /// All words of its arguments.
    pub(super) words: BTreeSet<String>,
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
    /// Methods of the tests' own types.
    pub(super) implemented: BTreeSet<String>,
    /// Modules that added lines load as a whole, by [`module_of`] their path.
    pub(super) modules: BTreeMap<String, Vec<Evidence>>,
}

impl Usage {
    /// Where a name is used; Ruby's `a=` where `a` is given a value.
    pub(super) fn uses_of(&self, name: &str) -> impl Iterator<Item = &Use> {
        let (name, is_writer) = match name.strip_suffix('=') {
            Some(plain) if plain.ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                (plain, true)
            }
            _ => (name, false),
        };
        let all = self.uses.get(name).into_iter().flatten();
        all.filter(move |one| !is_writer || one.is_written)
    }
}

/// Lines by which JavaScript loads a module as one thing, whose name is the reader's own.
static MODULE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\bimport\s+(?:type\s+)?[\w$]+\s*(?:,\s*\{[^}]*\}\s*)?from\s*['"](\.[^'"]*)['"]|\b(?:const|let|var)\s+[\w$]+\s*=\s*(?:await\s+)?(?:require|import)\(\s*['"](\.[^'"]*)['"]|\bdefault\s+as\s+\w+[^'"]*['"](\.[^'"]*)['"]"#,
    )
    .expect("the pattern is tested")
});

/// The last name of a module's path: `../lib/table.js`, `./table` and `table/index.ts` are all `table`.
pub(super) fn module_of(path: &str) -> &str {
    let mut parts = path
        .rsplit('/')
        .map(|part| match part {
            "." | ".." => "",
            _ => super::surface::stem(part),
        })
        .skip_while(|part| *part == "index");
    parts.next().unwrap_or_default()
}

pub(super) fn usage(files: &[File]) -> Usage {
    let mut usage = Usage::default();
    for file in files {
        usage.names.extend(File::names(&file.new));
        usage.before.extend(File::names(&file.old));
        let language = file.new.language();
        let defined = file.new.signatures().map(|one| called(one, language));
        usage.defined.extend(defined);
        let methods = file.new.signatures();
        let methods = methods.filter(|one| one.kind == DefinitionKind::Method);
        let implemented = methods.map(|one| called(one, language));
        usage.implemented.extend(implemented);
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
            let arguments: Vec<String> = call.arguments.iter().map(text).collect();
            let words = arguments.iter().flat_map(|text| {
                text.split(|c: char| !c.is_alphanumeric() && c != '_')
                    .map(str::to_owned)
            });
            let called = Called {
                arguments: call.arguments.len(),
                words: words.collect(),
                keywords: arguments.iter().filter_map(|text| keyword(text)).collect(),
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
    for groups in MODULE.captures_iter(&text) {
        let path = (1..=3).find_map(|at| groups.get(at));
        let module = module_of(path.map_or("", |path| path.as_str()));
        let lines = usage.modules.entry(module.to_owned()).or_default();
        lines.push(place(file, line));
    }
    let mut names = file.new.identifiers(bytes);
    if matches!(file.new.language(), Language::C | Language::Cpp)
        && text.trim_start().starts_with('#')
    {
        // Where conditions are taken out of a source so that it parses, its tree has none.
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        names.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    for name in names {
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
                is_local: !is_member && (is_assigned && !is_type(ahead) || is_declared(ahead)),
                is_written: is_member && is_assigned,
            });
        }
    }
}

/// Whether what follows is the type of a variable: `let a: T = …`, Go's `var a T = …`.
fn is_type(before: &str) -> bool {
    let mut words = before.split_whitespace().rev();
    before.ends_with(':') || words.next().is_some() && words.next() == Some("var")
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
