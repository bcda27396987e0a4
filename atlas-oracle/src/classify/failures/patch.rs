//! What a patch brings: names, files, lines.

use crate::source::is_code;
use atlas_core::{Evidence, Patch};
use atlas_facts::package_file;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static IDENTIFIER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z_$][A-Za-z0-9_$]*").expect("a constant pattern"));

/// A name behind a word that defines one.
static DEFINED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:^|[^\w$])(?:fn|func|function\*?|fun|def|class|struct|enum|trait|interface|type|const|let|var|val|mod|module|namespace|package|record|object|union|typedef|macro_rules!|#\s*define)\s+(?:\([^)]*\)\s*)?(?:mut\s+|self\.)?([A-Za-z_$][\w$]*)",
    )
    .expect("a constant pattern")
});

/// A place as compilers print it: `a.rs:5:16`, `a.ts(8,20)`, `A.java:[15,37]`.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([\w./\\@+-]*[\w+-]\.\w+)(?::\[?|\()(\d{1,9})(?:[:,](\d{1,9}))?")
        .expect("a constant pattern")
});

/// Whether the file declares what a project needs.
fn is_manifest(path: &str) -> bool {
    package_file(path).is_some_and(|file| file.role.declares())
}

/// The files in which a patch changes what a project needs.
pub(in crate::classify) fn manifests(patch: Option<&Patch>) -> Vec<String> {
    let mut files = patch.map_or_else(Vec::new, |patch| Brought::by(patch, "").files);
    files.retain(|path| is_manifest(path));
    files
}

/// How sure a line is to bring a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// In a comment.
    Told,
    /// Somewhere in code.
    Used,
    /// Where a field, a method, a key stands.
    Placed,
    /// Behind a word that defines.
    Defined,
}

/// A changed line.
#[derive(Debug)]
struct Line {
    file: usize,
    /// In the file as the patch leaves it, from 1.
    number: usize,
    /// In the patch, from 1.
    at: usize,
    text: String,
}

/// What a patch brings.
#[derive(Debug, Default)]
pub(super) struct Brought {
    source: &'static str,
    files: Vec<String>,
    /// Path of a file that is new, and the patch's line that says so.
    new_files: Vec<(String, usize)>,
    added: Vec<Line>,
    /// Name -> the best added line that holds it.
    names: BTreeMap<String, (Rank, usize)>,
    /// Names on removed and context lines.
    elsewhere: BTreeSet<String>,
    /// Those that such a line defines.
    defined_before: BTreeSet<String>,
}

impl Brought {
    /// Reads a patch; `source` is what proof lines call it.
    pub(super) fn by(patch: &Patch, source: &'static str) -> Self {
        let mut this = Self {
            source,
            ..Self::default()
        };
        let (mut in_hunk, mut number, mut is_new) = (false, 0, false);
        for (at, line) in patch.as_bytes().split(|b| *b == b'\n').enumerate() {
            let at = at + 1;
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end_matches('\r');
            if let Some(both) = line.strip_prefix("diff --git ") {
                in_hunk = false;
                is_new = false;
                let name = both.rsplit_once(" b/").map_or(both, |(_, name)| name);
                this.files.push(name.trim_end_matches('"').to_owned());
            } else if !in_hunk && line.starts_with("new file mode") {
                is_new = true;
                // A binary or empty file has no line of its own below.
                this.note_new(at);
            } else if let Some(path) = line.strip_prefix("rename to ").filter(|_| !in_hunk) {
                path.clone_into(this.file());
                this.note_new(at);
            } else if let Some(path) = line.strip_prefix("+++ b/").filter(|_| !in_hunk) {
                path.clone_into(this.file());
                if is_new && let Some(last) = this.new_files.last_mut() {
                    *last = (path.to_owned(), at);
                }
            } else if let Some(range) = line.strip_prefix("@@ ") {
                in_hunk = true;
                number = range
                    .split_once('+')
                    .and_then(|(_, new)| new.split([',', ' ']).next())
                    .and_then(|start| start.parse().ok())
                    .unwrap_or(1);
            } else if in_hunk {
                match line.as_bytes().first() {
                    Some(b'+') => {
                        this.add(number, at, &line[1..]);
                        number += 1;
                    }
                    Some(b'-') => this.see(&line[1..]),
                    Some(b'\\') => {}
                    _ => {
                        this.see(line);
                        number += 1;
                    }
                }
            }
        }
        this
    }

    fn file(&mut self) -> &mut String {
        if self.files.is_empty() {
            self.files.push(String::new());
        }
        let last = self.files.len() - 1;
        &mut self.files[last]
    }

    fn note_new(&mut self, at: usize) {
        let path = self.file().clone();
        self.new_files.push((path, at));
    }

    fn add(&mut self, number: usize, at: usize, text: &str) {
        self.file();
        let file = self.files.len() - 1;
        let index = self.added.len();
        self.added.push(Line {
            file,
            number,
            at,
            text: text.to_owned(),
        });
        // In prose a name is only talked of.
        if !is_code(&self.files[file]) {
            return;
        }
        for (name, rank) in ranked(text) {
            let known = self.names.entry(name.to_owned()).or_insert((rank, index));
            if rank > known.0 {
                *known = (rank, index);
            }
        }
    }

    fn see(&mut self, text: &str) {
        for (name, rank) in ranked(text) {
            if rank == Rank::Defined {
                self.defined_before.insert(name.to_owned());
            }
            self.elsewhere.insert(name.to_owned());
        }
    }

    fn proof(&self, index: usize) -> Evidence {
        let line = &self.added[index];
        let text = format!("{}: +{}", self.files[line.file], line.text.trim_end());
        Evidence::at(self.source, line.at, text)
    }

    /// The line that brings a name which was not there before.
    pub(super) fn brings(&self, name: &str) -> Option<Evidence> {
        let (rank, index) = *self.names.get(name)?;
        let fresh = rank >= Rank::Used && !self.elsewhere.contains(name)
            || rank == Rank::Defined && !self.defined_before.contains(name);
        fresh.then(|| self.proof(index))
    }

    /// The line that changes what a name means: its definition, in most cases.
    pub(super) fn changes(&self, name: &str) -> Option<Evidence> {
        let (rank, index) = *self.names.get(name)?;
        (rank >= Rank::Placed).then(|| self.proof(index))
    }

    /// The new file, folder or declared dependency that a module's name means: `ledger.rates`,
    /// `../src/rates`, `rates.h`, `demo.rates`, `example.com/ledger/rates`.
    pub(super) fn brings_module(&self, name: &str) -> Option<(String, Evidence)> {
        let file = self.new_files.iter().find(|(path, _)| is_meant(name, path));
        if let Some((path, at)) = file {
            let last = parts(name).pop().unwrap_or_else(|| name.to_owned());
            return Some((
                last,
                Evidence::at(self.source, *at, format!("{path}: new file")),
            ));
        }
        // `yaml.nodes` needs `yaml`, `@scope/name/part` needs `@scope/name`.
        if name.starts_with('.') {
            return None;
        }
        let declared = |wanted: &str| {
            let index = self.added.iter().position(|line| {
                let path = &self.files[line.file];
                is_manifest(path)
                    && has_word(&line.text.replace('-', "_"), &wanted.replace('-', "_"))
            })?;
            Some((wanted.to_owned(), self.proof(index)))
        };
        packages_of(name).into_iter().find_map(declared)
    }

    /// Whether an added line holds this text as a word.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.added.iter().any(|line| has_word(&line.text, text))
            || self.new_files.iter().any(|(path, _)| is_meant(text, path))
    }

    /// Whether the paths of the patch show that a module of this name is the project's own.
    pub(super) fn owns(&self, name: &str) -> bool {
        if name.starts_with(['.', '/', '~', '\\']) || name.starts_with("@/") {
            return true;
        }
        let wanted = parts(name);
        // `org.x.y` shares its first part with the whole world.
        let need = match wanted.first().map(String::as_str) {
            Some("org" | "com" | "net" | "io" | "edu" | "gov" | "dev" | "de" | "me") => 2,
            _ => 1,
        };
        if wanted.len() < need || wanted[0].contains('.') && name.contains('/') {
            return false;
        }
        self.files.iter().any(|path| {
            let path = path_parts(path);
            path.windows(need)
                .take(path.len().saturating_sub(usize::from(wanted.len() > need)))
                .any(|window| window == &wanted[..need])
        })
    }

    /// The added line at a place in a log, and the names there: the one at the column, then those
    /// that are called left of it, the nearest first.
    pub(super) fn at_place(&self, log: &str) -> Option<(Evidence, &str, Vec<&str>)> {
        let found = PLACE.captures(log)?;
        let path = found[1].replace('\\', "/");
        let number: usize = found[2].parse().ok()?;
        let column: Option<usize> = found.get(3).and_then(|c| c.as_str().parse().ok());
        let index = self
            .added
            .iter()
            .position(|line| line.number == number && is_same(&self.files[line.file], &path))?;
        let text = self.added[index].text.as_str();
        let names = column.map_or_else(Vec::new, |column| names_at(text, column));
        Some((self.proof(index), text, names))
    }
}

/// The name at a column, counted from 1, then those that are called left of it, the nearest first.
fn names_at(text: &str, column: usize) -> Vec<&str> {
    let at = column.saturating_sub(1);
    let all: Vec<_> = IDENTIFIER.find_iter(text).collect();
    // javac points at the dot before a name.
    let dot = usize::from(text.as_bytes().get(at) == Some(&b'.'));
    let here = all
        .iter()
        .filter(|m| m.start() <= at + dot && at + dot < m.end());
    let called = all
        .iter()
        .rev()
        .filter(|m| m.end() <= at && text[m.end()..].starts_with(['(', '{', '<', '!']));
    here.chain(called).map(regex::Match::as_str).collect()
}

/// The names of a line, each with how sure the line is to bring it.
fn ranked(text: &str) -> Vec<(&str, Rank)> {
    let trimmed = text.trim_start();
    let comment = ["//", "/*", "* ", "--", "<!--", "\"\"\"", "# ", ";;"]
        .iter()
        .any(|start| trimmed.starts_with(start));
    let defined: BTreeSet<&str> = defined(text).collect();
    let first = text.len() - trimmed.len();
    IDENTIFIER
        .find_iter(text)
        .map(|name| {
            let rest = text[name.end()..].trim_start();
            let before = &text[..name.start()];
            // `x.name(` asks for what is there already; `self.name = ` does not.
            let called = rest.starts_with('(') && (before.ends_with('.') || before.ends_with("->"));
            let rank = if comment {
                Rank::Told
            } else if defined.contains(name.as_str()) {
                Rank::Defined
            } else if called {
                Rank::Used
            } else if name.start() == first || rest.starts_with(['(', ':', '=', ';', ',', '<']) {
                Rank::Placed
            } else {
                Rank::Used
            };
            (name.as_str(), rank)
        })
        .collect()
}

/// The names behind a word that defines.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    let found = DEFINED.captures_iter(text).filter_map(|found| found.get(1));
    found.map(|name| name.as_str())
}

/// Whether the line that defines a name (`path: +text`) keeps it within its package: by its first letter in Go, by the
/// missing word in Rust. Of other languages nothing is known.
pub(super) fn is_private(name: &str, line: &str) -> bool {
    let Some((path, text)) = line.split_once(": +") else {
        return false;
    };
    let is_defined = defined(text).any(|other| other == name);
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("go") => name.starts_with(|c: char| c.is_lowercase() || c == '_'),
        Some("rs") => is_defined && !has_word(text, "pub") && !text.contains("macro_rules!"),
        _ => false,
    }
}

/// Whether a name without a slash is a file's and not a dotted module's.
pub(super) fn is_file(name: &str) -> bool {
    const ENDINGS: &[&str] = &[".h", ".hh", ".hpp", ".hxx", ".js", ".mjs", ".cjs", ".ts"];
    ENDINGS.iter().any(|end| name.ends_with(end))
}

/// The parts of a module's name, without what says only where it is.
fn parts(name: &str) -> Vec<String> {
    let name = name.replace("::", "/").replace('\\', "/");
    let split: Vec<&str> = if name.contains('/') {
        name.split('/').collect()
    } else if is_file(&name) {
        vec![&name]
    } else {
        name.split('.').collect()
    };
    let mut split: Vec<String> = split
        .into_iter()
        .filter(|part| {
            !matches!(
                *part,
                "" | "." | ".." | "@" | "~" | "crate" | "self" | "super"
            )
        })
        .map(str::to_owned)
        .collect();
    if let Some(last) = split.last_mut() {
        stem(last).to_owned().clone_into(last);
    }
    split
}

fn path_parts(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
    if let Some(last) = parts.last_mut() {
        stem(last).to_owned().clone_into(last);
    }
    if parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| matches!(last.as_str(), "index" | "__init__" | "mod"))
    {
        parts.pop();
    }
    parts
}

/// `rates.test.js` -> `rates.test`, `.env` -> `.env`.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Whether a module's name means this file, or the folder it stands in.
fn is_meant(name: &str, path: &str) -> bool {
    let (wanted, file) = (parts(name), path_parts(path));
    if wanted.is_empty() || file.is_empty() {
        return false;
    }
    let folder = &file[..file.len() - 1];
    let long_name = name.contains('/') && !name.starts_with('.');
    file.ends_with(&wanted)
        || folder.ends_with(&wanted)
        // `example.com/ledger/rates` is the folder `rates`; `/testbed/src/rates` is `src/rates`.
        || long_name && (wanted.ends_with(&file) || !folder.is_empty() && wanted.ends_with(folder))
}

/// The packages that a module may belong to, the longest first: a host or a scope alone is none.
fn packages_of(name: &str) -> Vec<&str> {
    let separators: &[char] = if name.contains('/') {
        &['/']
    } else {
        &['.', ':']
    };
    let first = name.split(separators).next().unwrap_or(name);
    let shortest = if name.contains('/') && (first.contains('.') || first.starts_with('@')) {
        first.len() + 1
    } else {
        1
    };
    let ends = name.match_indices(separators).map(|(at, _)| at);
    let mut packages: Vec<&str> = ends
        .filter(|at| *at >= shortest)
        .map(|at| &name[..at])
        .collect();
    packages.push(name);
    packages.reverse();
    packages
}

/// Whether the text holds these letters with no letter of a name around them.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(part)
                && !text[at + word.len()..].chars().next().is_some_and(part)
        })
}

/// Whether a path of the patch and one of a log are the same file.
fn is_same(patch: &str, log: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(log, patch) || log.contains('/') && ends(patch, log)
}
