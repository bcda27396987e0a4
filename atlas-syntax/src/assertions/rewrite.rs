//! A test whose body somebody else wrote anew: taken only if nothing else changed.

use super::find::{self, Test};
use super::{SkippedTest, each, faults};
use crate::{Language, parse};
use std::ops::Range;
use tree_sitter::Tree;

/// The lines of a test that was left, with their line ends: what has to be written anew.
pub fn text_of_test<'s>(source: &'s [u8], test: &SkippedTest) -> &'s [u8] {
    &source[lines(source, test.line, test.last_line)]
}

/// Puts `written` in the place of a test's lines, if it is the same test with another body and
/// `statement` stands in it.
///
/// Asked for: the source parses as well as before; the same tests are there, in the same order; the
/// test begins where it began, with the same head, and ends where what is written ends; the statement stands
/// in its body more often than before, and in no comment or string.
///
/// ```
/// use atlas_syntax::{Language, inject_failures, rewrite_test};
/// let source = b"package a\nimport \"testing\"\nfunc TestA(_ *testing.T) {\n\trun()\n}\n";
/// let test = &inject_failures(Language::Go, source, None).skipped[0];
/// let text = "func TestA(_ *testing.T) {\n\tpanic(\"injected\")\n}\n";
/// let made = rewrite_test(Language::Go, source, test, text, "panic(\"injected\")")?;
/// assert!(String::from_utf8_lossy(&made).contains("\tpanic"));
/// let other = text.replace("TestA", "TestB");
/// assert!(rewrite_test(Language::Go, source, test, &other, "panic(\"injected\")").is_err());
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// What was changed that must not be, in words for whoever wrote it.
pub fn rewrite_test(
    language: Language,
    source: &[u8],
    test: &SkippedTest,
    written: &str,
    statement: &str,
) -> Result<Vec<u8>, String> {
    let range = lines(source, test.line, test.last_line);
    let old = &source[range.clone()];
    let statement = statement.trim();
    if statement.is_empty() {
        return Err("the failing statement is empty".to_owned());
    }
    let mut own = written.trim_end().as_bytes().to_vec();
    if old.ends_with(b"\n") {
        own.push(b'\n');
    }
    let count = |part: &[u8]| places(part, statement.as_bytes()).count();
    if count(&own) <= count(old) {
        return Err(
            "the failing statement does not stand in the test, or stood there before".into(),
        );
    }
    let mut changed = source.to_vec();
    changed.splice(range.clone(), own.iter().copied());
    let (Some(was), Some(is)) = (parse(language, source), parse(language, &changed)) else {
        return Err("the source does not parse".to_owned());
    };
    if faults(&is) > faults(&was) {
        return Err("the source no longer parses".to_owned());
    }
    let before = in_order(language, &was, source);
    let after = in_order(language, &is, &changed);
    let names =
        |tests: &[Test]| -> Vec<String> { tests.iter().map(|test| test.name.clone()).collect() };
    if names(&before) != names(&after) {
        return Err(
            "the tests of the file are others than before; change one body only".to_owned(),
        );
    }
    let Some(at) = before
        .iter()
        .position(|one| one.name == test.name && one.lines.0 == test.line)
    else {
        return Err(format!(
            "there is no test `{}` in line {}",
            test.name, test.line
        ));
    };
    let (before, after) = (&before[at], &after[at]);
    let last = test.line + newlines(&own).saturating_sub(1);
    if after.lines != (before.lines.0, last) {
        return Err("something stands around the test that did not".to_owned());
    }
    if head(before, source) != head(after, &changed) {
        return Err("the head of the test was changed; change its body only".to_owned());
    }
    let body = head_end(after, &changed)..after.whole.end;
    let is_code = places(&changed, statement.as_bytes()).any(|at| {
        let range = at..at + statement.len();
        body.start <= range.start && range.end <= body.end && !is_text(&is, &range)
    });
    if !is_code {
        return Err("the failing statement is no code in the body of the test".to_owned());
    }
    Ok(changed)
}

fn in_order(language: Language, tree: &Tree, source: &[u8]) -> Vec<Test> {
    let mut tests = find::tests(language, tree, source);
    tests.sort_by_key(|test| (test.lines.0, test.at));
    tests
}

/// Where a test's body begins; where the grammar knows none, behind what leads to it.
fn head_end(test: &Test, source: &[u8]) -> usize {
    let whole = &source[test.whole.clone()];
    let arrow = places(whole, b"=>").next();
    let brace = whole.iter().position(|byte| *byte == b'{');
    match (test.has_body, arrow, brace) {
        (true, ..) => test.at,
        (false, Some(arrow), Some(brace)) => test.whole.start + arrow.min(brace),
        (false, Some(at), None) | (false, None, Some(at)) => test.whole.start + at,
        (false, None, None) => test.whole.start,
    }
}

/// What stands before the body, without what only leads to it.
fn head(test: &Test, source: &[u8]) -> Vec<u8> {
    let end = head_end(test, source);
    let head = &source[test.whole.start.min(end)..end];
    let lead = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'=' | b'>');
    let kept = head
        .iter()
        .rposition(|byte| !lead(byte))
        .map_or(0, |at| at + 1);
    head[..kept].to_vec()
}

/// Whether a range lies in a comment or a string.
fn is_text(tree: &Tree, range: &Range<usize>) -> bool {
    let mut inside = false;
    each(tree.root_node(), &mut |node| {
        let holds = node.start_byte() <= range.start && range.end <= node.end_byte();
        let kind = node.kind();
        inside |= holds && (kind.contains("comment") || kind.contains("string"));
        holds
    });
    inside
}

fn places<'a>(text: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let windows = text.windows(part.len().max(1)).enumerate();
    windows
        .filter(move |(_, window)| *window == part)
        .map(|(at, _)| at)
}

/// How many lines a text has.
fn newlines(text: &[u8]) -> usize {
    text.split_inclusive(|byte| *byte == b'\n').count()
}

/// The bytes of lines, from 1, both included.
fn lines(source: &[u8], first: usize, last: usize) -> Range<usize> {
    let mut start = source.len();
    let mut at = 0;
    for (number, line) in source.split_inclusive(|byte| *byte == b'\n').enumerate() {
        if number + 1 == first {
            start = at;
        }
        at += line.len();
        if number + 1 == last {
            return start.min(at)..at;
        }
    }
    start..source.len()
}
