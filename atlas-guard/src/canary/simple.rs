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

/// Specs of Ginkgo 2, in a container of their own beside those of the file. They run within the file's suite,
/// so a test that runs it fails with them.
pub(super) fn ginkgo(file: &str, text: &str, names: &Names) -> Added {
    static CONTAINER: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"(?m)^var _ = (?:\w+\.)?[FP]?(?:Describe|Context|When|DescribeTable)\(")
    });
    let prefix = |library: &str| {
        let import = format!(
            r#"(?m)^\s*(?:import\s+)?(?:(\.|\w+)\s+)?"github\.com/onsi/{library}"\s*(?://.*)?$"#
        );
        let found = regex(&import).captures(text)?;
        let name = found.get(1).map(|name| name.as_str());
        let last = library.split('/').next().unwrap_or(library);
        Some(match name {
            Some(".") => String::new(),
            Some(name) => format!("{name}."),
            None => format!("{last}."),
        })
    };
    if !file.ends_with("_test.go") || !CONTAINER.is_match(text) {
        return None;
    }
    let ginkgo = prefix("ginkgo/v2")?;
    let gomega = prefix("gomega");
    let both = names.spaced();
    let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
        let check = match &gomega {
            Some(gomega) => format!("{gomega}Expect(total).To({gomega}Equal({sum}))"),
            None => format!(
                "if total != {sum} {{\n\t\t\t{ginkgo}Fail(\"another total than {sum}\")\n\t\t}}"
            ),
        };
        format!(
            "\t{ginkgo}It(\"{name}\", func() {{\n\t\ttotal := 0\n\t\tfor _, value := range []int{{{a}, {b}, {c}}} {{\n\t\t\ttotal += value\n\t\t}}\n\t\t{check}\n\t}})\n"
        )
    };
    let specs = names.both(&both, write, "\n");
    let group = names.group_words();
    let piece = format!("var _ = {ginkgo}Describe(\"{group}\", func() {{\n{specs}}})\n");
    Some((insert(text, text.len(), 1, &piece), both.0, both.1))
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
