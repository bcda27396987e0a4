//! YAML as far as `task.yaml` needs it.

use super::folders::quoted;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

/// Lists and maps within each other.
const MAX_DEPTH: usize = 64;

/// Reads a mapping; nothing where the text is none, or uses aliases. Keys that `is_text` names keep
/// the spelling of their value; elsewhere plain scalars are null, booleans and numbers.
pub(crate) fn read(text: &str, is_text: &dyn Fn(&str) -> bool) -> Option<Map<String, Value>> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.ok()?;
        let done = match event {
            Event::Scalar(text, style, ..) => {
                let is_key = matches!(open.last(), Some(Open::Map(_, None)));
                let top = match open.as_slice() {
                    [Open::Map(_, key), ..] => key.as_deref().is_some_and(is_text),
                    _ => false,
                };
                if style == ScalarStyle::Plain && !is_key && !top {
                    plain(&text)
                } else {
                    Value::String(text.into_owned())
                }
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop()? {
                Open::List(items) => Value::Array(items),
                Open::Map(map, _) => Value::Object(map),
            },
            Event::Alias(_) => return None,
            _ => continue,
        };
        if open.len() > MAX_DEPTH {
            return None;
        }
        match open.last_mut() {
            None => {
                return match done {
                    Value::Object(map) => Some(map),
                    _ => None,
                };
            }
            Some(Open::List(items)) => items.push(done),
            Some(Open::Map(map, key)) => match key.take() {
                Some(key) => {
                    map.insert(key, done);
                }
                None => {
                    *key = Some(match done {
                        Value::String(text) => text,
                        other => other.to_string(),
                    });
                }
            },
        }
    }
    None
}

enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
}

/// A plain scalar by YAML's core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return true.into(),
        "false" | "False" | "FALSE" => return false.into(),
        _ => {}
    }
    if let Ok(number) = text.parse::<i64>() {
        return number.into();
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
        && text.contains(|c: char| c.is_ascii_digit());
    match text
        .parse()
        .ok()
        .filter(|_| is_number)
        .and_then(Number::from_f64)
    {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

/// A value on one line. Texts are in double quotes unless nothing could mistake them.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline_quoted).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(_) => inline_quoted(value),
        other => other.to_string(),
    }
}

fn inline_quoted(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) => inline(value),
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), inline_quoted(value)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether a text is itself without quotes, for every reader of YAML.
fn is_plain(text: &str) -> bool {
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.len() <= 120
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
        && !words.contains(&text.to_ascii_lowercase().as_str())
}
