//! node-tap.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["tap"],
        place: |test| file(test.module),
        spelling: Spelling::Words,
        // Only where the command names no files of its own.
        edits: &[Edit::Insert(r"(^|[\s/;(])tap( -\S+)*$", " {}")],
    }],
    ..Known::NOTHING
};
