//! A page with every key of `atlas.toml`, from its JSON schema.

use super::{MADE, prose};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const HEAD: &str = "# Configuration

Commands read `atlas.toml` in the folder they are started in, or the file of `--config`. Everything has a default; a key
that is not known is an error that names its line and the nearest known key. Editors complete and check the file by its
[JSON schema](atlas.schema.json). Texts are in quotes, as TOML has them.

";

/// The page.
pub(super) fn page(schema: &Value) -> String {
    let empty = Map::new();
    let kinds = schema["$defs"].as_object().unwrap_or(&empty);
    let mut page = Page {
        kinds,
        shared: shared(schema, kinds),
        tables: Vec::new(),
        used: BTreeSet::new(),
    };
    let mut text = format!("{HEAD}## Outside of any table\n\n");
    page.keys(&mut text, "", schema);
    // Tables name further ones while they are written.
    let mut next = 0;
    while let Some((title, table)) = page.tables.get(next).cloned() {
        next += 1;
        page.table(&mut text, &title, table);
    }
    let mut told = BTreeSet::new();
    while let Some(name) = page.used.difference(&told).next().cloned() {
        if told.is_empty() {
            text.push_str("## Values that several keys take\n\n");
        }
        let table = &kinds[&name];
        let _ = write!(text, "### {name}\n\n{}\n\n", described(table));
        page.rows(&mut text, "", table);
        told.insert(name);
    }
    text.trim_end().to_owned() + "\n" + MADE
}

/// The tables that more than one key takes.
fn shared(schema: &Value, kinds: &Map<String, Value>) -> BTreeSet<String> {
    fn count(value: &Value, counts: &mut BTreeMap<String, usize>) {
        match value {
            Value::Object(map) => {
                if let Some(name) = map.get("$ref").and_then(Value::as_str) {
                    let name = name.rsplit('/').next().unwrap_or(name);
                    *counts.entry(name.to_owned()).or_default() += 1;
                }
                map.values().for_each(|one| count(one, counts));
            }
            Value::Array(all) => all.iter().for_each(|one| count(one, counts)),
            _ => {}
        }
    }
    let mut counts = BTreeMap::new();
    count(schema, &mut counts);
    counts
        .into_iter()
        .filter(|(name, count)| *count > 1 && is_table(&kinds[name]))
        .map(|(name, _)| name)
        .collect()
}

fn is_table(schema: &Value) -> bool {
    schema["properties"].is_object()
}

fn described(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    // Examples are for readers of the code.
    let text = text.split("```").next().unwrap_or_default();
    prose(&text.trim().replace('\n', " "))
}

struct Page<'a> {
    kinds: &'a Map<String, Value>,
    shared: BTreeSet<String>,
    /// Tables to be written, with their headings.
    tables: Vec<(String, &'a Value)>,
    used: BTreeSet<String>,
}

impl<'a> Page<'a> {
    fn table(&mut self, text: &mut String, title: &str, table: &'a Value) {
        let _ = write!(text, "## `{title}`\n\n");
        let about = described(table);
        let about = about
            .strip_prefix(&format!("`{title}`"))
            .map_or(about.as_str(), |rest| {
                rest.trim_start_matches([':', '.', ' '])
            });
        if !about.is_empty() {
            let mut letters = about.chars();
            let first = letters.next().map(|first| first.to_uppercase().to_string());
            let _ = write!(
                text,
                "{}{}\n\n",
                first.unwrap_or_default(),
                letters.as_str()
            );
        }
        let path = title.trim_matches(['[', ']']);
        self.keys(text, &format!("{path}."), table);
    }

    fn keys(&mut self, text: &mut String, path: &str, table: &'a Value) {
        self.rows(text, path, table);
        let Some(keys) = table["properties"].as_object() else {
            return;
        };
        for (name, key) in keys {
            if let Some(title) = self.own_table(&format!("{path}{name}"), key) {
                self.tables.push(title);
            }
        }
    }

    fn rows(&mut self, text: &mut String, path: &str, table: &'a Value) {
        let Some(keys) = table["properties"].as_object() else {
            return;
        };
        let required: Vec<&str> = table["required"]
            .as_array()
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut rows = String::new();
        for (name, key) in keys {
            let place = format!("{path}{name}");
            if self.own_table(&place, key).is_some() {
                continue;
            }
            let mut about = described(key);
            if about.is_empty() {
                about = described(self.resolved(key));
            }
            if required.contains(&name.as_str()) {
                about.push_str(" Required.");
            }
            if let Some(usual) = usual(key).filter(|_| !about.to_lowercase().contains("default")) {
                let _ = write!(about, " Default: {usual}.");
            }
            for value in self.values(key) {
                let _ = write!(about, "<br>{value}");
            }
            let about = about.trim().replace('|', "\\|");
            let kind = self.kind(key);
            let _ = writeln!(
                rows,
                "| <span id=\"{place}\">`{name}`</span> | {kind} | {about} |"
            );
        }
        if !rows.is_empty() {
            let _ = write!(text, "| key | value | what |\n|---|---|---|\n{rows}\n");
        }
    }

    /// The heading and the schema of a key that has a table of its own on this page.
    fn own_table(&self, path: &str, key: &'a Value) -> Option<(String, &'a Value)> {
        let table = self.resolved(key);
        if is_table(table) && !self.is_shared(key) {
            return Some((format!("[{path}]"), table));
        }
        let items = self.resolved(&key["items"]);
        if is_table(items) {
            return Some((format!("[[{path}]]"), items));
        }
        let values = self.resolved(&key["additionalProperties"]);
        is_table(values).then(|| (format!("[{path}.NAME]"), values))
    }

    /// What a key refers to, through the way in which "or nothing" is written.
    fn resolved(&self, key: &'a Value) -> &'a Value {
        match Self::reference(key) {
            Some(name) => &self.kinds[name],
            None => key,
        }
    }

    fn reference(key: &'a Value) -> Option<&'a str> {
        let name = key["$ref"].as_str().or_else(|| {
            let some = key["anyOf"].as_array()?;
            some.iter().find_map(|one| one["$ref"].as_str())
        })?;
        name.rsplit('/').next()
    }

    fn is_shared(&self, key: &'a Value) -> bool {
        Self::reference(key).is_some_and(|name| self.shared.contains(name))
    }

    /// The kind of a value, in words.
    fn kind(&mut self, key: &'a Value) -> String {
        if self.is_shared(key)
            && let Some(name) = Self::reference(key)
        {
            self.used.insert(name.to_owned());
            return format!("[{name}](#{})", name.to_lowercase());
        }
        let schema = self.resolved(key);
        if let Some(words) = words(schema) {
            return if words.len() > 6 {
                "a name".to_owned()
            } else {
                words.join(", ")
            };
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let names: Vec<String> = kinds
            .into_iter()
            .filter(|kind| *kind != "null")
            .map(|kind| match kind {
                "string" => "text".to_owned(),
                "integer" => "whole number".to_owned(),
                "boolean" => "`true` or `false`".to_owned(),
                "array" => format!("list of: {}", self.kind(&schema["items"])),
                "object" if schema["additionalProperties"].is_object() => {
                    format!("table of: {}", self.kind(&schema["additionalProperties"]))
                }
                "object" => "table".to_owned(),
                other => other.to_owned(),
            })
            .collect();
        if names.is_empty() {
            "any".to_owned()
        } else {
            names.join(" or ")
        }
    }

    /// What each word means that a key takes.
    fn values(&self, key: &'a Value) -> Vec<String> {
        let mut schema = self.resolved(key);
        if schema["type"] == "array" {
            schema = self.resolved(&schema["items"]);
        }
        let Some(all) = schema["oneOf"].as_array() else {
            return Vec::new();
        };
        all.iter()
            .filter_map(|one| Some(format!("`{}`: {}", one["const"].as_str()?, described(one))))
            .collect()
    }
}

/// The words that a schema allows.
fn words(schema: &Value) -> Option<Vec<String>> {
    let quoted = |word: &Value| Some(format!("`\"{}\"`", word.as_str()?));
    if let Some(all) = schema["oneOf"].as_array() {
        return all.iter().map(|one| quoted(&one["const"])).collect();
    }
    schema["enum"].as_array()?.iter().map(quoted).collect()
}

/// What holds where nothing is written.
fn usual(key: &Value) -> Option<String> {
    match key.get("default")? {
        Value::Array(all) if all.is_empty() => Some("none".to_owned()),
        Value::Null | Value::Object(_) => None,
        Value::Bool(set) => Some(if *set { "yes" } else { "no" }.to_owned()),
        other => Some(format!("`{other}`")),
    }
}
