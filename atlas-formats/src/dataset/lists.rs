//! Lists of test ids, read apart from their row.

use crate::json::{blank_end, value_end};
use atlas_core::TestList;
use std::ops::Range;

/// What stands in the place of a list that was taken out.
const NULL: &str = "null";

/// Lists of test ids that were taken out of a row, by their columns.
///
/// A row is little else than its lists, and as values of the row each would be read twice.
#[derive(Clone, Debug, Default)]
pub struct RowLists(Vec<(&'static str, TestList)>);

impl RowLists {
    /// The list of a column; nothing where the row has what stands in it.
    #[must_use]
    pub fn get(&self, column: &str) -> Option<&TestList> {
        let found = self.0.iter().find(|(name, _)| *name == column);
        found.map(|(_, list)| list)
    }

    /// Adds the list of a column that has none yet.
    pub(super) fn push(&mut self, column: &'static str, list: TestList) {
        self.0.push((column, list));
    }
}

/// The name of the member that follows the bracket or comma at `at`, and where its value begins. Nothing
/// where none does, or where the name has escapes.
pub(super) fn member(text: &str, at: usize) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let name = blank_end(bytes, at + 1);
    if bytes.get(name) != Some(&b'"') {
        return None;
    }
    let name_end = value_end(bytes, name).ok()?;
    let name = &text[name + 1..name_end - 1];
    let colon = blank_end(bytes, name_end);
    if bytes.get(colon) != Some(&b':') || name.contains('\\') {
        return None;
    }
    Some((name, blank_end(bytes, colon + 1)))
}

/// The text of an object with `null` for the lists of these columns, and those lists. Nothing where that
/// cannot be told, or where there are none.
///
/// The text need not be JSON: what is left of it is if, and only if, all of it is.
pub(super) fn take_out(text: &str, columns: &[&'static str]) -> Option<(String, RowLists)> {
    let bytes = text.as_bytes();
    let mut lists = Vec::new();
    // Where lists stand.
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut at = blank_end(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    while matches!(bytes.get(at), Some(b'{' | b',')) {
        let (name, value) = member(text, at)?;
        let column = columns.iter().find(|column| **column == name);
        let mut list = None;
        if let Some(column) = column {
            // Of a column that is there twice the last counts.
            lists.retain(|(known, _)| known != column);
            list = TestList::leading(&text[value..]).map(|(list, rest)| (*column, list, rest));
        }
        let end = match list {
            Some((column, list, rest)) => {
                let end = text.len() - rest.len();
                cuts.push(value..end);
                lists.push((column, list));
                end
            }
            None => value_end(bytes, value).ok()?,
        };
        at = blank_end(bytes, end);
    }
    if lists.is_empty() {
        return None;
    }
    let cut: usize = cuts.iter().map(Range::len).sum();
    let mut left = String::with_capacity(text.len() - cut + cuts.len() * NULL.len());
    let mut copied = 0;
    for cut in cuts {
        left.push_str(&text[copied..cut.start]);
        left.push_str(NULL);
        copied = cut.end;
    }
    left.push_str(&text[copied..]);
    Some((left, RowLists(lists)))
}

#[cfg(test)]
mod tests {
    use super::take_out;

    #[track_caller]
    fn check(text: &str, left: &str, lists: &[(&str, &[&str])]) {
        let (found, taken) = take_out(text, &["F", "P"]).unwrap();
        assert_eq!(found, left);
        assert_eq!(taken.0.len(), lists.len());
        for (column, ids) in lists {
            assert_eq!(taken.get(column).unwrap().ids, **ids);
        }
    }

    #[test]
    fn lists_are_taken_out_in_both_forms() {
        check(
            r#" {"a": "{\"", "F" : "[\"x\",\"y \"]" ,"b":{"F":["z"]},"P":[ "u" , "v" ]} "#,
            r#" {"a": "{\"", "F" : null ,"b":{"F":["z"]},"P":null} "#,
            &[("F", &["x", "y "]), ("P", &["u", "v"])],
        );
        check(
            r#"{"F":"[]","P":[1]}"#,
            r#"{"F":null,"P":[1]}"#,
            &[("F", &[])],
        );
    }

    #[test]
    fn the_last_of_two_counts() {
        check(
            r#"{"F":["a"],"P":["b"],"F":["c"]}"#,
            r#"{"F":null,"P":null,"F":null}"#,
            &[("P", &["b"]), ("F", &["c"])],
        );
        check(
            r#"{"F":["a"],"P":["b"],"F":"x"}"#,
            r#"{"F":null,"P":null,"F":"x"}"#,
            &[("P", &["b"])],
        );
    }

    #[test]
    fn what_is_not_plain_stays() {
        for text in [
            r#"{"F":["a\n"]}"#,
            r#"{"F":"[\"a\\n\"]"}"#,
            r#"{"F":"['a']"}"#,
            r#"{"F":["a",]}"#,
            "{\"F\":[\"a\tb\"]}",
            r#"{"F":["a"#,
            r#"{"F":"[\"a\"],"}"#,
            r#"{"\u0046":["a"],"P":["b"]}"#,
            r#"["F"]"#,
            "{",
            "",
        ] {
            assert!(take_out(text, &["F", "P"]).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_broken_stays_broken() {
        for text in [
            r#"{"F":["a"]"#,
            r#"{"F":["a"]x}"#,
            r#"{"F":["a"],}"#,
            r#"{"F":["a"]}}"#,
            r#"{"F":["a"] "P":["b"]}"#,
        ] {
            let left = take_out(text, &["F", "P"]);
            let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert!(left.is_none_or(|(left, _)| !is_json(&left)), "{text}");
        }
    }
}
