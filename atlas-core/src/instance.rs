//! A task as a dataset row.

use crate::{InstanceId, Patch, TestIds};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A list of test ids that is read as a list or as a JSON-encoded string of one, and written back
/// in the form it was read in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestList {
    /// The ids.
    pub ids: TestIds,
    /// Whether the row holds a JSON-encoded string, as the classic SWE-bench rows do.
    pub encoded: bool,
}

impl TestList {
    /// A list that is written as a JSON-encoded string, the form every harness reads.
    pub fn encoded(ids: impl Into<TestIds>) -> Self {
        Self {
            ids: ids.into(),
            encoded: true,
        }
    }

    /// The list that a JSON text begins with, in either form, and what follows it. Nothing where none
    /// stands there, or where its ids hold characters that JSON escapes: such a list is to be read with
    /// its row.
    ///
    /// A row is little else than its lists, and this reads one in one pass.
    ///
    /// ```
    /// use atlas_core::TestList;
    /// let (list, rest) = TestList::leading(r#""[\"t::a\", \"t::b\"]", "n": 1}"#).expect("a plain list");
    /// assert_eq!(list.ids, ["t::a", "t::b"]);
    /// assert_eq!(rest, r#", "n": 1}"#);
    /// ```
    pub fn leading(json: &str) -> Option<(Self, &str)> {
        let (ids, rest, encoded) = match json.strip_prefix('"') {
            None => {
                let (ids, rest) = TestIds::plain::<false>(json)?;
                (ids, rest, false)
            }
            Some(inner) => {
                let (ids, rest) = TestIds::plain::<true>(inner)?;
                (ids, rest.strip_prefix('"')?, true)
            }
        };
        Some((Self { ids, encoded }, rest))
    }

    /// Reads either form. A column may hold thousands of ids, so nothing is copied on the way.
    fn of(value: &Value) -> Result<Self, String> {
        let is_wrong = || "a list of test ids or a JSON-encoded string of one expected".to_owned();
        match value {
            Value::Array(items) => {
                let ids: Option<TestIds> = items.iter().map(Value::as_str).collect();
                Ok(Self {
                    ids: ids.ok_or_else(is_wrong)?,
                    encoded: false,
                })
            }
            Value::String(text) => TestIds::from_json(text)
                .map(|ids| Self { ids, encoded: true })
                .map_err(|why| format!("list inside a string: {why}")),
            _ => Err(is_wrong()),
        }
    }
}

impl Serialize for TestList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.encoded {
            let text = serde_json::to_string(&self.ids).map_err(serde::ser::Error::custom)?;
            serializer.serialize_str(&text)
        } else {
            self.ids.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for TestList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(&Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// One row of a SWE-bench dataset: the classic columns, those that version 5 of the harness needs,
/// and every other column, untouched and in its place.
///
/// The row is the JSON object itself; accessors read and write single columns. So a row that is
/// read and written again is the same row, whoever added columns to it.
///
/// ```
/// let line = r#"{"instance_id":"a__b-1","repo":"a/b","FAIL_TO_PASS":"[\"t\"]","mine":[1,2]}"#;
/// let row: atlas_core::Instance = line.parse()?;
/// assert_eq!(row.fail_to_pass()?.ids, ["t"]);
/// assert_eq!(row.to_string(), line);
/// # Ok::<(), atlas_core::InstanceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Instance {
    row: Map<String, Value>,
}

/// What is wrong with a row.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// Not a JSON object.
    #[error("dataset row is no JSON object")]
    NotAnObject(#[source] serde_json::Error),
    /// A column that is needed is absent.
    #[error("dataset row: column `{0}` is missing")]
    Missing(String),
    /// A column holds something else than it should.
    #[error("dataset row: column `{column}`: {why}")]
    Wrong {
        /// The column.
        column: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Instance {
    /// A row with only its name.
    pub fn new(id: &InstanceId) -> Self {
        let mut row = Map::new();
        row.insert("instance_id".to_owned(), Value::String(id.to_string()));
        Self { row }
    }

    /// A row from an object that has a valid `instance_id`.
    ///
    /// # Errors
    /// [`InstanceError`] naming the column.
    pub fn from_map(row: Map<String, Value>) -> Result<Self, InstanceError> {
        let instance = Self { row };
        instance.id()?;
        Ok(instance)
    }

    /// The whole row.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.row
    }

    /// The row's name.
    ///
    /// # Errors
    /// Missing, or no valid name.
    pub fn id(&self) -> Result<InstanceId, InstanceError> {
        self.required("instance_id")?
            .parse()
            .map_err(|why: crate::InvalidInstanceId| InstanceError::Wrong {
                column: "instance_id".to_owned(),
                why: why.to_string(),
            })
    }

    /// A text column; absent or null is `None`.
    ///
    /// # Errors
    /// A value that is no text.
    pub fn text(&self, column: &str) -> Result<Option<&str>, InstanceError> {
        match self.row.get(column) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(InstanceError::Wrong {
                column: column.to_owned(),
                why: format!("text expected, found {}", kind_of(other)),
            }),
        }
    }

    /// A text column that must be there.
    ///
    /// # Errors
    /// Missing, or a value that is no text.
    pub fn required(&self, column: &str) -> Result<&str, InstanceError> {
        self.text(column)?
            .ok_or_else(|| InstanceError::Missing(column.to_owned()))
    }

    /// `patch`: the gold patch.
    ///
    /// # Errors
    /// Missing, or a value that is no text.
    pub fn gold_patch(&self) -> Result<Patch, InstanceError> {
        self.required("patch").map(Patch::new)
    }

    /// `test_patch`.
    ///
    /// # Errors
    /// Missing, or a value that is no text.
    pub fn test_patch(&self) -> Result<Patch, InstanceError> {
        self.required("test_patch").map(Patch::new)
    }

    /// `FAIL_TO_PASS`; an absent column is an empty list.
    ///
    /// # Errors
    /// A value that is no list of texts.
    pub fn fail_to_pass(&self) -> Result<TestList, InstanceError> {
        self.tests("FAIL_TO_PASS")
    }

    /// `PASS_TO_PASS`; an absent column is an empty list.
    ///
    /// # Errors
    /// A value that is no list of texts.
    pub fn pass_to_pass(&self) -> Result<TestList, InstanceError> {
        self.tests("PASS_TO_PASS")
    }

    /// A list of tests in a column of another name; an absent column is an empty list.
    ///
    /// # Errors
    /// A value that is no list of texts.
    pub fn tests(&self, column: &str) -> Result<TestList, InstanceError> {
        match self.row.get(column) {
            None | Some(Value::Null) => Ok(TestList::default()),
            Some(value) => TestList::of(value).map_err(|why| InstanceError::Wrong {
                column: column.to_owned(),
                why,
            }),
        }
    }

    /// Sets a column, in its place if it exists, else at the end.
    pub fn set(&mut self, column: &str, value: impl Into<Value>) {
        self.row.insert(column.to_owned(), value.into());
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'de> Deserialize<'de> for Instance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_map(Map::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl std::str::FromStr for Instance {
    type Err = InstanceError;

    fn from_str(line: &str) -> Result<Self, Self::Err> {
        Self::from_map(serde_json::from_str(line).map_err(InstanceError::NotAnObject)?)
    }
}

impl std::fmt::Display for Instance {
    /// One line of JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&serde_json::to_string(&self.row).map_err(|_| std::fmt::Error)?)
    }
}
