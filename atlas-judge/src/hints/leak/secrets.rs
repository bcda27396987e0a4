//! What a gold patch says that nobody else does.

use super::super::find::{HintFindings, HintSubject};
use super::super::surface::{File, Introduced, Sort, files};
use super::lexer::{is_word, lexemes, shape, words};
use atlas_core::{Error, Evidence, HunkLineKind, Patch};
use atlas_syntax::{DefinitionKind, Lines, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

/// Fewest letters of a name, fewest signs that are not white space of a text.
const LETTERS: usize = 3;
/// Fewest signs of a line.
const LINE: usize = 10;
/// How many tokens a line has that is compared whatever its names are.
pub(super) const SHAPE: std::ops::RangeInclusive<usize> = 12..=64;
/// Words in a row that make a quotation of a comment.
pub(super) const QUOTED: usize = 5;

/// What the gold patch alone has, each with its place.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    pub(super) names: BTreeMap<String, Evidence>,
    pub(super) texts: BTreeMap<String, Evidence>,
    pub(super) numbers: BTreeMap<String, Evidence>,
    /// Runs of words of comments and long texts, in small letters.
    pub(super) quotations: BTreeMap<String, Evidence>,
    /// Lines without white space.
    pub(super) lines: BTreeMap<String, Evidence>,
    /// Lines as shapes, by the number of their tokens.
    pub(super) shapes: BTreeMap<usize, BTreeMap<String, Evidence>>,
    /// Signatures and names that may be told, on one line each.
    pub(super) open: BTreeSet<String>,
}

/// What may be said.
struct Open {
    words: BTreeSet<String>,
    text: String,
    squeezed: String,
    /// Runs of words, by their hash: there are as many as words.
    runs: BTreeSet<u64>,
}

impl Open {
    fn of(subject: &HintSubject, signatures: &BTreeSet<String>, tests: &[File]) -> Self {
        let mut text = subject.issue.clone();
        let mut add = |more: &str| {
            text.push('\n');
            text.push_str(more);
        };
        for base in subject.base.values() {
            add(&String::from_utf8_lossy(base));
        }
        for (patch, is_test) in [(&subject.gold_patch, false), (&subject.test_patch, true)] {
            for line in hunk_lines(patch) {
                if is_test || line.kind != HunkLineKind::Insert {
                    add(&line.text);
                }
            }
        }
        for file in tests {
            add(&String::from_utf8_lossy(file.new.text()));
        }
        for signature in signatures {
            add(signature);
        }
        add(subject.before_log.as_deref().unwrap_or_default());
        Self {
            words: words(&text)
                .into_iter()
                .map(|(_, word)| word.to_owned())
                .collect(),
            squeezed: squeezed(&text),
            runs: runs(&text),
            text,
        }
    }
}

/// A line of a hunk.
struct HunkLine {
    kind: HunkLineKind,
    text: String,
    path: String,
    number: usize,
}

fn hunk_lines(patch: &Patch) -> Vec<HunkLine> {
    let mut found = Vec::new();
    for file in patch.files().unwrap_or_default() {
        for hunk in &file.hunks {
            let mut number = usize::try_from(hunk.new_start).unwrap_or(usize::MAX);
            for line in &hunk.lines {
                found.push(HunkLine {
                    kind: line.kind,
                    text: String::from_utf8_lossy(&line.bytes).trim().to_owned(),
                    path: file.path().to_owned(),
                    number,
                });
                number = number.saturating_add(usize::from(line.kind != HunkLineKind::Delete));
            }
        }
    }
    found
}

impl Secrets {
    /// Reads the patches.
    ///
    /// # Errors
    /// As [`find_hints`](super::super::find_hints).
    pub(super) fn of(subject: &HintSubject) -> Result<Self, Error> {
        let found = HintFindings::of(subject)?;
        let unread = |_| {
            atlas_core::Error::new(
                atlas_core::ErrorKind::InvalidInput,
                "look for leaks in",
                "the patches",
            )
        };
        let (gold, _) = files(&subject.gold_patch, &subject.base).map_err(unread)?;
        let (tests, _) = files(&subject.test_patch, &subject.base).map_err(unread)?;
        let signatures = open_signatures(subject, &found, &tests);
        let open = Open::of(subject, &signatures, &tests);
        let mut secrets = Self {
            open: signatures,
            ..Self::default()
        };
        for file in &gold {
            secrets.read_tokens(file, &open);
            secrets.read_lines(file, &open);
        }
        let read: BTreeSet<&str> = gold.iter().map(|file| file.path.as_str()).collect();
        for line in hunk_lines(&subject.gold_patch) {
            if line.kind == HunkLineKind::Insert && !read.contains(line.path.as_str()) {
                let place = Evidence::at(line.path, line.number, line.text.clone());
                secrets.add_line(&line.text, &place, &open);
            }
        }
        Ok(secrets)
    }

    fn read_tokens(&mut self, file: &File, open: &Open) {
        for lines in &file.added {
            for token in file.new.tokens(file.new.bytes_of(*lines)) {
                let line = file.new.line_of(token.bytes.start);
                let shown: String = token.text.chars().take(200).collect();
                let place = Evidence::at(file.path.clone(), file.line(line), shown);
                match token.kind {
                    TokenKind::Name => {
                        let name = token.text.trim_start_matches('$');
                        let is_own = name.chars().count() >= LETTERS && !is_builtin(name);
                        if is_own && !open.words.contains(name.trim_end_matches(['?', '!', '='])) {
                            self.names.entry(name.to_owned()).or_insert(place);
                        }
                    }
                    TokenKind::Number => {
                        let digits = token.text.chars().filter(char::is_ascii_digit).count();
                        let is_open = if token.text.contains(|c| !is_word(c)) {
                            open.text.contains(&token.text)
                        } else {
                            open.words.contains(&token.text)
                        };
                        if digits >= 2 && !is_open {
                            self.numbers.entry(token.text).or_insert(place);
                        }
                    }
                    TokenKind::Text => {
                        let inner = unquoted(&token.text);
                        let letters = inner.chars().filter(|c| c.is_alphanumeric()).count();
                        if letters >= LETTERS && !inner.contains('\n') && !open.text.contains(inner)
                        {
                            self.texts
                                .entry(inner.to_owned())
                                .or_insert_with(|| place.clone());
                        }
                        self.quote(inner, &place, open);
                    }
                    TokenKind::Comment => self.quote(&token.text, &place, open),
                }
            }
        }
    }

    fn quote(&mut self, text: &str, place: &Evidence, open: &Open) {
        for quotation in quotations(text) {
            if !open.runs.contains(&hash(&quotation)) {
                self.quotations
                    .entry(quotation)
                    .or_insert_with(|| place.clone());
            }
        }
    }

    fn read_lines(&mut self, file: &File, open: &Open) {
        // A signature's shape is that of any other.
        let heads: Vec<Lines> = file
            .new
            .definitions()
            .iter()
            .filter(|one| one.kind != DefinitionKind::Closure)
            .map(|one| {
                let end = one.body.as_ref().map_or(one.bytes.end, |body| body.start);
                let head = file
                    .new
                    .text()
                    .get(one.declaration..end)
                    .unwrap_or_default();
                let end = one.declaration + head.trim_ascii_end().len();
                Lines::new(
                    file.new.line_of(one.declaration),
                    file.new.line_of(end.max(one.declaration + 1) - 1),
                )
            })
            .collect();
        for lines in &file.added {
            for line in lines.first..=lines.last {
                let text = String::from_utf8_lossy(file.new.lines(Lines::new(line, line)));
                let text = text.trim();
                let place = Evidence::at(file.path.clone(), file.line(line), text);
                self.add_line(text, &place, open);
                if heads.iter().any(|head| head.holds(Lines::new(line, line))) {
                    continue;
                }
                let tokens = lexemes(text);
                if SHAPE.contains(&tokens.len()) && self.lines.contains_key(&bare(text)) {
                    let shapes = self.shapes.entry(tokens.len()).or_default();
                    shapes.entry(shape(&tokens)).or_insert(place);
                }
            }
        }
    }

    fn add_line(&mut self, text: &str, place: &Evidence, open: &Open) {
        let line = bare(text);
        if line.chars().count() >= LINE && !open.squeezed.contains(&line) {
            self.lines.entry(line).or_insert_with(|| place.clone());
        }
    }
}

/// A line without white space, and without what ends a line before a body or a next one.
fn bare(text: &str) -> String {
    let line = squeezed(text);
    line.trim_end_matches(['{', ':', ';', ',', '=', '>'])
        .to_owned()
}

/// A text without white space and the signs by which Markdown marks code.
pub(super) fn squeezed(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '`')
        .collect()
}

/// The content of a text in quotes.
fn unquoted(text: &str) -> &str {
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let start = text.find(is_quote).unwrap_or(0);
    let prefix = &text[..start];
    // A letter or two before the quote say what kind of text it is; anything longer is none.
    let text = if prefix.len() <= 3 {
        &text[start..]
    } else {
        text
    };
    text.trim_matches(is_quote)
        .trim_end_matches('#')
        .trim_matches(is_quote)
}

/// Runs of words in small letters: five, or all where there are three or four.
pub(super) fn quotations(text: &str) -> Vec<String> {
    let words: Vec<String> = words(text)
        .into_iter()
        .map(|(_, word)| word.to_lowercase())
        .collect();
    match words.len() {
        0..LETTERS => Vec::new(),
        length if length < QUOTED => vec![words.join(" ")],
        _ => words.windows(QUOTED).map(|run| run.join(" ")).collect(),
    }
}

/// Every run of three to five words.
fn runs(text: &str) -> BTreeSet<u64> {
    let small: Vec<String> = words(text)
        .into_iter()
        .map(|(_, word)| word.to_lowercase())
        .collect();
    (LETTERS..=QUOTED)
        .flat_map(|length| small.windows(length).map(|run| hash(&run.join(" "))))
        .collect()
}

fn hash(text: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Signatures, names and places of what the tests use.
fn open_signatures(
    subject: &HintSubject,
    found: &HintFindings,
    tests: &[File],
) -> BTreeSet<String> {
    let mut named: BTreeSet<String> = BTreeSet::new();
    for file in tests {
        let text = String::from_utf8_lossy(file.new.text());
        named.extend(words(&text).into_iter().map(|(_, word)| word.to_owned()));
    }
    for line in hunk_lines(&subject.test_patch) {
        named.extend(
            words(&line.text)
                .into_iter()
                .map(|(_, word)| word.to_owned()),
        );
    }
    let log = subject.before_log.as_deref().unwrap_or_default();
    named.extend(words(log).into_iter().map(|(_, word)| word.to_owned()));
    let is_used = |one: &&Introduced| {
        one.sort == Sort::File || named.contains(one.name.trim_end_matches(['?', '!', '=']))
    };
    let mut open = BTreeSet::new();
    let used = found.introduced.iter().filter(is_used);
    let told = used.map(|one| (&one.name, &one.container, &one.path, &one.signature));
    let needed = found.needs.iter();
    let needed = needed.map(|one| (&one.name, &one.container, &one.path, &one.signature));
    for (name, container, path, signature) in told.chain(needed) {
        open.extend([name, container, path, signature].map(String::clone));
    }
    open.remove("");
    open
}

/// Names of every language that tell nothing.
fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "self"
            | "this"
            | "cls"
            | "super"
            | "int"
            | "str"
            | "bool"
            | "boolean"
            | "string"
            | "String"
            | "float"
            | "double"
            | "char"
            | "long"
            | "list"
            | "dict"
            | "tuple"
            | "set"
            | "bytes"
            | "None"
            | "True"
            | "False"
            | "null"
            | "nil"
            | "undefined"
            | "void"
            | "object"
            | "Object"
            | "array"
            | "any"
            | "number"
            | "error"
            | "Self"
            | "Option"
            | "Result"
            | "Vec"
            | "std"
            | "size_t"
    )
}
