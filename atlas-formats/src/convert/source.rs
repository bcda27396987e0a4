//! `_atlas_source`: what a row keeps of the row it was made from.

use super::{ConvertOptions, SOURCE, folders};
use crate::json::Style;
use crate::row::{Row, RowError};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a way back needs beside the row's own columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Source {
    /// The schema it was in.
    pub(super) schema: String,
    /// Its columns in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<String>,
    /// The columns that cannot be made from this row.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    kept: Map<String, Value>,
    /// How it was spelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    style: Option<Spelled>,
    /// The row itself, where its spelling follows no rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// [`ConvertOptions`] by which columns were made, where they are not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    image_namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workdir: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Spelled {
    spaced: bool,
    ascii: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    indent: Option<(usize, usize)>,
}

/// What a row keeps; nothing where it was made from none, or by something else.
pub(super) fn of(row: &Map<String, Value>, schema: Schema) -> Option<Source> {
    let kept = if schema.is_folder() {
        folders::source(row, schema)?
    } else {
        row.get(SOURCE)?.clone()
    };
    match kept {
        Value::String(text) => serde_json::from_str(&text).ok(),
        kept => serde_json::from_value(kept).ok(),
    }
}

/// The row with what it keeps.
pub(super) fn set(row: &Row, schema: Schema, source: &Source) -> Result<Row, RowError> {
    let Ok(value) = serde_json::to_value(source) else {
        return Ok(row.clone());
    };
    if schema.is_folder() {
        let mut columns = row.columns().clone();
        folders::remove_source(&mut columns, schema);
        folders::set_source(&mut columns, schema, &value);
        return Row::styled(columns, &Style::COMPACT);
    }
    let mut row = row.clone();
    row.set(SOURCE, value)?;
    Ok(row)
}

/// The row it was; `fresh` is what the row it became says in the old schema.
pub(super) fn restore(source: &Source, fresh: &Map<String, Value>) -> Option<Row> {
    if let Some(text) = &source.text {
        return text.parse().ok();
    }
    let columns: Map<String, Value> = source
        .columns
        .iter()
        .filter_map(|name| {
            let value = source.kept.get(name).or_else(|| fresh.get(name))?;
            Some((name.clone(), value.clone()))
        })
        .collect();
    let style = source
        .style
        .as_ref()
        .map_or(Style::COMPACT, |spelled| Style {
            spaced: spelled.spaced,
            ascii: spelled.ascii,
            indent: spelled.indent,
        });
    Row::styled(columns, &style).ok()
}

impl Source {
    /// What must be kept of a row so that it can be had again; `back` is what the new row says of it.
    /// Nothing where that is enough, unless columns of the new row were made by rule.
    pub(super) fn needed(
        row: &Row,
        back: &Map<String, Value>,
        from: Schema,
        style_there: &Style,
        by_rule: bool,
        options: &ConvertOptions,
    ) -> Option<Self> {
        let own = row.columns();
        let kept = unsaid(own, back);
        let columns: Vec<String> = own.keys().cloned().collect();
        let same_order = back.keys().eq(own.keys());
        let style = row.style();
        let spelled_alike = style == *style_there
            && Row::styled(back.clone(), &style).is_ok_and(|made| made.json() == row.json());
        if kept.is_empty() && same_order && spelled_alike && !by_rule {
            return None;
        }
        let source = Self {
            image_namespace: changed(&options.image_namespace, |o| o.image_namespace),
            workdir: changed(&options.workdir, |o| o.workdir),
            ..Self::new(from, columns, kept, &style)
        };
        let exact = restore(&source, back).is_some_and(|made| made.json() == row.json());
        if exact {
            return Some(source);
        }
        Some(Self {
            columns: Vec::new(),
            kept: Map::new(),
            style: None,
            text: Some(row.json().to_owned()),
            ..source
        })
    }

    /// What was added to a row or edited in it since it was made; `back` is what is made of the row
    /// it came from. Nothing where it is the same.
    pub(super) fn added(row: &Row, back: &Map<String, Value>, from: Schema) -> Option<Self> {
        let mut own = row.columns().clone();
        own.shift_remove(SOURCE);
        if from.is_folder() {
            folders::remove_source(&mut own, from);
        }
        let kept = unsaid(&own, back);
        let columns = own.keys().cloned().collect();
        (!kept.is_empty()).then(|| Self::new(from, columns, kept, &row.style()))
    }

    /// The options with which the row was made.
    pub(super) fn options(&self, now: &ConvertOptions) -> ConvertOptions {
        let default = ConvertOptions::default();
        ConvertOptions {
            image_namespace: self
                .image_namespace
                .clone()
                .unwrap_or(default.image_namespace),
            workdir: self.workdir.clone().unwrap_or(default.workdir),
            keep_source: now.keep_source,
        }
    }

    fn new(schema: Schema, columns: Vec<String>, kept: Map<String, Value>, style: &Style) -> Self {
        let spelled = (*style != Style::COMPACT).then_some(Spelled {
            spaced: style.spaced,
            ascii: style.ascii,
            indent: style.indent,
        });
        Self {
            schema: schema.as_str().to_owned(),
            columns,
            kept,
            style: spelled,
            text: None,
            image_namespace: None,
            workdir: None,
        }
    }
}

/// The columns that are not the same on the other side.
fn unsaid(own: &Map<String, Value>, back: &Map<String, Value>) -> Map<String, Value> {
    own.iter()
        .filter(|(name, value)| back.get(*name) != Some(*value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A value that is not the default one.
fn changed(value: &str, default: impl Fn(ConvertOptions) -> String) -> Option<String> {
    (value != default(ConvertOptions::default())).then(|| value.to_owned())
}

/// Whether a column says more than the field that is read from it: statuses of three runs, the
/// parts of a commit.
pub(super) fn is_richer(schema: Schema, column: &str) -> bool {
    match schema {
        Schema::MultiSwebench => {
            matches!(
                column,
                "f2p_tests" | "s2p_tests" | "n2p_tests" | "p2p_tests" | "base" | "resolved_issues"
            ) || super::multi::RESULTS.contains(&column)
        }
        Schema::R2e => matches!(
            column,
            "commit_hash" | "expected_output_json" | "parsed_commit_content"
        ),
        _ => false,
    }
}
