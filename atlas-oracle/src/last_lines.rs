//! What a person looks at first in a log.

use crate::StateRun;
use atlas_core::{Evidence, State};
use std::collections::BTreeMap;

/// The last lines of the first state that shows nothing: what a person would look at first.
pub(crate) fn last_lines(runs: &BTreeMap<State, &StateRun>) -> Vec<Evidence> {
    runs.iter()
        .find(|(_, run)| run.parsed.is_empty())
        .map(|(state, run)| last_lines_of(&run.log, &format!("{state}.log"), 12))
        .unwrap_or_default()
}

pub(crate) fn last_lines_of(log: &[u8], source: &str, count: usize) -> Vec<Evidence> {
    let text = String::from_utf8_lossy(log);
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    lines[lines.len().saturating_sub(count)..]
        .iter()
        .map(|(number, line)| Evidence::at(source, number + 1, *line))
        .collect()
}
