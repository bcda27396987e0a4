//! Reading a page: its elements, as an HTML parser builds them.

use html5ever::tendril::TendrilSink as _;
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use std::collections::BTreeMap;

/// An element of a page.
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: BTreeMap<String, String>,
    /// The text directly in it.
    pub(crate) text: String,
}

/// All elements of a page, in order.
pub(crate) fn elements(html: &str) -> Vec<Element> {
    let dom =
        html5ever::parse_document(RcDom::default(), html5ever::ParseOpts::default()).one(html);
    let mut found = Vec::new();
    collect(&dom.document, &mut found);
    found
}

fn collect(node: &Handle, found: &mut Vec<Element>) {
    if let NodeData::Element { name, attrs, .. } = &node.data {
        let attributes = attrs
            .borrow()
            .iter()
            .map(|one| (one.name.local.to_string(), one.value.to_string()))
            .collect();
        let mut text = String::new();
        for child in node.children.borrow().iter() {
            if let NodeData::Text { contents } = &child.data {
                text.push_str(&contents.borrow());
            }
        }
        found.push(Element {
            name: name.local.to_string(),
            attributes,
            text,
        });
    }
    for child in node.children.borrow().iter() {
        collect(child, found);
    }
}

/// A table of a page, as its script reads it; each row with what it opens to under `more`.
pub(crate) fn data(html: &str, id: &str) -> serde_json::Value {
    let all = elements(html);
    let text = |name: String| {
        &all.iter()
            .find(|one| one.attributes.get("id") == Some(&name))
            .unwrap()
            .text
    };
    let mut table: serde_json::Value = serde_json::from_str(text(format!("data-{id}"))).unwrap();
    let rows = table["rows"].as_array_mut().unwrap();
    let more: Vec<&str> = text(format!("more-{id}")).lines().collect();
    assert_eq!(rows.len(), more.len());
    for (row, more) in rows.iter_mut().zip(more) {
        row["more"] = serde_json::from_str(more).unwrap();
        assert_eq!(row["opens"], !row["more"].as_array().unwrap().is_empty());
    }
    table
}
