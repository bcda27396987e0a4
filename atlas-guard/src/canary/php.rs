//! PHPUnit classes and Pest files.

use super::names::Names;
use super::{Added, indent, insert};
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn add(text: &str, names: &Names) -> Added {
    static CLASS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^(?:final\s+|readonly\s+)*class\s+\w+\s+extends\s+[\\\w]*(?:TestCase|Test)\b[^{]*\{")
            .expect("a pattern of this file")
    });
    static PEST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?m)^(?:it|test)\s*\(\s*['"]"#).expect("a pattern of this file")
    });
    if let Some(class) = CLASS.find_iter(text).last() {
        // Strings of several lines and here-documents hold braces of their own: only the last line
        // is surely the class's end, and only where nothing follows the class.
        let end = text.trim_end().len();
        let is_end = text[..end].ends_with("\n}") && !text[class.end()..].contains("\nfunction ");
        let at = end.checked_sub(1).filter(|_| is_end)?;
        let (pass, fail) = names.pascal();
        let both = (format!("test{pass}"), format!("test{fail}"));
        // Files that declare no types are of times that did not know `void`.
        let typed = if text.contains("): void") {
            ": void"
        } else {
            ""
        };
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            format!(
                "public function {name}(){typed}\n{{\n    $total = array_sum([{a}, {b}, {c}]);\n    $this->assertSame({sum}, $total);\n}}\n"
            )
        };
        let piece = indent(&names.both(&both, write, "\n"), "    ");
        return Some((insert(text, at, 1, &piece), both.0, both.1));
    }
    if PEST.is_match(text) && !text.trim_end().ends_with("?>") {
        let both = names.spaced();
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            format!(
                "test('{name}', function () {{\n    $total = array_sum([{a}, {b}, {c}]);\n    expect($total)->toBe({sum});\n}});\n"
            )
        };
        let piece = names.both(&both, write, "\n");
        return Some((insert(text, text.len(), 1, &piece), both.0, both.1));
    }
    None
}
