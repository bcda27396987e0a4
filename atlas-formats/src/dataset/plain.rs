//! Rows of texts, read where they stand.

use super::lists::{RowLists, member};
use super::types;
use crate::json::{blank_end, value_end};
use atlas_core::{InstanceId, TestList};
use serde_json::Number;
use std::sync::OnceLock;

/// A row on its line: texts, numbers and the like, and lists of test ids beside them.
///
/// Most rows are that, and nothing of one is copied but its lists, and of texts with escapes those that are
/// asked for.
#[derive(Clone, Debug)]
pub struct PlainRow<'a> {
    id: InstanceId,
    line: usize,
    columns: Vec<(&'a str, Cell<'a>)>,
    lists: RowLists,
}

/// What stands in a column.
#[derive(Clone, Debug)]
enum Cell<'a> {
    Null,
    Text(&'a str),
    /// A text as JSON spells it, quotes included, and what it says.
    Spelled(&'a str, OnceLock<String>),
    /// A number, or true or false.
    Scalar,
}

/// As many columns as rows of the field have, or a few more.
const USUAL_COLUMNS: usize = 24;

impl<'a> PlainRow<'a> {
    /// The row that is this text, with lists in these columns. Nothing for a text that is no such row, be
    /// it as it may: that is for a reader of any row.
    pub(super) fn read(text: &'a str, line: usize, lists: &[&'static str]) -> Option<Self> {
        let bytes = text.as_bytes();
        // No text may hold a control character as it is, and between texts hardly anybody writes one.
        let least = bytes.iter().fold(u8::MAX, |least, byte| least.min(*byte));
        if least < b' ' {
            return None;
        }
        let mut columns: Vec<(&str, Cell<'_>)> = Vec::with_capacity(USUAL_COLUMNS);
        let mut found = RowLists::default();
        let mut at = blank_end(bytes, 0);
        if bytes.get(at) != Some(&b'{') {
            return None;
        }
        loop {
            let (name, value) = member(text, at)?;
            let is_known = columns.iter().any(|(known, _)| *known == name);
            if is_known || found.get(name).is_some() {
                return None;
            }
            let list = lists.iter().find(|list| **list == name);
            let list = list.and_then(|list| Some((*list, TestList::leading(&text[value..])?)));
            let end = if let Some((name, (list, rest))) = list {
                found.push(name, list);
                text.len() - rest.len()
            } else {
                let end = value_end(bytes, value).ok()?;
                columns.push((name, cell(name, &text[value..end])?));
                end
            };
            at = blank_end(bytes, end);
            match bytes.get(at) {
                Some(b',') => {}
                Some(b'}') if blank_end(bytes, at + 1) == bytes.len() => break,
                _ => return None,
            }
        }
        let id = columns.iter().find(|(name, _)| *name == "instance_id");
        let (_, id) = id?;
        Some(Self {
            id: id.text()?.parse().ok()?,
            line,
            columns,
            lists: found,
        })
    }

    /// The row's name.
    #[must_use]
    pub fn id(&self) -> &InstanceId {
        &self.id
    }

    /// The line on which it stands, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// Whether there is such a column, and it is no list.
    #[must_use]
    pub fn has(&self, column: &str) -> bool {
        self.cell(column).is_some()
    }

    fn cell(&self, column: &str) -> Option<&Cell<'a>> {
        let found = self.columns.iter().find(|(name, _)| *name == column);
        found.map(|(_, cell)| cell)
    }

    /// A text column; absent or null is `None` in it. Nothing for a column that holds something else.
    #[must_use]
    pub fn text(&self, column: &str) -> Option<Option<&str>> {
        match self.cell(column) {
            None | Some(Cell::Null) => Some(None),
            Some(cell) => cell.text().map(Some),
        }
    }

    /// Whether there is text in a column; nothing for a column that holds something else.
    #[must_use]
    pub fn has_text(&self, column: &str) -> Option<bool> {
        match self.cell(column) {
            None | Some(Cell::Null) => Some(false),
            Some(Cell::Text(_) | Cell::Spelled(..)) => Some(true),
            Some(Cell::Scalar) => None,
        }
    }

    /// The lists of test ids.
    #[must_use]
    pub fn lists(&self) -> &RowLists {
        &self.lists
    }
}

impl Cell<'_> {
    /// The text, if it is one.
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Spelled(spelled, said) => {
                // It is one: `spelled`.
                let said = said.get_or_init(|| serde_json::from_str(spelled).unwrap_or_default());
                Some(said)
            }
            Self::Null | Self::Scalar => None,
        }
    }
}

/// A text with escapes, in which no quote stands by itself. Nothing where JSON knows one of them not.
fn spelled(text: &str) -> Option<Cell<'_>> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(next) = memchr::memchr(b'\\', &bytes[at..]) {
        at += next + 2;
        if !matches!(
            bytes.get(at - 1),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
        ) {
            // Four digits, and half of a pair is none: that is for the reader of JSON, and what it said is kept.
            let said: String = serde_json::from_str(text).ok()?;
            return Some(Cell::Spelled(text, said.into()));
        }
    }
    Some(Cell::Spelled(text, OnceLock::new()))
}

/// What this text says in a column, if it may stand there.
fn cell<'a>(column: &str, value: &'a str) -> Option<Cell<'a>> {
    let cell = match value {
        "null" => Cell::Null,
        "true" | "false" => Cell::Scalar,
        _ => match value
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'))
        {
            Some(plain) if memchr::memchr(b'\\', plain.as_bytes()).is_none() => Cell::Text(plain),
            Some(_) => spelled(value)?,
            None => {
                serde_json::from_str::<Number>(value).ok()?;
                Cell::Scalar
            }
        },
    };
    let fits = match cell {
        Cell::Null => true,
        Cell::Text(_) | Cell::Spelled(..) => !types::is_list(column),
        Cell::Scalar => !types::is_list(column) && !types::is_text(column),
    };
    fits.then_some(cell)
}

#[cfg(test)]
mod tests {
    use super::PlainRow;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    const LISTS: [&str; 2] = ["FAIL_TO_PASS", "PASS_TO_PASS"];

    fn read(text: &str) -> Option<PlainRow<'_>> {
        PlainRow::read(text, 1, &LISTS)
    }

    /// What is read as plain says the same as an object.
    #[track_caller]
    fn agrees(text: &str) -> bool {
        let Some(row) = read(text) else {
            return false;
        };
        let columns: Map<String, Value> = serde_json::from_str(text).unwrap();
        assert_eq!(columns["instance_id"], row.id().as_str());
        for (name, value) in &columns {
            if let Some(list) = row.lists().get(name) {
                let encoded = value.as_str().map(serde_json::from_str::<Value>);
                let value = encoded.map_or(value.clone(), Result::unwrap);
                assert_eq!(serde_json::to_value(&list.ids).unwrap(), value);
            } else {
                assert!(row.has(name));
                let text = value.is_string() || value.is_null();
                assert_eq!(row.text(name), text.then(|| value.as_str()), "{name}");
            }
        }
        assert_eq!(row.text("absent"), Some(None));
        let lists = LISTS.iter().filter(|name| row.lists().get(name).is_some());
        assert_eq!(columns.len(), row.columns.len() + lists.count());
        true
    }

    #[test]
    fn texts_and_lists_are_read_where_they_stand() {
        for text in [
            r#"{"instance_id":"a__b-1"}"#,
            r#" { "instance_id" : "a__b-1" , "n" : -1.5e3 , "t" : true , "x" : null } "#,
            r#"{"patch":"a\n\"\u00e4\ud83d\ude00","FAIL_TO_PASS":"[\"t::a\", \"ä\"]","instance_id":"a"}"#,
            r#"{"instance_id":"a","FAIL_TO_PASS":["a","b"],"PASS_TO_PASS":null,"repo":""}"#,
        ] {
            assert!(agrees(text), "{text}");
        }
    }

    #[test]
    fn other_rows_are_left_to_others() {
        for text in [
            "",
            "{",
            "{}",
            "[]",
            r#"{"instance_id":"a"},"#,
            r#"{"instance_id":"a"}}"#,
            r#"{"instance_id":"a",}"#,
            r#"{"instance_id":"a" "x":1}"#,
            r#"{"instance_id":"a"{"x":1}"#,
            r#"{"instance_id":"a","x":01}"#,
            r#"{"instance_id":"a","x":1e999}"#,
            r#"{"instance_id":"a","x":NaN}"#,
            r#"{"instance_id":"a","x":{}}"#,
            r#"{"instance_id":"a","x":[]}"#,
            r#"{"instance_id":"a","x":"\ud800"}"#,
            r#"{"instance_id":"a","x":"\x"}"#,
            "{\"instance_id\":\"a\",\"x\":\"\t\"}",
            "{\"instance_id\":\"a\",\t\"x\":1}",
            r#"{"instance_id":"a","x":1,"x":2}"#,
            r#"{"instance_id":"a","\u0078":1}"#,
            r#"{"instance_id":"a/b"}"#,
            r#"{"instance_id":null,"org":"a","repo":"b","number":1}"#,
            r#"{"instance_id":1}"#,
            r#"{"instance_id":"a","patch":1}"#,
            r#"{"instance_id":"a","FAIL_TO_PASS":1}"#,
            r#"{"instance_id":"a","FAIL_TO_PASS":"['a']"}"#,
            r#"{"instance_id":"a","FAIL_TO_PASS":["a"],"FAIL_TO_PASS":["b"]}"#,
            r#"{"instance_id":"a","FAIL_TO_PASS":["a"],"FAIL_TO_PASS":null}"#,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_row_with_a_few_other_bytes_is_the_same_row_or_none(
            at in 0_usize..140,
            put in "[\\x00-\\x7fä]{0,3}",
            take in 0_usize..4,
        ) {
            let row = r#"{"instance_id":"a__b-1","repo":"a\"/b","n":12.5,"t":false,"FAIL_TO_PASS":"[\"a\", \"b\"]","PASS_TO_PASS":["c","d"],"x":null}"#;
            let at = at.min(row.len());
            let end = (at + take).min(row.len());
            let changed = format!("{}{put}{}", &row[..at], &row[end..]);
            agrees(&changed);
        }
    }
}
