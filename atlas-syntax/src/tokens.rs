//! The words of a source by what they are.

use crate::plain::is_comment;
use crate::uses::{is_name, visit};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use tree_sitter::{Node, Tree};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// A name.
    Name,
    /// A text in quotes, with its quotes; one with code inside is one token, and the names inside are too.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
}

/// A word, literal or comment of a source. Signs and words of the language itself are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub bytes: Range<usize>,
    /// It as written; a name without `:` and `@` before it.
    pub text: String,
}

pub(crate) fn tokens(tree: &Tree, text: &[u8], bytes: &Range<usize>) -> Vec<Token> {
    let mut found = Vec::new();
    let mut text_until = 0;
    visit(tree, bytes, |node| {
        if !bytes.contains(&node.start_byte()) {
            return;
        }
        let Some(kind) = kind(node) else { return };
        if kind == TokenKind::Text {
            // Parts of a text that is told already.
            if node.start_byte() < text_until {
                return;
            }
            text_until = node.end_byte();
        }
        let written = text.get(node.byte_range()).unwrap_or_default();
        let written = String::from_utf8_lossy(written);
        let written = match kind {
            TokenKind::Name => written.trim_start_matches([':', '@']),
            _ => &written,
        };
        if !written.is_empty() {
            found.push(Token {
                kind,
                bytes: node.byte_range(),
                text: written.to_owned(),
            });
        }
    });
    found
}

fn kind(node: Node<'_>) -> Option<TokenKind> {
    let kind = node.kind();
    if !node.is_named() {
        return None;
    }
    if is_comment(kind) {
        return Some(TokenKind::Comment);
    }
    if is_name(node) {
        return Some(TokenKind::Name);
    }
    let is_text = matches!(
        kind,
        "string"
            | "encapsed_string"
            | "concatenated_string"
            | "chained_string"
            | "template_string"
            | "heredoc"
            | "heredoc_body"
            | "nowdoc"
            | "regex"
            | "rune_literal"
            | "bare_string"
            | "bare_symbol"
            | "delimited_symbol"
            | "interpolated_string_expression"
            | "text_block"
    ) || kind.ends_with("string_literal")
        || kind.ends_with("char_literal")
        || kind.ends_with("character_literal");
    if is_text {
        return Some(TokenKind::Text);
    }
    let is_number = kind == "integer"
        || kind == "float"
        || kind == "number"
        || [
            "integer_literal",
            "float_literal",
            "int_literal",
            "number_literal",
            "real_literal",
            "floating_point_literal",
            "imaginary_literal",
        ]
        .iter()
        .any(|ending| kind.ends_with(ending));
    is_number.then_some(TokenKind::Number)
}
