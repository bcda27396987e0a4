//! Datasets, predictions and single rows.

use super::cells::{cell, said};
use atlas_report::{Cell, Fragment, FragmentPart, FragmentTable};
use serde::Serialize;
use serde_json::{Map, Value};

/// Rows that are looked at, of however many there are.
const ROWS: usize = 20;
/// Columns that are shown.
const COLUMNS: usize = 8;

/// The columns that people look for first, as the schemas of the field call them.
const FIRST: [&str; 8] = [
    "instance_id",
    "repo",
    "model_name_or_path",
    "language",
    "base_commit",
    "version",
    "FAIL_TO_PASS",
    "problem_statement",
];

/// A dataset: the first rows, how many there are, and what was wrong with others.
pub(crate) fn dataset(set: &atlas_formats::Dataset, name: &str) -> String {
    let rows: Vec<&Map<String, Value>> = set
        .rows
        .iter()
        .take(ROWS)
        .map(atlas_formats::Row::columns)
        .collect();
    let ids = set.rows.iter().take(ROWS).map(|row| row.id().as_str());
    // To look at all rows takes its time.
    let first = atlas_formats::Schema::of(&set.rows[..set.rows.len().min(ROWS)]).ok();
    let schema = first.map_or("none, or several", atlas_formats::Schema::as_str);
    let shown = Fragment::new("Dataset")
        .with_said(name)
        .with_fact("rows", set.rows.len().to_string())
        .with_fact("schema of the first", schema)
        .with_fact("faults", set.faults.len().to_string());
    with_rows(shown, &rows, ids, set.rows.len(), &set.faults).html()
}

/// Predictions, in the same manner.
pub(crate) fn predictions(all: &atlas_formats::Predictions) -> String {
    let items = || all.items.iter().take(ROWS);
    let rows: Vec<&Map<String, Value>> = items().map(atlas_formats::Prediction::columns).collect();
    let ids = items().map(atlas_formats::Prediction::instance_id);
    let shown = Fragment::new("Predictions")
        .with_fact("predictions", all.items.len().to_string())
        .with_fact("faults", all.faults.len().to_string());
    with_rows(shown, &rows, ids, all.items.len(), &all.faults).html()
}

fn with_rows<'a, F: Serialize>(
    shown: Fragment,
    rows: &[&Map<String, Value>],
    ids: impl Iterator<Item = &'a str>,
    total: usize,
    faults: &[F],
) -> Fragment {
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().flat_map(|row| row.keys()) {
        if name != "instance_id" && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| {
        FIRST
            .iter()
            .position(|first| first == name)
            .unwrap_or(FIRST.len())
    });
    let left_out = names.len().saturating_sub(COLUMNS - 1);
    names.truncate(COLUMNS - 1);
    let cells = rows.iter().zip(ids).map(|(row, id)| {
        let own = names.iter().map(|name| short(row.get(*name)));
        std::iter::once(Cell::of(id)).chain(own).collect()
    });
    let table = FragmentTable {
        caption: "rows".to_owned(),
        rows: cells.collect(),
        heads: std::iter::once("instance_id")
            .chain(names.iter().copied())
            .map(str::to_owned)
            .collect(),
        total,
        folded: false,
    };
    let mut shown = shown.with_part(FragmentPart::Table(table));
    if left_out > 0 {
        shown = shown.with_part(FragmentPart::Note(format!(
            "{left_out} further columns are not shown."
        )));
    }
    let seen = faults.iter().take(ROWS);
    let values: Vec<Value> = seen
        .filter_map(|fault| serde_json::to_value(fault).ok())
        .collect();
    let mut table = super::table("faults", &super::Columns::Found, &values);
    (table.total, table.folded) = (faults.len(), true);
    shown.with_part(FragmentPart::Table(table))
}

/// A value in a table of rows: nothing opens, for rows have texts of any length.
fn short(value: Option<&Value>) -> Cell {
    match value {
        Some(Value::String(text)) => Cell::Text(atlas_core::one_line(text.trim(), 60)),
        Some(Value::Array(_) | Value::Object(_)) => match cell(value, false) {
            Cell::Folded { said, .. } => Cell::Text(said),
            other => other,
        },
        other => cell(other, false),
    }
}

/// One row, column by column; long texts are folded.
pub(crate) fn mapping(kind: &str, id: &str, columns: &Map<String, Value>) -> String {
    let rows = columns.iter().map(|(name, value)| {
        let value = match value {
            Value::Number(_) => Cell::Text(said(value)),
            value => cell(Some(value), false),
        };
        vec![Cell::Text(name.clone()), value]
    });
    let table = FragmentTable {
        caption: "columns".to_owned(),
        heads: vec!["column".to_owned(), "value".to_owned()],
        rows: rows.collect(),
        total: columns.len(),
        folded: false,
    };
    let shown = Fragment::new(kind).with_said(id);
    shown.with_part(FragmentPart::Table(table)).html()
}
