//! Filters that nothing can pass, or that say nothing, are refused before any work.

use super::bounds::{Bounds, Window};
use super::config::{Endings, FilterConfig};
use std::collections::{BTreeMap, BTreeSet};

impl FilterConfig {
    /// Refuses what nothing can pass, and what says nothing.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.licences.as_ref().is_some_and(BTreeSet::is_empty) {
            return Err("`licences` is empty: nothing could pass".to_owned());
        }
        for licence in self.licences.iter().flatten() {
            if spdx::license_id(licence).is_none() {
                return Err(format!(
                    "`licences`: `{licence}` is no SPDX name{}",
                    near(licence)
                ));
            }
        }
        if let Some(endings) = &self.endings {
            if *endings == Endings::default() {
                return Err("`endings` says nothing: any_of or none_of expected".to_owned());
            }
            let dotted = endings
                .any_of
                .iter()
                .chain(&endings.none_of)
                .find(|ending| ending.contains('.'));
            if let Some(ending) = dotted {
                return Err(format!(
                    "`endings`: `{ending}` has a dot; `py` is meant for `a.py`"
                ));
            }
            let clash = endings
                .any_of
                .iter()
                .all(|ending| endings.none_of.contains(ending));
            if clash && !endings.any_of.is_empty() {
                return Err("`endings`: any_of is all in none_of: nothing could pass".to_owned());
            }
        }
        let cut_off = self.cut_off.as_ref();
        if cut_off.is_some_and(BTreeMap::is_empty) {
            return Err("`cut_off` names no model".to_owned());
        }
        let latest = cut_off.and_then(|models| models.iter().max_by_key(|(_, at)| *at));
        if let (
            Some((model, at)),
            Some(Window {
                before: Some(before),
                ..
            }),
        ) = (latest, &self.merged)
            && at >= before
        {
            return Err(format!(
                "`cut_off` of {model} ({}) is not before `merged.before` ({}): nothing could pass",
                at.as_str(),
                before.as_str()
            ));
        }
        if let (Some(after), Some(before)) = (
            self.merged
                .as_ref()
                .and_then(|merged| merged.after.as_ref()),
            self.pushed
                .as_ref()
                .and_then(|pushed| pushed.before.as_ref()),
        ) && after >= before
        {
            // A merge is a push.
            return Err(format!(
                "what is merged from {} on is pushed then, and `pushed.before` is {}: nothing could pass",
                after.as_str(),
                before.as_str()
            ));
        }
        self.check_sizes()?;
        if self.near_duplicates.is_some_and(|near| near.bits > 3) {
            return Err("`near_duplicates.bits`: 0 to 3 expected".to_owned());
        }
        Ok(())
    }

    /// Refuses sizes that no change has together: a hunk has a line, and what changes a line changes a file.
    fn check_sizes(&self) -> Result<(), String> {
        let least = |bounds: &Option<Bounds>| bounds.as_ref().map_or(0, |bounds| bounds.range().0);
        let most =
            |bounds: &Option<Bounds>| bounds.as_ref().map_or(u64::MAX, |bounds| bounds.range().1);
        let clash = if most(&self.changed_lines) < least(&self.hunks) {
            Some("`hunks` asks for more than `changed_lines` allows lines")
        } else if most(&self.changed_files) > 0 {
            None
        } else if self.edits_tests {
            Some("`edits_tests` needs a file, and `changed_files` allows none")
        } else if least(&self.changed_lines).max(least(&self.hunks)) > 0 {
            Some("changed lines stand in a file, and `changed_files` allows none")
        } else {
            None
        };
        clash.map_or(Ok(()), |why| Err(format!("{why}: nothing could pass")))
    }
}

/// The SPDX name that is meant, for an error.
fn near(licence: &str) -> String {
    spdx::imprecise_license_id(licence)
        .map_or_else(String::new, |(id, _)| format!("; `{}`?", id.name))
}
