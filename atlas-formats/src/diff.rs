//! What two datasets do not have in common.

use crate::convert::{Field, columns, list, places, read, text};
use crate::dataset::Dataset;
use crate::row::Row;
use crate::schema::Schema;
use atlas_core::Patch;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What two datasets do not have in common. Lists are in order of names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DatasetDiff {
    /// Rows that only the first has.
    pub only_in_first: Vec<String>,
    /// Rows that only the second has.
    pub only_in_second: Vec<String>,
    /// Rows of both that are not the same, by name.
    pub changed: BTreeMap<String, RowDiff>,
    /// How many rows are in both and the same.
    pub same: usize,
}

/// What changed in a row. Only how it is spelled is no change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowDiff {
    /// Columns that came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// Columns that went.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Columns with another value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Lists of tests, by what they are called in the row.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tests: BTreeMap<String, TestsDiff>,
    /// Patches, by what they are called in the row.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, PatchDiff>,
}

/// What changed in a list of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TestsDiff {
    /// Tests that came.
    pub added: Vec<String>,
    /// Tests that went.
    pub removed: Vec<String>,
    /// Whether the tests are the same in another order, or another number of times.
    pub reordered: bool,
}

/// How a patch changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatchDiff {
    /// Files and hunks of the first; absent where it is no patch.
    pub first: Option<(usize, usize)>,
    /// Files and hunks of the second; absent where it is no patch.
    pub second: Option<(usize, usize)>,
}

impl DatasetDiff {
    /// Whether both have the same rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.only_in_first.is_empty() && self.only_in_second.is_empty() && self.changed.is_empty()
    }
}

/// Compares two datasets by the names of their rows; of rows with one name the first counts. The
/// order of rows and of columns is no difference, nor is how a value is spelled.
///
/// Rows may be of different schemas; then their columns differ, and lists of tests and patches are
/// compared by what they mean.
///
/// ```
/// use atlas_formats::{Dataset, diff_datasets};
/// let read = |text: &str| Dataset::from_bytes(text.as_bytes(), "d.jsonl".as_ref());
/// let a = read(r#"{"instance_id": "a__b-1", "repo": "a/b", "patch": "", "FAIL_TO_PASS": ["x", "y"]}"#);
/// let b = read(r#"{"instance_id": "a__b-1", "repo": "a/b", "patch": "", "FAIL_TO_PASS": "[\"y\", \"z\"]"}"#);
/// let diff = diff_datasets(&a, &b);
/// let tests = &diff.changed["a__b-1"].tests["FAIL_TO_PASS"];
/// assert_eq!((tests.added.as_slice(), tests.removed.as_slice()),
///     (&["z".to_owned()][..], &["x".to_owned()][..]));
/// ```
#[must_use]
pub fn diff_datasets(first: &Dataset, second: &Dataset) -> DatasetDiff {
    let by_name = |dataset: &'_ Dataset| -> BTreeMap<String, usize> {
        dataset
            .rows
            .iter()
            .enumerate()
            .rev()
            .map(|(at, row)| (row.id().to_string(), at))
            .collect()
    };
    let ours = by_name(first);
    let theirs = by_name(second);
    let mut diff = DatasetDiff::default();
    for (id, at) in &ours {
        let Some(other) = theirs.get(id) else {
            diff.only_in_first.push(id.clone());
            continue;
        };
        match compared(&first.rows[*at], &second.rows[*other]) {
            Some(row) => {
                diff.changed.insert(id.clone(), row);
            }
            None => diff.same += 1,
        }
    }
    diff.only_in_second
        .extend(theirs.into_keys().filter(|id| !ours.contains_key(id)));
    diff
}

fn compared(a: &Row, b: &Row) -> Option<RowDiff> {
    let schema = |row: &Row| Schema::detect(row).unwrap_or(Schema::SwebenchV4);
    let (of_a, of_b) = (schema(a), schema(b));
    let (view_a, view_b) = (read(a.columns(), of_a), read(b.columns(), of_b));
    let mut diff = RowDiff::default();
    // Columns that say the same in another spelling.
    let mut same_meaning = BTreeSet::new();
    for field in [Field::FailToPass, Field::PassToPass] {
        let (ours, theirs) = (list(&view_a, field), list(&view_b, field));
        let both = view_a.contains_key(&field) && view_b.contains_key(&field);
        if ours == theirs && both && has_one_column(of_a, field) && has_one_column(of_b, field) {
            same_meaning.extend(places(of_a, field));
            same_meaning.extend(places(of_b, field));
        }
        if ours != theirs {
            diff.tests
                .insert(name(a, of_a, field), tests(&ours, &theirs));
        }
    }
    for field in [Field::GoldPatch, Field::TestPatch] {
        let (ours, theirs) = (
            text(&view_a, field).unwrap_or_default(),
            text(&view_b, field).unwrap_or_default(),
        );
        if ours != theirs {
            let change = PatchDiff {
                first: size(ours),
                second: size(theirs),
            };
            diff.patches.insert(name(a, of_a, field), change);
        }
    }
    for (column, value) in a.columns() {
        match b.get(column) {
            None => diff.removed.push(column.clone()),
            Some(other) if other == value || same_meaning.contains(column.as_str()) => {}
            Some(_) => diff.changed.push(column.clone()),
        }
    }
    diff.added = b
        .columns()
        .keys()
        .filter(|column| !a.columns().contains_key(*column))
        .cloned()
        .collect();
    (diff != RowDiff::default()).then_some(diff)
}

/// Whether a column holds the field and nothing else.
fn has_one_column(schema: Schema, field: Field) -> bool {
    !schema.is_folder() && places(schema, field).len() == 1
}

fn name(row: &Row, schema: Schema, field: Field) -> String {
    columns(schema)
        .iter()
        .filter(|column| column.field == field)
        .map(|column| column.name)
        .find(|name| row.columns().contains_key(*name))
        .unwrap_or_else(|| field.as_str())
        .to_owned()
}

fn tests(ours: &[String], theirs: &[String]) -> TestsDiff {
    let a: BTreeSet<&String> = ours.iter().collect();
    let b: BTreeSet<&String> = theirs.iter().collect();
    TestsDiff {
        added: b.difference(&a).map(|name| (*name).clone()).collect(),
        removed: a.difference(&b).map(|name| (*name).clone()).collect(),
        reordered: a == b,
    }
}

/// Files and hunks.
fn size(patch: &str) -> Option<(usize, usize)> {
    let files = Patch::new(patch).files().ok()?;
    let hunks = files.iter().map(|file| file.hunks.len()).sum();
    Some((files.len(), hunks))
}

impl fmt::Display for DatasetDiff {
    /// Lines for people: `-` only in the first, `+` only in the second, `~` changed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in &self.only_in_first {
            writeln!(f, "- {id}")?;
        }
        for id in &self.only_in_second {
            writeln!(f, "+ {id}")?;
        }
        for (id, row) in &self.changed {
            writeln!(f, "~ {id}")?;
            write!(f, "{row}")?;
        }
        writeln!(
            f,
            "{} only in the first, {} only in the second, {} changed, {} the same",
            self.only_in_first.len(),
            self.only_in_second.len(),
            self.changed.len(),
            self.same
        )
    }
}

impl fmt::Display for RowDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (what, columns) in [
            ("columns added", &self.added),
            ("columns removed", &self.removed),
            ("columns changed", &self.changed),
        ] {
            if !columns.is_empty() {
                writeln!(f, "    {what}: {}", columns.join(", "))?;
            }
        }
        for (column, tests) in &self.tests {
            if tests.reordered {
                writeln!(
                    f,
                    "    {column}: the same tests, in another order or number"
                )?;
            }
            for name in &tests.removed {
                writeln!(f, "    {column}: - {name}")?;
            }
            for name in &tests.added {
                writeln!(f, "    {column}: + {name}")?;
            }
        }
        for (column, patch) in &self.patches {
            let size = |size: Option<(usize, usize)>| match size {
                Some((files, hunks)) => format!("{files} files, {hunks} hunks"),
                None => "no patch".to_owned(),
            };
            writeln!(
                f,
                "    {column}: {} -> {}",
                size(patch.first),
                size(patch.second)
            )?;
        }
        Ok(())
    }
}
