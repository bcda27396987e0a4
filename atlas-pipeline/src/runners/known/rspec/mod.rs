//! `RSpec`.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};
use crate::runners::order::{Other, Pin};
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["rspec"],
        place: |test| file(test.file.unwrap_or(test.module)),
        spelling: Spelling::Lines,
        edits: &[
            Edit::File("atlas_only.rb", include_str!("only.rb")),
            Edit::Before("export ATLAS_ONLY={}"),
            Edit::Append("SPEC_OPTS", "--require $ATLAS_IN/atlas_only.rb"),
        ],
    }],
    singles: &[],
    orders: &[Other {
        parsers: &["rspec"],
        what: "random, seed 4711",
        edits: &[Edit::Append("SPEC_OPTS", "--order rand:4711")],
    }],
    pins: &[Pin {
        parsers: &["rspec"],
        edits: &[Edit::Default("SPEC_OPTS", "--order defined")],
    }],
    scopings: &[Scoping {
        parsers: &["rspec"],
        ends: &["_spec.rb"],
        edits: &[Edit::Insert(
            r"--require \S*keep_going\.rb\S*",
            " $(ls -d -- {} 2>/dev/null)",
        )],
        ..Scoping::FILES
    }],
};
