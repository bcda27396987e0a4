//! Mocha.

use super::{Known, SCRIPTS};
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, word};
use crate::runners::scope::by_operands;

/// Options of Mocha's, and of node's below it, whose value is a word of its own.
const VALUES: &[&str] = &[
    "--require",
    "-r",
    "--timeout",
    "--timeouts",
    "-t",
    "--ui",
    "-u",
    "--extension",
    "--file",
    "--ignore",
    "--exclude",
    "--config",
    "--package",
    "--slow",
    "-s",
    "--retries",
    "--grep",
    "-g",
    "--fgrep",
    "-f",
    "--jobs",
    "-j",
    "--reporter",
    "-R",
    "--reporter-option",
    "--reporter-options",
    "-O",
    "--global",
    "--globals",
    "--import",
    "--loader",
    "--experimental-loader",
    "--node-option",
    "-n",
    "--opts",
    "--compilers",
];

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["mocha"],
        place: |test| word(&test.name.replace(" > ", " ")),
        spelling: Spelling::Regex("^(?:", ")$"),
        edits: &[Edit::Insert(r"(^|[\s/;(])mocha ", "--grep {} ")],
    }],
    scopings: &[by_operands(&["mocha"], "mocha", SCRIPTS, VALUES)],
    ..Known::NOTHING
};
