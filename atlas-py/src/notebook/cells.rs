//! JSON values as what people read in a cell.

use atlas_report::Cell;
use serde_json::Value;

/// A value in a table; `is_verdict` says that true is good news.
pub(super) fn cell(value: Option<&Value>, is_verdict: bool) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Missing,
        Some(Value::Bool(true)) if is_verdict => Cell::Good("yes".to_owned()),
        Some(Value::Bool(false)) if is_verdict => Cell::Bad("no".to_owned()),
        Some(Value::Bool(truth)) => Cell::Text(if *truth { "yes" } else { "no" }.to_owned()),
        Some(number @ Value::Number(_)) => Cell::Number(said(number)),
        Some(Value::String(text)) => Cell::of(text),
        Some(Value::Array(items)) if items.is_empty() => Cell::Missing,
        Some(Value::Array(items)) if items.len() == 1 => Cell::of(&said(&items[0])),
        Some(Value::Array(items)) => Cell::Folded {
            said: format!("{} items", items.len()),
            text: items.iter().map(said).collect::<Vec<_>>().join("\n"),
        },
        Some(Value::Object(fields)) if fields.is_empty() => Cell::Missing,
        Some(Value::Object(fields)) => Cell::Folded {
            said: format!("{} fields", fields.len()),
            text: fields
                .iter()
                .map(|(name, value)| format!("{name}: {}", said(value)))
                .collect::<Vec<_>>()
                .join("\n"),
        },
    }
}

/// A value in words: of a list how many, unless it is short.
pub(super) fn said(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(real) if number.is_f64() => {
                let text = format!("{real:.3}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => number.to_string(),
        },
        Value::String(text) => text.clone(),
        // A line of evidence is read as one.
        Value::Object(fields) if fields.contains_key("source") && fields.contains_key("text") => {
            let line = fields.get("line").filter(|line| !line.is_null());
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            format!(
                "{}{line}: {}",
                said(&fields["source"]),
                said(&fields["text"])
            )
        }
        Value::Object(_) => value.to_string(),
        Value::Array(items) => match items.as_slice() {
            [] => "none".to_owned(),
            [one] => said(one),
            more if more
                .iter()
                .all(|item| !item.is_array() && !item.is_object())
                && more.len() <= 4 =>
            {
                more.iter().map(said).collect::<Vec<_>>().join(", ")
            }
            more => format!("{} items", more.len()),
        },
    }
}
