//! Blocks given to a test library, and Ruby's `define_method`.

use super::short_text;
use crate::definition::DefinitionKind;
use crate::language::Language;
use crate::walk::Frame;
use tree_sitter::Node;

/// A block that is a test, a suite or a method.
pub(super) struct Block {
    pub(super) kind: DefinitionKind,
    pub(super) name: String,
    pub(super) outer: usize,
}

const SUITES: &[&str] = &[
    "describe",
    "fdescribe",
    "xdescribe",
    "context",
    "fcontext",
    "xcontext",
    "suite",
    "feature",
    "shared_examples",
    "shared_context",
    "shared_examples_for",
];
const TESTS: &[&str] = &[
    "it", "fit", "xit", "test", "xtest", "specify", "example", "scenario", "should",
];
/// Ginkgo's words; `t.Run` is no such word: its closure belongs to the test function around it.
const GO_SUITES: &[&str] = &["Describe", "FDescribe", "PDescribe", "Context", "When"];
const GO_TESTS: &[&str] = &["It", "FIt", "PIt", "Specify"];

/// What the closure at the end of the path is to the call that it is given to.
pub(super) fn find(language: Language, path: &[Frame<'_>], text: &[u8]) -> Option<Block> {
    let at = path.len() - 1;
    let kind_at = |up: usize| at.checked_sub(up).map(|at| path[at].node.kind());
    let call = match language {
        Language::Ruby if kind_at(1) == Some("call") => at - 1,
        Language::JavaScript | Language::TypeScript | Language::Tsx
            if kind_at(1) == Some("arguments") && kind_at(2) == Some("call_expression") =>
        {
            at - 2
        }
        Language::Go
            if kind_at(1) == Some("argument_list") && kind_at(2) == Some("call_expression") =>
        {
            at - 2
        }
        Language::Php
            if kind_at(2) == Some("arguments")
                && kind_at(3) == Some("function_call_expression") =>
        {
            at - 3
        }
        _ => return None,
    };
    let node = path[call].node;
    let words = callee_words(language, node, text);
    let first = node
        .child_by_field_name("arguments")
        .and_then(|arguments| first_argument(arguments));
    let (suites, tests) = if language == Language::Go {
        (GO_SUITES, GO_TESTS)
    } else {
        (SUITES, TESTS)
    };
    let any = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let kind = if language == Language::Ruby && any(&["define_method", "define_singleton_method"]) {
        DefinitionKind::Method
    } else if any(suites) {
        DefinitionKind::Suite
    } else if any(tests) && !words.iter().any(|word| is_hook(word)) {
        DefinitionKind::Test
    } else {
        return None;
    };
    // `pattern.test(x => …)` is no test; Ruby's `it { … }` is one without a title.
    let first = first.filter(|argument| *argument != path[at].node && is_title(*argument));
    if first.is_none() && language != Language::Ruby {
        return None;
    }
    let name = first.map_or_else(|| words.join("."), |title| title_text(title, text));
    Some(Block {
        kind,
        name,
        outer: statement(path, call),
    })
}

/// Whether a word is for what runs around tests: `test.beforeEach`.
fn is_hook(word: &str) -> bool {
    word.starts_with("before") || word.starts_with("after")
}

/// The names in `it.only.each(…)`, outermost object first.
fn callee_words(language: Language, call: Node<'_>, text: &[u8]) -> Vec<String> {
    if language == Language::Ruby {
        // The receiver of `RSpec.describe` says nothing; `thing.context do` is no suite.
        let receiver = call.child_by_field_name("receiver");
        if receiver.is_some_and(|receiver| short_text(receiver, text) != "RSpec") {
            return Vec::new();
        }
        let method = call.child_by_field_name("method");
        return method
            .map(|method| short_text(method, text))
            .into_iter()
            .collect();
    }
    let mut words = Vec::new();
    let mut next = call.child_by_field_name("function");
    while let Some(node) = next {
        next = match node.kind() {
            "member_expression" => {
                let property = node.child_by_field_name("property");
                words.extend(property.map(|property| short_text(property, text)));
                node.child_by_field_name("object")
            }
            "call_expression" => node.child_by_field_name("function"),
            "identifier" | "name" => {
                words.push(short_text(node, text));
                None
            }
            _ => None,
        };
    }
    words.reverse();
    words
}

fn first_argument(arguments: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = arguments.walk();
    let mut first = arguments
        .named_children(&mut cursor)
        .find(|child| !child.is_extra())?;
    if first.kind() == "argument" {
        first = first.named_child(0)?;
    }
    Some(first)
}

/// Whether an argument can be a title: anything but a function or a table of them.
fn is_title(node: Node<'_>) -> bool {
    !matches!(
        node.kind(),
        "arrow_function"
            | "function_expression"
            | "generator_function"
            | "func_literal"
            | "anonymous_function"
            | "object"
            | "array"
    )
}

fn title_text(node: Node<'_>, text: &[u8]) -> String {
    let title = short_text(node, text);
    let title = title.strip_prefix(':').unwrap_or(&title);
    // The title may end with a quotation mark of its own.
    let quotes = ['"', '\'', '`'];
    let title = title.strip_prefix(quotes).unwrap_or(title);
    title.strip_suffix(quotes).unwrap_or(title).to_owned()
}

/// The title of a JavaScript test whose body may be anything, the place of its statement in the path,
/// and its end: `it('…', wrapped(() => …))`, `test.todo('…')`, `client.testWithUser('…', …)`.
pub(crate) fn script_test(path: &[Frame<'_>], text: &[u8]) -> Option<(String, usize, usize)> {
    let at = path.len().checked_sub(2)?;
    let (around, call) = (path[at].node, path[at + 1].node);
    if around.kind() != "expression_statement" || call.kind() != "call_expression" {
        return None;
    }
    let title = first_argument(call.child_by_field_name("arguments")?)?;
    if !matches!(title.kind(), "string" | "template_string") {
        return None;
    }
    let words = callee_words(Language::JavaScript, call, text);
    let (first, rest) = words.split_first()?;
    let is_other = |word: &String| is_hook(word) || SUITES.contains(&word.as_str());
    let is_test = ["it", "test", "specify", "fit", "xit", "xtest"].contains(&first.as_str());
    // A helper of the project's own.
    let is_own = words
        .last()?
        .strip_prefix("test")
        .is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let is_found = is_test && !rest.iter().any(is_other) || is_own;
    is_found.then(|| (title_text(title, text), at, around.end_byte()))
}

fn statement(path: &[Frame<'_>], at: usize) -> usize {
    match at.checked_sub(1).map(|parent| path[parent].node.kind()) {
        Some("expression_statement") => at - 1,
        _ => at,
    }
}
