//! What a test command needs so that all runs of an instance execute only some of its test files.

use super::super::Edit;
use super::super::narrow::Spelling;
use super::operands::SELECTION;
use atlas_core::EnvironmentPlan;

/// One family of runners: how test files become a selection, and where that goes in the test command.
pub(in crate::runners) struct Scoping {
    /// Parsers of its logs; none where many kinds of programs run under it.
    pub(in crate::runners) parsers: &'static [&'static str],
    /// What its command holds.
    pub(in crate::runners) program: &'static str,
    /// The ends of its test files' names.
    pub(in crate::runners) ends: &'static [&'static str],
    /// What stands for a file: its path from the folder of the command, its folder, its class.
    pub(in crate::runners) place: fn(&str) -> Option<String>,
    /// How the places are written into an edit's text.
    pub(in crate::runners) spelling: Spelling,
    pub(in crate::runners) edits: &'static [Edit],
    /// How far a place reaches.
    pub(in crate::runners) reach: Reach,
    /// How the command's own operands give way to a selection.
    pub(in crate::runners) operands: Operands,
}

/// How far the places of a selection reach, and from where they are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runners) enum Reach {
    /// Single files.
    File,
    /// Whole packages, those of changed sources among them.
    Package,
    /// Files that a helper program looks up in what was built: named from the repository's root, however many
    /// folders the command goes to.
    FromRoot,
    /// The same, and at the level of packages the folder that holds this manifest.
    Manifest(&'static str),
}

/// What becomes of the operands that a command has of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::runners) enum Operands {
    /// They stay.
    Kept,
    /// Those that are there as files or folders go: beside them a selection selects nothing.
    Existing,
    /// The selection stands in their place, as far as they match it. With the options that take a value of their
    /// own.
    Replaced(&'static [&'static str]),
}

impl Scoping {
    /// Test files by their paths, each a word behind what the command has.
    pub(in crate::runners) const FILES: Self = Self {
        parsers: &[],
        program: "",
        ends: &[],
        place: |path| Some(path.to_owned()),
        spelling: Spelling::Words,
        edits: &[],
        reach: Reach::File,
        operands: Operands::Kept,
    };

    /// Whether a plan's tests run under it.
    pub(in crate::runners) fn is_of(&self, plan: &EnvironmentPlan) -> bool {
        (self.parsers.is_empty() || self.parsers.contains(&plan.log_parser_name.as_str()))
            && plan.test_cmd.contains(self.program)
    }

    /// Whether a file is one that a place stands for.
    pub(in crate::runners) fn is_test(&self, path: &str) -> bool {
        self.ends.iter().any(|end| path.ends_with(end)) && (self.place)(path).is_some()
    }

    /// Whether places are files named from the repository's root.
    pub(in crate::runners) fn is_from_root(&self) -> bool {
        matches!(self.reach, Reach::FromRoot | Reach::Manifest(_))
    }
}

/// A runner that takes test files as operands, with its options that take a value of their own.
pub(in crate::runners) const fn by_operands(
    parsers: &'static [&'static str],
    program: &'static str,
    ends: &'static [&'static str],
    values: &'static [&'static str],
) -> Scoping {
    Scoping {
        parsers,
        program,
        ends,
        edits: &[Edit::Replace(SELECTION, "$(ls -d -- {} 2>/dev/null)")],
        operands: Operands::Replaced(values),
        ..Scoping::FILES
    }
}
