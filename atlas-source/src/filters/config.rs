//! Filters as data.

use super::bounds::{Bounds, Moment, Window};
use super::names::FilterName;
use super::written::WrittenFilters;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of a pull request of which a filter cannot tell: a clone has no stars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UnknownFacts {
    /// It goes on, and is counted.
    #[default]
    Keep,
    /// It is dropped, with that reason.
    Drop,
}

/// Endings of changed files, without a dot; in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Endings {
    /// At least one changed file has one of these. Empty: any file does.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub any_of: BTreeSet<String>,
    /// No changed file has one of these.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub none_of: BTreeSet<String>,
}

/// When two statements are nearly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NearDuplicates {
    /// Bits of 64 in which the `SimHash`es of their words may differ: 0 to 3. Default: 3.
    pub bits: u32,
    /// Statements of fewer words are not compared: their hashes say too little. Default: 20.
    pub words: usize,
}

impl Default for NearDuplicates {
    fn default() -> Self {
        Self { bits: 3, words: 20 }
    }
}

/// `[source.filters]`: what a pull request must be to become a candidate (paper 001, section 3.1). Nothing is filtered by default.
///
/// ```
/// let filters: atlas_source::FilterConfig = serde_json::from_str(r#"{"preset": "paper-001", "stars": {"at_least": 500}}"#)?;
/// assert_eq!(filters.stars.unwrap().at_least, Some(500));
/// assert_eq!(filters.lines_of_code.unwrap().above, Some(10_000));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(!try_from, transform = super::presets::with_preset))]
#[serde(try_from = "WrittenFilters")]
pub struct FilterConfig {
    /// The filters that run, first to last.
    pub order: Vec<FilterName>,
    /// What becomes of pull requests of which a filter cannot tell. Default: `keep`.
    pub unknown: UnknownFacts,
    /// When it was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<Window>,
    /// When its repository was last pushed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pushed: Option<Window>,
    /// Models and when they stopped learning: a pull request must have begun later than all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<BTreeMap<String, Moment>>,
    /// Stars of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<Bounds>,
    /// Lines of code of its repository, without blank lines and comments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines_of_code: Option<Bounds>,
    /// Whether its repository must name a test framework.
    pub test_framework: bool,
    /// Licences as SPDX names: of `A OR B` one must be among them, of `A AND B` both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licences: Option<BTreeSet<String>>,
    /// Whether pull requests of programs are dropped.
    pub no_bots: bool,
    /// Whether back-ports are dropped: `backport` in title or labels, a line of `git cherry-pick -x`, or a title as
    /// `[3.11] Fix it (GH-12)`.
    pub no_backports: bool,
    /// Issues that it says it resolves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issues: Option<Bounds>,
    /// Whether it must edit or add tests.
    pub edits_tests: bool,
    /// Lines that it adds and removes, tests apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_lines: Option<Bounds>,
    /// Files that it changes, tests too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<Bounds>,
    /// Its hunks, tests apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Bounds>,
    /// Kinds of changed files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endings: Option<Endings>,
    /// Whether pictures and films in its issues' descriptions drop it.
    pub no_screenshots: bool,
    /// Whether the same change (by `git patch-id`) comes once.
    pub no_duplicates: bool,
    /// When a statement is nearly that of an earlier one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near_duplicates: Option<NearDuplicates>,
}

impl FilterConfig {
    /// The filters that are set, in their usual order.
    pub(super) fn set(&self) -> Vec<FilterName> {
        let is_set = |name: &FilterName| match name {
            FilterName::Merged => self.merged.is_some(),
            FilterName::Pushed => self.pushed.is_some(),
            FilterName::CutOff => self.cut_off.is_some(),
            FilterName::Stars => self.stars.is_some(),
            FilterName::LinesOfCode => self.lines_of_code.is_some(),
            FilterName::TestFramework => self.test_framework,
            FilterName::Licences => self.licences.is_some(),
            FilterName::NoBots => self.no_bots,
            FilterName::NoBackports => self.no_backports,
            FilterName::Issues => self.issues.is_some(),
            FilterName::EditsTests => self.edits_tests,
            FilterName::ChangedLines => self.changed_lines.is_some(),
            FilterName::ChangedFiles => self.changed_files.is_some(),
            FilterName::Hunks => self.hunks.is_some(),
            FilterName::Endings => self.endings.is_some(),
            FilterName::NoScreenshots => self.no_screenshots,
            FilterName::NoDuplicates => self.no_duplicates,
            FilterName::NearDuplicates => self.near_duplicates.is_some(),
        };
        FilterName::ALL.into_iter().filter(is_set).collect()
    }

    /// Unsets what a preset has and the order leaves out: what is written again reads as it was.
    pub(super) fn forget_unordered(&mut self) {
        for name in self.set() {
            if self.order.contains(&name) {
                continue;
            }
            match name {
                FilterName::Merged => self.merged = None,
                FilterName::Pushed => self.pushed = None,
                FilterName::CutOff => self.cut_off = None,
                FilterName::Stars => self.stars = None,
                FilterName::LinesOfCode => self.lines_of_code = None,
                FilterName::TestFramework => self.test_framework = false,
                FilterName::Licences => self.licences = None,
                FilterName::NoBots => self.no_bots = false,
                FilterName::NoBackports => self.no_backports = false,
                FilterName::Issues => self.issues = None,
                FilterName::EditsTests => self.edits_tests = false,
                FilterName::ChangedLines => self.changed_lines = None,
                FilterName::ChangedFiles => self.changed_files = None,
                FilterName::Hunks => self.hunks = None,
                FilterName::Endings => self.endings = None,
                FilterName::NoScreenshots => self.no_screenshots = false,
                FilterName::NoDuplicates => self.no_duplicates = false,
                FilterName::NearDuplicates => self.near_duplicates = None,
            }
        }
    }
}
