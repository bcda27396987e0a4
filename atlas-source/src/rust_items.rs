//! The test parts of a Rust source file: which lines belong to items that only tests compile.
//!
//! A small lexer knows comments, strings, raw strings, characters and lifetimes, so braces in them
//! do not count. Macros are not expanded; a test that a macro writes is not seen.

use std::collections::BTreeMap;

/// Lines of a file that belong to one test-only item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestItem {
    /// Keyword and name, as in `mod tests`; tells items apart.
    pub(crate) key: String,
    /// First line, from 0, attributes and doc comments included.
    pub(crate) start: usize,
    /// The line after the last.
    pub(crate) end: usize,
}

/// A test function and its lines, from 0, the end excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestFunction {
    /// With the modules of the file around it: `tests::parses`.
    pub(crate) name: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What a file holds for tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RustTests {
    pub(crate) items: Vec<TestItem>,
    pub(crate) functions: Vec<TestFunction>,
}

/// Modules nested deeper than this many bytes of path are not looked into: text from outside must
/// not exhaust the stack.
const MAX_PATH: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Punct(u8),
    Doc,
    Other,
}

#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    line: usize,
    end_line: usize,
}

/// Finds the test parts. Text that is no Rust gives whatever can be seen in it.
pub(crate) fn read(text: &str) -> RustTests {
    let tokens = lex(text);
    let mut found = RustTests::default();
    items(&tokens, 0, tokens.len(), "", false, &mut found);
    // Half a line cannot be split off: the item must have its lines for itself.
    let mut holders: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        for line in [token.line, token.end_line] {
            holders.entry(line).or_default().push(at);
        }
    }
    found.items.retain(|item| {
        let whole = |line: usize| {
            holders.get(&line).is_none_or(|here| {
                here.iter()
                    .all(|at| tokens[*at].line >= item.start && tokens[*at].end_line < item.end)
            })
        };
        whole(item.start) && whole(item.end - 1)
    });
    found
}

/// Walks the items of one module body.
fn items(
    tokens: &[Token<'_>],
    mut at: usize,
    end: usize,
    path: &str,
    inside_test: bool,
    found: &mut RustTests,
) {
    while at < end {
        if let [hash, bang, bracket, ..] = &tokens[at..end]
            && hash.kind == Kind::Punct(b'#')
            && bang.kind == Kind::Punct(b'!')
            && bracket.kind == Kind::Punct(b'[')
        {
            at = matching(tokens, at + 2, end) + 1;
            continue;
        }
        let first = at;
        let (mut test_only, mut is_test) = (false, false);
        loop {
            let token = tokens[at];
            if token.kind == Kind::Doc {
                at += 1;
            } else if token.kind == Kind::Punct(b'#')
                && at + 1 < end
                && tokens[at + 1].kind == Kind::Punct(b'[')
            {
                let close = matching(tokens, at + 1, end);
                let attribute: String = tokens[at + 2..close.min(end)]
                    .iter()
                    .map(|token| token.text)
                    .collect();
                test_only |= is_cfg_test(&attribute);
                is_test |= is_test_attribute(&attribute);
                at = close + 1;
            } else {
                break;
            }
            if at >= end {
                return;
            }
        }
        let item = item(tokens, at, end);
        let start_line = tokens[first].line;
        let end_line = tokens[item.end.min(end) - 1].end_line + 1;
        if (test_only || is_test) && !inside_test {
            found.items.push(TestItem {
                key: item.key.clone(),
                start: start_line,
                end: end_line,
            });
        }
        if is_test && let Some(name) = item.key.strip_prefix("fn ") {
            found.functions.push(TestFunction {
                name: format!("{path}{name}"),
                start: start_line,
                end: end_line,
            });
        }
        if let (Some(name), Some(body)) = (item.key.strip_prefix("mod "), item.body)
            && path.len() < MAX_PATH
        {
            let path = format!("{path}{name}::");
            let close = item.end - 1;
            items(
                tokens,
                body + 1,
                close,
                &path,
                inside_test || test_only,
                found,
            );
        }
        at = item.end.max(at + 1);
    }
}

struct Item {
    key: String,
    /// The opening brace of its body.
    body: Option<usize>,
    /// The token after the item.
    end: usize,
}

/// One item: up to a `;` or the end of a braced block at its own level.
fn item(tokens: &[Token<'_>], start: usize, end: usize) -> Item {
    let mut at = start;
    let mut key = None;
    // In `use a::{b};` and `const X: T = T { .. };` the braces do not end the item.
    let mut until_semicolon = false;
    while at < end {
        let token = tokens[at];
        match token.kind {
            Kind::Punct(b';') => {
                at += 1;
                break;
            }
            Kind::Punct(b'(' | b'[') => at = matching(tokens, at, end),
            Kind::Punct(b'{') => {
                let close = matching(tokens, at, end);
                if !until_semicolon {
                    return Item {
                        key: key.unwrap_or_default(),
                        body: (close < end).then_some(at),
                        end: (close + 1).min(end),
                    };
                }
                at = close;
            }
            Kind::Punct(b'=')
                if key.as_deref().is_some_and(|key: &str| {
                    ["const ", "static ", "type "]
                        .iter()
                        .any(|word| key.starts_with(word))
                }) =>
            {
                until_semicolon = true;
            }
            Kind::Word if key.is_none() => {
                let next = tokens.get(at + 1).map_or("", |next| next.text);
                match token.text {
                    "fn" | "mod" | "struct" | "enum" | "trait" | "union" | "type" | "static" => {
                        key = Some(format!("{} {next}", token.text));
                    }
                    "const" if !matches!(next, "fn" | "unsafe" | "async" | "extern") => {
                        key = Some(format!("const {next}"));
                    }
                    "use" | "extern" if token.text == "use" || next == "crate" => {
                        until_semicolon = true;
                        key = Some(statement(tokens, at, end));
                    }
                    "impl" => key = Some(statement(tokens, at, end)),
                    "macro_rules" => {
                        let name = tokens.get(at + 2).map_or("", |name| name.text);
                        key = Some(format!("macro {name}"));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        at += 1;
    }
    Item {
        key: key.unwrap_or_default(),
        body: None,
        end: at.min(end).max(start + 1),
    }
}

/// The words up to `;` or `{`: names an item that has no name.
fn statement(tokens: &[Token<'_>], at: usize, end: usize) -> String {
    let words: Vec<&str> = tokens[at..end]
        .iter()
        .take_while(|token| !matches!(token.kind, Kind::Punct(b';' | b'{')))
        .take(24)
        .map(|token| token.text)
        .collect();
    words.join(" ")
}

/// The closing bracket that fits the opening one at `open`; `end` if there is none.
fn matching(tokens: &[Token<'_>], open: usize, end: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().take(end).skip(open) {
        match token.kind {
            Kind::Punct(b'(' | b'[' | b'{') => depth += 1,
            Kind::Punct(b')' | b']' | b'}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    end
}

/// Whether a `cfg` is true only when tests are compiled: `test`, or `all(…)` with `test` in it.
fn is_cfg_test(attribute: &str) -> bool {
    let Some(inner) = attribute
        .strip_prefix("cfg(")
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return false;
    };
    if inner.trim_end_matches(',') == "test" {
        return true;
    }
    let Some(list) = inner
        .strip_prefix("all(")
        .and_then(|rest| rest.strip_suffix(')'))
    else {
        return false;
    };
    let mut depth = 0;
    list.split(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0 && c == ','
    })
    .any(|part| part == "test")
}

fn is_test_attribute(attribute: &str) -> bool {
    let path = attribute.split('(').next().unwrap_or_default();
    let last = path.rsplit("::").next().unwrap_or_default();
    // `cfg_attr(not(miri), test)`, `rustversion::attr(beta, test)`.
    if matches!(last, "cfg_attr" | "attr")
        && let Some((_, given)) = attribute.trim_end_matches(')').rsplit_once(',')
    {
        return is_test_attribute(given);
    }
    matches!(
        last,
        "test" | "rstest" | "test_case" | "quickcheck" | "wasm_bindgen_test" | "should_panic"
    )
}

fn lex(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let kind = match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
                let outer = text[start..at].starts_with("///");
                (outer && !text[start..at].starts_with("////")).then_some(Kind::Doc)
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = block_comment(bytes, at);
                None
            }
            b'"' => {
                at = string(bytes, at + 1);
                Some(Kind::Other)
            }
            b'\'' => {
                at = quote(text, at);
                Some(Kind::Other)
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => {
                while bytes.get(at).is_some_and(|byte| {
                    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
                }) {
                    at += 1;
                }
                Some(match prefixed(bytes, &text[start..at], at) {
                    Some(end) => {
                        at = end;
                        Kind::Other
                    }
                    None => Kind::Word,
                })
            }
            b'0'..=b'9' => {
                while bytes
                    .get(at)
                    .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                {
                    at += 1;
                }
                Some(Kind::Other)
            }
            _ if byte.is_ascii_whitespace() => {
                at += 1;
                None
            }
            _ => {
                at += 1;
                Some(Kind::Punct(byte))
            }
        };
        let first_line = line;
        line += memchr::memchr_iter(b'\n', &bytes[start..at]).count();
        if let Some(kind) = kind {
            tokens.push(Token {
                kind,
                text: &text[start..at],
                line: first_line,
                end_line: line,
            });
        }
    }
    tokens
}

fn block_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at.min(bytes.len())
}

/// The end of a string whose opening quote is behind `at`.
fn string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a character or a lifetime that begins at `at`.
fn quote(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(at + 1) == Some(&b'\\') {
        let mut end = at + 3;
        while bytes
            .get(end)
            .is_some_and(|byte| !matches!(byte, b'\'' | b'\n'))
        {
            end += 1;
        }
        let mut end = (end + 1).min(bytes.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        return end;
    }
    let width = text[at + 1..].chars().next().map_or(0, char::len_utf8);
    if width > 0 && bytes.get(at + 1 + width) == Some(&b'\'') {
        return at + width + 2;
    }
    at + 1
}

/// The end of a string with a prefix (`b"…"`, `r#"…"#`, `c"…"`) or a raw identifier's mark.
fn prefixed(bytes: &[u8], word: &str, at: usize) -> Option<usize> {
    if !matches!(word, "r" | "b" | "c" | "br" | "cr" | "rb") {
        return None;
    }
    if !word.contains('r') {
        return match bytes.get(at) {
            Some(b'"') => Some(string(bytes, at + 1)),
            _ => None,
        };
    }
    let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(at + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = at + hashes + 1;
    let end = bytes[body..]
        .windows(close.len())
        .position(|window| window == close);
    Some(end.map_or(bytes.len(), |end| body + end + close.len()))
}

/// A file between two versions: the old text with the new test items.
///
/// `None` if the two kinds of change cannot be told apart, so that the result would not read as
/// exactly that.
pub(crate) fn with_new_tests(old: &str, new: &str) -> Option<String> {
    let (old_tests, new_tests) = (read(old), read(new));
    let old_parts = parts(old, &old_tests.items);
    let new_parts = parts(new, &new_tests.items);
    let old_keys: Vec<&str> = old_parts.iter().map(|part| part.text(true)).collect();
    let new_keys: Vec<&str> = new_parts.iter().map(|part| part.text(true)).collect();
    let mut middle = String::with_capacity(new.len());
    let push = |middle: &mut String, text: &str| {
        // A part that ended the file may now stand before others.
        if !middle.is_empty() && !middle.ends_with('\n') {
            middle.push('\n');
        }
        middle.push_str(text);
    };
    for operation in similar::capture_diff_slices(similar::Algorithm::Myers, &old_keys, &new_keys) {
        let (tag, old_range, new_range) = operation.as_tag_tuple();
        if tag == similar::DiffTag::Equal {
            // Equal keys: the same line, or the same item in its new form.
            for part in &new_parts[new_range] {
                push(&mut middle, part.text(false));
            }
            continue;
        }
        for part in &old_parts[old_range] {
            if let Part::Line(line) = part {
                push(&mut middle, line);
            }
        }
        for part in &new_parts[new_range] {
            if let Part::Item { text, .. } = part {
                push(&mut middle, text);
            }
        }
    }
    let middle_tests = read(&middle);
    let check = parts(&middle, &middle_tests.items);
    let same = |one: &[Part<'_>], other: &[Part<'_>], item: bool| {
        let pick = |parts: &[Part<'_>]| -> Vec<String> {
            parts
                .iter()
                .filter(|part| matches!(part, Part::Item { .. }) == item)
                .map(|part| part.text(false).trim_end().to_owned())
                .collect()
        };
        pick(one) == pick(other)
    };
    // Unbalanced brackets can make items overlap; then equal lines are not yet equal items.
    let as_many = middle_tests.items.len() == new_tests.items.len();
    (as_many && same(&check, &old_parts, false) && same(&check, &new_parts, true)).then_some(middle)
}

/// A line outside of test items, or a whole test item.
enum Part<'a> {
    Line(&'a str),
    Item { key: &'a str, text: &'a str },
}

impl<'a> Part<'a> {
    fn text(&self, as_key: bool) -> &'a str {
        match self {
            Part::Line(line) => line,
            Part::Item { key, .. } if as_key => key,
            Part::Item { text, .. } => text,
        }
    }
}

fn parts<'a>(text: &'a str, items: &'a [TestItem]) -> Vec<Part<'a>> {
    let mut starts = vec![0];
    starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1));
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    let last = starts.len() - 1;
    let mut parts = Vec::new();
    let mut line = 0;
    let mut items = items.iter().peekable();
    while line < last {
        if let Some(item) = items.next_if(|item| item.start == line) {
            let end = item.end.min(last);
            parts.push(Part::Item {
                key: &item.key,
                text: &text[starts[line]..starts[end]],
            });
            line = end;
        } else {
            parts.push(Part::Line(&text[starts[line]..starts[line + 1]]));
            line += 1;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("#[cfg(test)]\n".to_owned()),
            Just("#[test]\n".to_owned()),
            Just("#![x]\n".to_owned()),
            Just("mod tests {\n".to_owned()),
            Just("}\n".to_owned()),
            Just("fn a() {}\n".to_owned()),
            Just("fn b<'a>(x: [u8; 2]) {\n".to_owned()),
            Just("r#\"{\"# '\\''".to_owned()),
            Just("/* { /* */ */ // {\n".to_owned()),
            "[#{}()\\[\\]'\"/*;\\\\é\n a]{0,6}",
        ];
        proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_divided_or_refused(old in source(), new in source()) {
            if let Some(middle) = with_new_tests(&old, &new) {
                let count = read(&middle).items.len();
                prop_assert_eq!(count, read(&new).items.len());
            }
        }

        #[test]
        fn nothing_changes_between_equal_texts(text in source()) {
            let middle = with_new_tests(&text, &text);
            prop_assert_eq!(middle, Some(text));
        }
    }

    #[test]
    fn deep_nesting_ends() {
        assert!(read(&"mod a {".repeat(2_000)).items.is_empty());
        let closed = format!("{}{}", "mod a {".repeat(5_000), "}".repeat(5_000));
        assert!(read(&closed).items.is_empty());
    }
}
