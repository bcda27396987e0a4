//! Tables of any length, which the page's script filters, sorts, searches and pages through.

use crate::shell;
use maud::{Markup, html};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

/// What stands in a column, and so how it is shown and sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// One of few words: a reader can choose one.
    Choice,
    /// A name.
    Name,
    /// A sentence.
    Text,
    /// A number.
    Number,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Column {
    key: &'static str,
    label: &'static str,
    kind: Kind,
}

pub(crate) const fn column(key: &'static str, label: &'static str, kind: Kind) -> Column {
    Column { key, label, kind }
}

/// What a row shows when it is opened.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct More {
    title: String,
    text: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

impl More {
    pub(crate) fn text(title: &str, text: &str) -> Self {
        Self::new(title, text, "text")
    }

    pub(crate) fn lines(title: &str, text: &str) -> Self {
        Self::new(title, text, "lines")
    }

    pub(crate) fn diff(title: &str, text: &str) -> Self {
        Self::new(title, text, "diff")
    }

    /// A link within what is served; the address is made of a name by [`crate::address`].
    pub(crate) fn link(title: &str, text: &str, link: String) -> Self {
        Self {
            link: Some(link),
            ..Self::new(title, text, "text")
        }
    }

    fn new(title: &str, text: &str, kind: &'static str) -> Self {
        Self {
            title: shell::clean(title),
            text: shell::clean(text),
            kind,
            link: None,
        }
    }
}

/// A row: its name in addresses, its cells in the order of the columns, and what opens below it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) cells: Vec<Value>,
    /// Column -> `good`, `bad` or `warn`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) tones: BTreeMap<&'static str, &'static str>,
    /// Written apart, a line each, so that a browser reads what is opened and no more.
    #[serde(rename = "opens", serialize_with = "whether_any")]
    pub(crate) more: Vec<More>,
}

fn whether_any<S: Serializer>(more: &[More], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!more.is_empty())
}

/// A table for the script.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct DataTable<'a> {
    pub(crate) caption: &'a str,
    pub(crate) columns: &'a [Column],
    pub(crate) rows: Vec<Row>,
}

impl DataTable<'_> {
    /// The place of the table, and its data.
    pub(crate) fn markup(&self, id: &str) -> Markup {
        html! {
            div data-table=(id) { noscript { p { "This table needs the page's own script." } } }
            (shell::data(&format!("data-{id}"), std::slice::from_ref(self)))
            (shell::data(&format!("more-{id}"), self.rows.iter().map(|row| &row.more)))
        }
    }
}

/// A short table that needs no script: heads, whether each is a number, and rows of texts.
pub(crate) fn plain(caption: &str, heads: &[(&str, bool)], rows: &[Vec<String>]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for (head, number) in heads { th.n[*number] scope="col" { (head) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (cell, (_, number)) in row.iter().zip(heads) { td.n[*number] { (shell::clean(cell)) } } }
                    }
                }
            }
        }
    }
}
