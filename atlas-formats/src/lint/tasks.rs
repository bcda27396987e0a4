//! Tasks that are folders.

use super::{LintCode, LintedRow, shown};
use crate::convert::task_yaml;
use crate::schema::Schema;
use serde_json::Value;

/// Keys that `task.yaml` must have.
const KEYS: &[&str] = &[
    "instance_id",
    "repo",
    "version",
    "base_commit",
    "split",
    "image",
    "log_parser",
    "eval_type",
];

/// Files that must be there.
pub(super) fn present(looked: &mut LintedRow<'_>) {
    let files: &[&str] = match looked.schema {
        Schema::HarborTask => &["task.toml", "instruction.md", "tests/test.sh"],
        _ => &[
            "task.yaml",
            "tests.json",
            "problem_statement.md",
            "gold.patch",
            "test.patch",
            "eval.sh",
            "Dockerfile",
        ],
    };
    for file in files {
        if looked.row.get(file).is_none() {
            looked.add(
                LintCode::MissingColumn,
                file,
                format!("{} asks for the file", looked.schema),
                "add it",
            );
        }
    }
    if looked.schema == Schema::HarborTask
        && let Some(Err(why)) = looked.row.text("task.toml").map(str::parse::<toml::Table>)
    {
        looked.add(
            LintCode::TaskFile,
            "task.toml",
            shown(why.message()),
            "repair the file",
        );
    }
}

pub(super) fn look(looked: &mut LintedRow<'_>) {
    const FILE: &str = "task.yaml";
    let keys = task_yaml(looked.row.text(FILE).unwrap_or_default());
    if keys.is_empty() {
        return looked.add(
            LintCode::TaskFile,
            FILE,
            "no mapping can be read from it",
            "write `key: value` lines, without aliases",
        );
    }
    for key in KEYS {
        match keys.get(*key) {
            Some(Value::String(_)) => {}
            None | Some(Value::Null) => looked.add(
                LintCode::TaskFile,
                FILE,
                format!("the key `{key}` is missing"),
                "add it",
            ),
            Some(_) => looked.add(
                LintCode::TaskFile,
                FILE,
                format!("the key `{key}` holds no text"),
                "put the value in quotes",
            ),
        }
    }
    let folder = looked.row.id().to_string();
    match keys.get("instance_id").and_then(Value::as_str) {
        Some(id) if id != folder => looked.add(
            LintCode::TaskFile,
            FILE,
            format!("`instance_id` is `{}`, the folder `{folder}`", shown(id)),
            "give both one name",
        ),
        _ => {}
    }
    let split = keys
        .get("split")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let has_datasets = match keys.get("datasets") {
        Some(Value::Array(names)) => !names.is_empty() && names.iter().all(Value::is_string),
        _ => false,
    };
    if split.trim().is_empty() && keys.contains_key("split") {
        looked.add(
            LintCode::TaskFile,
            FILE,
            "`split` is empty",
            "write `test`, another split of `sweb.yaml`, or `deprecated`",
        );
    }
    if split != "deprecated" && !has_datasets {
        looked.add(
            LintCode::TaskFile,
            FILE,
            "`datasets` is no list of names",
            "list the datasets that the task belongs to, or set `split: deprecated`",
        );
    }
    let tests = looked.row.text("tests.json").unwrap_or("{}");
    let both = match serde_json::from_str::<Value>(tests) {
        Ok(tests) => ["FAIL_TO_PASS", "PASS_TO_PASS"].iter().all(|list| {
            tests
                .get(list)
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().all(Value::is_string))
        }),
        Err(_) => false,
    };
    if !both {
        looked.add(
            LintCode::TaskFile,
            "tests.json",
            "the lists `FAIL_TO_PASS` and `PASS_TO_PASS` cannot be read",
            "write both as JSON lists of texts",
        );
    }
}
