//! `CTest`, Meson and Automake, by the drivers of their plans.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::Spelling;
use crate::runners::scope::{Reach, Scoping};

/// Sources of C and C++, what they include, and scripts that are tests of themselves.
const ENDS: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".h", ".hpp", ".hh", ".hxx", ".sh", ".py", ".pl",
    ".test",
];

pub(super) const KNOWN: Known = Known {
    scopings: &[
        by_driver("toolbox/ctest.sh"),
        by_driver("toolbox/meson.sh"),
        // Of a Makefile written by hand nothing says what a test is made of.
        by_driver("toolbox/make.sh\" automake"),
    ],
    ..Known::NOTHING
};

/// Tests that a driver of the plan looks up by the files that they are built of.
const fn by_driver(program: &'static str) -> Scoping {
    Scoping {
        program,
        ends: ENDS,
        spelling: Spelling::Blanks,
        edits: &[Edit::Set("ATLAS_TESTS", "{}")],
        reach: Reach::FromRoot,
        ..Scoping::FILES
    }
}
