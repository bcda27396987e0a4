//! `RSpec`, minitest, test-unit.

use super::names::Names;
use super::{Added, indent, insert};
use regex::Regex;
use std::sync::LazyLock;

pub(super) fn add(parser: &str, text: &str, names: &Names) -> Added {
    static CLASS: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?m)^\s*class\s+[\w:]+\s*<\s*((?:::)?(?:Minitest::Test|MiniTest::Test|MiniTest::Unit::TestCase|Test::Unit::TestCase|ActiveSupport::TestCase))\b",
        )
    });
    static SPEC: LazyLock<Regex> =
        LazyLock::new(|| regex(r"(?m)^\s*(?:RSpec\.)?(?:describe|context|feature)\b.*\bdo\b"));
    // What stands behind `__END__` is data.
    let at = regex(r"(?m)^__END__\r?$")
        .find(text)
        .map_or(text.len(), |end| end.start());
    let (pass, fail) = names.snake();
    if let Some(class) = CLASS.captures(text) {
        let both = (format!("test_{pass}"), format!("test_{fail}"));
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            format!("def {name}\n  total = [{a}, {b}, {c}].sum\n  assert_equal {sum}, total\nend\n")
        };
        let tests = indent(&names.both(&both, write, "\n"), "  ");
        let piece = format!("class {}Test < {}\n{tests}end\n", names.group(), &class[1]);
        return Some((insert(text, at, 1, &piece), both.0, both.1));
    }
    if !SPEC.is_match(text) {
        return None;
    }
    let spaced = names.spaced();
    let spec = |assertion: &str| {
        let write = |name: &str, [a, b, c]: [u32; 3], sum: u32| {
            let check = assertion.replace("SUM", &sum.to_string());
            format!("it \"{name}\" do\n  total = [{a}, {b}, {c}].sum\n  {check}\nend\n")
        };
        indent(&names.both(&spaced, write, "\n"), "  ")
    };
    match parser {
        "minitest" => {
            let tests = spec("_(total).must_equal SUM");
            let piece = format!("describe \"{}\" do\n{tests}end\n", names.group_words());
            // Numbered in the order they are written, from 1 in each block.
            let (first, second) = if names.pass_first { (1, 2) } else { (2, 1) };
            let pass = format!("test_{first:04}_{}", spaced.0);
            let fail = format!("test_{second:04}_{}", spaced.1);
            Some((insert(text, at, 1, &piece), pass, fail))
        }
        "rspec" => {
            let tests = spec("expect(total).to eq(SUM)");
            let piece = format!(
                "RSpec.describe \"{}\" do\n{tests}end\n",
                names.group_words()
            );
            Some((
                insert(text, at, 1, &piece),
                spaced.0.clone(),
                spaced.1.clone(),
            ))
        }
        _ => None,
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of this file")
}
