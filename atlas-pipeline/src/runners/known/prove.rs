//! prove.

use super::Known;
use crate::runners::scope::by_operands;

/// Its options whose value is a word of its own.
const VALUES: &[&str] = &[
    "-I",
    "-M",
    "-P",
    "-a",
    "--archive",
    "-e",
    "--exec",
    "--ext",
    "--formatter",
    "--harness",
    "-j",
    "--jobs",
    "--rc",
    "--rules",
    "--source",
    "--state",
    "--statefile",
];

pub(super) const KNOWN: Known = Known {
    scopings: &[by_operands(&["prove", "tap"], "prove", &[".t"], VALUES)],
    ..Known::NOTHING
};
