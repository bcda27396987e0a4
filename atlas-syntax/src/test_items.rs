//! Items of a Rust source that only tests compile.

use crate::definition::Lines;
use crate::language::{Language, parse};
use crate::{mask, mend};
use tree_sitter::{Node, Tree};

/// Paths of modules longer than this many bytes are not gone into: the text is from outside.
const MAX_PATH: usize = 1000;

/// An item of a Rust source that only tests compile: it has `#[cfg(test)]` or a test's attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestItem {
    /// Keyword and name, as in `mod tests`; the words before the braces for `impl` and `use`; empty for
    /// a macro call.
    pub key: String,
    /// Its lines, attributes and documentation included.
    pub lines: Lines,
}

/// The items of a Rust source that only tests compile, in their order, of the file and of its
/// modules. An item inside another one is a part of that. Left out is one that shares a line with
/// something else.
///
/// Macros are not expanded. Where an error makes it uncertain where such an item ends, nothing comes
/// back.
///
/// ```
/// use atlas_syntax::{Lines, test_items};
/// let items = test_items("fn f() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n").unwrap();
/// assert_eq!((items[0].key.as_str(), items[0].lines), ("mod tests", Lines::new(3, 7)));
/// assert_eq!(items.len(), 1);
/// ```
pub fn test_items(text: &str) -> Option<Vec<TestItem>> {
    // Most sources have none; a look at the letters is much faster than a tree.
    if !["test", "quickcheck", "should_panic"]
        .iter()
        .any(|word| text.contains(word))
    {
        return Some(Vec::new());
    }
    let tree = parse(Language::Rust, text.as_bytes())?;
    let errors = mask::error_bytes(&tree);
    if errors == 0 {
        return items(text, &tree);
    }
    let mended = mend::mend(Language::Rust, text.as_bytes())
        .and_then(|mended| parse(Language::Rust, &mended.text))
        .filter(|mended| mask::error_bytes(mended) < errors);
    let found = items(text, mended.as_ref().unwrap_or(&tree))?;
    let is_known = |line: usize| {
        let line = Lines::new(line, line);
        found.iter().any(|item| item.lines.holds(line))
    };
    test_modules(text).all(is_known).then_some(found)
}

/// The lines, from 1, that look like the head of a module for tests.
fn test_modules(text: &str) -> impl Iterator<Item = usize> {
    let mut is_marked = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim_start();
        is_marked |= line.starts_with("#[cfg(test)]");
        let is_head = is_marked && line.contains("mod ");
        is_marked &= line.starts_with('#') && !is_head;
        is_head.then_some(at + 1)
    })
}

/// What stands above an item.
#[derive(Default)]
struct Above {
    /// The first line of its attributes and documentation, from 0.
    start: Option<usize>,
    is_for_tests: bool,
}

fn items(text: &str, tree: &Tree) -> Option<Vec<TestItem>> {
    let mut found = Vec::new();
    let mut open = vec![(tree.root_node(), 0)];
    while let Some((body, depth)) = open.pop() {
        let mut above = Above::default();
        let mut last: Option<TestItem> = None;
        let mut code_row = None;
        for node in body.children(&mut body.walk()) {
            let (first, end) = (node.start_position().row, node.end_position().row);
            let source = text.get(node.byte_range()).unwrap_or_default();
            let is_comment = matches!(node.kind(), "line_comment" | "block_comment");
            if is_comment && (!source.starts_with("///") || source.starts_with("////")) {
                continue;
            }
            let is_behind = last.as_ref().is_some_and(|item| item.lines.last > first);
            if is_behind && node.kind() == "empty_statement" {
                continue;
            }
            found.extend(last.take().filter(|_| !is_behind));
            if is_comment || node.kind() == "attribute_item" {
                above.start.get_or_insert(first);
                above.is_for_tests |= !is_comment && is_for_tests(source);
                continue;
            }
            let Above {
                start,
                is_for_tests,
            } = std::mem::take(&mut above);
            let start = start.unwrap_or(first);
            if is_for_tests {
                if node.is_error() || !node.is_named() || is_cut_off(node) {
                    return None;
                }
                let lines = Lines::new(start + 1, end + 1);
                let key = key(node, text);
                last = Some(TestItem { key, lines }).filter(|_| code_row != Some(start));
            } else if node.is_error() {
                open.push((node, depth));
            } else if node.kind() == "mod_item"
                && depth < MAX_PATH
                && let Some(inner) = node.child_by_field_name("body")
            {
                let name = node.child_by_field_name("name");
                open.push((
                    inner,
                    depth + 2 + name.map_or(0, |name| name.byte_range().len()),
                ));
            }
            code_row = Some(end);
        }
        found.extend(last);
    }
    found.sort_by_key(|item| item.lines);
    Some(found)
}

/// Whether the sign that ends an item is not there: then it may be longer.
fn is_cut_off(item: Node<'_>) -> bool {
    let mut last = item;
    while let Some(child) = last
        .child_count()
        .checked_sub(1)
        .and_then(|at| last.child(at))
    {
        last = child;
    }
    last.is_missing()
}

/// What an item goes by.
fn key(item: Node<'_>, text: &str) -> String {
    let name = item.child_by_field_name("name");
    let name = name
        .and_then(|name| text.get(name.byte_range()))
        .unwrap_or_default();
    let keyword = match item.kind() {
        "function_item" | "function_signature_item" => "fn",
        "mod_item" => "mod",
        "struct_item" => "struct",
        "enum_item" => "enum",
        "union_item" => "union",
        "trait_item" => "trait",
        "type_item" => "type",
        "static_item" => "static",
        "const_item" => "const",
        "macro_definition" => "macro",
        "impl_item" | "use_declaration" | "extern_crate_declaration" => {
            let visibility = item
                .child(0)
                .filter(|first| first.kind() == "visibility_modifier");
            let start = visibility.map_or(item.start_byte(), |first| first.end_byte());
            let words = text.get(start..item.end_byte()).unwrap_or_default();
            let words = words.split(['{', ';']).next().unwrap_or_default();
            let words: Vec<&str> = words.split_whitespace().take(24).collect();
            return words.join(" ");
        }
        _ => return String::new(),
    };
    format!("{keyword} {name}")
}

fn is_for_tests(attribute: &str) -> bool {
    let inner = attribute.strip_prefix('#').unwrap_or(attribute);
    let inner: String = inner.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = inner
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'));
    inner.is_some_and(|inner| is_cfg_test(inner) || is_test_attribute(inner))
}

/// Whether a `cfg` is true only when tests are compiled: `test`, or `all(…)` with `test` in it.
fn is_cfg_test(attribute: &str) -> bool {
    let within = |text: &str, word: &str| -> Option<String> {
        let inner = text.strip_prefix(word)?.strip_suffix(')')?;
        Some(inner.trim_end_matches(',').to_owned())
    };
    let Some(condition) = within(attribute, "cfg(") else {
        return false;
    };
    let mut depth = 0;
    let is_split = |c| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0 && c == ','
    };
    condition == "test"
        || within(&condition, "all(")
            .is_some_and(|all| all.split(is_split).any(|one| one == "test"))
}

/// Whether an attribute, without white space and brackets, makes a function a test.
pub(crate) fn is_test_attribute(attribute: &str) -> bool {
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
