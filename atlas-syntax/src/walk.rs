//! Walking a tree of any depth without recursion.

use tree_sitter::Node;

/// A node on the way from the root, with what was seen before it.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'t> {
    pub(crate) node: Node<'t>,
    /// First byte of the comments and attributes that belong to the node, or its own first byte.
    pub(crate) attached: usize,
    /// Comments and attributes among the node's children so far that nothing has claimed: their
    /// first byte, and the row on which they end.
    run: Option<(usize, usize)>,
    /// Row on which the node's latest child that is no comment ends.
    code_row: Option<usize>,
}

/// Calls `visit` with the path to every named node, parents first. The subtree of a node for which
/// it answers `false` is left out.
pub(crate) fn walk<'t>(root: Node<'t>, mut visit: impl FnMut(&[Frame<'t>]) -> bool) {
    let mut cursor = root.walk();
    let mut path = vec![Frame {
        node: root,
        attached: root.start_byte(),
        run: None,
        code_row: None,
    }];
    let mut descend = visit(&path);
    loop {
        if descend && cursor.goto_first_child() {
            let frame = enter(&mut path, cursor.node());
            path.push(frame);
        } else {
            loop {
                path.pop();
                if path.is_empty() {
                    return;
                }
                if cursor.goto_next_sibling() {
                    let frame = enter(&mut path, cursor.node());
                    path.push(frame);
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
        let node = cursor.node();
        descend = node.child_count() > 0 && (!node.is_named() || visit(&path));
    }
}

/// The frame of the next child of the last node of the path.
fn enter<'t>(path: &mut [Frame<'t>], node: Node<'t>) -> Frame<'t> {
    let mut attached = node.start_byte();
    let start = node.start_position().row;
    let end = end_row(node);
    if let Some(parent) = path.last_mut() {
        let follows = |run: &(usize, usize)| start <= run.1 + 1;
        if attaches(node.kind()) {
            // A comment behind code on the same line belongs to that code.
            if parent.code_row != Some(start) {
                let first = parent.run.filter(follows).map_or(attached, |run| run.0);
                parent.run = Some((first, end));
            }
        } else {
            if let Some((first, _)) = parent.run.take().filter(follows) {
                attached = first;
            } else if node.start_byte() == parent.node.start_byte() {
                attached = parent.attached;
            }
            if node.end_byte() > node.start_byte() {
                parent.code_row = Some(end);
            }
        }
    }
    Frame {
        node,
        attached,
        run: None,
        code_row: None,
    }
}

/// The row of the last character: some grammars count the line end behind a node to it.
fn end_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row {
        end.row - 1
    } else {
        end.row
    }
}

/// Whether nodes of this kind belong to what follows them.
fn attaches(kind: &str) -> bool {
    matches!(
        kind,
        "comment"
            | "line_comment"
            | "block_comment"
            | "attribute_item"
            | "decorator"
            | "attribute_declaration"
    )
}
