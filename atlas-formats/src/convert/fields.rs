//! What the columns of each schema mean.

use crate::schema::Schema;
use std::fmt;

/// A thing that a task has, whatever its column is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Field {
    /// The task's name.
    InstanceId,
    /// `owner/name`.
    Repo,
    /// The commit before the solution.
    BaseCommit,
    /// The solution, without tests.
    GoldPatch,
    /// The changes to tests.
    TestPatch,
    /// What is asked for.
    ProblemStatement,
    /// Later discussion.
    Hints,
    /// When the pull request was made; as the row spells it.
    CreatedAt,
    /// The project's version, or the number of the pull request.
    Version,
    /// Tests that must come to pass.
    FailToPass,
    /// Tests that must stay so.
    PassToPass,
    /// The commit by which the environment was set up.
    SetupCommit,
    /// The image to run in.
    Image,
    /// The whole script that runs the tests.
    EvalScript,
    /// The reader of the log.
    LogParser,
    /// `pass_and_fail` or `fail_only`.
    EvalType,
    /// The programming language.
    Language,
    /// The commands that run the tests.
    TestCommands,
    /// The commands that rebuild after a patch.
    BuildCommands,
    /// How the environment is made: the harness's specification.
    Environment,
    /// New names that the solution must offer.
    Interface,
    /// What the solution must fulfil.
    Requirements,
    /// The number of the pull request.
    Number,
    /// The numbers of the issues it resolves.
    Issues,
    /// How hard it is.
    Difficulty,
    /// Images of the issue.
    ImageAssets,
    /// The part of the dataset.
    Split,
    /// The recipe of the image.
    Dockerfile,
    /// The test files to run.
    TestFiles,
}

impl Field {
    /// A stable snake-case word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InstanceId => "instance_id",
            Self::Repo => "repo",
            Self::BaseCommit => "base_commit",
            Self::GoldPatch => "gold_patch",
            Self::TestPatch => "test_patch",
            Self::ProblemStatement => "problem_statement",
            Self::Hints => "hints_text",
            Self::CreatedAt => "created_at",
            Self::Version => "version",
            Self::FailToPass => "fail_to_pass",
            Self::PassToPass => "pass_to_pass",
            Self::SetupCommit => "environment_setup_commit",
            Self::Image => "image",
            Self::EvalScript => "eval_script",
            Self::LogParser => "log_parser",
            Self::EvalType => "eval_type",
            Self::Language => "language",
            Self::TestCommands => "test_commands",
            Self::BuildCommands => "build_commands",
            Self::Environment => "environment",
            Self::Interface => "interface",
            Self::Requirements => "requirements",
            Self::Number => "number",
            Self::Issues => "issues",
            Self::Difficulty => "difficulty",
            Self::ImageAssets => "image_assets",
            Self::Split => "split",
            Self::Dockerfile => "dockerfile",
            Self::TestFiles => "test_files",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// How a column spells its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A text.
    Text,
    /// Any value, as it is.
    Any,
    /// A list of texts.
    List,
    /// A text that holds a JSON list of texts.
    JsonList,
    /// A text that holds a Python list of texts.
    PythonList,
    /// An object.
    Object,
    /// A text that holds a JSON object.
    JsonObject,
    /// The tag of an image in SWE-bench Pro's repository.
    ProTag,
    /// A patch whose reverse is meant.
    Reversed,
}

/// Whether a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Always; empty where nothing is known.
    Required,
    /// Always, too, but published rows go without and no harness reads it from them.
    Written,
    /// Where a value is known.
    Optional,
    /// Never: some rows have it, the schema does not ask for it.
    Read,
}

/// One column of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) field: Field,
    pub(crate) form: Form,
    pub(crate) need: Need,
}

impl Need {
    /// Whether a row that is made has the column, empty where nothing is known.
    pub(crate) fn is_written(self) -> bool {
        matches!(self, Self::Required | Self::Written)
    }
}

const fn column(name: &'static str, field: Field, form: Form, need: Need) -> Column {
    Column {
        name,
        field,
        form,
        need,
    }
}

use Field as F;
use Form::{Any, JsonList, JsonObject, List, Object, ProTag, PythonList, Reversed, Text};
use Need::{Optional, Read, Required, Written};

const SWEBENCH4: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("instance_id", F::InstanceId, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Written),
    column("created_at", F::CreatedAt, Any, Written),
    column("version", F::Version, Text, Required),
    column("FAIL_TO_PASS", F::FailToPass, JsonList, Required),
    column("PASS_TO_PASS", F::PassToPass, JsonList, Required),
    column("environment_setup_commit", F::SetupCommit, Text, Written),
    column("difficulty", F::Difficulty, Any, Optional),
    column("image_assets", F::ImageAssets, Any, Optional),
    column("language", F::Language, Text, Read),
    column("environment_config", F::Environment, JsonObject, Read),
];

const SWEBENCH5: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("instance_id", F::InstanceId, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Optional),
    column("created_at", F::CreatedAt, Any, Optional),
    column("version", F::Version, Text, Required),
    column("FAIL_TO_PASS", F::FailToPass, JsonList, Required),
    column("PASS_TO_PASS", F::PassToPass, JsonList, Required),
    column("environment_setup_commit", F::SetupCommit, Text, Optional),
    column("image", F::Image, Text, Required),
    column("eval_script", F::EvalScript, Text, Required),
    column("log_parser", F::LogParser, Text, Required),
    column("eval_type", F::EvalType, Text, Required),
    column("difficulty", F::Difficulty, Any, Optional),
    column("image_assets", F::ImageAssets, Any, Optional),
    column("language", F::Language, Text, Optional),
    column("environment_config", F::Environment, JsonObject, Optional),
];

/// The keys of `task.yaml` and, flat, the files beside it.
const TASK_REPO: &[Column] = &[
    column("instance_id", F::InstanceId, Text, Required),
    column("repo", F::Repo, Text, Required),
    column("version", F::Version, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("split", F::Split, Text, Required),
    column("image", F::Image, Text, Required),
    column("log_parser", F::LogParser, Text, Required),
    column("eval_type", F::EvalType, Text, Required),
    column("created_at", F::CreatedAt, Any, Optional),
    column("environment_setup_commit", F::SetupCommit, Text, Optional),
    column("difficulty", F::Difficulty, Any, Optional),
    column("image_assets", F::ImageAssets, Any, Optional),
    column("language", F::Language, Text, Optional),
    column("environment_config", F::Environment, JsonObject, Optional),
    column("FAIL_TO_PASS", F::FailToPass, List, Required),
    column("PASS_TO_PASS", F::PassToPass, List, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Optional),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("eval_script", F::EvalScript, Text, Required),
    column("dockerfile", F::Dockerfile, Text, Required),
];

const SWEBENCHPP: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("instance_id", F::InstanceId, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Written),
    column("created_at", F::CreatedAt, Any, Written),
    column("version", F::Version, Text, Required),
    column("FAIL_TO_PASS", F::FailToPass, JsonList, Required),
    column("PASS_TO_PASS", F::PassToPass, JsonList, Required),
    column("environment_setup_commit", F::SetupCommit, Text, Written),
    column("environment_config", F::Environment, JsonObject, Required),
    column("language", F::Language, Text, Required),
    column("image", F::Image, Text, Read),
];

const DELIVERY: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("instance_id", F::InstanceId, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("gold_patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("fail_to_pass", F::FailToPass, List, Required),
    column("pass_to_pass", F::PassToPass, List, Required),
    column("language", F::Language, Text, Required),
    column("spec_dict", F::Environment, Object, Required),
];

const LIVE: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("pull_number", F::Number, Text, Optional),
    column("instance_id", F::InstanceId, Text, Required),
    column("issue_numbers", F::Issues, Any, Optional),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Written),
    column("created_at", F::CreatedAt, Any, Written),
    column("rebuild_cmds", F::BuildCommands, List, Written),
    column("test_cmds", F::TestCommands, List, Required),
    column("log_parser", F::LogParser, Text, Required),
    column("FAIL_TO_PASS", F::FailToPass, List, Required),
    column("PASS_TO_PASS", F::PassToPass, List, Required),
    column("docker_image", F::Image, Text, Optional),
    column("version", F::Version, Text, Read),
    column("environment_setup_commit", F::SetupCommit, Text, Read),
    column("difficulty", F::Difficulty, Any, Read),
    column("language", F::Language, Text, Read),
];

const PRO: &[Column] = &[
    column("repo", F::Repo, Text, Required),
    column("instance_id", F::InstanceId, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("requirements", F::Requirements, Text, Required),
    column("interface", F::Interface, Text, Required),
    column("repo_language", F::Language, Text, Optional),
    column("fail_to_pass", F::FailToPass, PythonList, Required),
    column("pass_to_pass", F::PassToPass, PythonList, Required),
    column(
        "selected_test_files_to_run",
        F::TestFiles,
        PythonList,
        Required,
    ),
    column("dockerhub_tag", F::Image, ProTag, Written),
];

const REBENCH: &[Column] = &[
    column("instance_id", F::InstanceId, Text, Required),
    column("repo", F::Repo, Text, Required),
    column("base_commit", F::BaseCommit, Text, Required),
    column("patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("hints_text", F::Hints, Text, Optional),
    column("created_at", F::CreatedAt, Any, Optional),
    column("version", F::Version, Text, Optional),
    column("environment_setup_commit", F::SetupCommit, Text, Optional),
    column("FAIL_TO_PASS", F::FailToPass, List, Required),
    column("PASS_TO_PASS", F::PassToPass, List, Required),
    column("install_config", F::Environment, Object, Required),
    column("image_name", F::Image, Text, Optional),
    column("docker_image", F::Image, Text, Read),
    column("language", F::Language, Text, Optional),
    column("interface", F::Interface, Text, Optional),
];

const SMITH: &[Column] = &[
    column("instance_id", F::InstanceId, Text, Required),
    column("repo", F::Repo, Text, Required),
    column("patch", F::GoldPatch, Reversed, Required),
    column("FAIL_TO_PASS", F::FailToPass, List, Required),
    column("PASS_TO_PASS", F::PassToPass, List, Required),
    column("image_name", F::Image, Text, Required),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("base_commit", F::BaseCommit, Text, Read),
    column("created_at", F::CreatedAt, Any, Read),
];

const R2E: &[Column] = &[
    column("repo_name", F::Repo, Text, Required),
    column("docker_image", F::Image, Text, Required),
    column("commit_hash", F::BaseCommit, Text, Read),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("expected_output_json", F::PassToPass, Text, Read),
    column("parsed_commit_content", F::GoldPatch, Text, Read),
];

/// Multi-SWE-bench's columns; those of statuses are read by their own code.
const MULTI: &[Column] = &[
    column("org", F::Repo, Text, Required),
    column("repo", F::Repo, Text, Required),
    column("number", F::Number, Any, Required),
    column("title", F::ProblemStatement, Text, Read),
    column("body", F::ProblemStatement, Any, Read),
    column("base", F::BaseCommit, Object, Required),
    column("resolved_issues", F::ProblemStatement, Any, Required),
    column("fix_patch", F::GoldPatch, Text, Required),
    column("test_patch", F::TestPatch, Text, Required),
    column("hints", F::Hints, Text, Optional),
    column("lang", F::Language, Text, Optional),
    column("instance_id", F::InstanceId, Text, Read),
    column("f2p_tests", F::FailToPass, Object, Required),
    column("s2p_tests", F::FailToPass, Object, Required),
    column("n2p_tests", F::FailToPass, Object, Required),
    column("p2p_tests", F::PassToPass, Object, Required),
];

/// What `[metadata]` of a Harbor task holds when it was made here, and, flat, the files.
const HARBOR: &[Column] = &[
    column("instance_id", F::InstanceId, Text, Required),
    column("repo", F::Repo, Text, Optional),
    column("base_commit", F::BaseCommit, Text, Optional),
    column("version", F::Version, Text, Optional),
    column("created_at", F::CreatedAt, Any, Optional),
    column("environment_setup_commit", F::SetupCommit, Text, Optional),
    column("log_parser", F::LogParser, Text, Optional),
    column("eval_type", F::EvalType, Text, Optional),
    column("language", F::Language, Text, Optional),
    column("difficulty", F::Difficulty, Any, Optional),
    column("hints_text", F::Hints, Text, Optional),
    column("test_cmds", F::TestCommands, List, Optional),
    column("FAIL_TO_PASS", F::FailToPass, List, Optional),
    column("PASS_TO_PASS", F::PassToPass, List, Optional),
    column("problem_statement", F::ProblemStatement, Text, Required),
    column("patch", F::GoldPatch, Text, Optional),
    column("test_patch", F::TestPatch, Text, Optional),
    column("eval_script", F::EvalScript, Text, Optional),
    column("image", F::Image, Text, Optional),
    column("dockerfile", F::Dockerfile, Text, Optional),
];

/// The columns of a schema, in the order in which they are written.
pub(crate) fn columns(schema: Schema) -> &'static [Column] {
    match schema {
        Schema::SwebenchV4 => SWEBENCH4,
        Schema::SwebenchV5 => SWEBENCH5,
        Schema::SwebenchV5TaskRepo => TASK_REPO,
        Schema::SwebenchPp => SWEBENCHPP,
        Schema::SwebenchPpDelivery => DELIVERY,
        Schema::MultiSwebench => MULTI,
        Schema::SwebenchLive => LIVE,
        Schema::Pro => PRO,
        Schema::Rebench => REBENCH,
        Schema::Smith => SMITH,
        Schema::R2e => R2E,
        Schema::HarborTask => HARBOR,
    }
}

/// The files of a folder task that hold columns: file, column.
pub(crate) fn files(schema: Schema) -> &'static [(&'static str, &'static str)] {
    match schema {
        Schema::SwebenchV5TaskRepo => &[
            ("tests.json", "FAIL_TO_PASS"),
            ("tests.json", "PASS_TO_PASS"),
            ("problem_statement.md", "problem_statement"),
            ("hints.md", "hints_text"),
            ("gold.patch", "patch"),
            ("test.patch", "test_patch"),
            ("eval.sh", "eval_script"),
            ("Dockerfile", "dockerfile"),
        ],
        Schema::HarborTask => &[
            ("instruction.md", "problem_statement"),
            ("environment/Dockerfile", "dockerfile"),
            ("solution/gold.patch", "patch"),
            ("tests/test.patch", "test_patch"),
            ("tests/eval.sh", "eval_script"),
        ],
        _ => &[],
    }
}

/// The file that holds the columns which have none of their own.
pub(crate) fn main_file(schema: Schema) -> &'static str {
    match schema {
        Schema::HarborTask => "task.toml",
        _ => "task.yaml",
    }
}

/// In which column (or file) of a row a field stands.
pub(crate) fn places(schema: Schema, field: Field) -> Vec<&'static str> {
    let mut found: Vec<&'static str> = columns(schema)
        .iter()
        .filter(|column| column.field == field)
        .map(|column| {
            if !schema.is_folder() || column.name == "instance_id" {
                return column.name;
            }
            files(schema)
                .iter()
                .find(|(_, name)| *name == column.name)
                .map_or_else(|| main_file(schema), |(file, _)| *file)
        })
        .collect();
    if schema == Schema::MultiSwebench && matches!(field, Field::FailToPass | Field::PassToPass) {
        found.extend(super::multi::RESULTS);
    }
    found
}
