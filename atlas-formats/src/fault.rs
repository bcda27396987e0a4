//! What is wrong with a part of a file, while the rest is fine.

use crate::framing::Item;
use crate::json;
use crate::row::{Place, RowError};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::map::Entry;
use serde_json::{Map, Value};
use std::fmt;

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultKind {
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// No JSON.
    NotJson,
    /// JSON, but no object.
    NotAnObject,
    /// Half of a surrogate pair: JSON lets it pass, no UTF-8 text can hold it.
    LoneSurrogate,
    /// A column that every row needs is absent.
    MissingColumn,
    /// A column holds something else than it should.
    WrongType,
    /// A name that is not usable as a file name.
    InvalidId,
    /// A name that was there before. The row is kept.
    DuplicateId,
    /// A column that is there twice; the last one counts. The row is kept.
    DuplicateColumn,
    /// A file of a task that cannot be taken: a link, a special file, too large.
    UnreadableFile,
}

impl FaultKind {
    /// Whether the row is in the dataset all the same.
    #[must_use]
    pub fn keeps_row(self) -> bool {
        matches!(self, Self::DuplicateId | Self::DuplicateColumn)
    }
}

/// One row, prediction or task that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowFault {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// Where.
    #[serde(serialize_with = "as_text")]
    pub place: Place,
    /// The column, where one is to blame.
    pub field: Option<String>,
    /// What is wrong, one fragment.
    pub what: String,
    /// What to do about it.
    pub way_out: String,
}

fn as_text<S: Serializer>(place: &Place, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(place)
}

impl fmt::Display for RowFault {
    /// `file:line: column `x`: what; way out`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(field) = &self.field {
            write!(f, "column `{field}`: ")?;
        }
        write!(f, "{}; {}", self.what, self.way_out)
    }
}

impl RowFault {
    pub(crate) fn new(
        kind: FaultKind,
        place: &Place,
        what: impl Into<String>,
        way_out: &str,
    ) -> Self {
        Self {
            kind,
            place: place.clone(),
            field: None,
            what: what.into(),
            way_out: way_out.to_owned(),
        }
    }

    pub(crate) fn in_column(mut self, column: impl Into<String>) -> Self {
        self.field = Some(column.into());
        self
    }

    pub(crate) fn of_row(place: &Place, why: &RowError) -> Self {
        match why {
            RowError::Unnamed => Self::new(
                FaultKind::MissingColumn,
                place,
                "no column names the row",
                "give it `instance_id`",
            )
            .in_column("instance_id"),
            RowError::Wrong {
                column,
                expected,
                found,
            } => Self::new(
                FaultKind::WrongType,
                place,
                format!("{expected} expected, found {found}"),
                "write the value in the form of its schema",
            )
            .in_column(column),
            RowError::Id(why) => Self::new(
                FaultKind::InvalidId,
                place,
                why.to_string(),
                "rename the row: the name becomes a folder and part of a container's name",
            )
            .in_column("instance_id"),
        }
    }
}

/// Reads an item's body as an object; `extra` gets faults that leave it usable.
pub(crate) fn object(
    body: &[u8],
    broken: Option<&'static str>,
    place: &Place,
    extra: &mut Vec<RowFault>,
) -> Result<Map<String, Value>, Box<RowFault>> {
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(why) => {
            let at = why.valid_up_to();
            let fault = RowFault::new(
                FaultKind::NotUtf8,
                place,
                format!("byte {} of the row, 0x{:02x}, is no UTF-8", at, body[at]),
                "save the file as UTF-8, or escape the character as \\uXXXX",
            );
            let column = column_around(&String::from_utf8_lossy(&body[..at]));
            return Err(Box::new(match column {
                Some(column) => fault.in_column(column),
                None => fault,
            }));
        }
    };
    if let Some(why) = broken {
        return Err(Box::new(RowFault::new(
            FaultKind::NotJson,
            place,
            why,
            "repair the brackets and quotes here, or take the row out",
        )));
    }
    let not_an_object = |found: &Value| {
        Box::new(RowFault::new(
            FaultKind::NotAnObject,
            place,
            format!("an object expected, found {}", crate::row::kind_of(found)),
            "write one object per row",
        ))
    };
    if !text.trim_ascii_start().starts_with('{') {
        return Err(match serde_json::from_str::<Value>(text) {
            Ok(other) => not_an_object(&other),
            Err(why) => Box::new(not_json(text, place, &why)),
        });
    }
    match serde_json::from_str::<Columns>(text) {
        Ok(Columns { columns, twice }) => {
            if let Some(twice) = twice {
                extra.push(
                    RowFault::new(
                        FaultKind::DuplicateColumn,
                        place,
                        "the column is there twice",
                        "keep one of them; the last one counts",
                    )
                    .in_column(twice),
                );
            }
            match wrapped(&columns) {
                Some((column, what, way_out)) => Err(Box::new(
                    RowFault::new(FaultKind::MissingColumn, place, what, way_out).in_column(column),
                )),
                None => Ok(columns),
            }
        }
        Err(why) => Err(Box::new(not_json(text, place, &why))),
    }
}

/// Columns that name a row or a prediction.
const NAMES: [&str; 3] = ["instance_id", "org", "repo_name"];

/// Columns that an entry of a dict has, whose key names it.
const PATCHES: [&str; 3] = ["model_patch", "patch", "fix_patch"];

/// Whether an object without a name holds rows or predictions further down: where, and what to do.
fn wrapped(columns: &Map<String, Value>) -> Option<(String, &'static str, &'static str)> {
    let is_named = |value: &Value| NAMES.iter().any(|name| value.get(name).is_some());
    let mut known = NAMES.iter().chain(&PATCHES);
    if known.any(|name| columns.contains_key(*name)) {
        return None;
    }
    columns.iter().find_map(|(column, value)| {
        let found = match value {
            Value::Array(items) if items.first().is_some_and(is_named) => (
                "what is looked for stands in a list below this column",
                "give that list as the file",
            ),
            Value::Array(items) if items.first().is_some_and(|item| is_named(&item["row"])) => (
                "the rows stand in a list below this column, each as `row`",
                "give a list of what stands in `row` as the file",
            ),
            Value::Object(inner) if inner.contains_key("model_patch") => (
                "a prediction stands below this column, one level too deep",
                "write `{\"<instance>\": {\"model_name_or_path\": …, \"model_patch\": …}}`, or a list",
            ),
            Value::String(text) if text.starts_with("diff --git ") => (
                "a patch stands here, and no column says which instance it is for",
                "write `{\"<instance>\": {\"model_name_or_path\": …, \"model_patch\": …}}`, or a list",
            ),
            _ => return None,
        };
        Some((column.clone(), found.0, found.1))
    })
}

/// An object, and the first column whose name stands there twice.
struct Columns {
    columns: Map<String, Value>,
    twice: Option<String>,
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ColumnsVisitor)
    }
}

/// As many columns as rows of the field have, or a few more.
const USUAL_COLUMNS: usize = 24;

/// Reads an object's members one after the other, which sees a name that comes again.
struct ColumnsVisitor;

impl<'de> Visitor<'de> for ColumnsVisitor {
    type Value = Columns;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Columns, A::Error> {
        let mut found = Columns {
            columns: Map::with_capacity(USUAL_COLUMNS),
            twice: None,
        };
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value()?;
            match found.columns.entry(name) {
                Entry::Vacant(free) => {
                    free.insert(value);
                }
                Entry::Occupied(mut known) => {
                    if found.twice.is_none() {
                        found.twice = Some(known.key().clone());
                    }
                    known.insert(value);
                }
            }
        }
        Ok(found)
    }
}

/// The bytes of an item that was read as an object, as text; the item has none any more.
pub(crate) fn take_text(item: &mut Item) -> String {
    // What was read as an object is text: nothing is replaced here.
    String::from_utf8(std::mem::take(&mut item.body))
        .unwrap_or_else(|why| String::from_utf8_lossy(why.as_bytes()).into_owned())
}

/// The column within which a text breaks off.
fn column_around(start: &str) -> Option<String> {
    let mut at = start.find('{')? + 1;
    let bytes = start.as_bytes();
    loop {
        at = json::blank_end(bytes, at);
        let end = json::value_end(bytes, at).ok()?;
        let key: String = serde_json::from_str(start.get(at..end)?).ok()?;
        at = json::blank_end(bytes, end);
        at = json::blank_end(bytes, at + 1);
        let Ok(end) = json::value_end(bytes, at) else {
            return Some(key);
        };
        at = json::blank_end(bytes, end) + 1;
    }
}

fn not_json(text: &str, place: &Place, why: &serde_json::Error) -> RowFault {
    let blamed = json::members(text).and_then(|members| {
        members.into_iter().find_map(|member| {
            let value = &text[member.value_at.clone()];
            serde_json::from_str::<Value>(value)
                .err()
                .map(|_| (member.key, value.to_owned()))
        })
    });
    let value = blamed.as_ref().map_or(text, |(_, value)| value.as_str());
    let mut place = place.clone();
    if place.line > 0 {
        place.line += why.line().saturating_sub(1);
    }
    let behind = blamed.is_none().then(|| behind_the_object(text)).flatten();
    let (kind, what, way_out) = if let Some((what, way_out)) = behind {
        (FaultKind::NotJson, what.to_owned(), way_out)
    } else if has_lone_surrogate(value) {
        (
            FaultKind::LoneSurrogate,
            "half of a surrogate pair, which is no character".to_owned(),
            "write the text with errors='replace', or take the escape out",
        )
    } else if ["NaN", "Infinity", "-Infinity"].contains(&value) {
        (
            FaultKind::NotJson,
            format!("{value} is no JSON: Python wrote it for an empty or infinite number"),
            "write null or a text instead",
        )
    } else {
        let reason = why.to_string();
        let reason = reason.split(" at line ").next().unwrap_or_default();
        (
            FaultKind::NotJson,
            format!("no JSON: {reason}, at character {}", why.column()),
            "repair the row, or take it out",
        )
    };
    let fault = RowFault::new(kind, &place, what, way_out);
    match blamed {
        Some((column, _)) => fault.in_column(column),
        None => fault,
    }
}

/// What stands behind a whole object on its line, and what to do about it.
fn behind_the_object(text: &str) -> Option<(&'static str, &'static str)> {
    let end = json::value_end(text.as_bytes(), 0).ok()?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text[..end]).ok()?;
    match text[end..].trim_start().chars().next()? {
        ',' => Some((
            "a comma stands behind the row",
            "write one object a line without commas between them, or a list in brackets",
        )),
        '{' => Some((
            "another row stands behind this one on the same line",
            "write one object a line: `\\n` ends it, `\\r` alone does not",
        )),
        _ => None,
    }
}

/// Whether an escape `\uD800`…`\uDFFF` has no partner.
fn has_lone_surrogate(text: &str) -> bool {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        at += match unit(at) {
            Some(0xD800..=0xDBFF) => match unit(at + 6) {
                Some(0xDC00..=0xDFFF) => 12,
                _ => return true,
            },
            Some(0xDC00..=0xDFFF) => return true,
            Some(_) => 6,
            None => 2,
        };
    }
    false
}
