//! Names without parameters that a gold patch brings: constants, fields, enumerators, exports.

use super::surface::{File, Introduced, Sort, around, holds_word, joined};
use atlas_syntax::{DefinitionKind, Language, Lines, NamedValue, ValueKind};
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What says on a line of a fragment that a name is more than a local one.
static OFFERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\S|\s*(?:export|static|public|protected|pub|readonly|final)\b)")
        .expect("the pattern is tested")
});

/// An enumerator alone on its line. A C or C++ tree that needed a second look may have lost it: it looks
/// like a macro.
static LOUD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*([A-Z_][A-Z0-9_]{2,})\s*(?:=[^=].*)?,?\s*$").expect("the pattern is tested")
});

/// A macro. Where conditions are taken out of a source so that it parses, its tree has none.
static DEFINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*#\s*define\s+(\w+)").expect("the pattern is tested"));

/// Adds the names that were not there before.
pub(super) fn find(file: &File, found: &mut Vec<Introduced>) {
    let language = file.new.language();
    let old: BTreeSet<(String, String)> = file
        .old
        .values()
        .into_iter()
        .map(|one| (owner(file, &one, true), one.name))
        .collect();
    let defined = |source: &atlas_syntax::Source| -> BTreeSet<String> {
        source.signatures().map(|one| one.name.clone()).collect()
    };
    let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
    let (defined, earlier) = (defined(&file.new), defined(&file.old));
    let fragment = (!file.is_whole).then(|| File::names(&file.old));
    for one in file.new.values() {
        let line = file.new.line_of(one.bytes.start);
        let container = owner(file, &one, false);
        let key = (container, one.name.clone());
        let is_default = one.kind == ValueKind::Export && one.name == "default";
        let is_known = old.contains(&key)
            || !is_default
                && defined.contains(&one.name)
                && !(one.kind == ValueKind::Export && earlier.contains(&one.name))
            || !is_offered(&one, &file.path)
            // What was a function and is given on under its name was there.
            || earlier.contains(&one.name) && one.kind != ValueKind::Export
            || fragment.as_ref().is_some_and(|names| {
                let text = String::from_utf8_lossy(file.new.lines(Lines::new(line, line)));
                names.contains(&one.name) && one.kind != ValueKind::Export
                    || !file.is_added(line)
                    || one.kind == ValueKind::Constant
                        && language != Language::Go
                        && key.0.is_empty()
                        && !OFFERED.is_match(&text)
                        && !one.name.starts_with(char::is_uppercase)
            });
        if is_known || !seen.insert(key.clone()) {
            continue;
        }
        found.push(introduced(file, &one, key.0, line, is_default));
    }
    if matches!(language, Language::C | Language::Cpp) {
        let known = seen.into_iter().map(|(_, name)| name);
        loud(file, known.chain(defined).collect(), found);
    }
}

/// Whether others can take the name from this file.
fn is_offered(one: &NamedValue, path: &str) -> bool {
    one.kind != ValueKind::Import || path.ends_with("/__init__.py") || path == "__init__.py"
}

fn owner(file: &File, one: &NamedValue, is_old: bool) -> String {
    let source = if is_old { &file.old } else { &file.new };
    around(source, one.bytes.start)
        .map(|around| joined(&around.container, &around.name, source.language()))
        .unwrap_or_default()
}

fn introduced(
    file: &File,
    one: &NamedValue,
    container: String,
    line: usize,
    is_default: bool,
) -> Introduced {
    let around = around(&file.new, one.bytes.start);
    // Fields and the like are used through a value; enumerators stand alone in C.
    let is_field = around
        .is_some_and(|one| one.kind == DefinitionKind::Type && !one.signature.contains("enum"));
    let is_member = one.kind == ValueKind::Field || is_field && one.kind != ValueKind::Enumerator;
    // What a default export is stands behind the word.
    let exported = is_default
        .then(|| {
            let mut all = file.new.signatures();
            all.find(|other| file.new.line_of(other.declaration) == line)
        })
        .flatten();
    Introduced {
        container,
        path: file.path.clone(),
        line: file.line(line),
        signature: exported.map_or_else(
            || one.signature.clone(),
            |exported| super::surface::signature(exported, &file.new),
        ),
        arity: None,
        sort: if is_default {
            Sort::DefaultExport
        } else {
            Sort::Name { is_member }
        },
        name: one.name.clone(),
    }
}

fn loud(file: &File, mut seen: BTreeSet<String>, found: &mut Vec<Introduced>) {
    for lines in &file.added {
        for line in lines.first..=lines.last {
            let bytes = file.new.bytes_of(Lines::new(line, line));
            let text = String::from_utf8_lossy(&file.new.text()[bytes.clone()]);
            let define = DEFINE.captures(&text);
            let is_define = define.is_some();
            let named = define.or_else(|| LOUD.captures(&text));
            let Some(name) = named.map(|groups| groups[1].to_owned()) else {
                continue;
            };
            let is_inside = !is_define
                && file
                    .new
                    .functions()
                    .any(|one| (one.declaration..one.bytes.end).contains(&bytes.start));
            if is_inside || holds_word(file.old.text(), &name) || !seen.insert(name.clone()) {
                continue;
            }
            let around = around(&file.new, bytes.start);
            found.push(Introduced {
                container: around
                    .map(|one| joined(&one.container, &one.name, file.new.language()))
                    .unwrap_or_default(),
                path: file.path.clone(),
                line: file.line(line),
                signature: String::new(),
                arity: None,
                sort: Sort::Name { is_member: false },
                name,
            });
        }
    }
}
