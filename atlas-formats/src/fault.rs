//! What is wrong with a part of a file, while the rest is fine.

use crate::framing::Item;
use crate::json;
use crate::row::{Place, RowError};
use serde::{Serialize, Serializer};
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

/// Reads an item as an object; `extra` gets faults that leave it usable.
pub(crate) fn object(
    item: &Item,
    place: &Place,
    extra: &mut Vec<RowFault>,
) -> Result<(Map<String, Value>, String), Box<RowFault>> {
    let text = match std::str::from_utf8(&item.body) {
        Ok(text) => text,
        Err(why) => {
            let at = why.valid_up_to();
            let fault = RowFault::new(
                FaultKind::NotUtf8,
                place,
                format!(
                    "byte {} of the row, 0x{:02x}, is no UTF-8",
                    at, item.body[at]
                ),
                "save the file as UTF-8, or escape the character as \\uXXXX",
            );
            let column = column_around(&String::from_utf8_lossy(&item.body[..at]));
            return Err(Box::new(match column {
                Some(column) => fault.in_column(column),
                None => fault,
            }));
        }
    };
    if let Some(why) = item.broken {
        return Err(Box::new(RowFault::new(
            FaultKind::NotJson,
            place,
            why,
            "repair the brackets and quotes here, or take the row out",
        )));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(columns)) => {
            if let Some(twice) = twice(text, columns.len()) {
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
            Ok((columns, text.to_owned()))
        }
        Ok(other) => Err(Box::new(RowFault::new(
            FaultKind::NotAnObject,
            place,
            format!("an object expected, found {}", crate::row::kind_of(&other)),
            "write one object per row",
        ))),
        Err(why) => Err(Box::new(not_json(text, place, &why))),
    }
}

/// The first column whose name stands there twice.
fn twice(text: &str, known: usize) -> Option<String> {
    let members = json::members(text)?;
    if members.len() == known {
        return None;
    }
    let mut seen = std::collections::BTreeSet::new();
    members
        .into_iter()
        .map(|member| member.key)
        .find(|key| !seen.insert(key.clone()))
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
    let (kind, what, way_out) = if has_lone_surrogate(value) {
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
