//! Which languages' rules apply to a run.

use crate::command::Command;
use atlas_facts::{Family, family_of_parser, programs_of_families};
use std::collections::BTreeSet;

/// All families but that of shells, for which there are no rules: a shell script is judged by the programs that it starts.
fn with_rules() -> impl Iterator<Item = Family> {
    Family::ALL
        .into_iter()
        .filter(|family| *family != Family::Shell)
}

/// The families of a run; all of them where neither parser nor language nor command tells.
pub(crate) fn families(parser: &str, language: &str, command: &Command) -> BTreeSet<Family> {
    let parser = parser.strip_prefix("parse_log_").unwrap_or(parser);
    let mut found: BTreeSet<Family> = parser.split('+').filter_map(family_of_parser).collect();
    found.extend(Family::of_language(language));
    let started = programs_of_families().filter(|(_, program)| command.runs(program));
    found.extend(started.map(|(family, _)| family));
    found.remove(&Family::Shell);
    if found.is_empty() {
        found.extend(with_rules());
    }
    found
}
