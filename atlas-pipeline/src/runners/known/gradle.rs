//! Gradle.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::Spelling;
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    scopings: &[Scoping {
        parsers: &["gradle"],
        ends: &[".java", ".kt", ".groovy"],
        place: |path| Some(format!("*{}*", path.rsplit('/').next()?.split('.').next()?)),
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
