//! Which tests a test patch changes: the test functions around its hunks' lines.

use crate::apply::entries;
use crate::heirs::with_heirs;
use crate::remarks::is_remark;
use crate::rust_items;
use crate::scratch::{Scratch, TreeSide};
use atlas_core::{Error, FilePatch, HunkLineKind, Patch};
use atlas_facts::{Language, language_of};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A test and its lines, from 0, the end excluded.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// How the tests of a language begin. The first group that took part is the name.
struct Starts {
    languages: &'static [Language],
    pattern: &'static str,
}

/// Languages whose tests are found by a pattern and end where their braces do.
const BRACED: &[Starts] = &[
    Starts {
        languages: &[Language::Go],
        pattern: r"^func (?:\([^)]*\) )?((?:Test|Fuzz|Example)\w*)\(",
    },
    Starts {
        languages: &[Language::JavaScript, Language::TypeScript],
        pattern: r#"^\s*(?:(?:it|test|specify)(?:\.\w+)*|(?:\w+\.)*test[A-Z]\w*)(?:\([^'"`]*\))?\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)"#,
    },
    Starts {
        languages: &[Language::Java, Language::Groovy],
        pattern: r"^\s*(?:(?:public|protected|private|final|static) )*void (\w+)\(",
    },
    Starts {
        languages: &[Language::Kotlin],
        pattern: r"^\s*(?:(?:public|internal|suspend) )*fun (?:`([^`]+)`|(\w+))\(",
    },
    Starts {
        languages: &[Language::Php],
        pattern: r"^\s*(?:(?:public|final|static) )*function (test\w*)\(",
    },
    Starts {
        languages: &[Language::CSharp],
        pattern: r"^\s*public (?:async )?(?:void|Task) (\w+)\(",
    },
    Starts {
        languages: &[Language::C, Language::Cpp],
        pattern: r#"^\s*(?:(?:(?:TYPED_)?TEST(?:_F|_P|_CASE)?|SCENARIO|SECTION|TEMPLATE_TEST_CASE|TEST_CASE_TEMPLATE)\s*\(|(?:TEST_CASE_(?:METHOD|FIXTURE)|SCENARIO_METHOD)\s*\([^"]*,)\s*(?:"((?:[^"\\]|\\.)*)"|(\w+(?:\s*,\s*\w+)?))|^\s*BOOST_(?:AUTO|FIXTURE|DATA)_TEST_CASE(?:_TEMPLATE)?\s*\(\s*(\w+)|^(?:static )?(?:void|int) (test\w*)\("#,
    },
];

static PATTERNS: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
    BRACED
        .iter()
        .map(|starts| Regex::new(starts.pattern).ok())
        .collect()
});

static PYTHON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^([ \t]*)(?:(?:async\s+)?def\s+(\w+)|class\s+(\w+))").ok());

static RUBY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^\s*(?:def (test_\w+[?!]?)|(?:it|test|specify|should)\s*\(?\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"))"#,
    )
    .ok()
});

/// The names, sorted.
pub(crate) async fn modified_tests(
    scratch: &Scratch,
    base_tree: &str,
    middle_tree: &str,
    test_patch: &Patch,
) -> Result<Vec<String>, Error> {
    let Ok(files) = test_patch.files() else {
        return Ok(Vec::new());
    };
    let before = entries(scratch, base_tree).await?;
    let after = entries(scratch, middle_tree).await?;
    let mut names = BTreeSet::new();
    for file in files.iter().filter(|file| !file.hunks.is_empty()) {
        let Some(new) = file
            .new_path
            .as_deref()
            .and_then(|path| after.get(path.as_bytes()))
        else {
            continue;
        };
        let old = file
            .old_path
            .as_deref()
            .and_then(|path| before.get(path.as_bytes()));
        let mut ids = vec![new.oid.as_str()];
        ids.extend(old.map(|side| side.oid.as_str()));
        let mut contents = scratch.contents(ids).await?.into_iter();
        let mut spans = |path: &str| {
            let content = contents.next().unwrap_or_default();
            spans(path, &String::from_utf8_lossy(&content))
        };
        let new_spans = spans(file.path());
        let old_spans = spans(file.old_path.as_deref().unwrap_or_default());
        changed(file, &old_spans, &new_spans, &mut names);
    }
    if names.iter().any(|name| name.contains("::")) {
        let files = python_tests(&after);
        let contents = scratch.contents(files.iter().map(String::as_str)).await?;
        let texts: Vec<String> = contents
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect();
        with_heirs(&mut names, &texts);
    }
    Ok(names.into_iter().collect())
}

/// The objects of Python files that look like tests by their name or folder.
fn python_tests(entries: &BTreeMap<Vec<u8>, TreeSide>) -> Vec<String> {
    entries
        .iter()
        .filter(|(path, _)| {
            let path = String::from_utf8_lossy(path);
            path.ends_with(".py") && path.to_ascii_lowercase().contains("test")
        })
        .map(|(_, side)| side.oid.clone())
        .collect()
}

fn changed(file: &FilePatch, old: &[Span], new: &[Span], names: &mut BTreeSet<String>) {
    // The innermost test around a line: the one that starts last.
    let around = |spans: &[Span], line: u64| {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        spans
            .iter()
            .filter(|span| (span.start..span.end).contains(&line))
            .max_by_key(|span| span.start)
            .map(|span| span.name.clone())
    };
    for hunk in &file.hunks {
        let mut old_line = hunk.old_start.saturating_sub(1);
        let mut new_line = hunk.new_start.saturating_sub(1);
        for line in &hunk.lines {
            let says = !is_remark(file.path(), &String::from_utf8_lossy(&line.bytes));
            match line.kind {
                HunkLineKind::Context => {
                    old_line += 1;
                    new_line += 1;
                }
                HunkLineKind::Insert => {
                    names.extend(around(new, new_line).filter(|_| says));
                    new_line += 1;
                }
                HunkLineKind::Delete => {
                    // A test that is gone cannot be run.
                    let name = around(old, old_line).filter(|_| says);
                    names.extend(name.filter(|name| new.iter().any(|span| span.name == *name)));
                    old_line += 1;
                }
            }
        }
    }
}

pub(crate) fn spans(path: &str, text: &str) -> Vec<Span> {
    let Some(language) = language_of(path) else {
        return Vec::new();
    };
    match language {
        Language::Python => python(text),
        Language::Ruby => ruby(text),
        Language::Rust => rust_items::read(text)
            .functions
            .into_iter()
            .map(|function| Span {
                name: function.name,
                start: function.start,
                end: function.end,
            })
            .collect(),
        _ => BRACED
            .iter()
            .zip(PATTERNS.iter())
            .find(|(starts, _)| starts.languages.contains(&language))
            .and_then(|(_, pattern)| pattern.as_ref())
            .map(|pattern| braced(text, pattern))
            .unwrap_or_default(),
    }
}

/// Functions named `test…`, with the classes around them. Lines inside triple-quoted strings do
/// not end a block, whatever their indentation.
fn python(text: &str) -> Vec<Span> {
    let Some(pattern) = PYTHON.as_ref() else {
        return Vec::new();
    };
    let mut spans: Vec<Span> = Vec::new();
    // Open blocks: indentation, name, and the test's place in `spans`.
    let mut open: Vec<(usize, String, bool, Option<usize>)> = Vec::new();
    let mut decorators = None;
    let mut quote: Option<&str> = None;
    let mut last_line = 0;
    for (number, line) in text.lines().enumerate() {
        let inside = quote.is_some();
        triple_quotes(line, &mut quote);
        let trimmed = line.trim_start();
        if inside || trimmed.is_empty() || trimmed.starts_with('#') {
            if inside {
                last_line = number + 1;
            }
            continue;
        }
        let indent = line.len() - trimmed.len();
        let closes_bracket = trimmed.starts_with([')', ']', '}']);
        while !closes_bracket && open.last().is_some_and(|block| block.0 >= indent) {
            if let Some((_, _, _, Some(span))) = open.pop() {
                spans[span].end = last_line;
            }
        }
        if trimmed.starts_with('@') {
            decorators.get_or_insert(number);
        }
        if let Some(found) = pattern.captures(line) {
            let start = decorators.take().unwrap_or(number);
            if let Some(class) = found.get(3) {
                open.push((indent, class.as_str().to_owned(), true, None));
            } else if let Some(function) = found.get(2) {
                let name = function.as_str();
                let nested = open.iter().any(|block| !block.2);
                let span = (name.starts_with("test") && !nested).then(|| {
                    let classes = open.iter().map(|block| block.1.as_str());
                    let path: Vec<&str> = classes.chain([name]).collect();
                    spans.push(Span {
                        name: path.join("::"),
                        start,
                        end: usize::MAX,
                    });
                    spans.len() - 1
                });
                open.push((indent, name.to_owned(), false, span));
            }
        }
        last_line = number + 1;
    }
    spans
}

/// Follows triple-quoted strings over a line.
fn triple_quotes(line: &str, quote: &mut Option<&'static str>) {
    let mut rest = line;
    loop {
        if let Some(open) = *quote {
            let Some(end) = rest.find(open) else {
                return;
            };
            rest = &rest[end + 3..];
            *quote = None;
            continue;
        }
        let comment = rest.find('#').unwrap_or(rest.len());
        let next = ["\"\"\"", "'''"]
            .into_iter()
            .filter_map(|mark| rest.find(mark).map(|at| (at, mark)))
            .min();
        match next {
            Some((at, mark)) if at < comment => {
                *quote = Some(mark);
                rest = &rest[at + 3..];
            }
            _ => return,
        }
    }
}

/// Methods `test_…` and blocks `it "…"`; they end at an `end` of the same indentation.
fn ruby(text: &str) -> Vec<Span> {
    let Some(pattern) = RUBY.as_ref() else {
        return Vec::new();
    };
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let found = |(start, line): (usize, &&str)| {
        let name = group(&pattern.captures(line)?)?;
        let length = lines[start + 1..]
            .iter()
            .position(|next| indent(next) <= indent(line) && next.trim_start().starts_with("end"));
        let end = length.map_or(lines.len(), |length| start + length + 2);
        Some(Span { name, start, end })
    };
    lines.iter().enumerate().filter_map(found).collect()
}

fn group(found: &regex::Captures<'_>) -> Option<String> {
    let text = found.iter().skip(1).flatten().next()?;
    Some(text.as_str().to_owned())
}

/// Tests that end where their brackets close, at the latest before the next test.
fn braced(text: &str, pattern: &Regex) -> Vec<Span> {
    let lines: Vec<&str> = text.lines().collect();
    let mut spans: Vec<Span> = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        if let Some(name) = pattern.captures(line).and_then(|found| group(&found)) {
            let end = start + closing(&lines[start..]);
            spans.push(Span { name, start, end });
        }
    }
    spans
}

/// How many lines it takes until the braces that open are closed again. Strings and comments are
/// skipped; a regular expression literal with brackets in it can mislead.
fn closing(lines: &[&str]) -> usize {
    let (mut depth, mut opened) = (0i64, false);
    let mut quote = None;
    let mut comment = false;
    for (number, line) in lines.iter().enumerate() {
        let bytes = line.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied();
            match (quote, byte) {
                (_, b'*') if comment && next == Some(b'/') => {
                    comment = false;
                    at += 1;
                }
                _ if comment => {}
                (Some(_), b'\\') => at += 1,
                (Some(open), _) => quote = Some(open).filter(|open| *open != byte),
                (None, b'/') if next == Some(b'/') => break,
                (None, b'/') if next == Some(b'*') => comment = true,
                (None, b'"' | b'\'' | b'`') => quote = Some(byte),
                (None, b'{') => {
                    depth += 1;
                    opened = true;
                }
                (None, b'}') => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        // Only template literals run over line ends.
        quote = quote.filter(|open| *open == b'`');
        if opened && depth <= 0 {
            return number + 1;
        }
        if !opened && line.trim_end().ends_with(';') {
            return number + 1;
        }
    }
    lines.len()
}
