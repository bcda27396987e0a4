//! `bun test`.

use super::{Known, SCRIPTS};
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, file};
use crate::runners::order::Other;
use crate::runners::scope::by_operands;

/// Where its options may stand in a command.
const OPTIONS: &str = r"(^|[\s/;(])bun (-\S+ )*test\b";

/// Its options whose value is a word of its own.
const VALUES: &[&str] = &[
    "--test-name-pattern",
    "-t",
    "--preload",
    "-r",
    "--require",
    "--import",
    "--timeout",
    "--rerun-each",
    "--retry",
    "--max-concurrency",
    "--path-ignore-patterns",
    "--env-file",
    "--config",
    "-c",
    "--cwd",
    "--define",
    "-d",
    "--loader",
    "-l",
    "--conditions",
    "--tsconfig-override",
];

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["bun"],
        place: |test| file(test.module).map(|file| format!("./{file}")),
        spelling: Spelling::Words,
        edits: &[Edit::Insert(OPTIONS, " {}")],
    }],
    orders: &[Other {
        parsers: &["bun"],
        what: "random, seed 4711",
        // Bun refuses an option that it does not know.
        edits: &[Edit::Insert(
            OPTIONS,
            " $(bun test --help 2>/dev/null | grep -q -e --randomize && echo --randomize --seed=4711)",
        )],
    }],
    scopings: &[by_operands(&["bun"], "", SCRIPTS, VALUES)],
    ..Known::NOTHING
};
