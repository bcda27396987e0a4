//! Vitest.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};
use crate::runners::order::{Other, Pin};
use crate::runners::scope::Scoping;

/// Where its options may stand in a command.
const OPTIONS: &str = r"(^|[\s/;(])vitest run ";

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["vitest"],
        place: |test| file(test.module),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(OPTIONS, "{} ")],
    }],
    singles: &[],
    orders: &[Other {
        parsers: &["vitest"],
        what: "shuffled, seed 4711",
        // It refuses a seed that is given twice.
        edits: &[
            Edit::Change(r"--sequence\.seed=\S+ ", ""),
            Edit::Insert(OPTIONS, "--sequence.shuffle --sequence.seed=4711 "),
        ],
    }],
    pins: &[Pin {
        parsers: &["vitest"],
        edits: &[Edit::Insert(OPTIONS, "--sequence.seed=1 ")],
    }],
    scopings: &[Scoping {
        parsers: &["vitest"],
        ends: &["js", "jsx", "ts", "tsx", "mjs", "cjs"],
        edits: &[Edit::Insert(OPTIONS, "{} ")],
        ..Scoping::FILES
    }],
};
