//! `go test`, and gotestsum around it.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, word};
use crate::runners::order::Other;
use crate::runners::scope::{Reach, Scoping};

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["gotest", "gotestsum"],
        place: |test| word(test.module),
        spelling: Spelling::Words,
        edits: &[Edit::Replace(r" \./\.\.\.", " {}")],
    }],
    orders: &[Other {
        parsers: &["gotest", "gotestsum"],
        what: "shuffled, seed 20240229",
        // Go before 1.17 refuses a flag in GOFLAGS that it does not know.
        edits: &[
            Edit::Before(
                "if go help testflag 2>/dev/null | grep -q -e -shuffle; then \
                     export GOFLAGS=\"${GOFLAGS:+$GOFLAGS }-shuffle=20240229\"; fi",
            ),
            Edit::Set("GINKGO_SEED", "20240229"),
        ],
    }],
    scopings: &[Scoping {
        parsers: &["gotest", "gotestsum"],
        ends: &[".go"],
        place: |path| {
            Some(
                path.rsplit_once('/')
                    .map_or_else(|| ".".to_owned(), |(folder, _)| format!("./{folder}")),
            )
        },
        edits: &[Edit::Replace(r" \./\.\.\.", " {}")],
        reach: Reach::Package,
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
