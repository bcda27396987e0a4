//! unittest, and Django's runner above it.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, parent};
use crate::runners::order::Other;
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["unittest"],
        place: |test| parent(test.qualified, '.'),
        spelling: Spelling::Options("-k"),
        edits: &[Edit::Insert(r"-m unittest( discover)?", " {}")],
    }],
    orders: &[Other {
        parsers: &["unittest", "django"],
        what: "methods in reverse",
        edits: &[
            Edit::File("sitecustomize.py", include_str!("order.py")),
            Edit::Before("export PYTHONPATH=\"$ATLAS_IN${PYTHONPATH:+:$PYTHONPATH}\""),
        ],
    }],
    scopings: &[Scoping {
        parsers: &["unittest"],
        ends: &[".py"],
        place: |path| {
            Some(format!(
                "{}.",
                path.rsplit('/').next()?.strip_suffix(".py")?
            ))
        },
        spelling: Spelling::Options("-k"),
        edits: &[Edit::Insert(r"-m unittest( discover)?", " {}")],
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
