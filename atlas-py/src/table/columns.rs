//! JSON objects as Arrow columns.

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// A row: its columns, and before them its name where no column has it.
pub(crate) struct RowView<'a> {
    pub(crate) named: Option<(&'static str, &'a str)>,
    pub(crate) columns: &'a Map<String, Value>,
}

/// What values of a column have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing but null.
    Null,
    Bool,
    Int,
    Float,
    Text,
    /// Lists of texts.
    Texts,
    /// Objects, other lists, and values of several kinds: texts as they are, the rest as JSON.
    Json,
}

impl Kind {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_i64() => Self::Int,
            Value::Number(_) => Self::Float,
            Value::String(_) => Self::Text,
            Value::Array(items) if items.iter().all(Value::is_string) => Self::Texts,
            Value::Array(_) | Value::Object(_) => Self::Json,
        }
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Null, other) | (other, Self::Null) => other,
            (Self::Int, Self::Float) | (Self::Float, Self::Int) => Self::Float,
            _ => Self::Json,
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Texts => DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))),
            Self::Null | Self::Text | Self::Json => DataType::Utf8,
        }
    }
}

/// The columns of rows, in the order in which they appear first.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    kinds: Vec<Kind>,
    pub(super) schema: SchemaRef,
}

impl Columns {
    pub(super) fn of<'a>(rows: impl Iterator<Item = RowView<'a>>) -> Self {
        let (mut names, mut kinds): (Vec<&str>, Vec<Kind>) = <_>::default();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut seen = |name: &'a str, kind: Kind| {
            let place = *places.entry(name).or_insert_with(|| {
                names.push(name);
                kinds.push(Kind::Null);
                kinds.len() - 1
            });
            kinds[place] = kinds[place].with(kind);
        };
        for row in rows {
            if let Some((name, _)) = row.named {
                seen(name, Kind::Text);
            }
            for (name, value) in row.columns {
                seen(name, Kind::of(value));
            }
        }
        let fields = names.iter().zip(&kinds);
        let fields = fields.map(|(name, kind)| Field::new(*name, kind.data_type(), true));
        Self {
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            kinds,
        }
    }

    pub(super) fn names(&self) -> Vec<&str> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.name().as_str()).collect()
    }

    pub(super) fn batch(&self, rows: &[RowView<'_>]) -> Result<RecordBatch, ArrowError> {
        let columns = self.names().into_iter().zip(&self.kinds);
        let columns = columns.map(|(name, kind)| column(*kind, name, rows));
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect())
    }
}

fn column(kind: Kind, name: &str, rows: &[RowView<'_>]) -> ArrayRef {
    let values = rows.iter().map(|row| row.columns.get(name));
    match kind {
        Kind::Bool => {
            let mut built = BooleanBuilder::with_capacity(rows.len());
            values.for_each(|value| built.append_option(value.and_then(Value::as_bool)));
            Arc::new(built.finish())
        }
        Kind::Int => {
            let mut built = Int64Builder::with_capacity(rows.len());
            values.for_each(|value| built.append_option(value.and_then(Value::as_i64)));
            Arc::new(built.finish())
        }
        Kind::Float => {
            let mut built = Float64Builder::with_capacity(rows.len());
            values.for_each(|value| built.append_option(value.and_then(Value::as_f64)));
            Arc::new(built.finish())
        }
        Kind::Texts => {
            let mut built = ListBuilder::new(StringBuilder::new());
            for value in values {
                let items = value.and_then(Value::as_array);
                let texts = items.map(|items| items.iter().map(Value::as_str));
                built.append_option(texts);
            }
            Arc::new(built.finish())
        }
        Kind::Null | Kind::Text | Kind::Json => {
            let mut built = StringBuilder::new();
            for (row, value) in rows.iter().zip(values) {
                let named = row.named.filter(|(named, _)| *named == name);
                match (named, value) {
                    (Some((_, text)), _) => built.append_value(text),
                    (None, None | Some(Value::Null)) => built.append_null(),
                    (None, Some(Value::String(text))) => built.append_value(text),
                    (None, Some(value)) => built.append_value(value.to_string()),
                }
            }
            Arc::new(built.finish())
        }
    }
}

/// About how many bytes a row's columns take.
pub(super) fn size(row: &RowView<'_>) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len() + 8,
            Value::Array(items) => items.iter().map(of).sum::<usize>() + 8,
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| key.len() + of(value))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        }
    }
    row.columns.values().map(of).sum()
}
