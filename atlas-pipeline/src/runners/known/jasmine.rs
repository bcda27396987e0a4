//! Jasmine.

use super::Known;
use crate::runners::Edit;
use crate::runners::order::Other;

pub(super) const KNOWN: Known = Known {
    orders: &[Other {
        // An adapter makes TAP of its results.
        parsers: &["tap"],
        what: "random, seed 4711",
        edits: &[Edit::Replace("--random=false", "--random=true --seed=4711")],
    }],
    ..Known::NOTHING
};
