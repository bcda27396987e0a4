//! What notebooks show: which fields of a value, in which order. `atlas-report` draws.

mod cells;
mod charts;
mod rows;
pub(crate) mod view;

pub(crate) use rows::{dataset, mapping, predictions};

use crate::errors::raised_json;
use atlas_report::{BarChart, Fragment, FragmentPart, FragmentTable};
use cells::{cell, said};
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::fmt::Write as _;
use view::{Columns, View};

/// So many columns of rows whose columns are not known before.
const COLUMNS: usize = 12;

/// So many rows of a table are made into cells; a fragment shows fewer.
pub(crate) const SHOWN: usize = 300;

/// A log: what is told of it, then its tests.
pub(crate) fn log(told: &Value, tests: &[Map<String, Value>], total: usize) -> String {
    let rows: Vec<Value> = tests.iter().cloned().map(Value::Object).collect();
    let mut table = table("tests", &Columns::Found, &rows);
    table.total = total;
    let shown = fragment(&view::LOG, told);
    shown.with_part(FragmentPart::Table(table)).html()
}

/// The drawing of a report.
pub(crate) fn svg(view: &View, value: &Value) -> Option<String> {
    chart(view, value).map(|chart| chart.svg())
}

/// Drawings that are seen at once, by the titles of their sections' figures.
const OPEN: [&str; 3] = [
    "Precision against recall",
    "Filtered success@k",
    "Reliability",
];

/// A report, as its view says, with drawings that were made before: of each section the first ones are seen.
pub(crate) fn report(view: &View, value: &Value, figures: &[(String, String)]) -> String {
    let mut shown = fragment(view, value);
    let mut seen = Vec::new();
    for (name, svg) in figures {
        let title = name.rsplit(": ").next().unwrap_or(name);
        let open = OPEN.contains(&title) && !seen.contains(&title);
        seen.push(title);
        if open {
            shown = shown.with_part(FragmentPart::Note(name.clone()));
        }
        shown = shown.with_part(FragmentPart::Drawing {
            folded: (!open).then(|| name.clone()),
            svg: svg.clone(),
        });
    }
    shown.html()
}

/// What a notebook shows of a verdict, given as JSON.
#[pyfunction]
pub(crate) fn _verdict_html(verdict: &str) -> PyResult<String> {
    let verdict = serde_json::from_str(verdict).map_err(raised_json)?;
    Ok(report(&view::VERDICT, &verdict, &[]))
}

/// Rows of a report's field.
pub(crate) fn objects(name: &str, rows: &[Map<String, Value>]) -> String {
    let values: Vec<Value> = rows
        .iter()
        .take(SHOWN)
        .cloned()
        .map(Value::Object)
        .collect();
    let mut table = table(name, &Columns::Found, &values);
    table.total = rows.len();
    let part = FragmentPart::Table(table);
    Fragment::new("Table").with_part(part).html()
}

fn fragment(view: &View, value: &Value) -> Fragment {
    let mut shown = Fragment::new(view.title)
        .with_said((view.said)(value))
        .with_tone((view.tone)(value));
    for (name, pointer) in view.facts {
        match value.pointer(pointer) {
            None | Some(Value::Null) => {}
            Some(found) => shown = shown.with_fact(*name, said(found)),
        }
    }
    if let Some(chart) = chart(view, value) {
        shown = shown.with_part(FragmentPart::Drawing {
            folded: None,
            svg: chart.svg(),
        });
    }
    for (caption, pointer, columns, folded) in view.tables {
        let rows = value.pointer(pointer).and_then(Value::as_array);
        let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
            continue;
        };
        let mut table = table(caption, columns, rows);
        table.folded = *folded;
        shown = shown.with_part(FragmentPart::Table(table));
    }
    for (name, pointer) in view.lists {
        let items = value.pointer(pointer).and_then(Value::as_array);
        let Some(items) = items.filter(|items| !items.is_empty()) else {
            continue;
        };
        let lines: Vec<String> = items.iter().map(said).collect();
        shown = shown.with_part(FragmentPart::Text {
            said: format!("{name} ({})", items.len()),
            text: lines.join("\n"),
        });
    }
    shown
}

fn chart(view: &View, value: &Value) -> Option<BarChart> {
    (view.chart?)(value).filter(|chart| !chart.groups.is_empty())
}

/// Rows as a table. So many are read as may be shown.
fn table(caption: &str, columns: &Columns, rows: &[Value]) -> FragmentTable {
    let shown = &rows[..rows.len().min(SHOWN)];
    let mut caption = caption.to_owned();
    let columns: Vec<(String, String, bool)> = match columns {
        Columns::Named(named) => named
            .iter()
            .map(|(head, pointer, is_verdict)| {
                ((*head).to_owned(), (*pointer).to_owned(), *is_verdict)
            })
            .collect(),
        Columns::Found => {
            let mut names: Vec<&String> = Vec::new();
            for name in shown
                .iter()
                .filter_map(Value::as_object)
                .flat_map(Map::keys)
            {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let pointer = |name: &str| format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            if names.len() > COLUMNS {
                let _ = write!(caption, ", without {} columns", names.len() - COLUMNS);
            }
            let columns = names.iter().take(COLUMNS);
            columns
                .map(|name| ((*name).clone(), pointer(name), false))
                .collect()
        }
    };
    let row = |row: &Value| {
        let cells = columns.iter();
        cells
            .map(|(_, pointer, is_verdict)| cell(row.pointer(pointer), *is_verdict))
            .collect()
    };
    FragmentTable {
        caption,
        rows: shown.iter().map(row).collect(),
        heads: columns.iter().map(|(head, ..)| head.clone()).collect(),
        total: rows.len(),
        folded: false,
    }
}
