//! Python, Ruby, PHP, JavaScript and TypeScript.

use super::{ValueKind, Values, above, children};
use crate::walk::Frame;
use std::collections::BTreeSet;
use tree_sitter::Node;

pub(super) fn python(node: Node<'_>, values: &mut Values<'_>) {
    match node.kind() {
        "assignment" => {
            let Some(left) = node.child_by_field_name("left") else {
                return;
            };
            match left.kind() {
                "identifier" if !values.is_in_body(node) => {
                    let end = node.child_by_field_name("type").unwrap_or(left).end_byte();
                    values.add(left, ValueKind::Constant, node, end);
                }
                "pattern_list" if !values.is_in_body(node) => {
                    for name in children(left) {
                        if name.kind() == "identifier" {
                            values.bare(name, ValueKind::Constant);
                        }
                    }
                }
                "attribute" => {
                    let object = left.child_by_field_name("object");
                    let is_own = object.is_some_and(|object| {
                        matches!(values.text_of(object).as_str(), "self" | "cls")
                    });
                    if let (true, Some(name)) = (is_own, left.child_by_field_name("attribute")) {
                        values.bare(name, ValueKind::Field);
                    }
                }
                _ => {}
            }
        }
        "type_alias_statement" => {
            let left = node.child_by_field_name("left");
            let name = left.and_then(|left| left.named_child(0)).or(left);
            if let (Some(left), Some(name)) = (left, name) {
                values.add(name, ValueKind::Constant, node, left.end_byte());
            }
        }
        "import_from_statement" if !values.is_in_body(node) => {
            let mut cursor = node.walk();
            let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
            for name in names {
                let name = name.child_by_field_name("alias").unwrap_or(name);
                values.bare(name, ValueKind::Import);
            }
        }
        _ => {}
    }
}

pub(super) fn ruby(node: Node<'_>, values: &mut Values<'_>) {
    match node.kind() {
        "assignment" => {
            let Some(left) = node.child_by_field_name("left") else {
                return;
            };
            if left.kind() == "constant" {
                values.bare(left, ValueKind::Constant);
            }
        }
        "alias" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.bare(name, ValueKind::Field);
            }
        }
        "call" => ruby_call(node, values),
        _ => {}
    }
}

/// Calls that make methods out of symbols.
fn ruby_call(node: Node<'_>, values: &mut Values<'_>) {
    let method = node.child_by_field_name("method");
    let receiver = node.child_by_field_name("receiver");
    let text = |node: Option<Node<'_>>| node.map_or_else(String::new, |node| values.text_of(node));
    // How many arguments stand before the names, and how many names there are.
    let (skipped, taken) = match (text(receiver).as_str(), text(method).as_str()) {
        (
            "",
            "attr_reader" | "attr_writer" | "attr_accessor" | "attr" | "delegate"
            | "module_function",
        )
        | ("Struct", "new")
        | ("Data", "define") => (0, usize::MAX),
        ("", "alias_method") => (0, 1),
        ("", "def_delegator") => (1, 1),
        ("", "def_delegators") => (1, usize::MAX),
        _ => return,
    };
    let Some(arguments) = node.child_by_field_name("arguments") else {
        return;
    };
    let symbols = children(arguments);
    for name in symbols.into_iter().skip(skipped).take(taken) {
        if matches!(name.kind(), "simple_symbol" | "string") {
            values.bare(name, ValueKind::Field);
        }
    }
}

pub(super) fn php(path: &[Frame<'_>], values: &mut Values<'_>) {
    let Some(node) = above(path, 0) else { return };
    match node.kind() {
        "property_element" => {
            if let (Some(name), Some(whole)) = (node.child_by_field_name("name"), above(path, 1)) {
                values.add(name, ValueKind::Field, whole, name.end_byte());
            }
        }
        "const_element" => {
            if let Some(name) = node.named_child(0) {
                values.bare(name, ValueKind::Constant);
            }
        }
        "enum_case" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.bare(name, ValueKind::Enumerator);
            }
        }
        "property_promotion_parameter" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "function_call_expression" => {
            let function = node.child_by_field_name("function");
            let is_define = function.is_some_and(|name| values.text_of(name) == "define");
            let first = node
                .child_by_field_name("arguments")
                .and_then(|list| list.named_child(0))
                .and_then(|first| first.named_child(0));
            if let (true, Some(name)) = (is_define, first) {
                values.bare(name, ValueKind::Constant);
            }
        }
        _ => {}
    }
}

pub(super) fn script(path: &[Frame<'_>], values: &mut Values<'_>) {
    let Some(node) = above(path, 0) else { return };
    match node.kind() {
        "variable_declarator" if !values.is_in_body(node) => variable(node, values),
        "field_definition" | "public_field_definition" | "property_signature" => {
            let name = node.child_by_field_name("name");
            if let Some(name) = name.or_else(|| node.child_by_field_name("property")) {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "required_parameter" | "optional_parameter" => {
            // `constructor(readonly a: string)` makes a field.
            let is_field = children(node).iter().any(|child| {
                matches!(child.kind(), "accessibility_modifier" | "override_modifier")
            }) || values.text_of(node).starts_with("readonly ");
            if let (true, Some(name)) = (is_field, node.child_by_field_name("pattern")) {
                values.declared(name, ValueKind::Field, node);
            }
        }
        "enum_assignment" => {
            if let Some(name) = node.child_by_field_name("name") {
                values.bare(name, ValueKind::Enumerator);
            }
        }
        "enum_body" => {
            for child in children(node) {
                if child.kind() == "property_identifier" {
                    values.bare(child, ValueKind::Enumerator);
                }
            }
        }
        "export_specifier" => {
            let name = node.child_by_field_name("alias");
            if let Some(name) = name.or_else(|| node.child_by_field_name("name")) {
                values.bare(name, ValueKind::Export);
            }
        }
        "namespace_export" => {
            if let Some(name) = node.named_child(0) {
                values.bare(name, ValueKind::Export);
            }
        }
        "object" if !values.is_in_body(node) && is_offered(path, values) => {
            let kind = kind_of_keys(above(path, 1), values);
            for child in children(node) {
                let key = child.child_by_field_name("key");
                if child.kind() == "shorthand_property_identifier" {
                    values.bare(child, kind);
                } else if let Some(key) = key {
                    values.bare(key, kind);
                }
            }
        }
        "export_statement" => {
            if let Some(word) = default_word(node) {
                values.bare(word, ValueKind::Export);
            }
        }
        "assignment_expression" => assignment(node, values),
        _ => {}
    }
}

/// How many nodes around an object are looked at.
const AROUND: usize = 12;

/// Whether an object outside of functions is one that others see: exported at once, or under a name that
/// the source exports.
fn is_offered(path: &[Frame<'_>], values: &Values<'_>) -> bool {
    path.iter().rev().take(AROUND).any(|frame| {
        let left = || frame.node.child_by_field_name("left");
        match frame.node.kind() {
            "export_statement" => true,
            "assignment_expression" => {
                left().is_some_and(|left| left.kind() == "member_expression")
            }
            "variable_declarator" => frame
                .node
                .child_by_field_name("name")
                .is_some_and(|name| values.exported.contains(&values.text_of(name))),
            _ => false,
        }
    })
}

/// The words of `export default a`, `module.exports = a`, `export { a }`, looked for as text.
pub(super) fn exported(text: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(text);
    let mut is_open = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        let is_list = line.trim_start().starts_with("export {");
        if is_list
            || is_open
            || line.trim_start().starts_with("export ")
            || line.contains("exports")
        {
            let words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$');
            found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        is_open = (is_list || is_open) && !line.contains('}');
    }
    found
}

/// A key of the object that is exported is a name of the module.
fn kind_of_keys(around: Option<Node<'_>>, values: &Values<'_>) -> ValueKind {
    let is_exported = around.is_some_and(|around| {
        around.kind() == "assignment_expression"
            && around
                .child_by_field_name("left")
                .is_some_and(|left| values.text_of(left).ends_with("exports"))
    });
    if is_exported {
        ValueKind::Export
    } else {
        ValueKind::Field
    }
}

/// The word `default` of an export that has it.
fn default_word(export: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = export.walk();
    export
        .children(&mut cursor)
        .find(|child| child.kind() == "default")
}

fn variable(node: Node<'_>, values: &mut Values<'_>) {
    let Some(name) = node.child_by_field_name("name") else {
        return;
    };
    match name.kind() {
        "identifier" => {
            let end = node.child_by_field_name("type").unwrap_or(name).end_byte();
            values.add(name, ValueKind::Constant, node, end);
        }
        "object_pattern" => {
            for one in children(name) {
                let one = one.child_by_field_name("value").unwrap_or(one);
                if one.kind().ends_with("identifier") || one.kind().ends_with("identifier_pattern")
                {
                    values.bare(one, ValueKind::Constant);
                }
            }
        }
        _ => {}
    }
}

/// `exports.a = …`, `module.exports = …`, `this.a = …`, `A.prototype.a = …`, `A.a = …` outside of functions.
fn assignment(node: Node<'_>, values: &mut Values<'_>) {
    let left = node.child_by_field_name("left");
    let Some(left) = left.filter(|left| left.kind() == "member_expression") else {
        return;
    };
    let (Some(object), Some(name)) = (
        left.child_by_field_name("object"),
        left.child_by_field_name("property"),
    ) else {
        return;
    };
    let object = values.text_of(object);
    let field = values.text_of(name);
    match (object.as_str(), field.as_str()) {
        ("module", "exports") => {
            // Its keys are told as those of any object; what is exported is told as the default.
            values.found.push(super::NamedValue {
                name: "default".to_owned(),
                kind: ValueKind::Export,
                bytes: name.byte_range(),
                signature: String::new(),
            });
        }
        ("exports" | "module.exports", _) => values.bare(name, ValueKind::Export),
        ("this", _) => values.bare(name, ValueKind::Field),
        _ if object.ends_with(".prototype") || !values.is_in_body(node) => {
            values.bare(name, ValueKind::Field);
        }
        _ => {}
    }
}
