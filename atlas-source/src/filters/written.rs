//! Filters as a file has them, over a preset and in an order of its own.

use super::bounds::{Bounds, Moment, Window};
use super::config::{Endings, FilterConfig, NearDuplicates, UnknownFacts};
use super::names::FilterName;
use super::presets::FilterPreset;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The table as it is written: what is absent comes from the preset.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WrittenFilters {
    preset: Option<FilterPreset>,
    order: Option<Vec<FilterName>>,
    unknown: UnknownFacts,
    merged: Option<Window>,
    pushed: Option<Window>,
    cut_off: Option<BTreeMap<String, Moment>>,
    stars: Option<Bounds>,
    lines_of_code: Option<Bounds>,
    test_framework: Option<bool>,
    licences: Option<BTreeSet<String>>,
    no_bots: Option<bool>,
    no_backports: Option<bool>,
    issues: Option<Bounds>,
    edits_tests: Option<bool>,
    changed_lines: Option<Bounds>,
    changed_files: Option<Bounds>,
    hunks: Option<Bounds>,
    endings: Option<Endings>,
    no_screenshots: Option<bool>,
    no_duplicates: Option<bool>,
    near_duplicates: Option<NearDuplicates>,
}

impl TryFrom<WrittenFilters> for FilterConfig {
    type Error = String;

    fn try_from(written: WrittenFilters) -> Result<Self, Self::Error> {
        let preset = written.preset.map(FilterConfig::preset).unwrap_or_default();
        let own = FilterConfig {
            order: Vec::new(),
            unknown: written.unknown,
            merged: written.merged,
            pushed: written.pushed,
            cut_off: written.cut_off,
            stars: written.stars,
            lines_of_code: written.lines_of_code,
            test_framework: written.test_framework == Some(true),
            licences: written.licences,
            no_bots: written.no_bots == Some(true),
            no_backports: written.no_backports == Some(true),
            issues: written.issues,
            edits_tests: written.edits_tests == Some(true),
            changed_lines: written.changed_lines,
            changed_files: written.changed_files,
            hunks: written.hunks,
            endings: written.endings,
            no_screenshots: written.no_screenshots == Some(true),
            no_duplicates: written.no_duplicates == Some(true),
            near_duplicates: written.near_duplicates,
        };
        let asked = own.set();
        let mut whole = FilterConfig {
            order: Vec::new(),
            unknown: own.unknown,
            merged: own.merged.or(preset.merged),
            pushed: own.pushed.or(preset.pushed),
            cut_off: own.cut_off.or(preset.cut_off),
            stars: own.stars.or(preset.stars),
            lines_of_code: own.lines_of_code.or(preset.lines_of_code),
            test_framework: written.test_framework.unwrap_or(preset.test_framework),
            licences: own.licences.or(preset.licences),
            no_bots: written.no_bots.unwrap_or(preset.no_bots),
            no_backports: written.no_backports.unwrap_or(preset.no_backports),
            issues: own.issues.or(preset.issues),
            edits_tests: written.edits_tests.unwrap_or(preset.edits_tests),
            changed_lines: own.changed_lines.or(preset.changed_lines),
            changed_files: own.changed_files.or(preset.changed_files),
            hunks: own.hunks.or(preset.hunks),
            endings: own.endings.or(preset.endings),
            no_screenshots: written.no_screenshots.unwrap_or(preset.no_screenshots),
            no_duplicates: written.no_duplicates.unwrap_or(preset.no_duplicates),
            near_duplicates: own.near_duplicates.or(preset.near_duplicates),
        };
        let set = whole.set();
        whole.order = match written.order {
            None => set,
            Some(order) => ordered(order, &set, &asked)?,
        };
        whole.forget_unordered();
        whole.check()?;
        Ok(whole)
    }
}

/// The order, if every filter in it is set, once, and none that was asked for is missing.
fn ordered(
    order: Vec<FilterName>,
    set: &[FilterName],
    asked: &[FilterName],
) -> Result<Vec<FilterName>, String> {
    let mut seen = BTreeSet::new();
    for name in &order {
        if !set.contains(name) {
            let name = name.as_str();
            return Err(format!(
                "`order` names `{name}`, which is not set: give `{name} = …`"
            ));
        }
        if !seen.insert(name) {
            return Err(format!("`order` names `{}` twice", name.as_str()));
        }
    }
    match asked.iter().find(|name| !seen.contains(name)) {
        Some(name) => Err(format!(
            "`{}` is set, but `order` leaves it out",
            name.as_str()
        )),
        None => Ok(order),
    }
}
