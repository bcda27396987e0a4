//! `cargo test`.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, libtest};
use crate::runners::order::Other;
use crate::runners::scope::{Reach, Scoping};

pub(super) const KNOWN: Known = Known {
    narrowings: &[
        Narrowing {
            parsers: &["cargo"],
            place: libtest,
            spelling: Spelling::Words,
            // Names are for the test programs, beside their options.
            edits: &[Edit::Insert(r#"cargo-test-each"[^;&|]* -- "#, "{} ")],
        },
        Narrowing {
            parsers: &["cargo"],
            place: libtest,
            spelling: Spelling::Words,
            edits: &[Edit::Insert(r#"cargo-test-each"[^;&|]*$"#, " -- {}")],
        },
    ],
    orders: &[Other {
        parsers: &["cargo"],
        what: "one after the other instead of side by side",
        edits: &[Edit::Set("RUST_TEST_THREADS", "1")],
    }],
    scopings: &[Scoping {
        parsers: &["cargo"],
        program: "toolbox/cargo-test-each",
        ends: &[".rs"],
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::Manifest("Cargo.toml"),
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
