//! C and C++.

use super::{ValueKind, Values, children};
use crate::rules::declared_name;
use tree_sitter::Node;

pub(super) fn find(node: Node<'_>, values: &mut Values<'_>) {
    match node.kind() {
        "preproc_def" | "namespace_alias_definition" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.bare(name, ValueKind::Constant);
            }
        }
        "enumerator" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.bare(name, ValueKind::Enumerator);
            }
        }
        "field_declaration" => declared(node, ValueKind::Field, values),
        "declaration" if !values.is_in_body(node) => declared(node, ValueKind::Constant, values),
        "using_declaration" => {
            let named = children(node).into_iter().next_back();
            if let Some(name) = named.map(last_name) {
                values.bare(name, ValueKind::Export);
            }
        }
        _ => {}
    }
}

fn last_name(mut node: Node<'_>) -> Node<'_> {
    while let Some(next) = node.child_by_field_name("name") {
        node = next;
    }
    node
}

fn declared(node: Node<'_>, kind: ValueKind, values: &mut Values<'_>) {
    let mut cursor = node.walk();
    let declarators: Vec<Node<'_>> = node
        .children_by_field_name("declarator", &mut cursor)
        .collect();
    let is_one = declarators.len() == 1;
    for declarator in declarators {
        let Some(declared) = declared_name(declarator, values.text) else {
            continue;
        };
        let Some(name) = name_node(declarator) else {
            continue;
        };
        if declared.is_function {
            continue;
        }
        if is_one {
            let value = declarator
                .child_by_field_name("value")
                .or_else(|| node.child_by_field_name("default_value"));
            let end = value.map_or(node.end_byte(), |value| value.start_byte());
            values.add(name, kind, node, end);
        } else {
            values.bare(name, kind);
        }
    }
}

/// The innermost name of a declarator.
fn name_node(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        if matches!(node.kind(), "identifier" | "field_identifier") {
            return Some(node);
        }
        node = node
            .child_by_field_name("declarator")
            .or_else(|| node.child_by_field_name("name"))
            .or_else(|| children(node).into_iter().next_back())?;
    }
}
