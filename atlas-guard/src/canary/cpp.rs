//! `GoogleTest`, Catch2, doctest, Boost.Test.

use super::names::Names;
use super::{Added, insert};
use regex::Regex;

pub(super) fn add(text: &str, names: &Names) -> Added {
    let has = |pattern: &str| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text));
    let body = |[a, b, c]: [u32; 3], check: &str| {
        format!(
            "{{\n  const int values[] = {{{a}, {b}, {c}}};\n  int total = 0;\n  for (int value : values) {{\n    total += value;\n  }}\n  {check}\n}}\n"
        )
    };
    if has(r"(?m)^\s*TEST(_F|_P)?\s*\(\s*\w+\s*,") && has(r"gtest|gmock|EXPECT_|ASSERT_") {
        let (group, both) = (names.group(), names.pascal());
        let write = |name: &str, values: [u32; 3], sum: u32| {
            let body = body(values, &format!("EXPECT_EQ(total, {sum});"));
            format!("TEST({group}Test, {name}) {body}")
        };
        let piece = names.both(&both, write, "\n");
        let printed = |name: &str| format!("{group}Test.{name}");
        let new = insert(text, text.len(), 1, &piece);
        return Some((new, printed(&both.0), printed(&both.1)));
    }
    if has(r#"(?m)^\s*(TEST_CASE|SCENARIO)\s*\(\s*""#) {
        let both = names.spaced();
        let write = |name: &str, values: [u32; 3], sum: u32| {
            let body = body(values, &format!("CHECK(total == {sum});"));
            format!("TEST_CASE(\"{name}\") {body}")
        };
        let piece = names.both(&both, write, "\n");
        return Some((insert(text, text.len(), 1, &piece), both.0, both.1));
    }
    if has(r"(?m)^\s*BOOST_AUTO_TEST_CASE\s*\(") {
        let both = names.snake();
        let write = |name: &str, values: [u32; 3], sum: u32| {
            let body = body(values, &format!("BOOST_CHECK_EQUAL(total, {sum});"));
            format!("BOOST_AUTO_TEST_CASE({name})\n{body}")
        };
        let piece = names.both(&both, write, "\n");
        return Some((insert(text, text.len(), 1, &piece), both.0, both.1));
    }
    None
}
