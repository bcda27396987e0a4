//! Java, C#, Go and Rust.

use super::{ValueKind, Values, above, children};
use crate::walk::Frame;
use tree_sitter::Node;

pub(super) fn java(path: &[Frame<'_>], values: &mut Values<'_>) {
    let Some(node) = above(path, 0) else { return };
    match node.kind() {
        "field_declaration" | "constant_declaration" => variables(node, node, values),
        "enum_constant" => name_of(node, ValueKind::Enumerator, values),
        "annotation_type_element_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "formal_parameter"
            if above(path, 2).is_some_and(|one| one.kind() == "record_declaration") =>
        {
            name_of(node, ValueKind::Field, values);
        }
        _ => {}
    }
}

pub(super) fn csharp(path: &[Frame<'_>], values: &mut Values<'_>) {
    let Some(node) = above(path, 0) else { return };
    match node.kind() {
        "field_declaration" | "event_field_declaration" => {
            for inner in children(node) {
                if inner.kind() == "variable_declaration" {
                    variables(inner, node, values);
                }
            }
        }
        "property_declaration" | "event_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "enum_member_declaration" => name_of(node, ValueKind::Enumerator, values),
        "parameter" if above(path, 2).is_some_and(|one| one.kind() == "record_declaration") => {
            name_of(node, ValueKind::Field, values);
        }
        _ => {}
    }
}

fn name_of(node: Node<'_>, kind: ValueKind, values: &mut Values<'_>) {
    if let Some(name) = node.child_by_field_name("name") {
        values.bare(name, kind);
    }
}

/// The variables of a declaration; `whole` has the modifiers.
fn variables(list: Node<'_>, whole: Node<'_>, values: &mut Values<'_>) {
    let all = children(list).into_iter();
    let all: Vec<Node<'_>> = all
        .filter(|one| one.kind() == "variable_declarator")
        .collect();
    for one in &all {
        let Some(name) = one.child_by_field_name("name") else {
            continue;
        };
        if all.len() == 1 {
            let end = one
                .child_by_field_name("dimensions")
                .map_or(name.end_byte(), |dimensions| dimensions.end_byte());
            values.add(name, ValueKind::Field, whole, end);
        } else {
            values.bare(name, ValueKind::Field);
        }
    }
}

pub(super) fn go(node: Node<'_>, values: &mut Values<'_>) {
    let kind = match node.kind() {
        "const_spec" | "var_spec" if !values.is_in_body(node) => ValueKind::Constant,
        "field_declaration" => ValueKind::Field,
        _ => return,
    };
    let mut cursor = node.walk();
    let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
    match &names[..] {
        [] => {
            // An embedded type is a field of its name.
            let of = node.child_by_field_name("type");
            let of = of.map(|of| of.child_by_field_name("name").unwrap_or(of));
            if let Some(name) = of.filter(|of| of.kind().ends_with("identifier")) {
                values.bare(name, kind);
            }
        }
        [name] => values.declared(*name, kind, node),
        _ => names.into_iter().for_each(|name| values.bare(name, kind)),
    }
}

pub(super) fn rust(node: Node<'_>, values: &mut Values<'_>) {
    match node.kind() {
        "const_item" | "static_item" | "associated_type" if !values.is_in_body(node) => {
            if let Some(name) = node.child_by_field_name("name") {
                values.declared(name, ValueKind::Constant, node);
            }
        }
        "field_declaration" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "enum_variant" => {
            if let Some(name) = node.child_by_field_name("name") {
                let end = node
                    .child_by_field_name("value")
                    .map_or(node.end_byte(), |value| value.start_byte());
                values.add(name, ValueKind::Enumerator, node, end);
            }
        }
        "use_declaration" => {
            let is_public = children(node)
                .iter()
                .any(|child| child.kind() == "visibility_modifier");
            if let (true, Some(argument)) = (is_public, node.child_by_field_name("argument")) {
                used(argument, values);
            }
        }
        _ => {}
    }
}

/// The names that `use` gives on.
fn used(argument: Node<'_>, values: &mut Values<'_>) {
    let mut open = vec![argument];
    while let Some(node) = open.pop() {
        match node.kind() {
            "identifier" => values.bare(node, ValueKind::Export),
            "use_as_clause" => open.extend(node.child_by_field_name("alias")),
            "scoped_identifier" => open.extend(node.child_by_field_name("name")),
            "scoped_use_list" => open.extend(node.child_by_field_name("list")),
            "use_list" => open.extend(children(node)),
            _ => {}
        }
    }
}
