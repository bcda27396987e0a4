//! What is known of test runners where a plan's test command has to be changed: another order, fewer
//! tests. The knowledge, a file for each runner, and what applies it.

mod known;
mod narrow;
mod order;
mod scope;

pub(crate) use narrow::{Narrowed, Wanted, narrow, single};
pub(crate) use order::{ORDER, other_order, pinned};
pub(crate) use scope::{Touched, is_most, scoped};

use atlas_core::EnvironmentPlan;
use regex::{Captures, Regex};
use std::collections::BTreeMap;

/// A change of a run, applied to what the plan says.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// A variable gets this value.
    Set(&'static str, &'static str),
    /// The same where the plan does not set it.
    Default(&'static str, &'static str),
    /// A variable of the plan gets these words behind what it holds.
    Append(&'static str, &'static str),
    /// Bash before the tests, in the same shell.
    Before(&'static str),
    /// A file in the run's `$ATLAS_IN`.
    File(&'static str, &'static str),
    /// Every match of the pattern in the test command becomes this text.
    Replace(&'static str, &'static str),
    /// The same where there is one; its absence is no fault.
    Change(&'static str, &'static str),
    /// This text goes behind every match of the pattern in the test command.
    Insert(&'static str, &'static str),
}

/// A plan's run after edits.
#[derive(Clone, Debug, Default)]
struct Edited {
    env: BTreeMap<String, String>,
    prelude: String,
    files: Vec<(&'static str, &'static str)>,
    test_cmd: String,
}

/// Applies edits; `{}` in their texts becomes `value`. `None` where one has nothing to act on.
fn edit(plan: &EnvironmentPlan, edits: &[Edit], value: &str) -> Option<Edited> {
    let mut made = Edited {
        test_cmd: plan.test_cmd.clone(),
        ..Edited::default()
    };
    let filled = |text: &str| text.replace("{}", value);
    for edit in edits {
        match *edit {
            Edit::Set(name, text) => {
                made.env.insert(name.to_owned(), filled(text));
            }
            Edit::Default(name, text) => {
                if !plan.env.contains_key(name) {
                    made.env.insert(name.to_owned(), filled(text));
                }
            }
            Edit::Append(name, text) => {
                let old = made.env.get(name).or_else(|| plan.env.get(name));
                let value = match old.filter(|old| !old.trim().is_empty()) {
                    Some(old) if old.contains(&filled(text)) => old.clone(),
                    Some(old) => format!("{old} {}", filled(text)),
                    None => filled(text),
                };
                made.env.insert(name.to_owned(), value);
            }
            Edit::Before(text) => {
                made.prelude.push_str(&filled(text));
                made.prelude.push('\n');
            }
            Edit::File(name, text) => made.files.push((name, text)),
            Edit::Replace(pattern, text)
            | Edit::Change(pattern, text)
            | Edit::Insert(pattern, text) => {
                let pattern = Regex::new(pattern).ok()?;
                let is_due = !matches!(edit, Edit::Change(..));
                if is_due && !pattern.is_match(&made.test_cmd) {
                    return None;
                }
                let keeps = matches!(edit, Edit::Insert(..));
                if keeps && made.test_cmd.contains(&filled(text)) {
                    continue;
                }
                let changed = pattern.replace_all(&made.test_cmd, |found: &Captures<'_>| {
                    let old = if keeps { &found[0] } else { "" };
                    format!("{old}{}", filled(text))
                });
                made.test_cmd = changed.into_owned();
            }
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::{Edit, edit};
    use atlas_core::EnvironmentPlan;

    #[test]
    fn an_edit_without_its_place_is_none_at_all() {
        let plan = EnvironmentPlan {
            test_cmd: "make check".to_owned(),
            ..EnvironmentPlan::default()
        };
        assert!(edit(&plan, &[Edit::Insert("jest", " --ci")], "").is_none());
    }
}
