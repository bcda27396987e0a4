//! Closures: which have a name because of where they stand.

use super::blocks;
use super::{RawDefinition, short_text};
use crate::definition::DefinitionKind;
use crate::language::Language;
use crate::walk::Frame;

/// What a closure is called, and which node is the whole of it.
pub(super) struct Bound {
    pub(super) name: String,
    pub(super) outer: usize,
    pub(super) is_member: bool,
    /// Whether it stands in quotes, so that a dot in it means nothing.
    is_quoted: bool,
}

pub(super) fn find<'t>(
    language: Language,
    path: &[Frame<'t>],
    text: &[u8],
    in_function: bool,
) -> RawDefinition<'t> {
    let at = path.len() - 1;
    let node = path[at].node;
    let body = node
        .child_by_field_name("body")
        .or_else(|| {
            node.named_child(
                u32::try_from(node.named_child_count())
                    .ok()?
                    .checked_sub(1)?,
            )
        })
        .map_or(node.byte_range(), |body| body.byte_range());
    let mut found = RawDefinition {
        kind: DefinitionKind::Closure,
        name: String::new(),
        qualifier: None,
        outer: at,
        node,
        signature_end: body.start,
        body: Some(body),
        holds_methods: false,
    };
    let own_name = node.child_by_field_name("name");
    if let Some(block) = blocks::find(language, path, text) {
        found.kind = block.kind;
        found.name = block.name;
        found.outer = block.outer;
        found.node = path[block.outer].node;
        return found;
    }
    // Elsewhere a closure with a name is a detail of the function around it; in JavaScript it is
    // the usual way to write a function.
    let is_script = matches!(
        language,
        Language::JavaScript | Language::TypeScript | Language::Tsx
    );
    if (is_script || !in_function)
        && language != Language::Ruby
        && let Some(bound) = bound_name(path, text, is_script)
    {
        found.kind = if bound.is_member {
            DefinitionKind::Method
        } else {
            DefinitionKind::Function
        };
        // `a.b.c = …` is `c` of `a.b`; a key in quotes or brackets is one name.
        let (qualifier, name) = match bound.name.rsplit_once('.') {
            Some((qualifier, name)) if !bound.is_quoted && !name.ends_with(']') => {
                (Some(qualifier.to_owned()), name.to_owned())
            }
            _ => (None, bound.name),
        };
        found.qualifier = qualifier;
        found.name = name;
        found.outer = bound.outer;
        found.node = path[bound.outer].node;
    }
    if let Some(own) = own_name {
        found.kind = match found.kind {
            DefinitionKind::Closure => DefinitionKind::Function,
            other => other,
        };
        if found.name.is_empty() {
            found.name = short_text(own, text);
        }
    }
    found
}

/// The name that the last node of the path is assigned to.
pub(super) fn bound_name(path: &[Frame<'_>], text: &[u8], is_script: bool) -> Option<Bound> {
    let mut at = path.len() - 1;
    loop {
        let child = path[at].node;
        at = at.checked_sub(1)?;
        let parent = path[at].node;
        let is_value = |field: &str| parent.child_by_field_name(field) == Some(child);
        let named = |field: &str| {
            let name = parent.child_by_field_name(field)?;
            Some(short_text(name, text))
        };
        let (name, is_member) = match parent.kind() {
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "type_assertion"
            | "expression_list" => continue,
            "variable_declarator" if is_value("name") => return None,
            "variable_declarator" | "var_spec" | "const_item" | "static_item" => {
                (named("name")?, false)
            }
            "init_declarator" if is_value("value") => (named("declarator")?, false),
            "let_declaration" if is_value("value") => (named("pattern")?, false),
            "assignment_expression" | "augmented_assignment_expression" | "assignment"
                if is_value("right") =>
            {
                (named("left")?, false)
            }
            "pair" if is_script && is_value("value") => (named("key")?, true),
            "field_definition" | "public_field_definition" if is_value("value") => {
                (named("property").or_else(|| named("name"))?, true)
            }
            "export_statement" if is_value("value") => ("default".to_owned(), false),
            _ => return None,
        };
        return Some(Bound {
            is_quoted: name.starts_with(['"', '\'']),
            name: name.trim_matches(['"', '\'']).to_owned(),
            outer: statement(path, at),
            is_member,
        });
    }
}

/// The whole statement that binds one name; the binding itself where the statement binds several.
fn statement(path: &[Frame<'_>], mut at: usize) -> usize {
    while at > 0 {
        let parent = path[at - 1].node;
        let is_wrapper = match parent.kind() {
            "expression_statement" | "export_statement" | "ambient_declaration" => true,
            "lexical_declaration"
            | "variable_declaration"
            | "var_declaration"
            | "declaration"
            | "local_declaration_statement"
            | "field_declaration" => {
                let mut cursor = parent.walk();
                let bindings = parent
                    .named_children(&mut cursor)
                    .filter(|child| child.kind() == path[at].node.kind())
                    .count();
                bindings == 1
            }
            _ => false,
        };
        if !is_wrapper {
            break;
        }
        at -= 1;
    }
    at
}
