//! Code without its comments.

use std::ops::Range;
use tree_sitter::Node;

/// Whether nodes of this kind are comments.
pub(crate) fn is_comment(kind: &str) -> bool {
    matches!(
        kind,
        "comment" | "line_comment" | "block_comment" | "html_comment" | "doc_comment"
    )
}

/// The text of a part of a source with a space in the place of each comment, on one line; `within` is a
/// node of the part, by which its tree is found.
pub(crate) fn without_comments(text: &[u8], bytes: Range<usize>, within: Node<'_>) -> String {
    let kept = outside_of_comments(text, bytes, within);
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a part of a source with a space in the place of each comment.
pub(crate) fn outside_of_comments(text: &[u8], bytes: Range<usize>, within: Node<'_>) -> String {
    let mut top = within;
    // Each step up takes as long as the tree is deep, so none is taken that need not be.
    while top.start_byte() > bytes.start || bytes.end > top.end_byte() {
        let Some(parent) = top.parent() else { break };
        top = parent;
    }
    let mut kept = Vec::new();
    let mut from = bytes.start;
    for comment in comments(top, &bytes) {
        if comment.start > from {
            kept.extend_from_slice(text.get(from..comment.start).unwrap_or_default());
        }
        kept.push(b' ');
        from = from.max(comment.end);
    }
    kept.extend_from_slice(text.get(from..bytes.end).unwrap_or_default());
    String::from_utf8_lossy(&kept).into_owned()
}

/// The bytes of the comments that begin in a part, in their order.
fn comments(top: Node<'_>, bytes: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut cursor = top.walk();
    loop {
        let node = cursor.node();
        if node.start_byte() >= bytes.end {
            return found;
        }
        let meets = node.end_byte() > bytes.start;
        let is_comment = meets && is_comment(node.kind());
        if is_comment && bytes.contains(&node.start_byte()) {
            found.push(node.start_byte()..node.end_byte().min(bytes.end));
        }
        if meets && !is_comment && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}
