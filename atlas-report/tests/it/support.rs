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

/// The data of the page's script under a name.
pub(crate) fn data(html: &str, id: &str) -> serde_json::Value {
    let id = format!("data-{id}");
    let all = elements(html);
    let script = all
        .iter()
        .find(|one| one.attributes.get("id") == Some(&id))
        .unwrap();
    serde_json::from_str(&script.text).unwrap()
}
