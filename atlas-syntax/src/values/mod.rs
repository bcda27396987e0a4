//! Names that hold values: what a source offers beside functions and types.

mod c_family;
mod managed;
mod scripts;

use crate::definition::Definition;
use crate::language::Language;
use crate::plain::without_comments;
use crate::walk::{Frame, walk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// What kind of name it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A constant or variable outside of functions; a macro without parameters.
    Constant,
    /// A part of something: a field, property, attribute, accessor or key of an object.
    Field,
    /// A value of an enumeration.
    Enumerator,
    /// A name that is given on from elsewhere: `pub use`, `export { a }`. The name of a default export is
    /// `default`.
    Export,
    /// A name that is brought in from elsewhere, where others may take it from here too: Python's imports.
    Import,
}

/// A name that holds a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedValue {
    /// The name, without signs such as `$`, `@` or `:`.
    pub name: String,
    /// What it is.
    pub kind: ValueKind,
    /// The bytes of the name.
    pub bytes: Range<usize>,
    /// Name, type and modifiers on one line, without the value and comments; empty where there is nothing
    /// but the name.
    pub signature: String,
}

/// What is collected, and what is asked on the way.
struct Values<'a> {
    text: &'a [u8],
    /// Bodies of functions, in their order, none within another.
    bodies: Vec<Range<usize>>,
    /// Words of the lines by which a script gives names on.
    exported: BTreeSet<String>,
    found: Vec<NamedValue>,
}

pub(crate) fn values(
    language: Language,
    tree: &Tree,
    text: &[u8],
    definitions: &[Definition],
) -> Vec<NamedValue> {
    let mut values = Values {
        text,
        bodies: bodies(definitions),
        exported: match language {
            Language::JavaScript | Language::TypeScript | Language::Tsx => scripts::exported(text),
            _ => BTreeSet::new(),
        },
        found: Vec::new(),
    };
    walk(tree.root_node(), |path| {
        let Some(frame) = path.last() else {
            return false;
        };
        match language {
            Language::Python => scripts::python(frame.node, &mut values),
            Language::Ruby => scripts::ruby(frame.node, &mut values),
            Language::Php => scripts::php(path, &mut values),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                scripts::script(path, &mut values);
            }
            Language::Java => managed::java(path, &mut values),
            Language::CSharp => managed::csharp(path, &mut values),
            Language::Go => managed::go(frame.node, &mut values),
            Language::Rust => managed::rust(frame.node, &mut values),
            Language::C | Language::Cpp => c_family::find(frame.node, &mut values),
        }
        true
    });
    values.found
}

fn bodies(definitions: &[Definition]) -> Vec<Range<usize>> {
    let callable = definitions.iter().filter(|one| one.kind.is_callable());
    let mut all: Vec<Range<usize>> = callable.filter_map(|one| one.body.clone()).collect();
    all.sort_by_key(|body| (body.start, std::cmp::Reverse(body.end)));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for body in all {
        match merged.last_mut() {
            Some(last) if body.start < last.end => last.end = last.end.max(body.end),
            _ => merged.push(body),
        }
    }
    merged
}

impl Values<'_> {
    fn is_in_body(&self, node: Node<'_>) -> bool {
        let at = node.start_byte();
        let place = self.bodies.partition_point(|body| body.end <= at);
        self.bodies.get(place).is_some_and(|body| body.start <= at)
    }

    fn text_of(&self, node: Node<'_>) -> String {
        let bytes = self.text.get(node.byte_range()).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    }

    /// A name by itself.
    fn bare(&mut self, name: Node<'_>, kind: ValueKind) {
        self.add(name, kind, name, name.start_byte());
    }

    /// A name with its declaration up to a place as its signature.
    fn add(&mut self, name: Node<'_>, kind: ValueKind, whole: Node<'_>, end: usize) {
        let text = self.text_of(name);
        let plain = text
            .trim_start_matches(['$', '@', ':'])
            .trim_end_matches(':');
        let plain = plain.trim_matches(['"', '\'']);
        if plain.is_empty() || plain.len() > 200 || plain.contains(char::is_whitespace) {
            return;
        }
        let signature = without_comments(self.text, whole.start_byte()..end, whole);
        let signature = signature.trim_end_matches([';', ',', '=', ':', '{']).trim();
        // Java's annotations.
        let signature = signature.strip_suffix(" default").unwrap_or(signature);
        let is_more = signature != plain && !signature.is_empty();
        self.found.push(NamedValue {
            name: plain.to_owned(),
            kind,
            bytes: name.byte_range(),
            signature: if is_more {
                signature.to_owned()
            } else {
                String::new()
            },
        });
    }

    /// A declaration of one name whose value, if it has any, is not told.
    fn declared(&mut self, name: Node<'_>, kind: ValueKind, whole: Node<'_>) {
        let value = [
            "value",
            "right",
            "default_value",
            "accessors",
            "body",
            "tag",
        ]
        .iter()
        .filter_map(|field| whole.child_by_field_name(field))
        .map(|value| value.start_byte())
        .min();
        self.add(name, kind, whole, value.unwrap_or(whole.end_byte()));
    }
}

/// The named children.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The kind of the node `up` steps above the last of the path.
fn above<'t>(path: &[Frame<'t>], up: usize) -> Option<Node<'t>> {
    path.len()
        .checked_sub(up + 1)
        .and_then(|at| path.get(at))
        .map(|frame| frame.node)
}
