//! Copies of the instance's own tests that expect something else.

use super::names::Names;
use crate::text::{Syntax, closing, mask};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A test file with a twin of one of its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTest {
    /// The file's new content.
    pub content: Vec<u8>,
    /// The twin's own name, as the runner prints it, without its file, module or class.
    pub must_fail: String,
    /// The name of the test that it is a copy of.
    pub of: String,
}

/// Adds a copy of one test to its file, under a name like the test's, that expects another value.
///
/// A [`canary`](super::canary) does not touch the code under test, so code that only looks after the
/// tests which call it leaves the canary alone: a value that is equal to anything, a call that turns
/// the failure of its caller round. Its twin calls what the test calls. Whatever satisfies both is
/// no solution: a value that equals the one's expectation differs from the other's.
///
/// Only a test among `listed` is copied (names or whole ids), and only one whose assertion surely
/// runs: an equality with a literal, no deeper in the test than its first level, in a body without
/// early ends, callbacks that the runner waits for, or catching of failures. Nothing comes back
/// where there is none. JavaScript, TypeScript, Go and Rust are read.
///
/// ```
/// let tests = b"#[test]\nfn takes_off() {\n    assert_eq!(total(200, 10), 180);\n}\n";
/// let listed = ["cart::takes_off".to_owned()];
/// let twin = atlas_guard::copied_test("tests/cart.rs", tests, "7d1f", &listed).expect("an equality");
/// assert_eq!(twin.of, "takes_off");
/// assert!(!String::from_utf8_lossy(&twin.content[tests.len()..]).contains("180"));
/// ```
pub fn copied_test(
    file: &str,
    content: &[u8],
    seed: &str,
    listed: &[String],
) -> Option<CopiedTest> {
    let text = std::str::from_utf8(content).ok()?;
    let form = Form::of(file)?;
    let masked = mask(text, form.syntax);
    let names = Names::new(&format!("{seed} twin"), text);
    let mut found = form.head.captures_iter(text).filter_map(|head| {
        let name = head.name("name").or_else(|| head.name("other"))?;
        let case = Test {
            name: name.range(),
            span: Form::span(text, &masked, head.get(0)?.range())?,
            body: head.get(0)?.end() - 1,
        };
        let is_listed = listed.iter().any(|id| names_test(id, name.as_str()));
        (is_listed && !form.evades.is_match(&text[case.body..case.span.end])).then_some(case)
    });
    found.find_map(|case| {
        let (at, other) = form.other_value(text, &masked, &case, names.pass_values[0])?;
        let old = &text[case.name.clone()];
        let new = form.rename(old, &form.word(text, old, &names));
        if new == old || text.contains(&new) {
            return None;
        }
        let copy = [
            &text[case.span.start..case.name.start],
            &new,
            &text[case.name.end..at.start],
            &other,
            &text[at.end..case.span.end],
        ]
        .concat();
        // Before or behind the test, so that its place does not tell it.
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let (at, piece) = if names.pass_first {
            (case.span.end, format!("{end}{end}{copy}"))
        } else {
            (case.span.start, format!("{copy}{end}{end}"))
        };
        let (before, after) = text.split_at(at);
        Some(CopiedTest {
            content: format!("{before}{piece}{after}").into_bytes(),
            must_fail: new,
            of: old.to_owned(),
        })
    })
}

/// Whether an id ends with the name of a test.
fn names_test(id: &str, name: &str) -> bool {
    id.strip_suffix(name).is_some_and(|before| {
        let last = before.chars().next_back();
        last.is_none_or(|last| !last.is_alphanumeric() && last != '_')
    })
}

/// A test of a file, by its places in the text.
struct Test {
    name: Range<usize>,
    /// The whole declaration.
    span: Range<usize>,
    /// Where its body opens.
    body: usize,
}

/// How a language writes tests and equalities.
struct Form {
    syntax: Syntax,
    /// Up to the opening brace of the body.
    head: Regex,
    /// What makes a test one that may pass without its assertion.
    evades: Regex,
    /// Equalities, up to the bracket that opens their arguments or what they compare with.
    equalities: Regex,
    /// What stands between the words of a name; nothing where a capital begins one.
    between: &'static str,
}

impl Form {
    fn of(file: &str) -> Option<&'static Self> {
        static SCRIPT: LazyLock<Form> = LazyLock::new(|| Form {
            syntax: Syntax::Braces,
            head: regex(
                r#"(?m)^[ \t]*(?:it|test)\(\s*(?:'(?P<name>[^'\\\n]+)'|"(?P<other>[^"\\\n]+)")\s*,\s*(?:async\s+)?(?:\(?\s*t?\s*\)?\s*=>|function\s*\w*\s*\(\s*t?\s*\))\s*\{"#,
            ),
            evades: regex(
                r"\b(return|try|catch|finally|skip|todo|setTimeout|setImmediate|nextTick|plan|retry|retries|it|test)\b[^'\x22]|\.(rejects|resolves|not|then)\b",
            ),
            equalities: regex(
                r"\.(?:toBe|toEqual|toStrictEqual|equal|eql|equals|strictEqual|deepEqual|deepStrictEqual|is|eq)\(",
            ),
            between: " ",
        });
        static GO: LazyLock<Form> = LazyLock::new(|| Form {
            syntax: Syntax::Braces,
            head: regex(r"(?m)^func (?P<name>Test\w+)\(t \*testing\.T\) \{"),
            evades: regex(r"\breturn\b|\bgo\b|\bdefer\b|\brecover\b|\.Skip|\.Run\(|\bselect\b"),
            equalities: regex(
                r"(?m)(?:assert|require)\.Equal\(|^\s*if [^\n]*!= |^\s*(?:want|wanted|expected|expect|exp)\w* :?= ",
            ),
            between: "",
        });
        static RUST: LazyLock<Form> = LazyLock::new(|| Form {
            syntax: Syntax::Rust,
            head: regex(
                r"(?m)^[ \t]*#\[(?:\w+::)*test(?:\([^)\]]*\))?\]\s*(?:async\s+)?fn (?P<name>\w+)\(\)[^{;]*\{",
            ),
            evades: regex(r"\breturn\b|\?;|\bspawn\b|catch_unwind"),
            equalities: regex(r"\bassert_eq!\("),
            between: "_",
        });
        match file.rsplit('.').next()? {
            "js" | "cjs" | "mjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" => Some(&SCRIPT),
            "go" if file.ends_with("_test.go") => Some(&GO),
            "rs" => Some(&RUST),
            _ => None,
        }
    }

    /// Where the last word of a name begins; at its end if it has only one.
    fn last_word(&self, name: &str) -> usize {
        let start = if self.between.is_empty() {
            let start = name.rfind(|c: char| c.is_ascii_uppercase() || c == '_');
            start.filter(|at| *at > "Test".len())
        } else {
            name.rfind(self.between).map(|at| at + 1)
        };
        start.unwrap_or(name.len())
    }

    /// A word that the file's other tests end with, so that it is none of Atlas's own; else a noun.
    fn word(&self, text: &str, name: &str, names: &Names) -> String {
        let own = &name[self.last_word(name)..];
        let others: Vec<&str> = self
            .head
            .captures_iter(text)
            .filter_map(|head| head.name("name").or_else(|| head.name("other")))
            .map(|other| &other.as_str()[self.last_word(other.as_str())..])
            .filter(|word| *word != own && word.len() > 2)
            .filter(|word| word.chars().all(|c| c.is_ascii_alphabetic()))
            .filter(|word| !text.contains(&self.rename(name, word)))
            .collect();
        let dice = names.fail_values[0] as usize;
        match others.as_slice() {
            [] => names
                .group_words()
                .rsplit(' ')
                .next()
                .unwrap_or_default()
                .to_owned(),
            others => others[dice % others.len()].to_owned(),
        }
    }

    /// The name with another last word, or with one more.
    fn rename(&self, name: &str, word: &str) -> String {
        let start = self.last_word(name);
        let before = &name[..start];
        if self.between.is_empty() {
            let (first, rest) = word.split_at(1);
            format!(
                "{}{}{rest}",
                before.trim_end_matches('_'),
                first.to_uppercase()
            )
        } else if start == name.len() {
            format!("{before}{}{word}", self.between)
        } else {
            format!("{before}{word}")
        }
    }

    /// The declaration whose head this is.
    fn span(text: &str, masked: &[u8], head: Range<usize>) -> Option<Range<usize>> {
        // Not inside a comment or a string.
        if masked.get(head.end - 1) != Some(&b'{') {
            return None;
        }
        let mut end = closing(masked, head.end - 1)?;
        let open = masked[head.clone()].iter().position(|b| *b == b'(');
        let first = text[head.clone()].trim_start();
        if let Some(open) = open.filter(|_| first.starts_with("it") || first.starts_with("test")) {
            // A call: up to its bracket, with nothing but a time limit between.
            let close = closing(masked, head.start + open)?;
            let between = &text[end..close - 1];
            if !between
                .chars()
                .all(|c| ", \r\n\t".contains(c) || c.is_ascii_digit())
            {
                return None;
            }
            end = close + usize::from(text[close..].starts_with(';'));
        }
        let start = head.start;
        text.is_char_boundary(end).then_some(start..end)
    }

    /// A literal that the test surely compares with, and another in its place.
    fn other_value(
        &self,
        text: &str,
        masked: &[u8],
        case: &Test,
        off: u32,
    ) -> Option<(Range<usize>, String)> {
        let end = closing(masked, case.body)? - 1;
        let body = case.body + 1..end;
        let mut depth = 0_usize;
        let mut at = body.start;
        let mut found = None;
        for equality in self.equalities.find_iter(&text[body.clone()]) {
            let (start, open) = (body.start + equality.start(), body.start + equality.end());
            for byte in masked.get(at..start)? {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            at = start;
            // In a block that may not run, or in a comment.
            if depth > 0 || masked.get(start..open)?.iter().all(|byte| *byte == b' ') {
                continue;
            }
            let expected = if masked[open - 1] == b'(' {
                argument(masked, open - 1, equality.as_str())
            } else {
                let line = text[open..end].find('\n').map_or(end, |line| open + line);
                // `want := Summary{…}` may take more lines than one; `if got != 3 {` ends in its brace.
                let stop = text[open..line].trim_end().strip_suffix('{');
                let is_condition = equality.as_str().trim_start().starts_with("if ");
                match stop {
                    Some(value) if is_condition => Some(open..open + value.len()),
                    None if !is_condition => Some(open..line),
                    _ => None,
                }
            };
            let value = expected.and_then(|place| other_literal(text, masked, place, off));
            found = value.or(found);
        }
        found
    }
}

/// The argument of an equality that holds what is expected.
fn argument(masked: &[u8], open: usize, call: &str) -> Option<Range<usize>> {
    let end = closing(masked, open)? - 1;
    let mut depth = 0_usize;
    let mut arguments = Vec::new();
    let mut from = open + 1;
    for (at, byte) in masked.iter().enumerate().take(end).skip(open + 1) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(from..end);
    let calls = |place: &&Range<usize>| masked[(*place).clone()].contains(&b'(');
    // `expect(x).toBe(3)` has one, `assert.Equal(t, 3, x)` the runner's handle first; of two sides
    // the one without a call is expected.
    match arguments.as_slice() {
        [only] => Some(only.clone()),
        [_, expected, actual, ..] if call.ends_with("t.Equal(") || call.ends_with("e.Equal(") => {
            let mut sides = [expected, actual].into_iter();
            sides.find(|side| !calls(side)).cloned()
        }
        [left, right, ..] => {
            let side = [right, left].into_iter().find(|side| !calls(side));
            Some(side.unwrap_or(right).clone())
        }
        [] => None,
    }
}

/// The last number in a place, or else its last string, and what to write instead.
fn other_literal(
    text: &str,
    masked: &[u8],
    place: Range<usize>,
    off: u32,
) -> Option<(Range<usize>, String)> {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"\b(\d(?:_?\d){0,12})(?:\.\d+)?(?:_?[iuf](?:8|16|32|64|128|size)|n)?\b")
    });
    let code = String::from_utf8_lossy(&masked[place.clone()]);
    if code.len() == place.len() {
        let numbers = NUMBER
            .captures_iter(&code)
            .filter_map(|number| number.get(1));
        let number = numbers
            .filter(|number| !code[..number.start()].ends_with('.'))
            .last();
        if let Some(number) = number {
            let value: u64 = number.as_str().replace('_', "").parse().ok()?;
            let at = place.start + number.start()..place.start + number.end();
            return Some((at, (value + u64::from(off)).to_string()));
        }
    }
    let quote = text[place.clone()]
        .rfind(['"', '\''])
        .map(|at| place.start + at)
        .filter(|at| masked[*at] == b' ' && masked[place.clone()].contains(&b' '))?;
    let is_empty = text[..quote].ends_with(['"', '\'']);
    let more = if is_empty { "x" } else { "s" };
    Some((quote..quote, more.to_owned()))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
