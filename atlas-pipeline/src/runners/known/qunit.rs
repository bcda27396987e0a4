//! `QUnit`.

use super::Known;
use crate::runners::Edit;
use crate::runners::order::Other;

pub(super) const KNOWN: Known = Known {
    orders: &[Other {
        parsers: &["tap"],
        what: "random, seed 4711",
        edits: &[Edit::Insert(r"(^|[\s/;(])qunit\b", " --seed 4711")],
    }],
    ..Known::NOTHING
};
