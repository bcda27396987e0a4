//! Jest.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};
use crate::runners::order::Other;
use crate::runners::scope::Scoping;

/// Where its options may stand in a command.
const OPTIONS: &str = r"(^|[\s/;(])jest(\.js)? ";

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["jest"],
        place: |test| file(test.module),
        spelling: Spelling::Regex("^(?!.*/(?:", ")$).*$"),
        edits: &[Edit::Insert(OPTIONS, "--testPathIgnorePatterns={} ")],
    }],
    orders: &[Other {
        parsers: &["jest"],
        what: "random within files, seed 4711",
        // Jest refuses an option that it does not know.
        edits: &[Edit::Insert(
            OPTIONS,
            "$(jest --help 2>/dev/null | grep -q -e --randomize && echo --randomize --seed=4711) ",
        )],
    }],
    scopings: &[Scoping {
        parsers: &["jest"],
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        spelling: Spelling::Regex("^(?!.*/(?:", ")$).*$"),
        edits: &[Edit::Insert(OPTIONS, "--testPathIgnorePatterns={} ")],
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
