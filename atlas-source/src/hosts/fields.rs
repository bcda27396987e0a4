//! Fields of the objects that APIs answer with.

use super::time;
use atlas_core::CommitSha;
use serde_json::Value;

/// A text, if the field holds one.
pub(in crate::hosts) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

/// A text, empty where there is none.
pub(in crate::hosts) fn owned(value: &Value, field: &str) -> String {
    text(value, field).unwrap_or_default().to_owned()
}

/// A time as pull requests have it.
pub(in crate::hosts) fn at(value: &Value, field: &str) -> Option<String> {
    text(value, field).and_then(time::normal)
}

/// A commit.
pub(in crate::hosts) fn sha(value: &Value, field: &str) -> Option<CommitSha> {
    text(value, field)?.parse().ok()
}
