//! bats.

use super::Known;
use crate::runners::scope::by_operands;

/// Its options whose value is a word of its own.
const VALUES: &[&str] = &[
    "--filter",
    "-f",
    "--filter-status",
    "--filter-tags",
    "--negative-filter",
    "--formatter",
    "-F",
    "--report-formatter",
    "--gather-test-outputs-in",
    "--jobs",
    "-j",
    "--parallel-binary-name",
    "--output",
    "-o",
    "--line-reference-format",
    "--code-quote-style",
];

pub(super) const KNOWN: Known = Known {
    scopings: &[by_operands(&["bats"], "bats", &[".bats"], VALUES)],
    ..Known::NOTHING
};
