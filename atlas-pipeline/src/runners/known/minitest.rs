//! minitest and test-unit.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, parent, word};
use crate::runners::order::{Other, Pin};
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    narrowings: &[
        Narrowing {
            parsers: &["minitest"],
            place: |test| parent(test.name, '#'),
            spelling: Spelling::Regex("/^(?:", ")#/"),
            edits: &[Edit::Insert(r#"load\.rb".* -- "#, "-n {} ")],
        },
        Narrowing {
            parsers: &["testunit"],
            // Its console groups classes below those they inherit from, which is no part of their names.
            place: |test| word(test.module.rsplit("::").next()?),
            spelling: Spelling::Regex("/(?:^|::)(?:", ")$/"),
            edits: &[Edit::Insert(r#"load\.rb".* -- "#, "-t {} ")],
        },
    ],
    singles: &[Narrowing {
        parsers: &["minitest"],
        place: |test| parent(test.name, '#').and_then(|_| word(test.name)),
        spelling: Spelling::Regex("/^(?:", ")$/"),
        edits: &[Edit::Insert(r#"load\.rb".* -- "#, "-n {} ")],
    }],
    orders: &[Other {
        parsers: &["minitest"],
        what: "random, seed 4711",
        edits: &[
            Edit::Set("SEED", "4711"),
            Edit::Append("TESTOPTS", "--seed=4711"),
            Edit::Change("--seed=0", "--seed=4711"),
        ],
    }],
    pins: &[Pin {
        parsers: &["minitest", "testunit"],
        edits: &[
            Edit::Default("SEED", "0"),
            Edit::Default("PARALLEL_WORKERS", "1"),
        ],
    }],
    scopings: &[Scoping {
        parsers: &["minitest", "testunit"],
        ends: &[".rb"],
        // Its own program takes a file that is not there for a pattern that matches none.
        edits: &[Edit::Replace(r" '[^']*\*[^']*\.rb' --", " {} --")],
        ..Scoping::FILES
    }],
};
