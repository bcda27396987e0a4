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

/// Checks the columns that are there; null counts as absent.
pub(super) fn check(columns: &Map<String, Value>) -> Result<(), RowError> {
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
