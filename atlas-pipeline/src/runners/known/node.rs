//! node's own runner, and borp.

use super::{Known, SCRIPTS};
use crate::runners::scope::by_operands;

/// Its options whose value is a word of its own.
const VALUES: &[&str] = &[
    "--require",
    "-r",
    "--import",
    "--loader",
    "--experimental-loader",
    "--conditions",
    "-C",
    "--test-concurrency",
    "--test-name-pattern",
    "--test-skip-pattern",
    "--test-reporter",
    "--test-reporter-destination",
    "--test-timeout",
    "--env-file",
    "--reporter",
    "--timeout",
    "--concurrency",
    "--pattern",
];

pub(super) const KNOWN: Known = Known {
    scopings: &[by_operands(&["nodetest"], "", SCRIPTS, VALUES)],
    ..Known::NOTHING
};
