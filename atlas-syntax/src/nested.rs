//! Rust items inside macro calls: `proptest! { fn f() {} }`.

use crate::language::Language;
use crate::walk::walk;
use tree_sitter::{Parser, Range, Tree};

/// How deep macro calls inside macro calls are read.
const ROUNDS: usize = 3;

/// The trees of macro calls that hold functions, places as in the whole source.
pub(crate) fn trees(text: &[u8], tree: Option<&Tree>) -> Vec<Tree> {
    let mut parser = Parser::new();
    if parser.set_language(&Language::Rust.grammar()).is_err() {
        return Vec::new();
    }
    let mut all: Vec<Tree> = Vec::new();
    let mut round: Vec<Range> = tree.map(|tree| bodies(text, tree)).unwrap_or_default();
    for _ in 0..ROUNDS {
        let mut next = Vec::new();
        for range in std::mem::take(&mut round) {
            if parser.set_included_ranges(&[range]).is_err() {
                continue;
            }
            let Some(inner) = parser.parse(text, None) else {
                continue;
            };
            next.extend(bodies(text, &inner));
            all.push(inner);
        }
        round = next;
    }
    all
}

/// What stands between the braces of macro calls with a `fn` inside.
fn bodies(text: &[u8], tree: &Tree) -> Vec<Range> {
    let mut ranges = Vec::new();
    walk(tree.root_node(), |path| {
        let Some(node) = path.last().map(|frame| frame.node) else {
            return false;
        };
        if node.kind() != "token_tree" {
            // The rules of `macro_rules!` hold tokens too, but no functions of this source.
            return node.kind() != "macro_definition";
        }
        let is_call = path.len() > 1 && path[path.len() - 2].node.kind() == "macro_invocation";
        let inner = text.get(node.byte_range()).unwrap_or_default();
        if is_call && inner.starts_with(b"{") && inner.windows(4).any(|four| four[1..] == *b"fn ") {
            let (start, end) = (node.start_position(), node.end_position());
            ranges.push(Range {
                start_byte: node.start_byte() + 1,
                end_byte: node.end_byte().saturating_sub(1),
                start_point: tree_sitter::Point::new(start.row, start.column + 1),
                end_point: tree_sitter::Point::new(end.row, end.column.saturating_sub(1)),
            });
        }
        false
    });
    ranges
}
