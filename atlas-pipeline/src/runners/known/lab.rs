//! lab.

use super::Known;
use crate::runners::Edit;
use crate::runners::order::Other;

pub(super) const KNOWN: Known = Known {
    orders: &[Other {
        parsers: &["lab"],
        what: "shuffled, seed 4711",
        edits: &[Edit::Insert(r"(^|[\s/;(])lab\b", " --shuffle --seed 4711")],
    }],
    ..Known::NOTHING
};
