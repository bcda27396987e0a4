//! Rows as a table whose columns have one type each.
//!
//! Objects have other keys in each row, and a column of a table cannot: they stand in it as JSON. So do lists of anything but texts, and
//! columns in which rows hold values of several kinds.

use atlas_formats::Row;
use serde_json::{Map, Value};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// Nothing in any row.
    Empty,
    Bool,
    Int,
    Float,
    Text,
    Texts,
    /// JSON as text.
    Json,
}

impl ColumnKind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_i64() => Self::Int,
            Value::Number(number) if number.is_f64() => Self::Float,
            Value::String(_) => Self::Text,
            Value::Array(items) if items.iter().all(Value::is_string) => Self::Texts,
            _ => Self::Json,
        }
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Empty, one) | (one, Self::Empty) => one,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Self::Float,
            (one, other) if one == other => one,
            _ => Self::Json,
        }
    }
}

/// The columns of rows, in the order in which they come up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Table(Vec<(String, ColumnKind)>);

impl Table {
    /// Takes a row into account.
    pub(super) fn add(&mut self, row: &Row) {
        for (name, value) in row.columns() {
            let kind = ColumnKind::of(value);
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = known.with(kind),
                None => self.0.push((name.clone(), kind)),
            }
        }
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, ColumnKind)> {
        self.0.iter().map(|(name, kind)| (name.as_str(), *kind))
    }

    /// The row as a row of the table: every column is there.
    pub(super) fn row(&self, row: &Row) -> Map<String, Value> {
        let cell = |(name, kind): &(String, ColumnKind)| {
            let value = match (kind, row.get(name)) {
                (_, None | Some(Value::Null)) => Value::Null,
                (ColumnKind::Json, Some(value)) => Value::from(value.to_string()),
                (ColumnKind::Float, Some(value)) => value.as_f64().map_or(Value::Null, Value::from),
                (_, Some(value)) => value.clone(),
            };
            (name.clone(), value)
        };
        self.0.iter().map(cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_column_has_one_type() {
        let rows: Vec<Row> = [
            r#"{"instance_id":"a","n":1,"l":["x"],"o":{"k":1},"m":1,"e":null}"#,
            r#"{"instance_id":"b","n":1.5,"l":[],"o":{},"m":"x","late":true}"#,
        ]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
        let mut table = Table::default();
        for row in &rows {
            table.add(row);
        }
        assert_eq!(
            Value::from(table.row(&rows[0])),
            json!({"instance_id":"a","n":1.0,"l":["x"],"o":"{\"k\":1}","m":"1","e":null,"late":null})
        );
        assert_eq!(table.row(&rows[1])["m"], "\"x\"");
        assert_eq!(table.row(&rows[1])["n"], 1.5);
    }
}
