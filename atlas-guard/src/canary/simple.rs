//! Languages with one way to write a test: Go, Rust, bats.

use super::names::Names;
use super::{Added, indent, insert};
use crate::rules::test_modules;
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn go(file: &str, text: &str, names: &Names) -> Added {
    static IMPORT: LazyLock<Regex> =
        LazyLock::new(|| regex(r#"(?m)^\s*(?:import\s+)?"testing"\s*$"#));
    if !file.ends_with("_test.go") || !IMPORT.is_match(text) {
        return None;
    }
    let (pass, fail) = names.pascal();
    let both = (format!("Test{pass}"), format!("Test{fail}"));
    let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        format!(
            "func {name}(t *testing.T) {{\n\ttotal := 0\n\tfor _, value := range []int{{{a}, {b}, {c}}} {{\n\t\ttotal += value\n\t}}\n\tif total != {sum} {{\n\t\tt.Errorf(\"got %d, want %d\", total, {sum})\n\t}}\n}}\n"
        )
    };
    let piece = names.both(&both, write, "\n");
    Some((insert(text, text.len(), 1, &piece), both.0, both.1))
}

pub(super) fn rust(file: &str, text: &str, names: &Names) -> Added {
    static TEST: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^\s*#\[(?:\w+::)*test\b"));
    let both = names.snake();
    let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        format!(
            "#[test]\nfn {name}() {{\n    let values = [{a}_u32, {b}, {c}];\n    assert_eq!(values.iter().sum::<u32>(), {sum});\n}}\n"
        )
    };
    let piece = names.both(&both, write, "\n");
    // The last module of tests, before its closing brace.
    if let Some((_, span)) = test_modules(text).into_iter().last() {
        let at = text[..span.end - 1].trim_end_matches([' ', '\t']).len();
        let piece = indent(&piece, "    ");
        return Some((insert(text, at, 1, &piece), both.0, both.1));
    }
    let in_tests = file.starts_with("tests/") || file.contains("/tests/");
    // A file of tests without a harness has a `main`, and its tests would never run.
    let harness = !regex(r"(?m)^fn main\s*\(").is_match(text);
    (in_tests && harness && TEST.is_match(text))
        .then(|| (insert(text, text.len(), 1, &piece), both.0, both.1))
}

pub(super) fn bats(text: &str, names: &Names) -> Added {
    if !text.lines().any(|line| line.starts_with("@test ")) {
        return None;
    }
    let both = names.spaced();
    let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        format!(
            "@test \"{name}\" {{\n  total=$(({a} + {b} + {c}))\n  [ \"$total\" -eq {sum} ]\n}}\n"
        )
    };
    let piece = names.both(&both, write, "\n");
    Some((insert(text, text.len(), 1, &piece), both.0, both.1))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
