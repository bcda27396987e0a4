//! The table of what is looked for.

use atlas_core::Severity;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal, $severity:ident;)+) => {
        /// What can be wrong with a row that could be read.
        ///
        /// Each code has a stable word, a severity and a sentence: this table is the documentation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum LintCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl LintCode {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The stable word.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// How much it matters: fatal makes the row useless or its verdicts wrong.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }

            /// What it means.
            pub fn doc(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    /// The schema of the row cannot be told.
    UnknownSchema = "unknown_schema", Fatal;
    /// A column that the schema asks for is absent or null.
    MissingColumn = "missing_column", Fatal;
    /// A column holds something that its schema cannot read, such as a list that is none.
    UnreadableValue = "unreadable_value", Fatal;
    /// Lists of tests are spelled in more than one way within the dataset or the row.
    MixedListEncoding = "mixed_list_encoding", Warning;
    /// Two rows have one name.
    DuplicateInstance = "duplicate_instance", Fatal;
    /// The name is not `owner__repo-number`.
    InstanceIdForm = "instance_id_form", Warning;
    /// The name says another repository than the row.
    InstanceIdRepo = "instance_id_repo", Warning;
    /// The base commit is not 40 hexadecimal digits.
    BaseCommitForm = "base_commit_form", Fatal;
    /// The time of creation cannot be read.
    CreatedAtForm = "created_at_form", Warning;
    /// Nothing says what is asked for.
    EmptyProblem = "empty_problem", Fatal;
    /// The problem statement quotes lines of the solution.
    SolutionInProblem = "solution_in_problem", Warning;
    /// The problem statement links to the change that solves it, or to one that was made for it (`atlas audit`).
    LinkInProblem = "link_in_problem", Warning;
    /// The problem statement holds a diff of the solution's files, or most of the solution's lines (`atlas audit`).
    DiffInProblem = "diff_in_problem", Warning;
    /// Tests use names that only the solution makes, and the problem statement does not give them (`atlas audit`).
    UnnamedInterface = "unnamed_interface", Warning;
    /// No test must come to pass: every patch resolves the task.
    EmptyFailToPass = "empty_fail_to_pass", Fatal;
    /// A test is in both lists.
    TestInBothLists = "test_in_both_lists", Fatal;
    /// A test is twice in a list.
    DuplicateTest = "duplicate_test", Warning;
    /// A test's name is cut off: a bracket or quote that is not closed.
    TruncatedTest = "truncated_test", Warning;
    /// A place in a file where a test's name should be.
    LocationAsTest = "location_as_test", Warning;
    /// A status, a number, a line of a summary or nothing where a test's name should be.
    ProseAsTest = "prose_as_test", Warning;
    /// A test's name holds a duration, which no second run has.
    TimingInTest = "timing_in_test", Warning;
    /// A test that must come to pass is defined by the solution alone: no other solution can make it pass.
    UnsatisfiableTest = "unsatisfiable_test", Fatal;
    /// The test patch adds tests, and the lists have none of them, nor another that it shows: they were not run.
    AddedTestsUnlisted = "added_tests_unlisted", Warning;
    /// A test's name holds an address or a temporary path, which no second run has.
    UnstableTest = "unstable_test", Warning;
    /// A test is in a file that neither the row's test files nor its test patch name: its run is not asked for.
    UnselectedTest = "unselected_test", Warning;
    /// There is no solution.
    EmptyPatch = "empty_patch", Fatal;
    /// The pull request changes no tests.
    EmptyTestPatch = "empty_test_patch", Warning;
    /// No patch, or one that breaks off within a hunk.
    UnreadablePatch = "unreadable_patch", Fatal;
    /// A patch without `diff --git`, which the checks of version 5 refuse.
    PatchWithoutGitHeader = "patch_without_git_header", Warning;
    /// A patch without a line end at its end, which `git apply` and `patch` may refuse.
    PatchWithoutFinalNewline = "patch_without_final_newline", Warning;
    /// The patch's own lines end in CR LF: it was changed on its way.
    PatchWithCrlf = "patch_with_crlf", Warning;
    /// The solution changes tests.
    TestsInGoldPatch = "tests_in_gold_patch", Warning;
    /// The solution makes a file beside tests that the test patch names: another solution does not have it.
    FixtureInGoldPatch = "fixture_in_gold_patch", Warning;
    /// Two rows have the same solution.
    SameSolution = "same_solution", Warning;
    /// Solution and test patch change one file.
    FileInBothPatches = "file_in_both_patches", Warning;
    /// A patch does not apply to the base commit.
    PatchDoesNotApply = "patch_does_not_apply", Fatal;
    /// No image to run in.
    MissingImage = "missing_image", Fatal;
    /// The image is not named as version 5 of the harness names it.
    ImageName = "image_name", Warning;
    /// The evaluation script does not print both markers: no log can be graded.
    MissingMarkers = "missing_markers", Fatal;
    /// Neither `pass_and_fail` nor `fail_only`.
    UnknownEvalType = "unknown_eval_type", Fatal;
    /// Nothing says how to read the log.
    MissingLogParser = "missing_log_parser", Fatal;
    /// A status other than PASS, FAIL, SKIP, NONE (Multi-SWE-bench).
    UnknownStatus = "unknown_status", Fatal;
    /// A test whose statuses do not fit the set it is in (Multi-SWE-bench).
    StatusClass = "status_class", Warning;
    /// A test in two sets that exclude each other (Multi-SWE-bench).
    SetsNotDisjoint = "sets_not_disjoint", Fatal;
    /// A count that is not the length of its list (Multi-SWE-bench).
    WrongCount = "wrong_count", Fatal;
    /// The row's own solution does not resolve it (`atlas audit --run`).
    GoldNotResolved = "gold_not_resolved", Fatal;
    /// A test that must come to pass does so without any solution (`atlas audit --run`).
    PassesWithoutGold = "passes_without_gold", Fatal;
    /// Nothing could be found out by running the row (`atlas audit --run`).
    NotRun = "not_run", Warning;
    /// `task.yaml` or `tests.json` that cannot be read, or a key that is not as it should be.
    TaskFile = "task_file", Fatal;
}

impl fmt::Display for LintCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lint code `{0}` is not known")]
pub struct UnknownLintCode(pub String);

impl FromStr for LintCode {
    type Err = UnknownLintCode;

    fn from_str(word: &str) -> Result<Self, UnknownLintCode> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.as_str() == word)
            .ok_or_else(|| UnknownLintCode(word.to_owned()))
    }
}

impl Serialize for LintCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
