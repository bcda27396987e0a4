//! A JSON object that remembers how it was spelled.

use crate::json;
use crate::json::Style;
use serde_json::{Map, Value};

/// A JSON object with the text it was read from.
///
/// Where a member is changed, only its value's text changes; where nothing is changed, the text is
/// what was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    columns: Map<String, Value>,
    text: String,
}

impl Record {
    /// An object that is written in the given style.
    pub(crate) fn new(columns: Map<String, Value>, style: &Style) -> Self {
        let columns = Value::Object(columns);
        let text = json::render(&columns, style);
        let Value::Object(columns) = columns else {
            return Self {
                columns: Map::new(),
                text,
            };
        };
        Self { columns, text }
    }

    /// An object with its text, which must say the same.
    pub(crate) fn read(columns: Map<String, Value>, text: String) -> Self {
        Self { columns, text }
    }

    pub(crate) fn columns(&self) -> &Map<String, Value> {
        &self.columns
    }

    pub(crate) fn into_columns(self) -> Map<String, Value> {
        self.columns
    }

    pub(crate) fn json(&self) -> &str {
        &self.text
    }

    pub(crate) fn style(&self) -> Style {
        Style::of(&self.text)
    }

    /// Sets a member, in its place if it is there, else at the end.
    pub(crate) fn set(&mut self, column: &str, value: Value) {
        if self.columns.get(column) == Some(&value) {
            return;
        }
        let text = json::insert_or_replace(&self.text, column, &value);
        self.columns.insert(column.to_owned(), value);
        self.text = text.unwrap_or_else(|| self.rendered());
    }

    /// Takes a member out; the others stay in their order.
    pub(crate) fn remove(&mut self, column: &str) -> Option<Value> {
        let value = self.columns.shift_remove(column)?;
        let text = json::without(&self.text, column);
        self.text = text.unwrap_or_else(|| self.rendered());
        Some(value)
    }

    fn rendered(&self) -> String {
        json::render(&Value::Object(self.columns.clone()), &self.style())
    }
}
