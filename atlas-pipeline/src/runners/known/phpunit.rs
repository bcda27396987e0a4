//! PHPUnit.

use super::Known;
use crate::runners::Edit;
use crate::runners::narrow::{Narrowing, Spelling, word};
use crate::runners::order::Other;
use crate::runners::scope::Scoping;

pub(super) const KNOWN: Known = Known {
    narrowings: &[Narrowing {
        parsers: &["phpunit"],
        place: |test| {
            test.name
                .split_once("::")
                .and_then(|(class, _)| word(class))
        },
        spelling: Spelling::Regex("/^(?:", ")::/"),
        edits: &[Edit::Insert(r#"bin/(simple-)?phpunit\b"?"#, " --filter {}")],
    }],
    orders: &[Other {
        parsers: &["phpunit"],
        what: "reverse",
        edits: &[Edit::Insert(
            r#"bin/(simple-)?phpunit\b"?"#,
            " --order-by=depends,reverse",
        )],
    }],
    scopings: &[Scoping {
        parsers: &["phpunit"],
        ends: &["Test.php"],
        place: |path| Some(path.rsplit('/').next()?.strip_suffix(".php")?.to_owned()),
        spelling: Spelling::Regex(r"/(?:^|\\)(?:", ")::/"),
        edits: &[Edit::Insert(r#"bin/(simple-)?phpunit\b"?"#, " --filter {}")],
        ..Scoping::FILES
    }],
    ..Known::NOTHING
};
