//! Filters as data.

use super::bounds::{Bounds, Moment, Window};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A filter's name, as `order` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilterName {
    /// When it was merged.
    Merged,
    /// When its repository was last pushed to.
    Pushed,
    /// What came after all models learnt.
    CutOff,
    /// How many stars its repository has.
    Stars,
    /// How many lines of code its repository has.
    LinesOfCode,
    /// A recognisable test framework.
    TestFramework,
    /// Its repository's licence.
    Licences,
    /// Not by a program.
    NoBots,
    /// Not carried over from another branch.
    NoBackports,
    /// How many issues it resolves.
    Issues,
    /// Edits or adds tests.
    EditsTests,
    /// How many lines it changes.
    ChangedLines,
    /// How many files it changes.
    ChangedFiles,
    /// How many hunks it has.
    Hunks,
    /// Which kinds of files it changes.
    Endings,
    /// No pictures in its issues.
    NoScreenshots,
    /// Not the same change as another.
    NoDuplicates,
    /// Not nearly the same statement as another.
    NearDuplicates,
}

impl FilterName {
    /// All filters in the order in which they run by default: what is known of a whole repository first, what needs memory last.
    pub const ALL: [Self; 18] = [
        Self::Merged,
        Self::Pushed,
        Self::CutOff,
        Self::Stars,
        Self::LinesOfCode,
        Self::TestFramework,
        Self::Licences,
        Self::NoBots,
        Self::NoBackports,
        Self::Issues,
        Self::EditsTests,
        Self::ChangedLines,
        Self::ChangedFiles,
        Self::Hunks,
        Self::Endings,
        Self::NoScreenshots,
        Self::NoDuplicates,
        Self::NearDuplicates,
    ];

    /// As in `order`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merged => "merged",
            Self::Pushed => "pushed",
            Self::CutOff => "cut_off",
            Self::Stars => "stars",
            Self::LinesOfCode => "lines_of_code",
            Self::TestFramework => "test_framework",
            Self::Licences => "licences",
            Self::NoBots => "no_bots",
            Self::NoBackports => "no_backports",
            Self::Issues => "issues",
            Self::EditsTests => "edits_tests",
            Self::ChangedLines => "changed_lines",
            Self::ChangedFiles => "changed_files",
            Self::Hunks => "hunks",
            Self::Endings => "endings",
            Self::NoScreenshots => "no_screenshots",
            Self::NoDuplicates => "no_duplicates",
            Self::NearDuplicates => "near_duplicates",
        }
    }
}

/// What becomes of a pull request of which a filter cannot tell: a clone has no stars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownFacts {
    /// It goes on, and is counted.
    #[default]
    Keep,
    /// It is dropped, with that reason.
    Drop,
}

/// The criteria of a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FilterPreset {
    /// Paper 001, section 3.1: more than 100 stars, a test framework, more than 10,000 lines of code, an issue, tests. The paper's
    /// "recent commit activity" has no numbers: `pushed` or `merged` say it.
    #[serde(rename = "paper-001")]
    Paper001,
    /// Paper 002, appendix A: one issue, no screenshots, nine languages and no configuration or data, fewer than 150 changed lines.
    /// Its 31 test targets that depend on the changed files are known to a build system alone; at most 31 changed files
    /// stand for them. `merged` says the year.
    #[serde(rename = "paper-002-industrial")]
    Paper002Industrial,
}

/// Endings of changed files, without a dot; in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// The table as it is written: what is absent comes from the preset.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WrittenFilters {
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

impl FilterConfig {
    /// The criteria of a paper, in the order in which it names them.
    pub fn preset(preset: FilterPreset) -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut filters = match preset {
            FilterPreset::Paper001 => Self {
                stars: Some(Bounds::more_than(100)),
                test_framework: true,
                lines_of_code: Some(Bounds::more_than(10_000)),
                issues: Some(Bounds::from_to(Some(1), None)),
                edits_tests: true,
                ..Self::default()
            },
            FilterPreset::Paper002Industrial => Self {
                issues: Some(Bounds::from_to(Some(1), Some(1))),
                edits_tests: true,
                no_screenshots: true,
                endings: Some(Endings {
                    any_of: words(&[
                        "cc", "cpp", "cxx", "hpp", "hh", "c", "h", "dart", "java", "kt", "kts",
                        "ts", "tsx", "js", "jsx", "mjs", "cjs", "go", "py",
                    ]),
                    none_of: words(&[
                        "sql",
                        "html",
                        "htm",
                        "css",
                        "scss",
                        "less",
                        "yaml",
                        "yml",
                        "toml",
                        "ini",
                        "cfg",
                        "conf",
                        "json",
                        "xml",
                        "properties",
                        "png",
                        "jpg",
                        "jpeg",
                        "gif",
                        "svg",
                        "ico",
                        "webp",
                        "mp3",
                        "mp4",
                        "wav",
                        "pdf",
                        "bin",
                        "dat",
                        "zip",
                        "gz",
                        "jar",
                        "so",
                        "exe",
                    ]),
                }),
                changed_lines: Some(Bounds::less_than(150)),
                changed_files: Some(Bounds::from_to(None, Some(31))),
                ..Self::default()
            },
        };
        filters.order = filters.set();
        filters
    }

    /// The filters that are set, in their usual order.
    fn set(&self) -> Vec<FilterName> {
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
    fn forget_unordered(&mut self) {
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

    /// Refuses what nothing can pass, and what says nothing.
    fn check(&self) -> Result<(), String> {
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
}

impl FilterConfig {
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
