//! From one schema to another, and back without loss.

mod derive;
mod fields;
mod folders;
mod multi;
mod r2e;
mod source;
mod view;
mod yaml;

pub use fields::Field;

pub(crate) use derive::{END, START, image_name};
pub(crate) use fields::{Form, Need, columns, places};
pub(crate) use folders::task_yaml;
pub(crate) use multi::names;
pub(crate) use view::{Spelling, View, list, read, read_list, text};

use crate::row::Row;
use crate::schema::Schema;
use serde::Serialize;
use serde_json::{Map, Value};
use source::Source;
use std::collections::BTreeSet;

/// The column that keeps what a schema has no place for: an object, or in Parquet its text.
pub(crate) const SOURCE: &str = "_atlas_source";

/// How to convert.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The registry namespace of images that are named by rule. Default: `swebench`.
    pub image_namespace: String,
    /// Where the repository is in the image, for scripts that are made. Default: `/testbed`.
    pub workdir: String,
    /// Whether `_atlas_source` is written. Without it there is no way back for what the schema has
    /// no place for. Default: true.
    pub keep_source: bool,
}

impl Default for ConvertOptions {
    fn default() -> Self {
        Self {
            image_namespace: "swebench".to_owned(),
            workdir: "/testbed".to_owned(),
            keep_source: true,
        }
    }
}

/// What became of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossKind {
    /// The schema has no place for it; it is kept in `_atlas_source`, where readers of the schema
    /// do not look.
    NoPlace,
    /// The schema says it less exactly; the original is kept in `_atlas_source`.
    Inexact,
    /// The schema asks for it, the row does not have it: it was left empty.
    Missing,
    /// The schema asks for it, the row does not have it: it was made by rule. Check it.
    Made,
    /// The row could not be converted at all and is not in the result.
    Unusable,
}

/// Something that a conversion could not carry over as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Loss {
    /// The row.
    pub instance: String,
    /// The column: the row's own for what has no place, the new schema's for what is missing.
    pub column: String,
    /// What became of it.
    pub kind: LossKind,
    /// One sentence.
    pub message: String,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: `{}`: {}", self.instance, self.column, self.message)
    }
}

/// Converts rows of one schema into another.
///
/// What the new schema has no place for is kept in a column `_atlas_source` (a key of `task.yaml`,
/// of `[metadata]` in `task.toml`), so converting back gives the same bytes. Where a row was edited
/// in between, the edited fields win and the rest comes back, columns that were taken out too.
///
/// Each [`Loss`] names a column that the new schema does not carry as it was. A field that a schema
/// asks for is made where a rule gives it (an image's name, a script out of commands), else empty.
///
/// ```
/// use atlas_formats::{ConvertOptions, Row, Schema, convert};
/// let row: Row = r#"{"org":"a","repo":"b","number":7,"base":{"label":"m","ref":"m","sha":"e83c5163316f89bfbde7d9ab23ca2e25604af290"},"resolved_issues":[{"number":5,"title":"Broken","body":"Mend it"}],"fix_patch":"","test_patch":"","f2p_tests":{"t":{"run":"NONE","test":"FAIL","fix":"PASS"}},"p2p_tests":{}}"#.parse()?;
/// let (there, losses) = convert(
///     std::slice::from_ref(&row), Schema::MultiSwebench, Schema::SwebenchV4, &ConvertOptions::default());
/// assert_eq!(there[0].text("repo"), Some("a/b"));
/// assert_eq!(there[0].text("FAIL_TO_PASS"), Some(r#"["t"]"#));
/// assert!(losses.iter().any(|loss| loss.column == "f2p_tests"));
/// let (back, _) = convert(
///     &there, Schema::SwebenchV4, Schema::MultiSwebench, &ConvertOptions::default());
/// assert_eq!(back[0].json(), row.json());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn convert(
    rows: &[Row],
    from: Schema,
    to: Schema,
    options: &ConvertOptions,
) -> (Vec<Row>, Vec<Loss>) {
    if from == to {
        return (rows.to_vec(), Vec::new());
    }
    let mut losses = Vec::new();
    let mut converted = Vec::with_capacity(rows.len());
    for row in rows {
        match one(row, from, to, options, &mut losses) {
            Ok(row) => converted.push(row),
            Err(why) => losses.push(Loss {
                instance: row.id().to_string(),
                column: "instance_id".to_owned(),
                kind: LossKind::Unusable,
                message: format!("the row is left out: {why}"),
            }),
        }
    }
    (converted, losses)
}

/// The row's own solution as a patch; nothing where the row has none.
pub(crate) fn gold_patch(row: &Row, schema: Schema) -> Option<String> {
    text(&read(row.columns(), schema), Field::GoldPatch).map(str::to_owned)
}

/// A row of `to` that says what the view says, and what became of fields on the way.
fn write(
    view: &View,
    to: Schema,
    options: &ConvertOptions,
) -> (Map<String, Value>, Vec<&'static str>, Vec<Field>) {
    let (full, made) = derive::fill(view, to, options);
    let (row, missing) = view::write(&full, to);
    (row, missing, made)
}

/// A row of `to` with the columns that the view has values for, without those made by rule or left
/// empty.
fn said_by(view: &View, to: Schema) -> Map<String, Value> {
    let (mut row, missing) = view::write(view, to);
    for column in missing {
        row.shift_remove(column);
    }
    row
}

fn one(
    row: &Row,
    from: Schema,
    to: Schema,
    options: &ConvertOptions,
    losses: &mut Vec<Loss>,
) -> Result<Row, crate::RowError> {
    let view = read(row.columns(), from);
    let (fresh, missing, made) = write(&view, to, options);
    let by_rule = said_by(&view, to) != fresh;
    let own = source::of(row.columns(), from).filter(|own| own.schema == to.as_str());
    // What was made by rule on the way here was made with these options.
    let before = own.as_ref().map(|own| own.options(options));
    let style = if to.is_folder() {
        crate::json::Style::COMPACT
    } else {
        // Indentation does not survive a file with one row a line.
        crate::json::Style {
            indent: None,
            ..row.style()
        }
    };
    let restored = own.and_then(|own| {
        let old = source::restore(&own, &fresh)?;
        Some(merge(old, &fresh, &view, from, to, options))
    });
    let mut target = if let Some(row) = restored {
        row?
    } else {
        report(row, &view, &fresh, &missing, &made, from, to, losses);
        Row::styled(fresh, &style)?
    };
    if options.keep_source {
        let said = read(target.columns(), to);
        let kept = if let Some(before) = &before {
            // What was added or edited here.
            Source::added(row, &write(&said, from, before).0, from)
        } else {
            // What the new row does not say itself. Rules do not count: another call may have other
            // options. And a row with columns made by rule must be known for what it is, or they
            // would be taken for its own.
            let back = said_by(&said, from);
            Source::needed(row, &back, from, &style, by_rule, options)
        };
        if let Some(kept) = kept {
            target = source::set(&target, to, &kept)?;
        }
    }
    Ok(target.at(row.place().cloned()))
}

/// The row as it was before it came here, with what was edited here.
fn merge(
    old: Row,
    fresh: &Map<String, Value>,
    view: &View,
    from: Schema,
    to: Schema,
    options: &ConvertOptions,
) -> Result<Row, crate::RowError> {
    let (again, ..) = write(&read(old.columns(), to), from, options);
    let again = read(&again, from);
    let mut row = old;
    let mut done = BTreeSet::new();
    for (field, value) in view {
        if again.get(field) == Some(value) {
            continue;
        }
        for column in places(to, *field) {
            if let Some(value) = fresh.get(column).filter(|_| done.insert(column)) {
                row.set(column, value.clone())?;
            }
        }
    }
    Ok(row)
}

/// Says what the new row does not say, or says by rule.
#[expect(
    clippy::too_many_arguments,
    reason = "two rows, their schemas and what was seen on the way"
)]
fn report(
    row: &Row,
    view: &View,
    fresh: &Map<String, Value>,
    missing: &[&'static str],
    made: &[Field],
    from: Schema,
    to: Schema,
    losses: &mut Vec<Loss>,
) {
    let mut add = |column: &str, kind, message: String| {
        losses.push(Loss {
            instance: row.id().to_string(),
            column: column.to_owned(),
            kind,
            message,
        });
    };
    let there = read(fresh, to);
    for column in row.columns().keys() {
        if column == SOURCE {
            continue;
        }
        let fields: Vec<Field> = columns(from)
            .iter()
            .map(|known| known.field)
            .filter(|field| places(from, *field).contains(&column.as_str()))
            .collect();
        let said: Vec<Field> = fields
            .into_iter()
            .filter(|field| view.contains_key(field))
            .collect();
        let lost: Vec<&str> = said
            .iter()
            .filter(|field| !there.contains_key(field))
            .map(|field| field.as_str())
            .collect();
        let changed: Vec<&str> = said
            .iter()
            .filter(|field| {
                there
                    .get(field)
                    .is_some_and(|value| view.get(field) != Some(value))
            })
            .map(|field| field.as_str())
            .collect();
        if said.is_empty() {
            let message = format!("{to} has no place for it; kept in `{SOURCE}`");
            add(column, LossKind::NoPlace, message);
        } else if !lost.is_empty() {
            let message = format!(
                "{to} has no place for {}; kept in `{SOURCE}`",
                lost.join(", ")
            );
            add(column, LossKind::NoPlace, message);
        } else if !changed.is_empty() || source::is_richer(from, column) {
            let what = if changed.is_empty() {
                column.clone()
            } else {
                changed.join(", ")
            };
            let message = format!("{to} says {what} less exactly; kept in `{SOURCE}`");
            add(column, LossKind::Inexact, message);
        }
    }
    for column in missing {
        let message = format!("{to} asks for it and {from} does not say it: left empty");
        add(column, LossKind::Missing, message);
    }
    for field in made {
        for column in places(to, *field) {
            add(
                column,
                LossKind::Made,
                format!("made by rule for {to}: check it"),
            );
        }
    }
    if to == Schema::HarborTask {
        let message = "the exit status of the tests decides, not FAIL_TO_PASS and PASS_TO_PASS";
        add("tests/test.sh", LossKind::Made, message.to_owned());
    }
}
