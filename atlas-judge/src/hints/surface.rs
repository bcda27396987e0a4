//! What a gold patch brings into a repository.

use super::arity::Arity;
use super::values;
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
    /// A constant, field, variant or attribute.
    Name { is_member: bool },
    /// What a module of JavaScript is to those that import it without a name.
    DefaultExport,
    /// A file, for those that load it by its name.
    File,
}

/// Something that exists after the gold patch and not before it.
#[derive(Clone, Debug, PartialEq)]
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
            let name = called(one, file.old.language());
            let known = (signature(one, &file.old), Arity::of(&one.signature, &name));
            before.entry(one.qualified_name()).or_default().push(known);
        }
    }
    let mut found = Vec::new();
    for file in files {
        for one in file.new.signatures() {
            let line = file.new.line_of(one.declaration);
            let signature = signature(one, &file.new);
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
            let name = called(one, file.new.language());
            found.push(Introduced {
                arity: Arity::of(&one.signature, &name),
                name: class.unwrap_or(name),
                container: one.container.clone(),
                path: file.path.clone(),
                line: file.line(line),
                signature,
                sort,
            });
        }
        values::find(file, &mut found);
        if file.is_whole && file.old.text().is_empty() {
            found.push(Introduced {
                name: stem(&file.path).to_owned(),
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

/// A file's name without its folders and endings.
pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.split('.').next().unwrap_or_default()
}

/// How something is called: Ruby's `def self.x` is `x`.
pub(super) fn called(one: &Definition, language: Language) -> String {
    match one.name.rsplit_once('.') {
        Some((_, name)) if language == Language::Ruby => name.to_owned(),
        _ => one.name.clone(),
    }
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

/// The decorators by which a function of Python is used otherwise than others.
static DECORATOR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*(@(?:[\w.]+\.)?(?:property|classmethod|staticmethod|cached_property|abstractmethod|setter|deleter|contextmanager|asynccontextmanager|overload))\s*$")
        .expect("the pattern is tested")
});

/// The signature on one line, with the decorators that say how a function is used. A type is told by its
/// head alone.
pub(super) fn signature(one: &Definition, source: &Source) -> String {
    let text = one.signature.as_str();
    let text = match one.kind {
        DefinitionKind::Type => text.split(['{', '=']).next().unwrap_or_default(),
        _ => text,
    };
    let mut words: Vec<&str> = Vec::new();
    let above = source.text().get(one.bytes.start..one.declaration);
    let above = String::from_utf8_lossy(above.unwrap_or_default());
    if source.language() == Language::Python {
        let found = DECORATOR.captures_iter(&above);
        words.extend(
            found
                .filter_map(|groups| groups.get(1))
                .map(|group| group.as_str()),
        );
    }
    if one.kind == DefinitionKind::Type && source.language() == Language::Go {
        // Of several in parentheses each stands without the word.
        words.extend((!text.starts_with("type ")).then_some("type"));
    }
    words.extend(text.split_whitespace());
    let mut text = words.join(" ").trim_end_matches(',').to_owned();
    if text.starts_with("typedef ") && !holds_word(text.as_bytes(), &one.name) {
        text = format!("{text} {{ … }} {}", one.name);
    }
    text
}

/// A qualified name as the language writes it.
pub(super) fn joined(container: &str, name: &str, language: Language) -> String {
    use Language::{C, Cpp, Php, Ruby, Rust};
    match (container, language) {
        ("", _) => name.to_owned(),
        (_, C | Cpp | Php | Ruby | Rust) => format!("{container}::{name}"),
        _ => format!("{container}.{name}"),
    }
}

pub(super) fn holds_word(text: &[u8], word: &str) -> bool {
    String::from_utf8_lossy(text)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|other| other == word)
}

/// The type or scope around a byte.
pub(super) fn around(source: &Source, at: usize) -> Option<&Definition> {
    let mut around = source
        .definitions()
        .iter()
        .filter(|one| !one.kind.is_callable() && one.bytes.contains(&at) && one.declaration < at);
    around.next_back()
}
