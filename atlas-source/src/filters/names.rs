//! The filters by their names.

use serde::{Deserialize, Serialize};

/// A filter's name, as `order` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
