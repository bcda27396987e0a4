//! pytest functions and unittest classes.

use super::names::Names;
use super::{Added, indent, insert};
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn add(parser: &str, text: &str, names: &Names) -> Added {
    static CLASS: LazyLock<Regex> =
        LazyLock::new(|| regex(r"(?m)^class\s+\w+\s*\(([\w.]*TestCase)\b"));
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^\s*(?:async\s+)?def\s+test"));
    static MAIN: LazyLock<Regex> =
        LazyLock::new(|| regex(r"(?m)^if\s+__name__\s*==\s*.__main__.\s*:"));
    let class = CLASS.captures(text).map(|found| found[1].to_owned());
    let by_class = match parser {
        "unittest" | "django" => true,
        "sympy" => false,
        _ => class.is_some() && !has_plain_test(text),
    };
    if !FUNCTION.is_match(text) && class.is_none() {
        return None;
    }
    let (pass, fail) = names.snake();
    let both = (format!("test_{pass}"), format!("test_{fail}"));
    let tabs = text.lines().any(|line| line.starts_with('\t'));
    let step = if tabs { "\t" } else { "    " };
    let piece = if by_class {
        // The file's own base class may need a database or a server; the plain one never does.
        let plain =
            |base: &str| matches!(base, "TestCase" | "unittest.TestCase" | "SimpleTestCase");
        let (import, base) = match class.as_deref().filter(|base| plain(base)) {
            Some(base) if imports(text, base) => ("", base.to_owned()),
            _ if imports(text, "unittest.TestCase") => ("", "unittest.TestCase".to_owned()),
            _ => ("import unittest\n\n\n", "unittest.TestCase".to_owned()),
        };
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            format!(
                "def {name}(self):\n{step}values = [{a}, {b}, {c}]\n{step}self.assertEqual(sum(values), {sum})\n"
            )
        };
        let tests = indent(&names.both(&both, write, "\n"), step);
        format!("{import}class {}Test({base}):\n{tests}", names.group())
    } else {
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            format!(
                "def {name}():\n{step}values = [{a}, {b}, {c}]\n{step}assert sum(values) == {sum}\n"
            )
        };
        names.both(&both, write, "\n\n")
    };
    let content = match MAIN.find(text) {
        Some(main) => insert(text, main.start(), 0, &format!("{piece}\n\n")),
        None => insert(text, text.len(), 2, &piece),
    };
    Some((content, both.0, both.1))
}

fn has_plain_test(text: &str) -> bool {
    text.lines()
        .any(|line| line.starts_with("def test") || line.starts_with("async def test"))
}

fn imports(text: &str, name: &str) -> bool {
    let lines = || text.lines().map(str::trim_end);
    if name == "unittest.TestCase" {
        return lines().any(|line| line == "import unittest");
    }
    let word = regex(&format!(r"^from\s+\S+\s+import\s+.*\b{name}\b"));
    lines().any(|line| word.is_match(line))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
