//! C and C++: names stand inside declarators, and macros look like anything.

use super::{RawDefinition, outermost, short_text, text_of};
use crate::definition::DefinitionKind;
use crate::walk::Frame;
use tree_sitter::Node;

/// The name in a declarator.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) qualifier: Option<String>,
    /// Whether it declares a function, not a variable or a pointer to one.
    pub(crate) is_function: bool,
}

/// Goes down a declarator to its name.
pub(crate) fn declared_name(declarator: Node<'_>, text: &[u8]) -> Option<Declared> {
    let mut is_function = false;
    let mut behind_parentheses = false;
    let mut scopes: Vec<String> = Vec::new();
    let mut next = Some(declarator);
    while let Some(node) = next {
        next = match node.kind() {
            "function_declarator" => {
                is_function = true;
                behind_parentheses = false;
                node.child_by_field_name("declarator")
            }
            "parenthesized_declarator" => {
                behind_parentheses = is_function;
                last_named(node)
            }
            "qualified_identifier" => {
                let scope = node.child_by_field_name("scope");
                scopes.extend(scope.map(|scope| short_text(scope, text)));
                node.child_by_field_name("name")
            }
            "operator_cast" => {
                let target = node.child_by_field_name("type");
                let target = target.map_or_else(String::new, |target| short_text(target, text));
                return Some(Declared {
                    name: format!("operator {target}"),
                    qualifier: joined(&scopes),
                    is_function: true,
                });
            }
            "identifier" | "field_identifier" | "type_identifier" | "operator_name"
            | "destructor_name" | "primitive_type" => {
                return Some(Declared {
                    name: short_text(node, text),
                    qualifier: joined(&scopes),
                    is_function: is_function && !behind_parentheses,
                });
            }
            "template_function" | "template_method" | "template_type" => {
                node.child_by_field_name("name")
            }
            _ => node
                .child_by_field_name("declarator")
                .or_else(|| last_named(node)),
        };
    }
    None
}

fn joined(scopes: &[String]) -> Option<String> {
    (!scopes.is_empty()).then(|| scopes.join("::"))
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    node.named_child(u32::try_from(node.named_child_count().checked_sub(1)?).ok()?)
}

/// A `function_definition`: a function, a test macro with a body, or a class behind a macro that
/// the grammar takes for its name.
pub(super) fn function<'t>(path: &[Frame<'t>], text: &[u8]) -> Option<RawDefinition<'t>> {
    let at = path.len() - 1;
    let node = path[at].node;
    let body = node.child_by_field_name("body").or_else(|| {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .find(|child| matches!(child.kind(), "compound_statement" | "try_statement"))
    });
    let head = node.child_by_field_name("declarator")?;
    let mut kind = DefinitionKind::Function;
    let declared = declared_name(head, text)?;
    let (mut name, mut qualifier) = (declared.name, declared.qualifier);
    if is_statement_word(&name) {
        return None;
    }
    if node.child_by_field_name("type").is_none() && is_macro_name(&name) {
        // What looks like parameters are the arguments of a macro that makes a function.
        (kind, name) = macro_title(&name, parameters(head), text);
        qualifier = None;
    } else if !declared.is_function {
        let of_type = node.child_by_field_name("type");
        let is_class = of_type.is_some_and(|of_type| {
            matches!(
                of_type.kind(),
                "class_specifier" | "struct_specifier" | "union_specifier"
            )
        });
        if is_class {
            kind = DefinitionKind::Type;
        }
    }
    if qualifier.is_some() && kind == DefinitionKind::Function {
        kind = DefinitionKind::Method;
    }
    let mut cursor = node.walk();
    let initialisers = node
        .children(&mut cursor)
        .find(|child| child.kind() == "field_initializer_list");
    let body_start = body.map_or(node.end_byte(), |body| body.start_byte());
    Some(RawDefinition {
        kind,
        name,
        qualifier,
        outer: outermost(path, at),
        node: path[outermost(path, at)].node,
        body: body.map(|body| body.byte_range()),
        signature_end: initialisers.map_or(body_start, |list| list.start_byte()),
        holds_methods: kind == DefinitionKind::Type,
    })
}

/// A declaration of a function without its body.
pub(super) fn prototype<'t>(path: &[Frame<'t>], text: &[u8]) -> Option<RawDefinition<'t>> {
    let at = path.len() - 1;
    let node = path[at].node;
    let declared = declared_name(node.child_by_field_name("declarator")?, text)?;
    declared.is_function.then(|| RawDefinition {
        kind: DefinitionKind::Function,
        name: declared.name,
        qualifier: declared.qualifier,
        outer: outermost(path, at),
        node: path[outermost(path, at)].node,
        body: None,
        signature_end: node.end_byte(),
        holds_methods: false,
    })
}

/// `TEST_CASE("title") { … }` has no shape in the grammar: a call, and behind it a block.
pub(super) fn macro_call<'t>(path: &[Frame<'t>], text: &[u8]) -> Option<RawDefinition<'t>> {
    let at = path.len() - 1;
    let node = path[at].node;
    // Only where definitions stand: looking at siblings in a table of a million calls takes long.
    let around = at.checked_sub(1).map(|parent| path[parent].node.kind())?;
    let is_place = matches!(
        around,
        "translation_unit" | "declaration_list" | "field_declaration_list" | "ERROR"
    ) || around.starts_with("preproc_");
    if !is_place {
        return None;
    }
    let call = if node.kind() == "expression_statement" {
        node.named_child(0)?
    } else {
        node
    };
    let name = text_of(call.child_by_field_name("function")?, text);
    if call.kind() != "call_expression" || !is_macro_name(&name) {
        return None;
    }
    let block = node.next_named_sibling().filter(|next| {
        next.kind() == "compound_statement"
            && next.start_position().row <= node.end_position().row + 1
    })?;
    let (kind, title) = macro_title(&name, call.child_by_field_name("arguments"), text);
    Some(RawDefinition {
        kind,
        name: title,
        qualifier: None,
        outer: at,
        node,
        body: Some(block.byte_range()),
        signature_end: node.end_byte(),
        holds_methods: false,
    })
}

/// The title of a test macro inside of other code, the place of its statement in the path, and the end
/// of its block: `SECTION("…") { … }`.
pub(crate) fn macro_test(path: &[Frame<'_>], text: &[u8]) -> Option<(String, usize, usize)> {
    let call = path.last()?.node;
    if call.kind() != "call_expression" {
        return None;
    }
    let name = text_of(call.child_by_field_name("function")?, text);
    let is_test = ["SECTION", "SCENARIO"].contains(&name.as_str()) || name.starts_with("TEST_CASE");
    if !is_test {
        return None;
    }
    let above = path.len().checked_sub(2)?;
    let at = above + usize::from(path[above].node.kind() != "expression_statement");
    let block = path[at]
        .node
        .next_named_sibling()
        .filter(|next| next.kind() == "compound_statement")?;
    let (_, title) = macro_title(&name, call.child_by_field_name("arguments"), text);
    Some((title, at, block.end_byte()))
}

/// Words with parentheses and a block behind them that the grammar takes for a function where it has
/// lost its way.
fn is_statement_word(name: &str) -> bool {
    matches!(
        name,
        "if" | "else" | "for" | "while" | "do" | "switch" | "catch" | "try" | "return"
    )
}

fn parameters(mut declarator: Node<'_>) -> Option<Node<'_>> {
    loop {
        if let Some(parameters) = declarator.child_by_field_name("parameters") {
            return Some(parameters);
        }
        declarator = declarator.child_by_field_name("declarator")?;
    }
}

fn is_macro_name(name: &str) -> bool {
    name.len() > 2
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// `TEST(Suite, name)` is the test `Suite.name`; `TEST_CASE("title", "[tag]")` is called `title`.
fn macro_title(name: &str, arguments: Option<Node<'_>>, text: &[u8]) -> (DefinitionKind, String) {
    let mut parts = Vec::new();
    if let Some(arguments) = arguments {
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor).take(8) {
            parts.push(short_text(argument, text));
        }
    }
    let is_test = ["TEST", "SCENARIO", "CASE", "SECTION"]
        .iter()
        .any(|word| name.contains(word));
    if !is_test || parts.is_empty() {
        let kind = DefinitionKind::Function;
        return (kind, format!("{name}({})", parts.join(", ")));
    }
    // A title in quotes may stand behind a fixture: `TEST_CASE_METHOD(Fixture, "title")`.
    let quoted = parts.iter().find(|part| part.starts_with('"'));
    let title = quoted.map_or_else(
        || {
            let words = parts.iter().take_while(|part| !part.starts_with('*'));
            // Boost's tests have no suite in their head; what follows their name is a fixture.
            let most = if name.starts_with("BOOST_") { 1 } else { 2 };
            let words: Vec<&str> = words.take(most).map(String::as_str).collect();
            words.join(".")
        },
        |title| title.trim_matches('"').to_owned(),
    );
    (DefinitionKind::Test, title)
}
