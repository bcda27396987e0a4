//! One row of a dataset.

use crate::json;
use crate::json::Style;
use crate::record::Record;
use atlas_core::{Instance, InstanceError, InstanceId, InvalidInstanceId};
use serde_json::{Map, Value};
use std::fmt;
use std::path::PathBuf;

/// Where a row or a prediction was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, or the task's folder.
    pub file: PathBuf,
    /// The line on which it begins, from 1; 0 where the format has no lines.
    pub line: usize,
    /// How many stand before it, good and bad ones.
    pub index: usize,
}

impl fmt::Display for Place {
    /// `file:line`, or `file, row n` (from 1) where there are no lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}", self.file.display(), self.line)
        } else {
            write!(f, "{}, row {}", self.file.display(), self.index + 1)
        }
    }
}

/// Why columns are no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RowError {
    /// Nothing names the row.
    #[error(
        "no column names the row: `instance_id`, or `org`, `repo` and `number`, or `repo_name` and `commit_hash` expected"
    )]
    Unnamed,
    /// A naming column holds something else than it should.
    #[error("column `{column}`: {expected} expected, found {found}")]
    Wrong {
        /// The column.
        column: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// The name is not usable as a file name.
    #[error(transparent)]
    Id(#[from] InvalidInstanceId),
}

/// One row, in whichever schema: its columns in their order, and the text it was read from.
///
/// A row that was not changed is written as the bytes it was read as. Where a column is changed,
/// the other columns keep their bytes, numbers such as `1.0` or `1e-05` and escapes included.
///
/// ```
/// let mut row: atlas_formats::Row = r#"{ "instance_id": "a__b-1", "n": 1.0 }"#.parse()?;
/// row.set("version", "2")?;
/// assert_eq!(row.json(), r#"{ "instance_id": "a__b-1", "n": 1.0, "version": "2" }"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    id: InstanceId,
    record: Record,
    place: Option<Place>,
}

impl Row {
    /// A row that was made, not read; it will be written without blanks.
    ///
    /// # Errors
    /// [`RowError`] where no column names the row.
    pub fn new(columns: Map<String, Value>) -> Result<Self, RowError> {
        Self::styled(columns, &Style::COMPACT)
    }

    pub(crate) fn styled(columns: Map<String, Value>, style: &Style) -> Result<Self, RowError> {
        let id = id_of(&columns)?;
        Ok(Self {
            id,
            record: Record::new(columns, style),
            place: None,
        })
    }

    /// A row with the text that says the same as the columns, which is asked for if they are one.
    pub(crate) fn read(
        columns: Map<String, Value>,
        text: impl FnOnce() -> String,
        place: Option<Place>,
    ) -> Result<Self, RowError> {
        let id = id_of(&columns)?;
        Ok(Self {
            id,
            record: Record::read(columns, text()),
            place,
        })
    }

    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        self.place = place;
        self
    }

    /// The row's name: `instance_id`. Multi-SWE-bench rows without it are `org__repo-number`, those
    /// of R2E `repo_name-commit_hash`.
    #[must_use]
    pub fn id(&self) -> &InstanceId {
        &self.id
    }

    /// All columns in their order.
    #[must_use]
    pub fn columns(&self) -> &Map<String, Value> {
        self.record.columns()
    }

    /// A column.
    #[must_use]
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.record.columns().get(column)
    }

    /// A column that holds text; anything else is `None`.
    pub fn text(&self, column: &str) -> Option<&str> {
        self.get(column).and_then(Value::as_str)
    }

    /// Sets a column, in its place if it is there, else at the end.
    ///
    /// # Errors
    /// Where the row would have no usable name any more; the row is unchanged then.
    pub fn set(&mut self, column: &str, value: impl Into<Value>) -> Result<(), RowError> {
        let mut changed = self.record.clone();
        changed.set(column, value.into());
        self.id = id_of(changed.columns())?;
        self.record = changed;
        Ok(())
    }

    /// Takes a column out.
    ///
    /// # Errors
    /// Where the row would have no usable name any more; the row is unchanged then.
    pub fn remove(&mut self, column: &str) -> Result<Option<Value>, RowError> {
        let mut changed = self.record.clone();
        let value = changed.remove(column);
        self.id = id_of(changed.columns())?;
        self.record = changed;
        Ok(value)
    }

    /// The row as JSON: what was read, with what was changed since. May span lines if it was read
    /// so; [`line`](Self::line) does not.
    #[must_use]
    pub fn json(&self) -> &str {
        self.record.json()
    }

    /// The row as one line of JSON, without a line end.
    #[must_use]
    pub fn line(&self) -> String {
        json::minified(self.record.json())
    }

    /// The row as a SWE-bench instance; a row that is named by other columns gets `instance_id` at
    /// the end. Columns of another schema keep their names: [`convert`](crate::convert) first.
    ///
    /// # Errors
    /// Never for a row whose columns were read; kept because the instance checks its name itself.
    pub fn instance(&self) -> Result<Instance, InstanceError> {
        named(self.columns().clone(), &self.id)
    }

    /// The same without a copy of the columns.
    ///
    /// # Errors
    /// As [`instance`](Self::instance).
    pub fn into_instance(self) -> Result<Instance, InstanceError> {
        named(self.record.into_columns(), &self.id)
    }

    /// Where the row was read; absent for one that was made.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    pub(crate) fn style(&self) -> Style {
        self.record.style()
    }
}

impl TryFrom<&Instance> for Row {
    type Error = RowError;

    fn try_from(instance: &Instance) -> Result<Self, RowError> {
        Self::new(instance.as_map().clone())
    }
}

/// Why a text is no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseRowError {
    /// Not a JSON object.
    #[error("row is no JSON object")]
    Json(#[from] serde_json::Error),
    /// Not a row.
    #[error(transparent)]
    Row(#[from] RowError),
}

impl std::str::FromStr for Row {
    type Err = ParseRowError;

    fn from_str(text: &str) -> Result<Self, ParseRowError> {
        let text = text.trim_matches([' ', '\t', '\r', '\n']);
        Ok(Self::read(
            serde_json::from_str(text)?,
            || text.to_owned(),
            None,
        )?)
    }
}

fn named(mut columns: Map<String, Value>, id: &InstanceId) -> Result<Instance, InstanceError> {
    if !columns.contains_key("instance_id") {
        columns.insert("instance_id".to_owned(), id.to_string().into());
    }
    Instance::from_map(columns)
}

/// The name of the row with these columns.
fn id_of(columns: &Map<String, Value>) -> Result<InstanceId, RowError> {
    let text = |column: &str| match columns.get(column) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(wrong(column, "text", other)),
    };
    if let Some(id) = text("instance_id")? {
        return Ok(id.parse()?);
    }
    if let (Some(org), Some(number)) = (text("org")?, columns.get("number")) {
        let repo = text("repo")?.ok_or(RowError::Unnamed)?;
        let number = match number {
            Value::Number(number) => number.to_string(),
            Value::String(number) => number.clone(),
            other => return Err(wrong("number", "a number", other)),
        };
        return Ok(format!("{org}__{repo}-{number}").parse()?);
    }
    if let (Some(name), Some(commit)) = (text("repo_name")?, text("commit_hash")?) {
        return Ok(format!("{}-{commit}", name.replace('/', "__")).parse()?);
    }
    Err(RowError::Unnamed)
}

pub(crate) fn wrong(column: &str, expected: &'static str, found: &Value) -> RowError {
    RowError::Wrong {
        column: column.to_owned(),
        expected,
        found: kind_of(found),
    }
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
