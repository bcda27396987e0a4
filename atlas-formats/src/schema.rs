//! The schemas of the field, and how to tell them apart.

use crate::row::Row;
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A form in which the field publishes its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Schema {
    /// `swebench4`: the twelve classic columns; how to run is known to the harness by repository
    /// and version.
    SwebenchV4,
    /// `swebench5`: the classic columns, and `image`, `eval_script`, `log_parser`, `eval_type`.
    SwebenchV5,
    /// `swebench5-tasks`: a folder `tasks/<instance_id>/` each, the source of version 5's rows.
    SwebenchV5TaskRepo,
    /// `swebenchpp`: the classic columns, and `environment_config`, `language`.
    SwebenchPp,
    /// `swebenchpp-delivery`: `gold_patch`, `fail_to_pass`, `pass_to_pass`, `spec_dict`.
    SwebenchPpDelivery,
    /// `multi-swebench`: a pull request with `fix_patch` and the statuses of each test in three runs.
    MultiSwebench,
    /// `swebench-live`: the classic columns, commands and a Docker image, lists as lists.
    SwebenchLive,
    /// `swebench-pro`: lists as Python literals, an image tag, the test files to run.
    Pro,
    /// `swe-rebench`: the classic columns, `install_config`, `image_name`.
    Rebench,
    /// `swe-smith`: `patch` makes the bug; its reverse is the solution.
    Smith,
    /// `r2e`: a commit, an image and the statuses expected after it.
    R2e,
    /// `harbor`: a folder with `task.toml`, `instruction.md`, `tests/`, `solution/`.
    HarborTask,
}

/// A name that is no schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "schema `{0}` is not known; known are swebench4, swebench5, swebench5-tasks, swebenchpp, swebenchpp-delivery, multi-swebench, swebench-live, swebench-pro, swe-rebench, swe-smith, r2e, harbor"
)]
pub struct UnknownSchema(pub String);

/// Why the schema of rows cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// There is nothing to look at.
    #[error("no rows to tell the schema from; name it")]
    Empty,
    /// A row that fits none.
    #[error("row `{0}` fits no schema; name it")]
    Unknown(String),
    /// Rows of several.
    #[error("row `{first}` is {of_first}, row `{second}` is {of_second}; split the file")]
    Mixed {
        /// A row.
        first: String,
        /// Its schema.
        of_first: Schema,
        /// Another row.
        second: String,
        /// Its schema.
        of_second: Schema,
    },
}

impl Schema {
    /// Every schema, for tables and tests.
    pub const ALL: [Self; 12] = [
        Self::SwebenchV4,
        Self::SwebenchV5,
        Self::SwebenchV5TaskRepo,
        Self::SwebenchPp,
        Self::SwebenchPpDelivery,
        Self::MultiSwebench,
        Self::SwebenchLive,
        Self::Pro,
        Self::Rebench,
        Self::Smith,
        Self::R2e,
        Self::HarborTask,
    ];

    /// The stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SwebenchV4 => "swebench4",
            Self::SwebenchV5 => "swebench5",
            Self::SwebenchV5TaskRepo => "swebench5-tasks",
            Self::SwebenchPp => "swebenchpp",
            Self::SwebenchPpDelivery => "swebenchpp-delivery",
            Self::MultiSwebench => "multi-swebench",
            Self::SwebenchLive => "swebench-live",
            Self::Pro => "swebench-pro",
            Self::Rebench => "swe-rebench",
            Self::Smith => "swe-smith",
            Self::R2e => "r2e",
            Self::HarborTask => "harbor",
        }
    }

    /// Whether a task is a folder of files, not a row of a file.
    #[must_use]
    pub fn is_folder(self) -> bool {
        matches!(self, Self::SwebenchV5TaskRepo | Self::HarborTask)
    }

    /// The schema of one row by the columns it has; nothing where they fit none.
    ///
    /// Where columns of several are there (a row made for two harnesses), the one that says more
    /// about how to run the task wins.
    #[must_use]
    pub fn detect(row: &Row) -> Option<Self> {
        let has = |column: &str| row.columns().contains_key(column);
        let any = |columns: &[&str]| columns.iter().any(|column| has(column));
        if has("task.yaml") {
            Some(Self::SwebenchV5TaskRepo)
        } else if has("task.toml") {
            Some(Self::HarborTask)
        } else if has("org") && has("number") && (has("fix_patch") || has("base")) {
            Some(Self::MultiSwebench)
        } else if has("eval_script") {
            Some(Self::SwebenchV5)
        } else if has("commit_hash")
            && any(&[
                "docker_image",
                "expected_output_json",
                "parsed_commit_content",
            ])
        {
            Some(Self::R2e)
        } else if any(&[
            "dockerhub_tag",
            "before_repo_set_cmd",
            "selected_test_files_to_run",
        ]) {
            Some(Self::Pro)
        } else if has("install_config") {
            Some(Self::Rebench)
        } else if any(&["rebuild_cmds", "print_cmds"])
            || (any(&["test_cmds", "commit_urls"]) && has("FAIL_TO_PASS"))
        {
            Some(Self::SwebenchLive)
        } else if has("environment_config") && has("FAIL_TO_PASS") {
            Some(Self::SwebenchPp)
        } else if has("fail_to_pass") && any(&["gold_patch", "spec_dict"]) {
            Some(Self::SwebenchPpDelivery)
        } else if has("image_name") && !has("test_patch") {
            Some(Self::Smith)
        } else if has("image") && has("log_parser") {
            Some(Self::SwebenchV5)
        } else if has("repo") && has("patch") {
            Some(Self::SwebenchV4)
        } else {
            None
        }
    }

    /// The one schema of many rows.
    ///
    /// # Errors
    /// [`SchemaError`] where there are no rows, or rows of none or of several schemas.
    pub fn of(rows: &[Row]) -> Result<Self, SchemaError> {
        let mut found: Option<(Self, &Row)> = None;
        for row in rows {
            let schema =
                Self::detect(row).ok_or_else(|| SchemaError::Unknown(row.id().to_string()))?;
            match found {
                None => found = Some((schema, row)),
                Some((first, _)) if first == schema => {}
                Some((of_first, first)) => {
                    return Err(SchemaError::Mixed {
                        first: first.id().to_string(),
                        of_first,
                        second: row.id().to_string(),
                        of_second: schema,
                    });
                }
            }
        }
        found.map(|(schema, _)| schema).ok_or(SchemaError::Empty)
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Schema {
    type Err = UnknownSchema;

    fn from_str(name: &str) -> Result<Self, UnknownSchema> {
        Self::ALL
            .into_iter()
            .find(|schema| schema.as_str() == name)
            .ok_or_else(|| UnknownSchema(name.to_owned()))
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
