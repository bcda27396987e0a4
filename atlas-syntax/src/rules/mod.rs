//! What the nodes of each grammar define.

mod blocks;
mod c_family;
mod closures;

pub(crate) use blocks::script_test;
pub(crate) use c_family::{declared_name, macro_test};

use crate::definition::DefinitionKind;
use crate::language::Language;
use crate::walk::Frame;
use tree_sitter::Node;

/// A definition as the tree shows it, before names around it are known.
pub(crate) struct RawDefinition<'t> {
    pub(crate) kind: DefinitionKind,
    pub(crate) name: String,
    /// What the name itself says about its container: a receiver, a qualifier.
    pub(crate) qualifier: Option<String>,
    /// The node that is the whole definition, as a place in the path.
    pub(crate) outer: usize,
    /// The node whose first byte is where the declaration begins.
    pub(crate) node: Node<'t>,
    /// The body's bytes.
    pub(crate) body: Option<std::ops::Range<usize>>,
    /// Where the signature ends.
    pub(crate) signature_end: usize,
    /// Whether functions directly inside are methods.
    pub(crate) holds_methods: bool,
}

/// What a kind of node is, before its surroundings are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Function,
    /// A property or an indexer: a function only if it has code.
    Property,
    Closure,
    Macro,
    Type,
    /// A scope whose functions are methods: `impl`.
    MethodScope,
    Scope,
    /// An expression that may hold the body of a type without a name.
    Anonymous,
    /// A C or C++ function with a declarator.
    Declared,
    /// A C or C++ declaration that may be a prototype.
    Prototype,
    /// A C or C++ statement that may be a macro with a body behind it.
    MacroCall,
}

fn shape(language: Language, kind: &str) -> Option<Shape> {
    use Shape::{
        Anonymous, Closure, Declared, Function, Macro, MacroCall, MethodScope, Property, Prototype,
        Scope, Type,
    };
    Some(match language {
        Language::Python => match kind {
            "function_definition" => Function,
            "lambda" => Closure,
            "class_definition" => Type,
            _ => return None,
        },
        Language::Go => match kind {
            "function_declaration" | "method_declaration" | "method_elem" => Function,
            "func_literal" => Closure,
            "type_spec" | "type_alias" => Type,
            _ => return None,
        },
        Language::Rust => match kind {
            "function_item" | "function_signature_item" => Function,
            "closure_expression" => Closure,
            "macro_definition" => Macro,
            "impl_item" => MethodScope,
            "struct_item" | "enum_item" | "union_item" | "type_item" | "trait_item" => Type,
            "mod_item" => Scope,
            _ => return None,
        },
        Language::Java => match kind {
            "method_declaration"
            | "constructor_declaration"
            | "compact_constructor_declaration" => Function,
            "lambda_expression" => Closure,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration" => Type,
            "object_creation_expression" | "enum_constant" => Anonymous,
            _ => return None,
        },
        Language::CSharp => match kind {
            "method_declaration"
            | "constructor_declaration"
            | "destructor_declaration"
            | "operator_declaration"
            | "conversion_operator_declaration"
            | "local_function_statement" => Function,
            "property_declaration" | "indexer_declaration" | "event_declaration" => Property,
            "lambda_expression" | "anonymous_method_expression" => Closure,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "struct_declaration"
            | "delegate_declaration" => Type,
            "namespace_declaration" => Scope,
            _ => return None,
        },
        Language::Php => match kind {
            "function_definition" | "method_declaration" => Function,
            "anonymous_function" | "anonymous_function_creation_expression" | "arrow_function" => {
                Closure
            }
            "class_declaration"
            | "interface_declaration"
            | "trait_declaration"
            | "enum_declaration" => Type,
            "namespace_definition" => Scope,
            "object_creation_expression" => Anonymous,
            _ => return None,
        },
        Language::Ruby => match kind {
            "method" | "singleton_method" => Function,
            "block" | "do_block" => Closure,
            "class" | "module" => Type,
            "singleton_class" => MethodScope,
            _ => return None,
        },
        Language::JavaScript | Language::TypeScript | Language::Tsx => match kind {
            "function_declaration"
            | "generator_function_declaration"
            | "method_definition"
            | "function_signature"
            | "method_signature"
            | "abstract_method_signature" => Function,
            "arrow_function" | "function_expression" | "generator_function" => Closure,
            "class_declaration"
            | "class"
            | "abstract_class_declaration"
            | "interface_declaration"
            | "type_alias_declaration"
            | "enum_declaration" => Type,
            "internal_module" | "module" => Scope,
            _ => return None,
        },
        Language::C | Language::Cpp => match kind {
            "function_definition" => Declared,
            "declaration" | "field_declaration" => Prototype,
            "lambda_expression" => Closure,
            "preproc_function_def" => Macro,
            "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier"
            | "type_definition" | "alias_declaration" => Type,
            "namespace_definition" => Scope,
            "expression_statement" | "call_expression" => MacroCall,
            _ => return None,
        },
    })
}

/// What the last node of the path defines. `in_function` tells whether a function is around it.
pub(crate) fn find<'t>(
    language: Language,
    path: &[Frame<'t>],
    text: &[u8],
    in_function: bool,
) -> Option<RawDefinition<'t>> {
    let node = path.last()?.node;
    let shape = shape(language, node.kind())?;
    match shape {
        Shape::Function => Some(function(language, path, text)),
        Shape::Property => property(path, text),
        Shape::Closure => Some(closures::find(language, path, text, in_function)),
        Shape::Macro => Some(named(DefinitionKind::Macro, path, text)),
        Shape::Type => type_definition(language, path, text),
        Shape::MethodScope | Shape::Scope => Some(scope(shape, path, text)),
        Shape::Anonymous => anonymous(path, text),
        Shape::Declared => c_family::function(path, text),
        Shape::Prototype | Shape::MacroCall if in_function => None,
        Shape::Prototype => c_family::prototype(path, text),
        Shape::MacroCall => c_family::macro_call(path, text),
    }
}

/// The text of a node, bytes that are no UTF-8 replaced.
fn text_of(node: Node<'_>, text: &[u8]) -> String {
    String::from_utf8_lossy(text.get(node.byte_range()).unwrap_or_default()).into_owned()
}

/// The text of a node on one line, of at most 120 characters; a single word, or a literal, is whole.
fn short_text(node: Node<'_>, text: &[u8]) -> String {
    let range = node.start_byte()..node.end_byte().min(node.start_byte() + 600);
    let lossy = String::from_utf8_lossy(text.get(range).unwrap_or_default()).into_owned();
    if lossy.starts_with(['"', '\'', '`']) && !lossy.contains('\n') {
        return lossy;
    }
    let words: Vec<&str> = lossy.split_whitespace().collect();
    let most = if words.len() == 1 { 600 } else { 120 };
    words.join(" ").chars().take(most).collect()
}

/// The place of the topmost node that still is nothing but this definition.
fn outermost(path: &[Frame<'_>], mut at: usize) -> usize {
    while at > 0 {
        let parent = path[at - 1].node;
        let is_wrapper = match parent.kind() {
            "decorated_definition"
            | "template_declaration"
            | "export_statement"
            | "ambient_declaration"
            | "friend_declaration" => true,
            // Go's, which may hold several in parentheses.
            "type_declaration" => parent.named_child_count() == 1,
            _ => false,
        };
        if !is_wrapper {
            break;
        }
        at -= 1;
    }
    at
}

/// A definition with `name` and `body` fields.
fn named<'t>(kind: DefinitionKind, path: &[Frame<'t>], text: &[u8]) -> RawDefinition<'t> {
    let at = path.len() - 1;
    let node = path[at].node;
    let name = node.child_by_field_name("name");
    let body = node.child_by_field_name("body").or_else(|| {
        node.child_by_field_name("value")
            .filter(|_| kind == DefinitionKind::Macro)
    });
    let head_end = match (kind, name) {
        // The rules of `macro_rules!` are its body, though they are no field.
        (DefinitionKind::Macro, Some(name)) => node
            .child_by_field_name("parameters")
            .unwrap_or(name)
            .end_byte(),
        _ => node.end_byte(),
    };
    let body_start = body.map_or(head_end, |body| body.start_byte());
    RawDefinition {
        kind,
        name: name.map_or_else(String::new, |name| short_text(name, text)),
        qualifier: None,
        outer: outermost(path, at),
        node,
        body: match kind {
            DefinitionKind::Macro => Some(body_start..node.end_byte()),
            _ => body.map(|body| body.byte_range()),
        },
        signature_end: body_start,
        holds_methods: false,
    }
}

fn function<'t>(language: Language, path: &[Frame<'t>], text: &[u8]) -> RawDefinition<'t> {
    let mut found = named(DefinitionKind::Function, path, text);
    let node = found.node;
    match node.kind() {
        "method_declaration" if language == Language::Go => {
            found.kind = DefinitionKind::Method;
            found.qualifier = node
                .child_by_field_name("receiver")
                .map(|receiver| receiver_type(&text_of(receiver, text)));
        }
        "method" | "singleton_method" => ruby_method(&mut found, text),
        "operator_declaration" => {
            if let Some(operator) = node.child_by_field_name("operator") {
                found.name = format!("operator {}", short_text(operator, text));
            }
        }
        "conversion_operator_declaration" => {
            if let Some(target) = node.child_by_field_name("type") {
                found.name = format!("operator {}", short_text(target, text));
            }
        }
        "method_definition" => found.kind = DefinitionKind::Method,
        "destructor_declaration" => found.name = format!("~{}", found.name),
        _ => {}
    }
    found
}

/// `(s *Server[T])` is of `Server`.
fn receiver_type(receiver: &str) -> String {
    let inner = receiver.trim_matches(['(', ')']);
    let inner = inner.split('[').next().unwrap_or(inner);
    let last = inner.split_whitespace().next_back().unwrap_or(inner);
    last.trim_start_matches('*').to_owned()
}

/// A Ruby method may have no body at all, and is a definition nevertheless.
fn ruby_method(found: &mut RawDefinition<'_>, text: &[u8]) {
    let node = found.node;
    if let Some(object) = node.child_by_field_name("object") {
        found.name = format!("{}.{}", short_text(object, text), found.name);
    }
    let head = node
        .child_by_field_name("parameters")
        .or_else(|| node.child_by_field_name("name"));
    found.signature_end = head.map_or(node.end_byte(), |head| head.end_byte());
    if found.body.is_none() {
        found.body = Some(found.signature_end..node.end_byte());
    }
}

/// A C# property or indexer with code; one that only stores is no function.
fn property<'t>(path: &[Frame<'t>], text: &[u8]) -> Option<RawDefinition<'t>> {
    let mut found = named(DefinitionKind::Method, path, text);
    let node = found.node;
    let accessors = node.child_by_field_name("accessors");
    let arrow = |node: Node<'_>| {
        let mut cursor = node.walk();
        node.children(&mut cursor)
            .any(|child| child.kind() == "arrow_expression_clause")
    };
    let has_code = accessors.is_some_and(|list| {
        let mut cursor = list.walk();
        list.children(&mut cursor).any(|accessor| {
            accessor.kind() == "accessor_declaration"
                && (accessor.child_by_field_name("body").is_some() || arrow(accessor))
        })
    });
    if !has_code && !arrow(node) {
        return None;
    }
    let body = accessors.or_else(|| node.child_by_field_name("value"))?;
    if node.kind() == "indexer_declaration" {
        "this[]".clone_into(&mut found.name);
    }
    found.body = Some(body.byte_range());
    found.signature_end = body.start_byte();
    Some(found)
}

fn type_definition<'t>(
    language: Language,
    path: &[Frame<'t>],
    text: &[u8],
) -> Option<RawDefinition<'t>> {
    let mut found = named(DefinitionKind::Type, path, text);
    let node = found.node;
    found.holds_methods = true;
    match node.kind() {
        // `struct s *p` names a type and defines none.
        "class_specifier" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
            found.body.as_ref()?;
            if found.name.is_empty() && path.len() > 1 {
                let parent = path[path.len() - 2].node;
                if parent.kind() == "type_definition" {
                    return None;
                }
            }
            found.holds_methods = node.kind() != "enum_specifier";
        }
        "type_definition" => {
            let declarator = node.child_by_field_name("declarator")?;
            found.name = c_family::declared_name(declarator, text)
                .map_or_else(|| short_text(declarator, text), |declared| declared.name);
        }
        "type_spec" if language == Language::Go => {
            let value = node.child_by_field_name("type");
            found.body = value.map(|value| value.byte_range());
            let end = value.map_or(node.end_byte(), |value| {
                let structured = matches!(value.kind(), "struct_type" | "interface_type");
                if structured {
                    brace(value, text)
                } else {
                    value.end_byte()
                }
            });
            found.signature_end = end;
        }
        "class" if found.name.is_empty() => {
            if let Some(bound) = closures::bound_name(path, text, true) {
                found.name = bound.name;
                found.outer = bound.outer;
            }
        }
        // Ruby's body begins behind the superclass, on a line of its own.
        "module" if language == Language::Ruby => found.holds_methods = true,
        _ => {}
    }
    if language == Language::Ruby {
        let head = node
            .child_by_field_name("superclass")
            .or_else(|| node.child_by_field_name("name"));
        found.signature_end = head.map_or(node.end_byte(), |head| head.end_byte());
    }
    Some(found)
}

/// Whether this is `typedef struct a { … } b`, whose members are of `a`.
pub(crate) fn is_alias_of_named(node: Node<'_>) -> bool {
    let of = node.child_by_field_name("type");
    node.kind() == "type_definition"
        && of.is_some_and(|of| {
            of.child_by_field_name("name").is_some() && of.child_by_field_name("body").is_some()
        })
}

/// Where the first brace of a node stands, or its end.
fn brace(node: Node<'_>, text: &[u8]) -> usize {
    let bytes = text.get(node.byte_range()).unwrap_or_default();
    let place = bytes.iter().position(|byte| *byte == b'{');
    place.map_or(node.end_byte(), |place| node.start_byte() + place)
}

fn scope<'t>(shape: Shape, path: &[Frame<'t>], text: &[u8]) -> RawDefinition<'t> {
    let mut found = named(DefinitionKind::Scope, path, text);
    found.holds_methods = shape == Shape::MethodScope;
    match found.node.kind() {
        "impl_item" => {
            let of = found.node.child_by_field_name("type");
            let name = of.map_or_else(String::new, |of| short_text(of, text));
            name.split('<')
                .next()
                .unwrap_or(&name)
                .clone_into(&mut found.name);
        }
        "internal_module" | "module" => {
            found.name = found.name.trim_matches(['"', '\'']).to_owned();
        }
        _ => {}
    }
    found
}

/// The body of a type without a name takes the name of what it is made of.
fn anonymous<'t>(path: &[Frame<'t>], text: &[u8]) -> Option<RawDefinition<'t>> {
    let at = path.len() - 1;
    let node = path[at].node;
    let mut cursor = node.walk();
    let body = node
        .children(&mut cursor)
        .find(|child| matches!(child.kind(), "class_body" | "anonymous_class"))?;
    let name = node
        .child_by_field_name("name")
        .or_else(|| node.child_by_field_name("type"))
        .map_or_else(|| "class".to_owned(), |name| short_text(name, text));
    let is_constant = node.kind() == "enum_constant";
    Some(RawDefinition {
        kind: DefinitionKind::Scope,
        name: if is_constant {
            name
        } else {
            format!("({name})")
        },
        qualifier: None,
        outer: at,
        node,
        body: Some(body.byte_range()),
        signature_end: body.start_byte(),
        holds_methods: true,
    })
}
