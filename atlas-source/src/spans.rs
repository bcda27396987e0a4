//! The tests of a file, with their lines.

use atlas_facts::{Language, language_of};
use atlas_syntax::{Definition, DefinitionKind, Source};
use regex::Regex;
use std::sync::LazyLock;

/// A test and its lines, from 0, the end excluded.
#[derive(Debug)]
pub(crate) struct Span {
    /// With the classes around it in Python (`TestA::test_x`), the modules in Rust (`tests::parses`).
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

static KOTLIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:(?:public|internal|suspend) )*fun (?:`([^`]+)`|(\w+))\(")
        .expect("a literal pattern")
});

static GROOVY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:(?:public|protected|private|final|static) )*void (\w+)\(")
        .expect("a literal pattern")
});

/// The tests of a file; none in a language that is not known.
pub(crate) fn spans(path: &str, text: &str) -> Vec<Span> {
    match language_of(path) {
        Some(Language::Kotlin) => indented(text, &KOTLIN),
        Some(Language::Groovy) => indented(text, &GROOVY),
        language => {
            let source = Source::of_path(path, text);
            let tests = source.map(|source| source.tests()).unwrap_or_default();
            let is_qualified = matches!(language, Some(Language::Python | Language::Rust));
            tests
                .into_iter()
                .map(|test| span(test, is_qualified))
                .collect()
        }
    }
}

fn span(test: Definition, is_qualified: bool) -> Span {
    let is_bare = !is_qualified || test.container.is_empty() || test.kind == DefinitionKind::Test;
    Span {
        start: test.lines.first - 1,
        end: test.lines.last,
        name: if is_bare {
            test.name
        } else {
            format!("{}::{}", test.container.replace('.', "::"), test.name)
        },
    }
}

/// Tests of languages without a grammar: each ends with the next brace that is as deep as its head.
fn indented(text: &str, pattern: &Regex) -> Vec<Span> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let found = |(start, line): (usize, &&str)| {
        let found = pattern.captures(line)?;
        let name = found.iter().skip(1).flatten().next()?.as_str().to_owned();
        let is_end =
            |next: &&str| indent(next) <= indent(line) && next.trim_start().starts_with('}');
        let length = lines[start + 1..].iter().position(is_end);
        let end = match length {
            Some(length) if !line.contains('}') || line.trim_end().ends_with('{') => {
                start + length + 2
            }
            _ => start + 1,
        };
        Some(Span { name, start, end })
    };
    lines.iter().enumerate().filter_map(found).collect()
}
