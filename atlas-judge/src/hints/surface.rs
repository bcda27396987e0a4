//! What a gold patch brings into a repository.

use super::arity::Arity;
use crate::variant::{BaseFiles, FileChange, Opaque, file_changes};
use atlas_core::{FilePatch, HunkLineKind, Patch, PatchError, PatchKind};
use atlas_syntax::{Definition, DefinitionKind, Language, Lines, Source};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A file of a patch as two sources. Where the base content is not known, both are what the hunks show.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) old: Source,
    pub(super) new: Source,
    pub(super) added: Vec<Lines>,
    pub(super) is_whole: bool,
    /// Line of the file for the first line of `new`; only where it is not whole.
    numbers: Vec<usize>,
}

impl File {
    /// The line of the file after the patch, for a line of `new`.
    pub(super) fn line(&self, line: usize) -> usize {
        if self.is_whole {
            line
        } else {
            self.numbers.get(line - 1).copied().unwrap_or(line)
        }
    }

    pub(super) fn is_added(&self, line: usize) -> bool {
        self.added
            .iter()
            .any(|lines| lines.holds(Lines::new(line, line)))
    }

    pub(super) fn names(source: &Source) -> BTreeSet<String> {
        source.identifiers(0..source.text().len())
    }
}

/// Most added lines times lines of one file: every added line is looked up among all of them, and
/// generated tables are no code that a hint could be made of.
const MOST_WORK: usize = 100_000_000;

/// The files of a patch whose language is known, and what is wrong with the others.
pub(super) fn files(
    patch: &Patch,
    base: &BaseFiles,
) -> Result<(Vec<File>, Vec<String>), PatchError> {
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    for change in file_changes(patch, base)? {
        let name = change.file.path().to_owned();
        match (change.before(), change.after(), change.opaque()) {
            (Some(old), Some(new), _) => files.push(File {
                path: name,
                old: old.clone(),
                new: new.clone(),
                added: change.added_lines(),
                is_whole: true,
                numbers: Vec::new(),
            }),
            (_, _, Some(Opaque::NoBase | Opaque::DoesNotFit | Opaque::Repeated)) => {
                if let Some(file) = of_hunks(&change) {
                    notes.push(format!(
                        "{name}: only what the patch shows of it is known, so a name that stands elsewhere in it may \
                         be taken for new"
                    ));
                    files.push(file);
                }
            }
            _ => {}
        }
    }
    files.retain(|file| {
        let added: usize = file.added.iter().map(|lines| lines.count()).sum();
        let is_read = added.saturating_mul(file.new.line_count()) <= MOST_WORK;
        if !is_read {
            notes.push(format!(
                "{}: {added} added lines are more than are read; it is taken for data",
                file.path
            ));
        }
        is_read
    });
    Ok((files, notes))
}

fn of_hunks(change: &FileChange) -> Option<File> {
    let file: &FilePatch = &change.file;
    if file.kind == PatchKind::Delete {
        return None;
    }
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let (mut added, mut numbers) = (Vec::new(), Vec::new());
    let first = file.hunks.first()?.lines.first()?;
    if Language::of_path(file.path()) == Some(Language::Php) && !first.bytes.starts_with(b"<?") {
        // Without its opening tag PHP is text.
        old.extend(b"<?php\n");
        new.extend(b"<?php\n");
        numbers.push(1);
    }
    for hunk in &file.hunks {
        let mut number = usize::try_from(hunk.new_start).unwrap_or(usize::MAX);
        for line in &hunk.lines {
            if line.kind != HunkLineKind::Insert {
                old.extend(line_of(&line.bytes));
            }
            if line.kind != HunkLineKind::Delete {
                new.extend(line_of(&line.bytes));
                numbers.push(number);
                number = number.saturating_add(1);
                if line.kind == HunkLineKind::Insert {
                    added.push(Lines::new(numbers.len(), numbers.len()));
                }
            }
        }
    }
    Some(File {
        old: Source::of_path(file.path(), old)?,
        new: Source::of_path(file.path(), new)?,
        path: file.path().to_owned(),
        added,
        is_whole: false,
        numbers,
    })
}

fn line_of(bytes: &[u8]) -> Vec<u8> {
    let mut line = bytes.strip_suffix(b"\n").unwrap_or(bytes).to_vec();
    line.push(b'\n');
    line
}

/// What sort of thing is brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A function, type or macro that was not there.
    New(DefinitionKind),
    /// One that was there with these parameters only.
    Changed(Vec<Arity>),
    /// A constant, field, variant or attribute: a name without a signature.
    Name { is_member: bool },
    /// A file, for those that load it by its name.
    File,
}

/// Something that exists after the gold patch and not before it.
#[derive(Clone, Debug)]
pub(super) struct Introduced {
    /// How it is called in code: the class for a constructor.
    pub(super) name: String,
    /// The names around it.
    pub(super) container: String,
    pub(super) path: String,
    pub(super) line: usize,
    /// On one line, without body; empty where there is none.
    pub(super) signature: String,
    pub(super) arity: Option<Arity>,
    pub(super) sort: Sort,
}

impl Introduced {
    /// The innermost name around it, without type parameters.
    pub(super) fn owner(&self) -> &str {
        let plain = self.container.split('<').next().unwrap_or_default();
        plain.rsplit(['.', ':', '\\']).next().unwrap_or_default()
    }

    pub(super) fn is_member(&self) -> bool {
        matches!(
            self.sort,
            Sort::New(DefinitionKind::Method) | Sort::Name { is_member: true }
        )
    }
}

/// Everything that the files of a gold patch bring, in their order.
pub(super) fn introduced(files: &[File]) -> Vec<Introduced> {
    // Over all files, so that what only moved is not new.
    let mut before: BTreeMap<String, Vec<(String, Option<Arity>)>> = BTreeMap::new();
    for file in files {
        for one in file.old.signatures() {
            let known = (one_line(one), Arity::of(&one.signature, &one.name));
            before.entry(one.qualified_name()).or_default().push(known);
        }
    }
    let mut found = Vec::new();
    for file in files {
        for one in file.new.signatures() {
            let line = file.new.line_of(one.declaration);
            let signature = one_line(one);
            let earlier = before.get(&one.qualified_name());
            if earlier.is_some_and(|all| all.iter().any(|(text, _)| *text == signature))
                || !file.is_whole && !file.is_added(line)
            {
                continue;
            }
            let class = called_as(one);
            let sort = match earlier {
                None if class.is_some() => Sort::New(DefinitionKind::Function),
                None => Sort::New(one.kind),
                Some(all) => {
                    Sort::Changed(all.iter().filter_map(|(_, arity)| arity.clone()).collect())
                }
            };
            found.push(Introduced {
                arity: Arity::of(&one.signature, &one.name),
                name: class.unwrap_or_else(|| one.name.clone()),
                container: one.container.clone(),
                path: file.path.clone(),
                line: file.line(line),
                signature,
                sort,
            });
        }
        names(file, &mut found);
        if file.is_whole && file.old.text().is_empty() {
            let name = file.path.rsplit('/').next().unwrap_or_default();
            found.push(Introduced {
                name: name.split('.').next().unwrap_or_default().to_owned(),
                container: String::new(),
                path: file.path.clone(),
                line: 1,
                signature: String::new(),
                arity: None,
                sort: Sort::File,
            });
        }
    }
    found
}

/// A constructor goes by its class.
fn called_as(one: &Definition) -> Option<String> {
    const CONSTRUCTORS: [&str; 5] = [
        "__init__",
        "__new__",
        "constructor",
        "initialize",
        "__construct",
    ];
    let class = one.container.rsplit(['.', ':']).next().unwrap_or_default();
    let is_constructor = one.kind == DefinitionKind::Method
        && !class.is_empty()
        && (CONSTRUCTORS.contains(&one.name.as_str()) || one.name == class);
    is_constructor.then(|| class.to_owned())
}

/// The signature on one line. A type is told by its head alone.
fn one_line(one: &Definition) -> String {
    let text = one.signature.as_str();
    let text = match one.kind {
        DefinitionKind::Type => text.split(['{', '=']).next().unwrap_or_default(),
        _ => text,
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines that name what stands elsewhere.
static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:import|from|(?:pub(?:\([a-z]+\))? )?use|using|#\s*include|require|require_once|include|package|namespace|extern crate|@|#\[)\b|\brequire\(|^\s*[@#]")
        .expect("the pattern is tested")
});

static DEFINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*#\s*define\s+(\w+)").expect("the pattern is tested"));

static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:export|const|static|public|pub|readonly|final)\b")
        .expect("the pattern is tested")
});

/// An enumerator alone on its line. A C or C++ tree that needed a second look may have lost it: it looks
/// like a macro.
static LOUD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*([A-Z_][A-Z0-9_]{2,})\s*(?:=[^=].*)?,?\s*$").expect("the pattern is tested")
});

static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:self|this)(?:\.|->)(\w+)\s*(?::[^=;]+)?=(?:[^=>]|$)|^\s*@(\w+)\s*=(?:[^=~>]|$)|\battr_(?:reader|accessor|writer)\s+(:\w.*)")
        .expect("the pattern is tested")
});

/// Names that added lines bring outside of functions, and attributes that they set inside.
fn names(file: &File, found: &mut Vec<Introduced>) {
    let old = File::names(&file.old);
    let mut seen: BTreeSet<String> = file.new.signatures().map(|one| one.name.clone()).collect();
    for lines in &file.added {
        for line in lines.first..=lines.last {
            let bytes = file.new.bytes_of(Lines::new(line, line));
            let text = String::from_utf8_lossy(&file.new.text()[bytes.clone()]).into_owned();
            let mut brought: Vec<(String, bool)> = Vec::new();
            for groups in ATTRIBUTE.captures_iter(&text) {
                let group = (1..=3).find_map(|at| groups.get(at));
                let names = group.map_or("", |group| group.as_str());
                let names = names.split([',', ' ', ':']).filter(|name| !name.is_empty());
                brought.extend(names.map(|name| (name.to_owned(), true)));
            }
            if let Some(define) = DEFINE.captures(&text) {
                brought.push((define[1].to_owned(), false));
            }
            if matches!(file.new.language(), Language::C | Language::Cpp)
                && let Some(loud) = LOUD.captures(&text)
                && !holds_word(file.old.text(), &loud[1])
            {
                brought.push((loud[1].to_owned(), false));
            }
            let start = bytes.start + (text.len() - text.trim_start().len());
            let is_inside = file.new.functions().any(|one| {
                (one.declaration..one.bytes.end).contains(&start)
                    || one.declaration >= bytes.start && one.declaration < bytes.end
            });
            // Of a fragment it is not known what stands around it.
            let is_inside = is_inside || !file.is_whole && !DECLARED.is_match(&text);
            if !is_inside && !IMPORT.is_match(&text) {
                let names = file.new.identifiers(bytes.clone());
                brought.extend(names.into_iter().map(|name| (name, false)));
            }
            for (name, is_member) in brought {
                if old.contains(&name) || !seen.insert(name.clone()) {
                    continue;
                }
                let around = around(&file.new, start);
                // Fields and the like are used through a value; enumerators stand alone in C.
                let is_field = around.is_some_and(|one| {
                    one.kind == DefinitionKind::Type && !one.signature.contains("enum")
                });
                let is_member = is_member || is_field;
                found.push(Introduced {
                    container: around
                        .map(|one| joined(&one.container, &one.name, file.new.language()))
                        .unwrap_or_default(),
                    path: file.path.clone(),
                    line: file.line(line),
                    signature: String::new(),
                    arity: None,
                    sort: Sort::Name { is_member },
                    name,
                });
            }
        }
    }
}

fn holds_word(text: &[u8], word: &str) -> bool {
    String::from_utf8_lossy(text)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|other| other == word)
}

/// A qualified name as the language writes it.
fn joined(container: &str, name: &str, language: Language) -> String {
    use Language::{C, Cpp, Php, Ruby, Rust};
    match (container, language) {
        ("", _) => name.to_owned(),
        (_, C | Cpp | Php | Ruby | Rust) => format!("{container}::{name}"),
        _ => format!("{container}.{name}"),
    }
}

/// The type or scope around a byte.
fn around(source: &Source, at: usize) -> Option<&Definition> {
    let mut around = source
        .definitions()
        .iter()
        .filter(|one| !one.kind.is_callable() && one.bytes.contains(&at) && one.declaration < at);
    around.next_back()
}
