//! What an agent was told, without the hint.

use crate::quality::{speaks, squeeze};
use crate::{Content, HintTerms, Source, Trajectory};
use serde_json::Value;

/// The trajectory without the hint in what the agent was told, and how many lines were cut out: what is learnt from it
/// must not need a hint.
///
/// Where the hint stands as a whole, white space and empty lines aside, all its lines go, and with them a Markdown heading
/// right before it, whatever it says, or a line such as `Hints:` or `<hints>`, and a closing tag behind. Else lines that repeat one of the hint go.
/// Steps of the agent stay as they are: there a hint is a fault that gates find.
///
/// ```
/// use atlas_trajectory::{Source, Step, Trajectory, without_hint};
/// let mut told = Trajectory::new("me");
/// told.push(Step::new(Source::User, "Repair it.\n\n## Hints\n- `cart.py`: `def total(items, tax)`\n\nBe quick."));
/// let (clean, cut) = without_hint(&told, "- `cart.py`: `def total(items, tax)`\n");
/// assert_eq!(clean.steps[0].message.text(), "Repair it.\n\nBe quick.");
/// assert_eq!(cut, 2);
/// ```
pub fn without_hint(trajectory: &Trajectory, hint: &str) -> (Trajectory, usize) {
    let mut clean = trajectory.clone();
    let mut cut = 0;
    if hint.trim().is_empty() {
        return (clean, cut);
    }
    let terms = HintTerms::new(hint, &[]);
    let told = clean.steps.iter_mut();
    for step in told.filter(|step| step.source != Source::Agent) {
        match &mut step.message {
            Content::Text(text) => cut += cut_out(text, hint, &terms),
            Content::Parts(parts) => {
                for part in parts {
                    let text = match part {
                        Value::String(text) => Some(text),
                        Value::Object(map) => match map.get_mut("text") {
                            Some(Value::String(text)) => Some(text),
                            _ => None,
                        },
                        _ => None,
                    };
                    cut += text.map_or(0, |text| cut_out(text, hint, &terms));
                }
            }
        }
    }
    (clean, cut)
}

/// Cuts the hint out of a text, and says how many lines went that were not empty.
fn cut_out(text: &mut String, hint: &str, terms: &HintTerms) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let mut goes = vec![false; lines.len()];
    for (from, to) in whole(&lines, hint) {
        let is_empty = |at: &usize| lines[*at].trim().is_empty();
        let before = (0..from).rev().find(|at| !is_empty(at));
        let from = match before.filter(|at| is_heading(lines[*at])) {
            Some(heading) => heading,
            None => from,
        };
        let after = (to..lines.len()).find(|at| !is_empty(at));
        let to = match after.filter(|at| is_closing_tag(lines[*at])) {
            Some(tag) => tag + 1,
            None => to,
        };
        goes[from..to].fill(true);
        // One empty line is enough between what stood before and behind.
        let first_left = (to..lines.len()).find(|at| !is_empty(at));
        if from == 0 || is_empty(&(from - 1)) || first_left.is_none() {
            goes[to..first_left.unwrap_or(lines.len())].fill(true);
        }
    }
    for (line, goes) in lines.iter().zip(&mut goes) {
        *goes |= terms.repeats(line);
    }
    let cut = lines
        .iter()
        .zip(&goes)
        .filter(|(line, goes)| **goes && !line.trim().is_empty())
        .count();
    if cut > 0 {
        let left = lines.iter().zip(&goes).filter(|(_, goes)| !**goes);
        let left: Vec<&str> = left.map(|(line, _)| *line).collect();
        left.join("\n").trim_end().clone_into(text);
    }
    cut
}

/// Where the hint stands as a whole: from its first line to behind its last.
fn whole(lines: &[&str], hint: &str) -> Vec<(usize, usize)> {
    let hint: Vec<String> = hint
        .lines()
        .map(squeeze)
        .filter(|line| !line.is_empty())
        .collect();
    let filled: Vec<(usize, String)> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| (at, squeeze(line)))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(window) = filled.get(at..at + hint.len()) {
        if window.iter().map(|(_, line)| line).eq(&hint) {
            let (first, last) = (window[0].0, window[window.len() - 1].0);
            found.push((first, last + 1));
            at += hint.len();
        } else {
            at += 1;
        }
    }
    found
}

/// A line that stands over the hint alone: a heading of Markdown, or a line that says that a hint follows and is no
/// sentence of the statement.
fn is_heading(line: &str) -> bool {
    let line = line.trim();
    let tag = line
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let is_marked = tag.is_some() || line.ends_with(':') || line.starts_with("**");
    line.starts_with('#') || is_marked && speaks(&tag.unwrap_or(line).replace(['_', '*'], " "))
}

fn is_closing_tag(line: &str) -> bool {
    let tag = line.trim().strip_prefix("</");
    tag.and_then(|rest| rest.strip_suffix('>'))
        .is_some_and(|name| speaks(&name.replace('_', " ")))
}
