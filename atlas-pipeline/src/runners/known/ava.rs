//! AVA.

use super::{Known, SCRIPTS};
use crate::runners::scope::by_operands;

/// Its options whose value is a word of its own.
const VALUES: &[&str] = &[
    "--timeout",
    "-T",
    "--match",
    "-m",
    "--concurrency",
    "-c",
    "--config",
    "--node-arguments",
];

pub(super) const KNOWN: Known = Known {
    scopings: &[by_operands(&["ava"], "ava", SCRIPTS, VALUES)],
    ..Known::NOTHING
};
