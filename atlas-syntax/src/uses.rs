//! Names and calls in a part of a source.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What is called, without what it is called on: `add` in `list.add(1)`.
    pub name: String,
    /// The whole callee as written: `list.add`.
    pub callee: String,
    /// The bytes of the call.
    pub bytes: Range<usize>,
    /// The bytes of its arguments one by one, names of keyword arguments included.
    pub arguments: Vec<Range<usize>>,
    /// Line of its first byte, from 1.
    pub line: usize,
}

/// Visits the nodes that meet `bytes`, parents first.
pub(crate) fn visit<'t>(tree: &'t Tree, bytes: &Range<usize>, mut each: impl FnMut(Node<'t>)) {
    let mut cursor = tree.root_node().walk();
    loop {
        let node = cursor.node();
        let meets = node.start_byte() < bytes.end && node.end_byte() > bytes.start;
        if meets {
            each(node);
        }
        if meets && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

pub(crate) fn identifiers(tree: &Tree, text: &[u8], bytes: &Range<usize>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    visit(tree, bytes, |node| {
        if is_name(node) && inside(node, bytes) {
            names.insert(
                text_of(node, text)
                    .trim_start_matches([':', '@'])
                    .to_owned(),
            );
        }
    });
    names.remove("");
    names
}

/// Whether a node is a name.
pub(crate) fn is_name(node: Node<'_>) -> bool {
    let kind = node.kind();
    let is_name = kind.ends_with("identifier")
        || matches!(
            kind,
            "constant" | "name" | "instance_variable" | "simple_symbol"
        );
    is_name && node.child_count() == 0
}

fn inside(node: Node<'_>, bytes: &Range<usize>) -> bool {
    node.start_byte() >= bytes.start && node.end_byte() <= bytes.end
}

fn text_of(node: Node<'_>, text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(node.byte_range()).unwrap_or_default()).into_owned()
}

pub(crate) fn calls(tree: &Tree, text: &[u8], bytes: &Range<usize>) -> Vec<Call> {
    let mut calls = Vec::new();
    visit(tree, bytes, |node| {
        if !bytes.contains(&node.start_byte()) {
            return;
        }
        let Some((name, start, end)) = callee(node) else {
            return;
        };
        let callee = text.get(start..end).unwrap_or_default();
        calls.push(Call {
            name: text_of(last_name(name), text),
            callee: String::from_utf8_lossy(callee).into_owned(),
            bytes: node.byte_range(),
            arguments: arguments(node),
            line: node.start_position().row + 1,
        });
    });
    calls
}

/// The node that names what is called, and the bytes of the whole callee.
fn callee(node: Node<'_>) -> Option<(Node<'_>, usize, usize)> {
    let field = |name: &str| node.child_by_field_name(name);
    let whole = |name: Node<'_>| (name.start_byte(), name.end_byte());
    match node.kind() {
        "call" | "call_expression" | "invocation_expression" | "function_call_expression"
            if field("function").is_some() =>
        {
            let function = field("function")?;
            let (start, end) = whole(function);
            Some((function, start, end))
        }
        // Ruby's.
        "call" => {
            let method = field("method")?;
            let start = field("receiver").unwrap_or(method).start_byte();
            Some((method, start, method.end_byte()))
        }
        "method_invocation"
        | "member_call_expression"
        | "nullsafe_member_call_expression"
        | "scoped_call_expression" => {
            let name = field("name")?;
            let object = field("object").or_else(|| field("scope")).unwrap_or(name);
            Some((name, object.start_byte(), name.end_byte()))
        }
        "macro_invocation" => {
            let name = field("macro")?;
            let (start, end) = whole(name);
            Some((name, start, end))
        }
        "new_expression" | "object_creation_expression" => {
            let name = field("constructor")
                .or_else(|| field("type"))
                .or_else(|| node.named_child(0))?;
            let (start, end) = whole(name);
            Some((name, start, end))
        }
        _ => None,
    }
}

/// The last name of `a.b::c`.
fn last_name(mut node: Node<'_>) -> Node<'_> {
    loop {
        let next = ["attribute", "property", "field", "name", "function"]
            .iter()
            .find_map(|field| node.child_by_field_name(field));
        match next {
            // C#'s `D<int>` has its name without a field.
            None if node.kind() == "generic_name" => return node.named_child(0).unwrap_or(node),
            Some(next) => node = next,
            None => return node,
        }
    }
}

fn arguments(call: Node<'_>) -> Vec<Range<usize>> {
    let Some(list) = call.child_by_field_name("arguments") else {
        return Vec::new();
    };
    let mut cursor = list.walk();
    list.named_children(&mut cursor)
        .filter(|child| !child.is_extra())
        .map(|child| child.byte_range())
        .collect()
}
