//! A raw log, with the lines marked that a parser read results from.

use crate::shell::clean;
use atlas_core::TestStatus;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A line of a log that results were read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadLine {
    /// Statuses read from this line, with how many tests have each.
    pub statuses: BTreeMap<TestStatus, u32>,
    /// Whether a test is among them that a reader looks for: it defines the task, or does not pass.
    pub is_telling: bool,
}

/// A log and what its parser read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogView {
    /// The whole text.
    pub text: String,
    /// Line, from 1 -> what was read from it.
    pub read: BTreeMap<usize, ReadLine>,
    /// What is to be said of the reading; empty for nothing.
    pub note: String,
}

/// Logs of at most so many lines are shown whole.
const WHOLE: usize = 2500;
/// Of longer ones: lines at both ends, lines around one that tells, and telling lines at all.
const ENDS: usize = 150;
const AROUND: usize = 12;
const TELLING: usize = 120;

/// The lines of a log, each with an address: `#<id>-<line>`. Of a long log what tells nothing is left
/// out, and the gap says how many lines it stands for.
pub(crate) fn lines(id: &str, view: &LogView) -> Markup {
    let all: Vec<&str> = view.text.lines().collect();
    let shown = shown(all.len(), view);
    let mut last = 0;
    let mut parts: Vec<(usize, Option<&str>)> = Vec::new();
    for (from, to) in shown {
        if from > last + 1 {
            parts.push((from - last - 1, None));
        }
        parts.extend((from..=to).map(|number| (number, Some(all[number - 1]))));
        last = to;
    }
    if last < all.len() {
        parts.push((all.len() - last, None));
    }
    html! {
        ol {
            @for (number, line) in parts {
                @match line {
                    None => { li.gap value="" { (number) " lines that are not shown here" } }
                    Some(line) => { (one(id, number, line, view.read.get(&number))) }
                }
            }
        }
    }
}

fn one(id: &str, number: usize, line: &str, read: Option<&ReadLine>) -> Markup {
    let Some(read) = read else {
        return html! { li value=(number) { (clean(line)) } };
    };
    let passes = read.statuses.keys().all(|status| is_fine(*status));
    html! {
        li.read.telling[read.is_telling].good-line[passes].bad-line[!passes] id={ (id) "-" (number) } value=(number) {
            (clean(line))
            @for (status, count) in &read.statuses {
                b class=(if is_fine(*status) { "good" } else { "bad" }) { (status) @if *count > 1 { " × " (count) } }
            }
        }
    }
}

fn is_fine(status: TestStatus) -> bool {
    status.is_passing() || status == TestStatus::Skipped
}

/// The stretches of lines that are shown, from 1, in order and apart from each other.
fn shown(all: usize, view: &LogView) -> Vec<(usize, usize)> {
    if all == 0 {
        return Vec::new();
    }
    if all <= WHOLE {
        return vec![(1, all)];
    }
    let telling = view.read.iter().filter(|(_, line)| line.is_telling);
    let around = telling.take(TELLING).map(|(number, _)| {
        (
            number.saturating_sub(AROUND).max(1),
            (number + AROUND).min(all),
        )
    });
    let mut wanted: Vec<(usize, usize)> = around.filter(|(from, to)| from <= to).collect();
    wanted.push((1, ENDS));
    wanted.push((all - ENDS + 1, all));
    wanted.sort_unstable();
    let mut apart: Vec<(usize, usize)> = Vec::new();
    for (from, to) in wanted {
        match apart.last_mut() {
            Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
            _ => apart.push((from, to)),
        }
    }
    apart
}
