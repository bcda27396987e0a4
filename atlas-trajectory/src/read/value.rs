//! Looking into JSON values of others.

use super::ReadError;
use serde_json::{Map, Value};

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn some_text(value: &Value, name: &str) -> Option<String> {
    Some(text(value, name).to_owned()).filter(|text| !text.is_empty())
}

pub(super) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// A list that must be there.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], ReadError> {
    let found = value.get(name).and_then(Value::as_array);
    found
        .map(Vec::as_slice)
        .ok_or_else(|| ReadError::new(name, "a list is wanted"))
}

/// An entry that must be an object.
pub(super) fn object<'a>(
    value: &'a Value,
    field: &str,
) -> Result<&'a Map<String, Value>, ReadError> {
    value
        .as_object()
        .ok_or_else(|| ReadError::new(field, "an object is wanted"))
}

/// Arguments of a call: APIs write them as JSON in a text. A text that is none is kept under `raw`.
pub(super) fn arguments(value: &Value) -> Value {
    match value {
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .filter(Value::is_object)
            .unwrap_or_else(|| serde_json::json!({ "raw": text })),
        Value::Null => Value::Object(Map::new()),
        other => other.clone(),
    }
}

/// Copies fields that are there.
pub(super) fn keep(from: &Value, names: &[&str], into: &mut Map<String, Value>) {
    for name in names {
        if let Some(value) = from.get(*name).filter(|value| !value.is_null()) {
            into.insert((*name).to_owned(), value.clone());
        }
    }
}
