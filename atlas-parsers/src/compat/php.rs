//! `PHPUnit` with `--testdox`.

use super::go::bracketed;
use super::text::{is_word, lstrip};
use super::{CompatStatuses, FAILED, PASSED, SKIPPED};

pub(super) fn phpunit(log: &str) -> CompatStatuses {
    let mut found = CompatStatuses::new();
    // The word that the harnesses write for a test before any suite.
    let mut suite = "None";
    for line in log.split('\n') {
        if let Some(name) = suite_name(line) {
            suite = name;
            continue;
        }
        let text = lstrip(line);
        for (mark, status) in [('✔', PASSED), ('✘', FAILED), ('↩', SKIPPED)] {
            if let Some(name) = text.strip_prefix(mark) {
                found.insert(format!("{suite} > {}", lstrip(name)), status.to_owned());
            }
        }
    }
    found
}

/// `Calculator (Tests\Calculator)` as `Calculator`: two characters or more, the first of a word.
fn suite_name(line: &str) -> Option<&str> {
    let name = bracketed(line)?;
    let mut chars = name.chars();
    (chars.next().is_some_and(is_word) && chars.next().is_some()).then_some(name)
}
