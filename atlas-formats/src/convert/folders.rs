//! Tasks that are folders, seen as flat rows.

use super::SOURCE;
use super::fields::{Field, columns, files as file_table, main_file};
use super::yaml;
use crate::json;
use crate::json::Style;
use crate::schema::Schema;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The columns of a folder task: keys of its main file and the files that hold one column.
pub(crate) fn flat(row: &Map<String, Value>, schema: Schema) -> Map<String, Value> {
    let file = |path: &str| match row.get(path)? {
        Value::String(text) => Some(text.clone()),
        other => other.get("text")?.as_str().map(str::to_owned),
    };
    let main = file(main_file(schema)).unwrap_or_default();
    let mut flat = match schema {
        Schema::HarborTask => harbor(&main),
        _ => task_yaml(&main),
    };
    flat.shift_remove(SOURCE);
    for (path, column) in file_table(schema) {
        let Some(text) = file(path) else { continue };
        let value = if is_json(path) {
            match serde_json::from_str::<Value>(&text) {
                Ok(tests) => tests.get(*column).cloned(),
                Err(_) => None,
            }
        } else {
            Some(text.into())
        };
        if let Some(value) = value {
            flat.insert((*column).to_owned(), value);
        }
    }
    if let Some(id) = row.get("instance_id") {
        flat.entry("instance_id").or_insert_with(|| id.clone());
    }
    flat
}

fn is_json(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "json")
}

/// The keys of a `task.yaml`; none where it is no YAML.
pub(crate) fn task_yaml(text: &str) -> Map<String, Value> {
    // Texts that look like numbers: `1.10` is no 1.1, and a commit may be all digits.
    let is_text = |key: &str| {
        columns(Schema::SwebenchV5TaskRepo).iter().any(|column| {
            column.name == key && !matches!(column.field, Field::ImageAssets | Field::Difficulty)
        })
    };
    yaml::read(text, &is_text).unwrap_or_default()
}

fn harbor(text: &str) -> Map<String, Value> {
    let Ok(table) = text.parse::<toml::Table>() else {
        return Map::new();
    };
    let mut flat = match table.get("metadata").map(json_of) {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    let image = table
        .get("environment")
        .and_then(|environment| environment.get("docker_image"))
        .and_then(toml::Value::as_str);
    if let Some(image) = image {
        flat.insert("image".to_owned(), image.into());
    }
    flat
}

/// A TOML value as JSON; dates become text.
fn json_of(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(value) => (*value).into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.iter().map(json_of).collect(),
        toml::Value::Table(table) => table
            .iter()
            .map(|(key, value)| (key.clone(), json_of(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// The files of a folder task with these columns.
pub(crate) fn files(flat: &Map<String, Value>, schema: Schema) -> Map<String, Value> {
    let table = file_table(schema);
    let in_file = |column: &str| table.iter().any(|(_, name)| *name == column);
    let mut row = Map::new();
    if let Some(id) = flat.get("instance_id") {
        row.insert("instance_id".to_owned(), id.clone());
    }
    let main: Vec<(&String, &Value)> = flat.iter().filter(|(key, _)| !in_file(key)).collect();
    let text = match schema {
        Schema::HarborTask => task_toml(&main),
        _ => main.iter().fold(String::new(), |mut text, (key, value)| {
            let _ = writeln!(text, "{key}: {}", yaml::inline(value));
            text
        }),
    };
    row.insert(main_file(schema).to_owned(), text.into());
    let text_of = |column: &str| flat.get(column).and_then(Value::as_str);
    for (path, column) in table {
        if is_json(path) {
            let tests = row.entry(*path).or_insert_with(|| json!({}));
            tests[*column] = flat.get(*column).cloned().unwrap_or_default();
        } else if let Some(text) = text_of(column)
            && (*column != "hints_text" || !text.is_empty())
        {
            row.insert((*path).to_owned(), text.into());
        }
    }
    let indented = Style {
        spaced: true,
        ascii: false,
        indent: Some((2, 0)),
    };
    for (path, value) in &mut row {
        if is_json(path) {
            *value = (json::render(value, &indented) + "\n").into();
        }
    }
    if schema == Schema::HarborTask {
        row.insert("solution/solve.sh".to_owned(), SOLVE.into());
        let script = if flat.contains_key("eval_script") {
            VERIFY
        } else {
            NOTHING_TO_VERIFY
        };
        row.insert("tests/test.sh".to_owned(), script.into());
    }
    row
}

const SOLVE: &str = "#!/bin/bash
set -euo pipefail
cd /testbed
git apply --verbose /solution/gold.patch
";

/// The status of the last command before the end marker decides, as nothing in a shell can read the
/// log of every runner.
const VERIFY: &str = r#"#!/bin/bash
mkdir -p /logs/verifier
awk '/^: .>>>>> End Test Output.$/ { print "ATLAS_TEST_STATUS=$?" }
     { print }
     END { print "exit \"${ATLAS_TEST_STATUS:-1}\"" }' /tests/eval.sh > /tmp/atlas_eval.sh
bash /tmp/atlas_eval.sh 2>&1 | tee /logs/verifier/test_output.txt
if [ "${PIPESTATUS[0]}" -eq 0 ]; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"#;

const NOTHING_TO_VERIFY: &str = r#"#!/bin/bash
echo "this task was made from a row that does not say how to run its tests" >&2
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
exit 1
"#;

fn task_toml(main: &[(&String, &Value)]) -> String {
    let mut out = "schema_version = \"1.0\"\n\n[metadata]\n".to_owned();
    for (key, value) in main {
        if *key != "image"
            && let Some(value) = toml_value(value)
        {
            let _ = writeln!(out, "{key} = {value}");
        }
    }
    out.push_str("\n[verifier]\ntimeout_sec = 1800.0\n\n[agent]\ntimeout_sec = 3600.0\n");
    out.push_str("\n[environment]\nbuild_timeout_sec = 1800.0\n");
    let image = main.iter().find(|(key, _)| *key == "image");
    if let Some(Value::String(image)) = image.map(|(_, value)| value) {
        let _ = writeln!(out, "docker_image = {}", quoted(image));
    }
    out
}

/// A value as TOML; TOML has no null.
fn toml_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(quoted(text)),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(toml_value).collect();
            let items = items?;
            if items.is_empty() {
                return Some("[]".to_owned());
            }
            Some(format!("[\n  {},\n]", items.join(",\n  ")))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .filter_map(|(key, value)| {
                    Some(format!("{} = {}", quoted(key), toml_value(value)?))
                })
                .collect();
            Some(format!("{{ {} }}", items.join(", ")))
        }
        other => Some(other.to_string()),
    }
}

/// A text in double quotes, with escapes that JSON, TOML and YAML share.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control()
                || matches!(u32::from(c), 0x2028 | 0x2029 | 0xfeff | 0xfffe | 0xffff) =>
            {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What a folder task keeps of the row it was made from.
pub(super) fn source(row: &Map<String, Value>, schema: Schema) -> Option<Value> {
    let text = row.get(main_file(schema))?.as_str()?;
    let kept = match schema {
        Schema::HarborTask => {
            let table = text.parse::<toml::Table>().ok()?;
            table.get("metadata")?.get(SOURCE)?.as_str()?.to_owned()
        }
        _ => yaml::read(text, &|_| true)?
            .get(SOURCE)?
            .as_str()?
            .to_owned(),
    };
    serde_json::from_str(&kept).ok()
}

/// Takes out what [`set_source`] put in.
pub(super) fn remove_source(row: &mut Map<String, Value>, schema: Schema) {
    let starts = [format!("{SOURCE} = "), format!("{SOURCE}: ")];
    if let Some(Value::String(text)) = row.get_mut(main_file(schema)) {
        *text = text
            .split_inclusive('\n')
            .filter(|line| !starts.iter().any(|start| line.starts_with(start.as_str())))
            .collect();
    }
}

/// Puts one line into the main file: a key of `task.yaml`, of `[metadata]` in `task.toml`.
pub(super) fn set_source(row: &mut Map<String, Value>, schema: Schema, source: &Value) {
    let kept = quoted(&json::render(source, &Style::COMPACT));
    let Some(Value::String(text)) = row.get_mut(main_file(schema)) else {
        return;
    };
    if schema != Schema::HarborTask {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = writeln!(text, "{SOURCE}: {kept}");
        return;
    }
    let line = format!("{SOURCE} = {kept}\n");
    let heading = text
        .split_inclusive('\n')
        .scan(0, |at, line| {
            *at += line.len();
            Some((*at, line.trim()))
        })
        .find(|(_, line)| *line == "[metadata]");
    if let Some((end, _)) = heading {
        text.insert_str(end, &line);
    } else {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = write!(text, "\n[metadata]\n{line}");
    }
}
