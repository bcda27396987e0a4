//! Which values the columns that all schemas share may hold.

use crate::row::{RowError, wrong};
use serde_json::{Map, Value};

/// Columns that hold text wherever they occur.
const TEXTS: &[&str] = &[
    "base_commit",
    "eval_script",
    "fix_patch",
    "gold_patch",
    "patch",
    "problem_statement",
    "repo",
    "test_patch",
];

/// Columns that hold a list of texts, or a text that encodes one.
const LISTS: &[&str] = &[
    "FAIL_TO_PASS",
    "PASS_TO_PASS",
    "fail_to_pass",
    "pass_to_pass",
];

/// Whether a column holds text wherever it occurs.
pub(super) fn is_text(column: &str) -> bool {
    TEXTS.contains(&column)
}

/// Whether a column holds a list of texts.
pub(super) fn is_list(column: &str) -> bool {
    LISTS.contains(&column)
}

/// Checks the columns that are there; null counts as absent.
pub(super) fn check(columns: &Map<String, Value>) -> Result<(), RowError> {
    // One look at each column is cheaper than a search for each name. Which name comes first matters only
    // where something is wrong.
    let is_right = |(name, value): (&String, &Value)| match value {
        Value::Null | Value::String(_) => true,
        Value::Array(items) if is_list(name) => items.iter().all(Value::is_string),
        _ => !is_list(name) && !is_text(name),
    };
    if columns.iter().all(is_right) {
        return Ok(());
    }
    for column in TEXTS {
        match columns.get(*column) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(other) => return Err(wrong(column, "text", other)),
        }
    }
    for column in LISTS {
        match columns.get(*column) {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(Value::Array(items)) => {
                if let Some(item) = items.iter().find(|item| !item.is_string()) {
                    return Err(wrong(column, "a list of texts", item));
                }
            }
            Some(other) => return Err(wrong(column, "a list of texts", other)),
        }
    }
    Ok(())
}
