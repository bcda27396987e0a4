//! `GoogleTest`, and `CTest` above it.

use super::Known;
use crate::runners::Edit;
use crate::runners::order::{Other, Pin};

pub(super) const KNOWN: Known = Known {
    orders: &[Other {
        parsers: &["gtest"],
        what: "shuffled, seed 4711",
        edits: &[
            Edit::Set("GTEST_SHUFFLE", "1"),
            Edit::Set("GTEST_RANDOM_SEED", "4711"),
        ],
    }],
    pins: &[Pin {
        parsers: &["gtest", "ctest"],
        edits: &[Edit::Default("GTEST_RANDOM_SEED", "1")],
    }],
    ..Known::NOTHING
};
