//! One view on the rows of all schemas.

use super::fields::{Column, Field, Form, Need, columns};
use super::{folders, multi, r2e};
use crate::json;
use crate::json::Style;
use crate::literal::{read_literal, write_literal};
use crate::reverse::reverse;
use crate::schema::Schema;
use atlas_core::Patch;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// SWE-bench Pro's images differ by their tag only.
const PRO_IMAGES: &str = "jefzda/sweap-images:";

/// What a task has. Lists are lists of texts, the gold patch makes the solution.
pub(crate) type View = BTreeMap<Field, Value>;

/// How a list of texts was spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Spelling {
    List,
    Json,
    Python,
}

/// Reads a list of texts: a list, a JSON list in a text, a Python list in a text.
pub(crate) fn read_list(value: &Value) -> Option<(Vec<String>, Spelling)> {
    let texts = |value: &Value| {
        value
            .as_array()?
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    };
    match value {
        Value::Array(_) => texts(value).map(|items| (items, Spelling::List)),
        Value::String(text) => {
            if let Ok(list) = serde_json::from_str(text) {
                texts(&list).map(|items| (items, Spelling::Json))
            } else {
                let list = read_literal(text).ok()?;
                texts(&list).map(|items| (items, Spelling::Python))
            }
        }
        _ => None,
    }
}

/// An object, or a text that holds one as JSON or as a Python literal.
fn read_object(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) => serde_json::from_str(text)
            .ok()
            .or_else(|| read_literal(text).ok())
            .filter(Value::is_object),
        _ => None,
    }
}

/// What a row says. Columns that hold something unexpected say nothing.
pub(crate) fn read(row: &Map<String, Value>, schema: Schema) -> View {
    match schema {
        Schema::MultiSwebench => multi::read(row),
        Schema::R2e => r2e::read(row),
        Schema::SwebenchV5TaskRepo | Schema::HarborTask => {
            read_flat(&folders::flat(row, schema), schema)
        }
        _ => read_flat(row, schema),
    }
}

pub(super) fn read_flat(row: &Map<String, Value>, schema: Schema) -> View {
    let mut view = View::new();
    for column in columns(schema) {
        let Some(value) = row.get(column.name).filter(|value| !value.is_null()) else {
            continue;
        };
        if let Some(value) = decode(column, value) {
            view.entry(column.field).or_insert(value);
        }
    }
    view
}

fn decode(column: &Column, value: &Value) -> Option<Value> {
    match column.form {
        // A pull request's number is a text in some rows, a number in others.
        Form::Text if column.field == Field::Number && value.is_number() => {
            Some(value.to_string().into())
        }
        Form::Text => value.is_string().then(|| value.clone()),
        Form::Any => Some(value.clone()),
        Form::List | Form::JsonList | Form::PythonList => {
            // A lone command is a list of one; a lone test id is no list.
            let commands = matches!(column.field, Field::TestCommands | Field::BuildCommands);
            read_list(value).map(|(items, _)| items.into()).or_else(|| {
                (commands && value.is_string()).then(|| Value::Array(vec![value.clone()]))
            })
        }
        Form::Object | Form::JsonObject => read_object(value),
        Form::ProTag => {
            let tag = value.as_str()?;
            Some(format!("{PRO_IMAGES}{tag}").into())
        }
        Form::Reversed => {
            let turned = reverse(&Patch::new(value.as_str()?)).ok()?;
            turned.as_text().ok().map(Into::into)
        }
    }
}

/// A row of this schema that says what the view says, and the required columns that were left empty.
pub(crate) fn write(view: &View, schema: Schema) -> (Map<String, Value>, Vec<&'static str>) {
    let mut missing = Vec::new();
    let row = match schema {
        Schema::MultiSwebench => multi::write(view, &mut missing),
        Schema::R2e => r2e::write(view, &mut missing),
        Schema::SwebenchV5TaskRepo | Schema::HarborTask => {
            folders::files(&write_flat(view, schema, &mut missing), schema)
        }
        _ => write_flat(view, schema, &mut missing),
    };
    (row, missing)
}

pub(super) fn write_flat(
    view: &View,
    schema: Schema,
    missing: &mut Vec<&'static str>,
) -> Map<String, Value> {
    let mut row = Map::new();
    for column in columns(schema) {
        if column.need == Need::Read {
            continue;
        }
        match view
            .get(&column.field)
            .and_then(|value| encode(column, value))
        {
            Some(value) => {
                row.insert(column.name.to_owned(), value);
            }
            None if column.need.is_written() => {
                missing.push(column.name);
                row.insert(column.name.to_owned(), empty(column.form));
            }
            None => {}
        }
    }
    row
}

fn empty(form: Form) -> Value {
    match form {
        Form::List => Value::Array(Vec::new()),
        Form::JsonList | Form::PythonList => "[]".into(),
        Form::Object => Value::Object(Map::new()),
        Form::JsonObject => "{}".into(),
        Form::Text | Form::Any | Form::ProTag | Form::Reversed => "".into(),
    }
}

fn encode(column: &Column, value: &Value) -> Option<Value> {
    match column.form {
        Form::Text => match value {
            Value::String(_) => Some(value.clone()),
            Value::Number(number) => Some(number.to_string().into()),
            _ => None,
        },
        Form::Any | Form::List | Form::Object => Some(value.clone()),
        Form::JsonList | Form::JsonObject => Some(json::render(value, &Style::PYTHON).into()),
        Form::PythonList => Some(write_literal(value).into()),
        Form::ProTag => value.as_str()?.strip_prefix(PRO_IMAGES).map(Into::into),
        Form::Reversed => {
            let turned = reverse(&Patch::new(value.as_str()?)).ok()?;
            turned.as_text().ok().map(Into::into)
        }
    }
}

/// A field that is a text.
pub(crate) fn text(view: &View, field: Field) -> Option<&str> {
    view.get(&field).and_then(Value::as_str)
}

/// A field that is a list of texts; empty where it is not there.
pub(crate) fn list(view: &View, field: Field) -> Vec<String> {
    view.get(&field)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|item| item.as_str().map(str::to_owned))
        .collect()
}
